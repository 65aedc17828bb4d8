"""The change of a step as text: its lines, and the block that they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..changes import QUESTION_KEYS, READERS, is_change
from ..document import FENCE
from .source import Block, key_of, with_lines

KEYS = (*READERS, *QUESTION_KEYS)  # in the order in which a new block has them


def changed_lines(blocks: Sequence[Block]) -> list[str]:
    """Return the lines of a step's change, as they stand there."""
    lines = next((block.lines for block in blocks if block.kind == "change"), ())
    if not _is_fence(lines):
        return [line.strip().strip("`").strip() for line in lines]
    mark = lines[0].strip()[0]
    closed = len(lines) > 1 and not lines[-1].strip().strip(mark)
    return list(lines[1 : -1 if closed else None])


def with_change_lines(blocks: Sequence[Block], lines: Sequence[str], folder: Path) -> list[Block]:
    """Return a step's blocks with these lines as its change; one line that can stand alone does."""
    said = [line.rstrip() for line in lines if line.strip()]
    old = next((block.lines for block in blocks if block.kind == "change"), ())
    if not said:
        return with_lines(blocks, "change", [])
    if _is_fence(old):
        return with_lines(blocks, "change", [old[0], *(line.rstrip() for line in lines), _closing(old)])
    return with_lines(blocks, "change", change_block(said, folder))


def change_block(lines: Sequence[str], folder: Path) -> list[str]:
    """Return these lines as a new block: in backticks where it is one, else between fences."""
    if len(lines) == 1:
        alone = lines[0].strip().removeprefix("at:").strip()
        if "`" not in alone and key_of(alone) not in ("", *QUESTION_KEYS) and is_change(alone, folder):
            return [f"`{alone}`"]
    return [f"```{FENCE}", *lines, "```"] if lines else []


def with_keys(lines: Sequence[str], said: Mapping[str, str | None]) -> list[str]:
    """Return the lines of a change in which these keys say something else, or nothing where None; others stay."""
    made: list[str] = []
    open_keys = dict(said)
    for line in lines:
        key = key_of(line)
        if key not in said:
            made.append(line)
        elif (value := open_keys.pop(key, None)) is not None:
            made.append(f"{key}: {value}")
    for key in sorted(open_keys, key=KEYS.index):
        value = open_keys[key]
        if value is not None:
            made.insert(_place(made, key), f"{key}: {value}")
    return made


def _place(lines: Sequence[str], key: str) -> int:
    """Return where a new line belongs: after the last of those that come before it in the order of keys."""
    rank = KEYS.index(key)
    earlier = [i for i, line in enumerate(lines) if key_of(line) and KEYS.index(key_of(line)) < rank]
    return earlier[-1] + 1 if earlier else 0


def _is_fence(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].lstrip().startswith(("```", "~~~"))


def _closing(lines: Sequence[str]) -> str:
    opening = lines[0].strip()
    mark = opening[0]
    closed = len(lines) > 1 and not lines[-1].strip().strip(mark)
    return lines[-1] if closed else mark * (len(opening) - len(opening.lstrip(mark)))

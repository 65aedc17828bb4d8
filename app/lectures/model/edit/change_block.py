"""The change of a step as text: its lines, and the block that contains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..changes import QUESTION_KEYS, READERS, is_change
from ..document import FENCE
from .source import Block, line_key, with_lines

KEYS = (*READERS, *QUESTION_KEYS)  # in the order of a new block


def lines_of_change(blocks: Sequence[Block]) -> list[str]:
    """Return the lines of a step's change, as written."""
    lines = next((block.lines for block in blocks if block.kind == "change"), ())
    if not _is_fence(lines):
        return [line.strip().strip("`").strip() for line in lines]
    mark = lines[0].strip()[0]
    closed = len(lines) > 1 and not lines[-1].strip().strip(mark)
    return list(lines[1 : -1 if closed else None])


def with_change_lines(blocks: Sequence[Block], lines: Sequence[str], folder: Path) -> list[Block]:
    """Replace the change in a step's blocks by these lines; a single line is written without a fence if possible."""
    non_blank = [line.rstrip() for line in lines if line.strip()]
    old = next((block.lines for block in blocks if block.kind == "change"), ())
    if not non_blank:
        return with_lines(blocks, "change", [])
    if _is_fence(old):
        return with_lines(blocks, "change", [old[0], *(line.rstrip() for line in lines), _closing(old)])
    return with_lines(blocks, "change", change_block(non_blank, folder))


def change_block(lines: Sequence[str], folder: Path) -> list[str]:
    """Format these lines as a new block: one line in backticks, several between fences."""
    if len(lines) == 1:
        line = lines[0].strip().removeprefix("at:").strip()
        if "`" not in line and line_key(line) not in ("", *QUESTION_KEYS) and is_change(line, folder):
            return [f"`{line}`"]
    return [f"```{FENCE}", *lines, "```"] if lines else []


def with_keys(lines: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """Set the values of these keys in the lines of a change, or remove them if None; other lines stay."""
    new_lines: list[str] = []
    open_keys = dict(values)
    for line in lines:
        key = line_key(line)
        if key not in values:
            new_lines.append(line)
        elif (value := open_keys.pop(key, None)) is not None:
            new_lines.append(f"{key}: {value}")
    for key in sorted(open_keys, key=KEYS.index):
        value = open_keys[key]
        if value is not None:
            new_lines.insert(_insert_index(new_lines, key), f"{key}: {value}")
    return new_lines


def _insert_index(lines: Sequence[str], key: str) -> int:
    """Find the index of a new line: after the last line whose key precedes its key."""
    rank = KEYS.index(key)
    earlier = [i for i, line in enumerate(lines) if line_key(line) and KEYS.index(line_key(line)) < rank]
    return earlier[-1] + 1 if earlier else 0


def _is_fence(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].lstrip().startswith(("```", "~~~"))


def _closing(lines: Sequence[str]) -> str:
    opening = lines[0].strip()
    mark = opening[0]
    closed = len(lines) > 1 and not lines[-1].strip().strip(mark)
    return lines[-1] if closed else mark * (len(opening) - len(opening.lstrip(mark)))

"""Edit a lecture's text: change the title, caption or notes of a step, and leave what the steps show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..changes import QUESTION_KEYS
from ..document import Lecture, Step
from .change_block import change_block, lines_of_change, with_change_lines, with_keys
from .source import (
    LINE,
    MARK,
    Block,
    EditError,
    Kind,
    block_lines,
    blocks_of,
    body_of,
    caption_problem,
    lecture_of,
    line_key,
    source_of,
    title_span,
    with_lines,
)

Edited = Callable[[list[Block]], Sequence[Block]]


class StepParts(Struct, frozen=True):
    """The editable parts of a step, as written in the text."""

    title: str  # its heading
    caption: str  # Markdown
    notes: str  # for the speaker
    change: str  # lines, without the question's
    ask: str  # "" without a question
    choices: str  # separated by |
    answer: str  # the answer's expression


def step_parts(text: str, number: int, path: Path) -> StepParts:
    """Split the text of a step, counted from 0, into its parts."""
    lecture = lecture_of(text, path)
    step = lecture.steps[number]
    blocks = blocks_of(source_of(text, lecture).bodies[number], step)
    lines = lines_of_change(blocks)
    asked = {
        line_key(line): line.partition(":")[2].strip() for line in lines if line_key(line) in QUESTION_KEYS
    }
    return StepParts(
        title=step.title,
        caption="\n".join(block_lines(blocks, "caption")),
        notes=_unquoted(block_lines(blocks, "notes")),
        change="\n".join(line for line in lines if line_key(line) not in QUESTION_KEYS),
        **{key: asked.get(key, "") for key in QUESTION_KEYS},
    )


def new_lecture(title: str) -> str:
    """Build the text of a lecture without steps."""
    return f"# {_one_line(title)}\n"


def with_title(text: str, title: str, path: Path) -> str:
    """Replace the lecture's title; raises EditError for an empty one."""
    if not _one_line(title):
        raise EditError("A lecture needs a title.")
    mark = MARK if text.startswith(MARK) else ""
    lines: list[str] = LINE.findall(text.removeprefix(mark))
    first, last = title_span("".join(lines))
    newline = source_of(text, lecture_of(text, path)).newline
    old = lines[last - 1] if last > first else newline * 2
    end = old[len(old.rstrip("\r\n")) :]
    return "".join([mark, *lines[:first], f"# {_one_line(title)}{end}", *lines[last:]])


def with_step_title(text: str, number: int, title: str, path: Path) -> str:
    """Replace the heading of a step, counted from 0; raises EditError for an empty one."""
    if not _one_line(title):
        raise EditError("A step needs a title.")
    return _edit_step(
        text,
        number,
        path,
        "heading",
        lambda blocks: with_lines(blocks, "heading", [f"## {_one_line(title)}"]),
    )


def with_caption(text: str, number: int, markdown: str, path: Path) -> str:
    """Replace the caption of a step; raises EditError if the text is more than a caption."""
    lines = _lines(markdown)
    problem = caption_problem("\n".join(lines), path.parent)
    if problem:
        raise EditError(problem)
    return _edit_step(text, number, path, "caption", lambda blocks: _unless_same(blocks, "caption", lines))


def with_notes(text: str, number: int, notes: str, path: Path) -> str:
    """Replace the notes of a step."""
    lines = [f"> {line}".rstrip() for line in _lines(notes)]
    return _edit_step(text, number, path, "notes", lambda blocks: _unless_same(blocks, "notes", lines))


def with_change(text: str, number: int, lines: Sequence[str], path: Path) -> str:
    """Replace the change lines of a step, except for its question; the following steps inherit them."""
    if any(line.lstrip().startswith(("```", "~~~")) for line in lines):
        raise EditError("The lines of a change must not contain fences; remove them.")

    def edited(blocks: list[Block]) -> Sequence[Block]:
        asked = [line for line in lines_of_change(blocks) if line_key(line) in QUESTION_KEYS]
        return with_change_lines(blocks, [*_lines("\n".join(lines)), *asked], path.parent)

    return _edit_step(text, number, path, "change", edited)


def with_values(text: str, number: int, values: Mapping[str, str | None], path: Path) -> str:
    """Set these values of a step's change, by their keys; None removes a line."""
    plain = {key: (value and _one_line(value)) or None for key, value in values.items()}

    def edited(blocks: list[Block]) -> Sequence[Block]:
        return with_change_lines(blocks, with_keys(lines_of_change(blocks), plain), path.parent)

    return _edit_step(text, number, path, "change", edited)


def step_text(title: str, lines: Sequence[str], folder: Path, caption: str = "", notes: str = "") -> str:
    """Build the text of a new step with these change lines."""
    quoted = [f"> {line}".rstrip() for line in _lines(notes)]
    parts = [[f"## {_one_line(title)}"], change_block(lines, folder), _lines(caption), quoted]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _edit_step(text: str, number: int, path: Path, kind: Kind, edit: Edited) -> str:
    """Edit one step; raises EditError if that would change more than blocks of this kind."""
    lecture = lecture_of(text, path)
    source = source_of(text, lecture)
    blocks = blocks_of(source.bodies[number], lecture.steps[number])
    edited = list(edit(blocks))
    if edited == blocks:
        return text
    new_text = source.with_body(number, body_of(edited, source.newline)).text
    after, count = lecture_of(new_text, path), len(lecture.steps)
    check_others(lecture, after, count, {i: i for i in range(count) if i != number})
    was, now = _parts(lecture.steps[number]), _parts(after.steps[number])
    changed = [part for part in was if part != kind and was[part] != now[part]]
    if changed:
        raise EditError(f"That would change the {changed[0]} of the step too; write it differently.")
    return new_text


def check_others(before: Lecture, after: Lecture, count: int, kept: Mapping[int, int]) -> None:
    """Raise EditError if steps of `after` are parsed differently from their originals in `before`.

    count: the expected number of steps. kept: maps the new numbers of unedited steps to the old ones.
    """
    for new, old in kept.items():
        if (
            len(after.steps) != count
            or new >= len(after.steps)
            or _words(after.steps[new]) != _words(before.steps[old])
        ):
            raise EditError(
                f"That would change the meaning of {before.steps[old].title!r}: something above it is not closed, "
                "such as a block of code without its last ```."
            )


def _parts(step: Step) -> dict[Kind, object]:
    """Return the parsed parts of a step, by their kind of block."""
    spans = [[(s.text, s.styles) for s in p.spans] for p in step.caption.paragraphs]
    return {"heading": step.title, "caption": spans, "notes": step.notes, "change": step.change}


def _words(step: Step) -> dict[Kind, object]:
    return {kind: part for kind, part in _parts(step).items() if kind != "change"}


def _unless_same(blocks: list[Block], kind: Kind, lines: list[str]) -> Sequence[Block]:
    return blocks if block_lines(blocks, kind) == lines else with_lines(blocks, kind, lines)


def _unquoted(lines: Sequence[str]) -> str:
    return "\n".join(re.sub(r"^ {0,3}> ?", "", line) for line in lines)


def _lines(text: str) -> list[str]:
    """Split a text that the user typed into lines, without leading and trailing empty ones."""
    lines = [line if line.strip() else "" for line in re.split(r"\r\n|\r|\n|\u2028|\u2029", text)]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())

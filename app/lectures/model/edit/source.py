"""Find the parts of a lecture in its text: the text of each step, and the blocks of a step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ..changes import QUESTION_KEYS, READERS, is_change
from ..document import FENCE, Lecture, Step, parse_lecture
from ..time_anchors import TimeAnchorError, parse_anchor

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["heading", "change", "caption", "notes", "between"]
ORDER: tuple[Kind, ...] = ("heading", "change", "caption", "notes")  # of a new step
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # Markdown has fewer kinds of line ends than Python
MARK = "\ufeff"  # a byte order mark, which some editors write


class EditError(Exception):
    """An impossible edit; the text is one sentence."""


class Source(Struct, frozen=True):
    """A lecture's text in pieces, which join to the text."""

    head: str  # before the first step
    bodies: tuple[str, ...]  # of the steps, each from its heading to its last line
    gaps: tuple[str, ...]  # after each body: the end of its last line, and empty lines
    newline: str  # the line end

    @property
    def text(self) -> str:
        """The complete text."""
        return self.head + "".join(a + b for a, b in zip(self.bodies, self.gaps, strict=True))

    def with_body(self, number: int, body: str) -> Source:
        """Replace the text of a step, counted from 0."""
        return replace(self, bodies=(*self.bodies[:number], body, *self.bodies[number + 1 :]))


class Block(Struct, frozen=True):
    """Some lines of a step."""

    kind: Kind  # "between" separates two blocks
    lines: tuple[str, ...]  # without line ends


def lecture_of(text: str, path: Path) -> Lecture:
    """Parse the lecture of a text; raises LectureError."""
    return parse_lecture(text.removeprefix(MARK), path)


def source_of(text: str, lecture: Lecture) -> Source:
    """Split the text of a lecture into pieces."""
    lines: list[str] = LINE.findall(text)
    starts = [step.line - 1 for step in lecture.steps]
    pieces = [
        "".join(lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)] if starts else [], strict=True)
    ]
    bodies = tuple(piece.rstrip(" \t\r\n") for piece in pieces)
    gaps = tuple(piece[len(body) :] for piece, body in zip(pieces, bodies, strict=True))
    newline = "\r\n" if "\r\n" in text else "\n"
    return Source("".join(lines[: starts[0]] if starts else lines), bodies, gaps, newline)


def blocks_of(body: str, step: Step) -> list[Block]:
    """Split a step's text into blocks and the lines between them."""
    lines = [line.rstrip("\r\n") for line in LINE.findall(body)]
    blocks: list[Block] = []
    done = 0
    for token in _tokens("\n".join(lines)):
        first, last = token.map or (0, 0)
        while last > first + 1 and not lines[last - 1].strip():
            last -= 1
        if blocks:
            blocks.append(Block("between", tuple(lines[done:first])))
        blocks.append(Block(_kind(token, first, step), tuple(lines[first:last])))
        done = last
    return [*blocks, Block("between", tuple(lines[done:]))] if done < len(lines) else blocks


def body_of(blocks: Sequence[Block], newline: str) -> str:
    """Join the blocks to the text of a step."""
    return newline.join(line for block in blocks for line in block.lines)


def block_lines(blocks: Sequence[Block], kind: Kind) -> list[str]:
    """Return the lines of all blocks of a kind, with an empty line where other blocks are between them."""
    indices = [i for i, block in enumerate(blocks) if block.kind == kind]
    lines: list[str] = []
    for before, i in zip([None, *indices], indices, strict=False):
        near = before is not None and i - before == 2
        lines += blocks[i - 1].lines if near else [""] if before is not None else []
        lines += blocks[i].lines
    return lines


def with_lines(blocks: Sequence[Block], kind: Kind, lines: Sequence[str]) -> list[Block]:
    """Replace all blocks of a kind by these lines, or remove them if there are no lines."""
    new_blocks = list(blocks)
    indices = [i for i, block in enumerate(new_blocks) if block.kind == kind]
    for i in reversed(indices[1:] if lines else indices):
        _remove(new_blocks, i)
    if not lines:
        return new_blocks
    block = Block(kind, tuple(lines))
    if indices:
        new_blocks[indices[0]] = block
        _separate(new_blocks, indices[0])
    else:
        rank = ORDER.index(kind)
        previous = max(i for i, b in enumerate(new_blocks) if b.kind in ORDER[:rank])
        new_blocks[previous + 1 : previous + 1] = [Block("between", ("",)), block]
        _separate(new_blocks, previous + 2)
    return new_blocks


def _remove(blocks: list[Block], number: int) -> None:
    """Remove a block, and the emptier of the separators around it."""
    around = blocks[number - 1 : number + 2 : 2]
    blank = [b for b in around if b.kind == "between" and not any(line.strip() for line in b.lines)]
    del blocks[number]
    if len(around) == 2 and blank:
        shorter = min(blank, key=lambda b: len(b.lines))
        del blocks[number if blocks[number] is shorter else number - 1]
        if not blocks[number - 1].lines:
            blocks[number - 1] = Block("between", ("",))
    elif blank and blocks[-1] is blank[0]:
        del blocks[-1]


def _separate(blocks: list[Block], number: int) -> None:
    """Separate a block from its neighbours by empty lines."""
    after = blocks[number + 1 : number + 2]
    if after and (not after[0].lines or after[0].lines[0].strip()):
        blocks[number + 1] = Block("between", ("", *after[0].lines))
    before = blocks[number - 1] if number else None
    if before and (not before.lines or before.lines[-1].strip()):
        blocks[number - 1] = Block("between", (*before.lines, ""))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # the window starts without it

    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20})


def _tokens(text: str) -> list[Token]:
    """Return the opening tokens of top-level blocks."""
    tokens = _parser().parse(text)
    return [token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]


def title_span(text: str) -> tuple[int, int]:
    """Find the lines (first <= line < last, from 0) of a text's title; (0, 0) without one."""
    tokens = _tokens(text)
    first, last = (tokens[0].map or (0, 0)) if tokens and tokens[0].tag == "h1" else (0, 0)
    return first, last


def _kind(token: Token, first: int, step: Step) -> Kind:
    if first == 0:
        return "heading"
    if token.type == "blockquote_open":
        return "notes"
    marked = token.type == "fence" and token.info.split()[:1] == [FENCE]
    return "change" if marked or first == step.change_line - step.line else "caption"


def caption_problem(markdown: str, folder: Path) -> str:
    """Explain why a text is not only a caption, or return ""."""
    tokens = _parser().parse(markdown)
    lines = markdown.split("\n")
    for number, token in enumerate(tokens):
        if token.level or token.nesting < 0 or not token.map:
            continue
        line = token.map[0] + 1
        if token.tag in ("h1", "h2"):
            return f"Line {line} is a heading, which would begin a step; use ### in a caption."
        if token.type == "blockquote_open":
            return f"Line {line} begins with >, which marks notes; move it to the notes."
        if token.type == "fence":
            if token.info.split()[:1] == [FENCE]:
                return f"Line {line} begins a block of changes; move it to their field."
            if not _is_closed(lines, token):
                return f"The block of code from line {line} has no end; close it with {token.markup}."
        children = (
            tokens[number + 1].children
            if token.type == "paragraph_open" and tokens[number + 2].level == 0
            else None
        )
        if (
            children
            and [c.type for c in children] == ["code_inline"]
            and is_change(children[0].content, folder)
        ):
            return f"Line {line} is a change; move it to the field for changes."
    return ""


def _is_closed(lines: Sequence[str], token: Token) -> bool:
    first, last = token.map or (0, 0)
    end = re.fullmatch(r" {0,3}(`+|~+)[ \t]*", lines[last - 1])
    return last - first > 1 and end is not None and end[1].startswith(token.markup)


def line_key(line: str) -> str:
    """Return the key of a line of a change: "at" for a place without a key, "" for a comment or an unknown key."""
    key = line.partition(":")[0].strip()
    if ":" in line and key in (*READERS, *QUESTION_KEYS):
        return key
    try:
        parse_anchor(line.strip())
    except TimeAnchorError:
        return ""
    return "at"

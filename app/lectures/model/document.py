"""A lecture's Markdown: read title, steps, captions and notes. Nothing in it is run, opened or fetched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...model.named_file import UnreadableFileError, read_small_text
from ...model.visible_text import escape_controls, escape_controls_in_lines
from .blocks import cut_long_paragraphs, heading_of, line_of, top_blocks
from .captions import Caption, read_caption
from .changes import StepChange, is_change, parse_change
from .filled_text import BRACES
from .problems import LectureError, Problem

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

LARGEST = 200_000  # bytes of a file
MOST_STEPS = 400
LONGEST_TITLE = 300  # characters
FORMULA = re.compile(
    r"\$(?=[a-zA-Z]\$|[^$\n]*[\^_])(?=\S)((?:[^$\\{}\n^_]|[\^_](?:\{[^$\\{}\n^_]+\}|\w))+)(?<=\S)\$(?!\d)"
)
FORMULA_PARTS = re.compile(r"([^\^_]*)(?:([\^_])(?:\{([^}]*)\}|(\w)))?")
FENCE = "tilescope"  # marks the change block of a step


class Step(Struct, frozen=True):
    """A step: a heading and its contents."""

    title: str  # its heading
    line: int  # of the heading, from 1
    end: int  # the line after the step: of the next heading, or after the last line
    caption: Caption  # for the audience
    notes: str  # for the speaker, as written
    spoken: Caption  # the notes with numbers to fill in
    change: StepChange  # against the step before
    change_line: int  # the line where the change begins, or the heading's
    lines: tuple[tuple[str, int], ...]  # of the change: ("at", 12)...

    def line_of(self, key: str) -> int:
        """Return the line that sets a key of the step, or the heading's if none does."""
        return dict(self.lines).get(key, self.change_line)


class Lecture(Struct, frozen=True):
    """A lecture as read from its file."""

    title: str  # the first heading
    introduction: Caption  # text before the first step
    steps: tuple[Step, ...]  # in order
    problems: tuple[Problem, ...]  # parts that can't be read, by line
    text: str  # of the complete file
    path: Path  # of the file

    @property
    def folder(self) -> Path:
        """The folder of the files that it names."""
        return self.path.parent


def read_lecture(path: Path) -> Lecture:
    """Read the lecture in a file; raises LectureError if it is not readable text."""
    try:
        return parse_lecture(read_small_text(path, LARGEST, "lecture"), path)
    except UnreadableFileError as error:
        raise LectureError(f"{escape_controls(path)} {error}.") from None


def parse_lecture(text: str, path: Path) -> Lecture:
    """Parse a lecture; unreadable parts are listed in its `problems`, and the rest is used.

    path: of its file, whose folder holds the files that it names.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    try:
        tokens = _parser().parse(text)
    except (RecursionError, IndexError, ValueError) as error:  # raised by the parser for generated input
        raise LectureError(
            f"{escape_controls(path)} can't be read as Markdown ({type(error).__name__})."
        ) from None
    return _Reader(tokens, text, path).lecture()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # the window starts without it

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.inline.ruler.before("escape", "placeholder", _placeholder)
    parser.inline.ruler.before("placeholder", "formula", _formula)
    parser.core.ruler.before("inline", "cut", cut_long_paragraphs)
    return parser


def _placeholder(state: StateInline, silent: bool) -> bool:
    """Parse {expression}, and {{ and }} as braces: a rule of the Markdown parser."""
    match = BRACES.match(state.src, state.pos)
    if match is None:
        return False
    if not silent and match[1] is None:
        state.push("text", "", 0).content = match[0][0]
    elif not silent:
        state.push("placeholder", "", 0).content = match[1].replace("\n", " ")  # it may be folded
    state.pos = match.end()
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    """Parse a short formula such as $x^2$ or $a_{ij}$: letters in italics, raised and lowered parts."""
    formula = FORMULA.match(state.src, state.pos)
    if formula is None:
        return False
    for base, sign, group, letter in FORMULA_PARTS.findall(formula[1]) if not silent else ():
        if base.strip():
            state.push("em_open", "em", 1)
        state.push("text", "", 0).content = base
        if base.strip():
            state.push("em_close", "em", -1)
        if sign:
            tag = "sup" if sign == "^" else "sub"
            state.push(f"{tag}_open", tag, 1)
            state.push("text", "", 0).content = group or letter
            state.push(f"{tag}_close", tag, -1)
    state.pos = formula.end()
    return True


class _Reader:
    """Walks over the parser's tokens, from one heading to the next."""

    def __init__(self, tokens: Sequence[Token], text: str, path: Path) -> None:
        self.tokens, self.text, self.path = tokens, text, path
        self.source = text.split("\n")
        self.problems: list[Problem] = []

    def lecture(self) -> Lecture:
        blocks = top_blocks(self.tokens)
        titles = [i for i, block in enumerate(blocks) if block[0].tag == "h1"]
        heads = [i for i, block in enumerate(blocks) if block[0].tag == "h2"]
        if not titles or titles[0] != 0:
            self._report(1, "A lecture begins with its title: # Title.")
        for i in titles[1:]:
            self._report(line_of(blocks[i]), "A lecture has one title; begin a step with ## instead.")
        if not heads:
            self._report(len(self.source), "There is no step; begin one with ## and a title.")
        if len(heads) > MOST_STEPS:
            self._report(line_of(blocks[heads[MOST_STEPS]]), f"A lecture has at most {MOST_STEPS} steps.")
        heads, after = heads[:MOST_STEPS], heads[MOST_STEPS:]
        first = blocks[len(titles[:1]) : heads[0] if heads else None]
        ends = [*heads[1:], *after[:1], len(blocks)][: len(heads)]
        lines = [line_of(blocks[i]) for i in [*heads[1:], *after[:1]]] + [len(self.source) + 1]
        steps = [
            self._step(blocks[a:b], end) for a, b, end in zip(heads, ends, lines[: len(heads)], strict=True)
        ]
        title = self._title(blocks[titles[0]]) if titles else escape_controls(self.path.stem)
        introduction = self._caption([b for b in first if b[0].tag != "h1"])
        problems = tuple(sorted(set(self.problems)))
        return Lecture(title, introduction, tuple(steps), problems, self.text, self.path)

    def _step(self, blocks: Sequence[Sequence[Token]], end: int) -> Step:
        head, *body = blocks
        line = line_of(head)
        changing: list[Sequence[Token]] = []
        notes: list[Sequence[Token]] = []
        shown: list[Sequence[Token]] = []
        for block in body:
            quoted = block[0].type == "blockquote_open"
            (changing if self._is_change(block) else notes if quoted else shown).append(block)
        if not heading_of(head):
            self._report(line, "A step needs a title after its ##.")
        if len(changing) > 1:
            self._report(line_of(changing[1]), "A step has one block of changes; join this one to it.")
        lines = self._change_lines(changing[0]) if changing else {}
        change, problems = parse_change(lines, self.path.parent)
        for number, sentence in problems:
            self._report(number or line, sentence)
        where = tuple((text.partition(":")[0].strip(), number) for number, text in lines.items())
        begin = line_of(changing[0]) if changing else line
        notes_text = "\n\n".join(self._quoted(block) for block in notes)
        speech = self._caption([block[1:-1] for block in notes])
        caption = self._caption(shown)
        return Step(self._title(head), line, end, caption, notes_text, speech, change, begin, where)

    def _title(self, block: Sequence[Token]) -> str:
        """Return the text of a heading, cut to a readable length."""
        text = heading_of(block)
        if len(text) > LONGEST_TITLE:
            self._report(
                line_of(block), f"A title has at most {LONGEST_TITLE} characters, not {len(text):,}."
            )
        return text[:LONGEST_TITLE]

    def _is_change(self, block: Sequence[Token]) -> bool:
        if block[0].type == "fence":
            return block[0].info.split()[:1] == [FENCE]
        code = _only_code(block)
        return code is not None and is_change(code, self.path.parent)

    def _change_lines(self, block: Sequence[Token]) -> dict[int, str]:
        code = _only_code(block)
        if code is not None:
            return {line_of(block): code}
        return dict(enumerate(block[0].content.splitlines(), line_of(block) + 1))

    def _quoted(self, block: Sequence[Token]) -> str:
        first, last = block[0].map or (0, 0)
        lines = [line.strip().removeprefix(">").strip() for line in self.source[first:last]]
        return escape_controls_in_lines("\n".join(lines).strip())

    def _caption(self, blocks: Sequence[Sequence[Token]]) -> Caption:
        caption, problems = read_caption([token for block in blocks for token in block])
        self.problems += problems
        return caption

    def _report(self, line: int, sentence: str) -> None:
        self.problems.append(Problem(line, sentence))


def _only_code(block: Sequence[Token]) -> str | None:
    """Return the text of a paragraph that consists of one line in backticks."""
    children = block[1].children if len(block) == 3 and block[0].type == "paragraph_open" else None
    return children[0].content if children and [c.type for c in children] == ["code_inline"] else None

"""Captions: the text that the audience reads under a step, with numbers that are computed on display."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ...model.visible_text import escape_controls, escape_controls_in_lines
from .expressions import Environment, Expression, ExpressionError, PendingError, parse
from .problems import Problem
from .quantities import MARK_TEXTS, Mark, Quantity

if TYPE_CHECKING:
    from markdown_it.token import Token

Style = Literal["i", "b", "code", "sup", "sub"]
STYLES: dict[str, Style] = {"em": "i", "strong": "b", "sup": "sup", "sub": "sub"}
SIGNS: dict[Style, str] = {"sup": "^", "sub": "_"}  # of raised and lowered words in plain text
ALLOWED = {
    "paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close", "ordered_list_open",
    "ordered_list_close", "list_item_open", "list_item_close", "heading_open", "heading_close", "fence", "code_block",
}  # fmt: skip
LONGEST = 10_000  # characters of a caption, or of an answer
TOO_LONG = f"A caption has at most {LONGEST:,} characters; split this step."
NO_PICTURES = "A caption can't contain pictures; the step shows its own."
UNKNOWN = "???"  # replaces a number that can't be computed
PENDING = Quantity("…")  # replaces a number that is not computed yet


class Span(Struct, frozen=True):
    """Some words of a caption, or a number to fill in."""

    text: str  # the words, or the expression as written
    styles: frozenset[Style] = frozenset()  # emphasis
    expression: Expression | None = None  # of a number
    line: int = 0  # of the file


class Paragraph(Struct, frozen=True):
    """A paragraph, or an item of a list."""

    spans: tuple[Span, ...]  # in order
    bullet: str = ""  # precedes an item: a dot or its number
    is_code: bool = False  # lines of code, unchanged


class Caption(Struct, frozen=True):
    """A caption as written."""

    paragraphs: tuple[Paragraph, ...] = ()  # in order

    def __bool__(self) -> bool:
        return bool(self.paragraphs)


class FilledCaption(Struct, frozen=True):
    """A caption with its numbers."""

    html: str  # generated simple rich text: p, b, i, code, sup
    text: str  # the same as plain text
    foot: str  # the source of its numbers, "" if it has none
    problems: tuple[Problem, ...]  # numbers that can't be computed


def read_caption(tokens: Sequence[Token]) -> tuple[Caption, list[Problem]]:
    """Read a caption from a Markdown parser's tokens, with the problems of parts that can't be shown."""
    reader = _CaptionReader()
    for token in tokens:
        reader.take(token)
    return Caption(tuple(reader.paragraphs)), reader.problems


class _CaptionReader:
    def __init__(self) -> None:
        self.paragraphs: list[Paragraph] = []
        self.problems: list[Problem] = []
        self._lists: list[int | None] = []  # the next number of each open list, None for a bulleted one
        self._bullet = ""
        self._line = 1
        self._left = LONGEST  # characters that are still allowed

    def take(self, token: Token) -> None:
        """Read the next token."""
        self._line = token.map[0] + 1 if token.map else self._line
        if not self._has_room(token):
            return
        if token.type not in ALLOWED:
            if token.nesting >= 0:
                self._report(
                    f"A caption can contain paragraphs, lists and code, but no {token.type.removesuffix('_open')}."
                )
        elif token.type in ("fence", "code_block"):
            text = escape_controls_in_lines(token.content.rstrip("\n"))
            self.paragraphs.append(Paragraph((Span(text, frozenset({"code"})),), is_code=True))
        elif token.type.endswith("_list_open"):
            first = token.attrGet("start") or 1
            self._lists.append(int(first) if token.type.startswith("ordered") else None)
        elif token.type.endswith("_list_close"):
            self._lists.pop()
        elif token.type == "list_item_open":
            self._begin_item()
        elif token.type == "inline":
            self.paragraphs.append(Paragraph(tuple(self._spans(token.children or [])), self._bullet))
            self._bullet = ""

    def _has_room(self, token: Token) -> bool:
        """Check whether the caption still has room for a token; report the first one that does not fit."""
        before, self._left = self._left, self._left - len(token.content)
        if before >= 0 > self._left:
            self._report(TOO_LONG)
        return self._left >= 0 or not token.content

    def _begin_item(self) -> None:
        number = self._lists[-1]
        self._bullet = "•" if number is None else f"{number}."
        if number is not None:
            self._lists[-1] = number + 1

    def _report(self, sentence: str) -> None:
        self.problems.append(Problem(self._line, sentence))

    def _spans(self, children: Sequence[Token]) -> Iterator[Span]:
        styles: list[Style] = []
        for child in children:
            kind = child.type.partition("_")[0]
            if child.type in ("softbreak", "hardbreak"):
                self._line += 1
                yield Span(" " if child.type == "softbreak" else "\n", frozenset(styles), None, self._line)
            elif kind in STYLES:
                styles.append(STYLES[kind]) if child.nesting > 0 else styles.remove(STYLES[kind])
            elif child.type == "placeholder":
                yield from self._number(child.content, frozenset(styles))
            elif child.type == "image":
                self._report(NO_PICTURES)
            elif child.content:
                code: list[Style] = ["code"] if child.type == "code_inline" else []
                yield Span(escape_controls(child.content), frozenset([*styles, *code]), None, self._line)

    def _number(self, text: str, styles: frozenset[Style]) -> Iterator[Span]:
        try:
            yield Span(escape_controls(text), styles, parse(text), self._line)
        except ExpressionError as error:
            self._report(str(error))
            yield Span(UNKNOWN, styles, None, self._line)


def fill_caption(caption: Caption, names: Environment | None) -> FilledCaption:
    """Fill in the numbers of a caption, with their marks if they are of several kinds.

    names: None for a step without a picture, whose numbers are left open.
    """
    numbers, problems = _computed(caption, names)
    marks: set[tuple[Mark, str]] = {(q.mark, q.origin) for q in numbers.values() if q.mark}
    several = len(marks) > 1
    paragraphs = [_html_of(paragraph, numbers, several) for paragraph in caption.paragraphs]
    texts = [_text_of(paragraph, numbers) for paragraph in caption.paragraphs]
    return FilledCaption("".join(paragraphs), "\n".join(texts), _foot(marks), tuple(problems))


def _computed(caption: Caption, names: Environment | None) -> tuple[dict[int, Quantity], list[Problem]]:
    """Compute the value of each number span, by its id, and list the problems."""
    values: dict[int, Quantity] = {}
    problems = []
    for paragraph in caption.paragraphs:
        for span in paragraph.spans:
            if span.expression is None:
                continue
            if names is None:
                values[id(span)] = PENDING
                continue
            try:
                value = span.expression.evaluate(names)
                span.expression.format(value)
                values[id(span)] = value
            except PendingError:
                values[id(span)] = PENDING
            except ExpressionError as error:
                problems.append(Problem(span.line, str(error)))
    return values, problems


def _words(span: Span, numbers: dict[int, Quantity]) -> tuple[str, Mark]:
    """Return the text of a span, and the mark of a number."""
    if span.expression is None:
        return span.text, ""
    number = numbers.get(id(span))
    return (UNKNOWN, "") if number is None else (span.expression.format(number), number.mark)


def _html_of(paragraph: Paragraph, numbers: dict[int, Quantity], several: bool) -> str:
    if paragraph.is_code:
        return f"<pre>{html.escape(paragraph.spans[0].text)}</pre>"
    parts = [f"{paragraph.bullet}&nbsp;"] if paragraph.bullet else []
    for span in paragraph.spans:
        text, mark = _words(span, numbers)
        body = html.escape(text).replace("\n", "<br>")
        if span.expression is not None:
            body = f"<b>{body.replace(' ', '&nbsp;')}</b>"
            body += f"<sup>&nbsp;{mark}</sup>" if several and mark else ""
        for style in sorted(span.styles):
            body = f"<{style}>{body}</{style}>"
        parts.append(body)
    return f"<p>{''.join(parts)}</p>"


def _text_of(paragraph: Paragraph, numbers: dict[int, Quantity]) -> str:
    signs = (next((SIGNS[style] for style in span.styles if style in SIGNS), "") for span in paragraph.spans)
    words = "".join(
        sign + _words(span, numbers)[0] for sign, span in zip(signs, paragraph.spans, strict=True)
    )
    return f"{paragraph.bullet} {words}".strip() if paragraph.bullet else words


def _foot(marks: set[tuple[Mark, str]]) -> str:
    """Describe the source of numbers: "Exact from the trace. Measured on NVIDIA H200."."""
    texts = [f"{MARK_TEXTS[mark]} {origin}".strip() for mark, origin in sorted(marks)]
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in dict.fromkeys(texts))


def mask_html(text: str) -> str:
    """Mask the HTML of a question's caption before the answer: same length, but no information."""
    return re.sub(r"(<[^>]*>)|&[^;]*;|[^\s<]", lambda match: match[1] or "n", text)

"""Comments that suppress findings on their lines: `# tilescope: ignore[TS101] reason`, in C++ after `//`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from ....tracer.model.rules import CODES
from .chosen_rules import unknown_rule_text

COMMENT = re.compile(r"\btilescope:\s*ignore\b\s*(\[[^\]]*\])?[ \t]*(.*)")
CPP_COMMENT = re.compile(r"//(?=.*\btilescope:\s*ignore\b)(.*)")
PYTHON_COMMENT = re.compile(r"#(?=.*\btilescope:\s*ignore\b)(.*)")
_OUTSIDE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)


class SuppressionError(Exception):
    """A comment that is no valid suppression; the text is one sentence with its file and line."""


class Suppression(NamedTuple):
    """A comment that suppresses findings."""

    line: int  # of the comment, from 1
    first: int  # the first line that it covers
    last: int
    codes: tuple[str, ...]
    reason: str


class CommentPlace(NamedTuple):
    """A comment, and the lines of the statement that it belongs to."""

    text: str
    line: int
    first: int
    last: int


def read_suppressions(name: str, text: str, is_cpp: bool) -> list[Suppression]:
    """List the suppressions in a file's text; raises SuppressionError for one without a known code or a reason.

    name: of the file, for the sentence.
    """
    if "tilescope:" not in text:
        return []
    from ....tracer.model.embedded_cpp import only_cpp  # imports packages that help does not need

    cpp = text if is_cpp else only_cpp(text) or ""  # a Python program may have kernels in strings
    places = [*_cpp_comments(cpp), *(() if is_cpp else _python_comments(text))]
    return [
        _suppression(name, place, match)
        for place in places
        if (match := COMMENT.search(place.text)) is not None
    ]


def _suppression(name: str, place: CommentPlace, match: re.Match[str]) -> Suppression:
    codes = tuple(code.strip() for code in (match[1] or "[]")[1:-1].split(",") if code.strip())
    reason = match[2].strip().removesuffix("*/").strip()
    where = f"{name}:{place.line}: "
    if not codes:
        raise SuppressionError(
            f"{where}the suppression names no rule; write tilescope: ignore[TS101] and the reason."
        )
    unknown = next((code for code in codes if code not in CODES), None)
    if unknown is not None:
        raise SuppressionError(where + unknown_rule_text(unknown))
    if not reason:
        listed = ", ".join(codes)
        raise SuppressionError(
            f"{where}the suppression of {listed} has no reason; write it after the bracket."
        )
    return Suppression(place.line, place.first, place.last, codes, reason)


def _cpp_comments(text: str) -> Iterator[CommentPlace]:
    """Yield the comments: one after code covers its line, one on its own line covers the next line of code."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        match = CPP_COMMENT.search(line)
        if match is None:
            continue
        covered = number
        if not line[: match.start()].strip():
            following = (n for n in range(number + 1, len(lines) + 1) if _is_cpp_code(lines[n - 1]))
            covered = next(following, number)
        yield CommentPlace(match[1], number, covered, covered)


def _is_cpp_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("//")


def _python_comments(text: str) -> Iterator[CommentPlace]:
    """Yield the comments: one after code covers its statement, one on its own line covers the next statement.

    A statement is a logical line; decorators belong to the `def` below them.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (
        tokenize.TokenError,
        SyntaxError,
    ):  # a notebook's cell with commands of a shell, or a faulty program
        yield from _comments_by_line(text)
        return
    waiting: list[tokenize.TokenInfo] = []
    first, is_decorator = 0, False
    for token in tokens:
        if token.type == tokenize.COMMENT:
            waiting.append(token)
        elif token.type == tokenize.NEWLINE:
            if not is_decorator:
                yield from (CommentPlace(c.string, c.start[0], first, token.start[0]) for c in waiting)
                waiting, first = [], 0
            is_decorator = False
            continue
        elif token.type not in _OUTSIDE:
            if token.string == "@" and token.line[: token.start[1]].strip() == "":
                is_decorator = True
            first = first or token.start[0]
    yield from (CommentPlace(c.string, c.start[0], c.start[0], c.start[0]) for c in waiting)


def _comments_by_line(text: str) -> Iterator[CommentPlace]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := PYTHON_COMMENT.search(line):
            covered = number if line[: match.start()].strip() else number + 1
            yield CommentPlace(match[1], number, covered, covered)

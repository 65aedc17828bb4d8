"""Matching brackets, except those in strings and comments."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock, QTextDocument

from .highlight import python_line
from .history import utf16_length

OPENING, CLOSING = "([{", ")]}"
FAR = 300  # lines that are searched for the matching bracket


def bracket_pair(document: QTextDocument, position: int) -> tuple[int, int] | None:
    """Return the positions of a bracket next to `position` and of its match, or None."""
    for index in (position - 1, position):
        bracket = document.characterAt(index) if index >= 0 else ""
        if (
            bracket
            and bracket in OPENING + CLOSING
            and (other := _matching_bracket(document, index, bracket)) is not None
        ):
            return index, other
    return None


def _matching_bracket(document: QTextDocument, position: int, sign: str) -> int | None:
    opens = sign in OPENING
    wanted = CLOSING[OPENING.index(sign)] if opens else OPENING[CLOSING.index(sign)]
    block, depth, has_started = document.findBlock(position), 0, False
    for _ in range(FAR):
        if not block.isValid():
            return None
        brackets = _brackets(block)
        for index, bracket in brackets if opens else reversed(brackets):
            has_started = has_started or index == position
            depth += has_started * ((bracket == sign) - (bracket == wanted))
            if has_started and not depth:
                return index
        if not has_started:
            return None  # the bracket is in a string or a comment
        block = block.next() if opens else block.previous()
    return None


def _brackets(block: QTextBlock) -> list[tuple[int, str]]:
    """List the positions and characters of a line's brackets, without strings and comments."""
    text, hidden = block.text(), set[int]()
    if not any(bracket in text for bracket in OPENING + CLOSING):
        return []
    for first, length, style in python_line(text, max(0, block.previous().userState()))[0]:
        if style in ("string", "comment"):
            hidden.update(range(first, first + length))
    return [
        (block.position() + utf16_length(text[:column]), sign)
        for column, sign in enumerate(text)
        if sign in OPENING + CLOSING and column not in hidden
    ]

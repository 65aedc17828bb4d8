"""The other half of a bracket, past those in strings and comments."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock, QTextDocument

from .highlight import python_line
from .history import units

OPENING, CLOSING = "([{", ")]}"
FAR = 300  # lines in which the other half of a bracket is looked for


def bracket_pair(document: QTextDocument, position: int) -> tuple[int, int] | None:
    """Return the positions of the bracket beside a position and of its other half; None where there is none."""
    for at in (position - 1, position):
        sign = document.characterAt(at) if at >= 0 else ""
        if sign and sign in OPENING + CLOSING and (other := _other_half(document, at, sign)) is not None:
            return at, other
    return None


def _other_half(document: QTextDocument, at: int, sign: str) -> int | None:
    opens = sign in OPENING
    wanted = CLOSING[OPENING.index(sign)] if opens else OPENING[CLOSING.index(sign)]
    block, depth, begun = document.findBlock(at), 0, False
    for _ in range(FAR):
        if not block.isValid():
            return None
        found = _brackets(block)
        for place, bracket in found if opens else reversed(found):
            begun = begun or place == at
            depth += begun * ((bracket == sign) - (bracket == wanted))
            if begun and not depth:
                return place
        if not begun:
            return None  # it stands in a string
        block = block.next() if opens else block.previous()
    return None


def _brackets(block: QTextBlock) -> list[tuple[int, str]]:
    """Return the brackets of a line that are no part of strings and comments, with their positions."""
    text, hidden = block.text(), set[int]()
    if not any(bracket in text for bracket in OPENING + CLOSING):
        return []
    for first, length, style in python_line(text, max(0, block.previous().userState()))[0]:
        if style in ("string", "comment"):
            hidden.update(range(first, first + length))
    return [
        (block.position() + units(text[:column]), sign)
        for column, sign in enumerate(text)
        if sign in OPENING + CLOSING and column not in hidden
    ]

"""The votes of a hall: checked against their question, one for each phone."""

from __future__ import annotations

import math
from typing import TypeGuard

from .messages import HallQuestion, Vote

LARGEST = 1e15  # magnitude of a number
LONGEST_BAR = 100


def parse_vote(question: HallQuestion, value: object) -> Vote | None:
    """Return a decoded value as a vote on a question; None if it is not one."""
    match question.kind:
        case "choose":
            return value if _is_integer(value) and 0 <= value < len(question.choices) else None
        case "line":
            return value if _is_integer(value) and value in dict(question.lines) else None
        case "number":
            return value if _is_number(value, LARGEST) else None
        case "bars":
            if not isinstance(value, list) or len(value) != len(question.bars):
                return None
            lengths = [length for length in value if _is_number(length, LONGEST_BAR) and length >= 0]
            return tuple(map(float, lengths)) if len(lengths) == len(value) else None


class Ballot:
    """Counts one vote for each phone and question; a later vote replaces an earlier one."""

    def __init__(self) -> None:
        self._votes: dict[int, dict[str, Vote]] = {}  # by question and phone

    def cast(self, question: int, phone: str, vote: Vote) -> None:
        """Count a vote."""
        self._votes.setdefault(question, {})[phone] = vote

    def vote_of(self, question: int, phone: str) -> Vote | None:
        """Return the vote of a phone, None without one."""
        return self._votes.get(question, {}).get(phone)

    def votes(self, question: int) -> tuple[Vote, ...]:
        """List the votes on a question, in the order of the phones' first votes."""
        return tuple(self._votes.get(question, {}).values())


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object, largest: float) -> TypeGuard[int | float]:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= largest
        and math.isfinite(value)
    )

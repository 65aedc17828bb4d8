"""The hall's histogram: votes as rows, with the answer once it is revealed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from .ballot import LONGEST_BAR
from .messages import HallQuestion, Row, Vote

LETTERS = "ABCDEF"
MOST_ROWS = 5  # values with a row; the others share one
LONGEST_LINE = 60  # letters of a line's text


class Solution(Struct, frozen=True):
    """The answer to a question, as far as its kind needs it."""

    text: str  # in words
    values: tuple[float, ...] = ()  # the right index, number or lines; the values of bars


def rows_of(question: HallQuestion, votes: Sequence[Vote], solution: Solution | None) -> tuple[Row, ...]:
    """Count votes into rows; solution: None before the answer is revealed."""
    right = solution.values if solution else ()
    if question.kind == "bars":
        return _bar_rows(question.bars, votes, right)
    counts = Counter(vote for vote in votes if not isinstance(vote, tuple))
    labels = _labels(question)
    values = list(labels) if question.kind == "choose" else _frequent(counts, right)
    others = counts.total() - sum(counts[value] for value in values)
    most = max(others, *counts.values(), 1)
    rows = [
        _count_row(labels.get(value, f"{value:,.10g}"), counts[value], most, value in right)
        for value in values
    ]
    return tuple(rows + [_count_row("others", others, most, is_right=False)] * bool(others))


def _frequent(counts: Counter[int | float], right: Iterable[float]) -> list[int | float]:
    """List the most frequent values and the right ones, in order; rare values may be jokes."""
    frequent = [value for value, _ in counts.most_common(MOST_ROWS)]
    is_included = not set(frequent).isdisjoint(right)
    return sorted({*frequent, *(() if is_included else right)})


def _labels(question: HallQuestion) -> dict[int | float, str]:
    if question.kind == "choose":
        return {i: f"{LETTERS[i]}  {text}" for i, text in enumerate(question.choices)}
    return {number: f"{number}  {text.strip()[:LONGEST_LINE]}" for number, text in question.lines}


def _count_row(label: str, count: int, most: int, is_right: bool) -> Row:
    return Row(label, f"{count:,}", count / most, is_right)


def _bar_rows(labels: Sequence[str], votes: Sequence[Vote], right: Sequence[float]) -> tuple[Row, ...]:
    """Return a row for each bar: the median length, relative to the longest bar of each vote."""
    scaled = [_relative(vote) for vote in votes if isinstance(vote, tuple)]
    targets = _relative(right) if right else None
    rows = []
    for i, label in enumerate(labels):
        median = statistics.median(vote[i] for vote in scaled) if scaled else 0.0
        rows.append(Row(label, f"{LONGEST_BAR * median:.0f}", median, target=targets[i] if targets else None))
    return tuple(rows)


def _relative(lengths: Sequence[float]) -> tuple[float, ...]:
    longest = max(lengths)
    return tuple(length / longest if longest > 0 else 0.0 for length in lengths)

"""The results of a hall as CSV: how often each vote was given, without phones."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from .messages import HallQuestion, Vote

HEADER = ("step", "title", "question", "kind", "vote", "count", "answer")


class Result(Struct, frozen=True):
    """The votes on a question."""

    step: int  # from 1
    title: str  # of the step
    question: HallQuestion
    votes: Sequence[Vote]
    answer: str  # in words, "" if it was not revealed


def csv_text(results: Iterable[Result]) -> str:
    """Write a row for each different vote on each question."""
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(HEADER)
    for result in results:
        question = result.question
        counts = Counter(result.votes)
        for vote in sorted(counts, key=str):
            text = _vote_text(question, vote)
            fields = (
                result.step,
                result.title,
                question.ask,
                question.kind,
                text,
                counts[vote],
                result.answer,
            )
            writer.writerow(map(_safe, fields))
    return target.getvalue()


def _vote_text(question: HallQuestion, vote: Vote) -> str:
    if isinstance(vote, tuple):
        return " | ".join(f"{label} {length:g}" for label, length in zip(question.bars, vote, strict=True))
    return question.choices[int(vote)] if question.kind == "choose" else f"{vote:.15g}"


def _safe(field: str | int) -> str | int:
    """Prefix texts that a spreadsheet would compute."""
    if isinstance(field, int) or _is_number(field) or not field.startswith(("=", "+", "-", "@", "\t")):
        return field
    return f"'{field}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

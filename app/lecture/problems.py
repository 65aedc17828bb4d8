"""What is wrong with a lecture: a sentence and the line that it is about."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.visible_text import visible


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in a lecture's file."""

    line: int  # from 1
    sentence: str  # what is wrong and what to do, on one line in which all can be seen

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", visible(self.sentence))

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}"


class LectureError(Exception):
    """A lecture that can't be read or shown; the text is one sentence."""

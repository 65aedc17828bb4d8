"""What is wrong with a lecture: a sentence and the line that it is about."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from ..model.visible_text import visible


class Problem(Struct, frozen=True, order=True):
    """One mistake in a lecture's file."""

    line: int  # from 1
    sentence: str  # what is wrong and what to do, on one line in which all can be seen

    def __post_init__(self) -> None:
        force_setattr(self, "sentence", visible(self.sentence))

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}"


class LectureError(Exception):
    """A lecture that can't be read or shown; the text is one sentence."""

"""Mistakes of a lecture: a sentence and its line."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from ...model.visible_text import escape_controls


class Problem(Struct, frozen=True, order=True):
    """One mistake in a lecture's file."""

    line: int  # from 1
    sentence: str  # the mistake and its remedy, on one line without control characters

    def __post_init__(self) -> None:
        force_setattr(self, "sentence", escape_controls(self.sentence))

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}"


class LectureError(Exception):
    """A lecture can't be read or shown; the text is one sentence."""

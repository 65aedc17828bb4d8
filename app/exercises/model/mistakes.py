"""Mistakes in an exercise's files: a sentence, with its file and line."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from ...model.visible_text import escape_controls


class Mistake(Struct, frozen=True, order=True):
    """One mistake in a file of an exercise."""

    path: Path  # of the file
    line: int  # from 1
    sentence: str  # the mistake and its remedy, on one line without control characters

    def __post_init__(self) -> None:
        force_setattr(self, "sentence", escape_controls(self.sentence))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


class ExerciseError(Exception):
    """An exercise is missing, unreadable, or can't be judged; the text is one sentence."""

"""What is wrong with an exercise's files: a sentence, with the file and the line that it is about."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from ..model.visible_text import visible


class Mistake(Struct, frozen=True, order=True):
    """One mistake in a file of an exercise."""

    path: Path  # of the file
    line: int  # from 1
    sentence: str  # what is wrong and what to do, on one line in which all can be seen

    def __post_init__(self) -> None:
        force_setattr(self, "sentence", visible(self.sentence))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


class ExerciseError(Exception):
    """An exercise that is not there, can't be read or can't be judged by; the text is one sentence."""

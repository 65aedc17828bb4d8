"""An exercise as its two files have it: task, picture, goals and hints, stub and judge. Nothing of them is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...tracer.storage.folders import data_folder

if TYPE_CHECKING:  # the window starts without what reads them
    from ..lecture.captions import Caption
    from .goals import Goal
    from .mistakes import Mistake
    from .program import Program

FILE_NAME = re.compile(r"(\d+)-(.+)\.md")


class Picture(Struct, frozen=True):
    """A picture beside the task."""

    path: Path  # of the file
    text: str  # what it shows, for who can't see it


class Exercise(Struct, frozen=True):
    """An exercise as its files have it; with `mistakes` it can be shown, but nothing judged by it."""

    name: str  # "map" of 01-map.md
    number: int  # 1 of it
    title: str  # the heading
    task: Caption  # the paragraphs under it
    picture: Picture | None
    goals: tuple[Goal, ...]  # what the last case must come to, beside being right
    hints: tuple[Caption, ...]  # in the order in which they are given
    program: Program  # the Python file: the stub, and the judge
    kernel: str  # the function that is launched
    mistakes: tuple[Mistake, ...]  # what can't be read, by file and line
    path: Path  # of the Markdown file
    hides: tuple[str, ...] = ()  # kinds of findings whose places and remedies wait for hints

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return self.path.parent

    @property
    def stub(self) -> str:
        """The program that a student begins with."""
        return self.program.stub


def file_of(exercise: Exercise) -> Path:
    """Return what a text is called that a student writes in the window."""
    return data_folder() / "exercises" / f"{exercise.name}.py"

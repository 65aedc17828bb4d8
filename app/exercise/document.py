"""An exercise as read from its two files: task, picture, goals and hints, stub and judge. Nothing in them is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...tracer.storage.folders import data_folder

if TYPE_CHECKING:  # the window starts without the parsers
    from ..lecture.captions import Caption
    from .goals import Goal
    from .mistakes import Mistake
    from .program import Program

FILE_NAME = re.compile(r"(\d+)-(.+)\.md")


class Picture(Struct, frozen=True):
    """A picture next to the task."""

    path: Path  # of the file
    text: str  # a description for people who can't see it


class Exercise(Struct, frozen=True):
    """An exercise as read from its files; with `mistakes` it can be shown, but not judged."""

    name: str  # "map" of 01-map.md
    number: int  # 1 for 01-map.md
    title: str  # the heading
    task: Caption  # the paragraphs under the title
    picture: Picture | None
    goals: tuple[Goal, ...]  # conditions on the last case, besides a correct result
    hints: tuple[Caption, ...]  # in order
    program: Program  # the Python file: the stub, and the judge
    kernel: str  # the name of the launched function
    mistakes: tuple[Mistake, ...]  # parts that can't be read, by file and line
    path: Path  # of the Markdown file
    hides: tuple[str, ...] = ()  # kinds of findings whose lines and remedies are hidden until hints are used

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.path.parent

    @property
    def stub(self) -> str:
        """The program that a student starts from."""
        return self.program.stub


def student_file(exercise: Exercise) -> Path:
    """Return the path of the text that a student writes in the window."""
    return data_folder() / "exercises" / f"{exercise.name}.py"

"""An exercise as read from its files: task, picture, goals and hints, stub and judge. Nothing in them is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from ....tracer.model.launch import is_cuda_cpp
from ....tracer.storage.folders import data_folder
from .mistakes import ExerciseError
from .variants import SEED

if TYPE_CHECKING:  # the window starts without the parsers
    from ...lectures.model.captions import Caption
    from .goals import Goal
    from .mistakes import Mistake
    from .program import Program

Language = Literal["numba", "cuda-cpp"]
SUFFIXES: dict[Language, str] = {"numba": ".py", "cuda-cpp": ".cu"}  # of a student's file
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
    order: str = (
        ""  # the constant with the order in which the student breaks the kernel; "" for other exercises
    )
    cuda_cpp: str = ""  # the stub in CUDA C++, "" without one
    language: Language = "numba"  # that the student writes
    other_words: tuple[Caption, tuple[Caption, ...]] | None = None  # task and hints in the other language
    variant: Mapping[str, int] = {}  # the seed, and the numbers that it chose

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.path.parent

    @property
    def stub(self) -> str:
        """The program that a student starts from."""
        return self.cuda_cpp if self.language == "cuda-cpp" else self.program.stub

    @property
    def seed(self) -> int:
        """The seed of the variant; 0 is the exercise as written."""
        return self.variant[SEED]

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that it can be done in."""
        return ("numba", "cuda-cpp") if self.cuda_cpp else ("numba",)

    def in_language(self, language: Language) -> Exercise:
        """Return the exercise in a language; raises ExerciseError if it has no stub in it."""
        if language not in self.languages:
            raise ExerciseError(
                f"The exercise {self.name} has no stub in CUDA C++; {self.path.stem}.cu would hold it."
            )
        if language == self.language or self.other_words is None:
            return msgspec.structs.replace(self, language=language)
        task, hints = self.other_words
        others = self.task, self.hints
        return msgspec.structs.replace(self, language=language, task=task, hints=hints, other_words=others)


def student_file(exercise: Exercise) -> Path:
    """Return the path of the text that a student writes in the window."""
    return data_folder() / "exercises" / f"{exercise.name}{SUFFIXES[exercise.language]}"


def language_of_file(path: Path) -> Language:
    """Return the language of a student's file, by its suffix."""
    return "cuda-cpp" if is_cuda_cpp(path.name) else "numba"

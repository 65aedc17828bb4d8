"""Exercises for tests: the one in the data, small ones from a text, and a judge that stays warm for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from folders import DATA
from tilescope.app.exercises.model.document import Exercise
from tilescope.app.exercises.model.judge import Judge
from tilescope.app.exercises.model.reading import read_exercise

EXERCISES = DATA / "exercises"
TASK = "# Ten\n\nAdd ten.\n\n```exercise\nkernel: add_ten\n{goals}```\n"
PROGRAM = (EXERCISES / "01-add-ten.py").read_text(encoding="utf-8")
STUB, _, CASES = PROGRAM.partition("\n\n# judge\n")
RIGHT = STUB.replace("out[i] = 0", "out[i] = a[i] + 10")


@cache
def warm_judge() -> Judge:
    """Return a judge whose processes all tests share; they end with ours."""
    judge = Judge()
    judge.start()
    return judge


def add_ten() -> Exercise:
    """Return the exercise of the data."""
    return read_exercise(EXERCISES / "01-add-ten.md")


def write_exercise(folder: Path, cases: str = CASES, goals: str = "", stub: str = STUB) -> Exercise:
    """Return an exercise as the one of the data, with another judge, other goals or another stub."""
    (folder / "01-ten.md").write_text(TASK.format(goals="".join(f"goal: {g}\n" for g in goals.splitlines())))
    (folder / "01-ten.py").write_text(f"{stub}\n\n# judge\n{cases}")
    return read_exercise(folder / "01-ten.md")


def line_of(text: str, part: str) -> int:
    """Return the first line of a text, from 1, that has a part."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)

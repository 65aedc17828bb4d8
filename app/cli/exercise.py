"""`tilescope exercise`: the exercises, the task and the stub of one, and what a student's file comes to."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ..exercise.document import Exercise
from ..exercise.judge import Judge
from ..exercise.library import SHIPPED, exercise_named, exercises_in
from ..exercise.mistakes import ExerciseError
from ..exercise.output import json_of, task_text, verdict_text
from ..exercise.progress import Progress, stored_progress
from ..exercise.which import exercise_for, text_of
from .common.arguments import Parser, UsageError
from .common.text_output import aligned, complain, say
from .open_window import has_display, show_exercise

USAGE = """tilescope exercise [NAME | FOLDER/NAME] [--folder DIR] [-o FILE]
       tilescope exercise check FILE [--exercise NAME] [--folder DIR] [--format text | json]"""
CHECK = "check"


def add_arguments(parser: Parser) -> None:
    parser.usage = USAGE
    parser.description = (
        "With no name, list the exercises; with one, work at it in the window, or read it where there is no display. "
        "check judges a file: its exit status is 0 where it passes, 1 where it does not, 2 where it can't be judged. "
        "The page Exercises of the documentation describes their files."
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME | check FILE", help="an exercise, or a file to check"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.py", help="write the program to begin with to a new file"
    )
    parser.add_argument(
        "--exercise", metavar="NAME", help="which one the file is for, where its name does not say"
    )
    parser.add_argument("--folder", metavar="DIR", help="a folder of exercises of your own")
    parser.add_argument("--format", choices=("text", "json"), help="of what check prints")


def execute(chosen: Namespace) -> int:
    """List, show, write a stub or check; raises UsageError for what is not there or can't be judged."""
    folder = Path(chosen.folder) if chosen.folder else None
    try:
        if chosen.words[:1] == [CHECK]:
            return check(_file_of(chosen), chosen.exercise, folder, chosen.format or "text")
        if chosen.exercise or chosen.format:
            raise UsageError("--exercise and --format go with check: tilescope exercise check FILE.")
        if len(chosen.words) > 1:
            raise UsageError(f"one exercise is shown at a time, not {len(chosen.words)}.")
        if not chosen.words:
            return list_exercises(folder, chosen.output)
        exercise = exercise_named(chosen.words[0], folder)
        return write_stub(exercise, Path(chosen.output)) if chosen.output else show(exercise)
    except ExerciseError as error:
        raise UsageError(str(error)) from None


def _file_of(chosen: Namespace) -> str:
    if len(chosen.words) != 2 or chosen.output:
        raise UsageError("say one file to check, and no other: tilescope exercise check FILE.")
    return str(chosen.words[1])


def list_exercises(folder: Path | None, output: str | None = None) -> int:
    """Print a line for each exercise and a sentence for each mistake in their files; return 1 where there are some."""
    if output:
        raise UsageError("say whose program to write: tilescope exercise NAME -o FILE.")
    found, mistakes = exercises_in(folder or SHIPPED)
    progress = _progress()
    rows = [[str(e.number), e.name, e.title, "done" * progress.of(e).done] for e in found]
    for line in aligned(rows, "><<<") if rows else [f"no exercises in {folder or SHIPPED}"]:
        say(line)
    for mistake in mistakes:
        say(mistake)
    return 1 if mistakes else 0


def show(exercise: Exercise) -> int:
    """Show the window on an exercise, or where there is no display print its task.

    Raises UsageError where its files have mistakes.
    """
    _refuse_mistakes(exercise)
    if has_display():
        return show_exercise(exercise.path)
    for line in task_text(exercise):
        say(line)
    return 0


def write_stub(exercise: Exercise, path: Path) -> int:
    """Write the program that a student begins with to a new file; raises UsageError where there is one."""
    _refuse_mistakes(exercise)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(exercise.stub)
    except FileExistsError:
        raise UsageError(f"{path} is there already and stays as it is; choose another name.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}.") from None
    say(path)
    return 0


def _refuse_mistakes(exercise: Exercise) -> None:
    if exercise.mistakes:
        raise UsageError(f"the exercise {exercise.name} has a mistake: {exercise.mistakes[0]}")


def check(file: str, name: str | None, folder: Path | None, form: str) -> int:
    """Judge a file and print the verdict; return 0 where it passes, else 1. Raises ExerciseError, WorkerError."""
    path = Path(file)
    text = text_of(path)
    exercise = exercise_named(name, folder) if name else exercise_for(path, text, folder)
    judge = Judge()
    try:
        verdict = judge.judge(exercise, text, path, _pass_on if form == "text" else None)
    finally:
        judge.close()
    if form == "json":
        say(json_of(verdict, file))
    else:
        for line in verdict_text(verdict, exercise, file):
            say(line)
    if verdict.passed and form == "text":
        _note_done(exercise)
    return 0 if verdict.passed else 1


def _pass_on(printed: str) -> None:
    """Print on standard error what the student's kernel prints."""
    say(printed.removesuffix("\n"), sys.stderr)


def _progress() -> Progress:
    progress = stored_progress()
    if progress.problem:
        complain(progress.problem)
    return progress


def _note_done(exercise: Exercise) -> None:
    problem = _progress().note(exercise, done=True)
    if problem:
        complain(problem)

"""`tilescope exercise`: list the exercises, show one, write its stub, and judge a student's file."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ..exercises.model.document import Exercise, language_of_file
from ..exercises.model.judge import Judge
from ..exercises.model.library import SHIPPED, exercise_named, exercises_in, with_seed
from ..exercises.model.matching import exercise_for, read_student_text
from ..exercises.model.mistakes import ExerciseError
from ..exercises.model.output import json_of, task_text, verdict_text
from ..exercises.model.progress import Progress, stored_progress
from ..exercises.model.remedies import prove_remedies
from ..model.notebook_file import SUFFIX
from .common.arguments import Parser, UsageError
from .common.interrupts import immediate_interrupts
from .common.new_notebook import write_new_notebook
from .common.text_output import align_columns, print_error, print_escaped
from .open_window import has_display, show_exercise

USAGE = """tilescope exercise [NAME | FOLDER/NAME] [--folder DIR] [--seed N] [-o FILE]
       tilescope exercise NAME --for nbgrader | otter | classroom -o FOLDER [--seed N]
       tilescope exercise check FILE [--exercise NAME] [--folder DIR] [--seed N] [--format text | json]"""
CHECK = "check"


def add_arguments(parser: Parser) -> None:
    parser.usage = USAGE
    parser.description = (
        "Without a name, list the exercises; with one, open it in the window, or print it if there is no display. "
        "check judges a file: the exit status is 0 if it passes, 1 if it fails, 2 if it can't be judged. "
        "The page Exercises of the documentation describes their files."
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME | check FILE", help="an exercise, or a file to check"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE.py | FILE.cu | FILE.ipynb | FOLDER",
        help="write the stub to a new file; in CUDA C++ if it ends in .cu, with task and hints in a notebook",
    )
    parser.add_argument(
        "--for",
        dest="grader",
        choices=("nbgrader", "otter", "classroom"),
        help="write the files of an assignment for a grader into the folder of -o",
    )
    parser.add_argument(
        "--exercise", metavar="NAME", help="the exercise of the file, if its name does not contain it"
    )
    parser.add_argument("--folder", metavar="DIR", help="a folder with your own exercises")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="a variant, with other sizes and numbers; 0 is none"
    )
    parser.add_argument("--format", choices=("text", "json"), help="of the verdict of check")


def execute(chosen: Namespace) -> int:
    """List, show, write a stub or check; raises UsageError for missing files and files that can't be judged."""
    folder = Path(chosen.folder) if chosen.folder else None
    try:
        if chosen.words[:1] == [CHECK]:
            return check(_file_of(chosen), chosen.exercise, folder, chosen.seed, chosen.format or "text")
        if chosen.grader and not chosen.words:
            raise UsageError(f"name the exercise: tilescope exercise NAME --for {chosen.grader} -o FOLDER.")
        if chosen.exercise or chosen.format:
            raise UsageError("--exercise and --format need check: tilescope exercise check FILE.")
        if len(chosen.words) > 1:
            raise UsageError(f"name one exercise, not {len(chosen.words)}.")
        if not chosen.words:
            return list_exercises(folder, chosen.output)
        exercise = with_seed(exercise_named(chosen.words[0], folder), chosen.seed)
        if chosen.grader:
            return package(exercise, chosen.grader, chosen.output)
        if not chosen.output:
            return show(exercise)
        if chosen.output.endswith(SUFFIX):
            return write_exercise_notebook(exercise, Path(chosen.output))
        return write_stub(exercise.in_language(language_of_file(Path(chosen.output))), Path(chosen.output))
    except ExerciseError as error:
        raise UsageError(str(error)) from None


def _file_of(chosen: Namespace) -> str:
    if len(chosen.words) != 2 or chosen.output or chosen.grader:
        raise UsageError("name exactly one file to check: tilescope exercise check FILE.")
    return str(chosen.words[1])


def list_exercises(folder: Path | None, output: str | None = None) -> int:
    """Print a line for each exercise and a sentence for each mistake in their files; return 1 if there are mistakes."""
    if output:
        raise UsageError("name the exercise of the stub: tilescope exercise NAME -o FILE.")
    exercises, mistakes = exercises_in(folder or SHIPPED)
    progress = _progress()
    rows = [[str(e.number), e.name, e.title, "done" * progress.remembered(e).done] for e in exercises]
    for line in align_columns(rows, "><<<") if rows else [f"no exercises in {folder or SHIPPED}"]:
        print_escaped(line)
    for mistake in mistakes:
        print_escaped(mistake)
    return 1 if mistakes else 0


@immediate_interrupts()
def show(exercise: Exercise) -> int:
    """Show an exercise in the window, or print its task if there is no display.

    Raises UsageError if its files have mistakes.
    """
    _refuse_mistakes(exercise)
    if has_display():
        if exercise.seed:
            raise UsageError("the window shows exercises as they are written; write a variant with -o FILE.")
        return show_exercise(exercise.path)
    for line in task_text(exercise):
        print_escaped(line)
    return 0


def write_stub(exercise: Exercise, path: Path) -> int:
    """Write the stub of a student's program to a new file; raises UsageError if the file exists."""
    _refuse_mistakes(exercise)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(exercise.stub)
    except FileExistsError:
        raise UsageError(f"{path} exists and is not overwritten; choose another name.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}.") from None
    print_escaped(path)
    return 0


def write_exercise_notebook(exercise: Exercise, path: Path) -> int:
    """Write an exercise as a notebook that judges it; raises UsageError if the file exists or can't be written."""
    from ..exercises.model.notebook import exercise_cells

    _refuse_mistakes(exercise)
    write_new_notebook(path, list(exercise_cells(exercise)))
    return 0


def package(exercise: Exercise, grader: str, folder: str | None) -> int:
    """Write the files for a grader; raises UsageError without a folder, and if they can't be written."""
    from .exercise_package import write_package

    if not folder:
        raise UsageError(
            f"name the folder of the files: tilescope exercise {exercise.name} --for {grader} -o FOLDER."
        )
    _refuse_mistakes(exercise)
    write_package(exercise, grader, Path(folder))
    return 0


def _refuse_mistakes(exercise: Exercise) -> None:
    if exercise.mistakes:
        raise UsageError(f"the exercise {exercise.name} has a mistake: {exercise.mistakes[0]}")


def check(file: str, name: str | None, folder: Path | None, seed: int, form: str) -> int:
    """Judge a file and print the verdict; return 0 if it passes, else 1. Raises ExerciseError and WorkerError."""
    path = Path(file)
    text = read_student_text(path)
    exercise = exercise_named(name, folder) if name else exercise_for(path, text, folder)
    exercise = with_seed(exercise.in_language(language_of_file(path)), seed)
    judge = Judge()
    try:
        output = _print_kernel_output if form == "text" else None
        verdict = prove_remedies(judge.judge(exercise, text, path, output))
    finally:
        judge.close()
    if form == "json":
        print_escaped(json_of(verdict, file))
    else:
        for line in verdict_text(verdict, exercise, file):
            print_escaped(line)
    if verdict.passed and form == "text":
        _note_done(exercise)
    return 0 if verdict.passed else 1


def _print_kernel_output(printed: str) -> None:
    """Print the output of the student's kernel on standard error."""
    print_escaped(printed.removesuffix("\n"), sys.stderr)


def _progress() -> Progress:
    progress = stored_progress()
    if progress.problem:
        print_error(progress.problem)
    return progress


def _note_done(exercise: Exercise) -> None:
    problem = _progress().note(exercise, done=True)
    if problem:
        print_error(problem)

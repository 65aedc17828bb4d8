"""Match a student's file to an exercise, by the file's name or by its kernel. Nothing in it is run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from ....tracer.model.cpp_text import functions, is_cpp
from ...model.named_file import read_at_most
from ...model.visible_text import escape_controls
from .document import Exercise
from .library import SHIPPED, exercises_in
from .mistakes import ExerciseError

LARGEST = 1_000_000  # bytes of a student's file


def read_student_text(path: Path) -> str:
    """Read a student's file; raises ExerciseError."""
    try:
        raw = read_at_most(path, LARGEST)
    except FileNotFoundError:
        raise ExerciseError(f"There is no file {escape_controls(path)}; check its name and folder.") from None
    except OSError as error:
        raise ExerciseError(f"{escape_controls(path)} can't be read: {error.strerror}.") from None
    if len(raw) > LARGEST:
        raise ExerciseError(
            f"{escape_controls(path)} has more than {LARGEST:,} bytes, which no exercise needs."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{escape_controls(path)} is not UTF-8 text (byte {error.start:,}).") from None


def exercise_for(path: Path, text: str, folder: Path | None = None) -> Exercise:
    """Find the exercise of a file, in a folder or among the shipped ones; raises ExerciseError."""
    exercises, _ = exercises_in(folder or SHIPPED)
    for exercise in exercises:
        if path.stem in (exercise.name, exercise.path.stem):
            return exercise
    kernels = _functions_in(text)
    matching = [exercise for exercise in exercises if exercise.kernel in kernels]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(exercise.name for exercise in matching or exercises)
    if matching:
        reason = f"several exercises have its kernel: {names}"
    else:
        reason = f"neither its name nor a kernel in it belongs to an exercise ({names or 'there are none'})"
    raise ExerciseError(f"Name the exercise of {escape_controls(path)} with --exercise NAME: {reason}.")


def _functions_in(text: str) -> set[str]:
    """Return the names of the functions in a text; none if it is neither valid Python nor C++ with a kernel."""
    if is_cpp(text):
        return {function.name for function in functions(text)}
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's parser would print them
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

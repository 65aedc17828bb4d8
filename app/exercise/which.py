"""Which exercise a student's file is for: by the file's name, or by the kernel in it. Nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from ..model.named_file import bytes_of
from ..model.visible_text import visible
from .document import Exercise
from .library import SHIPPED, exercises_in
from .mistakes import ExerciseError

LARGEST = 1_000_000  # bytes of a student's file


def text_of(path: Path) -> str:
    """Return the text of a student's file; raises ExerciseError."""
    try:
        raw = bytes_of(path, LARGEST)
    except FileNotFoundError:
        raise ExerciseError(f"There is no file {visible(path)}; check its name and folder.") from None
    except OSError as error:
        raise ExerciseError(f"{visible(path)} can't be read: {error.strerror}.") from None
    if len(raw) > LARGEST:
        raise ExerciseError(f"{visible(path)} has more than {LARGEST:,} bytes, which no exercise needs.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{visible(path)} is no text in UTF-8 (byte {error.start:,}).") from None


def exercise_for(path: Path, text: str, folder: Path | None = None) -> Exercise:
    """Return the exercise of a folder, or of the shipped ones, that a file is for; raises ExerciseError."""
    found, _ = exercises_in(folder or SHIPPED)
    for exercise in found:
        if path.stem in (exercise.name, exercise.path.stem):
            return exercise
    kernels = _functions_in(text)
    suited = [exercise for exercise in found if exercise.kernel in kernels]
    if len(suited) == 1:
        return suited[0]
    what = "several exercises have" if suited else "neither its name nor a kernel in it is of"
    known = ", ".join(exercise.name for exercise in suited or found)
    which = (
        f"{what} its kernel: {known}"
        if suited
        else f"{what} an exercise, of which there are {known or 'none'}"
    )
    raise ExerciseError(f"Say which exercise {visible(path)} is for, with --exercise NAME: {which}.")


def _functions_in(text: str) -> set[str]:
    """Return the names of the functions of a text, none of one that is no Python."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's parser would print them
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

"""Find exercises: the shipped ones, and those in teachers' folders."""

from __future__ import annotations

from pathlib import Path

from .... import ROOT
from ....kernels.scenarios.suggestions import did_you_mean
from ...model.visible_text import escape_controls
from .document import FILE_NAME, Exercise
from .mistakes import ExerciseError, Mistake

SHIPPED = ROOT / "resources" / "exercises"


def exercises_in(folder: Path = SHIPPED) -> tuple[list[Exercise], list[Mistake]]:
    """Read the exercises of a folder, sorted by number, and their mistakes; raises ExerciseError for no folder.

    Unreadable exercises are left out, and listed among the mistakes.
    """
    from .reading import read_exercise  # the window starts without it

    if not folder.is_dir():
        raise ExerciseError(f"There is no folder {escape_controls(folder)}; check its name.")
    exercises: list[Exercise] = []
    mistakes: list[Mistake] = []
    for path in sorted(folder.glob("*.md")):
        if FILE_NAME.fullmatch(path.name):
            try:
                exercises.append(read_exercise(path))
            except ExerciseError as error:
                mistakes.append(Mistake(path, 1, str(error)))
    exercises.sort(key=lambda exercise: (exercise.number, exercise.name))
    mistakes += [mistake for exercise in exercises for mistake in exercise.mistakes]
    return exercises, mistakes + _same_names(exercises)


def _same_names(exercises: list[Exercise]) -> list[Mistake]:
    first: dict[str, Exercise] = {}
    return [
        Mistake(e.path, 1, f"{first[e.name].path.name} also has the name {e.name}; rename one of them.")
        for e in exercises
        if first.setdefault(e.name, e) is not e
    ]


def exercise_named(word: str, folder: Path | None = None) -> Exercise:
    """Find an exercise by name, number, FOLDER/NAME, or the path of one of its files; raises ExerciseError.

    folder: where to look for a name; None is the folder of the shipped ones.
    """
    path = Path(word)
    if (folder is None and len(path.parts) > 1) or path.suffix in (".md", ".py", ".cu"):
        return _read_path(path if folder is None else folder / path)
    exercises, _ = exercises_in(folder or SHIPPED)
    for exercise in exercises:
        if word in (exercise.name, str(exercise.number), exercise.path.stem):
            return exercise
    if not exercises:
        raise ExerciseError(
            f"There is no exercise {escape_controls(word)}: {escape_controls(folder or SHIPPED)} contains none."
        )
    hint = did_you_mean(word, [exercise.name for exercise in exercises])
    raise ExerciseError(f"There is no exercise {escape_controls(word)}{hint}")


def with_seed(exercise: Exercise, seed: int) -> Exercise:
    """Return the variant of an exercise that a seed chooses; raises ExerciseError for an invalid seed."""
    from .reading import read_exercise

    return read_exercise(exercise.path, seed).in_language(exercise.language) if seed else exercise


def _read_path(path: Path) -> Exercise:
    if path.suffix in (".md", ".py", ".cu"):
        from .reading import read_exercise

        return read_exercise(path.with_suffix(".md"))
    return exercise_named(path.name, path.parent)

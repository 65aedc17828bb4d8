"""Where exercises are: the shipped ones, and folders that teachers have written."""

from __future__ import annotations

from pathlib import Path

from ... import ROOT
from ...kernels.scenarios.suggestions import did_you_mean
from ..model.visible_text import visible
from .document import FILE_NAME, Exercise
from .mistakes import ExerciseError, Mistake

SHIPPED = ROOT / "resources" / "exercises"


def exercises_in(folder: Path = SHIPPED) -> tuple[list[Exercise], list[Mistake]]:
    """Return the exercises of a folder by number, and what is wrong there; raises ExerciseError for no folder.

    What can't be read at all is left out, and among the mistakes.
    """
    from .reading import read_exercise  # the window starts without it

    if not folder.is_dir():
        raise ExerciseError(f"There is no folder {visible(folder)}; check its name.")
    found: list[Exercise] = []
    wrong: list[Mistake] = []
    for path in sorted(folder.glob("*.md")):
        if FILE_NAME.fullmatch(path.name):
            try:
                found.append(read_exercise(path))
            except ExerciseError as error:
                wrong.append(Mistake(path, 1, str(error)))
    found.sort(key=lambda exercise: (exercise.number, exercise.name))
    wrong += [mistake for exercise in found for mistake in exercise.mistakes]
    return found, wrong + _same_names(found)


def _same_names(exercises: list[Exercise]) -> list[Mistake]:
    first: dict[str, Exercise] = {}
    return [
        Mistake(e.path, 1, f"{first[e.name].path.name} has the name {e.name} too; give one of them another.")
        for e in exercises
        if first.setdefault(e.name, e) is not e
    ]


def exercise_named(word: str, folder: Path | None = None) -> Exercise:
    """Return the exercise of a name, a number, FOLDER/NAME, or a path of one of its files; raises ExerciseError.

    folder: where to look for a name, that of the shipped ones where it is None.
    """
    path = Path(word)
    if (folder is None and len(path.parts) > 1) or path.suffix in (".md", ".py"):
        return _of_path(path if folder is None else folder / path)
    found, _ = exercises_in(folder or SHIPPED)
    for exercise in found:
        if word in (exercise.name, str(exercise.number), exercise.path.stem):
            return exercise
    if not found:
        raise ExerciseError(
            f"There is no exercise {visible(word)}; there is none in {visible(folder or SHIPPED)}."
        )
    hint = did_you_mean(word, [exercise.name for exercise in found])
    raise ExerciseError(f"There is no exercise {visible(word)}{hint}")


def _of_path(path: Path) -> Exercise:
    if path.suffix in (".md", ".py"):
        from .reading import read_exercise

        return read_exercise(path.with_suffix(".md"))
    return exercise_named(path.name, path.parent)

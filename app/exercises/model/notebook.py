"""An exercise as a notebook: the task, the stub, the judge's cell, and the hints."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from ...model.notebook_file import NotebookCell, details
from .document import Exercise, Picture
from .library import SHIPPED
from .variants import in_variant

FENCE = re.compile(r"^```exercise\n.*?^```\n?", re.DOTALL | re.MULTILINE)
HINT = re.compile(r"^## Hint\n", re.MULTILINE)
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def exercise_cells(exercise: Exercise, folder: str | None = None) -> Iterator[NotebookCell]:
    """Yield the cells of an exercise: task, stub, check, and hints.

    folder: of its files; "" for a shipped one, None for the one where they lie.
    """
    yield NotebookCell("markdown", task_text(exercise))
    yield NotebookCell("code", exercise.stub)
    if folder is None:
        folder = "" if exercise.folder == SHIPPED else str(exercise.folder.absolute())
    check = f"{call_text(exercise, folder)}.check({exercise.kernel})"
    yield NotebookCell("code", f"import tilescope\n\n{check}")
    _, *hints = HINT.split(_text(exercise))
    for number, hint in enumerate(hints, 1):
        yield NotebookCell("markdown", details(f"Hint {number}", hint))


def task_text(exercise: Exercise, *, with_picture: bool = True) -> str:
    """Return the task and the goals as Markdown; with its picture in the text, it needs no other file."""
    task = HINT.split(_text(exercise))[0]
    if with_picture and exercise.picture is not None:
        picture = _image(exercise.picture)
        link = rf"!\[.*?\]\({re.escape(exercise.picture.path.name)}\)"
        task = re.sub(link, lambda _: picture, task, flags=re.DOTALL)
    goals = "".join(f"- Goal: {goal.words} (`{goal.expression.text}`)\n" for goal in exercise.goals)
    return f"{task.rstrip()}\n\n{goals}"


def call_text(exercise: Exercise, folder: str) -> str:
    """Return the Python expression of an exercise, such as `tilescope.exercise('map', seed=7)`."""
    arguments = [repr(exercise.name)]
    arguments += [f"folder={folder!r}"] if folder else []
    arguments += [f"seed={exercise.seed}"] if exercise.seed else []
    return f"tilescope.exercise({', '.join(arguments)})"


def _text(exercise: Exercise) -> str:
    text = exercise.path.read_text("utf-8").replace("\r\n", "\n")
    return FENCE.sub("", in_variant(text, exercise.variant))


def _image(picture: Picture) -> str:
    """Return the Markdown of a picture that contains its file."""
    content = base64.b64encode(picture.path.read_bytes()).decode("ascii")
    return f"![{picture.text}](data:{TYPES[picture.path.suffix.lower()]};base64,{content})"

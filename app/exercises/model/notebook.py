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
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def exercise_cells(exercise: Exercise) -> Iterator[NotebookCell]:
    """Yield the cells of an exercise; its picture is part of the text, so that the notebook is one file."""
    text = in_variant(exercise.path.read_text("utf-8").replace("\r\n", "\n"), exercise.variant)
    task, *hints = re.split(r"^## Hint\n", FENCE.sub("", text), flags=re.MULTILINE)
    if exercise.picture is not None:
        picture = _image(exercise.picture)
        link = rf"!\[.*?\]\({re.escape(exercise.picture.path.name)}\)"
        task = re.sub(link, lambda _: picture, task, flags=re.DOTALL)
    goals = "".join(f"- Goal: {goal.words} (`{goal.expression.text}`)\n" for goal in exercise.goals)
    yield NotebookCell("markdown", f"{task.rstrip()}\n\n{goals}")
    yield NotebookCell("code", exercise.stub)
    folder = "" if exercise.folder == SHIPPED else f", folder={str(exercise.folder.absolute())!r}"
    check = f"tilescope.exercise({exercise.name!r}{folder}).check({exercise.kernel})"
    yield NotebookCell("code", f"import tilescope\n\n{check}")
    for number, hint in enumerate(hints, 1):
        yield NotebookCell("markdown", details(f"Hint {number}", hint))


def _image(picture: Picture) -> str:
    """Return the Markdown of a picture that contains its file."""
    content = base64.b64encode(picture.path.read_bytes()).decode("ascii")
    return f"![{picture.text}](data:{TYPES[picture.path.suffix.lower()]};base64,{content})"

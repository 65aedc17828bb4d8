"""Write an exercise for a grader: new files in a folder, of which none is overwritten."""

from __future__ import annotations

from pathlib import Path

from ...tracer.storage.atomic_write import write_atomically
from ..exercises.model.document import Exercise
from ..exercises.model.packages import BUILDERS
from .common.arguments import UsageError
from .common.text_output import print_escaped


def write_package(exercise: Exercise, grader: str, folder: Path) -> None:
    """Write the files of a package and print their names; raises UsageError if one exists or can't be written."""
    files = BUILDERS[grader](exercise)
    for path in map(folder.joinpath, files):
        if path.exists():
            raise UsageError(f"{path} exists and is not overwritten; choose another folder.")
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        except OSError as error:
            raise UsageError(f"{path} can't be written: {error.strerror or error}.") from None
        print_escaped(path)

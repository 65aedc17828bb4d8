"""Write a notebook for a command, and print its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...model.notebook_file import NotebookCell, write_notebook
from .arguments import UsageError
from .text_output import print_escaped


def check_new_file(path: Path) -> None:
    """Raise UsageError if a file exists, or if its folder does not."""
    if path.exists():
        raise UsageError(f"{path} exists and is not overwritten; choose another name.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} can't be written: there is no folder {path.parent}.")


def write_new_notebook(path: Path, cells: Sequence[NotebookCell]) -> None:
    """Write a notebook and print its name; raises UsageError if the file exists or can't be written."""
    check_new_file(path)
    try:
        write_notebook(path, cells)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}.") from None
    print_escaped(path)

"""Read the notebooks that commands write."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat


def cells_of(path: Path) -> list[nbformat.NotebookNode]:
    """Read a notebook strictly, and list its cells."""
    with warnings.catch_warnings(action="error"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    cells: list[nbformat.NotebookNode] = notebook.cells
    return cells

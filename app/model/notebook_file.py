"""Write notebooks: cells of Markdown, Python and raw text, in the format of Jupyter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ...tracer.storage.atomic_write import write_atomically

SUFFIX = ".ipynb"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class NotebookCell(NamedTuple):
    """A cell."""

    kind: Literal["markdown", "code", "raw"]
    text: str
    metadata: Mapping[str, object] = {}  # of tools such as nbgrader


def notebook_text(cells: Sequence[NotebookCell]) -> str:
    """Serialise a notebook without outputs; the same cells give the same text."""
    written: list[dict[str, object]] = [
        {
            "cell_type": cell.kind,
            "id": f"cell-{number}",
            "metadata": dict(cell.metadata),
            "source": cell.text.strip("\n").splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if cell.kind == "code" else {}),
        }
        for number, cell in enumerate(cells, 1)
    ]
    notebook = {"cells": written, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def write_notebook(path: Path, cells: Sequence[NotebookCell]) -> None:
    """Write a notebook atomically; raises OSError."""
    write_atomically(path, notebook_text(cells).encode("utf-8"))


def details(summary: str, text: str) -> str:
    """Return Markdown that is hidden until the reader opens it."""
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"

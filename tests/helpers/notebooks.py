"""Notebooks for tests: written as Jupyter writes them, from the texts of their code cells."""

from __future__ import annotations

import json
from pathlib import Path

LESSON = Path(__file__).parents[1] / "data" / "programs" / "gpu_lesson.ipynb"


def notebook_text(*cells: str, **metadata: object) -> str:
    """Return a notebook of format 4 with a heading and these code cells."""
    heading = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# A lesson"]}
    code = [
        {
            "cell_type": "code", "id": f"c{number}", "metadata": {}, "outputs": [], "execution_count": None,
            "source": text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells)
    ]  # fmt: skip
    return json.dumps(
        {"cells": [heading, *code], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def write_notebook(path: Path, *cells: str, **metadata: object) -> Path:
    """Write a notebook with these code cells; return its path."""
    path.write_text(notebook_text(*cells, **metadata), encoding="utf-8")
    return path

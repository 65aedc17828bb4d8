"""Read the code cells of a notebook file."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from json import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple

from .run_as_main import ProgramError, program_text

LARGEST_NOTEBOOK = 256_000_000  # pictures among the outputs may be large
PYTHON = "python"
RAISES = "raises-exception"  # the tag of a cell that is expected to raise


class NotebookError(ProgramError):
    """A notebook that can't run; the text is one sentence."""


class Cell(NamedTuple):
    """A code cell."""

    text: str
    may_raise: bool = (
        False  # whether the author marked it as raising, so that Jupyter continues with the next cell
    )


def code_cells(path: str) -> tuple[Cell, ...]:
    """List a notebook's code cells that are not blank, in order; raises ProgramError.

    Jupyter numbers the same cells when it runs all: 1, 2, 3, ...
    """
    return _cells_of(program_text(path, LARGEST_NOTEBOOK, "so clear its outputs"), Path(path).name)


@lru_cache(maxsize=1)
def _cells_of(content: bytes, name: str) -> tuple[Cell, ...]:
    notebook = _read(content, name)
    language = _language(notebook)
    if not language.startswith(PYTHON):
        raise NotebookError(f"{name} is a notebook in {language[:40]!r}; only Python notebooks can run.")
    cells = tuple(cell for cell in _code_cells(notebook, name) if cell.text.strip())
    if not cells:
        raise NotebookError(f"{name} has no code cells, so there is nothing to run.")
    return cells


def _read(content: bytes, name: str) -> Any:
    """Read a notebook of any version as version 4."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotebookError(f"{name} is no notebook: it is not a text in UTF-8.") from error
    with _quietly():
        import nbformat
        from nbformat.reader import NotJSONError

        try:
            return nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        except NotJSONError as error:
            cause = error.__cause__
            where = f" (line {cause.lineno}: {cause.msg})" if isinstance(cause, JSONDecodeError) else ""
            raise NotebookError(f"{name} is no notebook: it is not JSON{where}.") from error
        except RecursionError as error:
            raise NotebookError(f"{name} is no notebook: its parts are nested too deeply.") from error
        except MemoryError as error:
            raise NotebookError(f"{name} does not fit in memory; clear its outputs.") from error
        except Exception as error:  # nbformat raises various errors for missing parts and wrong types
            raise NotebookError(_format_problem(text, name)) from error


def _format_problem(text: str, name: str) -> str:
    """Explain why JSON is not a readable notebook."""
    held = json.loads(text)
    version = held.get("nbformat") if isinstance(held, dict) else None
    if isinstance(version, int) and version > 4:
        return f"{name} is a notebook of format {version}, which is too new; save it as one of format 4."
    if isinstance(version, int) and "cells" in held:
        return f"{name} is a damaged notebook: parts of it are missing or have the wrong type."
    return f"{name} is no notebook: it is JSON, but holds no cells."


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress nbformat's warnings and logs: only errors that prevent running matter."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _language(notebook: Any) -> str:
    """Return the language of a notebook in lower case; Python if it names none."""
    metadata = _mapping(notebook, "metadata")
    for place, key in (("language_info", "name"), ("kernelspec", "language"), ("", "language")):
        language = (_mapping(metadata, place) if place else metadata).get(key)
        if isinstance(language, str) and language.strip():
            return language.strip().lower()
    return PYTHON


def _mapping(holder: Any, key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _code_cells(notebook: Any, name: str) -> Iterator[Cell]:
    cells = notebook.get("cells")
    if not isinstance(cells, Sequence):
        raise NotebookError(f"{name} is no notebook: it is JSON, but holds no cells.")
    for number, cell in enumerate(cells, 1):
        kind, source = (cell.get(key) if isinstance(cell, dict) else None for key in ("cell_type", "source"))
        if not isinstance(kind, str) or not isinstance(source, str):
            raise NotebookError(f"{name} is a damaged notebook: its cell {number} has no kind or no text.")
        if kind == "code":
            tags = _mapping(cell, "metadata").get("tags")
            may_raise = isinstance(tags, list) and RAISES in tags
            yield Cell(_lines(source, name, number), may_raise)


def _lines(source: str, name: str, number: int) -> str:
    """Normalise line ends; raises NotebookError for text that can't be Python."""
    try:
        source.encode()
    except UnicodeEncodeError:
        raise NotebookError(
            f"{name} is a damaged notebook: its cell {number} contains half of a surrogate pair."
        ) from None
    if "\0" in source:
        raise NotebookError(f"{name} is a damaged notebook: its cell {number} contains a null character.")
    return source.replace("\r\n", "\n").replace("\r", "\n")

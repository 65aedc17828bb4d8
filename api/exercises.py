"""Exercises in a notebook: a student's kernel is judged as `tilescope exercise check` judges a file."""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app.cli.programs.cell_text import python_of
from ..app.exercises.model.document import language_of_file
from ..app.exercises.model.judge import Judge
from ..app.exercises.model.library import exercise_named, with_seed
from ..app.exercises.model.matching import read_student_text
from ..app.exercises.model.mistakes import ExerciseError
from ..app.exercises.model.output import task_text, verdict_text
from ..app.exercises.model.remedies import prove_remedies
from ..app.model.visible_text import escape_controls
from ..tracer.model.notebook_cells import cell_file, note_cell, with_definitions
from ..tracer.run.worker_client import WorkerError
from ..tracer.storage.atomic_write import write_atomically
from .errors import TilescopeError
from .launches import TracedLaunch
from .replays import MimeBundle

if TYPE_CHECKING:
    from ..app.exercises.model.document import Exercise as Document
    from ..app.exercises.model.verdict import Verdict

_judges: list[Judge] = []  # at most one, started with the first check
PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    "<style>:root{{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}}body{{margin:1em}}</style>{body}\n"
)
_CELL_NUMBER = re.compile(r"In\[(\d+)\]")


def exercise(name: str, folder: str | PathLike[str] | None = None, seed: int = 0) -> Exercise:
    """Return an exercise by its name or number: `tilescope.exercise("map").check(kernel)`.

    folder: with your own exercises; None means the shipped ones. seed: of a variant, with other sizes and numbers; 0 is
    the exercise as written. Raises TilescopeError.
    """
    try:
        return Exercise(with_seed(exercise_named(name, Path(folder) if folder is not None else None), seed))
    except ExerciseError as error:
        raise TilescopeError(str(error)) from None


class Exercise:
    """An exercise: its task, its stub, and its judge.

    name: as in commands. title: its heading. stub: the text that a student starts from.
    """

    __module__ = "tilescope"  # where users find it

    def __init__(self, document: Document) -> None:
        self._document = document
        self.name: str = document.name
        self.title: str = document.title
        self.stub: str = document.stub

    def check(self, kernel: Any) -> ExerciseVerdict:
        """Judge a kernel on the exercise's cases; at the end of a cell, the verdict has a replay of the failure.

        kernel: a function with `@cuda.jit`, of the notebook or of a module, which may use definitions of other cells.
        Or the path of a file that defines it, in Python or CUDA C++. Raises TilescopeError.
        """
        document = self._document
        if not _judges:
            _judges.append(Judge())
        try:
            if isinstance(kernel, str | PathLike):
                file = Path(kernel)
                text, document = read_student_text(file), document.in_language(language_of_file(file))
            else:
                text, file = _text_of(kernel, document)
            verdict = _judges[0].judge(document, text, file, _print)
            return ExerciseVerdict(prove_remedies(verdict), document, file)
        except (ExerciseError, WorkerError) as error:
            raise TilescopeError(str(error)) from None

    def __repr__(self) -> str:
        return "\n".join(task_text(self._document))


class ExerciseVerdict:
    """The verdict on a kernel. passed: whether the exercise is done. launch: the first case that fails, or the first.

    launch is None if no case ran. str() is what `tilescope exercise check` prints.
    """

    __module__ = "tilescope"  # where users find it

    def __init__(self, verdict: Verdict, document: Document, file: Path) -> None:
        self.passed: bool = verdict.passed
        trace = verdict.trace
        self.launch: TracedLaunch | None = None if trace is None else TracedLaunch(lambda: trace)
        texts = verdict_text(verdict, document, str(file))
        # A cell's own name is long, and there is only one.
        self._lines = [escape_controls(text.replace(f"{file}:", "line ")) for text in texts]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> MimeBundle:
        rows = [f"<div>{escape(line)}</div>" for line in self._lines[:-1]]
        html = f"<p><b>{escape(self._lines[-1])}</b></p>{''.join(rows)}"
        if self.launch is not None and not self.passed:
            html += self.launch._repr_mimebundle_()["text/html"]
        return {"text/html": html, "text/plain": str(self)}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the verdict and the replay as one page for any browser; raises TilescopeError."""
        page = PAGE.format(title=escape(self._lines[-1]), body=self._repr_html_())
        try:
            write_atomically(Path(path), page.encode("utf-8"))
        except OSError as error:
            raise TilescopeError(f"{path} can't be written: {error.strerror or error}.") from error

    def _repr_html_(self) -> str:
        """Return the HTML for marimo, which reads only this."""
        return self._repr_mimebundle_()["text/html"]

    def __repr__(self) -> str:
        return "\n".join(self._lines)


def _text_of(kernel: Any, document: Document) -> tuple[str, Path]:
    """Return the text that defines a kernel, and its file: its module, or a cell with the definitions that it uses."""
    function = getattr(kernel, "py_func", None)
    if not inspect.isfunction(function):
        raise TilescopeError(f"check takes a kernel, a function with @cuda.jit, not {type(kernel).__name__}.")
    if function.__name__ != document.kernel:
        raise TilescopeError(
            f"The kernel of this exercise is called {document.kernel}, not {function.__name__}."
        )
    source = function.__code__.co_filename
    text = "".join(linecache.getlines(source))
    if not text:
        raise TilescopeError(f"There is no source of {function.__name__}; define it in a cell or in a file.")
    if Path(source).is_file():
        return text, Path(source)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cells = list(shell.history_manager.input_hist_raw) if shell is not None else ["", text]
    number = _number_of(shell, source, len(cells) - 1)
    notebook = str(Path(f"{document.name}.ipynb").absolute())
    for other, cell in enumerate(cells[1:], 1):
        note_cell(cell_file(notebook, other), text if other == number else python_of(cell)[0])
    file = cell_file(notebook, number)
    return with_definitions(file, text, document.kernel), Path(file)


def _number_of(shell: Any, source: str, last: int) -> int:
    """Return the number of the cell that Python compiled under a name; the last one if IPython has no number."""
    parts = shell.compile.format_code_name(source) if shell is not None else None
    match = _CELL_NUMBER.search(" ".join(parts or ()))
    return int(match[1]) if match else last


def _print(text: str) -> None:
    sys.stdout.write(text)

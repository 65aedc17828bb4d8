"""Run the code cells of a notebook in this process, in order, like Jupyter's Restart and Run All."""

from __future__ import annotations
import __future__

import ast
import os
import sys
import warnings
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

from ....tracer.model.notebook_cells import bound_names, cell_file, note_cell
from ....tracer.run.uncached_cells import leave_cells_uncached
from ..common.text_output import print_error
from .cell_text import python_of
from .cell_value import cell_value
from .jupyter_names import NotInstalled, Shell, display, only_draws, package_of
from .notebook import Cell, code_cells
from .run_as_main import full_path, look_first_in, new_main, print_raised, status_of

NOT_SHOWN = ".*is non-interactive, and thus cannot be shown"  # a warning of matplotlib
FEATURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

Names = dict[str, Any]


def run_notebook(path: str, arguments: list[str]) -> int:
    """Run a notebook's code cells in its folder and return the exit status; raises ProgramError if it can't be read.

    The notebook runs as `__main__` without a file, with `display` and `get_ipython` as in Jupyter. An error ends it,
    unless the cell is marked as raising.
    """
    cells, file = code_cells(path), full_path(path)
    folder = str(Path(file).resolve().parent)
    names = new_main().__dict__
    sys.argv = [path, *arguments]
    look_first_in(folder)
    os.chdir(folder)
    os.environ["MPLBACKEND"] = "Agg"  # plots are not shown, and do not block
    warnings.filterwarnings("ignore", NOT_SHOWN)
    sys.excepthook = _print_exception
    leave_cells_uncached()
    return status_of(_Notebook(file, cells, names).run)


def _print_exception(kind: type[BaseException], error: BaseException, steps: TracebackType | None) -> None:
    """Print an exception as python does, with the lines of cells, which python would look up in files."""
    from traceback import print_exception

    print_exception(kind, error, steps)


class _Shown:
    """A text that is its own representation."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class _Notebook:
    """A running notebook: its cells share one namespace."""

    def __init__(self, file: str, cells: tuple[Cell, ...], names: Names) -> None:
        self._file, self._cells, self._names = file, cells, names
        self._reported: set[str] = set()  # kinds of skipped lines
        self._flags = 0  # compiler flags from __future__
        shell = Shell(self._report_skipped)
        self._jupyter_names: Names = {"display": display, "get_ipython": lambda: shell}
        names.update(self._jupyter_names)

    def run(self) -> None:
        """Run all cells; an exception ends the run, unless its cell may raise."""
        for number, cell in enumerate(self._cells, 1):
            file, (text, skipped) = cell_file(self._file, number), python_of(cell.text)
            note_cell(file, text)
            for line in skipped:
                self._report_skipped(line.kind, line.sentence, file, line.line)
            try:
                self._run_cell(text, file)
            except Exception as error:
                if not cell.may_raise:
                    raise
                print_raised(error)

    def _report_skipped(self, kind: str, sentence: str, file: str = "", line: int = 0) -> None:
        """Report a skipped line, the first of each kind."""
        if kind not in self._reported:
            self._reported.add(kind)
            print_error(f"{Path(file).name}, line {line}: {sentence}." if line else f"{sentence}.")

    def _run_cell(self, text: str, file: str) -> None:
        """Run the statements of a cell, and print the value of the last one if it is an expression."""
        tree = self._tree(text, file)
        for statement in tree.body:
            try:
                self._run_statement(statement, text, file, statement is tree.body[-1])
            except ModuleNotFoundError as error:
                if not only_draws(error, statement):
                    raise
                self._leave_out(error, statement, file)
            self._restore_jupyter_names(statement)

    def _restore_jupyter_names(self, statement: ast.stmt) -> None:
        """Give names imported from IPython their meaning in a notebook: outside there is no shell."""
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "IPython":
            aliases = (alias for alias in statement.names if alias.name in self._jupyter_names)
            self._names.update(
                {alias.asname or alias.name: self._jupyter_names[alias.name] for alias in aliases}
            )

    def _tree(self, text: str, file: str) -> ast.Module:
        """Parse a cell and check that it compiles; raises SyntaxError."""
        try:
            tree = compile(text, file, "exec", self._flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            assert isinstance(tree, ast.Module)
            compile(tree, file, "exec", self._flags, dont_inherit=True)
        except SyntaxError as error:
            raise self._explained(error, text, file) from None
        return tree

    def _explained(self, error: SyntaxError, text: str, file: str) -> SyntaxError:
        """Improve the message of a syntax error about `await`, which Jupyter allows in a cell."""
        try:
            compile(text, file, "exec", self._flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError:
            return error
        error.msg = "await outside a function is not supported; move it into one and call asyncio.run"
        return error

    def _run_statement(self, statement: ast.stmt, text: str, file: str, last: bool) -> None:
        if last and isinstance(statement, ast.Expr) and not _ends_in_semicolon(statement, text):
            self._show(eval(self._code(ast.Expression(statement.value), file, "eval"), self._names))
            return
        code = self._code(ast.Module([statement], []), file, "exec")
        self._flags |= code.co_flags & FEATURES
        exec(code, self._names)

    def _show(self, value: object) -> None:
        """Print the value of a cell, if it has one, and store it as `_`."""
        if sys.displayhook is not sys.__displayhook__:
            sys.displayhook(value)
        elif value is not None:
            sys.displayhook(_Shown(cell_value(value)))  # also prints characters that the encoding lacks
            self._names["_"] = value

    def _code(self, tree: ast.Module | ast.Expression, file: str, mode: str) -> CodeType:
        code = compile(tree, file, mode, self._flags, dont_inherit=True)
        assert isinstance(code, CodeType)
        return code

    def _leave_out(self, error: ModuleNotFoundError, statement: ast.stmt, file: str) -> None:
        """Skip a statement that draws with a missing package; the names that it binds become substitutes."""
        package = package_of(error)
        sentence = f"{package} is not installed, so its drawings are skipped"
        self._report_skipped(package, sentence, file, statement.lineno)
        for name in bound_names(statement):
            self._names.setdefault(name, NotInstalled(package))


def _ends_in_semicolon(statement: ast.stmt, text: str) -> bool:
    """Check whether a semicolon follows a statement, which suppresses the output of its value."""
    last = text.split("\n")[(statement.end_lineno or 1) - 1].encode()
    return last[statement.end_col_offset :].lstrip().startswith(b";")

"""Run the code cells of a notebook in this process, one after the other, as Jupyter's Restart and Run All would."""

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
from ..common.text_output import complain
from .cell_text import python_of
from .cell_value import cell_value
from .jupyter_names import NotInstalled, Shell, display, only_draws, package_of
from .notebook import Cell, code_cells
from .run_as_main import full_path, look_first_in, new_main, print_raised, status_of

NOT_SHOWN = ".*is non-interactive, and thus cannot be shown"  # what matplotlib warns of
FEATURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

Names = dict[str, Any]


def run_notebook(path: str, arguments: list[str]) -> int:
    """Run a notebook's code cells in its folder and return the exit status; raises ProgramError where it can't be read.

    It finds itself as `__main__` without a file, and `display` and `get_ipython` as in Jupyter. An error ends it,
    unless its cell is marked as one that raises.
    """
    cells, file = code_cells(path), full_path(path)
    folder = str(Path(file).resolve().parent)
    names = new_main().__dict__
    sys.argv = [path, *arguments]
    look_first_in(folder)
    os.chdir(folder)
    os.environ["MPLBACKEND"] = "Agg"  # pictures are drawn for nobody, and nobody waits at one
    warnings.filterwarnings("ignore", NOT_SHOWN)
    sys.excepthook = _print_exception
    leave_cells_uncached()
    return status_of(_Notebook(file, cells, names).run)


def _print_exception(kind: type[BaseException], error: BaseException, steps: TracebackType | None) -> None:
    """Print an exception as python does, with the lines of cells, for which python itself would look into files."""
    from traceback import print_exception

    print_exception(kind, error, steps)


class _Shown:
    """A text that is its own representation."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class _Notebook:
    """A notebook that runs, cell by cell, in one namespace."""

    def __init__(self, file: str, cells: tuple[Cell, ...], names: Names) -> None:
        self._file, self._cells, self._names = file, cells, names
        self._told: set[str] = set()  # kinds of what is skipped
        self._flags = 0  # of the compiler, from __future__
        shell = Shell(self._tell)
        self._jupyters: Names = {"display": display, "get_ipython": lambda: shell}
        names.update(self._jupyters)

    def run(self) -> None:
        """Run all cells; what one raises ends them, unless it may."""
        for number, cell in enumerate(self._cells, 1):
            file, (text, skipped) = cell_file(self._file, number), python_of(cell.text)
            note_cell(file, text)
            for line in skipped:
                self._tell(line.kind, line.sentence, file, line.line)
            try:
                self._run_cell(text, file)
            except Exception as error:
                if not cell.may_raise:
                    raise
                print_raised(error)

    def _tell(self, kind: str, sentence: str, file: str = "", line: int = 0) -> None:
        """Say what is skipped, the first of each kind."""
        if kind not in self._told:
            self._told.add(kind)
            complain(f"{Path(file).name}, line {line}: {sentence}." if line else f"{sentence}.")

    def _run_cell(self, text: str, file: str) -> None:
        """Run the statements of a cell, and print the value of the last one where it is an expression."""
        tree = self._tree(text, file)
        for statement in tree.body:
            try:
                self._run_statement(statement, text, file, statement is tree.body[-1])
            except ModuleNotFoundError as error:
                if not only_draws(error, statement):
                    raise
                self._leave_out(error, statement, file)
            self._put_jupyters(statement)

    def _put_jupyters(self, statement: ast.stmt) -> None:
        """Let names that are imported from IPython mean what they do in a notebook: outside there is no shell."""
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "IPython":
            found = (alias for alias in statement.names if alias.name in self._jupyters)
            self._names.update({alias.asname or alias.name: self._jupyters[alias.name] for alias in found})

    def _tree(self, text: str, file: str) -> ast.Module:
        """Return the tree of a cell that can be compiled; raises SyntaxError."""
        try:
            tree = compile(text, file, "exec", self._flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            assert isinstance(tree, ast.Module)
            compile(tree, file, "exec", self._flags, dont_inherit=True)
        except SyntaxError as error:
            raise self._explained(error, text, file) from None
        return tree

    def _explained(self, error: SyntaxError, text: str, file: str) -> SyntaxError:
        """Return a syntax error that says what to do where it is about `await`, which Jupyter takes in a cell."""
        try:
            compile(text, file, "exec", self._flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError:
            return error
        error.msg = "await outside of a function is not supported; put it into one and call asyncio.run"
        return error

    def _run_statement(self, statement: ast.stmt, text: str, file: str, last: bool) -> None:
        if last and isinstance(statement, ast.Expr) and not _ends_in_semicolon(statement, text):
            self._show(eval(self._code(ast.Expression(statement.value), file, "eval"), self._names))
            return
        code = self._code(ast.Module([statement], []), file, "exec")
        self._flags |= code.co_flags & FEATURES
        exec(code, self._names)

    def _show(self, value: object) -> None:
        """Print the value of a cell, if it has one, and keep it as `_`."""
        if sys.displayhook is not sys.__displayhook__:
            sys.displayhook(value)
        elif value is not None:
            sys.displayhook(_Shown(cell_value(value)))  # which prints what any encoding can't hold, too
            self._names["_"] = value

    def _code(self, tree: ast.Module | ast.Expression, file: str, mode: str) -> CodeType:
        made = compile(tree, file, mode, self._flags, dont_inherit=True)
        assert isinstance(made, CodeType)
        return made

    def _leave_out(self, error: ModuleNotFoundError, statement: ast.stmt, file: str) -> None:
        """Go on after a statement that draws with what is not installed; the names that it binds stand for that."""
        package = package_of(error)
        sentence = f"{package} is not installed, so what draws with it is skipped"
        self._tell(package, sentence, file, statement.lineno)
        for name in bound_names(statement):
            self._names.setdefault(name, NotInstalled(package))


def _ends_in_semicolon(statement: ast.stmt, text: str) -> bool:
    """Return whether a semicolon follows a statement, with which a cell says that its value is not to be printed."""
    last = text.split("\n")[(statement.end_lineno or 1) - 1].encode()
    return last[statement.end_col_offset :].lstrip().startswith(b";")

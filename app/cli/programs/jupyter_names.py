"""Jupyter's names for notebooks: `display`, `get_ipython`, and drawing packages, which may be missing here."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

# Packages that draw: if one is not installed, the drawings that need it are skipped.
DRAWING = ("matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "IPython", "ipywidgets")
SHELL_CALLS = ("run_line_magic", "run_cell_magic", "magic", "system", "getoutput")


def display(*values: object, **_: object) -> None:
    """Print the values as text, instead of showing them."""
    for value in values:
        sys.stdout.write(f"{value!r}\n")


class Shell:
    """A substitute for Jupyter's shell, which skips magics and commands. report: gets the kind and a sentence, once."""

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in SHELL_CALLS:
            raise AttributeError(f"the shell of a notebook has no {name} in Tilescope")

        def skip(*_: object, **__: object) -> None:
            self._report(name, f"the call of get_ipython().{name} is skipped")

        return skip


class NotInstalled:
    """A substitute for a name of a missing package, or for a result of its functions: any use raises."""

    def __init__(self, package: str) -> None:
        object.__setattr__(self, "_package", package)

    def _raise(self, *_: object, **__: object) -> NoReturn:
        package = object.__getattribute__(self, "_package")
        raise NotDrawn(f"No module named {package!r}", name=package)

    def __getattr__(self, name: str) -> Any:
        self._raise()

    def __setattr__(self, name: str, value: object) -> None:
        self._raise()

    def __iter__(self) -> Iterator[Any]:
        self._raise()

    __call__ = __getitem__ = __setitem__ = __len__ = __enter__ = __exit__ = _raise


class NotDrawn(ModuleNotFoundError):
    """A drawing is impossible, because its package is not installed."""


def package_of(error: ModuleNotFoundError) -> str:
    """Return the name of the missing package."""
    return (error.name or "").partition(".")[0]


def only_draws(error: ModuleNotFoundError, statement: ast.stmt) -> bool:
    """Check whether a notebook can continue without a statement: it imports, or uses, a package that draws."""
    imports = isinstance(statement, ast.Import | ast.ImportFrom)
    return isinstance(error, NotDrawn) or (imports and package_of(error) in _imported(statement))


def _imported(statement: ast.stmt) -> set[str]:
    """Find the drawing packages that a statement imports."""
    named = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
    named += [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
    return {name.partition(".")[0] for name in named} & set(DRAWING)

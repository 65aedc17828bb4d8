"""What a notebook finds in Jupyter: `display`, `get_ipython`, and packages that draw, which may be missing here."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

# Packages that show something: where one is not installed, what a notebook draws with it is left out.
DRAWING = ("matplotlib", "mpl_toolkits", "seaborn", "plotly", "bokeh", "altair", "IPython", "ipywidgets")
SHELL_CALLS = ("run_line_magic", "run_cell_magic", "magic", "system", "getoutput")


def display(*values: object, **_: object) -> None:
    """Print what Jupyter would show, as text."""
    for value in values:
        sys.stdout.write(f"{value!r}\n")


class Shell:
    """Stands for Jupyter's shell, whose magics and commands are skipped. tell: gets the kind and a sentence, once."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell = tell

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in SHELL_CALLS:
            raise AttributeError(f"the shell of a notebook has no {name} under Tilescope")

        def skip(*_: object, **__: object) -> None:
            self._tell(name, f"what get_ipython().{name} is called for is skipped")

        return skip


class NotInstalled:
    """Stands for a name of a package that is not installed, or for what was to be drawn with it: any use raises."""

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
    """Something that can't be drawn, since the package for it is not installed."""


def package_of(error: ModuleNotFoundError) -> str:
    """Return the package that is not installed."""
    return (error.name or "").partition(".")[0]


def only_draws(error: ModuleNotFoundError, statement: ast.stmt) -> bool:
    """Return whether a notebook can go on without a statement: it imports, or uses, a package that draws."""
    imports = isinstance(statement, ast.Import | ast.ImportFrom)
    return isinstance(error, NotDrawn) or (imports and package_of(error) in _imported(statement))


def _imported(statement: ast.stmt) -> set[str]:
    """Return the packages that draw which a statement imports."""
    named = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
    named += [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
    return {name.partition(".")[0] for name in named} & set(DRAWING)

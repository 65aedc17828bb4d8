"""Disables Numba's disk cache for functions of notebook cells, because no cell is a file."""

from __future__ import annotations

import functools
import sys
from functools import partial
from typing import Any

from ..model.notebook_cells import cell_of
from ..simulator.host.after_import import after_import

# The classes that handle `cache=True`: for jit, and for vectorize and guvectorize.
DISPATCHERS = (("numba.core.dispatcher", "Dispatcher"), ("numba.np.ufunc.ufuncbuilder", "UFuncDispatcher"))


def leave_cells_uncached() -> None:
    """Ignore `cache=True` for functions of cells, which have no folder; call this before numba is imported."""
    for module, name in DISPATCHERS:
        after_import(module, partial(_wrap_caching, module, name))


def _wrap_caching(module: str, name: str) -> None:
    dispatcher: Any = getattr(sys.modules[module], name)
    enable = dispatcher.enable_caching

    @functools.wraps(enable)
    def enable_caching(self: Any) -> None:
        if cell_of(self.py_func.__code__.co_filename) is None:
            enable(self)

    dispatcher.enable_caching = enable_caching

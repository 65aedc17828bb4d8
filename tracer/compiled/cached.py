"""Functions of our own that numba compiles once for all launches, in contrast to kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def cached(function: Callable[..., Any]) -> Any:
    """Return a function compiled by numba, kept on disk where there is a place for it."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:
        return numba.njit(function)

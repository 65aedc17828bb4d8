"""The shared client of Numba's compiler in a process that launches kernels."""

from __future__ import annotations

from functools import cache

from ..storage.folders import cache_folder
from .client import TypeInference
from .live_kernel import LaunchedKernels

FOLDER = "compiler"  # in the cache folder


@cache
def shared_inference() -> TypeInference:
    """Return the client that asks about the launches of this process."""
    return TypeInference(cache_folder() / FOLDER)


@cache
def shared_kernels() -> LaunchedKernels:
    """Return the questions about the launches of this process."""
    return LaunchedKernels()

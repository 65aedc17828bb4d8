"""Compile Tilescope's own functions once for all launches, in contrast to kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numba
from numba.core.dispatcher import Dispatcher

from .quick_compiler import PartCompiler

F = TypeVar("F", bound=Callable[..., object])


def compile_cached(function: F, *other_files: str) -> F:
    """Compile a function with numba, without the GIL, and keep it on disk if numba finds a cache folder.

    Numba invalidates a cached function only when the function's own file has changed, not the files of the
    functions that it calls. So the stamp covers every file of the engine, and `other_files`.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        uncached: F = numba.njit(nogil=True)(function)
        return uncached
    with suppress(AttributeError):  # a numba that caches compiled code in another way
        compiled._cache._cache_file._source_stamp = engine_version(other_files)
    result: F = compiled
    return result


def compile_with_callers(function: F, *, inlined: bool = False) -> F:
    """Mark a function that is compiled with each of its callers, and cached only with them.

    Numba would also generate code for the function itself, and optimise it again in each caller on the way.
    inlined: copy it into each caller, whatever its length.
    """
    compiled: F = numba.njit(nogil=True, pipeline_class=PartCompiler, forceinline=inlined)(function)
    return compiled


def dispatcher_of(function: Callable[..., object]) -> Dispatcher:
    """Return the dispatcher behind a function that was compiled here."""
    return function


@lru_cache
def engine_version(other_files: tuple[str, ...] = ()) -> str:
    """Compute a hash of the engine's files and of some other files."""
    files = [*engine_files(), *map(Path, other_files)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def engine_files() -> list[Path]:
    """List the files of the compiled engine: any of them may change the code that it generates."""
    folder = Path(__file__).parent
    math_files = (folder.parent / "nvidia_math").glob("*.py")
    return [
        *sorted(folder.rglob("*.py")),
        *sorted(math_files),
        folder.parent / "recording" / "decimal_rounding.py",
    ]

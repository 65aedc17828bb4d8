"""Functions of our own that numba compiles once for all launches, in contrast to kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba

from .quick_compiler import PartCompiler


def cached(function: Callable[..., Any], *others: str) -> Any:
    """Return a function compiled by numba, kept on disk where there is a place for it, that runs without Python's lock.

    Numba compiles anew what is on disk when the function's own file has changed, and knows nothing of those of the
    functions that are compiled into it. So it is told of a change in any file of the engine, and in `others`.
    """
    try:
        made = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)
    with suppress(AttributeError):  # a numba that keeps what it compiles in another way
        made._cache._cache_file._source_stamp = version(others)
    return made


def part(function: Callable[..., Any], *, inlined: bool = False) -> Any:
    """Return a function that is compiled with each that calls it, and kept with those alone.

    Numba would make code of it for itself too, and optimise it again in each of those on the way to what is called.
    inlined: whether it is copied into each of them, however long it is.
    """
    return numba.njit(nogil=True, pipeline_class=PartCompiler, forceinline=inlined)(function)


@lru_cache
def version(others: tuple[str, ...] = ()) -> str:
    """Return what tells versions of the engine, and of some other files, from each other."""
    files = [*engine_files(), *map(Path, others)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def engine_files() -> list[Path]:
    """Return the files of the compiled engine, of which any may decide what compiled code does."""
    here = Path(__file__).parent
    others = (here.parent / "nvidia_math").glob("*.py")
    return [*sorted(here.rglob("*.py")), *sorted(others), here.parent / "recording" / "rounding.py"]

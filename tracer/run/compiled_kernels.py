"""Which kernels were compiled before: they are run compiled from the start, also when their program runs again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from ... import __version__
from ..storage.folders import cache_folder

KEPT = 1000  # kernels
_noted: set[tuple[CodeType, str]] = set()  # in this process


def was_compiled(code: CodeType, arguments: Iterable[Any]) -> bool:
    """Return whether a kernel was compiled before, for arguments of these types, and its trace was kept.

    No more than a hint, kept in files without content: what was compiled may have been removed since.
    """
    types = _types(arguments)
    return (code, types) in _noted or _kept(code, types)


def note_compiled(code: CodeType, arguments: Iterable[Any]) -> None:
    """Remember that a kernel was compiled for arguments of these types, and that its trace was kept."""
    types = _types(arguments)
    if (code, types) in _noted:
        return
    _noted.add((code, types))
    with suppress(OSError):  # nothing can be written: the next run finds out anew
        path = _path(code, types)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime_ns)[: -KEPT + 1]:
            old.unlink(missing_ok=True)
        path.touch()


@lru_cache
def _kept(code: CodeType, types: str) -> bool:
    return _path(code, types).exists()


def _path(code: CodeType, types: str) -> Path:
    place = f"{code.co_filename}:{code.co_firstlineno} {code.co_names} {types} {__version__}"
    return (
        cache_folder() / "compiled-kernels" / hashlib.sha256(code.co_code + place.encode()).hexdigest()[:40]
    )


def _types(arguments: Iterable[Any]) -> str:
    return " ".join(
        f"{_name(a.dtype) if hasattr(a, 'dtype') else type(a).__name__}{getattr(a, 'ndim', '')}"
        for a in arguments
    )


@lru_cache(256)
def _name(dtype: Any) -> str:
    return str(dtype)  # NumPy puts it together anew each time

"""Traces in files: a program that traces a thousand launches can't hold all in memory or in open files."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections import deque
from pathlib import Path

from ..tracer.model.trace import Trace
from ..tracer.storage.trace_file import TraceFileError, load
from .errors import TilescopeError

MAX_LOADED = 8  # traces used last stay loaded


class KeptTrace:
    """A trace in its own temporary file, loaded on demand and deleted with the object."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._trace: Trace | None = None
        weakref.finalize(self, _remove, file, os.getpid())

    def load(self) -> Trace:
        """Return the trace; raises TilescopeError if its file is gone."""
        trace = self._trace
        if trace is None:
            trace = self._trace = self._read()
            _recent.append(weakref.ref(self))
            if len(_recent) > MAX_LOADED and (oldest := _recent.popleft()()) is not None:
                oldest._trace = None
        return trace

    def _read(self) -> Trace:
        try:
            return load(self._file, mapped=True)
        except TraceFileError as error:
            raise TilescopeError(str(error)) from error


_recent: deque[weakref.ref[KeptTrace]] = (
    deque()
)  # those that are loaded, the least recently loaded on the left


def _remove(file: Path, owner: int) -> None:
    if os.getpid() == owner:  # else a forked child
        with contextlib.suppress(OSError):  # Windows removes no mapped file; its folder goes later
            file.unlink(missing_ok=True)

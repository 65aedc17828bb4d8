"""Traces in files: a program that records a thousand launches has neither memory nor descriptors for all at once."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections import deque
from pathlib import Path

from ..tracer.model.trace import Trace
from ..tracer.storage.trace_file import TraceFileError, load
from .errors import TilescopeError

LOADED = 8  # traces that were looked at last stay loaded


class KeptTrace:
    """A trace in a file of its own, which goes with it: loaded when somebody looks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._trace: Trace | None = None
        weakref.finalize(self, _remove, file, os.getpid())

    def load(self) -> Trace:
        """Return the trace; raises TilescopeError where its file is gone."""
        trace = self._trace
        if trace is None:
            trace = self._trace = self._read()
            _recent.append(weakref.ref(self))
            if len(_recent) > LOADED and (oldest := _recent.popleft()()) is not None:
                oldest._trace = None
        return trace

    def _read(self) -> Trace:
        try:
            return load(self._file, mapped=True)
        except TraceFileError as error:
            raise TilescopeError(str(error)) from error


_recent: deque[weakref.ref[KeptTrace]] = deque()  # those that are loaded, the one looked at first on the left


def _remove(file: Path, owner: int) -> None:
    if os.getpid() == owner:  # else a child that was forked
        with contextlib.suppress(OSError):  # Windows removes no file that is mapped; its folder goes later
            file.unlink(missing_ok=True)

"""Cache of traces by launch: a traced launch is shown at once. Losing the folder loses only time."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from ... import __version__
from ..model.launch import Launch, encode
from ..model.trace import Trace
from .atomic_write import TEMPORARY
from .recorded_traces import MEASURED
from .trace_file import TraceFileError, load, save

LIMIT = 1_000_000_000
# Rises when traces hold something new, so that those of an older checkout run again. 2: ends of an order's segments.
CONTENT = 2


class TraceCache:
    """A folder of traces, up to `limit_bytes`; beyond it the least recently used ones are removed.

    A full disk or a folder that can't be written only means that nothing is found later.

    math_library: identifies the library whose functions kernels call; the traces of another one are not found.
    """

    def __init__(
        self, folder: Path, limit_bytes: int = LIMIT, math_library: Callable[[], str] = lambda: ""
    ) -> None:
        self._folder = folder
        self._limit = limit_bytes
        self._math_library = math_library

    def get(self, launch: Launch) -> Trace | None:
        """Return the trace of an equal launch, or None. A damaged one is removed."""
        if launch.schedule.kind == MEASURED:  # it has a separate file, and may be recorded again
            return None
        path = self._path(launch)
        if not path.exists():
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        try:
            return load(path, mapped=True)
        except TraceFileError:
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def put(self, launch: Launch, trace: Trace) -> None:
        """Store a trace that ended without error and has all its rows, unless it exceeds the limit.

        The trace of another launch, as of a Numba twin, is not stored.
        """
        if trace.launch != encode(launch):
            return
        if trace.error is not None or trace.accesses > len(trace) or launch.schedule.kind == MEASURED:
            return
        with contextlib.suppress(OSError, TraceFileError):
            if trace.nbytes <= self._limit:
                self._folder.mkdir(parents=True, exist_ok=True)
                save(trace, self._path(launch), compress=False)
        with contextlib.suppress(OSError):
            self._trim()

    def _path(self, launch: Launch) -> Path:
        """Return the file of a launch in this version of the program, since another may trace differently."""
        key = hashlib.sha256(
            f"{__version__} {CONTENT} {self._math_library()} {launch.key()}".encode()
        ).hexdigest()
        return self._folder / f"{key}.trace"

    def _trim(self) -> None:
        """Remove the least recently used files, including unfinished ones of killed processes."""
        files = [*self._folder.glob("*.trace"), *self._folder.glob(TEMPORARY)]
        stats = [(path.stat(), path) for path in files]
        total = 0
        for stat, path in sorted(stats, key=lambda entry: entry[0].st_mtime_ns, reverse=True):
            if total + stat.st_size > self._limit:
                path.unlink()
            else:
                total += stat.st_size

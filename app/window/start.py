"""The start of the window: the worker first, which loads numba while Qt is loaded here."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from ...tracer.run.worker_client import Worker


def run_window(specs: Sequence[str], program: str = "") -> int:
    """Open the window on scenarios, on a trace file, or on what it showed last; return when it is closed.

    program: the path of a Python file whose launches are shown, now and whenever it is saved.

    Raises CatalogueError for a scenario that does not exist or a parameter that it cannot take.
    """
    # Python calls a signal's handler between any two steps, also in the midst of painting: only take note here.
    interrupted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    worker = Worker()
    worker.start()
    from .event_loop import run_event_loop

    return run_event_loop(worker, specs, program, interrupted)

"""Work on large traces in a second thread: most of it is NumPy code that releases the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
MANY = 1 << 20  # accesses of a trace that deserve a second thread


def in_background(work: Callable[[], T], accesses: int) -> Callable[[], T]:
    """Start work in a thread if a trace has many accesses; return a function that waits for the result."""
    if accesses <= MANY:
        return work
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    executor = ThreadPoolExecutor(1)
    future = executor.submit(work)
    executor.shutdown(wait=False)
    return future.result

"""Work on large traces in a thread beside the one that needs it: NumPy does most of it without Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
MANY = 1 << 20  # accesses of a trace that is worth two threads


def begun(work: Callable[[], T], accesses: int) -> Callable[[], T]:
    """Return what returns the result of this work: of a trace of many accesses a thread does it, from now on."""
    if accesses <= MANY:
        return work
    from concurrent.futures import ThreadPoolExecutor  # which takes a while, and most traces do without

    beside = ThreadPoolExecutor(1)
    found = beside.submit(work)
    beside.shutdown(wait=False)
    return found.result

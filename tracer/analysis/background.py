"""Work on large traces in a second thread: most of it is NumPy code that releases the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
MANY = 1 << 20  # accesses of a trace that deserve a second thread


class _BackgroundWork(Generic[T]):
    """Work in a daemon thread: a process whose launch was stopped does not wait for it at its exit."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits for the result
            self._error = error

    def result(self) -> T:
        """Wait for the result; raises the exception of the work."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]


def in_background(work: Callable[[], T], accesses: int) -> Callable[[], T]:
    """Start work in a thread if a trace has many accesses; return a function that waits for the result."""
    return work if accesses <= MANY else _BackgroundWork(work).result

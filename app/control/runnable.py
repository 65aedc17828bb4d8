"""Work for threads: a function that a pool calls, and memory given back to the system."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QRunnable

CLOSING_TIMEOUT = 2000  # milliseconds that closing waits for a thread that cannot be stopped
GONE = "has been deleted"  # part of PySide's message about a deleted object or signal source


class FunctionRunnable(QRunnable):
    """A function without arguments that a QThreadPool calls in one of its threads."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._calls = [call]

    def run(self) -> None:
        """Call the function once; Python prints its exceptions, and nothing else is affected."""
        call = self._calls.pop()  # a pool may keep a runnable after its end, which must not keep a trace
        try:
            call()
        except RuntimeError as error:
            if GONE not in str(error):  # the window was deleted, so no one needs the result
                raise


def return_free_memory() -> None:
    """Return freed memory to the system: glibc keeps the free parts of its heap, 20 MB after a few launches."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # other C libraries lack it
        ctypes.CDLL(None).malloc_trim(0)

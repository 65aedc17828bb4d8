"""Work for threads: a function that a pool calls, and memory given back to the system."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QRunnable

CLOSING_TIMEOUT = 2000  # milliseconds that closing waits for a thread that cannot be stopped
GONE = "has been deleted"  # what Qt says of the source of a signal, or of an object, that is there no more


class FunctionRunnable(QRunnable):
    """A function without arguments that a QThreadPool calls in one of its threads."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self._calls = [call]

    def run(self) -> None:
        """Call the function, once; what it raises is printed by Python and ends nothing else."""
        call = self._calls.pop()  # a pool may hold a runnable after its end, which is not to hold a trace
        try:
            call()
        except RuntimeError as error:
            if GONE not in str(error):  # the window is, and nobody waits for this any more
                raise


def return_free_memory() -> None:
    """Give the system back what was freed: glibc keeps what lies between pieces in use, 20 MB after a few launches."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # of other C libraries
        ctypes.CDLL(None).malloc_trim(0)

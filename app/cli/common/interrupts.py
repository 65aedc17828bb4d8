"""Handle Ctrl+C in a terminal where nothing is lost: never in the middle of painting."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt after Ctrl+C; so does the end of the `with`, and nothing else."""
    interrupted: list[int] = []

    def check() -> None:
        if interrupted:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    try:
        yield check
        check()
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def immediate_interrupts() -> Iterator[None]:
    """Let Ctrl+C end the process at once, while no file is half written.

    Qt's event loop would otherwise keep Python from handling the signal. In an import, Python may lose the exception or
    make it a RuntimeError. A window installs its own handler, which stays.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:  # a shell's background job
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, before)


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True after Ctrl+C, so that a long search ends with what it has."""
    interrupted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    try:
        yield lambda: bool(interrupted)
    finally:
        signal.signal(signal.SIGINT, before)

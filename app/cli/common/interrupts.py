"""Ctrl+C in a terminal, taken note of and answered where nothing is lost: never in the midst of painting."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_noted() -> Iterator[Callable[[], None]]:
    """Lend what raises KeyboardInterrupt once Ctrl+C was pressed; so does the end of the `with`, and nothing else."""
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
def interrupts_obeyed() -> Iterator[None]:
    """Have Ctrl+C end the process at once, while nothing is there that could be left in halves.

    Qt's event loop would not let Python hear of it.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

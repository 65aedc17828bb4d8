"""A launch that takes long: how far it is, said after some seconds and then at growing intervals."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from .time_estimate import duration_text, left_text

LAST_WORD = 1.0  # seconds that a notice may take to be written
FIRST_NOTICE = 5.0  # seconds; each further one comes after twice as long


class LongLaunch:
    """While it is entered, `tell` gets a sentence now and then, from another thread; `report` hears of blocks."""

    def __init__(self, kernel: str, tell: Callable[[str], None], first: float = FIRST_NOTICE) -> None:
        self._kernel, self._tell, self._after = kernel, tell, first
        self._done = self._of = 0
        self._over = threading.Event()
        self._start = time.monotonic()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def report(self, done: int, of: int) -> None:
        """Take in that `done` of `of` blocks are done."""
        self._done, self._of = done, of

    def __enter__(self) -> Self:
        with suppress(RuntimeError):  # no thread is to be had: nothing is told then
            self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._watcher.is_alive():
            self._watcher.join(LAST_WORD)  # a program that forks next finds no thread of ours

    def _watch(self) -> None:
        while not self._over.wait(self._start + self._after - time.monotonic()):
            self._tell(self._text(time.monotonic() - self._start))
            self._after *= 2

    def _text(self, gone: float) -> str:
        text = f"{self._kernel} has run for {duration_text(gone)}"
        if self._of > 1:
            text += f": {self._done:,} of {self._of:,} blocks"
        if left := left_text(gone * (self._of - self._done) / self._done if self._done else None):
            text += f", {left}"
        return f"{text}; Ctrl+C ends it."

"""Launches that do not end: looked at now and then, and ended with the line where they were.

A thread has the main one look at itself, as Ctrl+C would: there it is known which line runs. Compiled code lets that
happen at its loops.
"""

from __future__ import annotations

import _thread
import ast
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from ..recording.run_record import RunRecord

LIMIT = 5.0  # seconds of the processor without an access or the end of a block
SLOW_BLOCK = {
    True: 20.0,
    False: 60.0,
}  # such seconds without the end of a block: of compiled code, and in the simulator
PERIOD = 0.5  # seconds from one look to the next
_BUSY = ("importlib.", "numba.core.")  # modules of which a line runs while the kernel's waits
Report = Callable[[int, int], None]


class NotEnded(KeyboardInterrupt):
    """A launch was ended, since it does not seem to end by itself: one sentence, and where it was.

    A KeyboardInterrupt, which both engines let through, and no error of the kernel's.
    """

    def __init__(self, text: str, file: str, line: int) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class _Watch:
    """What is known of a launch under way: when it last did anything, and when a block last ended.

    Both in seconds that this thread had a processor: one that had none is not to be blamed.
    """

    def __init__(self, file: str, source: str, limit: float) -> None:
        self._file, self._source, self._limit = file, source, limit
        self._accesses, self._of = -1, 0
        self._active = self._ended = time.thread_time()
        self._since = time.monotonic()  # when a block last ended
        self.is_over = False

    def report(self, done: int, of: int) -> None:
        """Take in that a block has ended."""
        self._active = self._ended = time.thread_time()
        self._since = time.monotonic()

    def look(self, number: int, frame: FrameType | None) -> None:
        """Look at where this thread is; raises NotEnded where it has been long enough without a change."""
        if self.is_over:
            return
        place, compiled, accesses = self._place(frame)
        now = time.thread_time()
        if place is None or accesses != self._accesses:
            self._accesses, self._active = accesses, now
        if place is None:
            self._ended, self._since = now, time.monotonic()  # it is compiled, or its trace is made
        elif now - self._active >= self._limit:
            self._end("It has not ended after", place, compiled)
        elif now - self._ended >= SLOW_BLOCK[compiled]:
            self._end(f"It made {accesses:,} accesses and has not ended one block in", place, compiled)

    def _end(self, text: str, place: tuple[str, int], compiled: bool) -> NoReturn:
        seconds = time.monotonic() - self._since
        raise NotEnded(f"{text} {seconds:.0f} s; {self._where(place, compiled)}.", *place)

    def _place(self, frame: FrameType | None) -> tuple[tuple[str, int] | None, bool, int]:
        """Return the (file, line) that runs, None where no line of the kernel's does, by which engine, and accesses."""
        record = RunRecord.latest() if RunRecord.latest else None
        recorder = getattr(record, "recorder", None)
        accesses = recorder.accesses_until_now() if recorder is not None else 0
        line = 0
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith(_BUSY) and not line:
                return None, False, accesses  # to import a module and to compile a function may take long
            if frame.f_code.co_filename == self._file and not line:
                line = frame.f_lineno
            frame = frame.f_back
        loop = recorder.loop_under_way() if recorder is not None else None
        if loop is not None:
            return loop, True, accesses
        return ((self._file, line) if line else None), False, accesses

    def _where(self, place: tuple[str, int], compiled: bool) -> str:
        """Return "it was at line 12, in the loop of line 11"; of compiled code just the loop is known."""
        if compiled:
            return f"it was in the loop of line {place[1]}"
        loop = enclosing_loop(self._source, place[1])
        return f"it was at line {place[1]}" + (f", in the loop of line {loop}" if loop else "")


def enclosing_loop(source: str, line: int) -> int:
    """Return the line of the innermost loop that a line is in, 0 for none."""
    loops = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For | ast.While))
    return max((n.lineno for n in loops if n.lineno < line <= (n.end_lineno or 0)), default=0)


@contextmanager
def ended_if_endless(file: str, source: str, patience: float | None) -> Iterator[Report]:
    """Raise NotEnded out of the context where the launch in it does not end; lends what is told of blocks that end.

    file: where its kernel's lines are from. patience: seconds, None for any. Only in the main thread, else nothing
    is watched.
    """
    watch = _Watch(file, source, min(LIMIT, patience or LIMIT))
    if patience is None or threading.current_thread() is not threading.main_thread():
        yield watch.report
        return
    stop = threading.Event()
    thread = threading.Thread(target=_interrupt, args=(stop,), daemon=True)
    before = signal.signal(signal.SIGINT, watch.look)
    thread.start()
    try:
        yield watch.report
    finally:
        watch.is_over = True
        stop.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


def _interrupt(stop: threading.Event) -> None:
    while not stop.wait(PERIOD):
        _thread.interrupt_main()

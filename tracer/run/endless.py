"""Launches that do not end: looked at now and then, and ended with the line where they were.

A thread has the main one look at itself, as Ctrl+C would: there it is known which line runs. Compiled code lets that
happen at its loops.
"""

from __future__ import annotations

import _thread
import ast
import math
import mmap
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from ..recording.run_record import RunRecord
from .long_launch import MEMORY_A_SECOND, InterruptedLaunch

LIMIT = 5.0  # seconds of the processor without an access or the end of a block
SLOW_BLOCK = {
    True: 20.0,
    False: 60.0,
}  # such seconds without the end of a block: of compiled code, and in the simulator
LEAVING = 0.5  # seconds that a launch may take to end after Ctrl+C: some of our own work can't be interrupted
PERIOD = 0.5  # seconds from one look to the next
# Another signal than Ctrl+C's, and one that programs do not use. Nothing sends it: Python calls its handler.
LOOK = signal.SIGURG if hasattr(signal, "SIGURG") else signal.SIGFPE
_BUSY = ("importlib.", "numba.core.")  # modules of which a line runs while the kernel's waits
Report = Callable[[int, int], None]


class NotEnded(KeyboardInterrupt):
    """A launch was ended, since it does not seem to end by itself: one sentence, and where it was.

    A KeyboardInterrupt, which both engines let through, and no error of the kernel's.
    """

    def __init__(self, text: str, file: str, line: int) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class Bounds(NamedTuple):
    """When a launch is taken for endless: in seconds of this thread's CPU time, and bytes of this process's memory."""

    idle: float = LIMIT  # without an access or the end of a block
    compiled: float = SLOW_BLOCK[True]  # without the end of a block, in compiled code
    simulated: float = SLOW_BLOCK[False]  # the same in the simulator
    memory: float = math.inf  # more than when a block last ended

    @classmethod
    def of_patience(cls, seconds: float) -> Bounds:
        """Return the bounds of a launch whose blocks get so many seconds each, and memory in proportion."""
        return cls(min(LIMIT, seconds / 2), seconds, seconds, MEMORY_A_SECOND * seconds)


class LaunchWatch:
    """Watches a launch under way: when it last did anything, when a block last ended, and what memory it takes.

    It counts seconds that this thread had a processor: a launch that had none is not to be blamed.
    """

    def __init__(
        self, file: str, source: str, bounds: Bounds, leave: Callable[[str], None] | None = None
    ) -> None:
        """Leave: is called with a sentence where Ctrl+C has not ended the launch in time."""
        self._file, self._source, self._leave = file, source, leave
        self._interrupt, self._interrupted = "", math.inf
        self.is_over = False
        self.begin(bounds)

    def begin(self, bounds: Bounds) -> None:
        """Watch from now on, with these bounds."""
        self._bounds = bounds
        self._accesses = -1
        self._next = time.monotonic() + PERIOD
        self.report(0, 0)

    def report(self, done: int, of: int) -> None:
        """Take in that a block has ended."""
        self._active = self._ended = time.thread_time()
        self._since = time.monotonic()
        self._held = resident_memory() if self._bounds.memory < math.inf else 0

    def ask_if_due(self) -> None:
        """Have the main thread look at itself soon, now and then; any thread may call."""
        now = time.monotonic()
        if self._leave and not self.is_over and now - self._interrupted > LEAVING:
            self._leave(self._interrupt)
        if not self.is_over and (now >= self._next or self._takes_too_much()):
            self._next = now + PERIOD
            _thread.interrupt_main(LOOK)

    def _takes_too_much(self) -> bool:
        return self._bounds.memory < math.inf and resident_memory() - self._held > self._bounds.memory

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
        elif now - self._active >= self._bounds.idle:
            self._end("It has not ended after", place, compiled)
        elif now - self._ended >= self._bounds[1 if compiled else 2] or self._takes_too_much():
            self._end(f"It made {accesses:,} accesses and has not ended one block in", place, compiled)

    def interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        """Raise InterruptedLaunch, which says where this thread is."""
        place, compiled, _ = self._place(frame)
        where = f"; {self._where(place, compiled)}" if place else ""
        self._interrupt, self._interrupted = f"Ctrl+C ended the launch{where}.", time.monotonic()
        raise InterruptedLaunch(self._interrupt)

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


def resident_memory() -> int:
    """Return how many bytes of memory this process has, 0 where the system does not say."""
    try:
        with Path("/proc/self/statm").open("rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0


@contextmanager
def ended_if_endless(file: str, source: str, patience: float | None) -> Iterator[Report]:
    """Raise NotEnded out of the context where the launch in it does not end; lends a callback for blocks that end.

    file: where its kernel's lines are from. patience: seconds, None for any. Only in the main thread, else nothing
    is watched.
    """
    watch = LaunchWatch(
        file, source, Bounds(min(LIMIT, patience or LIMIT), SLOW_BLOCK[True], SLOW_BLOCK[False])
    )
    if patience is None or threading.current_thread() is not threading.main_thread():
        yield watch.report
        return
    stop = threading.Event()
    thread = threading.Thread(target=_ask_now_and_then, args=(watch, stop), daemon=True)
    with looking(watch):
        thread.start()
        try:
            yield watch.report
        finally:
            watch.is_over = True
            stop.set()
            thread.join()


def _ask_now_and_then(watch: LaunchWatch, stop: threading.Event) -> None:
    while not stop.wait(PERIOD):
        watch.ask_if_due()


@contextmanager
def looking(watch: LaunchWatch, *, interrupts: bool = False) -> Iterator[None]:
    """Have this thread look at itself when another one asks; only in the main thread.

    interrupts: whether Ctrl+C raises InterruptedLaunch, where it would raise KeyboardInterrupt else.
    """
    handlers: dict[int, Any] = {LOOK: watch.look}
    if interrupts and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        handlers[signal.SIGINT] = watch.interrupt
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        watch.is_over = True
        for number, handler in before.items():
            signal.signal(number, handler)

"""Endless launches: checked periodically, and stopped with a report of the line they were at.

A helper thread sends the main thread a signal, as Ctrl+C would: its handler knows which line runs. Compiled code
handles signals in its loops.
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

IDLE_LIMIT = 5.0  # seconds of CPU time without an access or the end of a block
BLOCK_LIMITS = {
    True: 20.0,
    False: 60.0,
}  # seconds of CPU time for a block: in compiled code, in the simulator
EXIT_DELAY = 0.5  # seconds that a launch may take to end after Ctrl+C: parts of our code can't be interrupted
PERIOD = 0.5  # seconds between two checks
# A signal that neither Ctrl+C nor programs use. It is never sent: Python only calls its handler.
CHECK_SIGNAL = signal.SIGURG if hasattr(signal, "SIGURG") else signal.SIGFPE
_BUSY_MODULES = ("importlib.", "numba.core.")  # while their code runs, the kernel waits
Report = Callable[[int, int], None]


class EndlessLaunchError(KeyboardInterrupt):
    """A launch was stopped because it seems endless: one sentence, with its file and line.

    It is a KeyboardInterrupt, which both engines let through, and not an error of the kernel.
    """

    def __init__(self, text: str, file: str, line: int) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class Bounds(NamedTuple):
    """Limits beyond which a launch counts as endless: seconds of this thread's CPU time, bytes of process memory."""

    idle: float = IDLE_LIMIT  # without an access or the end of a block
    compiled: float = BLOCK_LIMITS[True]  # without the end of a block, in compiled code
    simulated: float = BLOCK_LIMITS[False]  # the same in the simulator
    memory: float = math.inf  # growth since a block last ended

    @classmethod
    def of_patience(cls, seconds: float) -> Bounds:
        """Build the bounds for blocks that may take `seconds` each, and memory in proportion."""
        return cls(min(IDLE_LIMIT, seconds / 2), seconds, seconds, MEMORY_A_SECOND * seconds)


class LaunchWatch:
    """Watches a running launch: its last activity, the end of its last block, and its memory.

    It measures this thread's CPU time, so that a launch is not stopped because the machine is busy. With
    `only_blocks`, copies of arguments and the work on the trace count neither as time nor as memory of a block.
    """

    def __init__(
        self,
        file: str,
        source: str,
        bounds: Bounds,
        leave: Callable[[str], None] | None = None,
        *,
        only_blocks: bool = False,
    ) -> None:
        """Start watching; `leave` is called with a sentence if Ctrl+C does not end the launch in time."""
        self._only_blocks = only_blocks
        self._file, self._source, self._leave = file, source, leave
        self._interrupt, self._interrupted = "", math.inf
        self.is_over = False
        self.begin(bounds)

    def begin(self, bounds: Bounds) -> None:
        """Restart the watch with these bounds."""
        self._bounds = bounds
        self._accesses = -1
        self._next = time.monotonic() + PERIOD
        self.report(0, 0)

    def report(self, done: int, total: int) -> None:
        """Note that a block has ended."""
        self._active = self._ended = time.thread_time()
        self._since = time.monotonic()
        self._note_memory()

    def _note_memory(self) -> None:
        self._memory = resident_memory() if self._bounds.memory < math.inf else 0

    def request_check_if_due(self) -> None:
        """Trigger a check in the main thread if one is due; any thread may call this."""
        now = time.monotonic()
        if self._leave and not self.is_over and now - self._interrupted > EXIT_DELAY:
            self._leave(self._interrupt)
        if not self.is_over and (now >= self._next or self._exceeds_memory()):
            self._next = now + PERIOD
            _thread.interrupt_main(CHECK_SIGNAL)

    def _exceeds_memory(self) -> bool:
        if self._bounds.memory == math.inf:
            return False
        record = RunRecord.latest() if RunRecord.latest else None
        if self._only_blocks and (record is None or not record.is_running):
            self._note_memory()
            return False
        # The launch copies its arrays, and a kernel's first writes make their own pages resident.
        arguments = sum(memory.cells.nbytes for memory in record.memories) if record is not None else 0
        return resident_memory() - self._memory > self._bounds.memory + 2 * arguments

    def check(self, number: int, frame: FrameType | None) -> None:
        """Check this thread's progress, as a signal handler; raises EndlessLaunchError beyond the bounds."""
        if self.is_over:
            return
        position, compiled, accesses = self._position(frame)
        now = time.thread_time()
        if position is None or accesses != self._accesses:
            self._accesses, self._active = accesses, now
        if position is None:
            self._ended, self._since = now, time.monotonic()  # compiling, or building the trace
            self._note_memory()
        elif now - self._active >= self._bounds.idle:
            self._stop("The launch has not ended after", position, compiled)
        elif now - self._ended >= self._bounds[1 if compiled else 2]:
            self._stop(f"The launch made {accesses:,} accesses without ending a block in", position, compiled)
        elif self._exceeds_memory():
            megabytes = (resident_memory() - self._memory) // 10**6
            text = (
                f"The launch made {accesses:,} accesses without ending a block and took {megabytes:,} MB in"
            )
            self._stop(text, position, compiled)

    def interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        """Raise InterruptedLaunch with this thread's line, as a signal handler."""
        position, compiled, _ = self._position(frame)
        location = f"; {self._location_text(position, compiled)}" if position else ""
        self._interrupt, self._interrupted = f"Ctrl+C ended the launch{location}.", time.monotonic()
        raise InterruptedLaunch(self._interrupt)

    def _stop(self, text: str, position: tuple[str, int], compiled: bool) -> NoReturn:
        seconds = time.monotonic() - self._since
        raise EndlessLaunchError(
            f"{text} {seconds:.0f} s; {self._location_text(position, compiled)}.", *position
        )

    def _position(self, frame: FrameType | None) -> tuple[tuple[str, int] | None, bool, int]:
        """Return the kernel's current (file, line) or None, whether it runs compiled, and its accesses so far."""
        record = RunRecord.latest() if RunRecord.latest else None
        recorder = getattr(record, "recorder", None)
        accesses = recorder.access_count() if recorder is not None else 0
        if self._only_blocks and (record is None or not record.is_running):
            return None, False, accesses
        line = 0
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith(_BUSY_MODULES) and not line:
                return None, False, accesses  # importing and compiling may take long
            if frame.f_code.co_filename == self._file and not line:
                line = frame.f_lineno
            frame = frame.f_back
        loop = recorder.current_loop() if recorder is not None else None
        if loop is not None:
            return loop, True, accesses
        return ((self._file, line) if line else None), False, accesses

    def _location_text(self, position: tuple[str, int], compiled: bool) -> str:
        """Format "it was at line 12, in the loop of line 11"; compiled code knows only the loop."""
        line = position[1]
        loop = line if compiled else enclosing_loop(self._source, line)
        if loop == line:
            return f"it was in the loop of line {line}"
        return f"it was at line {line}" + (f", in the loop of line {loop}" if loop else "")


def enclosing_loop(source: str, line: int) -> int:
    """Find the first line of the innermost loop that a line is part of, 0 for none."""
    loops = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For | ast.While))
    return max((loop.lineno for loop in loops if loop.lineno <= line <= (loop.end_lineno or 0)), default=0)


def resident_memory() -> int:
    """Return this process's resident memory in bytes, 0 if the system does not report it."""
    try:
        with Path("/proc/self/statm").open("rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0


@contextmanager
def stop_if_endless(file: str, source: str, patience: float | None) -> Iterator[Report]:
    """Raise EndlessLaunchError in this context if its launch seems endless; yields a callback for ended blocks.

    file: the kernel's file. patience: seconds, None for no limit. It does nothing outside the main thread.
    """
    watch = LaunchWatch(
        file, source, Bounds(min(IDLE_LIMIT, patience or IDLE_LIMIT), BLOCK_LIMITS[True], BLOCK_LIMITS[False])
    )
    if patience is None or threading.current_thread() is not threading.main_thread():
        yield watch.report
        return
    with check_on_signal(watch), looking_periodically(watch.request_check_if_due):
        yield watch.report


@contextmanager
def looking_periodically(look: Callable[[], None] | None) -> Iterator[None]:
    """Context manager with a thread that calls `look` periodically; None for no thread."""
    stop = threading.Event()

    def repeat(look: Callable[[], None]) -> None:
        while not stop.wait(PERIOD):
            look()

    thread = threading.Thread(target=repeat, args=(look,), daemon=True) if look else None
    if thread:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if thread:
            thread.join()


@contextmanager
def check_on_signal(watch: LaunchWatch, *, interrupts: bool = False) -> Iterator[None]:
    """Context manager that installs the watch's signal handlers; only in the main thread.

    interrupts: whether Ctrl+C raises InterruptedLaunch instead of KeyboardInterrupt.
    """
    handlers: dict[int, Any] = {CHECK_SIGNAL: watch.check}
    if interrupts and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        handlers[signal.SIGINT] = watch.interrupt
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        watch.is_over = True
        for number, handler in before.items():
            signal.signal(number, handler)

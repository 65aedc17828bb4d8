"""Detects livelocks: every running thread waits, by reading, for memory that nothing changes any more.

The threads are at the same instructions as before, with the same local variables, and all memory is unchanged; they may
have passed barriers since. Their behaviour depends only on that state, so it repeats for ever. This holds in any order
of the threads. Under `random` the state is compared after many turns of each thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import greenlet
import numpy as np

from ..recording.bytecode_positions import is_tracer_file
from ..recording.repetition import TURNS_BETWEEN_LOOKS, RepetitionDetector
from .cuda_threads import Block, Thread

SEQUENTIAL_REASON = (
    "under the sequential schedule threads run one after the other, so no other thread can release it"
)
MemoryContent = Callable[[list[Block]], bytes]
ThreadState = tuple[Any, ...]


class LivelockError(RuntimeError):
    """A launch would run for ever: its threads wait for memory that nothing changes any more."""

    __module__ = RuntimeError.__module__  # what Python prints before the name


class LivelockDetector:
    """Compares periodically whether the state of the threads and of memory (`content`) repeats."""

    def __init__(self, content: Callable[[], bytes], schedule: str) -> None:
        self._turns = 0
        self._states: RepetitionDetector[list[ThreadState]] = RepetitionDetector(content, schedule)

    def reset(self) -> None:
        """Start again after a change."""
        self._turns = 0
        self._states.reset()

    def is_due(self, threads: int) -> bool:
        """Check whether it is time to look; called once for each turn of one of `threads` threads."""
        self._turns += 1
        return self._turns % (TURNS_BETWEEN_LOOKS * max(1, threads)) == 0

    def is_repeating(self, threads: Sequence[Thread]) -> bool:
        """Look at the running threads; return True if their state repeats for ever."""
        return self._states.is_repeating(
            lambda: [_state_of(thread) for thread in threads],
            lambda kept: len(kept) == len(threads) and all(map(_is_in_state, threads, kept)),
        )


def livelock_message(threads: Sequence[Thread], blocks: int, owns: Callable[[str], bool]) -> str:
    """Explain why a launch never ends, at its first thread's line; `blocks` have not begun.

    owns: whether a file belongs to the user; the line is one of these files.
    """
    frames = list(_frames(threads[0]))
    frame = next((candidate for candidate in frames if owns(candidate.f_code.co_filename)), frames[0])
    others = f" and {len(threads) - 1:,} other running threads" if len(threads) > 1 else ""
    loop = "loop" if others else "loops"
    more = f"; {blocks:,} blocks can't begin before others end" if blocks else ""
    return (
        f"the launch never ends: on line {frame.f_lineno} {_name(threads[0])}{others} {loop} for ever with the same "
        f"values, because nothing changes them any more{more}"
    )


def _name(thread: Thread) -> str:
    block = thread.block
    return f"thread {_index_text(thread.index)} of block {_index_text(block.index)}"


def _index_text(index: Any) -> str:
    """Format an index: 5 in the first row, else (5, 3) or (5, 3, 1)."""
    x, y, z = index.x, index.y, index.z
    return f"({x}, {y}, {z})" if z else f"({x}, {y})" if y else str(x)


def _frames(thread: Thread) -> Any:
    """Yield the program's frames of a thread, the innermost first."""
    frame: FrameType | None = sys._getframe() if thread is greenlet.getcurrent() else thread.gr_frame
    while frame is not None:
        if not is_tracer_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _state_of(thread: Thread) -> ThreadState:
    """Return a thread's position and the values of its local variables, which this keeps alive.

    The phase is left out, because a thread's behaviour does not depend on the number of barriers it has passed.
    """
    frames = [(frame.f_code, frame.f_lasti, tuple(frame.f_locals.values())) for frame in _frames(thread)]
    return (thread, thread.waiting, *(part for frame_parts in frames for part in frame_parts))


def _is_in_state(thread: Thread, state: ThreadState) -> bool:
    return _is_same_value(_state_of(thread), state)


def _is_same_value(first: Any, second: Any) -> bool:
    """Check whether two values are identical, or equal numbers of one type."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_is_same_value, first, second))
    if isinstance(first, int | float | complex | np.generic):
        return bool(first == second) or bool(first != first and second != second)  # nan is nan
    return False

"""Launches that never end: every thread that runs waits, by reading, for memory that nothing changes any more.

Threads are where they were before, with the same values in their local variables, and all memory is as it was; they may
have passed barriers since. They
are functions of that, so they will come back there for ever. That holds whatever their order is: under `random`,
where it is looked at after many turns of each thread, as under `lockstep`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import greenlet
import numpy as np

from ..recording.bytecode_positions import is_our_own
from ..recording.repetition import TURNS_BETWEEN_LOOKS, Looks
from .cuda_threads import Block, Thread

RUNS_ALONE = (
    "under the sequential schedule threads run one after the other, so it would wait for no other one"
)
MemoryContent = Callable[[list[Block]], bytes]
ThreadState = tuple[Any, ...]


class NeverEnds(RuntimeError):
    """A launch that would go on for ever: its threads wait for what nothing changes any more."""


class LivelockDetector:
    """Looks now and then whether threads, and what memory holds (`content`), are as they were before."""

    def __init__(self, content: Callable[[], bytes], schedule: str) -> None:
        self._turns = 0
        self._states: Looks[list[ThreadState]] = Looks(content, schedule)

    def reset(self) -> None:
        """Begin again, since something has changed."""
        self._turns = 0
        self._states.reset()

    def is_due(self, threads: int) -> bool:
        """Return whether it is time to look; called once for each turn of one of so many threads."""
        self._turns += 1
        return self._turns % (TURNS_BETWEEN_LOOKS * max(1, threads)) == 0

    def is_repeating(self, threads: Sequence[Thread]) -> bool:
        """Look at the threads that run; return whether they will be here again and again."""
        return self._states.is_repeating(
            lambda: [_state_of(t) for t in threads],
            lambda kept: len(kept) == len(threads) and all(map(_is_in_state, threads, kept)),
        )


def livelock_message(threads: Sequence[Thread], blocks: int, owns: Callable[[str], bool]) -> str:
    """Return why a launch never ends, as its first thread says it; `blocks` have not begun.

    owns: whether a file is the user's, whose line is told.
    """
    frames = list(_frames(threads[0]))
    frame = next((f for f in frames if owns(f.f_code.co_filename)), frames[0])
    others = f" and {len(threads) - 1:,} others that still run" if len(threads) > 1 else ""
    go = "go" if others else "goes"
    more = f"; {blocks:,} blocks can't begin before others end" if blocks else ""
    return (
        f"the launch never ends: on line {frame.f_lineno} this thread{others} {go} round with the same "
        f"values for ever, since nothing changes any more{more}"
    )


def _frames(thread: Thread) -> Any:
    """Yield the frames of a thread that are the program's, the innermost first."""
    frame: FrameType | None = sys._getframe() if thread is greenlet.getcurrent() else thread.gr_frame
    while frame is not None:
        if not is_our_own(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _state_of(thread: Thread) -> ThreadState:
    """Return where a thread is, and the values of its local variables, which this keeps alive.

    Not which phase it is in: nothing that it does depends on how many barriers it has passed.
    """
    frames = [(f.f_code, f.f_lasti, tuple(f.f_locals.values())) for f in _frames(thread)]
    return (thread, thread.waiting, *(part for frame in frames for part in frame))


def _is_in_state(thread: Thread, state: ThreadState) -> bool:
    return _alike(_state_of(thread), state)


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are the same thing, or equal numbers of one type."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, int | float | complex | np.generic):
        return bool(one == other) or bool(one != one and other != other)  # nan is nan
    return False

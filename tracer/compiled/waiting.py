"""Where threads of compiled launches wait for each other: barriers of the block, and lanes of a warp.

The rules are those of the simulator's scheduler (tracer/scheduler.py); what lanes get is after tracer/warp.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ..trace import WARP
from ..warp import ALL, lanes
from .state import Why

Ints = NDArray[np.int64]


class Tables:
    """Per thread: why it stopped, what it brought, and what it takes away."""

    def __init__(self, why: Ints, out: Ints, into: Ints, mask: Ints, extra: Ints) -> None:
        self.why, self.out, self.into, self.mask, self.extra = why, out, into, mask, extra


def vote(tables: Tables, threads: Ints) -> None:
    """Give threads that wait at a barrier what its vote comes to; a barrier without a vote votes no."""
    why = tables.why[threads]
    if not (why > Why.BARRIER).any():
        return
    votes = (tables.out[threads] != 0) & (why > Why.BARRIER)
    results = {Why.COUNT: int(votes.sum()), Why.AND: int(votes.all()), Why.OR: int(votes.any())}
    for kind, result in results.items():
        tables.into[threads[why == kind]] = result


class Meetings:
    """The warp operations of one block under way: the lanes of each mask that have come."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._waiting: dict[tuple[int, int], list[int]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def stopped(self, threads: Iterable[int], running: NDArray[np.bool_]) -> list[int]:
        """Take in threads that stopped, in their order; return those that can go on. Updates `running`."""
        released: list[int] = []
        for thread in threads:
            why, warp = self._tables.why[thread], thread // WARP
            if why == Why.DONE:
                running[thread] = False
            if why >= Why.SYNCWARP:
                key = (warp, int(self._tables.mask[thread]) & ALL)
                self._waiting.setdefault(key, []).append(thread)
            if self._waiting and (why == Why.DONE or why >= Why.SYNCWARP):
                released += self._close(warp, running)
        return released

    def late(self) -> list[int]:
        """Let all go on without the lanes that never come."""
        return [t for key in list(self._waiting) for t in self._end(key)]

    def _close(self, warp: int, running: NDArray[np.bool_]) -> list[int]:
        there = lanes(np.flatnonzero(running[warp * WARP :][:WARP]).tolist())
        released: list[int] = []
        for key, waiting in list(self._waiting.items()):
            if key[0] == warp and not key[1] & there & ~lanes(t % WARP for t in waiting):
                released += self._end(key)
        return released

    def _end(self, key: tuple[int, int]) -> list[int]:
        """End a meeting: every lane takes away what its operation makes of what the others brought."""
        waiting = self._waiting.pop(key)
        brought = {t % WARP: int(self._tables.out[t]) for t in waiting}
        for thread in waiting:
            operation = _OPERATIONS[Why(int(self._tables.why[thread]))]
            value = operation(brought, thread % WARP, int(self._tables.extra[thread]), key[1])
            self._tables.into[thread] = value
        return waiting


# What a lane takes away, of (what each lane brought, the lane, its third argument, the mask).
Operation = Callable[[dict[int, int], int, int, int], int]
_OPERATIONS: dict[Why, Operation] = {
    Why.SYNCWARP: lambda brought, lane, extra, mask: 0,
    Why.SHUFFLE: lambda brought, lane, extra, mask: brought.get(extra % WARP, brought[lane]),
    Why.UP: lambda brought, lane, extra, mask: brought.get(lane - extra, brought[lane]),
    Why.DOWN: lambda brought, lane, extra, mask: brought.get(lane + extra, brought[lane]),
    Why.XOR: lambda brought, lane, extra, mask: brought.get(lane ^ extra, brought[lane]),
    Why.ALL: lambda brought, lane, extra, mask: int(all(brought.values())),
    Why.ANY: lambda brought, lane, extra, mask: int(any(brought.values())),
    Why.EQUAL: lambda brought, lane, extra, mask: int(len(set(brought.values())) == 1),
    Why.BALLOT: lambda brought, lane, extra, mask: lanes(n for n, v in brought.items() if v),
    Why.MATCH_ANY: lambda brought, lane, extra, mask: lanes(
        n for n, v in brought.items() if v == brought[lane]
    ),
    Why.MATCH_ALL: lambda brought, lane, extra, mask: mask if len(set(brought.values())) == 1 else 0,
}

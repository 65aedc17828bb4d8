"""Where threads of compiled launches wait for each other: barriers of the block, and lanes of a warp.

The rules are those of the simulator's scheduler (tracer/simulator/scheduler.py); what lanes get is after
tracer/recording/warp_operations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Ints
from ...model.trace import WARP
from ...recording.warp_operations import ALL, Participants, lanes
from ..state import Why


@dataclass(frozen=True, eq=False)
class ThreadTables:
    """What compiled code and the driver tell each other of each thread of a block, shape (threads,)."""

    why: Ints  # a `Why`: what it stopped for
    where: Ints  # number of the site in the program
    when: Ints  # accesses of the launch before it
    out: Ints  # what it brought: its value, or its vote
    into: Ints  # what it takes away
    mask: Ints  # a bit for each lane that its warp operation names
    extra: Ints  # the third argument of a shuffle


def vote(tables: ThreadTables, threads: Ints) -> None:
    """Give threads that wait at a barrier what its vote comes to; a barrier without a vote votes no."""
    why = tables.why[threads]
    if not (why > Why.BARRIER).any():
        return
    votes = (tables.out[threads] != 0) & (why > Why.BARRIER)
    results = {Why.COUNT: int(votes.sum()), Why.AND: int(votes.all()), Why.OR: int(votes.any())}
    for kind, result in results.items():
        tables.into[threads[why == kind]] = result


class BlockWarpBarriers:
    """The warp operations of one block under way: the lanes of each mask that have come.

    site: gives the number in the trace of one in the program; judge: takes who came to each that not all came to.
    """

    def __init__(
        self, tables: ThreadTables, block: int, site: Callable[[int], int], check: Callable[[Participants], None]
    ) -> None:  # fmt: skip
        self._tables, self._block, self._site, self._check = tables, block, site, check
        self._waiting: dict[tuple[int, int], list[int]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def take_in(self, threads: Iterable[int], running: NDArray[np.bool_]) -> list[int]:
        """Take in threads that stopped, in their order; return those that can go on. Updates `running`."""
        released: list[int] = []
        for thread in threads:
            why, warp = self._tables.why[thread], thread // WARP
            if why == Why.DONE:
                running[thread] = False
            if why >= Why.SYNCWARP:
                mask = int(self._tables.mask[thread]) & ALL
                if why == Why.ACTIVE:
                    self._waiting.setdefault((warp, ~int(self._tables.where[thread])), []).append(thread)
                elif mask >> thread % WARP & 1:
                    self._waiting.setdefault((warp, mask), []).append(thread)
                else:
                    released += self._release((warp, mask), [thread], running, int(self._tables.when[thread]))
            if self._waiting and (why == Why.DONE or why >= Why.SYNCWARP):
                released += self._release_complete(warp, running, int(self._tables.when[thread]))
        return released + self._release_active_masks({t // WARP for t in released})

    def _release_active_masks(self, going: set[int]) -> list[int]:
        """Let those go on that asked who is there, in warps of which all wait: after a sweep, those not `going`."""
        asked = [key for key in self._waiting if key[1] < 0 and key[0] not in going]
        released: list[int] = []
        for key in asked:
            threads = self._waiting.pop(key)
            self._tables.into[threads] = lanes(t % WARP for t in threads)
            released += threads
        return released

    def release_incomplete(self, running: NDArray[np.bool_]) -> list[int]:
        """Let all go on without the lanes that never come."""
        now, waiting = int(self._tables.when.max(initial=0)), self._waiting
        self._waiting = {}
        return [t for key, threads in waiting.items() for t in self._release(key, threads, running, now)]

    def _release_complete(self, warp: int, running: NDArray[np.bool_], now: int) -> list[int]:
        there = lanes(np.flatnonzero(running[warp * WARP :][:WARP]).tolist())
        released: list[int] = []
        for key, waiting in list(self._waiting.items()):
            if key[0] == warp and key[1] >= 0 and not key[1] & there & ~lanes(t % WARP for t in waiting):
                released += self._release(key, self._waiting.pop(key), running, now)
        return released

    def _release(
        self, key: tuple[int, int], waiting: list[int], running: NDArray[np.bool_], now: int
    ) -> list[int]:  # fmt: skip
        """End a warp operation: every lane takes away what its operation makes of what the others brought."""
        self._check_lanes(key, waiting, running, now)
        brought = {t % WARP: int(self._tables.out[t]) for t in waiting}
        for thread in waiting:
            operation = _OPERATIONS[Why(int(self._tables.why[thread]))]
            value = operation(brought, thread % WARP, int(self._tables.extra[thread]), key[1])
            self._tables.into[thread] = value
        return waiting

    def _check_lanes(
        self, key: tuple[int, int], waiting: list[int], running: NDArray[np.bool_], now: int
    ) -> None:  # fmt: skip
        """Check a warp operation to which other lanes came than its mask names, or lanes at several sites."""
        tables, (warp, mask) = self._tables, key
        where = {t % WARP: int(tables.where[t]) for t in waiting}
        if mask == lanes(where) and len(set(where.values())) == 1:
            return
        mine = running[warp * WARP :][:WARP]
        sites = {lane: self._site(number) for lane, number in where.items()}
        sources = [s for t in waiting for s in _source(tables.why[t], t % WARP, int(tables.extra[t]))]
        there, still = (1 << len(mine)) - 1, lanes(np.flatnonzero(mine).tolist())
        self._check(Participants(self._block, warp, mask, sites, sources, there, still, now))


def _source(why: int, lane: int, extra: int) -> tuple[int, ...]:
    """Return the lane whose value a shuffle takes, if it is one."""
    found = {Why.SHUFFLE: extra % WARP, Why.UP: lane - extra, Why.DOWN: lane + extra, Why.XOR: lane ^ extra}
    return (found[Why(why)],) if why in found else ()


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

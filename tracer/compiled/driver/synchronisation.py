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
from ...model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP
from ...recording.warp_operations import ALL, Participants, lanes
from ..state import StopReason


@dataclass(frozen=True, eq=False)
class ThreadTables:
    """What compiled code and the driver tell each other of each thread of a block, shape (threads,)."""

    reason: Ints  # a `StopReason`: what it stopped for
    site: Ints  # number of the site in the program
    step: Ints  # accesses of the launch before it
    out: Ints  # what it brought: its value, or its vote
    into: Ints  # what it takes away
    mask: Ints  # a bit for each lane that its warp operation names
    extra: Ints  # the third argument of a shuffle


def vote(tables: ThreadTables, threads: Ints) -> None:
    """Give threads that wait at a barrier what its vote comes to; a barrier without a vote votes no."""
    reason = tables.reason[threads]
    if not (reason > StopReason.BARRIER).any():
        return
    votes = (tables.out[threads] != 0) & (reason > StopReason.BARRIER)
    results = {
        StopReason.COUNT: int(votes.sum()),
        StopReason.AND: int(votes.all()),
        StopReason.OR: int(votes.any()),
    }
    for kind, result in results.items():
        tables.into[threads[reason == kind]] = result


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
            reason, warp = self._tables.reason[thread], thread // WARP
            if reason == StopReason.DONE:
                running[thread] = False
            if reason >= StopReason.SYNCWARP:
                mask = int(self._tables.mask[thread]) & ALL
                if reason == StopReason.ACTIVE:
                    self._waiting.setdefault((warp, ~int(self._tables.site[thread])), []).append(thread)
                elif mask >> thread % WARP & 1:
                    self._waiting.setdefault((warp, mask), []).append(thread)
                else:
                    released += self._release((warp, mask), [thread], running, int(self._tables.step[thread]))
            if self._waiting and (reason == StopReason.DONE or reason >= StopReason.SYNCWARP):
                released += self._release_complete(warp, running, int(self._tables.step[thread]))
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
        now, waiting = int(self._tables.step.max(initial=0)), self._waiting
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
            operation = _OPERATIONS[StopReason(int(self._tables.reason[thread]))]
            value = operation(brought, thread % WARP, int(self._tables.extra[thread]), key[1])
            self._tables.into[thread] = value
        return waiting

    def _check_lanes(
        self, key: tuple[int, int], waiting: list[int], running: NDArray[np.bool_], now: int
    ) -> None:  # fmt: skip
        """Check a warp operation to which other lanes came than its mask names, or lanes at several sites."""
        tables, (warp, mask) = self._tables, key
        where = {t % WARP: int(tables.site[t]) for t in waiting}
        if mask == lanes(where) and len(set(where.values())) == 1:
            return
        mine = running[warp * WARP :][:WARP]
        sites = {lane: self._site(number) for lane, number in where.items()}
        sources = [s for t in waiting for s in _source(tables.reason[t], t % WARP, int(tables.extra[t]))]
        there, still = (1 << len(mine)) - 1, lanes(np.flatnonzero(mine).tolist())
        self._check(Participants(self._block, warp, mask, sites, sources, there, still, now))


def parts(tables: ThreadTables, threads: Ints) -> Ints:
    """Return which part threads take in the warp operations that they have come to; see `Barriers`."""
    reason, lane, extra = tables.reason[threads], threads % WARP, tables.extra[threads]
    given = np.select(
        [
            reason == StopReason.SHUFFLE,
            reason == StopReason.UP,
            reason == StopReason.DOWN,
            reason == StopReason.XOR,
        ],
        [extra % WARP, lane - extra, lane + extra, lane ^ extra],
        -WARP,
    )
    shuffled = (reason >= StopReason.SHUFFLE) & (reason <= StopReason.XOR)
    voted = (reason >= StopReason.ALL) & (reason <= StopReason.BALLOT)
    matched = (reason == StopReason.MATCH_ANY) | (reason == StopReason.MATCH_ALL)
    giver = np.where((given >= 0) & (given < WARP), given, lane) + 1
    vote = np.where(tables.out[threads] != 0, VOTED_YES, VOTED_NO)
    part: Ints = np.select([shuffled, voted, matched], [giver, vote, COMPARED], 0)
    return part


def _source(reason: int, lane: int, extra: int) -> tuple[int, ...]:
    """Return the lane whose value a shuffle takes, if it is one."""
    found = {
        StopReason.SHUFFLE: extra % WARP,
        StopReason.UP: lane - extra,
        StopReason.DOWN: lane + extra,
        StopReason.XOR: lane ^ extra,
    }
    return (found[StopReason(reason)],) if reason in found else ()


# What a lane takes away, of (what each lane brought, the lane, its third argument, the mask).
Operation = Callable[[dict[int, int], int, int, int], int]
_OPERATIONS: dict[StopReason, Operation] = {
    StopReason.SYNCWARP: lambda brought, lane, extra, mask: 0,
    StopReason.SHUFFLE: lambda brought, lane, extra, mask: brought.get(extra % WARP, brought[lane]),
    StopReason.UP: lambda brought, lane, extra, mask: brought.get(lane - extra, brought[lane]),
    StopReason.DOWN: lambda brought, lane, extra, mask: brought.get(lane + extra, brought[lane]),
    StopReason.XOR: lambda brought, lane, extra, mask: brought.get(lane ^ extra, brought[lane]),
    StopReason.ALL: lambda brought, lane, extra, mask: int(all(brought.values())),
    StopReason.ANY: lambda brought, lane, extra, mask: int(any(brought.values())),
    StopReason.EQUAL: lambda brought, lane, extra, mask: int(len(set(brought.values())) == 1),
    StopReason.BALLOT: lambda brought, lane, extra, mask: lanes(n for n, v in brought.items() if v),
    StopReason.MATCH_ANY: lambda brought, lane, extra, mask: lanes(
        n for n, v in brought.items() if v == brought[lane]
    ),
    StopReason.MATCH_ALL: lambda brought, lane, extra, mask: mask if len(set(brought.values())) == 1 else 0,
}

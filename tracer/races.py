"""Data races: two threads touch a byte, one of them writes, not both are atomic, and nothing orders them.

The memory model is that of the CUDA C++ Programming Guide: blocks run in any order; in a block only barriers
order threads, also those of one warp ("Independent Thread Scheduling"), whose lanes cuda.syncwarp() orders.
Who meets whom follows from the phases, so a race is found in whatever order this launch happened to run. As
in compute-sanitizer's racecheck, threads that all write the same value do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .barrier_findings import Absences
from .pieces import Mask, Touches, dense, groups_of, operations_of, places_of, touches_of
from .runs import Ints
from .trace import WARP, Op, Trace

# Who meets: lanes of a warp, warps of a block, blocks of the grid.
SCOPES = ("warp", "block", "grid")


@dataclass(frozen=True, eq=False)
class Race:
    """What two sites do to one buffer without order.

    scope: the widest of SCOPES in which threads meet. first, second: the accesses of the pair to show, in the
    order in which this launch made them. elements: a number for each element (and copy of a shared one)
    on which they meet. rows: all accesses of both sites to these while they meet, ascending.
    harmful: False if all that meet write the same value.
    """

    buffer: int
    sites: tuple[int, int]
    scope: str
    first: int
    second: int
    elements: Ints
    rows: Ints
    harmful: bool


@dataclass(frozen=True, eq=False)
class _Scene:
    """Touches that may meet: those with an equal `key` (below `size`) and different `who` are in no order."""

    scope: str
    touches: Touches
    key: Ints
    size: int
    who: Ints


def races_of(trace: Trace, absences: Absences) -> list[Race]:
    """Return the races of a launch, one per buffer and two sites.

    Accesses of a thread that missed a barrier and ran on (see Absences) are not held against those of its own
    block: the barrier is what is wrong there.
    """
    written = operations_of(trace)[:, Op.STORE :].any(axis=1)
    found: dict[tuple[int, tuple[int, int]], Race] = {}
    for group in groups_of(trace, ("global", "shared")):
        if written[group].any():
            for scene in _scenes(trace, touches_of(trace, group), absences):
                for race in _races(trace, scene):
                    key = (race.buffer, race.sites)
                    found[key] = _merged(found[key], race) if key in found else race
    return list(found.values())


def _scenes(trace: Trace, touches: Touches, absences: Absences) -> Iterator[_Scene]:
    """Return the touches that meet others, scope by scope, from the widest to the narrowest."""
    everywhere = trace.buffers[int(trace.buffer[touches.rows[0]])].space == "global"
    if everywhere:
        thread = _place(trace, touches) * trace.threads + trace.thread[touches.rows]
        touches = _narrowed(trace, touches, touches.piece, touches.count, thread)
        yield _Scene("grid", touches, touches.piece, touches.count, _place(trace, touches))
    touches = _in_order(trace, touches, absences)
    key, size = dense(_phase_key(trace, touches) * touches.count + touches.piece)
    meets = contested(key, size, trace.thread[touches.rows], trace.op[touches.rows])
    touches, key = touches.where(meets), key[meets]
    thread = trace.thread[touches.rows].astype(np.int64)
    yield _Scene("block", touches, key, size, thread // WARP)
    warp = (key * trace.warps + thread // WARP) * (1 + _most(trace)) + epochs_of(trace, touches.rows)
    yield _Scene("warp", touches, *dense(warp), thread)


def _place(trace: Trace, touches: Touches) -> Ints:
    return places_of(trace, trace.block[touches.rows])


def _phase_key(trace: Trace, touches: Touches) -> Ints:
    return _place(trace, touches) * (int(trace.phase.max(initial=0)) + 1) + trace.phase[touches.rows]


def _narrowed(trace: Trace, touches: Touches, key: Ints, size: int, who: Ints) -> Touches:
    return touches.where(contested(key, size, who, trace.op[touches.rows]))


def _in_order(trace: Trace, touches: Touches, absences: Absences) -> Touches:
    """Return the touches without those of threads that had run past a barrier, where there are such."""
    if not absences.ran_on.any():
        return touches
    last: NDArray[np.int64] = np.full((len(trace.blocks), trace.threads), np.iinfo(np.int64).max)
    chosen = absences.ran_on
    last[absences.place[chosen], absences.thread[chosen]] = absences.phase[chosen]
    place, thread = _place(trace, touches), trace.thread[touches.rows]
    return touches.where(trace.phase[touches.rows] < last[place, thread])


def _most(trace: Trace) -> int:
    """Return the most warp barriers that there could be for one thread."""
    return len(trace.warp_barriers.block)


def epochs_of(trace: Trace, rows: Ints) -> Ints:
    """Return how many warp barriers its thread had passed at each of some accesses.

    Only syncwarp is one: a shuffle or a vote promises no order of memory ("Warp Shuffle Functions").
    """
    barriers = trace.warp_barriers
    ordering = np.array([not _named(trace, site).endswith("_sync") for site in range(len(trace.sites))], bool)
    if not len(barriers.block) or not ordering[barriers.site].any():
        return np.zeros(len(rows), np.int64)
    chosen = ordering[barriers.site]
    steps = int(max(trace.step.max(initial=0), barriers.step.max(initial=0))) + 2
    thread = places_of(trace, barriers.block[chosen]) * trace.threads + barriers.thread[chosen]
    passed = np.sort(thread * steps + barriers.step[chosen])
    mine = (places_of(trace, trace.block[rows]) * trace.threads + trace.thread[rows]) * steps
    return np.searchsorted(passed, mine + trace.step[rows], side="right") - np.searchsorted(passed, mine)


def _named(trace: Trace, site: int) -> str:
    """Return the name that is called at a site, as far as the source shows it."""
    place = trace.sites[site]
    lines = trace.sources.get(place.file, "").splitlines()
    text = lines[place.line - 1][place.column :] if place.line <= len(lines) else ""
    return text.split("(")[0].strip().split(".")[-1]


def contested(key: Ints, size: int, who: NDArray[np.integer], op: NDArray[np.uint8]) -> Mask:  # type: ignore[type-arg]
    """Return which touches are of a key (below `size`) on which two of different `who` meet.

    They meet if one writes and not both are atomic. A pass over the touches for stores and one for atomics:
    a table holds one of those who wrote, and whether others did, per key.
    """
    bad = np.zeros(size, bool)
    for writes, others in ((op == Op.STORE, None), (op >= Op.ATOMIC, op < Op.ATOMIC)):
        if writes.any():
            side = _Writers(key[writes], size, who[writes])
            some = slice(None) if others is None else others
            met = key[some][side.meets(key[some], who[some])]
            bad[met] = True
    return bad[key] if bad.any() else np.zeros(len(key), bool)


class _Writers:
    """Who wrote: one of them per key, and whether there are others."""

    def __init__(self, key: Ints, size: int, who: NDArray[np.integer]) -> None:  # type: ignore[type-arg]
        self.one = np.full(size, -1, np.int64)
        self.one[key] = who
        self.several = np.zeros(size, bool)
        self.several[key[self.one[key] != who]] = True

    def meets(self, key: Ints, who: NDArray[np.integer]) -> Mask:  # type: ignore[type-arg]
        """Return whether any but `who` itself wrote there."""
        one = self.one[key]
        found: Mask = (one >= 0) & ((one != who) | self.several[key])
        return found

"""Data races: two threads touch a byte, one of them writes, not both are atomic, and nothing orders them.

The memory model is that of the CUDA C++ Programming Guide: blocks run in any order; in a block only barriers
order threads, also those of one warp ("Independent Thread Scheduling"), whose lanes cuda.syncwarp() orders.
Who meets whom follows from the phases, so a race is found in whatever order this launch happened to run. As
in compute-sanitizer's racecheck, threads that all write the same value do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .barrier_findings import Absences
from .meetings import Race, Scene, contested, merged, races_in
from .pieces import Touches, dense, groups_of, places_of, tally_of, touches_of
from .runs import Ints
from .trace import WARP, Op, Trace


def races_of(trace: Trace, absences: Absences) -> list[Race]:
    """Return the races of a launch, one per buffer and two sites.

    Where a site takes part in a harmful race, that it also writes the same value as others is chance: it is left out.
    Accesses of a thread that missed a barrier and ran on (see Absences) are not held against those of its own
    block: the barrier is what is wrong there.
    """
    written = tally_of(trace)[:, Op.STORE :].sum(axis=1)
    found: dict[tuple[int, tuple[int, int]], Race] = {}
    for group in groups_of(trace, ("global", "shared")):
        if np.any(written[group]):
            for scene in _scenes(trace, touches_of(trace, group), absences):
                for race in races_in(trace, scene):
                    key = (race.buffer, race.sites)
                    found[key] = merged(found[key], race) if key in found else race
    wrong = {(race.buffer, site) for race in found.values() if race.harmful for site in race.sites}
    return [r for r in found.values() if r.harmful or not wrong & {(r.buffer, site) for site in r.sites}]


def _scenes(trace: Trace, touches: Touches, absences: Absences) -> Iterator[Scene]:
    """Return the touches that may meet others, from the widest scope to the narrowest.

    A first pass, which a clean launch leaves with few touches, spares the rest most of the work.
    """
    if trace.buffers[int(trace.buffer[touches.rows[0]])].space == "global":
        thread = _place(trace, touches) * trace.threads + trace.thread[touches.rows]
        touches = touches.where(contested(*dense(touches.piece), thread, trace.op[touches.rows]))
        yield Scene("grid", touches, *dense(touches.piece), _place(trace, touches))
    touches = _without_strays(trace, touches, absences)
    key, size = dense(_phase_key(trace, touches) * touches.count + touches.piece)
    meet = contested(key, size, trace.thread[touches.rows], trace.op[touches.rows])
    touches, key = touches.where(meet), key[meet]
    thread = trace.thread[touches.rows].astype(np.int64)
    yield Scene("block", touches, key, size, thread // WARP)
    epoch = epochs_of(trace, touches.rows)
    key = (key * trace.warps + thread // WARP) * (int(epoch.max(initial=0)) + 1) + epoch
    yield Scene("warp", touches, *dense(key), thread)


def _place(trace: Trace, touches: Touches) -> Ints:
    return places_of(trace, trace.block[touches.rows])


def _phase_key(trace: Trace, touches: Touches) -> Ints:
    return _place(trace, touches) * (int(trace.phase.max(initial=0)) + 1) + trace.phase[touches.rows]


def _without_strays(trace: Trace, touches: Touches, absences: Absences) -> Touches:
    """Return the touches but those of threads that ran past a barrier, in that phase."""
    stray = absences.ran_on
    if not stray.any():
        return touches
    last: NDArray[np.int64] = np.full((len(trace.blocks), trace.threads), -1)
    last[absences.place[stray], absences.thread[stray]] = absences.phase[stray]
    return touches.where(
        last[_place(trace, touches), trace.thread[touches.rows]] != trace.phase[touches.rows]
    )


def epochs_of(trace: Trace, rows: Ints) -> Ints:
    """Return how many warp barriers its thread had passed at each of some accesses.

    Only syncwarp is one: a shuffle or a vote promises no order of memory ("Warp Shuffle Functions").
    """
    barriers = trace.warp_barriers
    ordering = np.array(
        [not _called(trace, site).endswith("_sync") for site in range(len(trace.sites))], bool
    )
    if not len(barriers.block) or not ordering[barriers.site].any():
        return np.zeros(len(rows), np.int64)
    chosen = ordering[barriers.site]
    steps = int(max(trace.step.max(initial=0), barriers.step.max())) + 2
    thread = places_of(trace, barriers.block[chosen]) * trace.threads + barriers.thread[chosen]
    passed = np.sort(thread * steps + barriers.step[chosen])
    start = (places_of(trace, trace.block[rows]) * trace.threads + trace.thread[rows]) * steps
    count: Ints = np.searchsorted(passed, start + trace.step[rows], side="right") - np.searchsorted(
        passed, start
    )
    return count


def _called(trace: Trace, site: int) -> str:
    """Return the name of what is called at a site, as far as the source shows it."""
    place = trace.sites[site]
    lines = trace.sources.get(place.file, "").splitlines()
    text = lines[place.line - 1][place.column :] if place.line <= len(lines) else ""
    return text.split("(")[0].strip().split(".")[-1]

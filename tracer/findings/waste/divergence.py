"""Lines for which many lanes idle although fewer warps could do the work: divergence.

After "Branching and Divergence" in the CUDA C++ Best Practices Guide. Idle lanes cost nothing where the busy lanes
are neighbours already, as at an array's edge or for `if t == 0`: no other numbering needs fewer requests.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...analysis.requests import Requests
from ...model.array_types import Ints, Mask
from ...model.finding import Finding, line_text
from ...model.grouping import group_starts, offsets, positions_in_group, stable_order
from ...model.trace import WARP, Op, Trace
from .site_costs import LARGE_SHARE, in_source, waste_finding

KIND = "idle lanes"
APART = "since the threads that take its branch lie apart"
UNLIKE = "since the threads of a warp take different branches, or go round a loop a different number of times"
SUCCESSIVE = "give the work to threads with successive numbers"
ALIKE = "let neighbouring threads have the same to do"


class _Idle(Struct, frozen=True, eq=False):
    """Requests whose busy lanes are not neighbours: an entry per request in each array."""

    requests: Ints  # their numbers in the trace's requests
    spared: NDArray[np.float64]  # share of the request that packing its lanes with others' would save
    evenly: Mask  # True where its busy lanes lie at even distances


def divergence_findings(trace: Trace, requests: Requests) -> Iterator[Finding]:
    """List the lines for which many lanes idle, though fewer warps of the block could do the work."""
    idle = _idle(trace, requests)
    if idle is None:
        return
    places = [(site.file, site.line) for site in trace.sites]
    line = np.array([places.index(place) for place in places], np.int64)
    idle_line = line[requests.site[idle.requests]]
    for number in np.flatnonzero(np.bincount(idle_line, idle.spared) >= LARGE_SHARE * len(requests)):
        on_line = idle_line == number
        chosen = np.flatnonzero(line[requests.site] == number)
        yield _finding(
            trace, requests, chosen, _Idle(idle.requests[on_line], idle.spared[on_line], idle.evenly[on_line])
        )


def _finding(trace: Trace, requests: Requests, line: Ints, idle: _Idle) -> Finding:
    """Describe the idle lanes of a line, given its requests."""
    regular = bool(2 * idle.spared[idle.evenly].sum() > idle.spared.sum())
    access = _one_access(trace, requests, line)
    lanes, busy = int(_warp_lanes(trace, requests)[access].sum()), int(requests.lanes[access].sum())
    _, fewest = _pack(trace, requests, access)
    worst = int(idle.requests[np.argmin(requests.lanes[idle.requests])])
    cause = (
        f"{lanes - busy:,} of {lanes:,} lanes sit out {line_text(trace, int(requests.site[worst]))}, "
        f"{APART if regular else UNLIKE}, so that {len(access):,} requests do what {fewest.sum():,} could"
    )
    warning, remedy = regular and 2 * busy <= lanes, SUCCESSIVE if regular else ALIKE
    return waste_finding(
        trace, requests, line, worst, KIND, warning=warning, cause=cause, remedy=remedy, count=lanes - busy,
        key=remedy,
    )  # fmt: skip


def _one_access(trace: Trace, requests: Requests, line: Ints) -> Ints:
    """Choose the requests of one access of a line: the one with the most idle lanes."""
    _, access = np.unique(_access(trace, requests)[line], return_inverse=True)
    idle = np.bincount(access, _warp_lanes(trace, requests)[line] - requests.lanes[line])
    chosen: Ints = line[access == np.argmax(idle)]
    return chosen


def _warp_lanes(trace: Trace, requests: Requests) -> Ints:
    """Count the lanes that the warp of each request has."""
    lanes: Ints = np.minimum(WARP, trace.threads - requests.warp * WARP)
    return lanes


def _access(trace: Trace, requests: Requests) -> Ints:
    """Number the site, buffer and op of each request."""
    return (requests.site * len(trace.buffers) + requests.buffer) * len(Op) + requests.op


def _idle(trace: Trace, requests: Requests) -> _Idle | None:
    """Find the loads and stores whose busy lanes lie apart; None if no packing needs fewer requests.

    Atomics are excluded: their cost is the turns of their lanes, so fewer lanes cost less.
    """
    is_partial = (requests.lanes < _warp_lanes(trace, requests)) & (requests.lanes > 1)
    chosen = np.flatnonzero(is_partial & (requests.op <= Op.STORE) & in_source(trace, requests))
    apart, evenly = _apart(trace, requests, chosen)
    chosen, evenly = chosen[apart], evenly[apart]
    if not len(chosen):
        return None
    group, fewest = _pack(trace, requests, chosen)
    return _Idle(chosen, (1 - fewest / np.bincount(group))[group], evenly)


def _apart(trace: Trace, requests: Requests, chosen: Ints) -> tuple[Mask, Mask]:
    """Test each chosen request for an idle lane between busy lanes, and for even distances.

    Lanes that fill a box of the block are neighbours: the edge of a two-dimensional array.
    """
    lanes = requests.lanes[chosen]
    start = offsets(lanes)[:-1]
    rows = requests.accesses.rows_of(chosen)
    thread = trace.thread[rows].astype(np.int64)
    inner = np.ones(len(rows), bool)
    inner[start] = False
    if not len(chosen):
        return inner, inner
    gap = np.diff(thread, prepend=0)[inner]
    nearest, farthest = (
        reduction.reduceat(gap, offsets(lanes - 1)[:-1]) for reduction in (np.minimum, np.maximum)
    )
    box = np.ones(len(chosen), np.int64)
    for size in trace.block_dim:
        thread, coordinate = np.divmod(thread, size)
        box *= np.maximum.reduceat(coordinate, start) - np.minimum.reduceat(coordinate, start) + 1
    return (farthest > 1) & (box != lanes), nearest == farthest


def _pack(trace: Trace, requests: Requests, chosen: Ints) -> tuple[Ints, Ints]:
    """Group the chosen requests, and compute the fewest requests that could carry each group's lanes.

    A group is one access of a phase by the warps of a block, in the same iteration.
    """
    access, position = _access(trace, requests), trace.block_positions(requests.block)
    phases = int(requests.phase.max()) + 1
    block_key = (position * phases + requests.phase) * (int(access.max()) + 1) + access
    wanted = np.zeros(int(requests.site.max()) + 1, bool)
    wanted[requests.site[chosen]] = True
    candidates = np.flatnonzero(wanted[requests.site])
    by_warp = block_key[candidates] * trace.warps + requests.warp[candidates]
    order = stable_order(by_warp)
    iteration = np.empty(len(requests), np.int64)
    iteration[candidates[order]] = positions_in_group(group_starts(by_warp[order]), len(candidates))
    key = block_key[chosen] * (int(iteration[chosen].max()) + 1) + iteration[chosen]
    _, group = np.unique(key, return_inverse=True)
    return group, -(-np.bincount(group, requests.lanes[chosen]).astype(np.int64) // WARP)

"""Lines that lanes sit out although fewer warps could carry the work: divergence.

After "Branching and Divergence" in the CUDA C++ Best Practices Guide. Lanes that sit out cost nothing where the
busy ones are neighbours already, as at an array's edge or for `if t == 0`: no other numbering needs fewer requests.
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
    """Requests whose busy lanes lie apart: an entry a request in each."""

    requests: Ints  # their numbers in the trace's requests
    spared: NDArray[
        np.float64
    ]  # which share of it could have been spared, since a few together could be fewer
    evenly: Mask  # whether its busy lanes lie at even distances


def divergence_findings(trace: Trace, requests: Requests) -> Iterator[Finding]:
    """Return the lines that many lanes sit out, though fewer warps of the block could do the work."""
    idle = _idle(trace, requests)
    if idle is None:
        return
    places = [(site.file, site.line) for site in trace.sites]
    line = np.array([places.index(place) for place in places], np.int64)
    of_idle = line[requests.site[idle.requests]]
    for number in np.flatnonzero(np.bincount(of_idle, idle.spared) >= LARGE_SHARE * len(requests)):
        mine = of_idle == number
        chosen = np.flatnonzero(line[requests.site] == number)
        yield _finding(
            trace, requests, chosen, _Idle(idle.requests[mine], idle.spared[mine], idle.evenly[mine])
        )


def _finding(trace: Trace, requests: Requests, line: Ints, idle: _Idle) -> Finding:
    """Return the finding about the requests of a line, of which some have lanes that sit out."""
    regular = bool(2 * idle.spared[idle.evenly].sum() > idle.spared.sum())
    one = _one_access(trace, requests, line)
    lanes, busy = int(_there(trace, requests)[one].sum()), int(requests.lanes[one].sum())
    _, fewest = _packed(trace, requests, one)
    worst = int(idle.requests[np.argmin(requests.lanes[idle.requests])])
    cause = (
        f"{lanes - busy:,} of {lanes:,} lanes sit out {line_text(trace, int(requests.site[worst]))}, "
        f"{APART if regular else UNLIKE}, so that {len(one):,} requests do what {fewest.sum():,} could"
    )
    warning, remedy = regular and 2 * busy <= lanes, SUCCESSIVE if regular else ALIKE
    return waste_finding(
        trace, requests, line, worst, KIND, warning=warning, cause=cause, remedy=remedy, count=lanes - busy,
        key=remedy,
    )  # fmt: skip


def _one_access(trace: Trace, requests: Requests, line: Ints) -> Ints:
    """Return the requests of the access that most lanes sit out, of those that a line makes."""
    _, access = np.unique(_access(trace, requests)[line], return_inverse=True)
    idle = np.bincount(access, _there(trace, requests)[line] - requests.lanes[line])
    found: Ints = line[access == np.argmax(idle)]
    return found


def _there(trace: Trace, requests: Requests) -> Ints:
    """Return how many lanes the warp of each request has."""
    found: Ints = np.minimum(WARP, trace.threads - requests.warp * WARP)
    return found


def _access(trace: Trace, requests: Requests) -> Ints:
    """Return a number for the site, buffer and op of each request."""
    return (requests.site * len(trace.buffers) + requests.buffer) * len(Op) + requests.op


def _idle(trace: Trace, requests: Requests) -> _Idle | None:
    """Return the loads and stores whose busy lanes lie apart, None where there are none that could be fewer.

    What an atomic costs is the turns of its lanes: fewer lanes cost less.
    """
    part = (requests.lanes < _there(trace, requests)) & (requests.lanes > 1)
    some = np.flatnonzero(part & (requests.op <= Op.STORE) & in_source(trace, requests))
    apart, evenly = _apart(trace, requests, some)
    some, evenly = some[apart], evenly[apart]
    if not len(some):
        return None
    group, fewest = _packed(trace, requests, some)
    return _Idle(some, (1 - fewest / np.bincount(group))[group], evenly)


def _apart(trace: Trace, requests: Requests, some: Ints) -> tuple[Mask, Mask]:
    """Return of each of some requests whether an idle lane lies between busy ones, and whether at even distances.

    Lanes that fill a box of the block are neighbours: the edge of an array of two dimensions.
    """
    lanes = requests.lanes[some]
    start = offsets(lanes)[:-1]
    rows = requests.accesses.of(some)
    thread = trace.thread[rows].astype(np.int64)
    inner = np.ones(len(rows), bool)
    inner[start] = False
    if not len(some):
        return inner, inner
    gap = np.diff(thread, prepend=0)[inner]
    nearest, farthest = (f.reduceat(gap, offsets(lanes - 1)[:-1]) for f in (np.minimum, np.maximum))
    box = np.ones(len(some), np.int64)
    for size in trace.block_dim:
        thread, place = np.divmod(thread, size)
        box *= np.maximum.reduceat(place, start) - np.minimum.reduceat(place, start) + 1
    return (farthest > 1) & (box != lanes), nearest == farthest


def _packed(trace: Trace, requests: Requests, some: Ints) -> tuple[Ints, Ints]:
    """Return a group for each of some requests, and the fewest that could carry each group's lanes.

    In a group is what the warps of a block do together: one access of a phase, at the same time of several.
    """
    access, place = _access(trace, requests), trace.block_positions(requests.block)
    phases = int(requests.phase.max()) + 1
    of_block = (place * phases + requests.phase) * (int(access.max()) + 1) + access
    wanted = np.zeros(int(requests.site.max()) + 1, bool)
    wanted[requests.site[some]] = True
    mine = np.flatnonzero(wanted[requests.site])
    by_warp = of_block[mine] * trace.warps + requests.warp[mine]
    order = stable_order(by_warp)
    visit = np.empty(len(requests), np.int64)
    visit[mine[order]] = positions_in_group(group_starts(by_warp[order]), len(mine))
    key = of_block[some] * (int(visit[some].max()) + 1) + visit[some]
    _, group = np.unique(key, return_inverse=True)
    return group, -(-np.bincount(group, requests.lanes[some]).astype(np.int64) // WARP)

"""Barriers that not all running threads of a block reach.

After "Synchronization Functions" in the CUDA C++ Programming Guide: a barrier is allowed in conditional code
only if the condition is the same for the whole block. Threads that have returned are not waited for.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .finding import Finding, block_text, counted, line_text, place_text
from .grid_barriers import grid_epochs
from .pieces import Mask, places_of
from .requests import Requests
from .runs import Ints
from .trace import OF_GRID, Trace


@dataclass(frozen=True, eq=False)
class Absences:
    """Threads that did not come to a barrier to which others of their block came, an entry each.

    place: of the block in trace.blocks; phase: the one that this barrier ended; site: the barrier's;
    ran_on: whether the thread ran past the barrier, rather than that it returned before it.
    """

    place: Ints
    thread: Ints
    phase: Ints
    site: Ints
    ran_on: Mask


def absences_of(trace: Trace) -> Absences:
    """Return the threads that did not come, in blocks that ended."""
    came = _arrivals(trace)
    most = came.max(axis=1)
    ended = np.isin(trace.blocks, trace.recorded) & (trace.error is None)
    place, thread = np.nonzero((came < most[:, None]) & ended[:, None])
    phase = came[place, thread]
    site = _first_sites(trace, int(most.max(initial=0)))[place, phase] if len(place) else phase
    ran_on = np.zeros(len(place), bool)
    if len(place) and len(trace):
        ran_on = _ran_on(trace, came, place, thread, phase, site)
    return Absences(place, thread, phase, site, ran_on)


def _arrivals(trace: Trace) -> Ints:
    """Return how often each thread came to a barrier, shape (blocks, threads)."""
    barriers = trace.barriers
    thread = places_of(trace, barriers.block) * trace.threads + barriers.thread
    count = np.bincount(thread, minlength=len(trace.blocks) * trace.threads)
    return count.reshape(len(trace.blocks), trace.threads)


def _first_sites(trace: Trace, phases: int) -> Ints:
    """Return the site at which a thread first came to the barrier that ended a phase, shape (blocks, phases)."""
    barriers = trace.barriers
    site = np.zeros((len(trace.blocks), phases), np.int64)
    site[places_of(trace, barriers.block[::-1]), barriers.phase[::-1]] = barriers.site[::-1]
    return site


def _ran_on(trace: Trace, came: Ints, place: Ints, thread: Ints, phase: Ints, site: Ints) -> Mask:
    """Return whether each absent thread made accesses that come after the barrier.

    They do if they lie below it in the source, outside a loop that holds both; or if the thread had made more
    accesses at a site than any that came to the barrier had by then, and those made more of them later.
    """
    slot = np.full(came.shape, -1)
    slot[place, thread] = np.arange(len(place))
    mine = slot[places_of(trace, trace.block), trace.thread]
    rows = np.flatnonzero((mine >= 0) & (phase[mine] == trace.phase))
    below = _below(trace, np.unique(site).tolist())
    result = np.zeros(len(place), bool)
    result[mine[rows][below[site[mine[rows]], trace.site[rows]]]] = True
    for last in np.unique(phase[~result]):
        late = ~result & (phase == last)
        blocks = np.unique(place[late])
        ahead = _ahead(trace, came, blocks, int(last))
        result[late] = ahead[np.searchsorted(blocks, place[late]), thread[late]]
    return result


def _ahead(trace: Trace, came: Ints, blocks: Ints, last: int) -> Mask:
    """Return which threads that end in phase `last` are ahead of those that go on; shape (blocks, threads)."""
    number = np.full(len(trace.blocks), -1)
    number[blocks] = np.arange(len(blocks))
    place = number[places_of(trace, trace.block)]
    rows = np.flatnonzero(place >= 0)
    count, sites = trace.threads, len(trace.sites)
    task = place[rows] * sites + trace.site[rows]  # what is done: a block's accesses at a site
    goes_on = (came[blocks] > last)[place[rows], trace.thread[rows]]
    before = trace.phase[rows] <= last
    later = np.zeros(len(blocks) * sites, bool)
    later[task[goes_on & ~before]] = True
    done, number = np.unique((task * count + trace.thread[rows])[before], return_inverse=True)
    times, task, thread = np.bincount(number, minlength=len(done)), done // count, done % count
    most = np.zeros(len(later), np.int64)
    others = (came[blocks] > last)[task // sites, thread]
    np.maximum.at(most, task[others], times[others])
    ahead = np.zeros((len(blocks), count), bool)
    some = ~others & later[task] & (times > most[task])
    ahead[task[some] // sites, thread[some]] = True
    return ahead


def _below(trace: Trace, barriers: list[int]) -> Mask:
    """Return whether a site (second index) comes after one of these barriers (first) for whoever runs both."""
    result = np.zeros((len(trace.sites), len(trace.sites)), bool)
    for number in barriers:
        barrier = trace.sites[number]
        loops = [(a, b) for a, b in _loops(trace.sources.get(barrier.file, "")) if a <= barrier.line <= b]
        for other, site in enumerate(trace.sites):
            alike = (site.file, site.function) == (barrier.file, barrier.function)
            in_loop = any(a <= site.line <= b for a, b in loops)
            result[number, other] = alike and site.line > barrier.line and not in_loop
    return result


@lru_cache(maxsize=16)
def _loops(source: str) -> tuple[tuple[int, int], ...]:
    """Return the first and last line of each loop."""
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:
        return ()
    return tuple((n.lineno, n.end_lineno or n.lineno) for n in nodes if isinstance(n, ast.For | ast.While))


def barrier_findings(trace: Trace, requests: Requests, absences: Absences) -> list[Finding]:
    """Return the barriers at which threads differ (errors) or that some returned before (warnings)."""
    found = [*_apart(trace, requests), *_blocks_missing(trace, requests)]
    for ran_on in (True, False):
        for site in np.unique(absences.site[absences.ran_on == ran_on]):
            chosen = (absences.site == site) & (absences.ran_on == ran_on)
            found.append(_missed(trace, requests, absences, np.flatnonzero(chosen)))
    return found


def _apart(trace: Trace, requests: Requests) -> list[Finding]:
    """Return a finding for each two sites at which threads of one block wait at the same time."""
    barriers = trace.barriers
    if not len(barriers.block):
        return []
    first = _first_sites(trace, int(barriers.phase.max()) + 1)
    expected = first[places_of(trace, barriers.block), barriers.phase]
    wrong = np.flatnonzero(barriers.site != expected)
    pairs = np.stack([expected[wrong], barriers.site[wrong]], axis=1).astype(np.int64)
    return [
        _two(trace, requests, wrong[(pairs == pair).all(axis=1)], *pair.tolist())
        for pair in np.unique(pairs, axis=0)
    ]


def _blocks_missing(trace: Trace, requests: Requests) -> list[Finding]:
    """Return a finding for each barrier of the grid to which some blocks that ran to their end never come."""
    barriers, found = trace.barriers, []
    mine = np.flatnonzero(barriers.reach == OF_GRID)
    if not len(mine) or trace.error is not None:
        return []
    epoch = grid_epochs(trace)
    number = epoch[places_of(trace, barriers.block[mine]), barriers.phase[mine]]
    came, arrivals = epoch.max(axis=1), mine[np.unique(number, return_index=True)[1]]
    for count, arrival in enumerate(arrivals.tolist()):
        missing = trace.blocks[(came <= count) & np.isin(trace.blocks, trace.recorded)]
        if len(missing):
            found.append(_grid_missed(trace, requests, arrival, missing))
    return found


def _grid_missed(trace: Trace, requests: Requests, arrival: int, missing: Ints) -> Finding:
    """Return the finding about blocks that never come to a barrier of the grid, at which a thread arrives."""
    barriers = trace.barriers
    site, block, thread = (int(c[arrival]) for c in (barriers.site, barriers.block, barriers.thread))
    remedy = "let every block of the grid come to it"
    message = (
        f"{counted(len(missing), 'block')} never {_verb(len(missing), 'come')} to the grid's barrier on "
        f"{line_text(trace, site)}, first {block_text(trace, int(missing[0]))}, so a GPU waits for ever; {remedy}."
    )
    moment = _end_of(trace, requests, block, int(barriers.phase[arrival]))
    threads = ((block, thread), (int(missing[0]), 0))
    rows = np.empty(0, np.int64)
    return Finding(
        "barrier", "error", message, remedy, len(missing), (site,), rows, (), threads, moment
    )  # fmt: skip


def _two(trace: Trace, requests: Requests, arrivals: Ints, site: int, other: int) -> Finding:
    """Return the finding about threads that came (arrivals) to `other` while some of their block were at `site`."""
    barriers = trace.barriers
    block, phase, thread = (int(c[arrivals[0]]) for c in (barriers.block, barriers.phase, barriers.thread))
    same = (barriers.block == block) & (barriers.phase == phase) & (barriers.site == site)
    remedy = "let all threads of the block come to one and the same barrier"
    message = (
        f"{counted(len(arrivals), 'thread')} {_verb(len(arrivals), 'wait')} at the barrier on "
        f"{line_text(trace, other)} while others of the block wait at that on {line_text(trace, site)}, first in "
        f"{block_text(trace, block)}, which no GPU promises to sort out; {remedy}."
    )
    threads = ((block, int(barriers.thread[np.flatnonzero(same)[0]])), (block, thread))
    moment = _end_of(trace, requests, block, phase)
    rows = np.empty(0, np.int64)
    return Finding(
        "barrier", "error", message, remedy, len(arrivals), (other, site), rows, (), threads, moment
    )  # fmt: skip


def _missed(trace: Trace, requests: Requests, absences: Absences, chosen: Ints) -> Finding:
    """Return the finding about absent threads of one barrier, which all ran on or had all returned."""
    first, site, ran_on = chosen[0], int(absences.site[chosen[0]]), bool(absences.ran_on[chosen[0]])
    block, thread = int(trace.blocks[absences.place[first]]), int(absences.thread[first])
    phase, waiting = _waiting(trace, absences, chosen)
    blocks = len(np.unique(absences.place[chosen]))
    remedy = (
        f"move {_call(trace, site)} out of the branch, so that every thread of the block comes to it" if ran_on else
        "keep every thread until the last barrier, and put its loads and stores under the condition instead"
    )  # fmt: skip
    place = f"thread {place_text(thread, trace.block_dim)} of {block_text(trace, block)}"
    others = f"others of {'its block' if blocks == 1 else 'their blocks'} wait at"
    what = (
        f"{_verb(len(chosen), 'run')} past the barrier on {line_text(trace, site)} that {others}" if ran_on else
        f"returned before the barrier on {line_text(trace, site)} that {others}, which a GPU lets pass, "
        "but what they should have done for the others is missing"
    )  # fmt: skip
    message = f"{counted(len(chosen), 'thread')} {what}, first {place}; {remedy}."
    return Finding(
        "barrier", "error" if ran_on else "warning", message, remedy, len(chosen), (site,),
        _rows_of(trace, absences, chosen), (), ((block, waiting), (block, thread)),
        _end_of(trace, requests, block, phase),
    )  # fmt: skip


def _call(trace: Trace, site: int) -> str:
    """Return what is called at a barrier."""
    of_grid = trace.barriers.reach[trace.barriers.site == site] == OF_GRID
    return "the grid's sync()" if of_grid.any() else "cuda.syncthreads()"


def _waiting(trace: Trace, absences: Absences, chosen: Ints) -> tuple[int, int]:
    """Return the phase that the barrier ended, and the first thread that came to it, for the first absent one."""
    barriers, first = trace.barriers, chosen[0]
    block, phase = trace.blocks[absences.place[first]], absences.phase[first]
    came = np.flatnonzero((barriers.block == block) & (barriers.phase == phase))
    return int(phase), int(barriers.thread[came].min())


def _rows_of(trace: Trace, absences: Absences, chosen: Ints) -> Ints:
    """Return the accesses that absent threads made in the phase in which they missed the barrier."""
    phase: NDArray[np.int64] = np.full((len(trace.blocks), trace.threads), -1)
    phase[absences.place[chosen], absences.thread[chosen]] = absences.phase[chosen]
    return np.flatnonzero(phase[places_of(trace, trace.block), trace.thread] == trace.phase)


def _end_of(trace: Trace, requests: Requests, block: int, phase: int) -> int:
    place = int(np.searchsorted(trace.blocks, block))
    return int(requests.span_end[place, min(phase, requests.span_end.shape[1] - 1)])


def _verb(count: int, verb: str) -> str:
    return verb + ("s" if count == 1 else "")

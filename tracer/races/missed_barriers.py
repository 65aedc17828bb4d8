"""Threads that do not come to a barrier: which, and whether they had returned or ran past it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.kernel_structure import kernel_file, loops_around, returns_before
from ..model.array_types import Ints, Mask
from ..model.trace import Site, Trace


class MissedBarriers(Struct, frozen=True, eq=False):
    """Threads that did not come to a barrier to which others of their block came, an entry each."""

    place: Ints  # of the block in trace.blocks
    thread: Ints  # linear number in its block
    phase: Ints  # the one that this barrier ended
    site: Ints  # the barrier's
    ran_on: Mask  # whether the thread ran past the barrier, rather than that it returned before it


def missed_barriers_of(trace: Trace) -> MissedBarriers:
    """Return the threads that did not come, in blocks that ended."""
    came = _arrivals(trace)
    most = came.max(axis=1)
    ended = trace.is_recorded & (trace.error is None)
    place, thread = np.nonzero((came < most[:, None]) & ended[:, None])
    phase = came[place, thread]
    site = first_sites(trace, int(most.max(initial=0)))[place, phase] if len(place) else phase
    ran_on = np.zeros(len(place), bool)
    if len(place):
        ran_on = _ran_on(trace, came, place, thread, phase, site)
    return MissedBarriers(place, thread, phase, site, ran_on)


def _arrivals(trace: Trace) -> Ints:
    """Return how often each thread came to a barrier, shape (blocks, threads)."""
    barriers = trace.barriers
    thread = trace.thread_numbers(barriers.block, barriers.thread)
    count = np.bincount(thread, minlength=len(trace.blocks) * trace.threads)
    return count.reshape(len(trace.blocks), trace.threads)


def first_sites(trace: Trace, phases: int) -> Ints:
    """Return the site at which a thread first came to the barrier that ended a phase, shape (blocks, phases)."""
    barriers = trace.barriers
    site = np.zeros((len(trace.blocks), phases), np.int64)
    site[trace.block_positions(barriers.block[::-1]), barriers.phase[::-1]] = barriers.site[::-1]
    return site


def _ran_on(trace: Trace, came: Ints, place: Ints, thread: Ints, phase: Ints, site: Ints) -> Mask:
    """Return whether each thread that missed a barrier made accesses that come after the barrier.

    They do if they lie below it in the source, outside a loop that holds both; or if the thread had made more
    accesses at a site than any that came to the barrier had by then, and those made more of them later. Where it
    can't have returned, it ran past the barrier too.
    """
    slot = np.full(came.shape, -1)
    slot[place, thread] = np.arange(len(place))
    mine = slot[trace.block_positions(trace.block), trace.thread]
    of_missing = np.flatnonzero(mine >= 0)
    rows = of_missing[phase[mine[of_missing]] == trace.phase[of_missing]]
    below = _below(trace, np.unique(site).tolist())
    result = np.zeros(len(place), bool)
    result[mine[rows][below[site[mine[rows]], trace.site[rows]]]] = True
    result[~result] = _did_not_return(trace, of_missing, place[~result], thread[~result], site[~result])
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
    place = number[trace.block_positions(trace.block)]
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
        result[number] = [is_below(trace, trace.sites[number], site) for site in trace.sites]
    return result


def is_below(trace: Trace, upper: Site, lower: Site) -> bool:
    """Return whether who comes to `lower` has left `upper` behind: it lies below, and in no loop with it."""
    alike = (upper.file, upper.function) == (lower.file, lower.function)
    loops = loops_around(trace, upper.file, upper.line)
    return alike and lower.line > upper.line and not any(a <= lower.line <= b for a, b in loops)


def _did_not_return(trace: Trace, rows: Ints, place: Ints, thread: Ints, site: Ints) -> Mask:
    """Return whether threads, whose accesses are `rows`, can't have returned before their barrier.

    After what the source says they can't have where the kernel's function has no `return` on the way, or where
    they got further.
    """
    result = np.zeros(len(place), bool)
    for number in np.unique(site).tolist():
        lines, mine = returns_before(trace, trace.sites[number]), site == number
        if lines is not None:
            passed = [_got_beyond(trace, rows, line)[place[mine], thread[mine]] for line in lines]
            result[mine] = np.all(passed, axis=0) if passed else True
    return result


def _got_beyond(trace: Trace, rows: Ints, line: int) -> Mask:
    """Return which threads came to a site below a line of the kernel's function, shape (blocks, threads).

    rows: the accesses to look at, beside all arrivals at barriers.
    """
    found = np.zeros((len(trace.blocks), trace.threads), bool)
    upper = Site(trace.kernel, kernel_file(trace), line, 0)
    further = np.array([is_below(trace, upper, site) for site in trace.sites], bool)
    for table, some in ((trace, rows), (trace.barriers, slice(None)), (trace.warp_barriers, slice(None))):
        block, thread, site = table.block[some], table.thread[some], table.site[some]
        if len(site):
            beyond = further[site]
            found[trace.block_positions(block[beyond]), thread[beyond]] = True
    return found

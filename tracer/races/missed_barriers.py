"""Threads that miss a barrier: those that had returned, and those that ran past it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..analysis.kernel_structure import kernel_file, loops_around, returns_before
from ..model.array_types import Ints, Mask
from ..model.trace import Site, Trace


class MissedBarriers(Struct, frozen=True, eq=False):
    """Threads that did not reach a barrier that others of their block reached, an entry each."""

    block_position: Ints  # of the block in trace.blocks
    thread: Ints  # linear number in its block
    phase: Ints  # that this barrier ended
    site: Ints  # the barrier's
    ran_on: Mask  # True if the thread ran past the barrier, False if it returned before


def missed_barriers_of(trace: Trace) -> MissedBarriers:
    """Find the threads that missed a barrier, in blocks that ended."""
    arrivals = _arrivals(trace)
    most = arrivals.max(axis=1)
    ended = trace.is_recorded & (trace.error is None)
    position, thread = np.nonzero((arrivals < most[:, None]) & ended[:, None])
    phase = arrivals[position, thread]
    site = first_sites(trace, int(most.max(initial=0)))[position, phase] if len(position) else phase
    ran_on = np.zeros(len(position), bool)
    if len(position):
        ran_on = _ran_on(trace, arrivals, position, thread, phase, site)
    return MissedBarriers(position, thread, phase, site, ran_on)


def _arrivals(trace: Trace) -> Ints:
    """Count the barriers that each thread reached, shape (blocks, threads)."""
    barriers = trace.barriers
    thread = trace.thread_numbers(barriers.block, barriers.thread)
    count = np.bincount(thread, minlength=len(trace.blocks) * trace.threads)
    return count.reshape(len(trace.blocks), trace.threads)


def first_sites(trace: Trace, phases: int) -> Ints:
    """Return the site at which a thread first reached the barrier that ended a phase, shape (blocks, phases)."""
    barriers = trace.barriers
    site = np.zeros((len(trace.blocks), phases), np.int64)
    site[trace.block_positions(barriers.block[::-1]), barriers.phase[::-1]] = barriers.site[::-1]
    return site


def _ran_on(trace: Trace, arrivals: Ints, position: Ints, thread: Ints, phase: Ints, site: Ints) -> Mask:
    """Find the threads that missed a barrier and made accesses that come after it.

    They come after it if they lie below it in the source, outside a loop that contains both. They also do if the thread
    had made more accesses at a site than any thread had by the barrier, and those made more of them later. A thread
    that can't have returned ran past the barrier too.
    """
    slot = np.full(arrivals.shape, -1)
    slot[position, thread] = np.arange(len(position))
    entry = slot[trace.block_positions(trace.block), trace.thread]
    missing_rows = np.flatnonzero(entry >= 0)
    rows = missing_rows[phase[entry[missing_rows]] == trace.phase[missing_rows]]
    below = _below(trace, np.unique(site).tolist())
    result = np.zeros(len(position), bool)
    result[entry[rows][below[site[entry[rows]], trace.site[rows]]]] = True
    result[~result] = _did_not_return(trace, missing_rows, position[~result], thread[~result], site[~result])
    for last in np.unique(phase[~result]):
        undecided = ~result & (phase == last)
        blocks = np.unique(position[undecided])
        ahead = _ahead(trace, arrivals, blocks, int(last))
        result[undecided] = ahead[np.searchsorted(blocks, position[undecided]), thread[undecided]]
    return result


def _ahead(trace: Trace, arrivals: Ints, blocks: Ints, last: int) -> Mask:
    """Find the threads that end in phase `last` and are ahead of those that go on; shape (blocks, threads)."""
    number = np.full(len(trace.blocks), -1)
    number[blocks] = np.arange(len(blocks))
    position = number[trace.block_positions(trace.block)]
    rows = np.flatnonzero(position >= 0)
    count, sites = trace.threads, len(trace.sites)
    task = position[rows] * sites + trace.site[rows]  # a block's accesses at a site
    goes_on = (arrivals[blocks] > last)[position[rows], trace.thread[rows]]
    before = trace.phase[rows] <= last
    later = np.zeros(len(blocks) * sites, bool)
    later[task[goes_on & ~before]] = True
    tasks, number = np.unique((task * count + trace.thread[rows])[before], return_inverse=True)
    times, task, thread = np.bincount(number, minlength=len(tasks)), tasks // count, tasks % count
    most = np.zeros(len(later), np.int64)
    continues = (arrivals[blocks] > last)[task // sites, thread]
    np.maximum.at(most, task[continues], times[continues])
    ahead = np.zeros((len(blocks), count), bool)
    is_ahead = ~continues & later[task] & (times > most[task])
    ahead[task[is_ahead] // sites, thread[is_ahead]] = True
    return ahead


def _below(trace: Trace, barriers: list[int]) -> Mask:
    """Test for each barrier (first index) and site (second) that the site comes after the barrier."""
    result = np.zeros((len(trace.sites), len(trace.sites)), bool)
    for number in barriers:
        result[number] = [is_below(trace, trace.sites[number], site) for site in trace.sites]
    return result


def is_below(trace: Trace, upper: Site, lower: Site) -> bool:
    """Return True if `upper` is past for a thread at `lower`: it lies below, and in no loop with it."""
    same_function = (upper.file, upper.function) == (lower.file, lower.function)
    loops = loops_around(trace, upper.file, upper.line)
    return (
        same_function
        and lower.line > upper.line
        and not any(first <= lower.line <= last for first, last in loops)
    )


def _did_not_return(trace: Trace, rows: Ints, position: Ints, thread: Ints, site: Ints) -> Mask:
    """Find the threads, with the accesses `rows`, that can't have returned before their barrier.

    They can't if the kernel's function has no `return` on the way, or if they got further.
    """
    result = np.zeros(len(position), bool)
    for number in np.unique(site).tolist():
        lines, chosen = returns_before(trace, trace.sites[number]), site == number
        if lines is not None:
            passed = [_got_beyond(trace, rows, line)[position[chosen], thread[chosen]] for line in lines]
            result[chosen] = np.all(passed, axis=0) if passed else True
    return result


def _got_beyond(trace: Trace, rows: Ints, line: int) -> Mask:
    """Find the threads that reached a site below a line of the kernel's function, shape (blocks, threads).

    rows: the accesses to examine, in addition to all arrivals at barriers.
    """
    got_beyond = np.zeros((len(trace.blocks), trace.threads), bool)
    upper = Site(trace.kernel, kernel_file(trace), line, 0)
    further = np.array([is_below(trace, upper, site) for site in trace.sites], bool)
    for table, part in ((trace, rows), (trace.barriers, slice(None)), (trace.warp_barriers, slice(None))):
        block, thread, site = table.block[part], table.thread[part], table.site[part]
        if len(site):
            beyond = further[site]
            got_beyond[trace.block_positions(block[beyond]), thread[beyond]] = True
    return got_beyond

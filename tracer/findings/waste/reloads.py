"""Global buffers whose elements a block, or a thread, loads again and again.

After "Shared Memory in Matrix Multiplication" in the CUDA C++ Best Practices Guide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.grid_barriers import has_grid_barriers
from ...analysis.minimum_cost import RequestCosts, plain_global
from ...analysis.overlap import block_ranges, dense_keys
from ...analysis.requests import Requests
from ...model.array_types import Ints
from ...model.finding import Finding, line_text
from ...model.grouping import group_starts
from ...model.trace import WARP, Op, Trace
from ..source.index_expressions import comes_from_data
from .site_costs import LARGE_SHARE, in_source, waste_finding

KIND = "reloaded"
FEW = 0.25  # share of a buffer's loads that may be of elements that others write
AGAIN = 4  # fewest loads of an element by one block that are reported
SHARED = "load them once into shared memory, where all threads of the block find them"
LOCAL = "keep them in local variables"


def reload_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """List the global buffers of which one block loads the same elements with request after request.

    Skip buffers of which a block needs few enough elements for one warp to hold: they stay in the cache.
    """
    loads = (requests.op == Op.LOAD) & plain_global(trace, requests) & in_source(trace, requests)
    for number in np.unique(requests.buffer[loads]).tolist():
        chosen = np.flatnonzero(loads & (requests.buffer == number))
        needed = sum(_elements_by_blocks(trace, number, part) for part in block_ranges(trace))
        times = float(costs.elements[chosen].sum() / needed)
        spared = costs.sectors[chosen].sum() * (1 - 1 / times)
        is_table = needed < WARP * len(np.unique(requests.block[chosen]))
        if times >= AGAIN and spared >= LARGE_SHARE * costs.sectors.sum() and not is_table:
            times_by_thread = _times_by_thread(trace, number)
            by_thread = (
                times_by_thread > times / times_by_thread
            )  # it reloads its own elements more than those of other threads
            if _can_be_kept(trace, requests, costs, chosen, number, by_thread=by_thread):
                yield _finding(
                    trace,
                    requests,
                    chosen,
                    number,
                    times_by_thread if by_thread else times,
                    by_thread=by_thread,
                )


def _times_by_thread(trace: Trace, number: int) -> float:
    """Compute the average number of loads per element that a thread needs of a buffer."""
    loads = trace.access_counts[number, Op.LOAD]
    return float(loads / sum(_elements_by_threads(trace, number, part) for part in block_ranges(trace)))


def _can_be_kept(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, number: int, *, by_thread: bool
) -> bool:  # fmt: skip
    """Check whether the reloaded elements could have been kept.

    A thread can't keep them in variables if others write them meanwhile. A block can't keep them if data decide which
    elements it needs, or other blocks write them.
    """
    if by_thread:
        return _written_by_others(trace, number) < FEW
    data_sites = [
        site for site in np.unique(requests.site[chosen]) if comes_from_data(trace, trace.sites[site])
    ]
    gathered = costs.sectors[chosen][np.isin(requests.site[chosen], data_sites)].sum()
    if 2 * gathered >= costs.sectors[chosen].sum():
        return False
    return not has_grid_barriers(trace) or _written_by_others(trace, number) < FEW


def _written_by_others(trace: Trace, number: int) -> float:
    """Compute the share of the loads of a buffer whose element other threads write in the launch."""
    if not trace.access_counts[number, Op.STORE :].any():
        return 0.0
    rows = np.flatnonzero(trace.buffer == number)
    write = trace.op[rows] != Op.LOAD
    thread, index = trace.thread_of(rows), trace.index[rows]
    writers = np.full(trace.buffers[number].size, -1)
    writers[index[write]] = thread[write]
    several = np.zeros(len(writers), bool)
    several[index[write][writers[index[write]] != thread[write]]] = True
    writer = writers[index[~write]]
    return float(((writer >= 0) & ((writer != thread[~write]) | several[index[~write]])).mean())


def _finding(
    trace: Trace, requests: Requests, chosen: Ints, number: int, times: float, *, by_thread: bool
) -> Finding:  # fmt: skip
    """Describe the loads (chosen) of a buffer, so many times for each element and block, or thread."""
    stores, loads = trace.access_counts[number, Op.STORE], trace.access_counts[number, Op.LOAD]
    # The compiler may have kept elements that a thread loads again and never stores.
    warning = not by_thread or bool(2 * stores >= loads)
    owner, remedy = ("thread", LOCAL) if by_thread else ("block", SHARED)
    shown, where = _where(trace, requests, chosen)
    name = trace.buffers[number].name
    cause = f"{times:.3g} times over, each {owner} loads the elements of {name} that it needs, {where}"
    return waste_finding(
        trace, requests, chosen, shown, KIND, warning=warning, cause=cause, remedy=remedy, count=round(times),
        key=remedy,
    )  # fmt: skip


def _where(trace: Trace, requests: Requests, chosen: Ints) -> tuple[int, str]:
    """Find the site with most of the chosen requests; return its first request and its line as text."""
    site = int(np.argmax(np.bincount(requests.site[chosen])))
    at_site = requests.site[chosen] == site
    return int(chosen[np.argmax(at_site)]), f"{'' if at_site.all() else 'mostly '}on {line_text(trace, site)}"


def _elements_by_blocks(trace: Trace, buffer: int, part: slice) -> int:
    """Count the elements of a buffer that each block loads, summed over complete blocks (part: their rows)."""
    rows = _loads(trace, buffer, part)
    if not len(rows):
        return 0
    position = trace.block_positions(trace.block[rows])
    key, size = dense_keys((position - position.min()) * trace.buffers[buffer].size + trace.index[rows])
    is_loaded = np.zeros(size, bool)
    is_loaded[key] = True
    return int(np.count_nonzero(is_loaded))


def _elements_by_threads(trace: Trace, buffer: int, part: slice) -> int:
    """Count the elements of a buffer that each thread loads, summed over complete blocks (part: their rows)."""
    rows = _loads(trace, buffer, part)
    thread = trace.thread_of(rows)
    return len(group_starts(np.sort(thread * trace.buffers[buffer].size + trace.index[rows])))


def _loads(trace: Trace, buffer: int, part: slice) -> Ints:
    loads: Ints = part.start + np.flatnonzero((trace.buffer[part] == buffer) & (trace.op[part] == Op.LOAD))
    return loads

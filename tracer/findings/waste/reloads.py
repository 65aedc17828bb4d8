"""Global buffers whose elements are loaded again and again, by a block or by one and the same thread.

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
FEW = 0.25  # of the loads of a buffer, which may be of elements that others write
AGAIN = 4  # loads of an element by one block from which on they are reported
SHARED = "load them once into shared memory, where all threads of the block find them"
LOCAL = "keep them in local variables"


def reload_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """Return the global buffers of which one block loads the same elements with request after request.

    Not those of which a block needs so few that a warp holds them: they stay in the cache.
    """
    loads = (requests.op == Op.LOAD) & plain_global(trace, requests) & in_source(trace, requests)
    for number in np.unique(requests.buffer[loads]).tolist():
        chosen = np.flatnonzero(loads & (requests.buffer == number))
        needed = sum(_different(trace, number, part) for part in block_ranges(trace))
        times = float(costs.elements[chosen].sum() / needed)
        spared = costs.sectors[chosen].sum() * (1 - 1 / times)
        is_table = needed < WARP * len(np.unique(requests.block[chosen]))
        if times >= AGAIN and spared >= LARGE_SHARE * costs.sectors.sum() and not is_table:
            mine = _times_by_thread(trace, number)
            alone = mine > times / mine  # rather its own elements again than those of others of the block
            if _can_be_kept(trace, requests, costs, chosen, number, alone=alone):
                yield _finding(trace, requests, chosen, number, mine if alone else times, alone=alone)


def _times_by_thread(trace: Trace, number: int) -> float:
    """Return how often a thread loads each element of a buffer that it needs, on average."""
    loads = trace.access_counts[number, Op.LOAD]
    return float(loads / sum(_by_threads(trace, number, part) for part in block_ranges(trace)))


def _can_be_kept(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, number: int, *, alone: bool
) -> bool:  # fmt: skip
    """Return whether what is loaded again could have been kept.

    Not in a thread's own variables where others write it meanwhile; nor by a block where data decide which elements
    it needs, or other blocks write them.
    """
    if alone:
        return _written_by_others(trace, number) < FEW
    of_data = [site for site in np.unique(requests.site[chosen]) if comes_from_data(trace, trace.sites[site])]
    gathered = costs.sectors[chosen][np.isin(requests.site[chosen], of_data)].sum()
    if 2 * gathered >= costs.sectors[chosen].sum():
        return False
    return not has_grid_barriers(trace) or _written_by_others(trace, number) < FEW


def _written_by_others(trace: Trace, number: int) -> float:
    """Return the share of the loads of a buffer whose element other threads write in the launch."""
    if not trace.access_counts[number, Op.STORE :].any():
        return 0.0
    rows = np.flatnonzero(trace.buffer == number)
    write = trace.op[rows] != Op.LOAD
    thread, index = trace.thread_of(rows), trace.index[rows]
    one = np.full(trace.buffers[number].size, -1)
    one[index[write]] = thread[write]
    several = np.zeros(len(one), bool)
    several[index[write][one[index[write]] != thread[write]]] = True
    writer = one[index[~write]]
    return float(((writer >= 0) & ((writer != thread[~write]) | several[index[~write]])).mean())


def _finding(
    trace: Trace, requests: Requests, chosen: Ints, number: int, times: float, *, alone: bool
) -> Finding:  # fmt: skip
    """Return the finding about the loads (chosen) of a buffer, so many times for each element and block, or thread."""
    stores, loads = trace.access_counts[number, Op.STORE], trace.access_counts[number, Op.LOAD]
    # What a thread loads again and stores nowhere the compiler may have kept.
    warning = not alone or bool(2 * stores >= loads)
    who, remedy = ("thread", LOCAL) if alone else ("block", SHARED)
    shown, where = _where(trace, requests, chosen)
    name = trace.buffers[number].name
    cause = f"{times:.3g} times over, each {who} loads the elements of {name} that it needs, {where}"
    return waste_finding(
        trace, requests, chosen, shown, KIND, warning=warning, cause=cause, remedy=remedy, count=round(times),
        key=remedy,
    )  # fmt: skip


def _where(trace: Trace, requests: Requests, chosen: Ints) -> tuple[int, str]:
    """Return the first request of the site that makes most of these, and on which line that is."""
    site = int(np.argmax(np.bincount(requests.site[chosen])))
    here = requests.site[chosen] == site
    return int(chosen[np.argmax(here)]), f"{'' if here.all() else 'mostly '}on {line_text(trace, site)}"


def _different(trace: Trace, buffer: int, part: slice) -> int:
    """Return how many elements of a buffer each block loads, added up over some rows (part) of whole blocks."""
    rows = _loads(trace, buffer, part)
    if not len(rows):
        return 0
    place = trace.block_positions(trace.block[rows])
    key, size = dense_keys((place - place.min()) * trace.buffers[buffer].size + trace.index[rows])
    seen = np.zeros(size, bool)
    seen[key] = True
    return int(np.count_nonzero(seen))


def _by_threads(trace: Trace, buffer: int, part: slice) -> int:
    """Return how many elements of a buffer each thread loads, added up over some rows (part) of whole blocks."""
    rows = _loads(trace, buffer, part)
    place = trace.thread_of(rows)
    return len(group_starts(np.sort(place * trace.buffers[buffer].size + trace.index[rows])))


def _loads(trace: Trace, buffer: int, part: slice) -> Ints:
    found: Ints = part.start + np.flatnonzero((trace.buffer[part] == buffer) & (trace.op[part] == Op.LOAD))
    return found

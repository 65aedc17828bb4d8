"""Thousands of atomics on one address of global memory, which serialise there.

After "Atomic Functions" in the CUDA C++ Programming Guide and M. Harris, "Optimizing Parallel Reduction in CUDA": the
threads of a block combine their values first, so that one atomic per block is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...analysis.minimum_cost import RequestCosts
from ...analysis.requests import Requests
from ...model.array_types import AnyInts, Ints
from ...model.finding import Finding, access_element, count_noun, line_text
from ...model.trace import Op, Trace
from .site_costs import LARGE_SHARE, waste_finding

KIND = "hot atomic"
MANY = 2000  # fewest atomics on one address that are reported
OFTEN = 4  # fewest atomics per request, or per thread, that are worth combining
OF_BLOCK = "put the values of a block together first, in shared memory or by warp shuffles, and let one thread of each "
OWNERS = {"threads": "block", "thread": "thread"}
REMEDIES = {
    "threads": f"{OF_BLOCK}block make the atomic",
    "thread": "put a thread's values together in a local variable first, and make one atomic after the loop",
}


class _Hottest(NamedTuple):
    """The address that most atomics of a site update."""

    rows: Ints  # those atomics
    combined: str  # whose values could be combined: a key of REMEDIES


def hot_atomic_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """List the sites of which thousands of atomics update one address, though a block could combine its values."""
    # A thread that uses the result of an atomic, such as an index in a list, needs its own atomic.
    atomic = requests.op == Op.REDUCTION
    atomic &= np.array([b.space == "global" for b in trace.buffers], bool)[requests.buffer]
    keys = requests.site * len(trace.buffers) + requests.buffer
    for key in np.unique(keys[atomic]):
        chosen = np.flatnonzero(atomic & (keys == key))
        site, buffer = divmod(int(key), len(trace.buffers))
        hottest = _hottest(trace, requests, site, buffer)
        if hottest is not None:
            yield _finding(trace, requests, costs, chosen, hottest)


def _hottest(trace: Trace, requests: Requests, site: int, buffer: int) -> _Hottest | None:
    """Find the address that most atomics of a site update; None if these are few or can't be combined."""
    rows = np.flatnonzero((trace.site == site) & (trace.buffer == buffer))
    count = np.bincount(trace.index[rows])
    if count.max(initial=0) < MANY:
        return None
    rows = rows[trace.index[rows] == np.argmax(count)]
    if len(rows) >= OFTEN * _count_distinct(trace.thread_of(rows)):
        return _Hottest(rows, "thread")
    is_combinable = len(rows) >= OFTEN * _count_distinct(requests.request[rows])
    return _Hottest(rows, "threads") if is_combinable else None


def _count_distinct(numbers: AnyInts) -> int:
    """Count the distinct numbers."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _finding(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, hottest: _Hottest
) -> Finding:  # fmt: skip
    first, count = int(hottest.rows[0]), len(hottest.rows)
    line = line_text(trace, int(trace.site[first]))
    owners = trace.block[hottest.rows] if hottest.combined == "threads" else trace.thread_of(hottest.rows)
    enough = _count_distinct(owners)
    cause = (
        f"{count_noun(count, 'atomic')} on {line} update one address, {access_element(trace, first)}, one after the "
        f"other, where {count_noun(enough, 'atomic')} would do, one for each {OWNERS[hottest.combined]}"
    )
    # A turn at an address costs about as much as a sector.
    large = count - enough >= LARGE_SHARE * (float(costs.sectors.sum()) + count)
    return waste_finding(
        trace, requests, chosen, int(requests.request[first]), KIND, warning=large, cause=cause,
        remedy=REMEDIES[hottest.combined], count=count, key=hottest.combined,
    )  # fmt: skip

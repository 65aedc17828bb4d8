"""Thousands of atomics on one address of global memory, which take turns there.

After "Atomic Functions" in the CUDA C++ Programming Guide and M. Harris, "Optimizing Parallel Reduction in CUDA": the
threads of a block put their values together first, so that one atomic of each block is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...analysis.minimum_cost import RequestCosts
from ...analysis.requests import Requests
from ...model.array_types import AnyInts, Ints
from ...model.finding import Finding, access_element, counted, line_text
from ...model.trace import Op, Trace
from .site_costs import LARGE_SHARE, waste_finding

KIND = "hot atomic"
MANY = 2000  # atomics on one address from which on they are reported
OFTEN = 4  # of them a request, or a thread, from which on they could be put together first
OF_BLOCK = "put the values of a block together first, in shared memory or by warp shuffles, and let one thread of each "
OWNERS = {"threads": "block", "thread": "thread"}
REMEDIES = {
    "threads": f"{OF_BLOCK}block make the atomic",
    "thread": "put a thread's values together in a local variable first, and make one atomic after the loop",
}


class _Hottest(NamedTuple):
    """The address that most atomics of a site update."""

    rows: Ints  # those atomics
    who: str  # whose values could be put together: a key of REMEDIES


def hot_atomic_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """Return the sites of which thousands of atomics update one address, though a block's could be put together."""
    # Whoever uses what an atomic returns, such as a place in a list, needs one of its own.
    atomic = requests.op == Op.REDUCTION
    atomic &= np.array([b.space == "global" for b in trace.buffers], bool)[requests.buffer]
    code = requests.site * len(trace.buffers) + requests.buffer
    for one in np.unique(code[atomic]):
        chosen = np.flatnonzero(atomic & (code == one))
        site, buffer = divmod(int(one), len(trace.buffers))
        hottest = _hottest(trace, requests, site, buffer)
        if hottest is not None:
            yield _finding(trace, requests, costs, chosen, hottest)


def _hottest(trace: Trace, requests: Requests, site: int, buffer: int) -> _Hottest | None:
    """Return the address that most atomics of a site update; None where these are few, or can't be put together."""
    rows = np.flatnonzero((trace.site == site) & (trace.buffer == buffer))
    count = np.bincount(trace.index[rows])
    if count.max(initial=0) < MANY:
        return None
    rows = rows[trace.index[rows] == np.argmax(count)]
    if len(rows) >= OFTEN * _different(trace.thread_of(rows)):
        return _Hottest(rows, "thread")
    together = len(rows) >= OFTEN * _different(requests.request[rows])
    return _Hottest(rows, "threads") if together else None


def _different(numbers: AnyInts) -> int:
    """Return how many different numbers there are."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _finding(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, hottest: _Hottest
) -> Finding:  # fmt: skip
    first, count = int(hottest.rows[0]), len(hottest.rows)
    line = line_text(trace, int(trace.site[first]))
    each = trace.block[hottest.rows] if hottest.who == "threads" else trace.thread_of(hottest.rows)
    enough = _different(each)
    cause = (
        f"{counted(count, 'atomic')} on {line} update one address, {access_element(trace, first)}, one after the other"
        f", where {counted(enough, 'atomic')} would do, one for each {OWNERS[hottest.who]}"
    )
    # A turn at an address costs about as much as a sector.
    large = count - enough >= LARGE_SHARE * (float(costs.sectors.sum()) + count)
    return waste_finding(
        trace, requests, chosen, int(requests.request[first]), KIND, warning=large, cause=cause,
        remedy=REMEDIES[hottest.who], count=count, key=hottest.who,
    )  # fmt: skip

"""Stores in a loop to one element, of which only the last is read.

After "Registers" in the CUDA C++ Best Practices Guide: values that only one thread needs for a while belong in a local
variable. The compiler keeps such stores, since other arrays of the loop may lie in the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.minimum_cost import RequestCosts, plain_global
from ...analysis.overlap import overlapping_buffers
from ...analysis.requests import Requests
from ...model.array_types import Ints
from ...model.finding import Finding, count_noun, line_text
from ...model.trace import Op, Trace
from .site_costs import LARGE_SHARE, in_source, waste_finding

KIND = "overwritten"
OFTEN = 4  # fewest stores of a thread to an element, on average, that are reported
REMEDY = "keep it in a local variable, and store once after the loop"


def overwritten_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """List the sites whose stores to global memory are mostly overwritten by the same thread before any read."""
    stores = (requests.op == Op.STORE) & plain_global(trace, requests) & in_source(trace, requests)
    groups = {number: group for group in overlapping_buffers(trace, ("global",)) for number in group}
    keys = requests.site * len(trace.buffers) + requests.buffer
    for key in np.unique(keys[stores]):
        site, buffer = divmod(int(key), len(trace.buffers))
        if len(groups[buffer]) == 1:
            lost = _overwritten(trace, site, buffer)
            if len(lost):
                chosen = np.flatnonzero(stores & (keys == key))
                yield from _finding(trace, requests, costs, chosen, lost)


def _overwritten(trace: Trace, site: int, buffer: int) -> Ints:
    """Find the stores of a site that the same thread's next store overwrites, with no access between.

    Return none if threads store to an element less than OFTEN times on average.
    """
    stores = np.flatnonzero((trace.site == site) & (trace.buffer == buffer))
    stored = np.zeros(trace.buffers[buffer].size, bool)
    stored[trace.index[stores]] = True
    if len(stores) < OFTEN * np.count_nonzero(stored):
        return np.empty(0, np.int64)
    rows = np.flatnonzero(trace.buffer == buffer)
    rows = rows[stored[trace.index[rows]]]
    rows = rows[np.argsort(trace.index[rows], kind="stable")]
    index, thread, at_site = trace.index[rows], trace.thread_of(rows), trace.site[rows] == site
    lost = at_site[:-1] & at_site[1:] & (index[:-1] == index[1:]) & (thread[:-1] == thread[1:])
    overwritten: Ints = np.sort(rows[:-1][lost])
    return overwritten if len(overwritten) >= (1 - 1 / OFTEN) * len(stores) else np.empty(0, np.int64)


def _finding(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, lost: Ints
) -> Iterator[Finding]:  # fmt: skip
    """Yield the finding about a site of which some stores are lost."""
    all_stores, shown = int(requests.lanes[chosen].sum()), int(chosen[0])
    name, line = trace.buffers[int(requests.buffer[shown])].name, line_text(trace, int(requests.site[shown]))
    wasted = float(costs.sectors[chosen].sum()) * len(lost) / all_stores
    cause = (
        f"{len(lost):,} of {count_noun(all_stores, 'store')} to {name} on {line} are overwritten by the same thread in "
        "a loop, before any thread reads them"
    )
    yield waste_finding(
        trace, requests, chosen, shown, KIND, warning=wasted >= LARGE_SHARE * float(costs.sectors.sum()), cause=cause,
        remedy=REMEDY, count=len(lost), key=REMEDY,
    )  # fmt: skip

"""Stores in a loop to one element, of which nobody reads any but the last.

After "Registers" in the CUDA C++ Best Practices Guide: what one thread alone needs for a while belongs into a local
variable. The compiler leaves such stores where they are, since other arrays of the loop may lie in the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...analysis.minimum_cost import RequestCosts, plain_global
from ...analysis.overlap import overlapping_buffers
from ...analysis.requests import Requests
from ...model.array_types import Ints
from ...model.finding import Finding, counted, line_text
from ...model.trace import Op, Trace
from .site_costs import LARGE_SHARE, in_source, waste_finding

KIND = "overwritten"
OFTEN = 4  # stores of a thread to an element, on average, from which on they are reported
REMEDY = "keep it in a local variable, and store once after the loop"


def overwritten_findings(trace: Trace, requests: Requests, costs: RequestCosts) -> Iterator[Finding]:
    """Return the sites whose stores to global memory are mostly overwritten by the same thread before any read."""
    stores = (requests.op == Op.STORE) & plain_global(trace, requests) & in_source(trace, requests)
    groups = {number: group for group in overlapping_buffers(trace, ("global",)) for number in group}
    code = requests.site * len(trace.buffers) + requests.buffer
    for one in np.unique(code[stores]):
        site, buffer = divmod(int(one), len(trace.buffers))
        if len(groups[buffer]) == 1:
            lost = _overwritten(trace, site, buffer)
            if len(lost):
                chosen = np.flatnonzero(stores & (code == one))
                yield from _finding(trace, requests, costs, chosen, lost)


def _overwritten(trace: Trace, site: int, buffer: int) -> Ints:
    """Return the stores of a site that the same thread's next one there overwrites, with no access between.

    None where threads store to an element less than OFTEN times on average.
    """
    mine = np.flatnonzero((trace.site == site) & (trace.buffer == buffer))
    stored = np.zeros(trace.buffers[buffer].size, bool)
    stored[trace.index[mine]] = True
    if len(mine) < OFTEN * np.count_nonzero(stored):
        return np.empty(0, np.int64)
    rows = np.flatnonzero(trace.buffer == buffer)
    rows = rows[stored[trace.index[rows]]]
    rows = rows[np.argsort(trace.index[rows], kind="stable")]
    index, thread, here = trace.index[rows], trace.thread_of(rows), trace.site[rows] == site
    lost = here[:-1] & here[1:] & (index[:-1] == index[1:]) & (thread[:-1] == thread[1:])
    found: Ints = np.sort(rows[:-1][lost])
    return found if len(found) >= (1 - 1 / OFTEN) * len(mine) else np.empty(0, np.int64)


def _finding(
    trace: Trace, requests: Requests, costs: RequestCosts, chosen: Ints, lost: Ints
) -> Iterator[Finding]:  # fmt: skip
    """Yield the finding about a site of which some stores are lost."""
    all_stores, shown = int(requests.lanes[chosen].sum()), int(chosen[0])
    name, line = trace.buffers[int(requests.buffer[shown])].name, line_text(trace, int(requests.site[shown]))
    wasted = float(costs.sectors[chosen].sum()) * len(lost) / all_stores
    cause = (
        f"{len(lost):,} of {counted(all_stores, 'store')} to {name} on {line} are overwritten by the same thread in a "
        "loop, before anybody reads them"
    )
    yield waste_finding(
        trace, requests, chosen, shown, KIND, warning=wasted >= LARGE_SHARE * float(costs.sectors.sum()), cause=cause,
        remedy=REMEDY, count=len(lost), key=REMEDY,
    )  # fmt: skip

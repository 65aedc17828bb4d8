"""The cost of the requests of one site, its possible cost, and the text of findings about wasteful sites."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from ...analysis.kernel_structure import library_function
from ...analysis.overlap import RANGE
from ...analysis.requests import Requests
from ...model.array_types import AnyInts, Ints, Mask
from ...model.finding import Finding, first_sites_on_lines, line_text
from ...model.trace import Trace
from ..source.index_expressions import index_text

REPORTED_RATIO, WARNING_RATIO = 1.25, 2.0  # lowest ratio of cost to mended cost for a note; for a warning
LARGE_SHARE = 0.1  # of the launch's requests, sectors or wavefronts: the least waste of a warning
SAMPLED = 8  # requests of a site that are sampled for the pattern of their elements


class SiteCosts(Struct, frozen=True, eq=False):
    """Requests of one site and buffer, and their costs in sectors or wavefronts: an entry per request in each array."""

    requests: Ints  # their numbers in the trace's requests
    cost: Ints
    mended: Ints  # cost if the site were mended, at most the actual cost
    minimum: Ints  # lowest cost of the requested elements

    @property
    def ratio(self) -> float:
        """Total cost divided by the total mended cost."""
        return float(self.cost.sum() / max(1, self.mended.sum()))

    @property
    def waste(self) -> int:
        """Total cost above the mended cost."""
        return int((self.cost - self.mended).sum())

    @property
    def worst(self) -> int:
        """The first of the requests with the highest cost above the mended cost."""
        return int(self.requests[np.argmax(self.cost - self.mended)])

    def is_reported(self, all_cost: int) -> bool:
        """Return True if the waste is worth a finding; all_cost: the total cost of the launch's requests."""
        return self.ratio >= REPORTED_RATIO and (
            self.ratio >= WARNING_RATIO or self.waste >= LARGE_SHARE * all_cost
        )

    def deserves_warning(self, all_cost: int) -> bool:
        """Return True if the waste is worth a warning."""
        return self.ratio >= WARNING_RATIO and self.waste >= LARGE_SHARE * all_cost


def in_source(trace: Trace, requests: Requests) -> Mask:
    """Find the loads and stores that their line makes directly, not a library function called there.

    The caller of a library can't mend its accesses.
    """
    in_line: Mask = np.array([not library_function(trace, site) for site in trace.sites], bool)[requests.site]
    return in_line


def per_site(
    requests: Requests, wanted: Mask, cost: Ints, mended: Ints, minimum: Ints
) -> Iterator[SiteCosts]:
    """Yield the costs of the wanted requests of each site and buffer."""
    candidates = np.flatnonzero(wanted)
    keys = requests.site[candidates] * (int(requests.buffer.max(initial=0)) + 1) + requests.buffer[candidates]
    for key in np.unique(keys):
        chosen = candidates[keys == key]
        yield SiteCosts(chosen, cost[chosen], np.minimum(mended[chosen], cost[chosen]), minimum[chosen])


def rows_of(requests: Requests, request: int) -> AnyInts:
    """List the accesses of a request, by lane."""
    rows: AnyInts = requests.accesses.rows_of(slice(request, request + 1))
    return rows


def is_regular(trace: Trace, requests: Requests, site: SiteCosts) -> bool:
    """Check whether a sample of the site's fullest requests touches elements in one pattern.

    Such a pattern follows from thread numbers, not from data.
    """
    lanes = requests.lanes[site.requests]
    full = site.requests[lanes == lanes.max()]
    sample = full[:: -(-len(full) // SAMPLED)]
    index = [trace.index[rows_of(requests, request)].astype(np.int64) for request in sample.tolist()]
    return all(np.array_equal(pattern - pattern[0], index[0] - index[0][0]) for pattern in index)


def cost_text(trace: Trace, requests: Requests, site: SiteCosts, unit: str) -> str:
    """Describe the cost of a site's requests: 16 sectors for each load of a by a warp on line 12 ..."""
    request = site.worst
    verb = ("load", "store", "update", "update")[int(requests.op[request])]
    line = line_text(trace, int(requests.site[request]))
    access = f"{verb} of {_accessed_name(trace, requests, request)} by a warp on {line}"
    each, minimum = site.cost.mean(), site.minimum.mean()
    mean = "" if (site.cost == each).all() else " on average"
    return (
        f"{each:.3g} {unit}{mean} for each {access}, {site.cost.sum():,} in all, where {minimum:.3g} would do"
    )


def _accessed_name(trace: Trace, requests: Requests, request: int) -> str:
    """Name the array of a request, with the index if the line makes several such accesses: a, or a[i - 1]."""
    site, line = int(requests.site[request]), first_sites_on_lines(trace)[requests.site]
    name = trace.buffers[int(requests.buffer[request])].name
    alike = [values == values[request] for values in (requests.buffer, requests.op, line)]
    index = (
        index_text(trace, trace.sites[site])
        if (requests.site[np.logical_and.reduce(alike)] != site).any()
        else ""
    )
    return f"{name}[{index}]" if index else name


def waste_finding(
    trace: Trace, requests: Requests, chosen: Ints, shown: int, kind: str, *, warning: bool, cause: str, remedy: str,
    count: int, key: str,
) -> Finding:  # fmt: skip
    """Make a finding about requests, of which one is shown.

    key: equal for findings of the kind with one cause.
    """
    example = rows_of(requests, shown).tolist()
    sites = tuple(dict.fromkeys([int(requests.site[shown]), *np.unique(requests.site[chosen]).tolist()]))
    threads = tuple((int(trace.block[r]), int(trace.thread[r])) for r in example)
    return Finding(
        kind, "warning" if warning else "note", f"{cause}; {remedy}.", remedy, count, sites,
        _accesses_of(requests, chosen), tuple(example), threads, int(requests.moment[shown]),
        name=trace.buffers[int(requests.buffer[shown])].name, cause=key,
    )  # fmt: skip


def _accesses_of(requests: Requests, chosen: Ints) -> AnyInts:
    """List the accesses of the chosen requests, ascending, in the smallest dtype."""
    involved = np.zeros(len(requests), bool)
    involved[chosen] = True
    rows = np.empty(int(requests.lanes[chosen].sum()), requests.accesses.dtype)
    done = 0
    for low in range(0, len(requests.request), RANGE):
        matches = np.flatnonzero(involved[requests.request[low : low + RANGE]])
        rows[done : done + len(matches)] = low + matches
        done += len(matches)
    return rows

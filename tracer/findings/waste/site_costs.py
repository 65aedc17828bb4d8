"""What the requests of one site cost, beside what they could: the numbers and words of wasteful sites."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from ...analysis.kernel_structure import library_function
from ...analysis.overlap import RANGE
from ...analysis.requests import Requests
from ...model.array_types import AnyInts, Ints, Mask
from ...model.finding import Finding, line_text
from ...model.trace import Trace

REPORTED_RATIO, WARNING_RATIO = 1.25, 2.0  # times what it should cost: from here on it is a note; a warning
LARGE_SHARE = 0.1  # of the launch's requests, sectors or wavefronts: what a warning wastes at least
SAMPLED = 8  # requests of a site that are looked at for the pattern of their elements


class SiteCosts(Struct, frozen=True, eq=False):
    """Requests of one site and buffer, and what each costs in sectors or wavefronts: an entry a request in each."""

    requests: Ints  # their numbers in the trace's requests
    cost: Ints
    mended: Ints  # what it would cost if the site were mended, and never more than it does
    minimum: Ints  # for what it asks

    @property
    def ratio(self) -> float:
        """How many times what they should they cost together."""
        return float(self.cost.sum() / max(1, self.mended.sum()))

    @property
    def waste(self) -> int:
        """What they cost together above what they should."""
        return int((self.cost - self.mended).sum())

    @property
    def worst(self) -> int:
        """The first of the requests that cost most above what they should."""
        return int(self.requests[np.argmax(self.cost - self.mended)])

    def is_reported(self, all_cost: int) -> bool:
        """Return whether the waste is worth a finding, where the launch's requests cost so much together."""
        return self.ratio >= REPORTED_RATIO and (
            self.ratio >= WARNING_RATIO or self.waste >= LARGE_SHARE * all_cost
        )

    def deserves_warning(self, all_cost: int) -> bool:
        """Return whether the waste is worth a warning."""
        return self.ratio >= WARNING_RATIO and self.waste >= LARGE_SHARE * all_cost


def in_source(trace: Trace, requests: Requests) -> Mask:
    """Return which loads and stores their line itself makes, and not a function of a library that is called there.

    What a library does its caller can't mend.
    """
    mine: Mask = np.array([not library_function(trace, site) for site in trace.sites], bool)[requests.site]
    return mine


def per_site(
    requests: Requests, wanted: Mask, cost: Ints, mended: Ints, minimum: Ints
) -> Iterator[SiteCosts]:
    """Return the costs of the wanted requests of each site and buffer."""
    some = np.flatnonzero(wanted)
    code = requests.site[some] * (int(requests.buffer.max(initial=0)) + 1) + requests.buffer[some]
    for one in np.unique(code):
        mine = some[code == one]
        yield SiteCosts(mine, cost[mine], np.minimum(mended[mine], cost[mine]), minimum[mine])


def rows_of(requests: Requests, request: int) -> AnyInts:
    """Return the accesses of a request, by lane."""
    found: AnyInts = requests.accesses.of(slice(request, request + 1))
    return found


def is_regular(trace: Trace, requests: Requests, site: SiteCosts) -> bool:
    """Return whether some of the site's fullest requests touch elements in one pattern.

    They do where the pattern follows from the threads' numbers, and not where it follows from data.
    """
    lanes = requests.lanes[site.requests]
    full = site.requests[lanes == lanes.max()]
    some = full[:: -(-len(full) // SAMPLED)]
    index = [trace.index[rows_of(requests, request)].astype(np.int64) for request in some.tolist()]
    return all(np.array_equal(one - one[0], index[0] - index[0][0]) for one in index)


def carry_text(trace: Trace, requests: Requests, site: SiteCosts, unit: str) -> str:
    """Return what the requests of a site cost, in words: 16 sectors for each load of a by a warp on line 12 ..."""
    request = site.worst
    deed = ("load", "store", "update", "update")[int(requests.op[request])]
    name = trace.buffers[int(requests.buffer[request])].name
    what = f"{deed} of {name} by a warp on {line_text(trace, int(requests.site[request]))}"
    each, minimum = site.cost.mean(), site.minimum.mean()
    mean = "" if (site.cost == each).all() else " on average"
    return (
        f"{each:.3g} {unit}{mean} for each {what}, {site.cost.sum():,} in all, where {minimum:.3g} would do"
    )


def waste_finding(
    trace: Trace, requests: Requests, chosen: Ints, shown: int, kind: str, *, warning: bool, cause: str, remedy: str,
    count: int, key: str,
) -> Finding:  # fmt: skip
    """Return a finding about some requests, of which one is shown: a warning where it is about much.

    key: what findings of the kind have in common that have one cause.
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
    """Return the accesses of the chosen requests, ascending, in as few bits as they need."""
    involved = np.zeros(len(requests), bool)
    involved[chosen] = True
    rows = np.empty(int(requests.lanes[chosen].sum()), requests.accesses.dtype)
    done = 0
    for low in range(0, len(requests.request), RANGE):
        some = np.flatnonzero(involved[requests.request[low : low + RANGE]])
        rows[done : done + len(some)] = low + some
        done += len(some)
    return rows

"""Wasteful but right: sectors and wavefronts too many, idle lanes, elements loaded again and again.

After the CUDA C++ Best Practices Guide: "Coalesced Access to Global Memory", "Shared Memory and Memory Banks",
"Branching and Divergence", "Shared Memory in Matrix Multiplication", "Thread and Block Heuristics".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .coalescing import SECTOR
from .finding import Finding, counted, line_text
from .least import Least, least_of, plain_global
from .pieces import PART, Mask, dense, parts_of, places_of
from .requests import Requests
from .runs import AnyInts, Ints
from .trace import WARP, Op, Trace

FEW, MANY = 1.25, 2.0  # times the least: from here on a note, a warning
FULL = SECTOR // 8  # sectors of a full request for 4-byte elements: what a warning wastes at least
BUSY, LAZY = 0.75, 0.4  # share of busy lanes below which a line gets a note, a warning
SHARE = 0.1  # share of all requests from which on idle lanes are a warning
ROOM = "make each row of the array one element longer, or let neighbouring threads touch neighbouring words"
AGAIN = 4  # loads of an element by one block from which on they are told


@dataclass(frozen=True, eq=False)
class _Costs:
    """Requests of one site and buffer: what each costs, and the least that could carry it."""

    requests: Ints
    cost: Ints
    least: Ints

    @property
    def ratio(self) -> float:
        """How many times the least they cost together."""
        return float(self.cost.sum() / self.least.sum())

    @property
    def waste(self) -> int:
        """What they cost together above the least."""
        return int((self.cost - self.least).sum())

    @property
    def worst(self) -> int:
        """The first of the requests that cost most above the least."""
        return int(self.requests[np.argmax(self.cost - self.least)])


def waste_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return what is right but wasteful, as warnings and notes."""
    if not len(trace):
        return block_size(trace)
    least = least_of(trace, requests)
    return [
        *uncoalesced(trace, requests, least), *bank_conflicts(trace, requests, least),
        *idle_lanes(trace, requests), *reloaded(trace, requests, least), *block_size(trace),
    ]  # fmt: skip


def uncoalesced(trace: Trace, requests: Requests, least: Least) -> Iterator[Finding]:
    """Return the sites whose loads or stores touch more sectors than could hold the elements they ask for."""
    remedy = "let neighbouring threads touch neighbouring elements"
    wanted = plain_global(trace, requests)
    for site in _per_site(requests, wanted, least.sectors, least.least_sectors):
        if site.ratio >= FEW and site.waste >= FULL:
            much = site.ratio >= MANY and site.waste >= FULL * len(site.requests)
            message = (
                f"{_carry(trace, requests, site, 'sectors')}, since the lanes of a warp touch "
                f"{_distance(trace, requests, site.worst)}"
            )
            yield _about(trace, requests, site, "uncoalesced", much, int(site.cost.sum()), message, remedy)


def bank_conflicts(trace: Trace, requests: Requests, least: Least) -> Iterator[Finding]:
    """Return the sites whose lanes want different words of one bank."""
    wanted = least.least_wavefronts > 0
    for site in _per_site(requests, wanted, least.wavefronts, least.least_wavefronts):
        if site.ratio >= FEW:
            message = (
                f"{_carry(trace, requests, site, 'wavefronts')}, since lanes of a warp touch different words of one "
                "bank"
            )
            remedy = ROOM if requests.op[site.worst] <= Op.STORE else "give each warp a copy of its own"
            much = site.ratio >= MANY
            yield _about(trace, requests, site, "bank conflict", much, int(site.cost.sum()), message, remedy)


def idle_lanes(trace: Trace, requests: Requests) -> Iterator[Finding]:
    """Return the lines that many lanes sit out: divergence, or work for few threads."""
    there = np.minimum(WARP, trace.threads - requests.warp * WARP)
    places = [(site.file, site.line) for site in trace.sites]
    line = np.array([places.index(place) for place in places], np.int64)[requests.site]
    remedy = "let whole warps take the same branch, as by giving the work to threads with successive numbers"
    for number in np.flatnonzero(np.bincount(line)):
        mine = np.flatnonzero(line == number)
        costs = _Costs(mine, there[mine], requests.lanes[mine])
        lanes, busy = int(costs.cost.sum()), int(costs.least.sum())
        if busy < BUSY * lanes:
            message = (
                f"{lanes - busy:,} of {lanes:,} lanes sit out {line_text(trace, int(number))}, since the threads of a "
                "warp take different branches"
            )
            much = busy < LAZY * lanes and len(mine) >= SHARE * len(requests)
            yield _about(trace, requests, costs, "idle lanes", much, lanes - busy, message, remedy)


def reloaded(trace: Trace, requests: Requests, least: Least) -> Iterator[Finding]:
    """Return the global buffers of which one block loads the same elements with request after request."""
    loads = (requests.op == Op.LOAD) & plain_global(trace, requests)
    remedy = "load them once into shared memory, where all threads of the block find them"
    for number in np.unique(requests.buffer[loads]):
        chosen = np.flatnonzero(loads & (requests.buffer == number))
        times = least.elements[chosen].sum() / _needed(trace, int(number))
        if times >= AGAIN:
            line = line_text(trace, int(requests.site[chosen[0]]))
            message = (
                f"{times:.3g} times over, each block loads the elements of {trace.buffers[number].name} that it needs, "
                f"first on {line}; {remedy}."
            )
            shown = int(chosen[0])
            yield _finding(
                trace, requests, chosen, shown, "reloaded", "warning", message, remedy, round(times)
            )


def _needed(trace: Trace, buffer: int) -> int:
    """Return how many elements of a buffer each block loads, added up."""
    return sum(_different(trace, buffer, part) for part in parts_of(trace))


def _different(trace: Trace, buffer: int, part: slice) -> int:
    """Return how many elements of a buffer each block loads, added up over some rows (part) of whole blocks."""
    rows = part.start + np.flatnonzero((trace.buffer[part] == buffer) & (trace.op[part] == Op.LOAD))
    if not len(rows):
        return 0
    place = places_of(trace, trace.block[rows])
    key, size = dense((place - place.min()) * trace.buffers[buffer].size + trace.index[rows])
    seen = np.zeros(size, bool)
    seen[key] = True
    return int(np.count_nonzero(seen))


def block_size(trace: Trace) -> list[Finding]:
    """Return the finding that the last warp of each block is not full."""
    left = -trace.threads % WARP
    if not left:
        return []
    remedy = f"take {trace.threads + left} threads, a multiple of {WARP}"
    message = (
        f"{counted(left, 'lane')} of the last warp of each block {'has' if left == 1 else 'have'} no thread, since a "
        f"block has {counted(trace.threads, 'thread')}; {remedy}."
    )
    return [Finding("block size", "warning", message, remedy, left, (), np.empty(0, np.int64), (), (), 0)]


def _per_site(requests: Requests, wanted: Mask, cost: Ints, least: Ints) -> Iterator[_Costs]:
    """Return the wanted requests of each site and buffer."""
    some = np.flatnonzero(wanted)
    code = requests.site[some] * (int(requests.buffer.max(initial=0)) + 1) + requests.buffer[some]
    for one in np.unique(code):
        mine = some[code == one]
        yield _Costs(mine, cost[mine], least[mine])


def _distance(trace: Trace, requests: Requests, request: int) -> str:
    """Return how far apart lanes' elements are, in words."""
    rows = requests.order[requests.start[request] : requests.start[request + 1]]
    places = np.unique(trace.index[rows].astype(np.int64)) * trace.buffers[int(requests.buffer[request])].unit
    gaps = np.unique(np.diff(places))
    return f"elements {int(gaps[0]):,} bytes apart" if len(gaps) == 1 else "elements far from each other"


def _carry(trace: Trace, requests: Requests, site: _Costs, unit: str) -> str:
    """Return what the requests of a site cost, in words: 16 sectors carry each warp's load of a on line 12 ..."""
    request = site.worst
    deed = ("load", "store", "update", "update")[int(requests.op[request])]
    name = trace.buffers[int(requests.buffer[request])].name
    what = f"warp's {deed} of {name} on {line_text(trace, int(requests.site[request]))}"
    each, least = site.cost.mean(), site.least.mean()
    return f"{each:.3g} {unit} carry each {what}, {site.cost.sum():,} in all, where {least:.3g} would do"


def _about(
    trace: Trace, requests: Requests, site: _Costs, kind: str, much: bool, count: int, message: str, remedy: str
) -> Finding:  # fmt: skip
    """Return the finding about a site that costs too much."""
    severity, message = "warning" if much else "note", f"{message}; {remedy}."
    return _finding(trace, requests, site.requests, site.worst, kind, severity, message, remedy, count)


def _finding(
    trace: Trace, requests: Requests, chosen: Ints, shown: int, kind: str, severity: str, message: str, remedy: str,
    count: int,
) -> Finding:  # fmt: skip
    """Return a finding about some requests, of which one is shown."""
    example = requests.order[requests.start[shown] : requests.start[shown + 1]].tolist()
    rows = _rows_of(requests, chosen)
    sites = tuple(dict.fromkeys([int(requests.site[shown]), *np.unique(requests.site[chosen]).tolist()]))
    threads = tuple((int(trace.block[r]), int(trace.thread[r])) for r in example)
    return Finding(
        kind, severity, message, remedy, count, sites, rows, tuple(example), threads, int(requests.moment[shown])
    )  # fmt: skip


def _rows_of(requests: Requests, chosen: Ints) -> AnyInts:
    """Return the accesses of the chosen requests, ascending, in as few bits as `requests.order` has."""
    involved = np.zeros(len(requests), bool)
    involved[chosen] = True
    rows = np.empty(int(requests.lanes[chosen].sum()), requests.order.dtype)
    done = 0
    for low in range(0, len(requests.request), PART):
        some = np.flatnonzero(involved[requests.request[low : low + PART]])
        rows[done : done + len(some)] = low + some
        done += len(some)
    return rows

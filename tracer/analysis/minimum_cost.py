"""The minimum that a request could cost, and so how much of its cost is wasted.

The sectors that would hold the elements if they lay side by side, and the passes over the banks that so many
words need (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks").
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from msgspec import Struct

from ..model.array_types import Ints, Mask
from ..model.grouping import group_starts, offsets
from ..model.trace import WARP, Trace
from .request_cost import (
    BANKS,
    ITEMSIZE,
    MOST_PARTS,
    REQUESTS,
    RULE,
    SECTOR,
    SECTORS,
    WAVEFRONTS,
    WAVEFRONTS_BY_LANE,
    WORD,
    parts_of,
    rules_of,
)
from .requests import Requests

Size = TypeVar("Size", int, Ints)  # bytes

CHUNK = 1 << 13  # requests handled at once: few enough for their accesses to stay in a processor's cache


class RequestCosts(Struct, frozen=True, eq=False):
    """What each request costs, beside the minimum for what it asks: one entry a request in each.

    Sectors are those of global loads and stores, 0 for other requests: what atomics cost is the turns that lanes take
    at one address. A complex value is asked for in two requests, which each touch all the sectors: both are counted.
    Wavefronts are those of requests to shared memory, 0 for others.
    """

    elements: Ints  # distinct ones that are loaded or stored in global memory
    sectors: Ints
    minimum_sectors: Ints
    neighbours: Ints  # sectors if every lane of the warp touched the element beside its neighbour's
    wavefronts: Ints  # no fewer than the minimum, also where lanes read the same word
    minimum_wavefronts: Ints


def minimum_sectors(size: Size) -> Size:
    """Return how many sectors hold so many bytes that lie side by side, one at least."""
    found: Size = np.maximum(1, -(-size // SECTOR))
    return found


def minimum_wavefronts(lanes: Ints, itemsize: int) -> int:
    """Return how many passes over all banks one element for each of these lanes takes, side by side."""
    return int(_minimum_by_lane(np.zeros_like(lanes), lanes, np.array([itemsize]))[0])


def _minimum_by_lane(request: Ints, lane: Ints, size: Ints) -> Ints:
    """Return the same of some requests, from the request and the lane of each access, and bytes by request."""
    part = request * MOST_PARTS + parts_of(request, lane * size[request], lane, size)
    lanes = np.bincount(part, minlength=len(size) * MOST_PARTS).reshape(len(size), MOST_PARTS)
    found: Ints = _passes(lanes * size[:, None]).sum(axis=1)
    return found


def _passes(size: Ints) -> Ints:
    return -(-size // (BANKS * WORD))


def request_costs_of(trace: Trace, requests: Requests) -> RequestCosts:
    """Return the costs of each request of a trace beside the minimum."""
    rules = rules_of(trace.buffers)
    size, each = rules[:, ITEMSIZE][requests.buffer], rules[:, REQUESTS][requests.buffer]
    plain, shared, by_lane = (
        _has_rule(trace, requests, rule) for rule in (SECTORS, WAVEFRONTS, WAVEFRONTS_BY_LANE)
    )
    elements = _elements(trace, requests, plain)
    there = np.minimum(WARP, trace.threads - requests.warp * WARP)
    sectors, fewest, beside = (
        np.where(plain, each * sectors, 0)
        for sectors in (requests.sectors, minimum_sectors(elements * size), minimum_sectors(there * size))
    )
    passes = np.where(shared | by_lane, np.maximum(1, _passes(requests.lanes * size)), 0)
    fewer = np.flatnonzero(by_lane & (requests.lanes < WARP))  # those of whole warps take what their bytes do
    for low in range(0, len(fewer), CHUNK):
        some = fewer[low : low + CHUNK]
        lane = trace.thread[requests.accesses.of(some)].astype(np.int64) % WARP
        request = np.repeat(np.arange(len(some)), requests.lanes[some])
        passes[some] = _minimum_by_lane(request, lane, size[some])
    wavefronts = np.maximum(requests.wavefronts, passes)
    return RequestCosts(elements, sectors, fewest, beside, wavefronts, passes)


def plain_global(trace: Trace, requests: Requests) -> Mask:
    """Return which requests load or store in global memory."""
    return _has_rule(trace, requests, SECTORS)


def _has_rule(trace: Trace, requests: Requests, rule: int) -> Mask:
    found: Mask = (rules_of(trace.buffers)[:, RULE:] == rule)[requests.buffer, requests.op]
    return found


def wasted_of(trace: Trace, requests: Requests) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of each request beyond the minimum for what it asks."""
    costs = request_costs_of(trace, requests)
    # Elements that cross a sector's border may share less than one could think: never below nothing.
    return np.maximum(costs.sectors - costs.minimum_sectors, 0), costs.wavefronts - costs.minimum_wavefronts


def _elements(trace: Trace, requests: Requests, wanted: Mask) -> Ints:
    """Return how many distinct elements each wanted request touches, 0 for the others."""
    elements = np.zeros(len(requests), np.int64)
    for low in range(0, len(requests), CHUNK):
        some = low + np.flatnonzero(wanted[low : low + CHUNK])
        if len(some):
            elements[some] = _distinct(trace, requests, some)
    return elements


def _distinct(trace: Trace, requests: Requests, some: Ints) -> Ints:
    """Return how many distinct elements each of some requests touches."""
    lanes = requests.lanes[some]
    start = offsets(lanes)[:-1]
    rows = requests.accesses.of(some)
    index, first = trace.index[rows], np.zeros(len(rows), bool)
    first[start] = True
    if ((index[1:] < index[:-1]) & ~first[1:]).any():
        span = int(index.max()) + 1
        index = np.sort(np.repeat(np.arange(len(some)) * span, lanes) + index)
    first[1:] |= index[1:] != index[:-1]
    distinct: Ints = np.add.reduceat(first, start, dtype=np.int64)
    return distinct


def once_each(trace: Trace, requests: Requests, wanted: Mask) -> Ints:
    """Return one access (row of the trace) for each element that each wanted request touches, by request."""
    rows = requests.accesses.of(np.flatnonzero(wanted))
    span = int(trace.index.max(initial=0)) + 1
    key = requests.request[rows].astype(np.int64) * span + trace.index[rows]
    order = np.argsort(key, kind="stable")
    return rows[order[group_starts(key[order])]]

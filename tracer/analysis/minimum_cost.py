"""The minimum cost of a request, and so the wasted part of its cost.

The minimum is the sectors that would hold the elements side by side, and the passes over the banks that so many
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
    """The cost of each request and its minimum: one entry per request in each array.

    Sectors are those of global loads and stores, 0 for other requests: atomics cost the turns that lanes take at one
    address. A complex value takes two requests, which both touch all the sectors: both are counted.
    Wavefronts are those of requests to shared memory, 0 for others.
    """

    elements: Ints  # distinct ones that are loaded or stored in global memory
    sectors: Ints
    minimum_sectors: Ints
    neighbours: Ints  # sectors if every lane of the warp touched the element next to its neighbour's
    wavefronts: Ints  # at least the minimum, also if lanes read the same word
    minimum_wavefronts: Ints


def minimum_sectors(size: Size) -> Size:
    """Compute the sectors that hold so many adjacent bytes, at least one."""
    sectors: Size = np.maximum(1, -(-size // SECTOR))
    return sectors


def minimum_wavefronts(lanes: Ints, itemsize: int) -> int:
    """Compute the passes over all banks for one element per lane, side by side."""
    return int(_minimum_by_lane(np.zeros_like(lanes), lanes, np.array([itemsize]))[0])


def _minimum_by_lane(request: Ints, lane: Ints, size: Ints) -> Ints:
    """Compute the same for several requests, from the request and lane of each access, and bytes by request."""
    part = request * MOST_PARTS + parts_of(request, lane * size[request], lane, size)
    lanes = np.bincount(part, minlength=len(size) * MOST_PARTS).reshape(len(size), MOST_PARTS)
    passes: Ints = _passes(lanes * size[:, None]).sum(axis=1)
    return passes


def _passes(size: Ints) -> Ints:
    return -(-size // (BANKS * WORD))


def request_costs_of(trace: Trace, requests: Requests) -> RequestCosts:
    """Compute the cost of each request of a trace and its minimum."""
    rules = rules_of(trace.buffers)
    size, each = rules[:, ITEMSIZE][requests.buffer], rules[:, REQUESTS][requests.buffer]
    plain, shared, by_lane = (
        _has_rule(trace, requests, rule) for rule in (SECTORS, WAVEFRONTS, WAVEFRONTS_BY_LANE)
    )
    elements = _elements(trace, requests, plain)
    warp_lanes = np.minimum(WARP, trace.threads - requests.warp * WARP)
    sectors, fewest, neighbours = (
        np.where(plain, each * sectors, 0)
        for sectors in (
            requests.sectors,
            minimum_sectors(elements * size),
            minimum_sectors(warp_lanes * size),
        )
    )
    passes = np.where(shared | by_lane, np.maximum(1, _passes(requests.lanes * size)), 0)
    fewer = np.flatnonzero(
        by_lane & (requests.lanes < WARP)
    )  # requests of complete warps cost what their bytes do
    for low in range(0, len(fewer), CHUNK):
        chosen = fewer[low : low + CHUNK]
        lane = trace.thread[requests.accesses.rows_of(chosen)].astype(np.int64) % WARP
        request = np.repeat(np.arange(len(chosen)), requests.lanes[chosen])
        passes[chosen] = _minimum_by_lane(request, lane, size[chosen])
    wavefronts = np.maximum(requests.wavefronts, passes)
    return RequestCosts(elements, sectors, fewest, neighbours, wavefronts, passes)


def plain_global(trace: Trace, requests: Requests) -> Mask:
    """Find the requests that load or store in global memory."""
    return _has_rule(trace, requests, SECTORS)


def _has_rule(trace: Trace, requests: Requests, rule: int) -> Mask:
    matches: Mask = (rules_of(trace.buffers)[:, RULE:] == rule)[requests.buffer, requests.op]
    return matches


def compute_waste(trace: Trace, requests: Requests) -> tuple[Ints, Ints]:
    """Compute (sectors, wavefronts) of each request beyond the minimum."""
    costs = request_costs_of(trace, requests)
    # Elements that cross a sector's border may share fewer sectors than their size suggests: clip at 0.
    return np.maximum(costs.sectors - costs.minimum_sectors, 0), costs.wavefronts - costs.minimum_wavefronts


def _elements(trace: Trace, requests: Requests, wanted: Mask) -> Ints:
    """Count the distinct elements that each wanted request touches, 0 for the others."""
    elements = np.zeros(len(requests), np.int64)
    for low in range(0, len(requests), CHUNK):
        chosen = low + np.flatnonzero(wanted[low : low + CHUNK])
        if len(chosen):
            elements[chosen] = _distinct(trace, requests, chosen)
    return elements


def _distinct(trace: Trace, requests: Requests, chosen: Ints) -> Ints:
    """Count the distinct elements that each chosen request touches."""
    lanes = requests.lanes[chosen]
    start = offsets(lanes)[:-1]
    rows = requests.accesses.rows_of(chosen)
    index, first = trace.index[rows], np.zeros(len(rows), bool)
    first[start] = True
    if ((index[1:] < index[:-1]) & ~first[1:]).any():
        span = int(index.max()) + 1
        index = np.sort(np.repeat(np.arange(len(chosen)) * span, lanes) + index)
    first[1:] |= index[1:] != index[:-1]
    distinct: Ints = np.add.reduceat(first, start, dtype=np.int64)
    return distinct


def one_access_per_element(trace: Trace, requests: Requests, wanted: Mask) -> Ints:
    """List one access (row of the trace) for each element that each wanted request touches, by request."""
    rows = requests.accesses.rows_of(np.flatnonzero(wanted))
    span = int(trace.index.max(initial=0)) + 1
    key = requests.request[rows].astype(np.int64) * span + trace.index[rows]
    order = np.argsort(key, kind="stable")
    return rows[order[group_starts(key[order])]]

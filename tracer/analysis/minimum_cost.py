"""What a request could cost at least, and so how much of its cost is wasted.

The sectors that would hold the elements if they lay side by side, and the passes over the banks that so many
words need (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.grouping import offsets, run_starts
from ..model.trace import WARP, Op, Trace
from .request_cost import BANKS, SECTOR, WORD
from .requests import Requests

CHUNK = 1 << 13  # requests handled at once: few enough for their accesses to stay in a processor's cache


@dataclass(frozen=True, eq=False)
class Least:
    """Per request the elements that it loads or stores in global memory, and what it and they cost.

    sectors, least_sectors: of global loads and stores, 0 for others: what atomics cost is the turns that lanes take
    at one address. A complex value is asked for in two requests, which each touch all the sectors: both are counted.
    neighbours: the sectors of the same warp if each of its lanes touched the element beside its neighbour's.
    wavefronts, least_wavefronts: of requests to shared memory.
    """

    elements: Ints
    sectors: Ints
    least_sectors: Ints
    neighbours: Ints
    wavefronts: Ints
    least_wavefronts: Ints


def least_of(trace: Trace, requests: Requests) -> Least:
    """Return the costs of each request beside the least that could carry it, which they never fall below."""
    buffer = requests.buffer
    size = np.array([b.itemsize for b in trace.buffers], np.int64)[buffer]
    parts = 1 + np.array([np.dtype(b.dtype).kind == "c" for b in trace.buffers], bool)[buffer]
    shared = np.array([b.space == "shared" for b in trace.buffers], bool)[buffer]
    plain = plain_global(trace, requests)
    elements = _elements(trace, requests, plain)
    sectors = np.where(plain, parts * np.maximum(1, -(-elements * size // SECTOR)), 0)
    there = np.minimum(WARP, trace.threads - requests.warp * WARP)
    neighbours = np.where(plain, parts * np.maximum(1, -(-there * size // SECTOR)), 0)
    passes = np.where(shared, np.maximum(1, -(-requests.lanes * size // (BANKS * WORD))), 0)
    return Least(
        elements, np.where(plain, parts * requests.sectors, 0), sectors, neighbours,
        np.where(shared, np.maximum(requests.wavefronts, passes), 0), passes,
    )  # fmt: skip


def plain_global(trace: Trace, requests: Requests) -> NDArray[np.bool_]:
    """Return which requests load or store in global memory."""
    found: NDArray[np.bool_] = np.array([b.space == "global" for b in trace.buffers], bool)[requests.buffer]
    return found & (requests.op <= Op.STORE)


def wasted_of(trace: Trace, requests: Requests) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of each request beyond the least that could carry it."""
    least = least_of(trace, requests)
    # Elements that cross a sector's border may share less than one could think: never below nothing.
    return np.maximum(least.sectors - least.least_sectors, 0), least.wavefronts - least.least_wavefronts


def _elements(trace: Trace, requests: Requests, wanted: NDArray[np.bool_]) -> Ints:
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
    rows = requests.order[np.repeat(requests.start[some] - start, lanes) + np.arange(lanes.sum())]
    index, first = trace.index[rows], np.zeros(len(rows), bool)
    first[start] = True
    if ((index[1:] < index[:-1]) & ~first[1:]).any():
        span = int(index.max()) + 1
        index = np.sort(np.repeat(np.arange(len(some)) * span, lanes) + index)
    first[1:] |= index[1:] != index[:-1]
    distinct: Ints = np.add.reduceat(first, start, dtype=np.int64)
    return distinct


def once_each(trace: Trace, requests: Requests, wanted: NDArray[np.bool_]) -> Ints:
    """Return one access (row of the trace) for each element that each wanted request touches, by request."""
    rows = requests.order[np.repeat(wanted, requests.lanes)]
    span = int(trace.index.max(initial=0)) + 1
    key = requests.request[rows].astype(np.int64) * span + trace.index[rows]
    order = np.argsort(key, kind="stable")
    return rows[order[run_starts(key[order])]]

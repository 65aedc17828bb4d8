"""What a request could cost at least, and so how much of its cost is wasted.

The sectors that would hold the elements if they lay side by side, and the passes over the banks that so many
words need (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .coalescing import BANKS, SECTOR, WORD
from .requests import Requests
from .runs import Ints, run_starts
from .trace import Op, Trace


def wasted_of(trace: Trace, requests: Requests) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of each request beyond the least that could carry it.

    Atomics waste no sectors: what they cost is the turns that lanes take at one address. A complex value in
    global memory is asked for in two requests that each cost the same; the waste of both is counted.
    """
    buffer = requests.buffer
    size = np.array([b.itemsize for b in trace.buffers], np.int64)[buffer]
    space = np.array([b.space for b in trace.buffers], "U8")[buffer]
    plain = (space == "global") & (requests.op <= Op.STORE)
    least = -(-elements_of(trace, requests, plain) * size // SECTOR)
    parts = 1 + np.array([np.dtype(b.dtype).kind == "c" for b in trace.buffers], bool)[buffer]
    sectors = np.where(plain, parts * np.maximum(requests.sectors - np.maximum(least, 1), 0), 0)
    passes = np.maximum(-(-requests.lanes * size // (BANKS * WORD)), 1)
    return sectors, np.where(space == "shared", np.maximum(requests.wavefronts - passes, 0), 0)


def elements_of(trace: Trace, requests: Requests, wanted: NDArray[np.bool_]) -> Ints:
    """Return how many distinct elements each wanted request touches, 0 for the others."""
    rows = once_each(trace, requests, wanted)
    return np.bincount(requests.request[rows], minlength=len(requests))


def once_each(trace: Trace, requests: Requests, wanted: NDArray[np.bool_]) -> Ints:
    """Return one access (row of the trace) for each element that each wanted request touches, by request."""
    rows = requests.order[np.repeat(wanted, requests.lanes)]
    span = int(trace.index.max(initial=0)) + 1
    key = requests.request[rows] * span + trace.index[rows]
    order = np.argsort(key, kind="stable")
    return rows[order[run_starts(key[order])]]

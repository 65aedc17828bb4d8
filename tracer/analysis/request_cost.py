"""What a request costs: sectors of global memory, wavefronts of shared memory.

The rules are those of the CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared
Memory and Memory Banks"; for atomics and for elements that are not 4 bytes wide they are what Nsight Compute
counted on an NVIDIA H200 (tests/data).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.grouping import run_starts
from ..model.trace import Op, Trace

SECTOR = 32
WORD = 4
BANKS = 32
CHUNK = 1024  # requests handled at once: few enough for their accesses to stay in a processor's cache


def costs_of(trace: Trace, order: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of each request, whose accesses are order[start[r]:start[r + 1]]."""
    sectors = np.zeros(len(start) - 1, np.int64)
    wavefronts = np.zeros_like(sectors)
    for low in range(0, len(sectors), CHUNK):
        bounds = start[low : low + CHUNK + 1]
        rows = order[bounds[0] : bounds[-1]]
        part = slice(low, low + CHUNK)
        sectors[part], wavefronts[part] = _costs(trace, rows, bounds - bounds[0])
    return sectors, wavefronts


def _costs(trace: Trace, rows: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of a chunk of requests, whose accesses are these rows."""
    head = rows[start[:-1]]
    buffer, atomic = trace.buffer[head], trace.op[head] >= Op.ATOMIC
    space = np.array([b.space for b in trace.buffers])[buffer]
    base, unit, size = (
        np.array([getattr(b, name) for b in trace.buffers], np.int64)[buffer]
        for name in ("address", "unit", "itemsize")
    )
    request = np.repeat(np.arange(len(head)), np.diff(start))
    first = base[request] + trace.index[rows].astype(np.int64) * unit[request]
    last = first + size[request] - 1
    sectors = np.zeros(len(head), np.int64)
    wavefronts = np.zeros_like(sectors)
    for wanted, rule, result in (
        ((space == "global") & ~atomic, _sectors, sectors),
        ((space == "global") & atomic, _atomic_sectors, sectors),
        (space == "shared", _wavefronts, wavefronts),
    ):
        if wanted.any():
            some = wanted[request]
            result[:] += rule(request[some], first[some], last[some], len(head))
    # A 16-byte request takes two passes even where all lanes read one element.
    wavefronts[(size == 4 * WORD) & (wavefronts == 1)] = 2
    return sectors, wavefronts


def _sectors(request: Ints, first: Ints, last: Ints, count: int) -> Ints:
    """Count the distinct sectors of each of `count` requests, from the first and last byte of each access."""
    number, _ = _distinct(request, first // SECTOR, last // SECTOR)
    return np.bincount(number, minlength=count)


def _atomic_sectors(request: Ints, first: Ints, _last: Ints, count: int) -> Ints:
    """Count a sector once for each access in it to its most contended address."""
    order = np.lexsort((first, request))
    request, first = request[order], first[order]
    same = run_starts(request, first)
    times = np.diff(same, append=len(first))
    request, sector = request[same], first[same] // SECTOR
    starts = run_starts(request, sector)
    most = np.maximum.reduceat(times, starts)
    return np.bincount(request[starts], most, minlength=count).astype(np.int64)


def _wavefronts(request: Ints, first: Ints, last: Ints, count: int) -> Ints:
    """Count the distinct words of the bank that has most of them, per request."""
    number, word = _distinct(request, first // WORD, last // WORD)
    per_bank = np.bincount(number * BANKS + word % BANKS, minlength=count * BANKS)
    most: Ints = per_bank.reshape(count, BANKS).max(axis=1)
    return most


def passes_of(index: Ints, itemsize: int) -> int:
    """Return the wavefronts of one request for these elements of an array that begins with a bank."""
    first = index * itemsize
    return int(_wavefronts(np.zeros_like(first), first, first + itemsize - 1, 1)[0])


def _distinct(request: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return each pair (request, piece) once, for the pieces first to last of each access."""
    base, extra = int(first.min()), int((last - first).max())
    span = int(last.max()) - base + 1
    key = request * span + first - base
    keys = [key] + [(key + i)[first + i <= last] for i in range(1, extra + 1)]
    pair = _sorted_once(np.concatenate(keys) if extra else key)
    return pair // span, pair % span + base


def _sorted_once(key: Ints) -> NDArray[np.int64]:
    if not (key[1:] >= key[:-1]).all():
        key = np.sort(key)
    return key[run_starts(key)]

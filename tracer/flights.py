"""Where a loaded element goes: to its place in shared memory, or into the result of its thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .runs import Ints, run_numbers, run_starts, stable_order
from .trace import Op, Trace

SPARSE = 16  # numbers of threads for each access, from which a table of them all would be too large


def destinations_of(trace: Trace) -> Ints:
    """Return per access the row of the store that its element goes to, -1 where there is none.

    Only loads have one: the thread's next store of the same value to shared memory in the same phase, or else
    the thread's last store to global memory in the launch.
    """
    shared = _is_in(trace, "shared") & (trace.op == Op.STORE)
    result = _homes(trace)
    if shared.any():
        near = _next_stores(trace, shared)
        result = np.where(near >= 0, near, result)
    result[trace.op != Op.LOAD] = -1
    return result


def _is_in(trace: Trace, space: str) -> NDArray[np.bool_]:
    """Return whether each access is to memory of this space."""
    result: NDArray[np.bool_] = np.array([b.space == space for b in trace.buffers], bool)[trace.buffer]
    return result


def _threads(trace: Trace) -> Ints:
    """Return a number for the thread of each access."""
    return trace.block.astype(np.int64) * trace.threads + trace.thread


def _homes(trace: Trace) -> Ints:
    """Return per access the row of its thread's last store to global memory, -1 where there is none."""
    stores = np.flatnonzero(_is_in(trace, "global") & (trace.op == Op.STORE))
    thread = _threads(trace)
    if int(thread.max(initial=0)) > SPARSE * len(thread):
        thread = _numbers(thread)
    home = np.full(int(thread.max(initial=0)) + 1, -1)
    home[thread[stores]] = stores  # of several stores of a thread NumPy keeps the last
    return home[thread]


def _next_stores(trace: Trace, store: NDArray[np.bool_]) -> Ints:
    """Return per access the next row in `store` of its thread, phase and value, -1 where there is none."""
    turn = _threads(trace) * (int(trace.phase.max()) + 1) + trace.phase
    rows = np.flatnonzero((store | (trace.op == Op.LOAD)) & np.isin(turn, turn[store]))
    key = _numbers(turn[rows])
    if trace.value is not None:
        key = _pair(key, _numbers(trace.value[rows]))
    order = stable_order(key)
    key, rows = key[order], rows[order]
    run = np.append(run_numbers(run_starts(key), len(key)), -1)
    places = np.where(store[rows], np.arange(len(rows)), len(rows))
    following = np.minimum.accumulate(places[::-1])[::-1]
    result = np.full(len(turn), -1)
    result[rows] = np.where(run[following] == run[:-1], np.append(rows, -1)[following], -1)
    return result


def _numbers(column: NDArray[Any]) -> Ints:
    """Number the different entries of a column; nan equals nan here."""
    return np.unique(column, return_inverse=True)[1]


def _pair(major: Ints, minor: Ints) -> Ints:
    """Return one number for each pair of numbers."""
    return major * (int(minor.max()) + 1) + minor

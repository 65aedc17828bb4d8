"""Where a loaded element goes: to its element of shared memory, or into the result of its thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.trace import Op, Trace


class LoadDestinations:
    """The stores that loaded elements go to.

    Only loads have one: the thread's next store of the same value to shared memory in the same phase, or else
    the thread's last store to global memory in the launch. Tables hold the stores alone, which are few.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._homes = _Homes(trace)
        self._next = _NextStores(trace)

    def of(self, rows: AnyInts) -> Ints:
        """Return the row of the store that the element of each of some accesses goes to, -1 where there is none."""
        result = np.full(len(rows), -1)
        loads = np.flatnonzero(self._trace.op[rows] == Op.LOAD)
        near = self._next.of(rows[loads])
        result[loads] = np.where(near >= 0, near, self._homes.of(rows[loads]))
        return result


class _Homes:
    """The last store to global memory of each thread that makes one."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        stores = _stores(trace, "global")
        self._thread, last = np.unique(trace.thread_in_grid(stores)[::-1], return_index=True)
        self._row = stores[::-1][last]

    def of(self, rows: AnyInts) -> Ints:
        """Return per access the row of its thread's last store, -1 where there is none."""
        return _looked_up(self._thread, self._row, self._trace.thread_in_grid(rows))


class _NextStores:
    """The stores to shared memory, sorted by what tells them apart: thread and phase, value, row."""

    def __init__(self, trace: Trace) -> None:
        self._trace, stores = trace, _stores(trace, "shared")
        self._phases = int(trace.phase.max(initial=0)) + 1
        self._turns, turn = np.unique(self._turns_of(stores), return_inverse=True)
        self._values = np.zeros(1, np.int64) if trace.value is None else np.unique(trace.value[stores])
        self._keys, key = np.unique(self._pairs(turn, stores), return_inverse=True)
        self._entries = np.sort(key * len(trace) + stores)

    def of(self, rows: AnyInts) -> Ints:
        """Return per access the next store of its thread, phase and value, -1 where there is none."""
        result = np.full(len(rows), -1)
        turn = _looked_up(self._turns, np.arange(len(self._turns)), self._turns_of(rows))
        some = np.flatnonzero(turn >= 0)
        if len(some):
            pair = self._pairs(turn[some], rows[some])
            key = _looked_up(self._keys, np.arange(len(self._keys)), pair)
            at = np.searchsorted(self._entries, key * len(self._trace) + rows[some])
            key_there, row = np.divmod(
                self._entries[np.minimum(at, len(self._entries) - 1)], len(self._trace)
            )
            result[some] = np.where((key >= 0) & (at < len(self._entries)) & (key_there == key), row, -1)
        return result

    def _turns_of(self, rows: AnyInts) -> Ints:
        turn: Ints = self._trace.thread_in_grid(rows) * self._phases + self._trace.phase[rows]
        return turn

    def _pairs(self, turn: Ints, rows: AnyInts) -> Ints:
        """Return a number for a turn and a value; values that no store has make one that no store has."""
        value = np.zeros(len(rows), np.int64)
        if self._trace.value is not None:
            value = _positions(self._values, self._trace.value[rows])
        pair: Ints = turn * (len(self._values) + 1) + value
        return pair


def _stores(trace: Trace, space: str) -> Ints:
    """Return the stores to memory of this space."""
    there = trace.buffer_columns.space == space
    if not trace.access_counts[there, Op.STORE].any():
        return np.empty(0, np.int64)
    stores = np.flatnonzero(trace.op == Op.STORE)
    found: Ints = stores[there[trace.buffer[stores]]]
    return found


def _positions(ascending: NDArray[Any], wanted: NDArray[Any]) -> Ints:
    """Return where ascending entries hold each wanted one, their number where none does; nan equals nan here."""
    if not len(ascending):
        return np.zeros(len(wanted), np.int64)
    position = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    there = ascending[position]
    same = (there == wanted) | ((there != there) & (wanted != wanted))
    return np.where(same, position, len(ascending))


def _looked_up(ascending: Ints, entries: Ints, wanted: Ints) -> Ints:
    """Return the entry of each wanted number, -1 for one that is not there."""
    position = _positions(ascending, wanted)
    found: Ints = np.append(entries, -1)[position]
    return found

"""Where a loaded element goes: to the first element that is written with its value by the same thread."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints, Mask, counts_of, index_dtype
from ..model.grouping import present
from ..model.trace import Op, Trace
from .source_flow import Carried, Share, flow_of

PART = 1 << 17  # accesses handled at once: few enough to stay in a processor's cache


class LoadDestinations:
    """The stores and atomics that loaded elements go to: of each load the first that its value really reaches, if any.

    Where the kernel's source is known, that is a store of the same thread into which the source carries the value
    (`tracer/dataflow`), next in the thread's own order. Where the source leaves open whether it does (by the way
    taken, or in max and min), the values decide: they must be equal. Accesses from elsewhere, and those of a kernel
    whose source is not known, go to the thread's next store of the same value in the same phase. Other loads go
    nowhere. Tables hold the stores alone, which are few.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._flow = _SourceFlow(trace)
        if not all(map(self._flow.is_known, range(len(trace.sites)))):
            _ = self._next

    @cached_property
    def _next(self) -> _NextStores:
        return _NextStores(self._trace)

    def of(self, rows: AnyInts) -> Ints:
        """Return the row of the store that the element of each of some accesses goes to, -1 where there is none."""
        result = np.full(len(rows), -1)
        loads = (self._trace.op[rows] == Op.LOAD).nonzero()[0]
        site = self._trace.site[rows[loads]]
        for number in present(site):
            mine = loads[site == number]
            known = self._flow.is_known(number)
            result[mine] = self._flow.of(number, rows[mine]) if known else self._next.of(rows[mine])
        return result


class _SourceFlow:
    """The stores that a load reaches by the source: for each of its sites, the next execution of these."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._flow = flow_of(next(iter(trace.sources.values()), ""), trace.kernel)
        self._file = next(iter(trace.sources), "")
        self._places = [(site.line, site.column) for site in trace.sites]
        self._stores = self._keys_of_stores()
        self._loads: dict[int, Ints] = {}
        self._ways: dict[int, list[tuple[Carried, Ints]]] = {}  # by site of loads, as `_ways_of` returns them

    def _keys_of_stores(self) -> dict[int, Ints]:
        """Return the keys of the stores that each site makes, ascending."""
        rows = _stores_in(self._trace)
        site = self._trace.site[rows]
        found = np.flatnonzero(counts_of(site)).tolist()
        return {number: self._keys(rows[site == number]) for number in found}

    def is_known(self, site: int) -> bool:
        """Whether the source says where the loads of a site go."""
        return self._flow is not None and self._trace.sites[site].file == self._file

    def of(self, site: int, rows: AnyInts) -> Ints:
        """Return the store that each of some loads of one site goes to, -1 for none."""
        first, most = self._first(rows), len(self._trace)
        best = np.full(len(rows), most)
        for carried, stored in self._ways_of(site):
            np.minimum(best, self._reached(site, carried, rows, first, stored), out=best)
        best[best == most] = -1
        return best

    def _ways_of(self, site: int) -> list[tuple[Carried, Ints]]:
        """Return how the loads of a site reach each store that they may reach, and the keys of these stores."""
        if site not in self._ways:
            flow = self._flow or {}
            found = (
                (store, flow.get(self._places[store], {}).get(self._places[site])) for store in self._stores
            )
            self._ways[site] = [
                (carried, self._stores[store])
                for store, carried in found
                if carried and max(carried) > Share.NONE and self.is_known(store)
            ]
        return self._ways[site]

    def _reached(self, site: int, carried: Carried, rows: AnyInts, first: Ints, stored: Ints) -> Ints:
        """Return the next store of each load's thread if it is of the load's value, else the number of rows.

        first: as `_first` returns it.
        """
        trace, key = self._trace, first + rows
        following = _next(stored, key)
        row = (
            following - first
        )  # of the thread's own stores; beyond the trace where the next is another thread's
        found = (following >= 0) & (row < len(trace))
        if carried != (Share.ALL, Share.ALL):
            found &= self._is_carried(site, carried, rows, key, following, np.where(found, row, 0))
        return np.where(found, row, len(trace))

    def _is_carried(
        self, site: int, carried: Carried, rows: AnyInts, key: Ints, following: Ints, row: Ints
    ) -> Mask:
        """Return which loads' values their next store (a key and a row each) is of."""
        trace, share = self._trace, np.full(len(rows), carried.newest)
        if carried.older != carried.newest:
            again = _next(self._loads_of(site), key)
            share[(again >= 0) & (again < following)] = carried.older
        surely: Mask = share == Share.ALL
        if trace.value is not None:
            surely |= (share == Share.SOME) & _equal(trace.value[rows], trace.value[row])
        return surely

    def _loads_of(self, site: int) -> Ints:
        if site not in self._loads:
            mine = np.flatnonzero(self._trace.site == site)
            self._loads[site] = self._keys(mine[self._trace.op[mine] == Op.LOAD])
        return self._loads[site]

    def _keys(self, rows: AnyInts) -> Ints:
        """Return a number for each access that sorts by thread, then row; ascending."""
        keys = np.empty(len(rows), np.int64)
        for low in range(0, len(rows), PART):
            some = rows[low : low + PART]
            np.add(self._first(some), some, out=keys[low : low + PART])
        keys.sort(kind="stable")  # threads ran one after the other: long runs are in order
        return keys

    def _first(self, rows: AnyInts) -> Ints:
        """Return the key that the first row of the trace would have, were it of the thread of each access."""
        first: Ints = self._trace.thread_of(rows) * len(self._trace)
        return first


def _stores_in(trace: Trace) -> AnyInts:
    """Return the rows that are no loads, ascending."""
    lows = range(0, len(trace), PART)
    counts = [int(np.count_nonzero(trace.op[low : low + PART] != Op.LOAD)) for low in lows]
    rows, done = np.empty(sum(counts), index_dtype(len(trace))), 0
    for low, count in zip(lows, counts, strict=True):
        rows[done : done + count] = np.flatnonzero(trace.op[low : low + PART] != Op.LOAD) + low
        done += count
    return rows


def _next(ascending: Ints, wanted: Ints) -> Ints:
    """Return the next larger entry of each wanted number, -1 where there is none."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    position = ascending.searchsorted(wanted, side="right")
    found = ascending[np.minimum(position, len(ascending) - 1)]
    found[position == len(ascending)] = -1
    return found


def _equal(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are the same; nan equals nan here."""
    same: NDArray[np.bool_] = (one == other) | ((one != one) & (other != other))
    return same


class _NextStores:
    """The stores, sorted by what tells them apart: thread and phase, value, row."""

    def __init__(self, trace: Trace) -> None:
        self._trace, stores = trace, np.flatnonzero(trace.op == Op.STORE)
        self._phases = int(trace.phase.max(initial=0)) + 1
        self._turns, turn = np.unique(self._turns_of(stores), return_inverse=True)
        self._values = np.zeros(1, np.int64) if trace.value is None else np.unique(trace.value[stores])
        self._keys, key = np.unique(self._pairs(turn, stores), return_inverse=True)
        self._entries = np.sort(key * len(trace) + stores)

    def of(self, rows: AnyInts) -> Ints:
        """Return per access the next store of its thread, phase and value, -1 where there is none."""
        result = np.full(len(rows), -1)
        turn = _number_of(self._turns, self._turns_of(rows))
        some = np.flatnonzero(turn >= 0)
        if len(some):
            pair = self._pairs(turn[some], rows[some])
            key = _number_of(self._keys, pair)
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


def _positions(ascending: NDArray[Any], wanted: NDArray[Any]) -> Ints:
    """Return where ascending entries hold each wanted one, their number where none does; nan equals nan here."""
    if not len(ascending):
        return np.zeros(len(wanted), np.int64)
    position = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    there = ascending[position]
    same = (there == wanted) | ((there != there) & (wanted != wanted))
    return np.where(same, position, len(ascending))


def _number_of(ascending: Ints, wanted: Ints) -> Ints:
    """Return the place of each wanted number, -1 for one that is not there."""
    position = _positions(ascending, wanted)
    return np.where(position < len(ascending), position, -1)

"""Destinations of loaded elements: the first element that the same thread writes with the loaded value."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints, Mask, counts_of, index_dtype
from ..model.grouping import distinct_numbers
from ..model.trace import Op, Trace
from .source_flow import Carried, Share, flow_of

PART = 1 << 17  # accesses processed at once: few enough to stay in a processor's cache


class LoadDestinations:
    """The stores and atomics that loaded elements go to: for each load the first that its value reaches, if any.

    If the kernel's source is known, that is a store of the same thread to which the source carries the value
    (`tracer/dataflow`), next in the thread's order. If the source leaves it open (by the path taken, or in max and
    min), the values decide: they must be equal. Accesses from other files, and those of a kernel whose source is not
    known, go to the thread's next store of the same value in the same phase. Other loads go nowhere. Tables hold only
    the stores, which are few.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._flow = _SourceFlow(trace)
        if not all(map(self._flow.is_in_source, range(len(trace.sites)))):
            _ = self._next

    @cached_property
    def _next(self) -> _NextStores:
        return _NextStores(self._trace)

    def stores_of(self, rows: AnyInts) -> Ints:
        """Find the row of the store that the element of each access goes to, -1 if there is none."""
        result = np.full(len(rows), -1)
        loads = (self._trace.op[rows] == Op.LOAD).nonzero()[0]
        site = self._trace.site[rows[loads]]
        for number in distinct_numbers(site):
            chosen = loads[site == number]
            is_in_source = self._flow.is_in_source(number)
            result[chosen] = (
                self._flow.stores_reached(number, rows[chosen])
                if is_in_source
                else self._next.stores_after(rows[chosen])
            )
        return result


class _SourceFlow:
    """The stores that a load reaches according to the source: for each of their sites, the next execution."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._flow = flow_of(next(iter(trace.sources.values()), ""), trace.kernel)
        self._file = next(iter(trace.sources), "")
        self._places = [(site.line, site.column) for site in trace.sites]
        self._stores = self._keys_of_stores()
        self._loads: dict[int, Ints] = {}
        self._targets: dict[
            int, list[tuple[Carried, Ints]]
        ] = {}  # by site of loads, as `_targets_of` returns them

    def _keys_of_stores(self) -> dict[int, Ints]:
        """Return the keys of each site's stores, ascending."""
        rows = _stores_in(self._trace)
        site = self._trace.site[rows]
        sites = np.flatnonzero(counts_of(site)).tolist()
        return {number: self._keys(rows[site == number]) for number in sites}

    def is_in_source(self, site: int) -> bool:
        """Return True if the source determines the destinations of a site's loads."""
        return self._flow is not None and self._trace.sites[site].file == self._file

    def stores_reached(self, site: int, rows: AnyInts) -> Ints:
        """Find the store that each load of one site goes to, -1 for none."""
        first, most = self._first(rows), len(self._trace)
        best = np.full(len(rows), most)
        for carried, stored in self._targets_of(site):
            np.minimum(best, self._reached_rows(site, carried, rows, first, stored), out=best)
        best[best == most] = -1
        return best

    def _targets_of(self, site: int) -> list[tuple[Carried, Ints]]:
        """List the stores that a site's loads may reach: the carried share of each, and its keys."""
        if site not in self._targets:
            flow = self._flow or {}
            candidates = (
                (store, flow.get(self._places[store], {}).get(self._places[site])) for store in self._stores
            )
            self._targets[site] = [
                (carried, self._stores[store])
                for store, carried in candidates
                if carried and max(carried) > Share.NONE and self.is_in_source(store)
            ]
        return self._targets[site]

    def _reached_rows(self, site: int, carried: Carried, rows: AnyInts, first: Ints, stored: Ints) -> Ints:
        """Find the next store of each load's thread if it stores the load's value, else return the number of rows.

        first: as `_first` returns it.
        """
        trace, key = self._trace, first + rows
        following = _next(stored, key)
        row = following - first  # beyond the trace if the next store is another thread's
        is_reached = (following >= 0) & (row < len(trace))
        if carried != (Share.ALL, Share.ALL):
            is_reached &= self._is_carried(site, carried, rows, key, following, np.where(is_reached, row, 0))
        return np.where(is_reached, row, len(trace))

    def _is_carried(
        self, site: int, carried: Carried, rows: AnyInts, key: Ints, following: Ints, row: Ints
    ) -> Mask:
        """Find the loads whose value their next store (a key and a row each) contains."""
        trace, share = self._trace, np.full(len(rows), carried.newest)
        if carried.older != carried.newest:
            again = _next(self._loads_of(site), key)
            share[(again >= 0) & (again < following)] = carried.older
        is_certain: Mask = share == Share.ALL
        if trace.value is not None:
            is_certain |= (share == Share.SOME) & _equal(trace.value[rows], trace.value[row])
        return is_certain

    def _loads_of(self, site: int) -> Ints:
        if site not in self._loads:
            rows = np.flatnonzero(self._trace.site == site)
            self._loads[site] = self._keys(rows[self._trace.op[rows] == Op.LOAD])
        return self._loads[site]

    def _keys(self, rows: AnyInts) -> Ints:
        """Return a number for each access that sorts by thread, then row; ascending."""
        keys = np.empty(len(rows), np.int64)
        for low in range(0, len(rows), PART):
            part = rows[low : low + PART]
            np.add(self._first(part), part, out=keys[low : low + PART])
        keys.sort(kind="stable")  # fast: long runs are in order, since threads ran one after the other
        return keys

    def _first(self, rows: AnyInts) -> Ints:
        """Return the key of the trace's first row if the thread of each access had made it."""
        first: Ints = self._trace.thread_of(rows) * len(self._trace)
        return first


def _stores_in(trace: Trace) -> AnyInts:
    """List the rows that are not loads, ascending."""
    lows = range(0, len(trace), PART)
    counts = [int(np.count_nonzero(trace.op[low : low + PART] != Op.LOAD)) for low in lows]
    rows, filled = np.empty(sum(counts), index_dtype(len(trace))), 0
    for low, count in zip(lows, counts, strict=True):
        rows[filled : filled + count] = np.flatnonzero(trace.op[low : low + PART] != Op.LOAD) + low
        filled += count
    return rows


def _next(ascending: Ints, wanted: Ints) -> Ints:
    """Find the next larger entry for each wanted number, -1 if there is none."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    position = ascending.searchsorted(wanted, side="right")
    entries = ascending[np.minimum(position, len(ascending) - 1)]
    entries[position == len(ascending)] = -1
    return entries


def _equal(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare values; nan equals nan here."""
    same: NDArray[np.bool_] = (left == right) | ((left != left) & (right != right))
    return same


class _NextStores:
    """The stores, sorted by thread and phase, then value, then row."""

    def __init__(self, trace: Trace) -> None:
        self._trace, stores = trace, np.flatnonzero(trace.op == Op.STORE)
        self._phases = int(trace.phase.max(initial=0)) + 1
        self._turns, turn = np.unique(self._turn_numbers(stores), return_inverse=True)
        self._values = np.zeros(1, np.int64) if trace.value is None else np.unique(trace.value[stores])
        self._keys, key = np.unique(self._pairs(turn, stores), return_inverse=True)
        self._entries = np.sort(key * len(trace) + stores)

    def stores_after(self, rows: AnyInts) -> Ints:
        """Find per access the next store of its thread, phase and value, -1 if there is none."""
        result = np.full(len(rows), -1)
        turn = _number_of(self._turns, self._turn_numbers(rows))
        chosen = np.flatnonzero(turn >= 0)
        if len(chosen):
            pair = self._pairs(turn[chosen], rows[chosen])
            key = _number_of(self._keys, pair)
            position = np.searchsorted(self._entries, key * len(self._trace) + rows[chosen])
            key_there, row = np.divmod(
                self._entries[np.minimum(position, len(self._entries) - 1)], len(self._trace)
            )
            result[chosen] = np.where(
                (key >= 0) & (position < len(self._entries)) & (key_there == key), row, -1
            )
        return result

    def _turn_numbers(self, rows: AnyInts) -> Ints:
        turn: Ints = self._trace.thread_in_grid(rows) * self._phases + self._trace.phase[rows]
        return turn

    def _pairs(self, turn: Ints, rows: AnyInts) -> Ints:
        """Number the pairs of a turn and a value; a value that no store has gives a pair that no store has."""
        value = np.zeros(len(rows), np.int64)
        if self._trace.value is not None:
            value = _positions(self._values, self._trace.value[rows])
        pair: Ints = turn * (len(self._values) + 1) + value
        return pair


def _positions(ascending: NDArray[Any], wanted: NDArray[Any]) -> Ints:
    """Find the position of each wanted entry in an ascending array, its length if absent; nan equals nan here."""
    if not len(ascending):
        return np.zeros(len(wanted), np.int64)
    position = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    entries = ascending[position]
    same = (entries == wanted) | ((entries != entries) & (wanted != wanted))
    return np.where(same, position, len(ascending))


def _number_of(ascending: Ints, wanted: Ints) -> Ints:
    """Find the position of each wanted number, -1 if absent."""
    position = _positions(ascending, wanted)
    return np.where(position < len(ascending), position, -1)

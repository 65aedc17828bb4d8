"""Races with stores that change nothing: every store repeats the old value, or all store the same in the end.

Nothing orders such accesses, and still every order gives the same result. In Floyd and Warshall's algorithm each thread
stores the smaller of two paths, and those that others read meanwhile stay as they were. In a breadth-first search
every thread that finds a mark unset sets it, to the same value. What holds for the values of this launch need not
hold for others, so the excuse of a race is reported with it. NaN equals nothing, and poison stands for
whatever memory happens to hold: neither shows that a value stayed what it was.

A load also does no harm if an atomic of the same thread compares the element again: the compare-and-swap of the loop
in "Atomic Functions" of the CUDA C++ Programming Guide, and a minimum or maximum that an `if` can spare.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs, has_grid_barriers
from ..analysis.kernel_structure import called_name, decides_on
from ..analysis.overlap import dense_keys
from ..model.array_types import Ints, Mask
from ..model.grouping import stable_order
from ..model.trace import Op, Site, Trace, poison
from ..races.conflicting_accesses import Race, ValuesByKey, differ
from .source.index_values import compared_with

SWAP = "swap"
# Parts of the names of atomics that compare: cas, compare_and_swap, atomicCAS_block, atomicMin, nanmax.
COMPARISON = re.compile(r"cas(?![a-z])|compare_|min|max")


def excuse_harmless(trace: Trace, race: Race) -> Race:
    """Mark a race as harmless where no order of its accesses would have given other values."""
    if not race.harmful:
        return race
    if excuse := _compared_again(trace, race):
        return replace(race, harmful=False, excuse=excuse)
    if trace.is_part or trace.value is None or not _is_of_loads_and_stores(trace, race):
        return race
    rows, key, size = _accesses(trace, race)
    store, value = trace.op[rows] == Op.STORE, trace.value[rows]
    comparable = np.ones(size, bool)
    comparable[key[_is_indistinct(trace, race.buffer, value)]] = False
    if (comparable & _stored_alike(trace, rows, key, size, store)).all():
        several = len(np.unique(value)) > 1
        return replace(race, harmful=False, excuse="own copy" if several else "own copy here")
    last = _stored_last(trace, rows, key, size, store)
    if last is not None and not _is_indistinct(trace, race.buffer, last).any():
        several = len(np.unique(last)) > 1
        return replace(race, harmful=False, excuse="stored last" if several else "stored last here")
    if store.all() or trace.buffers[race.buffer].space != "global":
        return race
    unchanged = comparable & _unchanged(rows, key, size, store, value)
    if unchanged.all():
        proven = _changes_others(trace, race)
        return replace(race, harmful=False, excuse="unchanged" if proven else "unchanged here")
    if race.scope == "grid" and has_grid_barriers(trace):
        return race
    if (
        _checks_first(trace, race)
        and (unchanged | (comparable & _set_once(trace, rows, key, size, store))).all()
    ):
        return replace(race, harmful=_counts_setters(trace, race), excuse="set once")
    return race


def _compared_again(trace: Trace, race: Race) -> str:
    """Return the excuse of a race between loads and atomics that compare the element again, "" if it has none.

    Every load by a compare-and-swap, or some loads of each line by a minimum or maximum, always the same of the two.
    """
    raced = np.unique(trace.index[race.rows[trace.buffer[race.rows] == race.buffer]])
    rows = np.flatnonzero(trace.buffer == race.buffer)
    rows = rows[np.isin(trace.index[rows], raced)]
    atomic = trace.op[rows] >= Op.ATOMIC
    if not (atomic | (trace.op[rows] == Op.LOAD)).all() or atomic.all():
        return ""
    kinds = {_comparison(trace, trace.sites[site]) for site in np.unique(trace.site[rows[atomic]]).tolist()}
    if len(kinds) != 1 or not (kind := kinds.pop()):
        return ""
    thread_key = trace.index[rows].astype(np.int64) * (trace.threads * len(trace.blocks)) + trace.thread_of(
        rows
    )
    order = stable_order(thread_key)
    is_followed = np.zeros(len(rows), bool)
    is_followed[order[:-1]] = (thread_key[order[:-1]] == thread_key[order[1:]]) & atomic[order[1:]]
    racing = ~atomic & np.isin(rows, race.rows)
    if kind == SWAP:
        return "swapped" if is_followed[racing].all() else ""
    sites = trace.site[rows]
    return "compared again" if np.isin(sites[racing], sites[~atomic & is_followed]).all() else ""


def _comparison(trace: Trace, site: Site) -> str:
    """Return the comparison of the atomic at a site: swap, min or max; "" if it compares nothing."""
    match = COMPARISON.search(called_name(trace, site).lower())
    return "" if match is None else SWAP if match[0] not in ("min", "max") else match[0]


def _is_of_loads_and_stores(trace: Trace, race: Race) -> bool:
    """Check that a race is between stores, or loads and stores, of one buffer."""
    rows = race.rows
    ops = set(np.unique(trace.op[rows]).tolist())
    one_buffer = bool((trace.buffer[rows] == race.buffer).all())
    return one_buffer and Op.STORE in ops and ops <= {Op.LOAD, Op.STORE}


def _is_indistinct(trace: Trace, buffer: int, value: NDArray[Any]) -> Mask:
    """Find the values of a buffer that are NaN or poison; a byte or two may just hold the bits of poison."""
    dtype = np.dtype(trace.buffers[buffer].dtype)
    if dtype.kind in "fc":
        return np.asarray(np.isnan(value))
    if dtype.kind not in "iu" or dtype.itemsize <= 2:
        return np.zeros(len(value), bool)
    return np.asarray(value == poison(dtype))


def _accesses(trace: Trace, race: Race) -> tuple[Ints, Ints, int]:
    """Find all accesses to the elements of a race, and for each a key below a size: the element and a phase.

    The phase is that of the block if only one block races, else that between two barriers of the grid.
    """
    raced = np.zeros(trace.buffers[race.buffer].size, bool)
    raced[trace.index[race.rows]] = True
    rows = np.flatnonzero(trace.buffer == race.buffer)
    rows = rows[raced[trace.index[rows]]]
    position, phase = trace.block_positions(trace.block[rows]), trace.phase[rows].astype(np.int64)
    if race.scope == "grid":
        part: Ints = grid_epochs(trace)[position, phase].astype(np.int64)
    else:
        part = position * (int(trace.phase.max()) + 1) + phase
    key, size = dense_keys(part * len(raced) + trace.index[rows])
    raced_keys = np.zeros(size, bool)
    raced_keys[key[np.isin(rows, race.rows)]] = True
    return rows[raced_keys[key]], *dense_keys(key[raced_keys[key]])


def _stored_alike(trace: Trace, rows: Ints, key: Ints, size: int, store: Mask) -> Mask:
    """Test per key that all stores are of one value, and each thread that loads it stored it there before."""
    assert trace.value is not None
    value = trace.value[rows]
    good, set_to = np.ones(size, bool), np.zeros(size, value.dtype)
    set_to[key[store]] = value[store]
    good[key[differ(value, set_to[key])]] = False
    thread_key, count = dense_keys(key * (trace.threads * len(trace.blocks)) + trace.thread_of(rows))
    first = np.full(count, len(rows))
    np.minimum.at(first, thread_key[store], np.flatnonzero(store))
    good[key[~store & (first[thread_key] > np.arange(len(rows)))]] = False
    return good


def _stored_last(trace: Trace, rows: Ints, key: Ints, size: int, store: Mask) -> NDArray[Any] | None:
    """Return the value per key that every thread stores last, and that every load gets; None if a key has none.

    It is the content in the end, whatever the order. A load gets it if its own thread has stored it there before, and
    no other thread stores another value.
    """
    assert trace.value is not None
    if not np.isin(trace.op[rows], (Op.LOAD, Op.STORE)).all():
        return None
    value, row = trace.value[rows], np.arange(len(rows))
    thread_key, count = dense_keys(key * (trace.threads * len(trace.blocks)) + trace.thread_of(rows))
    final = np.zeros(size, value.dtype)
    final[key[store]] = value[store]
    other = store & differ(value, final[key])
    last, last_other = np.full(count, -1), np.full(count, -1)
    np.maximum.at(last, thread_key[store], row[store])
    np.maximum.at(last_other, thread_key[other], row[other])
    if (last_other[thread_key[other]] == last[thread_key[other]]).any():
        return None
    settled = np.full(count, len(rows))  # the first store of the value after all others of the thread
    kept = store & ~other & (row > last_other[thread_key])
    np.minimum.at(settled, thread_key[kept], row[kept])
    key_of = np.zeros(count, np.int64)
    key_of[thread_key] = key
    unsettled = np.bincount(key_of[last_other >= 0], minlength=size)  # threads that store another value
    of_others = unsettled[key] - (last_other[thread_key] >= 0)
    return final if (store | ((settled[thread_key] < row) & (of_others == 0))).all() else None


def _unchanged(rows: Ints, key: Ints, size: int, store: Mask, value: NDArray[Any]) -> Mask:
    """Test per key that a load comes first, and all loads and stores are of the value that it got."""
    first = np.full(size, len(rows))
    np.minimum.at(first, key, np.arange(len(rows)))
    used = first < len(rows)
    same, loaded = np.ones(size, bool), np.ones(size, bool)
    loaded[used] = ~store[first[used]]
    same[key[differ(value, value[first[key]])]] = False
    return same & loaded


def _checks_first(trace: Trace, race: Race) -> bool:
    """Check whether a race is between the condition of an `if` and a store under it."""
    condition, store = _load_and_store(trace, race)
    return decides_on(trace, condition, store)


def _counts_setters(trace: Trace, race: Race) -> bool:
    """Check whether an atomic is under the same `if` as the store: it counts each thread that finds the mark unset."""
    condition, _ = _load_and_store(trace, race)
    atomics = np.unique(trace.site[trace.op == Op.ATOMIC]).tolist()
    return any(decides_on(trace, condition, trace.sites[site]) for site in atomics)


def _load_and_store(trace: Trace, race: Race) -> tuple[Site, Site]:
    load, store = sorted((race.first, race.second), key=lambda row: int(trace.op[row]))
    return trace.sites[int(trace.site[load])], trace.sites[int(trace.site[store])]


def _set_once(trace: Trace, rows: Ints, key: Ints, size: int, store: Mask) -> Mask:
    """Test per key that all stores are of one value, and that no load leads to another effect.

    A thread that loads another value stores that too, or compares it to the same effect.
    """
    assert trace.value is not None
    value, thread = trace.value[rows], trace.thread_of(rows)
    stored, set_to = ValuesByKey(key[store], size, value[store]), np.zeros(size, value.dtype)
    set_to[key[store]] = value[store]
    good = np.ones(size, bool)
    good[key[store][stored.others(key[store], value[store])]] = False
    other = ~store & differ(value, set_to[key])
    thread_key = key * (int(thread.max(initial=0)) + 1) + thread
    sets = other & np.isin(thread_key, thread_key[store])
    # Threads that load the set value would have set it too, had they loaded another value.
    would = ~other & np.isin(trace.site[rows], np.unique(trace.site[rows[sets]]))
    unclear = np.flatnonzero(~store & ~sets & ~would)
    for site in np.unique(trace.site[rows[unclear]]):
        chosen = unclear[trace.site[rows[unclear]] == site]
        good[key[chosen[~_decides_alike(trace, rows[chosen], set_to[key[chosen]])]]] = False
    return good


def _decides_alike(trace: Trace, loads: Ints, values: NDArray[Any]) -> Mask:
    """Find the loads whose comparison has the same result before and after the store.

    It compares the content at the launch's beginning, and `values`, to which the elements are set.
    """
    before, site = trace.initial.get(int(trace.buffer[loads[0]])), trace.sites[int(trace.site[loads[0]])]
    compared = compared_with(trace, site, loads)
    if before is None or compared is None:
        return np.zeros(len(loads), bool)
    compare, number = compared
    alike: Mask = compare(before[trace.index[loads]], number) == compare(values.real, number)
    return alike


def _changes_others(trace: Trace, race: Race) -> bool:
    """Check whether a site of a race stores a value that differs from the element's initial content."""
    before = trace.initial.get(race.buffer)
    stores = np.flatnonzero(np.isin(trace.site, race.sites) & (trace.op == Op.STORE))
    stores = stores[trace.buffer[stores] == race.buffer]
    if before is None or trace.value is None:
        return False
    return bool(differ(before[trace.index[stores]], trace.value[stores]).any())

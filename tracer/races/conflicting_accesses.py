"""Conflicting accesses: two touch a piece of memory in no order, and one writes. Found in passes, without sorting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.overlap import UnitAccesses
from ..model.array_types import AnyInts, Ints, Mask
from ..model.trace import Op, Trace


class UnorderedAccesses(Struct, frozen=True, eq=False):
    """UnitAccesses of which those with an equal `key` (below `size`) and different `actor` are in no order."""

    scope: str  # see Race
    touches: UnitAccesses
    key: Ints  # per touch
    size: int  # above every key
    actor: Ints  # per touch: lane, warp or block


class Race(Struct, frozen=True, eq=False):
    """Two sites that access one buffer in no order."""

    buffer: int  # number in trace.buffers
    sites: tuple[int, int]  # numbers in trace.sites, ascending
    scope: str  # of the conflict: "warp" (lanes of one), "block" (warps of one) or "grid" (blocks)
    first: int  # row of the trace: the earlier one of the two accesses to show
    second: int  # row of the later one
    rows: Ints  # all accesses of both sites to the elements on which they conflict, in the phases in which they do
    harmful: bool  # False if all of them write the same value
    excuse: str = ""  # reason why loads among them do no harm, if known


# Units on which accesses of different blocks conflict, by buffer and sites.
ClaimedUnits = dict[tuple[int, tuple[int, int]], list[Ints]]


class WritersByKey:
    """The writers of each key: one of them, and whether there are others."""

    def __init__(self, key: Ints, size: int, actor: AnyInts) -> None:
        self._sample = np.full(size, -1, np.int64)
        self._sample[key] = actor
        self._several = np.zeros(size, bool)
        self._several[key[self._sample[key] != actor]] = True

    def others(self, key: Ints, actor: AnyInts) -> Mask:
        """Test for a writer other than `actor`."""
        writer = self._sample[key]
        has_others: Mask = (writer >= 0) & ((writer != actor) | self._several[key])
        return has_others


class ValuesByKey:
    """The values written, per key: one of them, and whether there are others."""

    def __init__(self, key: Ints, size: int, value: NDArray[Any]) -> None:
        self._sample = np.zeros(size, value.dtype)
        self._sample[key] = value
        self._several = np.zeros(size, bool)
        self._several[key[differ(self._sample[key], value)]] = True

    def others(self, key: Ints, value: NDArray[Any]) -> Mask:
        """Test for a written value other than `value`."""
        has_others: Mask = self._several[key] | differ(self._sample[key], value)
        return has_others


def differ(a: NDArray[Any], b: NDArray[Any]) -> Mask:
    """Compare values; nan equals nan."""
    differs: Mask = (a != b) & ((a == a) | (b == b))
    return differs


def conflicting(key: Ints, size: int, actor: AnyInts, op: NDArray[np.uint8]) -> Mask:
    """Find the touches of keys (below `size`) on which two different actors conflict.

    They conflict if one writes and not both are atomic.
    """
    is_contended = np.zeros(size, bool)
    store, atomic = op == Op.STORE, op >= Op.ATOMIC
    if store.any():
        is_contended[key[WritersByKey(key[store], size, actor[store]).others(key, actor)]] = True
    if atomic.any() and not atomic.all():
        is_plain, atomic_writers = ~atomic, WritersByKey(key[atomic], size, actor[atomic])
        is_contended[key[is_plain][atomic_writers.others(key[is_plain], actor[is_plain])]] = True
    return is_contended[key] if is_contended.any() else np.zeros(len(key), bool)


def races_in(trace: Trace, unordered: UnorderedAccesses, claimed: ClaimedUnits) -> Iterator[Race]:
    """Yield the races among unordered accesses, one per buffer and two conflicting sites.

    Conflicts on claimed units are left out. Units with harmful conflicts between blocks become claimed.
    """
    by_site = _by_site(trace, unordered)
    before = {pair: np.concatenate(units) for pair, units in claimed.items()}
    for number, writes in enumerate(by_site):
        if writes.op != Op.LOAD:
            writers = WritersByKey(writes.key, unordered.size, writes.actor)
            for other, accesses in enumerate(by_site):
                is_first_visit = accesses.op == Op.LOAD or other >= number
                if is_first_visit and not (writes.op >= Op.ATOMIC and accesses.op >= Op.ATOMIC):
                    conflicts = writers.others(accesses.key, accesses.actor)
                    pair = (writes.buffer, _sites_of(writes, accesses))
                    if pair in before:
                        conflicts &= ~np.isin(accesses.unit, before[pair])
                    for race in _races_between(trace, unordered, writes, accesses, conflicts):
                        if race.scope == "grid" and race.harmful:
                            claimed.setdefault(pair, []).append(accesses.unit[conflicts])
                        yield race


class _SiteAccesses(Struct, frozen=True, eq=False):
    """The unordered touches by one op on one buffer at one site."""

    buffer: int  # number in trace.buffers
    site: int  # number in trace.sites
    op: int  # an Op
    rows: Ints  # of the trace, one per touch
    unit: Ints  # see UnitAccesses
    key: Ints  # see UnorderedAccesses
    actor: Ints  # see UnorderedAccesses


def _sites_of(a: _SiteAccesses, b: _SiteAccesses) -> tuple[int, int]:
    return min(a.site, b.site), max(a.site, b.site)


def _by_site(trace: Trace, unordered: UnorderedAccesses) -> list[_SiteAccesses]:
    rows, result = unordered.touches.rows, []
    site, buffer, op = trace.site[rows], trace.buffer[rows], trace.op[rows]
    keys = (site.astype(np.int64) * len(trace.buffers) + buffer) * len(Op) + op
    for key in np.flatnonzero(np.bincount(keys)):
        chosen = np.flatnonzero(keys == key)
        operation = (int(buffer[chosen[0]]), int(site[chosen[0]]), int(op[chosen[0]]))
        unit, key_of_touch = unordered.touches.unit[chosen], unordered.key[chosen]
        result.append(_SiteAccesses(*operation, rows[chosen], unit, key_of_touch, unordered.actor[chosen]))
    return result


def _races_between(
    trace: Trace, unordered: UnorderedAccesses, a: _SiteAccesses, b: _SiteAccesses, conflicts: Mask
) -> Iterator[Race]:
    """Yield the race between the accesses of two sites, if any of the second (`conflicts`) conflicts with the first."""
    if not conflicts.any():
        return
    harmful = conflicts & _harm(trace, unordered, a, b)
    example = np.flatnonzero(harmful if harmful.any() else conflicts)[0]
    partners = (a.key == b.key[example]) & (a.actor != b.actor[example])
    row = int(b.rows[example])
    pair = sorted((row, _nearest(trace, a.rows[partners], row, differing=bool(harmful.any()))))
    contested = np.zeros(unordered.size, bool)
    contested[b.key[conflicts]] = True
    rows = union_rows(a.rows[contested[a.key]], b.rows[contested[b.key]])
    yield Race(a.buffer, _sites_of(a, b), unordered.scope, pair[0], pair[1], rows, bool(harmful.any()))


def _harm(trace: Trace, unordered: UnorderedAccesses, a: _SiteAccesses, b: _SiteAccesses) -> Mask:
    """Find the touches of b that do harm if they conflict with one of a: all but stores of the same value."""
    if a.op != Op.STORE or b.op != Op.STORE or a.buffer != b.buffer or trace.value is None:
        return np.ones(len(b.key), bool)
    return ValuesByKey(a.key, unordered.size, trace.value[a.rows]).others(b.key, trace.value[b.rows])


def _nearest(trace: Trace, rows: Ints, row: int, *, differing: bool) -> int:
    """Return the last row before `row`, else the first; of rows with another value if there are any."""
    if differing and trace.value is not None:
        different = rows[differ(trace.value[rows], trace.value[row])]
        rows = different if len(different) else rows
    before = rows[rows < row]
    return int(before[-1] if len(before) else rows[0])


def union_rows(a: Ints, b: Ints) -> Ints:
    """Merge rows, ascending and without repeats."""
    present = np.zeros(1 + max(int(a.max(initial=0)), int(b.max(initial=0))), bool)
    present[a] = present[b] = True
    return np.flatnonzero(present)


def merge_races(wide: Race, narrow: Race) -> Race:
    """Merge two races between the same sites; `wide` has the wider scope and is shown.

    If it is harmless and the other is not, the other's accesses are shown.
    """
    shown = wide if wide.harmful or not narrow.harmful else narrow
    rows = union_rows(wide.rows, narrow.rows)
    return Race(
        wide.buffer, wide.sites, wide.scope, shown.first, shown.second, rows, wide.harmful or narrow.harmful
    )  # fmt: skip

"""Conflicting accesses: two touch a piece of memory in no order, and one writes. Tables and passes, no sorting."""

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
    """UnitAccesses of which those with an equal `key` (below `size`) and different `who` are in no order."""

    scope: str  # see Race
    touches: UnitAccesses  # what each access touches
    key: Ints  # per touch
    size: int  # above every key
    who: Ints  # per touch: lane, warp or block


class Race(Struct, frozen=True, eq=False):
    """What two sites do to one buffer in no order."""

    buffer: int  # number in trace.buffers
    sites: tuple[int, int]  # numbers in trace.sites, ascending
    scope: str  # whose accesses conflict: "warp" (lanes of one), "block" (warps of one) or "grid" (blocks)
    first: int  # row of the trace: of the two accesses to show the one that this launch made first
    second: int  # row of the other
    rows: Ints  # all accesses of both sites to the elements on which they conflict, in the phases in which they do
    harmful: bool  # False if all of them write the same value
    excuse: str = ""  # why loads among them do no harm, if somebody found out


class WritersByKey:
    """Who wrote, per key: one of them, and whether there are others."""

    def __init__(self, key: Ints, size: int, who: AnyInts) -> None:
        self._one = np.full(size, -1, np.int64)
        self._one[key] = who
        self._several = np.zeros(size, bool)
        self._several[key[self._one[key] != who]] = True

    def others(self, key: Ints, who: AnyInts) -> Mask:
        """Return whether any but `who` itself wrote there."""
        one = self._one[key]
        found: Mask = (one >= 0) & ((one != who) | self._several[key])
        return found


class ValuesByKey:
    """What was written, per key: one of the values, and whether there are others."""

    def __init__(self, key: Ints, size: int, value: NDArray[Any]) -> None:
        self._one = np.zeros(size, value.dtype)
        self._one[key] = value
        self._several = np.zeros(size, bool)
        self._several[key[differ(self._one[key], value)]] = True

    def others(self, key: Ints, value: NDArray[Any]) -> Mask:
        """Return whether anything but `value` was written there."""
        found: Mask = self._several[key] | differ(self._one[key], value)
        return found


def differ(a: NDArray[Any], b: NDArray[Any]) -> Mask:
    """Return where values differ; nan equals nan."""
    found: Mask = (a != b) & ((a == a) | (b == b))
    return found


def conflicting(key: Ints, size: int, who: AnyInts, op: NDArray[np.uint8]) -> Mask:
    """Return which touches are of a key (below `size`) on which two of different `who` conflict.

    They conflict if one writes and not both are atomic.
    """
    bad = np.zeros(size, bool)
    store, atomic = op == Op.STORE, op >= Op.ATOMIC
    if store.any():
        bad[key[WritersByKey(key[store], size, who[store]).others(key, who)]] = True
    if atomic.any() and not atomic.all():
        plain, side = ~atomic, WritersByKey(key[atomic], size, who[atomic])
        bad[key[plain][side.others(key[plain], who[plain])]] = True
    return bad[key] if bad.any() else np.zeros(len(key), bool)


def races_in(trace: Trace, unordered: UnorderedAccesses) -> Iterator[Race]:
    """Return the races among unordered accesses, one per buffer and two sites that conflict."""
    by_site = _by_site(trace, unordered)
    for number, a in enumerate(by_site):
        if a.op != Op.LOAD:
            writers = WritersByKey(a.key, unordered.size, a.who)
            for other, b in enumerate(by_site):
                once = b.op == Op.LOAD or other >= number
                if once and not (a.op >= Op.ATOMIC and b.op >= Op.ATOMIC):
                    yield from _races_between(trace, unordered, a, b, writers.others(b.key, b.who))


class _SiteAccesses(Struct, frozen=True, eq=False):
    """The unordered touches that do one thing to one buffer at one site."""

    buffer: int  # number in trace.buffers
    site: int  # number in trace.sites
    op: int  # an Op
    rows: Ints  # of the trace, one per touch
    key: Ints  # see UnorderedAccesses
    who: Ints  # see UnorderedAccesses


def _by_site(trace: Trace, unordered: UnorderedAccesses) -> list[_SiteAccesses]:
    rows, result = unordered.touches.rows, []
    site, buffer, op = trace.site[rows], trace.buffer[rows], trace.op[rows]
    code = (site.astype(np.int64) * len(trace.buffers) + buffer) * len(Op) + op
    for one in np.flatnonzero(np.bincount(code)):
        mine = np.flatnonzero(code == one)
        what = (int(buffer[mine[0]]), int(site[mine[0]]), int(op[mine[0]]))
        result.append(_SiteAccesses(*what, rows[mine], unordered.key[mine], unordered.who[mine]))
    return result


def _races_between(
    trace: Trace, unordered: UnorderedAccesses, a: _SiteAccesses, b: _SiteAccesses, conflicts: Mask
) -> Iterator[Race]:
    """Return the race between the accesses of two sites, if any of b (`conflicts`) conflicts with one of a."""
    if not conflicts.any():
        return
    harmful = conflicts & _harm(trace, unordered, a, b)
    here = np.flatnonzero(harmful if harmful.any() else conflicts)[0]
    partners = (a.key == b.key[here]) & (a.who != b.who[here])
    row = int(b.rows[here])
    pair = sorted((row, _nearest(trace, a.rows[partners], row, differing=bool(harmful.any()))))
    shared = np.zeros(unordered.size, bool)
    shared[b.key[conflicts]] = True
    rows = united(a.rows[shared[a.key]], b.rows[shared[b.key]])
    sites = (min(a.site, b.site), max(a.site, b.site))
    yield Race(a.buffer, sites, unordered.scope, pair[0], pair[1], rows, bool(harmful.any()))


def _harm(trace: Trace, unordered: UnorderedAccesses, a: _SiteAccesses, b: _SiteAccesses) -> Mask:
    """Return which touches of b do harm where they conflict with one of a: all but stores of what a stores too."""
    if a.op != Op.STORE or b.op != Op.STORE or a.buffer != b.buffer or trace.value is None:
        return np.ones(len(b.key), bool)
    return ValuesByKey(a.key, unordered.size, trace.value[a.rows]).others(b.key, trace.value[b.rows])


def _nearest(trace: Trace, rows: Ints, row: int, *, differing: bool) -> int:
    """Return the last of some rows before `row`, else the first; of those with another value if there are any."""
    if differing and trace.value is not None:
        others = rows[differ(trace.value[rows], trace.value[row])]
        rows = others if len(others) else rows
    before = rows[rows < row]
    return int(before[-1] if len(before) else rows[0])


def united(a: Ints, b: Ints) -> Ints:
    """Return the rows that are in either, ascending, each once."""
    there = np.zeros(1 + max(int(a.max(initial=0)), int(b.max(initial=0))), bool)
    there[a] = there[b] = True
    return np.flatnonzero(there)


def merged(wide: Race, narrow: Race) -> Race:
    """Return one race of two between the same sites; `wide` is that of the wider scope, which is shown.

    Where one is harmless the other's accesses are shown.
    """
    shown = wide if wide.harmful or not narrow.harmful else narrow
    rows = united(wide.rows, narrow.rows)
    return Race(
        wide.buffer, wide.sites, wide.scope, shown.first, shown.second, rows, wide.harmful or narrow.harmful
    )  # fmt: skip

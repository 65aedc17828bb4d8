"""Races where more than the barriers of a block orders threads: fences with atomics, and masked warp barriers.

Goes through the events of a launch in order and asks of every access whether an earlier one to the same memory
comes before it (see `vector_clocks`). That costs microseconds an access, so it looks only at those that conflict with
others as far as barriers of all threads tell, and at no more than LIMIT of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, field

from ..analysis.overlap import UnitAccesses
from ..model.array_types import Ints, Mask
from ..model.trace import FENCE_BLOCK, WARP, Op, Trace
from .conflicting_accesses import Race, differ
from .sync_events import BARRIER, MEMORY_FENCE, WARP_BARRIER, has_fences, sync_events_of
from .vector_clocks import UNKNOWN, ThreadState, VectorClocks, flag_of

LIMIT = 50_000  # accesses that are looked at
MANY = 64  # earlier accesses to one element that are kept even if a later one stands for them


def needs_happens_before(trace: Trace, group: list[int]) -> bool:
    """Return whether more than barriers of all threads may order those who touch the buffers of a group.

    That is fences, atomics on these buffers whose results are used, and warp barriers that leave lanes out.
    """
    used = trace.access_counts[:, Op.ATOMIC]
    if used[group].any() or (used.any() and has_fences(trace)):
        return True
    reach, thread = trace.warp_barriers.reach, trace.warp_barriers.thread.astype(np.int64)
    named = (reach > 0) & (reach < FENCE_BLOCK)
    there = _lanes_there(trace)[thread[named] // WARP]
    return bool((reach[named].astype(np.int64) & there != there).any())


def _lanes_there(trace: Trace) -> Ints:
    """Return per warp of a block a bit for each lane that has a thread."""
    return np.array([(1 << min(WARP, trace.threads - WARP * w)) - 1 for w in range(trace.warps)], np.int64)


class _Pair(NamedTuple):
    """Two accesses that nothing orders."""

    first: int  # row of the earlier one
    second: int  # row of the later one
    key: int  # of what they conflict on
    tries: int = 0  # how often a worse one was looked for


class _Watched(Struct, eq=False):
    """The accesses to look at, and what was found."""

    keys: dict[int, list[int]]  # of each row what it touches, equal where two may conflict
    stray: set[int]  # rows that are not held against their own block
    where: dict[int, int] = field(default_factory=dict)  # the location of each atomic, by row
    # By key, by site access (see `_site_access`) and by stored value, the last row of each thread.
    last: dict[int, dict[int, dict[Any, dict[int, int]]]] = field(default_factory=lambda: defaultdict(dict))
    # By two site accesses, the earlier access's first, and by key.
    pairs: dict[tuple[int, int], dict[int, _Pair]] = field(default_factory=lambda: defaultdict(dict))
    raced: set[int] = field(default_factory=set)  # keys of pairs
    settled: set[tuple[int, int, int]] = field(
        default_factory=set
    )  # two site accesses and a key: none is worse


def happens_before_races(trace: Trace, touches: UnitAccesses, key: Ints, stray: Mask) -> list[Race]:
    """Return the races among some touches, one per buffer and two sites.

    key: equal where two touches may conflict, if they do; stray: touches that are not held against their own block.
    """
    if not len(key):
        return []
    chosen = _chosen(trace, touches)
    keys: dict[int, list[int]] = defaultdict(list)
    for row, one in zip(touches.rows[chosen].tolist(), key[chosen].tolist(), strict=True):
        keys[row].append(one)
    watched = _Watched(keys, set(touches.rows[chosen & stray].tolist()))
    _follow(trace, watched)
    return [_race(trace, watched, sites, pairs) for sites, pairs in _by_sites(trace, watched).items()]


def _chosen(trace: Trace, touches: UnitAccesses) -> Mask:
    """Return which touches are looked at: of shared memory whole blocks, of global memory the first."""
    if trace.buffers[int(trace.buffer[touches.rows[0]])].space != "shared":
        return np.arange(len(touches.rows)) < LIMIT
    place = trace.block_positions(trace.block[touches.rows])
    before = np.cumsum(np.bincount(place)) - np.bincount(place)
    some = (before < LIMIT)[place]
    first: Mask = place == place[0]
    return some if some.sum() <= 2 * LIMIT else first


def _follow(trace: Trace, watched: _Watched) -> None:
    """Go through the launch, and note the pairs that nothing orders."""
    clocks, count = VectorClocks(len(trace.blocks)), trace.threads
    rows = np.array(list(watched.keys), np.int64)
    for kind, at, thread, phase, what, more in sync_events_of(trace, rows):
        state, block = clocks.of(thread, thread // count, phase), thread // count
        if kind == BARRIER:
            clocks.barrier(state, block, what, more)
        elif kind == WARP_BARRIER:
            clocks.warp_barrier(state, at, what)
        elif kind == MEMORY_FENCE:
            clocks.fence(state, at, what)
        else:
            _access(trace, watched, state, at)
            if more >= 0:
                watched.where[at] = more
                clocks.atomic(state, at, what, block, more)


def _access(trace: Trace, watched: _Watched, state: ThreadState, row: int) -> None:
    """Compare an access with the last one of every thread, site and kind to the same memory."""
    site_access = _site_access(trace, row)
    for key in watched.keys.get(row, ()):
        held = watched.last[key]
        for other, by_value in held.items():
            if _conflicts(other, site_access):
                for rows in by_value.values():
                    if (other, site_access, key) in watched.settled:
                        break
                    _note_pair(trace, watched, state, (other, site_access), key, row, rows)
        if (
            site_access % len(Op) == Op.STORE
            and key not in watched.raced
            and sum(len(rows) for by_value in held.values() for rows in by_value.values()) > MANY
        ):
            held.clear()  # it comes after all of these, so who comes after it does too
        held.setdefault(site_access, {}).setdefault(_stored(trace, row), {})[state.thread] = row


def _stored(trace: Trace, row: int) -> Any:
    """Return the value of a store: who stores the same does no harm; None for everything else."""
    if trace.op[row] != Op.STORE or trace.value is None:
        return None
    value = trace.value[row]
    return value.item() if value == value else None


def _site_access(trace: Trace, row: int) -> int:
    """Return a number for site, buffer and op of an access."""
    return (int(trace.site[row]) * len(trace.buffers) + int(trace.buffer[row])) * len(Op) + int(trace.op[row])


def _conflicts(one: int, other: int) -> bool:
    """Return whether two site accesses conflict: one of them writes, and not both are atomic."""
    ops = {one % len(Op), other % len(Op)}
    return ops != {Op.LOAD} and not ops <= {Op.ATOMIC, Op.REDUCTION}


def _note_pair(
    trace: Trace, watched: _Watched, state: ThreadState, pair: tuple[int, int], key: int, row: int, held: dict[int, int]
) -> None:  # fmt: skip
    """Note the pair of a row and one of those held that nothing orders; of several the worst, of the widest scope."""
    best, widest = watched.pairs[pair].get(key), _widest(trace, row)
    if best is not None and (best.tries > MANY or _rank(trace, best) == (True, widest)):
        watched.settled.add((*pair, key))
        return
    found = best
    for first in _unordered(trace, watched, state, row, held):
        one = _Pair(first, row, key)
        if found is None or _rank(trace, one) > _rank(trace, found):
            found = one
        if _rank(trace, found) == (True, widest):
            break
    if found is not None:
        tries = best.tries + 1 if best else 1
        watched.pairs[pair][key] = found._replace(tries=tries)
        watched.raced.add(key)


def _unordered(
    trace: Trace, watched: _Watched, state: ThreadState, row: int, held: dict[int, int]
) -> Iterator[int]:  # fmt: skip
    """Return the accesses of other threads, held by thread, that nothing orders before a row."""
    for thread, first in held.items():
        block = thread // trace.threads
        if thread == state.thread or state.comes_after(thread, block, int(trace.phase[first]), first):
            continue
        if first in watched.where and first <= state.clock.rows.get(flag_of(watched.where[first]), UNKNOWN):
            continue
        same = block == state.thread // trace.threads
        if not (same and (first in watched.stray or row in watched.stray)):
            yield first


def _widest(trace: Trace, row: int) -> int:
    """Return the widest scope in which an access can conflict with others, as `_width`."""
    shared = trace.buffers[int(trace.buffer[row])].space == "shared"
    return 2 if len(trace.blocks) > 1 and not shared else int(trace.warps > 1)


def _rank(trace: Trace, pair: _Pair) -> tuple[bool, int]:
    return _harmful(trace, pair), _width(trace, pair)


def _by_sites(trace: Trace, watched: _Watched) -> dict[tuple[int, int, int], list[_Pair]]:
    """Return the pairs found, by buffer and two sites."""
    found: dict[tuple[int, int, int], list[_Pair]] = defaultdict(list)
    for pairs in watched.pairs.values():
        for pair in pairs.values():
            one, other = sorted(int(trace.site[row]) for row in pair[:2])
            writer = min(
                (row for row in pair[:2] if trace.op[row] != Op.LOAD),
                key=lambda row: _site_access(trace, row),
            )
            found[int(trace.buffer[writer]), one, other].append(pair)
    return found


def _race(trace: Trace, watched: _Watched, sites: tuple[int, int, int], pairs: list[_Pair]) -> Race:
    """Return the race that pairs of accesses of two sites make; a harmful pair of the widest scope is shown."""
    shown = max(pairs, key=lambda pair: (*_rank(trace, pair), -pair.second))
    keys = {pair.key for pair in pairs}
    rows = [
        r for r, mine in watched.keys.items() if int(trace.site[r]) in sites[1:] and not keys.isdisjoint(mine)
    ]
    scope = ("warp", "block", "grid")[max(_width(trace, pair) for pair in pairs)]
    harmful = any(_harmful(trace, pair) for pair in pairs)
    return Race(
        sites[0], sites[1:], scope, shown.first, shown.second, np.array(sorted(rows), np.int64), harmful
    )  # fmt: skip


def _width(trace: Trace, pair: _Pair) -> int:
    """Return whose accesses conflict: 0 for lanes of one warp, 1 for warps of one block, 2 for blocks."""
    if trace.block[pair.first] != trace.block[pair.second]:
        return 2
    return int(trace.thread[pair.first] // WARP != trace.thread[pair.second] // WARP)


def _harmful(trace: Trace, pair: _Pair) -> bool:
    """Return whether two accesses do more than store the same value."""
    rows = np.array(pair[:2])
    if (trace.op[rows] != Op.STORE).any() or trace.value is None or len(np.unique(trace.buffer[rows])) > 1:
        return True
    return bool(differ(trace.value[rows[:1]], trace.value[rows[1:]])[0])

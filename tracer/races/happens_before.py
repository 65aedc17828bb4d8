"""Races where more than the barriers of a block orders threads: fences with atomics, and masked warp barriers.

Goes through the events of a launch in order and tests for every access whether each earlier one to the same memory
happens before it (see `vector_clocks`). That costs microseconds per access. So it examines only accesses that
conflict if only barriers of all threads count, and at most LIMIT of them.
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

LIMIT = 50_000  # accesses that are examined
SCOPES = ("warp", "block", "grid")  # see Race
ACROSS_BLOCKS = 2  # index of the widest scope
MANY = 64  # earlier accesses to one element that are kept even if a later one represents them


def needs_happens_before(trace: Trace, group: list[int]) -> bool:
    """Return True if more than barriers of all threads may order the accesses to the buffers of a group.

    That is fences, atomics on these buffers whose results are used, and warp barriers that leave lanes out.
    """
    atomics = trace.access_counts[:, Op.ATOMIC]
    if atomics[group].any() or (atomics.any() and has_fences(trace)):
        return True
    reach, thread = trace.warp_barriers.reach, trace.warp_barriers.thread.astype(np.int64)
    is_barrier = (reach > 0) & (reach < FENCE_BLOCK)
    lanes = _existing_lanes(trace)[thread[is_barrier] // WARP]
    return bool((reach[is_barrier].astype(np.int64) & lanes != lanes).any())


def _existing_lanes(trace: Trace) -> Ints:
    """Return per warp of a block a bit for each lane that has a thread."""
    return np.array(
        [(1 << min(WARP, trace.threads - WARP * warp)) - 1 for warp in range(trace.warps)], np.int64
    )


class _Pair(NamedTuple):
    """Two accesses that nothing orders."""

    first: int  # row of the earlier one
    second: int  # row of the later one
    key: int  # of the contested memory
    tries: int = 0  # searches for a worse pair


class _Watched(Struct, eq=False):
    """The accesses to examine, and the results."""

    keys: dict[int, list[int]]  # by row, keys of the touched memory, equal where two may conflict
    stray: set[int]  # rows that do not race with their own block
    locations: dict[int, int] = field(default_factory=dict)  # the location of each atomic, by row
    # By key, by site access (see `_site_access`) and by stored value, the last row of each thread.
    last: dict[int, dict[int, dict[Any, dict[int, int]]]] = field(default_factory=lambda: defaultdict(dict))
    # By two site accesses, the earlier access's first, and by key.
    pairs: dict[tuple[int, int], dict[int, _Pair]] = field(default_factory=lambda: defaultdict(dict))
    raced: set[int] = field(default_factory=set)  # keys of pairs
    settled: set[tuple[int, int, int]] = field(
        default_factory=set
    )  # two site accesses and a key: no pair can be worse


def happens_before_races(trace: Trace, touches: UnitAccesses, key: Ints, stray: Mask) -> list[Race]:
    """Find the races among touches, one per buffer and two sites, between blocks and then within them.

    key: equal where two touches may conflict, if they do; stray: touches that do not race with their own block.
    """
    if not len(key):
        return []
    chosen = _chosen(trace, touches)
    keys: dict[int, list[int]] = defaultdict(list)
    for row, touch_key in zip(touches.rows[chosen].tolist(), key[chosen].tolist(), strict=True):
        keys[row].append(touch_key)
    watched = _Watched(keys, set(touches.rows[chosen & stray].tolist()))
    _follow(trace, watched)
    races = []
    for sites, pairs in _by_sites(trace, watched).items():
        across = {pair.key for pair in pairs if _width(trace, pair) == ACROSS_BLOCKS}
        for group in ([p for p in pairs if p.key in across], [p for p in pairs if p.key not in across]):
            races += [_race(trace, watched, sites, group)] if group else []
    return races


def _chosen(trace: Trace, touches: UnitAccesses) -> Mask:
    """Choose the touches to examine: of shared memory complete blocks, of global memory the first."""
    if trace.buffers[int(trace.buffer[touches.rows[0]])].space != "shared":
        return np.arange(len(touches.rows)) < LIMIT
    position = trace.block_positions(trace.block[touches.rows])
    preceding = np.cumsum(np.bincount(position)) - np.bincount(position)
    chosen = (preceding < LIMIT)[position]
    of_first_block: Mask = position == position[0]
    return chosen if chosen.sum() <= 2 * LIMIT else of_first_block


def _follow(trace: Trace, watched: _Watched) -> None:
    """Go through the launch, and note the pairs that nothing orders."""
    clocks, block_size = VectorClocks(len(trace.blocks)), trace.threads
    rows = np.array(list(watched.keys), np.int64)
    for kind, row, thread, phase, detail, extra in sync_events_of(trace, rows):
        state, block = clocks.state_of(thread, thread // block_size, phase), thread // block_size
        if kind == BARRIER:
            clocks.barrier(state, block, detail, extra)
        elif kind == WARP_BARRIER:
            clocks.warp_barrier(state, row, detail)
        elif kind == MEMORY_FENCE:
            clocks.fence(state, row, detail)
        else:
            _access(trace, watched, state, row)
            if extra >= 0:
                watched.locations[row] = extra
                clocks.atomic(state, row, detail, block, extra)


def _access(trace: Trace, watched: _Watched, state: ThreadState, row: int) -> None:
    """Compare an access with the last one of every thread, site and kind to the same memory."""
    site_access = _site_access(trace, row)
    for key in watched.keys.get(row, ()):
        last = watched.last[key]
        for other_access, by_value in last.items():
            if _conflicts(other_access, site_access):
                for rows in by_value.values():
                    if (other_access, site_access, key) in watched.settled:
                        break
                    _note_pair(trace, watched, state, (other_access, site_access), key, row, rows)
        if (
            site_access % len(Op) == Op.STORE
            and key not in watched.raced
            and sum(len(rows) for by_value in last.values() for rows in by_value.values()) > MANY
        ):
            last.clear()  # it comes after all of these, and so do all accesses after it
        last.setdefault(site_access, {}).setdefault(_stored_value(trace, row), {})[state.thread] = row


def _stored_value(trace: Trace, row: int) -> Any:
    """Return the value of a store, since equal values do no harm; None for other accesses."""
    if trace.op[row] != Op.STORE or trace.value is None:
        return None
    value = trace.value[row]
    return value.item() if value == value else None


def _site_access(trace: Trace, row: int) -> int:
    """Number the site, buffer and op of an access."""
    return (int(trace.site[row]) * len(trace.buffers) + int(trace.buffer[row])) * len(Op) + int(trace.op[row])


def _conflicts(first: int, second: int) -> bool:
    """Return True if two site accesses conflict: one of them writes, and not both are atomic."""
    operations = {first % len(Op), second % len(Op)}
    return operations != {Op.LOAD} and not operations <= {Op.ATOMIC, Op.REDUCTION}


def _note_pair(
    trace: Trace, watched: _Watched, state: ThreadState, pair: tuple[int, int], key: int, row: int, held: dict[int, int]
) -> None:  # fmt: skip
    """Note a row and one of the held rows that nothing orders; of several the worst, of the widest scope."""
    previous, widest = watched.pairs[pair].get(key), _widest(trace, row)
    if previous is not None and (previous.tries > MANY or _rank(trace, previous) == (True, widest)):
        watched.settled.add((*pair, key))
        return
    worst = previous
    for first in _unordered(trace, watched, state, row, held):
        candidate = _Pair(first, row, key)
        if worst is None or _rank(trace, candidate) > _rank(trace, worst):
            worst = candidate
        if _rank(trace, worst) == (True, widest):
            break
    if worst is not None:
        tries = previous.tries + 1 if previous else 1
        watched.pairs[pair][key] = worst._replace(tries=tries)
        watched.raced.add(key)


def _unordered(
    trace: Trace, watched: _Watched, state: ThreadState, row: int, held: dict[int, int]
) -> Iterator[int]:  # fmt: skip
    """Yield the accesses of other threads, held by thread, that nothing orders before a row."""
    for thread, first in held.items():
        block = thread // trace.threads
        if thread == state.thread or state.comes_after(thread, block, int(trace.phase[first]), first):
            continue
        if first in watched.locations and first <= state.clock.rows.get(
            flag_of(watched.locations[first]), UNKNOWN
        ):
            continue
        same_block = block == state.thread // trace.threads
        if not (same_block and (first in watched.stray or row in watched.stray)):
            yield first


def _widest(trace: Trace, row: int) -> int:
    """Return the widest scope in which an access can conflict with others, as `_width`."""
    shared = trace.buffers[int(trace.buffer[row])].space == "shared"
    return ACROSS_BLOCKS if len(trace.blocks) > 1 and not shared else int(trace.warps > 1)


def _rank(trace: Trace, pair: _Pair) -> tuple[bool, int]:
    return _is_harmful(trace, pair), _width(trace, pair)


def _by_sites(trace: Trace, watched: _Watched) -> dict[tuple[int, int, int], list[_Pair]]:
    """Group the pairs by buffer and two sites."""
    groups: dict[tuple[int, int, int], list[_Pair]] = defaultdict(list)
    for pairs in watched.pairs.values():
        for pair in pairs.values():
            lower, higher = sorted(int(trace.site[row]) for row in pair[:2])
            writer = min(
                (row for row in pair[:2] if trace.op[row] != Op.LOAD),
                key=lambda row: _site_access(trace, row),
            )
            groups[int(trace.buffer[writer]), lower, higher].append(pair)
    return groups


def _race(trace: Trace, watched: _Watched, sites: tuple[int, int, int], pairs: list[_Pair]) -> Race:
    """Return the race of two sites with these pairs; a harmful pair of the widest scope is shown."""
    shown = max(pairs, key=lambda pair: (*_rank(trace, pair), -pair.second))
    keys = {pair.key for pair in pairs}
    rows = [
        row
        for row, row_keys in watched.keys.items()
        if int(trace.site[row]) in sites[1:] and not keys.isdisjoint(row_keys)
    ]
    scope = SCOPES[max(_width(trace, pair) for pair in pairs)]
    harmful = any(_is_harmful(trace, pair) for pair in pairs)
    return Race(
        sites[0], sites[1:], scope, shown.first, shown.second, np.array(sorted(rows), np.int64), harmful
    )  # fmt: skip


def _width(trace: Trace, pair: _Pair) -> int:
    """Return the scope of a conflict as its index in SCOPES."""
    if trace.block[pair.first] != trace.block[pair.second]:
        return ACROSS_BLOCKS
    return int(trace.thread[pair.first] // WARP != trace.thread[pair.second] // WARP)


def _is_harmful(trace: Trace, pair: _Pair) -> bool:
    """Return True unless both accesses store the same value."""
    rows = np.array(pair[:2])
    if (trace.op[rows] != Op.STORE).any() or trace.value is None or len(np.unique(trace.buffer[rows])) > 1:
        return True
    return bool(differ(trace.value[rows[:1]], trace.value[rows[1:]])[0])

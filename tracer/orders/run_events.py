"""One run as events that depend on each other: what happens before what, and which pairs of accesses race.

Two accesses depend on each other if they touch the same memory, and not both only read it, or if both are the same
reduction of integers. Barriers order the accesses of their threads. The order of independent accesses does not matter:
runs that differ only in it are one class (Mazurkiewicz, "Trace Theory", 1986).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..analysis.grid_barriers import grid_epochs, has_grid_barriers
from ..analysis.overlap import overlapping_buffers, unit_accesses
from ..model.array_types import Ints
from ..model.trace import FENCE_BLOCK, WARP, Op, Trace

Location = tuple[int, int, int]  # whether it is shared, its block, and its first byte
Turn = tuple[int, int]  # block and thread
Signature = tuple[
    tuple[int, ...], ...
]  # per thread a number for each of its accesses, with all that it depends on
_READ, _WRITE = 0, 1


class Event(NamedTuple):
    """An access of a run."""

    thread: int  # counted through all blocks that ran
    kind: int  # _READ, _WRITE, or above that a reduction, by its site
    locations: tuple[Location, ...]
    groups: tuple[tuple[int, ...], ...]  # the barriers that it is between: see `_barrier_groups`


class Race(NamedTuple):
    """Two accesses of different threads that depend on each other, with nothing between that orders them."""

    first: int
    second: int


class Execution:
    """A run: its events in order, with the races among them.

    turns: the thread of each event. is_regular: whether warps wait only for all of their lanes.
    """

    def __init__(self, trace: Trace) -> None:
        self.threads = len(trace.blocks) * trace.threads
        self.turns: list[Turn] = list(zip(trace.block.tolist(), trace.thread.tolist(), strict=True))
        self.is_regular = _is_regular(trace)
        self.events = _events(trace)
        self.clocks: list[list[int]] = []  # per event and thread: number of the thread's events up to it
        self.races: list[Race] = []
        self._number: list[int] = []  # of each event among those of its thread
        self._follow()

    def _follow(self) -> None:
        """Compute the clocks, and find the races."""
        nothing = [0] * self.threads
        latest = [nothing] * self.threads
        counts = [0] * self.threads
        groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
        touched: dict[Location, list[int]] = {}  # the last write, and all events since
        for number, event in enumerate(self.events):
            clock = latest[event.thread]
            for group in event.groups:
                for last, other in groups.get(group[:-1], {}).items():
                    if last < group[-1]:
                        clock = _join(clock, other)
            earlier = {n for place in event.locations for n in touched.get(place, ())}
            for other_number in sorted(earlier, reverse=True):
                other_event = self.events[other_number]
                if not _depend(other_event.kind, event.kind):
                    continue
                if clock[other_event.thread] <= self._number[other_number]:
                    self.races.append(Race(other_number, number))
                    clock = _join(clock, self.clocks[other_number])
            clock = list(clock)
            self._number.append(counts[event.thread])
            counts[event.thread] += 1
            clock[event.thread] = counts[event.thread]
            self.clocks.append(clock)
            latest[event.thread] = clock
            for group in event.groups:
                of_group = groups.setdefault(group[:-1], {})
                of_group[group[-1]] = _join(of_group.get(group[-1], nothing), clock)
            for place in event.locations:
                if event.kind == _WRITE:
                    touched[place] = [number]
                else:
                    touched.setdefault(place, []).append(number)

    def contended(self) -> list[int]:
        """List the events that touch memory with accesses of several threads that depend on each other."""
        kinds: dict[Location, set[int]] = {}
        threads: dict[Location, set[int]] = {}
        for event in self.events:
            for place in event.locations:
                kinds.setdefault(place, set()).add(event.kind)
                threads.setdefault(place, set()).add(event.thread)
        return [
            number
            for number, event in enumerate(self.events)
            if any(
                len(threads[place]) > 1 and (len(kinds[place]) > 1 or _WRITE in kinds[place])
                for place in event.locations
            )
        ]

    def happens_before(self, first: int, second: int) -> bool:
        """Check if an earlier event happens before a later one."""
        return self.clocks[second][self.events[first].thread] > self._number[first]

    def reversed_prefix(self, race: Race) -> list[int]:
        """Return the events that lead to the second access of a race before the first one.

        These are the events that don't happen after the first one, up to the second one.
        """
        between = range(race.first + 1, race.second)
        independent = [number for number in between if not self.happens_before(race.first, number)]
        return [*range(race.first), *independent, race.second]

    def follows(self, number: int, counts: Sequence[int]) -> bool:
        """Check if all events before an event have happened, where each thread has made `counts` of its events."""
        clock, thread = self.clocks[number], self.events[number].thread
        return all(
            need <= count
            for other, (need, count) in enumerate(zip(clock, counts, strict=True))
            if other != thread
        )

    def signature(self, events: Sequence[int] | None = None) -> Signature:
        """Compute what some events, by default all, have in common with the same events in any order.

        Two runs are of one class if their signatures are equal.
        """
        numbers = range(len(self.events)) if events is None else events
        of_thread: list[list[int]] = [[] for _ in range(self.threads)]
        # By location: the labels of its last write, and kind, thread and number of the events from there on.
        writes: dict[Location, int] = {}
        touched: dict[Location, list[tuple[int, int, int]]] = {}
        for number in numbers:
            event = self.events[number]
            own = (event.kind, event.thread, len(of_thread[event.thread]))
            parts: list[object] = [event.kind]
            for place in event.locations:
                earlier = [e for e in touched.get(place, ()) if _depend(e[0], event.kind)]
                parts += [place, writes.get(place, 0), tuple(sorted(earlier))]
            label = hash(tuple(parts))
            of_thread[event.thread].append(label)
            for place in event.locations:
                if event.kind == _WRITE:
                    writes[place], touched[place] = label, [own]
                else:
                    touched.setdefault(place, []).append(own)
        return tuple(map(tuple, of_thread))


def _depend(first: int, second: int) -> bool:
    """Check if events of these kinds to the same memory depend on each other."""
    return first != second or first == _WRITE


def _join(first: list[int], second: list[int]) -> list[int]:
    return list(map(max, first, second))


def _events(trace: Trace) -> list[Event]:
    rows = np.arange(len(trace))
    locations = _locations(trace)
    threads = trace.thread_of(rows).tolist()
    integer = np.array([np.dtype(buffer.dtype).kind in "iub" for buffer in trace.buffers], bool)
    is_free = (trace.op == Op.REDUCTION) & integer[trace.buffer]
    # Sites are numbered in the order of the run, so that their places identify them.
    places = [zlib.crc32(f"{site.file}:{site.line}:{site.column}".encode()) for site in trace.sites]
    reduction = _WRITE + 1 + np.array([*places, 0], np.int64)[trace.site.astype(np.int64)]
    kinds = np.where(trace.op == Op.LOAD, _READ, np.where(is_free, reduction, _WRITE))
    barriers = _barrier_groups(trace, rows, threads)
    return [
        Event(thread, kind, place, groups)
        for thread, kind, place, groups in zip(threads, kinds.tolist(), locations, barriers, strict=True)
    ]


def _locations(trace: Trace) -> list[tuple[Location, ...]]:
    """Find the memory that each access touches, equal in every run of the launch."""
    locations: list[tuple[Location, ...]] = [()] * len(trace)
    columns = trace.buffer_columns
    block = trace.block.tolist()
    for group in overlapping_buffers(trace, ("global", "shared")):
        if not trace.access_counts[group, Op.STORE :].any():
            continue
        touches = unit_accesses(trace, group, slice(0, len(trace)))
        base = int(min(columns.address[number] for number in group))
        unit = int(columns.unit[group[0]]) if len(group) == 1 else 1
        is_shared = trace.buffers[group[0]].space == "shared"
        for row, number in zip(touches.rows.tolist(), touches.unit.tolist(), strict=True):
            place = (int(is_shared), block[row] if is_shared else 0, base + number * unit)
            locations[row] = (*locations[row], place)
    return locations


def _barrier_groups(trace: Trace, rows: Ints, threads: list[int]) -> list[tuple[tuple[int, ...], ...]]:
    """List for each access the barriers of its block, its warp and the grid as (kind, who, barriers passed)."""
    positions = trace.block_positions(trace.block[rows])
    phases = trace.phase.astype(np.int64)
    epochs = grid_epochs(trace)[positions, phases] if has_grid_barriers(trace) else np.zeros_like(phases)
    warps, passed = _warp_epochs(trace, np.array(threads, np.int64))
    columns = zip(
        positions.tolist(), phases.tolist(), epochs.tolist(), warps.tolist(), passed.tolist(), strict=True
    )
    uses_warps = bool(passed.any())
    uses_grid = bool(epochs.any())
    groups = []
    for position, phase, epoch, warp, count in columns:
        own: list[tuple[int, ...]] = [(0, position, phase)]
        if uses_warps:
            own.append((1, warp, count))
        if uses_grid:
            own.append((2, 0, epoch))
        groups.append(tuple(own))
    return groups


def _warp_epochs(trace: Trace, threads: Ints) -> tuple[Ints, Ints]:
    """Number the warp of each access, and count the warp operations that its thread had passed."""
    arrivals = trace.warp_barriers
    chosen = arrivals.reach < FENCE_BLOCK
    warps = threads // trace.threads * trace.warps + threads % trace.threads // WARP
    if not chosen.any():
        return warps, np.zeros(len(threads), np.int64)
    owner = trace.thread_numbers(arrivals.block[chosen], arrivals.thread[chosen])
    steps = int(max(trace.step.max(initial=0), arrivals.step.max(initial=0))) + 2
    passed = np.sort(owner * steps + arrivals.step[chosen].astype(np.int64))
    start = threads * steps
    count = np.searchsorted(passed, start + trace.step, side="right") - np.searchsorted(passed, start)
    return warps, count


def _is_regular(trace: Trace) -> bool:
    """Check if all lanes of a warp make the same number of warp operations, so that each waits for all."""
    arrivals = trace.warp_barriers
    chosen = arrivals.reach < FENCE_BLOCK
    if not chosen.any():
        return True
    owner = trace.thread_numbers(arrivals.block[chosen], arrivals.thread[chosen])
    counts = np.bincount(owner, minlength=len(trace.blocks) * trace.threads).reshape(-1, trace.threads)
    return all(
        bool((part == part[:, :1]).all())
        for part in np.split(counts, range(WARP, trace.threads, WARP), axis=1)
    )

"""Orders with one or two switches that are likely to change a result: they reverse the races of a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from ..model.array_types import Ints
from ..model.order import Order, Segment
from ..model.trace import Op, Trace
from ..races.conflicting_accesses import Race

PAIRS_OF_RACE = 6  # pairs of accesses that are reversed for each race


def likely_orders(trace: Trace, races: list[Race]) -> Iterator[Order]:
    """Yield orders that reverse accesses of these races of a trace in lockstep, the most likely ones first."""
    worst_first = sorted(races, key=lambda race: not race.harmful)
    pairs = [list(islice(_pairs(trace, race), PAIRS_OF_RACE)) for race in worst_first]
    seen: set[Order] = set()
    for rank in range(PAIRS_OF_RACE):
        for of_race in pairs:
            for order in _reversals(trace, *of_race[rank]) if rank < len(of_race) else ():
                if order not in seen:
                    seen.add(order)
                    yield order


def _pairs(trace: Trace, race: Race) -> Iterator[tuple[int, int]]:
    """Yield pairs of a race's accesses of two threads to one element, of which one writes, in the order of the run."""
    yield race.first, race.second
    rows = race.rows[:: max(1, len(race.rows) // 4096)]
    if not len(rows):
        return
    key = trace.index[rows].astype(np.int64)
    if trace.buffers[race.buffer].space == "shared":
        key = key * (int(trace.block.max(initial=0)) + 1) + trace.block[rows]
        key = key * (int(trace.phase.max(initial=0)) + 1) + trace.phase[rows]
    by_key = np.argsort(key, kind="stable")
    for start in _spread(np.flatnonzero(np.diff(key[by_key]) == 0)):
        first, second = int(rows[by_key[start]]), int(rows[by_key[start + 1]])
        other_thread = _thread(trace, first) != _thread(trace, second)
        if other_thread and (trace.op[first] != Op.LOAD or trace.op[second] != Op.LOAD):
            yield first, second


def _spread(positions: Ints) -> Iterator[int]:
    """Yield positions from all over an array: the first, the last, the middle and so on."""
    count = len(positions)
    order = [0, count - 1, count // 2, count // 4, 3 * count // 4, *range(count)] if count else []
    for number in dict.fromkeys(order):
        yield int(positions[number])


def _thread(trace: Trace, row: int) -> tuple[int, int]:
    return int(trace.block[row]), int(trace.thread[row])


def _reversals(trace: Trace, first: int, second: int) -> Iterator[Order]:
    """Yield orders in which the thread of one access goes before the other's, in the phase of the access."""
    for row in (second, first):
        block, thread = _thread(trace, row)
        phase = int(trace.phase[row])
        start = (Segment(block, 0, 0, barrier=phase),) if phase else ()
        yield Order((*start, Segment(block, thread, 1, turns=_turns_to(trace, row))))
        yield Order((*start, Segment(block, thread, 1)))
    yield from _both(trace, first, second)


def _both(trace: Trace, first: int, second: int) -> Iterator[Order]:
    """Yield orders in which one thread is interrupted before its access by the other thread."""
    for row, other in ((first, second), (second, first)):
        block, thread = _thread(trace, row)
        other_block, other_thread = _thread(trace, other)
        turns = _turns_to(trace, row) - 1
        starts = tuple(
            Segment(b, 0, 0, barrier=phase)
            for b, phase in {block: int(trace.phase[row]), other_block: int(trace.phase[other])}.items()
            if phase
        )
        if turns:
            yield Order(
                (*starts, Segment(block, thread, 1, turns=turns), Segment(other_block, other_thread, 1))
            )


def _turns_to(trace: Trace, row: int) -> int:
    """Count the accesses of a row's thread in its phase, up to the row."""
    rows = slice(0, row + 1)
    same = (trace.thread[rows] == trace.thread[row]) & (trace.block[rows] == trace.block[row])
    return int(np.count_nonzero(same & (trace.phase[rows] == trace.phase[row])))

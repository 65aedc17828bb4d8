"""The order in which a GPU made its accesses: by its clocks, by what atomics found, and by each thread's own order.

Accesses of one multiprocessor are ordered by its clock to the cycle; those of several as well as their clocks are
known against each other (`Clocks`). An atomic operation says more: the value that it found is the one that the
operation before it left. Where each of an element's atomics found another value, they form a chain, which is their
order for sure.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...model.array_types import Ints
from ...model.grouping import group_numbers, group_starts, positions_in_group
from ..marks.calibration import Clocks

PASSES = 16  # in which the orders of atomics and of threads settle
PICO = 1000  # picoseconds in a nanosecond: times are whole numbers, so that none is lost


class Order(Struct, frozen=True, eq=False):
    """When each note was made: times in picoseconds from the first, shape (notes,), and how sure that is."""

    times: Ints
    chained: int  # atomic operations whose order their values say
    atomics: int  # of so many


def order_of(
    clocks: Clocks,
    multiprocessor: NDArray[np.int64],
    cycles: NDArray[np.uint64],
    thread: Ints,
    atomic: NDArray[np.bool_],
    element: Ints,
    old: NDArray[np.uint64],
    left: NDArray[np.uint64],
) -> Order:
    """Return the order of notes, which are given thread after thread, those of each in its own order.

    multiprocessor, cycles: where it was and its clock. thread: in the grid. atomic: whether it is an atomic operation,
    of which element, and the bits that it found and left. All columns have shape (notes,).
    """
    exact = clocks.times(multiprocessor, cycles.astype(np.int64))
    times = np.rint((exact - (exact.min() if len(exact) else 0)) * PICO).astype(np.int64)
    chosen = np.flatnonzero(atomic)
    chosen = chosen[np.argsort(times[chosen], kind="stable")]
    chains = chains_of(element[chosen], old[chosen], left[chosen])
    order = chosen[np.concatenate(chains)] if chains else np.empty(0, np.int64)
    group = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    for _ in range(PASSES):
        settled = rising(times, thread)
        settled[order] = rising(settled[order], group)
        if (settled == times).all():
            break
        times = settled
    return Order(rising(times, thread), len(order), len(chosen))


def rising(times: Ints, group: Ints) -> Ints:
    """Return times that rise within each group, by the least that does; groups stand together, in their order."""
    if not len(times):
        return times.copy()
    starts = group_starts(group)
    place = positions_in_group(starts, len(times))
    lift = group_numbers(starts, len(times)) * (int(times.max() - times.min()) + len(times) + 1)
    found: Ints = np.maximum.accumulate(times - place + lift) - lift + place
    return found


def chains_of(element: Ints, old: NDArray[np.uint64], left: NDArray[np.uint64]) -> list[Ints]:
    """Return the rows of atomics that follow each other, chain by chain, of elements where that is known for sure.

    It is where no two operations that change an element found the same value in it, and where all hang together. Those
    that change nothing, given in the order of the clocks, stay in it among those that found the same value.
    """
    chains = []
    by_element = np.argsort(element, kind="stable")
    starts = group_starts(element[by_element])
    for rows in np.split(by_element, starts[1:]) if len(by_element) else []:
        chain = _chain(old[rows].tolist(), left[rows].tolist())
        if chain is not None:
            chains.append(rows[chain])
    return chains


def _chain(old: list[int], left: list[int]) -> list[int] | None:
    """Return the operations on one element in the order of their values, None where that is not known."""
    pairs = list(enumerate(zip(old, left, strict=True)))
    next_of = {found: place for place, (found, kept) in pairs if found != kept}
    idle: dict[int, list[int]] = {}
    for place, (found, kept) in pairs:
        if found == kept:
            idle.setdefault(found, []).append(place)
    changing = [place for place, (found, kept) in pairs if found != kept]
    firsts = {old[p] for p in changing} - {left[p] for p in changing} if changing else set(old)
    if len(next_of) < len(changing) or len(firsts) != 1:
        return None
    value, chain = firsts.pop(), list[int]()
    while True:
        chain += idle.pop(value, [])
        place = next_of.pop(value, -1)
        if place < 0:
            return chain if len(chain) == len(old) else None
        chain.append(place)
        value = left[place]

"""The order of a GPU's accesses: from its clocks, the values of atomics, and the order within each thread.

The clock of one multiprocessor orders its accesses to the cycle. Between multiprocessors the order is as exact as
their clocks are calibrated (`Clocks`). Atomic operations add more: the old value of one is the value that the previous
one left. If all atomics of an element have different old values, they form a chain with a certain order.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...model.array_types import Ints
from ...model.grouping import group_numbers, group_starts, positions_in_group
from ..marks.calibration import Clocks

PASSES = 16  # iterations in which the orders of atomics and of threads settle
PICO = 1000  # picoseconds per nanosecond: times are whole numbers without rounding


class Order(Struct, frozen=True, eq=False):
    """The times of notes in picoseconds from the first, shape (notes,), and how certain their order is."""

    times: Ints
    chained: int  # atomic operations that are ordered by their values
    atomics: int  # all atomic operations


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
    """Order notes that are given thread by thread, those of each in its own order.

    multiprocessor, cycles: the multiprocessor and its clock. thread: in the grid. atomic: the notes of atomics, with
    their element and the bits before and after. All columns have shape (notes,).
    """
    exact = clocks.times(multiprocessor, cycles.astype(np.int64))
    times = np.rint((exact - (exact.min() if len(exact) else 0)) * PICO).astype(np.int64)
    chosen = np.flatnonzero(atomic)
    chosen = chosen[np.argsort(times[chosen], kind="stable")]
    chains = chains_of(element[chosen], old[chosen], left[chosen])
    order = chosen[np.concatenate(chains)] if chains else np.empty(0, np.int64)
    group = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    for _ in range(PASSES):
        settled = raise_within_groups(times, thread)
        settled[order] = raise_within_groups(settled[order], group)
        if (settled == times).all():
            break
        times = settled
    return Order(raise_within_groups(times, thread), len(order), len(chosen))


def raise_within_groups(times: Ints, group: Ints) -> Ints:
    """Raise times as little as possible so that they rise within each group; groups are contiguous."""
    if not len(times):
        return times.copy()
    starts = group_starts(group)
    position = positions_in_group(starts, len(times))
    lift = group_numbers(starts, len(times)) * (int(times.max() - times.min()) + len(times) + 1)
    raised: Ints = np.maximum.accumulate(times - position + lift) - lift + position
    return raised


def chains_of(element: Ints, old: NDArray[np.uint64], left: NDArray[np.uint64]) -> list[Ints]:
    """List the rows of atomics chain by chain, for elements with a certain order.

    The order is certain if no two operations that change an element had the same old value, and if all are connected.
    Operations that change nothing stay, in the order of the clocks, with those of the same old value.
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
    """Order the operations on one element by their values; return None if the order is uncertain."""
    pairs = list(enumerate(zip(old, left, strict=True)))
    next_of = {before: index for index, (before, after) in pairs if before != after}
    idle: dict[int, list[int]] = {}
    for index, (before, after) in pairs:
        if before == after:
            idle.setdefault(before, []).append(index)
    changing = [index for index, (before, after) in pairs if before != after]
    firsts = {old[p] for p in changing} - {left[p] for p in changing} if changing else set(old)
    if len(next_of) < len(changing) or len(firsts) != 1:
        return None
    value, chain = firsts.pop(), list[int]()
    while True:
        chain += idle.pop(value, [])
        index = next_of.pop(value, -1)
        if index < 0:
            return chain if len(chain) == len(old) else None
        chain.append(index)
        value = left[index]

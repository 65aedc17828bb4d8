"""Groups of equal keys: stable sorting of integers, and numbering of groups and their entries. All O(n), in NumPy.

Keys are sorted before they are grouped: a group is a sequence of neighbours with equal keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .array_types import AnyInts, Ints

_AT_ONCE = 1 << 17  # entries, few enough to stay in a processor's cache


def stable_order(key: AnyInts) -> Ints:
    """Return the permutation that sorts non-negative integers stably.

    NumPy sorts 16-bit numbers by radix, so this sorts 16-bit digits from the least significant on
    (Knuth, The Art of Computer Programming, volume 3, section 5.2.5).
    """
    order = np.argsort(_digit(key, 0), kind="stable")
    largest = int(key.max(initial=0))
    for shift in range(16, largest.bit_length(), 16):
        order = order[np.argsort(_digit(key, shift)[order], kind="stable")]
    return order


def _digit(key: AnyInts, shift: int) -> NDArray[np.uint16]:
    return (key >> shift).astype(np.uint16)


def ascends(column: NDArray[Any]) -> bool:
    """Return True if no entry is less than the one before; long columns are compared piece by piece."""
    pieces = (column[low : low + _AT_ONCE + 1] for low in range(0, len(column) - 1, _AT_ONCE))
    return all(bool((piece[1:] >= piece[:-1]).all()) for piece in pieces)


def group_starts(*keys: NDArray[Any]) -> Ints:
    """Find the starts of groups: the indices at which any of the keys differs from the entry before."""
    new = np.ones(len(keys[0]), bool)
    new[1:] = False
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return new.nonzero()[0]


def distinct_numbers(numbers: AnyInts) -> list[int]:
    """List the distinct small integers, ascending; for few of them, five times as fast as np.unique."""
    distinct: list[int] = np.bincount(numbers).nonzero()[0].tolist()
    return distinct


def group_numbers(starts: Ints, length: int) -> Ints:
    """Return the group number, from 0, of each of `length` entries."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


def positions_in_group(starts: Ints, length: int) -> Ints:
    """Return the position, from 0, of each of `length` entries in its group."""
    return np.arange(length) - np.repeat(starts, np.diff(starts, append=length))


def offsets(counts: AnyInts) -> Ints:
    """Return the start of each part, and the end of the last, for consecutive parts of these sizes."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))

"""What a request costs, compiled: the rules of tracer.coalescing, for one request at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis.request_cost import BANKS, SECTOR, WORD
from ..cached import cached

# A set of whole numbers: an open hash table whose entries count only under the latest mark.
TABLE = 1 << 9
_MIX, _SHIFT = np.int64(0x1E3779B97F4A7C15), 40
SECTOR_BITS, WORD_BITS = SECTOR.bit_length() - 1, WORD.bit_length() - 1


def new_scratch() -> tuple[Any, ...]:
    """Return what the functions below work with: keys and marks of a set, [latest mark], and a count per bank."""
    return (
        np.zeros(TABLE, np.int64),
        np.zeros(TABLE, np.int64),
        np.zeros(1, np.int64),
        np.zeros(BANKS, np.int64),
    )


def _is_new(key: Any, mark: Any, scratch: Any) -> Any:
    """Put a number into the set of this mark; return whether it was not there."""
    keys, marks = scratch[0], scratch[1]
    place = (key * _MIX) >> _SHIFT & (TABLE - 1)
    while marks[place] == mark:
        if keys[place] == key:
            return False
        place = (place + 1) & (TABLE - 1)
    keys[place], marks[place] = key, mark
    return True


is_new = cached(_is_new)


def _sectors_of(low: Any, itemsize: Any, count: Any, scratch: Any) -> Any:
    """Return the distinct sectors of `count` accesses to the bytes from `low` on."""
    found, last = 0, np.int64(-1)
    for lane in range(count):
        first, end = low[lane] >> SECTOR_BITS, (low[lane] + itemsize - 1) >> SECTOR_BITS
        if first < last:
            return _any_sectors(low, itemsize, count, scratch)
        found += end - max(first, last + 1) + 1
        last = end
    return found


def _count_sectors(low: Any, itemsize: Any, count: Any, scratch: Any) -> Any:
    """Return the same where addresses do not ascend."""
    scratch[2][0] += 1
    mark, found = scratch[2][0], 0
    for lane in range(count):
        for sector in range(low[lane] >> SECTOR_BITS, ((low[lane] + itemsize - 1) >> SECTOR_BITS) + 1):
            if is_new(sector, mark, scratch):
                found += 1
    return found


_any_sectors = cached(_count_sectors)
sectors_of = cached(_sectors_of)


def _atomic_sectors_of(low: Any, count: Any) -> Any:
    """Return the sectors, each as often as its most contended address is touched."""
    total = 0
    for lane in range(count):
        sector, most, first = low[lane] >> SECTOR_BITS, 0, True
        for other in range(count):
            if low[other] >> SECTOR_BITS == sector:
                first = first and other >= lane
                times = 0
                for third in range(count):
                    times += low[third] == low[other]
                most = max(most, times)
        total += most if first else 0
    return total


atomic_sectors_of = cached(_atomic_sectors_of)


def _wavefronts_of(low: Any, itemsize: Any, count: Any, scratch: Any) -> Any:
    """Return the distinct words of the bank that has most of them."""
    scratch[2][0] += 1
    mark, filled, most = scratch[2][0], scratch[3], 0
    filled[:] = 0
    for lane in range(count):
        for word in range(low[lane] >> WORD_BITS, ((low[lane] + itemsize - 1) >> WORD_BITS) + 1):
            if is_new(word, mark, scratch):
                filled[word & (BANKS - 1)] += 1
                most = max(most, filled[word & (BANKS - 1)])
    return most


wavefronts_of = cached(_wavefronts_of)


def _add_cost(low: Any, count: Any, op: Any, buffer: Any, table: Any, scratch: Any, totals: Any) -> None:
    """Add what a request costs to totals: (requests, sectors, bytes) or (instructions, wavefronts) of its group.

    low: the first byte of each of its `count` accesses, all of an op and a buffer. table: see `tally.table_of`.
    """
    group, itemsize, parts = table[buffer, 5 + op], table[buffer, 2], table[buffer, 3]
    if group < 0:
        return
    if table[buffer, 4] == 0:
        atomic = op >= 2
        sectors = atomic_sectors_of(low, count) if atomic else sectors_of(low, itemsize, count, scratch)
        totals[group, 0] += parts
        totals[group, 1] += parts * sectors
        totals[group, 2] += count * itemsize
    else:
        waves = wavefronts_of(low, itemsize, count, scratch)
        totals[group, 0] += 1
        totals[group, 1] += 2 if itemsize == 4 * WORD and waves == 1 else waves


add_cost = cached(_add_cost)

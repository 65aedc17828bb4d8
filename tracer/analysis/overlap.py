"""Overlap of accesses: memory is divided into units; two accesses share a unit only if they share a byte.

Buffers may overlap: views of dynamic shared memory as other types, fields of records. So analyses of
conflicting accesses count units, not elements. Without overlap a unit is an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct

from ..model.array_types import AnyInts, Ints, Mask
from ..model.grouping import ascends, group_starts
from ..model.trace import Trace

RANGE = 1 << 18  # accesses processed at once: few enough to stay in a processor's cache
SPARE = 1 << 16  # entries that a table may have in addition to four per key


class UnitAccesses(Struct, frozen=True, eq=False):
    """Accesses to memory that several buffers may share, ascending; one entry per access and unit that it touches.

    rows: the accesses; unit: from 0 to `count` - 1 in each copy of that memory.
    """

    rows: Ints
    unit: Ints
    count: int

    def where(self, mask: Mask) -> UnitAccesses:
        """Select entries by a mask."""
        return UnitAccesses(self.rows[mask], self.unit[mask], self.count)


def overlapping_buffers(trace: Trace, spaces: Iterable[str]) -> list[list[int]]:
    """Group the accessed buffers of these spaces by overlap of their bytes."""
    buffers, used = trace.buffers, trace.access_counts.sum(axis=1)
    chosen = [index for index in range(len(buffers)) if buffers[index].space in spaces and used[index]]
    groups: list[list[int]] = []
    end: tuple[str, int] = ("", 0)
    for number in sorted(chosen, key=lambda index: (buffers[index].space, buffers[index].address)):
        buffer = buffers[number]
        if groups and end[0] == buffer.space and buffer.address < end[1]:
            groups[-1].append(number)
        else:
            groups.append([number])
            end = ("", 0)
        end = (buffer.space, max(end[1], _end(trace, number)))
    return groups


def _end(trace: Trace, number: int) -> int:
    buffer = trace.buffers[number]
    return (
        buffer.address + (buffer.size - 1) * buffer.unit + buffer.itemsize if buffer.size else buffer.address
    )


def block_ranges(trace: Trace) -> list[slice]:
    """Return the rows of complete blocks, about RANGE in each slice; one slice if blocks take turns."""
    block = trace.block
    if len(trace) <= RANGE or not ascends(block):
        return [slice(0, len(trace))]
    starts = group_starts(block)
    cuts = starts[group_starts(starts // RANGE)].tolist()
    return [slice(low, high) for low, high in pairwise([*cuts, len(trace)])]


def unit_accesses(trace: Trace, group: Sequence[int], part: slice) -> UnitAccesses:
    """Find the units that accesses to a group of overlapping buffers touch, in the rows of a part."""
    rows = np.flatnonzero(_is_one_of(trace.buffer[part], group))
    index = trace.index[part][rows].astype(np.int64)
    rows += part.start
    if len(group) == 1:
        return UnitAccesses(rows, index, max(1, trace.buffers[group[0]].size))
    buffers = [trace.buffers[member] for member in group]
    base = min(member.address for member in buffers)
    size = math.gcd(
        *(
            size_or_offset
            for member in buffers
            for size_or_offset in (member.unit, member.itemsize, member.address - base)
        )
    )
    number, columns = trace.buffer[rows], trace.buffer_columns
    unit = (index * columns.unit[number] + columns.address[number] - base) // size
    rows, unit = _spread(rows, unit, columns.itemsize[number] // size)
    return UnitAccesses(rows, unit, (max(_end(trace, member) for member in group) - base) // size)


def _is_one_of(buffer: AnyInts, group: Sequence[int]) -> Mask:
    matches: Mask = buffer == group[0]
    for other in group[1:]:
        matches |= buffer == other
    return matches


def concatenate_accesses(parts: Sequence[UnitAccesses]) -> UnitAccesses:
    """Join the accesses of several parts of one group."""
    rows, unit = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "unit"))
    return UnitAccesses(rows, unit, parts[0].count)


def _spread(rows: Ints, unit: Ints, width: Ints) -> tuple[Ints, Ints]:
    """Make an entry for each of the `width` units that an access touches from `unit` on."""
    first = np.repeat(np.cumsum(width) - width, width)
    return np.repeat(rows, width), np.repeat(unit, width) + np.arange(len(first)) - first


def dense_keys(key: Ints) -> tuple[Ints, int]:
    """Map keys to keys with the same equalities, and return the length of a table that they index.

    Keys are unchanged if such a table is not much longer than their array.
    """
    size = int(key.max(initial=0)) + 1
    if size <= 4 * len(key) + SPARE:
        return key, size
    distinct, number = np.unique(key, return_inverse=True)
    return number, len(distinct)

"""Pieces of memory, numbered so that two accesses touch a common byte just where they have a common piece.

Buffers may overlap: views of dynamic shared memory as other types, fields of records. So analyses of who
meets whom count pieces, not elements. Where nothing overlaps a piece is an element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .runs import AnyInts, Ints
from .trace import Op, Trace

Mask = NDArray[np.bool_]
SPARE = 1 << 16  # entries that a table may have beyond those that its keys could fill four times over


@dataclass(frozen=True, eq=False)
class Touches:
    """Accesses to memory that some buffers share, ascending; one entry per access and piece that it touches.

    rows: the accesses; piece: from 0 to `count` - 1 in each copy of that memory.
    """

    rows: Ints
    piece: Ints
    count: int

    def where(self, mask: Mask) -> Touches:
        """Return some of the entries."""
        return Touches(self.rows[mask], self.piece[mask], self.count)


def groups_of(trace: Trace, spaces: Iterable[str]) -> list[list[int]]:
    """Return the buffers of these spaces that are accessed, in groups whose bytes overlap."""
    buffers, used = trace.buffers, tally_of(trace).sum(axis=1)
    chosen = [b for b in range(len(buffers)) if buffers[b].space in spaces and used[b]]
    groups: list[list[int]] = []
    end: tuple[str, int] = ("", 0)
    for number in sorted(chosen, key=lambda b: (buffers[b].space, buffers[b].address)):
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


def tally_of(trace: Trace) -> Ints:
    """Return how many accesses of each `Op` each buffer has, shape (buffers, 4)."""
    count = len(trace.buffers) * len(Op)
    return np.bincount(trace.buffer.astype(np.int64) * len(Op) + trace.op, minlength=count).reshape(
        -1, len(Op)
    )


def touches_of(trace: Trace, group: Sequence[int]) -> Touches:
    """Return the pieces that accesses to a group of overlapping buffers touch."""
    rows = np.flatnonzero(np.isin(np.arange(len(trace.buffers)), group)[trace.buffer])
    index = trace.index[rows].astype(np.int64)
    if len(group) == 1:
        return Touches(rows, index, max(1, trace.buffers[group[0]].size))
    buffers = [trace.buffers[b] for b in group]
    base = min(b.address for b in buffers)
    size = math.gcd(*(n for b in buffers for n in (b.unit, b.itemsize, b.address - base)))
    number = trace.buffer[rows]
    piece = (index * _of(trace, "unit")[number] + _of(trace, "address")[number] - base) // size
    rows, piece = _spread(rows, piece, _of(trace, "itemsize")[number] // size)
    return Touches(rows, piece, (max(_end(trace, b) for b in group) - base) // size)


def _of(trace: Trace, name: str) -> Ints:
    return np.array([getattr(b, name) for b in trace.buffers], np.int64)


def _spread(rows: Ints, piece: Ints, width: Ints) -> tuple[Ints, Ints]:
    """Return an entry for each of the `width` pieces that an access touches from `piece` on."""
    first = np.repeat(np.cumsum(width) - width, width)
    return np.repeat(rows, width), np.repeat(piece, width) + np.arange(len(first)) - first


def dense(key: Ints) -> tuple[Ints, int]:
    """Return keys that are equal where these are, and the length of a table that they index.

    Keys stay as they are where such a table is not much longer than they are.
    """
    size = int(key.max(initial=0)) + 1
    if size <= 4 * len(key) + SPARE:
        return key, size
    found, number = np.unique(key, return_inverse=True)
    return number, len(found)


def places_of(trace: Trace, block: AnyInts) -> Ints:
    """Return the place in trace.blocks of each block."""
    table = np.zeros(int(max(block.max(initial=0), trace.blocks.max(initial=0))) + 1, np.int64)
    table[trace.blocks] = np.arange(len(trace.blocks))
    return table[block]

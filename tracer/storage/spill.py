"""Packed columns of accesses, unpacked into files piece by piece: however many rows, few are in memory.

It undoes `pack` of `packing.py`. `unpack` there does so in memory, and needs about ten times as much of it.
"""

from __future__ import annotations

import math
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Columns, Ints
from ..model.grouping import group_starts, positions_in_group, stable_order
from ..model.trace import Dim3
from . import npz
from .column_files import forget_pages, make_room
from .packing import BY_OWNER, BY_SITE

Indices = NDArray[np.uint32]
PIECE = 1 << 19  # rows that are in memory at once
MOST_THREADS = 1 << 25  # that may have made accesses: each needs a number of 4 bytes


def unpack_to_disk(
    members: zipfile.ZipFile, folder: Path, blocks: AnyInts, block_dim: Dim3, sites: int
) -> Columns:
    """Unpack the columns of accesses of a packed file into files of a folder, and return them.

    blocks: those that ran, ascending. block_dim: threads of each. sites: their number. Raises ValueError if the columns
    don't fit such a launch, and OSError if the disk is full.
    """
    block_numbers, threads = blocks.astype(np.int64), math.prod(block_dim)
    files = _Files(members, folder)
    columns = {name: files.member(name, sums=True) for name in ("block", "thread", "step")}
    by_owner = {name: files.member(name, sums=True) for name in BY_OWNER if files.has(name)}
    by_site = {name: files.member(name, sums=name == "index") for name in BY_SITE if files.has(name)}

    def owner(rows: slice) -> Ints:
        return _owner_numbers(columns["block"][rows], columns["thread"][rows], block_numbers, threads)

    def site(rows: slice) -> AnyInts:
        return by_owner["site"][rows]

    by_owner |= files.gathered(by_site, site, sites, "an access from no site")
    columns |= files.gathered(by_owner, owner, len(block_numbers) * threads, "a thread that did not run")
    return columns


def _require(condition: bool, fault: str) -> None:
    if not condition:
        raise ValueError(fault)


def _owner_numbers(block: AnyInts, thread: AnyInts, block_numbers: Ints, threads: int) -> Ints:
    """Number the thread that made each access, ascending by block, then thread."""
    position = np.searchsorted(block_numbers, block.astype(np.int64))
    did_run = bool((position < len(block_numbers)).all()) and bool((block_numbers[position] == block).all())
    _require(did_run, "an access of a block that did not run")
    _require(bool((thread < threads).all()), "a thread outside its block")
    return position * threads + thread


class _Files:
    """Columns as files of a folder."""

    def __init__(self, members: zipfile.ZipFile, folder: Path) -> None:
        self._members, self._folder = members, folder

    def has(self, name: str) -> bool:
        """Return True if the trace file has this column."""
        return f"{name}.npy" in self._members.namelist()

    def member(self, name: str, *, sums: bool) -> NDArray[Any]:
        """Return a column of the file as it is, or, of differences, their sums (which wrap)."""
        dtype, count = npz.header(self._members, name)
        column, low = self._new(count, dtype), 0
        for piece in npz.pieces(self._members, name, PIECE):
            rows = column[low : low + len(piece)]
            if sums:
                np.cumsum(piece, dtype=dtype, out=rows)
                rows += column[low - 1 : low] if low else dtype.type(0)
            else:
                rows[:] = piece
            low += len(piece)
            forget_pages(column)
        return column

    def gathered(
        self, sources: Columns, key: Callable[[slice], AnyInts], groups: int, fault: str
    ) -> Columns:  # fmt: skip
        """Restore the order of columns that are sorted by a key; raises ValueError(fault)."""
        count = max((len(column) for column in sources.values()), default=0)
        restored = {name: self._new(count, column.dtype) for name, column in sources.items()}
        next_index = _first_indices(key, groups, count, fault)
        for rows in _pieces(count):
            indices = _next_indices(key(rows), next_index)
            for name, column in sources.items():
                restored[name][rows] = column[indices]
                forget_pages(column, restored[name])
        return restored

    def _new(self, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        if not count:
            return np.empty(0, dtype)
        with tempfile.TemporaryFile(
            dir=self._folder
        ) as file:  # its space is freed with the last reference to the column
            make_room(file, 0, count * dtype.itemsize)
            column: NDArray[Any] = np.memmap(file, dtype, "r+", shape=(count,))
        return column.view(np.ndarray)


def _pieces(count: int) -> Iterator[slice]:
    return (slice(low, min(low + PIECE, count)) for low in range(0, count, PIECE))


def _first_indices(key: Callable[[slice], AnyInts], groups: int, count: int, fault: str) -> Indices:
    """Return the start of each group of equal keys once all are sorted; raises ValueError(fault) for other keys."""
    counts = np.zeros(groups + 1, np.uint32)
    for rows in _pieces(count):
        keys = key(rows)
        _require(int(keys.max()) < groups, fault)
        _next_indices(keys, counts[1:])
    return np.cumsum(counts[:-1], dtype=np.uint32, out=counts[:-1])


def _next_indices(keys: AnyInts, next_index: Indices) -> Ints:
    """Return the index of each entry after the earlier ones of its group, and advance `next_index`."""
    order = stable_order(keys)
    in_order = keys[order]
    starts = group_starts(in_order)
    indices = np.empty(len(keys), np.int64)
    indices[order] = next_index[in_order] + positions_in_group(starts, len(keys))
    next_index[in_order[starts]] += np.diff(starts, append=len(keys)).astype(np.uint32)
    return indices

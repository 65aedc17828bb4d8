"""Packed columns of accesses put back in order in files, a piece at a time: of any number of rows few are in memory.

It undoes what `pack` of `packing.py` did, which `unpack` there does in memory, in about ten times the room.
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

Places = NDArray[np.uint32]
PIECE = 1 << 19  # rows that are in memory at once
MOST_THREADS = 1 << 25  # that may have made accesses: a number of 4 bytes is kept for each


def unpacked_aside(
    members: zipfile.ZipFile, folder: Path, blocks: AnyInts, block_dim: Dim3, sites: int
) -> Columns:
    """Return the columns of accesses of a packed file, which lie in files of a folder.

    blocks: those that ran, ascending. block_dim: threads of each. sites: how many there are. Raises ValueError where
    the columns are none of such a launch, and OSError where the disk is full.
    """
    ran, threads = blocks.astype(np.int64), math.prod(block_dim)
    put = _Files(members, folder)
    columns = {name: put.member(name, sums=True) for name in ("block", "thread", "step")}
    by_owner = {name: put.member(name, sums=True) for name in BY_OWNER}
    by_site = {name: put.member(name, sums=name == "index") for name in BY_SITE if put.has(name)}

    def owner(rows: slice) -> Ints:
        return _owners(columns["block"][rows], columns["thread"][rows], ran, threads)

    def site(rows: slice) -> AnyInts:
        return by_owner["site"][rows]

    by_owner |= put.gathered(by_site, site, sites, "an access from no site")
    columns |= put.gathered(by_owner, owner, len(ran) * threads, "a thread that did not run")
    return columns


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _owners(block: AnyInts, thread: AnyInts, ran: Ints, threads: int) -> Ints:
    """Return the number of the thread that made each access, ascending by block, then thread."""
    place = np.searchsorted(ran, block.astype(np.int64))
    known = bool((place < len(ran)).all()) and bool((ran[place] == block).all())
    _require(known, "an access of a block that did not run")
    _require(bool((thread < threads).all()), "a thread outside its block")
    return place * threads + thread


class _Files:
    """Writes columns as files of a folder."""

    def __init__(self, members: zipfile.ZipFile, folder: Path) -> None:
        self._members, self._folder = members, folder

    def has(self, name: str) -> bool:
        """Return whether the file has such a column."""
        return f"{name}.npy" in self._members.namelist()

    def member(self, name: str, *, sums: bool) -> NDArray[Any]:
        """Return a column of the file as it is there, or, of differences, their sums (which wrap)."""
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
        self, sources: Columns, key: Callable[[slice], AnyInts], groups: int, else_: str
    ) -> Columns:  # fmt: skip
        """Return columns that are sorted by a key in the order in which `key` has it; raises ValueError(else_)."""
        count = max((len(column) for column in sources.values()), default=0)
        found = {name: self._new(count, column.dtype) for name, column in sources.items()}
        following = _first_places(key, groups, count, else_)
        for rows in _pieces(count):
            places = _next_places(key(rows), following)
            for name, column in sources.items():
                found[name][rows] = column[places]
                forget_pages(column, found[name])
        return found

    def _new(self, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        if not count:
            return np.empty(0, dtype)
        with tempfile.TemporaryFile(
            dir=self._folder
        ) as file:  # whose room is free once nobody has the column
            make_room(file, 0, count * dtype.itemsize)
            column: NDArray[Any] = np.memmap(file, dtype, "r+", shape=(count,))
        return column.view(np.ndarray)


def _pieces(count: int) -> Iterator[slice]:
    return (slice(low, min(low + PIECE, count)) for low in range(0, count, PIECE))


def _first_places(key: Callable[[slice], AnyInts], groups: int, count: int, else_: str) -> Places:
    """Return where each group of equal keys begins once all are sorted; raises ValueError(else_) for other keys."""
    following = np.zeros(groups + 1, np.uint32)
    for rows in _pieces(count):
        keys = key(rows)
        _require(int(keys.max()) < groups, else_)
        _next_places(keys, following[1:])
    return np.cumsum(following[:-1], dtype=np.uint32, out=following[:-1])


def _next_places(keys: AnyInts, following: Places) -> Ints:
    """Return the place of each entry behind those of its group before it, which `following` keeps count of."""
    order = stable_order(keys)
    in_order = keys[order]
    starts = group_starts(in_order)
    places = np.empty(len(keys), np.int64)
    places[order] = following[in_order] + positions_in_group(starts, len(keys))
    following[in_order[starts]] += np.diff(starts, append=len(keys)).astype(np.uint32)
    return places

"""Turns rows into the columns of a trace, in pieces that fit a processor's cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Columns, narrow
from ..model.trace import Buffer
from .launch_memory import LaunchMemory
from .regions import Views
from .rows import MISALIGNED, OUTSIDE, ROW

PIECE = 1 << 16  # rows
_COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "index")


class RowColumns:
    """The columns of rows (dtype ROW), of which those outside their buffers are separate.

    buffers: those that the rows access, each with its views. misaligned: copies of 8 or 16 bytes at other addresses.
    """

    def __init__(self, memory: LaunchMemory) -> None:
        self.buffers: dict[Buffer, int] = {}
        self.views_of_buffer: list[Views] = []
        self.misaligned = np.empty(0, ROW)
        self._views, regions = memory.views, memory.regions
        self._starts = np.array([region.start for region in regions], np.uint64)
        self._sizes = np.array([region.size for region in regions], np.int64)
        variables = np.arange(memory.allocations, len(regions))
        self._variables = variables[np.argsort(self._starts[variables], kind="stable")]
        self._variable_starts = self._starts[self._variables]
        # Of regions of plain numbers: the bytes of a number, 0 for other regions, and the buffer.
        plain = [views.main_buffer() for views in memory.views]
        self._items = np.array([buffer.itemsize if buffer else 0 for buffer in plain], np.int64)
        self._shifts = np.log2(np.maximum(self._items, 1)).astype(np.int64)
        self._plain_buffers = plain
        self._plain_numbers = np.full(len(regions), -1, np.int64)
        self._ranks: list[tuple[int, int]] = []  # of each buffer: its region, and its rank there
        self._count = 0
        self._pieces: list[Columns] = []
        self._outside: list[Columns] = []
        self._dtypes: dict[str, None] = {}  # of the accessed buffers

    def __len__(self) -> int:
        """The number of rows, with those outside their buffers."""
        return self._count

    def add(self, rows: NDArray[np.void], sites: NDArray[np.int64]) -> None:
        """Add rows; sites: the trace's number of each of the runtime's sites."""
        small_sites = narrow(sites)
        for begin in range(0, len(rows), PIECE):
            self._add_piece(rows[begin : begin + PIECE], small_sites)

    def _add_piece(self, rows: NDArray[np.void], sites: NDArray[Any]) -> None:
        buffer, index, outside = self._match(rows)
        operation = rows["operation"]
        columns: Columns = {
            "block": rows["block"], "thread": rows["thread"], "phase": rows["phase"], "op": operation & 7,
            "buffer": buffer, "site": sites[rows["site"]], "index": index,
        }  # fmt: skip
        value = self._values(rows["value"], buffer)
        if value is not None:
            columns["value"] = value
        if (operation >= MISALIGNED).any():
            self.misaligned = np.concatenate((self.misaligned, rows[operation >= MISALIGNED]))
        if outside.any():
            skipped = np.flatnonzero(outside)
            self._outside.append(
                {name: columns[name][skipped].astype(np.int64) for name in _COLUMNS}
                | {"step": skipped + self._count}
            )
            columns = {name: column[~outside] for name, column in columns.items()}
        columns |= {name: np.ascontiguousarray(narrow(columns[name])) for name in _COLUMNS}
        self._pieces.append(columns)
        self._count += len(rows)

    def _match(
        self, rows: NDArray[np.void]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Find the buffer and element that each row accesses, and return the mask of those outside."""
        region, address, size = rows["allocation"].astype(np.int64), rows["address"], rows["size"]
        region -= 1
        others = np.flatnonzero(region < 0)
        if len(others) and len(self._variables):
            place = np.searchsorted(self._variable_starts, address[others], side="right") - 1
            region[others] = self._variables[np.maximum(place, 0)]
        offset = (address - self._starts[region]).view(np.int64)
        outside = (offset < 0) | (offset + size > self._sizes[region]) | ((rows["operation"] & OUTSIDE) != 0)
        item = self._items[region]
        is_plain = (size == item) & ((offset & (item - 1)) == 0)
        plain, others = region, np.empty(0, np.int64)
        if not is_plain.all():
            plain, others = region[is_plain], np.flatnonzero(~is_plain)
        for number in np.flatnonzero(np.bincount(plain, minlength=1)).tolist():
            main_buffer = self._plain_buffers[number]
            if self._plain_numbers[number] < 0 and main_buffer is not None:
                self._plain_numbers[number] = self._number(main_buffer, number, 0)
        buffer = self._plain_numbers[region]
        index = offset >> self._shifts[region]
        for number in np.unique(region[others]).tolist():
            chosen = others[region[others] == number]
            views = self._views[number]
            for rank, view_buffer, here, first in views.match(offset[chosen], size[chosen]):
                accesses = chosen[here]
                buffer[accesses] = self._number(view_buffer, number, rank)
                index[accesses] = (offset[accesses] - first) // view_buffer.unit
        return buffer, index, outside

    def add_buffer(self, buffer: Buffer, views: Views) -> None:
        """Add a buffer that no row accesses, once there are columns."""
        if buffer not in self.buffers:
            self.buffers[buffer] = len(self.buffers)
            self.views_of_buffer.append(views)

    def _number(self, buffer: Buffer, region: int, rank: int) -> int:
        if buffer not in self.buffers:
            self.buffers[buffer] = len(self.buffers)
            self.views_of_buffer.append(self._views[region])
            self._ranks.append((region, rank))
            self._dtypes[buffer.dtype] = None
        return self.buffers[buffer]

    def _values(self, raw: NDArray[np.uint64], buffer: NDArray[np.int64]) -> NDArray[np.generic] | None:
        """Convert the accessed bytes to numbers; None if no buffer has numbers."""
        accessed = np.flatnonzero(np.bincount(buffer))
        dtypes = [buffer_of.dtype for buffer_of in self.buffers]
        kinds = {dtypes[number] for number in accessed.tolist()}
        numbers = [np.dtype(kind) for kind in kinds if np.dtype(kind).kind != "V"]
        if not numbers:
            return None
        if len(kinds) == 1:
            return _as_numbers(raw, numbers[0])
        value = np.zeros(len(raw), np.result_type(*numbers))
        kind_of_buffer = np.array(
            [numbers.index(np.dtype(dtype)) if np.dtype(dtype) in numbers else -1 for dtype in dtypes]
        )
        kind = kind_of_buffer[buffer]
        for number, dtype in enumerate(numbers):
            chosen = np.flatnonzero(kind == number)
            value[chosen] = _as_numbers(raw[chosen], dtype)
        return value

    def columns(self) -> Columns:
        """Return the columns of the rows within their buffers; a launch without numbers has no "value"."""
        pieces, count = self._pieces, sum(len(piece["op"]) for piece in self._pieces)
        columns: Columns = {
            name: narrow(np.concatenate([piece[name] for piece in pieces]))
            if pieces
            else np.empty(0, np.uint8)
            for name in _COLUMNS
        }
        columns["buffer"] = self._sort_buffers(columns["buffer"])
        numbers = [np.dtype(dtype) for dtype in self._dtypes if np.dtype(dtype).kind != "V"]
        if numbers or not self._dtypes:
            value = np.zeros(count, np.result_type(*numbers) if numbers else np.float32)
            begin = 0
            for piece in pieces:
                end = begin + len(piece["op"])
                if "value" in piece:
                    value[begin:end] = piece["value"]
                begin = end
            columns["value"] = value
        self._pieces = []
        return columns

    def outside(self) -> Columns:
        """Return the columns of the rows outside their buffers, and the "step" of each: its number among all rows."""
        none: Columns = {name: np.empty(0, np.int64) for name in (*_COLUMNS, "step")}
        outside = {
            name: np.concatenate([none[name], *(piece[name] for piece in self._outside)]) for name in none
        }
        outside["buffer"] = self._new_numbers[outside["buffer"]]
        return outside

    def _sort_buffers(self, buffer: NDArray[Any]) -> NDArray[Any]:
        """Number the buffers by region, whatever the order of the accesses."""
        order = sorted(range(len(self._ranks)), key=self._ranks.__getitem__)
        self._new_numbers = np.argsort(np.array(order, np.int64))
        buffers = list(self.buffers)
        self.buffers = {buffers[number]: position for position, number in enumerate(order)}
        self.views_of_buffer = [self.views_of_buffer[number] for number in order]
        return narrow(self._new_numbers)[buffer] if order else buffer


def _as_numbers(raw: NDArray[np.uint64], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """View the low bytes of 8-byte words as numbers."""
    words: NDArray[np.unsignedinteger] = raw.astype(f"<u{dtype.itemsize}")
    return words.view(dtype)

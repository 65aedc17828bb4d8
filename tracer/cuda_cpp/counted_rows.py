"""Counts the accesses of a launch that are not kept, with the counters of the engine for Numba's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import state
from ..model.array_types import Columns
from ..model.trace import Buffer
from .launch_memory import LaunchMemory
from .rows import OUTSIDE

SPACES = ("global", "shared", "constant")
SIZES = (1, 2, 4, 8, 16)  # bytes of an access
# Buffers that stand for all memory of a space and a size of access. Their number is the upper half of a row's key.
BUFFERS = [
    Buffer(space, space, f"|V{size}", (1 << 62,), (1,), 0, 1, 1 << 62) for space in SPACES for size in SIZES
]
PIECE = 1 << 16  # rows that are converted at once
AT_ONCE = 1 << 20  # rows of complete blocks that are counted at once, or more
SET_ASIDE = 1 << 17  # rows whose requests are sorted out at once
END = (1 << 32) - 1  # beyond every context
_OPS = 4  # a site of a row is 4 times the runtime's number of the site, plus the operation
_SITE_MASK = state.SITES - 1
_SIZE_INDEX = np.zeros(17, np.uint32)
_SIZE_INDEX[list(SIZES)] = range(len(SIZES))


class RowCounter:
    """The counters of a launch so far.

    count: counts the columns of rows the slow way; their buffers are `BUFFERS`, their blocks parts of the launch.
    """

    def __init__(
        self,
        threads: int,
        memory: LaunchMemory,
        allocations: list[tuple[int, int, int, int]],
        count: Callable[[Columns], dict[str, int]],
    ) -> None:
        from ..compiled.rows.streaming_counters import (
            StreamingCounters,  # imports Numba, which few launces need
        )

        self._threads, self._count = threads, count
        self._streaming = StreamingCounters(threads, _learn, self._set_aside)
        self._variables = [
            region for region in memory.regions[memory.allocations :] if region.space != "global"
        ]
        # By the allocation of a row, 0 for other memory.
        self._starts = np.array([0, *(start for start, *_ in allocations)], np.uint64)
        self._sizes = np.array([1 << 63, *(size for _, size, *_ in allocations)], np.uint64)
        self._buffer_numbers = np.full(1 << 32 - state.SITE_BITS, -1, np.int32)
        self._buffer_numbers[: len(BUFFERS)] = range(len(BUFFERS))
        self._sites = self._ops = np.empty(0, np.int32)
        self._early: NDArray[Any] = np.empty(0, state.ROW)  # of blocks that were paused, by context
        self._late: list[NDArray[Any]] = []  # of warps that make more accesses in their phase
        self._first_late = END
        self._aside: list[Columns] = []  # rows whose requests must be sorted out
        self._aside_count = self._first_block = 0
        self._totals: dict[str, int] = {}
        self.count = 0  # of all rows

    @property
    def waiting(self) -> int:
        """The number of rows that can't be counted yet, without the early ones."""
        return sum(map(len, self._late))

    def use_sites(self, numbers: list[int]) -> None:
        """Use the trace's numbers of the runtime's sites."""
        if len(self._sites) != max(1, len(numbers)) * _OPS:
            self._sites = np.repeat(np.array(numbers or [0], np.int32), _OPS)
            self._ops = np.tile(np.arange(_OPS, dtype=np.uint8), max(1, len(numbers)))

    def add(self, rows: NDArray[Any], complete: int) -> None:
        """Count rows of the runtime; complete: no more rows come with contexts below it."""
        self.count += len(rows)
        context = rows["context"]
        first = min(self._first_late, int(context.min(initial=END)))
        if complete < END and complete <= first:
            if len(rows):
                self._late.append(rows.copy())
                self._first_late = first
            return
        if self._late:
            rows = np.concatenate([*self._late, rows])
            self._late, self._first_late = [], END
        rows = _sort(rows)
        end = _end_of(rows, complete)
        if end < len(rows):
            self._late, self._first_late = [rows[end:].copy()], int(rows["context"][end])
        rows = rows[:end]
        if len(self._early):
            end = _end_of(self._early, complete)
            rows, self._early = _sort(np.concatenate((self._early[:end], rows))), self._early[end:]
        self._add_sorted(rows)

    def add_early(self, rows: NDArray[np.void], blocks: NDArray[np.uint32]) -> None:
        """Add rows (dtype ROW) of blocks that go on, numbered like the runtime's."""
        self._early = _sort(np.concatenate([np.empty(0, state.ROW), *self._converted(rows, blocks)]))
        self.count += len(self._early)

    def add_blocks(self, rows: NDArray[np.void]) -> None:
        """Count rows (dtype ROW) of complete blocks."""
        phases = int(rows["phase"].max(initial=0)) + 1
        at_once = max(1, (END // 2) // (phases * self._threads))
        for begin, end, blocks in BlockRuns(rows["block"]).groups(AT_ONCE):
            for first in range(0, len(blocks), at_once):
                chosen, part = blocks[first : first + at_once], rows[begin:end]
                if len(chosen) < len(blocks):
                    part = take_rows(part, np.flatnonzero(np.isin(part["block"], chosen)))
                converted = _sort(np.concatenate([*self._converted(part, chosen)]))
                self.count += len(converted)
                self._add_sorted(converted)

    def _converted(self, rows: NDArray[np.void], blocks: NDArray[np.uint32]) -> Iterator[NDArray[Any]]:
        """Yield rows in the form in which the runtime writes those that it does not keep."""
        order = np.argsort(blocks)
        ascending = blocks[order]
        for begin in range(0, len(rows), PIECE):
            piece = rows[begin : begin + PIECE]
            address, allocation, size = piece["address"], piece["allocation"], piece["size"]
            offset = address - self._starts[allocation]
            sizes = self._sizes[allocation]
            # An address before its allocation has an offset near 2**64.
            outside = (offset >= sizes) | (offset + size > sizes) | ((piece["operation"] & OUTSIDE) != 0)
            key = _SIZE_INDEX[size]
            elsewhere = allocation == 0
            if elsewhere.any():
                for region in self._variables:
                    inside = (address - np.uint64(region.start)) < np.uint64(region.size)
                    key[inside & elsewhere] += np.uint32(SPACES.index(region.space) * len(SIZES))
            number = piece["phase"] * np.uint32(len(blocks)) + order[
                np.searchsorted(ascending, piece["block"])
            ].astype(np.uint32)
            counted = np.empty(len(piece), state.ROW)
            counted["index"] = (
                address.view(np.int64) if address.flags.c_contiguous else address.astype(np.int64)
            )
            counted["key"] = key << state.SITE_BITS | piece["site"] * _OPS | piece["operation"] & (_OPS - 1)
            counted["context"] = number * np.uint32(self._threads) + piece["thread"]
            yield counted[~outside] if outside.any() else counted

    def _add_sorted(self, rows: NDArray[Any]) -> None:
        tables = self._buffer_numbers, self._sites, self._ops
        self._streaming.add(np.ascontiguousarray(rows), BUFFERS, tables, len(self._sites))
        if self._aside:
            self._first_block = 1 + max(int(columns["block"].max()) for columns in self._aside)
            if self._aside_count > SET_ASIDE:
                self._sort_out()

    def _set_aside(self, rows: NDArray[Any]) -> None:
        """Keep a warp's rows in a phase whose requests must be sorted out."""
        phase, thread = np.divmod(rows["context"], np.uint32(self._threads))
        key = rows["key"]
        columns: Columns = {
            "block": phase.astype(np.int64) + self._first_block, "thread": thread,
            "phase": np.zeros(len(rows), np.uint8), "op": (key % _OPS).astype(np.uint8),
            "buffer": key >> state.SITE_BITS, "site": self._sites[key & _SITE_MASK], "index": rows["index"].copy(),
        }  # fmt: skip
        self._aside.append(columns)
        self._aside_count += len(rows)

    def _sort_out(self) -> None:
        columns = {name: np.concatenate([aside[name] for aside in self._aside]) for name in self._aside[0]}
        columns["block"] = np.unique(columns["block"], return_inverse=True)[1]
        self._aside, self._aside_count, self._first_block = [], 0, 0
        self._add_totals(self._count(columns))

    def _add_totals(self, counters: dict[str, int]) -> None:
        for name, number in counters.items():
            self._totals[name] = self._totals.get(name, 0) + number

    def totals(self) -> dict[str, int]:
        """Return the counters of the ended launch, by name."""
        self.add(np.empty(0, state.ROW), END)
        if self._aside:
            self._sort_out()
        self._add_totals(self._streaming.totals())
        return self._totals


class BlockRuns:
    """Rows in sequence that belong to the same block, and the number of rows of each block."""

    def __init__(self, block: NDArray[np.uint32]) -> None:
        block = np.ascontiguousarray(block)
        changes = np.flatnonzero(block[1:] != block[:-1]) + 1
        self.starts = np.append(np.zeros(min(1, len(block)), np.int64), changes)
        self.ends = np.append(changes, len(block))[: len(self.starts)]
        self.blocks, self.number = np.unique(
            block[self.starts], return_inverse=True
        )  # ascending; of each run
        self.counts = np.bincount(self.number, self.ends - self.starts, len(self.blocks)).astype(np.int64)

    def positions(self, chosen: NDArray[np.bool_]) -> slice | NDArray[np.int64]:
        """Return the positions of the rows of some blocks, given by a mask of `blocks`."""
        runs = chosen[self.number]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], runs, [False])).astype(np.int8)))
        begin, end = self.starts[edges[::2]], self.ends[edges[1::2] - 1]
        if len(begin) <= 1:
            return slice(int(begin[0]), int(end[0])) if len(begin) else slice(0, 0)
        lengths = end - begin
        jumps = np.repeat(begin - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        return np.arange(len(jumps)) + jumps

    def groups(self, at_least: int) -> Iterator[tuple[int, int, NDArray[np.uint32]]]:
        """Yield groups of blocks whose rows are together: the first row, the end, and the blocks.

        Each has `at_least` rows if possible.
        """
        first, last = np.full(len(self.blocks), END, np.int64), np.zeros(len(self.blocks), np.int64)
        np.minimum.at(first, self.number, self.starts)
        np.maximum.at(last, self.number, self.ends)
        order = np.argsort(first)
        first, reached = first[order], np.maximum.accumulate(last[order])
        begin = number = 0
        for position, end in enumerate(reached.tolist()):
            is_last = position + 1 == len(order)
            if is_last or (first[position + 1] >= end and end - begin >= at_least):
                yield begin, end, self.blocks[order[number : position + 1]]
                begin, number = end, position + 1


def _learn(key: int) -> None:
    raise AssertionError(f"key {key:#x} is of no buffer or site")


def _sort(rows: NDArray[Any]) -> NDArray[Any]:
    """Sort rows by context, keeping the order of each thread's."""
    context = np.ascontiguousarray(rows["context"])
    if not (context[1:] < context[:-1]).any():
        return rows
    order = np.argsort(context.astype(np.uint16), kind="stable")  # a radix sort, unlike that of more bits
    if high := int(context.max()) >> 16:
        upper = (context >> 16).astype(np.uint16 if high < 1 << 16 else np.uint32)[order]
        order = order[np.argsort(upper, kind="stable")]
    return take_rows(rows, order)


def take_rows(rows: NDArray[Any], positions: slice | NDArray[np.int64]) -> NDArray[Any]:
    """Return the rows at some positions; faster than NumPy does for structures."""
    if isinstance(positions, slice):
        return rows[positions]
    words = rows.view(np.int64).reshape(len(rows), -1)
    return words[positions].view(rows.dtype).reshape(-1)


def _end_of(rows: NDArray[Any], complete: int) -> int:
    """Return the number of rows with contexts below a limit; they are sorted."""
    return len(rows) if complete >= END else int(np.searchsorted(rows["context"], np.uint32(complete)))

"""A quick check that a launch has no races: one compiled pass, which spares most launches two searches.

It recognises simple cases only. Every element of global memory that is written belongs to one thread, and every such
element of shared memory to one thread in each phase. Every element of shared and local memory that is read was stored
to before. `tracer.races` and `tracer.findings` decide the other cases.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...analysis.overlap import overlapping_buffers
from ...model.trace import Op, Trace
from ..compile_cached import compile_cached
from ..state import IntArray

LARGEST = 1 << 26  # elements in the table, which only uses memory for elements that a launch touches
SMALL_TABLE = 1 << 20  # elements in a table that is small in any case
MOST_FILLED = 1 << 22  # elements of shared and of all local memory, in a table that is small in any case
CHUNK = 1 << 15  # rows
MIN_PARALLEL_ROWS = 1 << 21  # rows from which several cores are faster
SEVERAL_THREADS = 1  # in the table instead of a thread: several threads have accessed the element
STORE = int(Op.STORE)
# State of a pass: its first and latest scope (a block's phase); 0 once a read came before any store.
FIRST, LAST, FILLED_FIRST = range(3)
NAMES = ("block", "thread", "phase", "op", "buffer", "index")


class Scan(NamedTuple):
    """The result of a quick check; False means undecided."""

    race_free: bool  # no two threads make unordered accesses to an element that one of them writes
    initialised: bool  # every element of shared and local memory that is read was stored to before


def is_race_free(trace: Trace) -> bool:
    """Check if no two threads make unordered accesses to an element that one of them writes; False means undecided."""
    return scan_trace(trace).race_free


def scan_trace(trace: Trace, cores: int = 1) -> Scan:
    """Check a trace that was recorded block by block and phase by phase, as compiled code does.

    cores: the number of cores to split the blocks of a large trace among.
    """
    groups = overlapping_buffers(trace, ("global", "shared"))
    phases = int(trace.phase.max(initial=0)) + 1
    bits = int(trace.threads + 2).bit_length()
    scopes = (int(trace.block.max(initial=0)) + 2) * phases
    tables = _TableLayout(trace, [group[0] for group in groups])
    if any(len(group) > 1 for group in groups) or tables.elements > LARGEST or scopes << bits > 1 << 61:
        return Scan(False, False)
    parts = _split_blocks(trace, cores if tables.elements <= MOST_FILLED else 1)
    passes = [_Pass(trace, tables, block_rows, phases, bits) for block_rows in parts]
    threads = [threading.Thread(target=scan_pass.run, daemon=True) for scan_pass in passes[1:]]
    for thread in threads:
        thread.start()
    passes[0].run()
    for thread in threads:
        thread.join()
    first, *others = passes
    in_order = all(a.state[LAST] <= max(b.state[FIRST], b.state[LAST]) for a, b in pairwise(passes))
    race_free = all(scan_pass.apart for scan_pass in passes) and in_order
    race_free = race_free and not any(
        tables_conflict(first.seen, other.seen, tables.shared_by_all) for other in others
    )
    is_initialised = tables.are_filled and all(scan_pass.state[FILLED_FIRST] for scan_pass in passes)
    return Scan(bool(race_free), bool(race_free and is_initialised))


class _TableLayout:
    """The start of each buffer's elements in the tables of a pass; -1 for buffers that need no check."""

    def __init__(self, trace: Trace, used: list[int]) -> None:
        columns, counts = trace.buffer_columns, trace.access_counts
        self.sizes = sizes = columns.size
        self.shared = columns.space == "shared"
        self.of_thread = columns.space == "local"
        if sizes[used].sum() > SMALL_TABLE:  # a large launch needs no table for arrays that are only read
            used = [number for number in used if counts[number, STORE:].any()]
        used.sort(key=lambda number: bool(self.shared[number]))  # memory that blocks share comes first
        self.start = _table_starts(sizes, used)
        self.elements = int(sizes[used].sum())
        self.shared_by_all = int(sizes[[n for n in used if not self.shared[n]]].sum())
        block_numbers = [
            n for n in range(len(sizes)) if (self.shared | self.of_thread)[n] and counts[n].any()
        ]
        copies = np.where(self.of_thread, trace.threads, 1)
        self.filled = int((sizes * copies)[block_numbers].sum())
        overlap = any(len(group) > 1 for group in overlapping_buffers(trace, ("local",)))
        self.are_filled = self.filled <= MOST_FILLED and not overlap
        self.fill_start = _table_starts(sizes * copies, block_numbers if self.are_filled else [])


def _table_starts(sizes: IntArray, used: list[int]) -> NDArray[np.int64]:
    start = np.full(len(sizes), -1, np.int64)
    start[used] = np.cumsum(sizes[used]) - sizes[used]
    return start


class _Pass:
    """A check of some rows; `apart` is its result."""

    def __init__(self, trace: Trace, tables: _TableLayout, rows: slice, phases: int, bits: int) -> None:
        self._trace, self._tables, self._rows = trace, tables, rows
        self._phases, self._bits = phases, bits
        self.seen = np.zeros(tables.elements, np.int64)
        self.filled = np.zeros(max(1, tables.filled if tables.are_filled else 0), np.int64)
        self.state = np.array([0, 0, 1], np.int64)
        self.apart = False

    def run(self) -> None:
        """Check all rows, up to the first one that may conflict with another."""
        columns, layout = [getattr(self._trace, name) for name in NAMES], self._tables
        needs_int64 = any(column.itemsize > 4 for column in columns) or self._trace.buffer.itemsize > 1
        types = (
            (np.int64,) * 6
            if needs_int64
            else (np.uint32, np.uint32, np.uint32, np.uint8, np.uint8, np.uint32)
        )
        layout_columns = layout.start, layout.fill_start, layout.sizes, layout.shared, layout.of_thread
        for low in range(self._rows.start, self._rows.stop, CHUNK):
            part = slice(low, min(low + CHUNK, self._rows.stop))
            block, thread, phase, op, buffer, index = (
                column[part].astype(kind, copy=False) for column, kind in zip(columns, types, strict=True)
            )
            if not scan_rows(
                block,
                thread,
                phase,
                op,
                buffer,
                index,
                *layout_columns,
                self._phases,
                self._bits,
                self.seen,
                self.filled,
                self.state,
            ):
                return
        self.apart = True


def _split_blocks(trace: Trace, cores: int) -> list[slice]:
    """Split the rows into one slice for each core, at the boundaries of blocks."""
    block, count = trace.block, len(trace)
    cuts = [0]
    for k in range(1, cores if count >= MIN_PARALLEL_ROWS else 1):
        cut = int(np.searchsorted(block, block[count * k // cores]))
        if cuts[-1] < cut and block[cut - 1] < block[cut]:
            cuts.append(cut)
    return [slice(low, high) for low, high in pairwise([*cuts, count])]


def _scan_rows(
    block: IntArray,
    thread: IntArray,
    phase: IntArray,
    op: IntArray,
    buffer: IntArray,
    index: IntArray,
    start: IntArray,
    fill_start: IntArray,
    sizes: IntArray,
    shared: IntArray,
    of_thread: IntArray,
    phases: int,
    bits: int,
    seen: IntArray,
    filled: IntArray,
    state: IntArray,
) -> bool:
    """Enter rows into `seen` and `filled`; return False at the first possible conflict, or a row out of order.

    seen: per element, the thread that accessed it, and whether it wrote. For global memory, a thread of the grid; for
    shared memory, a thread of a block in a phase: entries of other scopes are overwritten. filled: per element of
    shared memory, and of each thread's local memory, 1 more than the block that stored to it last.
    """
    begun, last, first = state[FIRST], state[LAST], state[FILLED_FIRST]
    for row in range(len(block)):
        number = np.int64(buffer[row])
        begin, fill_begin, element = start[number], fill_start[number], np.int64(index[row])
        if begin < 0 and fill_begin < 0:
            continue
        block_number, thread_number, operation, size = (
            np.int64(block[row]),
            np.int64(thread[row]),
            np.int64(op[row]),
            sizes[number],
        )
        is_inside = element >= 0 and element < size
        if fill_begin >= 0:
            if not is_inside:
                first = 0
            else:
                position = fill_begin + element + (thread_number * size if of_thread[number] else 0)
                if operation == STORE:
                    filled[position] = block_number + 1
                elif filled[position] != block_number + 1:
                    first = 0
        if begin < 0:
            continue
        scope = block_number * phases + np.int64(phase[row]) + 1
        if scope < last or not is_inside:
            return False
        begun, last = begun or scope, scope
        is_shared = shared[number]
        owner = ((scope if is_shared else block_number + 1) << bits) + thread_number + 2
        entry = seen[begin + element]
        previous_owner, was_written, is_write = entry >> 1, entry & 1, operation != 0
        if previous_owner == 0 or previous_owner == owner or (is_shared and previous_owner >> bits != scope):
            written_before = was_written if previous_owner == owner else 0
            seen[begin + element] = owner << 1 | (written_before | is_write)
        elif is_write or was_written:
            return False
        else:
            seen[begin + element] = ((scope << bits if is_shared else 0) + SEVERAL_THREADS) << 1
    state[FIRST], state[LAST], state[FILLED_FIRST] = begun, last, first
    return True


def _tables_conflict(seen: IntArray, others: IntArray, count: int) -> bool:
    """Check if an element is touched in both tables, by different blocks, and written in one."""
    for element in range(count):
        entry, other_entry = seen[element], others[element]
        if entry != 0 and other_entry != 0 and (entry | other_entry) & 1:
            return True
    return False


scan_rows, tables_conflict = compile_cached(_scan_rows), compile_cached(_tables_conflict)

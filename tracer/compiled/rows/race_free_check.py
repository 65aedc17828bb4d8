"""A quick look at whether threads keep to themselves: one compiled pass, which spares most launches two searches.

It says so only where it is plain: every element of global memory that is written belongs to one thread, every such
element of shared memory to one thread in each phase; and whatever is read of shared and local memory was stored to
before. What it leaves open, `tracer.races` and `tracer.findings` find out.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...analysis.overlap import overlapping_buffers
from ...model.trace import Op, Trace
from ..cached import cached

LARGEST = 1 << 26  # elements in the table, which takes memory where a launch touches them alone
FEW = 1 << 20  # elements whose table is no matter
MOST_FILLED = 1 << 22  # elements of shared memory, and of all threads' local memory, whose table is no matter
CHUNK = 1 << 15  # rows
SHARED_OUT = 1 << 21  # rows from which on it pays to have several cores look
OTHERS = 1  # in place of a thread: several have been there
STORE = int(Op.STORE)
# What a pass goes on with: its first and latest scope (a block's phase); 0 once a read came before any store.
FIRST, LAST, FILLED_FIRST = range(3)
NAMES = ("block", "thread", "phase", "op", "buffer", "index")


class Look(NamedTuple):
    """What a quick look found; False may be either."""

    apart: bool  # no two threads touch an element in no order of which one writes it
    written_first: bool  # every element of shared and local memory that is read was stored to before


def keep_apart(trace: Trace) -> bool:
    """Return True where no two threads touch an element in no order of which one writes it; False may be either."""
    return look_at(trace).apart


def look_at(trace: Trace, cores: int = 1) -> Look:
    """Return what is plain of a trace recorded block by block and phase by phase, as compiled code does.

    cores: on which a large one may be looked at, each at blocks of its own.
    """
    groups = overlapping_buffers(trace, ("global", "shared"))
    phases = int(trace.phase.max(initial=0)) + 1
    bits = int(trace.threads + 2).bit_length()
    scopes = (int(trace.block.max(initial=0)) + 2) * phases
    tables = _Tables(trace, [group[0] for group in groups])
    if any(len(group) > 1 for group in groups) or tables.elements > LARGEST or scopes << bits > 1 << 61:
        return Look(False, False)
    parts = _parts(trace, cores if tables.elements <= MOST_FILLED else 1)
    passes = [_Pass(trace, tables, part, phases, bits) for part in parts]
    threads = [threading.Thread(target=one.go, daemon=True) for one in passes[1:]]
    for thread in threads:
        thread.start()
    passes[0].go()
    for thread in threads:
        thread.join()
    first, *others = passes
    in_order = all(a.state[LAST] <= max(b.state[FIRST], b.state[LAST]) for a, b in pairwise(passes))
    apart = all(one.apart for one in passes) and in_order
    apart = apart and not any(meet(first.seen, other.seen, tables.shared_by_all) for other in others)
    filled = tables.are_filled and all(one.state[FILLED_FIRST] for one in passes)
    return Look(bool(apart), bool(apart and filled))


class _Tables:
    """Where the elements of each buffer begin in the tables of a pass, -1 for those that need not be looked at."""

    def __init__(self, trace: Trace, used: list[int]) -> None:
        columns, counts = trace.buffer_columns, trace.access_counts
        self.sizes = sizes = columns.size
        self.shared = columns.space == "shared"
        self.of_thread = columns.space == "local"
        if sizes[used].sum() > FEW:  # of arrays that are only read a large launch needs no table
            used = [number for number in used if counts[number, STORE:].any()]
        used.sort(key=lambda number: bool(self.shared[number]))  # what blocks share comes first
        self.start = _places(sizes, used)
        self.elements = int(sizes[used].sum())
        self.shared_by_all = int(sizes[[n for n in used if not self.shared[n]]].sum())
        inner = [n for n in range(len(sizes)) if (self.shared | self.of_thread)[n] and counts[n].any()]
        copies = np.where(self.of_thread, trace.threads, 1)
        self.filled = int((sizes * copies)[inner].sum())
        overlap = any(len(group) > 1 for group in overlapping_buffers(trace, ("local",)))
        self.are_filled = self.filled <= MOST_FILLED and not overlap
        self.fill_start = _places(sizes * copies, inner if self.are_filled else [])


def _places(sizes: NDArray[np.int64], used: list[int]) -> NDArray[np.int64]:
    start = np.full(len(sizes), -1, np.int64)
    start[used] = np.cumsum(sizes[used]) - sizes[used]
    return start


class _Pass:
    """A look at some rows; `apart` says what it found."""

    def __init__(self, trace: Trace, tables: _Tables, rows: slice, phases: int, bits: int) -> None:
        self._trace, self._tables, self._rows = trace, tables, rows
        self._phases, self._bits = phases, bits
        self.seen = np.zeros(tables.elements, np.int64)
        self.filled = np.zeros(max(1, tables.filled if tables.are_filled else 0), np.int64)
        self.state = np.array([0, 0, 1], np.int64)
        self.apart = False

    def go(self) -> None:
        """Look at all rows, or those up to one that may meet another."""
        columns, t = [getattr(self._trace, name) for name in NAMES], self._tables
        wide = any(column.itemsize > 4 for column in columns) or self._trace.buffer.itemsize > 1
        types = (np.int64,) * 6 if wide else (np.uint32, np.uint32, np.uint32, np.uint8, np.uint8, np.uint32)
        where = t.start, t.fill_start, t.sizes, t.shared, t.of_thread
        for low in range(self._rows.start, self._rows.stop, CHUNK):
            part = slice(low, min(low + CHUNK, self._rows.stop))
            rows = [
                column[part].astype(kind, copy=False) for column, kind in zip(columns, types, strict=True)
            ]
            if not pass_over(*rows, *where, self._phases, self._bits, self.seen, self.filled, self.state):
                return
        self.apart = True


def _parts(trace: Trace, cores: int) -> list[slice]:
    """Return rows of whole blocks, as many for each core."""
    block, count = trace.block, len(trace)
    cuts = [0]
    for k in range(1, cores if count >= SHARED_OUT else 1):
        cut = int(np.searchsorted(block, block[count * k // cores]))
        if cuts[-1] < cut and block[cut - 1] < block[cut]:
            cuts.append(cut)
    return [slice(low, high) for low, high in pairwise([*cuts, count])]


def _pass_over(
    block: Any, thread: Any, phase: Any, op: Any, buffer: Any, index: Any,
    start: Any, fill_start: Any, sizes: Any, shared: Any, of_thread: Any, phases: Any, bits: Any,
    seen: Any, filled: Any, state: Any,
) -> Any:  # fmt: skip
    """Enter rows into `seen` and `filled`; return False at the first that may meet another, or is not in order.

    seen: per element who touched it, and whether they wrote. Of global memory who is a thread of the grid; of
    shared memory one of a block's in a phase, and those of other scopes are forgotten. filled: per element of shared
    memory, and of each thread's local memory, 1 more than the block that stored to it last.
    """
    begun, last, first = state[FIRST], state[LAST], state[FILLED_FIRST]
    for row in range(len(block)):
        number = np.int64(buffer[row])
        begin, fill, place = start[number], fill_start[number], np.int64(index[row])
        if begin < 0 and fill < 0:
            continue
        here, me, what, size = np.int64(block[row]), np.int64(thread[row]), np.int64(op[row]), sizes[number]
        inside = place >= 0 and place < size
        if fill >= 0:
            if not inside:
                first = 0
            else:
                at = fill + place + (me * size if of_thread[number] else 0)
                if what == STORE:
                    filled[at] = here + 1
                elif filled[at] != here + 1:
                    first = 0
        if begin < 0:
            continue
        scope = here * phases + np.int64(phase[row]) + 1
        if scope < last or not inside:
            return False
        begun, last = begun or scope, scope
        of_block = shared[number]
        mine = ((scope if of_block else here + 1) << bits) + me + 2
        held = seen[begin + place]
        before, wrote, writes = held >> 1, held & 1, what != 0
        if before == 0 or before == mine or (of_block and before >> bits != scope):
            kept = wrote if before == mine else 0
            seen[begin + place] = mine << 1 | (kept | writes)
        elif writes or wrote:
            return False
        else:
            seen[begin + place] = ((scope << bits if of_block else 0) + OTHERS) << 1
    state[FIRST], state[LAST], state[FILLED_FIRST] = begun, last, first
    return True


def _meet(seen: Any, others: Any, count: Any) -> Any:
    """Return whether one of so many elements is touched in both tables, of other blocks, and written in one."""
    for place in range(count):
        mine, theirs = seen[place], others[place]
        if mine != 0 and theirs != 0 and (mine | theirs) & 1:
            return True
    return False


pass_over, meet = cached(_pass_over), cached(_meet)

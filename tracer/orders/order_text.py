"""An order in words: the first access that differs between two runs, and what it read or wrote too early."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.finding import access_element, line_text, thread_text, value_text
from ..model.trace import Op, Trace
from ..races.conflicting_accesses import differ


class Reversal(Struct, frozen=True):
    """Two accesses to one element that another order reversed."""

    sentence: str  # "Thread 3 read tile_a[0] in line 14 before thread 0 wrote it in line 12."
    early: int  # row of the changed run: the access that came first
    late: int  # row of the changed run: the access that came after it
    first: tuple[int, int, int]  # block, thread and number among the thread's accesses, of `early`
    second: tuple[int, int, int]  # of `late`
    element: str  # as the source names it


class _Run:
    """A run with the number of each access among those of its thread."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        rows = np.arange(len(trace))
        thread = trace.thread_in_grid(rows)
        self._by_thread = np.argsort(thread, kind="stable")
        counts = np.bincount(thread, minlength=trace.grid[0] * trace.grid[1] * trace.grid[2] * trace.threads)
        self._counts, self._starts = counts, np.cumsum(counts) - counts
        number = np.empty(len(rows), np.int64)
        number[self._by_thread] = np.arange(len(rows)) - np.repeat(self._starts, counts)
        self.thread, self.number = thread, number

    def rows(self, thread: Ints, number: Ints) -> Ints:
        """Return the rows of accesses by thread and number among its accesses, -1 for threads that made fewer."""
        exists = number < self._counts[thread]
        rows: Ints = np.where(exists, self._by_thread[np.where(exists, self._starts[thread] + number, 0)], -1)
        return rows

    def key(self, row: int) -> tuple[int, int, int]:
        """Return block, thread and number of an access."""
        trace = self.trace
        return int(trace.block[row]), int(trace.thread[row]), int(self.number[row])

    def writer(self, row: int) -> int:
        """Return the last write to a row's element before it, -1 for none."""
        writes = np.flatnonzero(self._touches(row)[:row])
        return int(writes[-1]) if len(writes) else -1

    def last_writer(self, row: int) -> int:
        """Return the last write of the run to a row's element."""
        writes = np.flatnonzero(self._touches(row))
        return int(writes[-1]) if len(writes) else -1

    def _touches(self, row: int) -> NDArray[np.bool_]:
        trace = self.trace
        matches = (trace.index == trace.index[row]) & (trace.buffer == trace.buffer[row])
        if trace.buffers[int(trace.buffer[row])].space == "shared":
            matches &= trace.block == trace.block[row]
        writes: NDArray[np.bool_] = matches & (trace.op != Op.LOAD)
        return writes


def reversal_of(before: Trace, changed: Trace) -> Reversal | None:
    """Find the first access of a changed run that another order affected, and the access that it was reversed with.

    before: a run of the same launch in another order. None if no value differs.
    """
    first, second = _Run(before), _Run(changed)
    row = _first_different(first, second)
    return None if row < 0 else _reversal(first, second, row)


def _first_different(first: _Run, second: _Run) -> int:
    """Find the first read of the second run whose value differs, else the first write that stays; -1 for none."""
    rows = np.arange(len(second.trace))
    partners = first.rows(second.thread, second.number)
    old, new = first.trace, second.trace
    if old.value is None or new.value is None:
        return -1
    exists = partners >= 0
    rows, partners = rows[exists], partners[exists]
    same_place = (new.index[rows] == old.index[partners]) & (new.op[rows] == old.op[partners])
    is_read = (new.op[rows] == Op.LOAD) | (new.op[rows] == Op.ATOMIC)
    different = same_place & is_read & differ(new.value[rows], old.value[partners])
    if different.any():
        return int(rows[different].min())
    for row in sorted(rows[same_place & (new.op[rows] != Op.LOAD)].tolist(), reverse=True):
        if second.last_writer(row) == row and (partner := _partner(first, second, row)) >= 0:
            last = first.last_writer(partner)
            if first.key(last) != second.key(row):
                return int(row)
    return -1


def _partner(other: _Run, run: _Run, row: int) -> int:
    return int(other.rows(run.thread[row : row + 1], run.number[row : row + 1])[0])


def _reversal(first: _Run, second: _Run, row: int) -> Reversal | None:
    """Describe why an access of the second run differs from the same access of the first."""
    partner = _partner(first, second, row)
    if second.trace.op[row] in (Op.STORE, Op.REDUCTION):
        old_last = _partner(second, first, first.last_writer(partner))
        return _describe(second, old_last, row) if 0 <= old_last < row else None
    old_writer, new_writer = first.writer(partner), second.writer(row)
    missing = -1 if old_writer < 0 else _partner(second, first, old_writer)
    if missing > row:
        return _describe(second, row, missing)
    if new_writer >= 0 and second.thread[new_writer] != second.thread[row]:
        return _describe(second, new_writer, row)
    return None


def _describe(run: _Run, early: int, late: int) -> Reversal:
    trace = run.trace
    blocks = len(trace.blocks) > 1
    verbs = {Op.LOAD: "read", Op.STORE: "wrote", Op.ATOMIC: "updated", Op.REDUCTION: "updated"}
    verb, later = verbs[Op(int(trace.op[early]))], verbs[Op(int(trace.op[late]))]
    thread = thread_text(trace, early, block=blocks)
    lines = [line_text(trace, int(trace.site[row])) for row in (early, late)]
    value = value_text(trace, early)
    number = f" ({value})" if value else ""
    sentence = (
        f"{thread[0].upper()}{thread[1:]} {verb} {access_element(trace, early)}{number} in {lines[0]} before "
        f"{thread_text(trace, late, block=blocks)} {later} it in {lines[1]}."
    )
    return Reversal(sentence, early, late, run.key(early), run.key(late), access_element(trace, early))

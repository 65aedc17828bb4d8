"""Blocks of a launch that can't meet, run beside each other on all cores; the trace is that of one core.

They run in parts of consecutive blocks, each by a thread with a scheduler, rows and memory of its own, and the whole
takes in the parts in order. That blocks did not meet is known at the end: nobody has touched what another thread of the
driver's has written. Otherwise, and wherever something happens that only the order of one core tells, NotBeside is
raised, and whoever asked runs the launch again on one core.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from copy import copy
from itertools import combinations, pairwise

import numpy as np

from ...model.array_types import Columns
from ...model.launch import Schedule
from ...model.trace import Op
from ...recording.recorder import TooLarge
from ...recording.run_record import RunRecord
from ...storage.trace_file import TraceFileError
from ..not_compilable import NotCompilable
from ..rows.touched import LARGEST, have_met, places_of
from ..state import StopReason, Word
from .block_runner import BlockRunner
from .growing_columns import GrowingColumns, Misfit, Region
from .memory import LaunchMemory
from .parts import NEVER, NotBeside, Part, PartMemory, PartRecorder, WholeRecorder

MOST_CORES = 16
WARM_UP = 0.002  # seconds on one core, in which buffers and sites become known, and how long a block takes
WORTH = 0.02  # seconds on one core that are left, from which on it pays to share them
PART = 0.02  # seconds of a part
PART_ROWS = 1 << 20  # that are kept
MOST_GROWTH = 8  # times as many blocks as in the first part, where blocks turn out to take less time
COSTLY = 35e-9  # seconds of an access that is moved, from which on cores gain more than that costs
LARGEST_BLOCK = 1 << 22  # rows that are kept of a block
PATIENCE = 2.0  # seconds of the processor for a part, at least
SLOWEST = 20  # times as long as was expected, at most
FORESEEN = (Misfit, NotCompilable, TooLarge, MemoryError)  # that only the order of one core tells
AHEAD = 3  # parts per core that may wait for one before them


def cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST_CORES, len(affinity(0)) if affinity else os.cpu_count() or 1)


class Team:
    """Runs blocks of a launch, once the first ones have run on one core.

    whole, memory: of those. entry: address of the compiled kernel. count: counts columns for a record. report: is
    called with how many blocks have ended. meanwhile: what else is to be done, and touches nothing of theirs: is called
    by one while the others run blocks.
    """

    def __init__(
        self, record: RunRecord, whole: WholeRecorder, memory: LaunchMemory, entry: int,
        count: Callable[[RunRecord, int, Columns], None], report: Callable[[int], None],
        meanwhile: Callable[[], None],
    ) -> None:  # fmt: skip
        self._record, self._whole, self._memory, self._entry = record, whole, memory, entry
        self._count, self._report, self._meanwhile = count, report, meanwhile
        self._members: list[_Member] = []
        self._failure: BaseException | None = None
        self._turn = threading.Condition()
        self._chosen: Sequence[int] = ()
        self._size = self._most = 1  # blocks of a part
        self._patience = PATIENCE  # seconds of a part
        self._next = 0  # block that none has yet
        self._begun = self._added = self._copied = 0  # parts
        self._is_adding = False
        self._copying = 0  # parts that are being copied
        self._ended: dict[int, Part] = {}
        self._to_copy: deque[tuple[Part, Columns, Columns]] = deque()
        self._stores: list[GrowingColumns] = []
        self._rows = 0  # that each block is expected to make, 0 where it can't be told

    def is_worth_it(self, seconds: float, done: int, of: int) -> bool:
        """Return whether the blocks that are left are to be run here, after some took so long on one core."""
        each = seconds / done
        if cores() < 2 or of - done < 2 or seconds < WARM_UP or each * (of - done) < WORTH or not self._can():
            return False
        rows = self._whole.accesses_until_now() / done
        size, counts = PART / each, self._whole.streaming is not None
        self._most = int(min(MOST_GROWTH * size, of if counts else PART_ROWS / max(1, rows)))
        self._have_size(size)
        self._patience = max(PATIENCE, SLOWEST * self._size * each)
        if counts:
            return True
        if rows > LARGEST_BLOCK:
            return False
        self._rows = self._whole.rows_of_each(of - done)
        if self._rows:
            return True
        # How long an access takes is known later: nobody has had the memory of the first rows.
        return seconds >= 10 * WARM_UP and each > COSTLY * rows

    def _have_size(self, blocks: float) -> None:
        """Have parts of so many blocks, as far as that goes."""
        self._size = max(1, min(int(blocks), self._most))

    def _can(self) -> bool:
        """Return whether nothing has happened yet that only the order of one core tells."""
        whole, state = self._whole, self._whole.state
        kinds = {
            dtype for b in whole.buffers if (dtype := np.dtype(b.dtype)).kind != "V"
        }  # records have fields
        return not (
            state[Word.GRID]
            or whole.out_of_bounds
            or whole.mask_faults.found()
            or (whole.streaming is None and (whole.capped or whole.accesses_until_now() > whole.limit))
            or any(Op.ATOMIC <= kind <= Op.REDUCTION for kind in whole.program.site_kinds)
            or not _have_one_type(kinds)
            or _overlap(self._record)
            or places_of(whole.buffers)[1] > LARGEST
        )

    def run(self, chosen: Sequence[int]) -> None:
        """Run these blocks; raises NotBeside, and what a handler of signals or `report` raised."""
        self._whole.flush()
        self._memory.declare()
        self._chosen = chosen
        if self._rows and not self._whole.expect(self._rows * len(chosen)):
            self._rows = 0
        count = min(cores(), len(chosen))
        given = self._record, self._whole, self._whole.only_read(), self._memory, self._entry, self._count
        self._members = [_Member(*given) for _ in range(count)]
        self._whole.others = [member.recorder for member in self._members]
        threads = [self._started(member) for member in self._members[1:]]
        self._work(self._members[0])
        for thread in filter(None, threads):
            thread.join()
        self._end()

    def _started(self, member: _Member) -> threading.Thread | None:
        """Return a thread in which a member works, None where the system has none left."""
        thread = threading.Thread(target=self._work, args=(member,), daemon=True)
        with suppress(RuntimeError):
            thread.start()
            return thread
        return None

    def stop(self, failure: BaseException) -> None:
        """Stop all soon: to be called in the thread that runs them, while it does."""
        self._fail(failure)
        self._whole.stop(failure)
        if self._members:
            self._members[0].recorder.stop(failure)

    def _fail(self, failure: BaseException) -> None:
        self._failure = self._failure or failure
        for member in self._members:
            member.recorder.failure = member.recorder.failure or failure

    def _end(self) -> None:
        members, self._members = self._members, []
        self._whole.others = ()
        for member in members:
            member.recorder.release()
        if self._failure is not None:
            raise self._failure
        if have_met([member.recorder.touched for member in members]):
            raise NotBeside
        self._whole.end_parts()
        for member in members:
            self._record.add_totals(member.totals())
        self._report(len(self._whole.finished))

    def _work(self, member: _Member) -> None:
        """Run parts until there are no more."""
        try:
            if member is self._members[-1]:
                self._meanwhile()
            while (found := self._next_part()) is not None:
                number, blocks, region = found
                store = self._store() if region is None and not self._whole.capped else region
                begin = time.perf_counter()
                part = member.run(blocks, store, self._patience)
                self._have_size(len(blocks) * PART / (time.perf_counter() - begin))
                self._add(number, part)
                self._copy()
                if member is self._members[0]:
                    self._tell()
        except BaseException as error:  # noqa: BLE001  # raised again where all have stopped
            self._fail(member.told(error))

    def _tell(self) -> None:
        """Report how many blocks have ended; what that raises is raised again on one core."""
        try:
            self._report(len(self._whole.finished))
        except Exception as error:
            raise NotBeside from error

    def _store(self) -> GrowingColumns:
        """Return columns for a part, if there are any those of an earlier one, whose memory is there already."""
        with self._turn:
            if self._stores:
                return self._stores.pop()
            return GrowingColumns(self._record.launch.limits.memory // 16, 2 * PART_ROWS)

    def _next_part(self) -> tuple[int, Sequence[int], Region | None] | None:
        """Return number and blocks of the next part, and room for its rows where it is known how many these will be.

        None where there is none, or all are to stop.
        """
        with self._turn:
            while self._begun - self._copied > AHEAD * len(self._members) and self._failure is None:
                self._turn.wait(0.05)
            left = len(self._chosen) - self._next
            if self._failure is not None or not left:
                return None
            size = min(self._size, max(1, left // (2 * len(self._members))))  # the last ones end together
            begin, number = self._next, self._begun
            self._next, self._begun = begin + size, number + 1
            region = self._whole.region(size * self._rows) if self._rows else None
            return number, self._chosen[begin : begin + size], region

    def _add(self, number: int, part: Part) -> None:
        """Let the whole take in a part, and those that waited for it."""
        with self._turn:
            self._ended[number] = part
            if self._is_adding:
                return
            self._is_adding = True
        while (found := self._next_ended()) is not None:
            copies = self._whole.add(found, self._settle)
            with self._turn:
                self._added += 1
                if copies is None:
                    self._reuse(found)
                else:
                    self._to_copy.append((found, *copies))

    def _copy(self) -> None:
        """Copy what nobody copies yet: in all threads, since memory that nobody has had takes longest."""
        while True:
            with self._turn:
                if not self._to_copy:
                    return
                part, columns, places = self._to_copy.popleft()
                self._copying += 1
            for name, column in columns.items():
                places[name][...] = column
            with self._turn:
                self._copying -= 1
                self._reuse(part)

    def _settle(self) -> None:
        """Return once nothing is left to be copied."""
        self._copy()
        with self._turn:
            while self._copying:
                self._turn.wait(0.05)

    def _reuse(self, part: Part) -> None:
        """Take back the columns of a part that has been copied or counted."""
        if isinstance(part.kept, GrowingColumns) and part.kept.clear():
            self._stores.append(part.kept)
        self._copied += 1
        self._turn.notify_all()

    def _next_ended(self) -> Part | None:
        with self._turn:
            found = self._ended.pop(self._added, None)
            self._is_adding = found is not None
            return found


class _Member:
    """What runs parts in one thread."""

    def __init__(
        self, record: RunRecord, whole: WholeRecorder, only_read: Container[int], memory: LaunchMemory, entry: int,
        count: Callable[[RunRecord, int, Columns], None],
    ) -> None:  # fmt: skip
        state, threads = np.zeros(len(Word), np.int64), whole.threads
        self._state = state
        self._record = copy(record)
        self._record.totals = {}
        mine = PartMemory(memory, whole.state, state)
        self.recorder = recorder = self._record.recorder = PartRecorder(
            NEVER, record.launch.limits.memory, lambda columns: count(self._record, threads, columns), whole.program,
            state, mine.number_of, record.grid[0] * record.grid[1] * record.grid[2], threads,
        )  # fmt: skip
        recorder.memory = mine
        recorder.begin(whole, only_read)
        self._blocks = BlockRunner(
            entry, state, recorder, mine, record.grid, record.dim, Schedule("sequential"), 1, _nothing,
            fixed=record.launch.resident is not None, recursive=bool(whole.program.recursive),
        )  # fmt: skip

    def run(self, blocks: Sequence[int], store: GrowingColumns | Region | None, patience: float) -> Part:
        """Run a part; its accesses are kept in `store`, or counted. For `patience` see PartRecorder.begin_part."""
        self.recorder.begin_part(store, patience)
        self._blocks.run(blocks)
        return self.recorder.end_part()

    def told(self, error: BaseException) -> BaseException:
        """Return what is to be raised for what stopped a part: one core tells which block raised first."""
        found = self.recorder.failure or error
        if isinstance(found, NotBeside | TraceFileError) or not isinstance(found, Exception):
            return found
        raised = self.recorder.failure is None and self._state[Word.STOPPED] == StopReason.RAISED
        return NotBeside(None if raised or isinstance(found, FORESEEN) else found)

    def totals(self) -> dict[str, int]:
        """Return the counters of the accesses that are not kept."""
        if self.recorder.streaming is not None:
            self._record.add_totals(self.recorder.streaming.totals())
        return self._record.totals


def _nothing(done: int) -> None:
    """Take a report of progress."""


def _have_one_type(kinds: set[np.dtype[np.generic]]) -> bool:
    """Return whether a column of values of these types has the same type in whichever order they come."""
    if len(kinds) > 6:
        return False
    wide = np.result_type(*kinds) if kinds else None
    some = (part for size in range(2, len(kinds)) for part in combinations(kinds, size))
    return all(np.result_type(np.result_type(*part), wide) == wide for part in some)


def _overlap(record: RunRecord) -> bool:
    """Return whether memories lie over each other that traces take for several."""
    spans = sorted((memory.start, memory.start + memory.cells.nbytes) for memory in record.memories)
    return any(a[1] > b[0] for a, b in pairwise(spans))

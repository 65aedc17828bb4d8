"""Run blocks that don't interact in parallel on all cores; the trace is the same as from one core.

Each thread runs parts, which are consecutive blocks, with a scheduler, rows and memory for itself. The launch's
recorder adds the parts in order. Only at the end it is known that the blocks did not interact: no thread touched memory
that another one wrote. Otherwise, and whenever the result depends on the order of blocks on one core,
NeedsSerialRunError is raised. The caller then runs the launch again on one core.
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
from ...recording.recorder import TooManyAccessesError
from ...recording.run_record import RunRecord
from ...storage.trace_file import TraceFileError
from ..not_compilable import NotCompilableError
from ..rows.touched_memory import LARGEST, has_cross_block_conflict, places_of
from ..state import StopReason, Word
from .block_runner import BlockRunner
from .growing_columns import GrowingColumns, MisfitError, ReservedRows
from .memory import LaunchMemory
from .parts import NEVER, LaunchRecorder, NeedsSerialRunError, Part, PartMemory, PartRecorder

MOST_CORES = 16
WARM_UP = 0.002  # seconds on one core, in which buffers, sites and the time of a block become known
MIN_REMAINING = 0.02  # remaining seconds on one core, from which several cores are faster
PART = 0.02  # seconds of a part
PART_ROWS = 1 << 20  # rows of a part, if they are kept
MOST_GROWTH = 8  # times the blocks of the first part, if blocks turn out to be faster
COSTLY = 35e-9  # seconds for an access, from which several cores save more than the copy of the access costs
LARGEST_BLOCK = 1 << 22  # rows of a block, if they are kept
PATIENCE = 2.0  # minimum limit of a part, in seconds of processor time
SLOWEST = 20  # times the expected time, as the limit of a part
EXPECTED_ERRORS = (
    MisfitError,
    NotCompilableError,
    TooManyAccessesError,
    MemoryError,
)  # only one core reports these correctly
AHEAD = 3  # parts per core that may wait for an earlier one


def cores() -> int:
    """Count the cores that this process may use, at most MOST_CORES."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST_CORES, len(affinity(0)) if affinity else os.cpu_count() or 1)


class ParallelRun:
    """Runs blocks of a launch in parallel, after the first ones have run on one core.

    launch_recorder, memory: of the first blocks. entry: address of the compiled kernel. count: counts columns for a
    record. report: called with the number of ended blocks. background_work: independent work, which one thread does
    before its first part.
    """

    def __init__(
        self, record: RunRecord, launch_recorder: LaunchRecorder, memory: LaunchMemory, entry: int,
        count: Callable[[RunRecord, int, Columns], None], report: Callable[[int], None],
        background_work: Callable[[], None],
    ) -> None:  # fmt: skip
        self._record, self._launch_recorder = record, launch_recorder
        self._memory, self._entry = memory, entry
        self._count, self._report, self._background_work = count, report, background_work
        self._runners: list[_Runner] = []
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._chosen: Sequence[int] = ()
        self._size = self._max_size = 1  # blocks of a part, and their maximum
        self._patience = PATIENCE  # seconds for a part
        self._next = 0  # index of the first block that no part has
        self._begun = self._added = self._copied = 0  # numbers of parts
        self._is_adding = False
        self._copying = 0  # number of parts that are being copied
        self._ended: dict[int, Part] = {}
        self._to_copy: deque[tuple[Part, Columns, Columns]] = deque()
        self._free_columns: list[GrowingColumns] = []
        self._rows_per_block = 0  # the expected rows of each block; 0 if unknown

    def is_worth_it(self, seconds: float, done: int, total: int) -> bool:
        """Check if the remaining blocks are worth running in parallel, from the time of those done on one core."""
        seconds_per_block = seconds / done
        remaining_seconds = seconds_per_block * (total - done)
        if cores() < 2 or total - done < 2 or seconds < WARM_UP or remaining_seconds < MIN_REMAINING:
            return False
        if not self._is_possible():
            return False
        rows = self._launch_recorder.access_count() / done
        size, is_counting = PART / seconds_per_block, self._launch_recorder.streaming is not None
        self._max_size = int(min(MOST_GROWTH * size, total if is_counting else PART_ROWS / max(1, rows)))
        self._set_size(size)
        self._patience = max(PATIENCE, SLOWEST * self._size * seconds_per_block)
        if is_counting:
            return True
        if rows > LARGEST_BLOCK:
            return False
        self._rows_per_block = self._launch_recorder.predict_rows_per_block(total - done)
        if self._rows_per_block:
            return True
        # The time of an access is not known yet: the memory for the first rows was new.
        return seconds >= 10 * WARM_UP and seconds_per_block > COSTLY * rows

    def _set_size(self, blocks: float) -> None:
        """Set the number of blocks in a part, within its limits."""
        self._size = max(1, min(int(blocks), self._max_size))

    def _is_possible(self) -> bool:
        """Check that nothing has happened yet whose result depends on the order of blocks on one core."""
        recorder, state = self._launch_recorder, self._launch_recorder.state
        kinds = {
            dtype for b in recorder.buffers if (dtype := np.dtype(b.dtype)).kind != "V"
        }  # records have fields
        return not (
            state[Word.GRID]
            or recorder.out_of_bounds
            or recorder.mask_faults.faults()
            or (recorder.streaming is None and (recorder.capped or recorder.access_count() > recorder.limit))
            or any(Op.ATOMIC <= kind <= Op.REDUCTION for kind in recorder.program.site_kinds)
            or not _has_order_independent_type(kinds)
            or _has_overlap(self._record)
            or places_of(recorder.buffers)[1] > LARGEST
        )

    def run(self, chosen: Sequence[int]) -> None:
        """Run these blocks; raises NeedsSerialRunError, and exceptions of `report` and of signal handlers."""
        self._launch_recorder.flush()
        self._memory.declare()
        self._chosen = chosen
        if self._rows_per_block and not self._launch_recorder.expect(self._rows_per_block * len(chosen)):
            self._rows_per_block = 0
        count = min(cores(), len(chosen))
        recorder = self._launch_recorder
        arguments = self._record, recorder, recorder.only_read(), self._memory, self._entry, self._count
        self._runners = [_Runner(*arguments) for _ in range(count)]
        self._launch_recorder.others = [runner.recorder for runner in self._runners]
        threads = [self._start_thread(runner) for runner in self._runners[1:]]
        self._work(self._runners[0])
        for thread in filter(None, threads):
            thread.join()
        self._end()

    def _start_thread(self, runner: _Runner) -> threading.Thread | None:
        """Start a thread for a runner; return None if the system has no more threads."""
        thread = threading.Thread(target=self._work, args=(runner,), daemon=True)
        with suppress(RuntimeError):
            thread.start()
            return thread
        return None

    def stop(self, failure: BaseException) -> None:
        """Stop all runners soon; to be called in the thread that called `run`."""
        self._fail(failure)
        self._launch_recorder.stop(failure)
        if self._runners:
            self._runners[0].recorder.stop(failure)

    def _fail(self, failure: BaseException) -> None:
        self._failure = self._failure or failure
        for runner in self._runners:
            runner.recorder.failure = runner.recorder.failure or failure

    def _end(self) -> None:
        members, self._runners = self._runners, []
        self._launch_recorder.others = ()
        for runner in members:
            runner.recorder.release()
        if self._failure is not None:
            raise self._failure
        if has_cross_block_conflict([runner.recorder.touched for runner in members]):
            raise NeedsSerialRunError
        self._launch_recorder.end_parts()
        for runner in members:
            self._record.add_totals(runner.totals())
        self._report(len(self._launch_recorder.finished))

    def _work(self, runner: _Runner) -> None:
        """Run parts until there are no more."""
        try:
            if runner is self._runners[-1]:
                self._background_work()
            while (next_part := self._next_part()) is not None:
                number, blocks, region = next_part
                store = (
                    self._take_columns() if region is None and not self._launch_recorder.capped else region
                )
                begin = time.perf_counter()
                part = runner.run(blocks, store, self._patience)
                self._set_size(len(blocks) * PART / (time.perf_counter() - begin))
                self._add(number, part)
                self._copy()
                if runner is self._runners[0]:
                    self._report_progress()
        except BaseException as error:  # noqa: BLE001  # raised again when all have stopped
            self._fail(runner.as_launch_error(error))

    def _report_progress(self) -> None:
        """Report the number of ended blocks; an exception from that is raised again on one core."""
        try:
            self._report(len(self._launch_recorder.finished))
        except Exception as error:
            raise NeedsSerialRunError from error

    def _take_columns(self) -> GrowingColumns:
        """Return columns for a part, if possible those of an earlier part, whose memory is already mapped."""
        with self._changed:
            if self._free_columns:
                return self._free_columns.pop()
            return GrowingColumns(self._record.launch.limits.memory // 16, 2 * PART_ROWS)

    def _next_part(self) -> tuple[int, Sequence[int], ReservedRows | None] | None:
        """Return the number and blocks of the next part, and room for its rows if their number is known.

        Returns None if there is no part left, or if all runners must stop.
        """
        with self._changed:
            while self._begun - self._copied > AHEAD * len(self._runners) and self._failure is None:
                self._changed.wait(0.05)
            remaining = len(self._chosen) - self._next
            if self._failure is not None or not remaining:
                return None
            # Small last parts, so that they end at the same time.
            size = min(self._size, max(1, remaining // (2 * len(self._runners))))
            begin, number = self._next, self._begun
            self._next, self._begun = begin + size, number + 1
            region = (
                self._launch_recorder.region(size * self._rows_per_block) if self._rows_per_block else None
            )
            return number, self._chosen[begin : begin + size], region

    def _add(self, number: int, part: Part) -> None:
        """Let the launch's recorder add a part, and the parts that waited for it."""
        with self._changed:
            self._ended[number] = part
            if self._is_adding:
                return
            self._is_adding = True
        while (part_to_add := self._next_ended()) is not None:
            copies = self._launch_recorder.add(part_to_add, self._finish_copies)
            with self._changed:
                self._added += 1
                if copies is None:
                    self._reuse(part_to_add)
                else:
                    self._to_copy.append((part_to_add, *copies))

    def _copy(self) -> None:
        """Copy the pending parts: every thread does, since writing to new memory takes longest."""
        while True:
            with self._changed:
                if not self._to_copy:
                    return
                part, columns, targets = self._to_copy.popleft()
                self._copying += 1
            for name, column in columns.items():
                targets[name][...] = column
            with self._changed:
                self._copying -= 1
                self._reuse(part)

    def _finish_copies(self) -> None:
        """Finish all copies before returning."""
        self._copy()
        with self._changed:
            while self._copying:
                self._changed.wait(0.05)

    def _reuse(self, part: Part) -> None:
        """Reuse the columns of a part that has been copied or counted."""
        if isinstance(part.kept, GrowingColumns) and part.kept.clear():
            self._free_columns.append(part.kept)
        self._copied += 1
        self._changed.notify_all()

    def _next_ended(self) -> Part | None:
        with self._changed:
            part = self._ended.pop(self._added, None)
            self._is_adding = part is not None
            return part


class _Runner:
    """Runs parts in one thread."""

    def __init__(
        self, record: RunRecord, launch_recorder: LaunchRecorder, only_read: Container[int], memory: LaunchMemory,
        entry: int, count: Callable[[RunRecord, int, Columns], None],
    ) -> None:  # fmt: skip
        state, threads = np.zeros(len(Word), np.int64), launch_recorder.threads
        self._state = state
        self._record = copy(record)
        self._record.totals = {}
        part_memory = PartMemory(memory, launch_recorder.state, state)
        self.recorder = recorder = self._record.recorder = PartRecorder(
            NEVER, record.launch.limits.memory, lambda columns: count(self._record, threads, columns),
            launch_recorder.program, state, part_memory.number_of,
            record.grid[0] * record.grid[1] * record.grid[2], threads,
        )  # fmt: skip
        recorder.memory = part_memory
        recorder.begin(launch_recorder, only_read)
        self._blocks = BlockRunner(
            entry, state, recorder, part_memory, record.grid, record.dim, Schedule("sequential"), 1, _ignore_progress,
            fixed=record.launch.resident is not None, recursive=bool(launch_recorder.program.recursive),
        )  # fmt: skip

    def run(
        self, blocks: Sequence[int], store: GrowingColumns | ReservedRows | None, patience: float
    ) -> Part:
        """Run a part; its accesses are kept in `store`, or counted. For `patience` see PartRecorder.begin_part."""
        self.recorder.begin_part(store, patience)
        self._blocks.run(blocks)
        return self.recorder.end_part()

    def as_launch_error(self, error: BaseException) -> BaseException:
        """Return the exception to raise after one in a part: only a run on one core knows which block raised first."""
        failure = self.recorder.failure or error
        if isinstance(failure, NeedsSerialRunError | TraceFileError) or not isinstance(failure, Exception):
            return failure
        kernel_raised = self.recorder.failure is None and self._state[Word.STOPPED] == StopReason.RAISED
        return NeedsSerialRunError(None if kernel_raised or isinstance(failure, EXPECTED_ERRORS) else failure)

    def totals(self) -> dict[str, int]:
        """Return the counters of accesses that are not kept."""
        if self.recorder.streaming is not None:
            self._record.add_totals(self.recorder.streaming.totals())
        return self._record.totals


def _ignore_progress(done: int) -> None:
    """Ignore a report of progress."""


def _has_order_independent_type(kinds: set[np.dtype[np.generic]]) -> bool:
    """Check that a column of values of these types gets the same type whatever the order of the values."""
    if len(kinds) > 6:
        return False
    common_type = np.result_type(*kinds) if kinds else None
    subsets = (part for size in range(2, len(kinds)) for part in combinations(kinds, size))
    return all(np.result_type(np.result_type(*part), common_type) == common_type for part in subsets)


def _has_overlap(record: RunRecord) -> bool:
    """Check if memories overlap that a trace treats as separate."""
    spans = sorted((memory.start, memory.start + memory.cells.nbytes) for memory in record.memories)
    return any(a[1] > b[0] for a, b in pairwise(spans))

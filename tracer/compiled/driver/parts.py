"""Parts of a launch's blocks that run in parallel: what each one records, and how the launch's recorder adds them."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...model.array_types import Columns, counts_of
from ...model.trace import Op
from ...recording.recorder import CHUNK
from ..rows.touched_memory import TouchedMemory
from ..state import CODE_BITS, IDLE_PHASES, MAX_PHASES, SITE_BITS, DriverCall, Word
from .barrier_log import SMALL_LOG, BarrierLog
from .busy_wait import SAME_READS
from .growing_columns import GrowingColumns, ReservedRows
from .memory import LaunchMemory
from .row_recorder import END, RowRecorder

# Calls of compiled code that a part handles.
_CALLS = (DriverCall.FULL, DriverCall.TICK, DriverCall.NUMBERS, DriverCall.ARRIVALS)
_CODE_MASK = (1 << CODE_BITS) - 1


class NeedsSerialRunError(Exception):
    """The result depends on the order of blocks on one core: the launch is undone, and run there.

    unforeseen: an internal error that stopped it, if that was the reason; the trace on one core is right, but slow.
    """

    def __init__(self, unforeseen: BaseException | None = None) -> None:
        super().__init__(repr(unforeseen) if unforeseen else "")
        self.unforeseen = unforeseen


class Part(Struct, frozen=True, eq=False):
    """The record of consecutive blocks."""

    blocks: list[int]  # in order
    accesses: int  # number of accesses
    sites: list[int]  # sites of the program that the thread of this part met for the first time, in order
    numbers: list[int]  # sites of the program, by their number in the columns
    kept: GrowingColumns | ReservedRows | None  # the accesses; None if they have been counted
    # At barriers, and at warp operations; steps count from the part's first.
    barriers: tuple[BarrierLog, BarrierLog]
    many_phases: bool  # see LaunchRecorder.many_phases


class LaunchRecorder(RowRecorder):
    """Takes rows, and parts that were recorded in parallel; the columns are the same as on one core.

    many_phases: whether rows may have been taken at unusual places since there were many phases.
    """

    _store: GrowingColumns
    many_phases = False
    others: Sequence[PartRecorder] = ()  # recorders of the current parts, this thread's first
    _last_room = 0  # rows reserved for the last part that was written in place

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._spans: list[tuple[int, int]] = []  # rows of the first blocks, and of parts written in place

    def access_count(self) -> int:
        """Count the accesses until now, including those of the current parts."""
        return super().access_count() + sum(other.access_count() for other in self.others)

    def current_loop(self) -> tuple[str, int] | None:
        """Return file and line of the loop that runs in this thread; None if none does."""
        return self.others[0].current_loop() if self.others else super().current_loop()

    def _take_rows(self, complete: int) -> None:
        self.many_phases |= _has_many_phases(self)
        super()._take_rows(complete)

    def add(self, part: Part, settle: Callable[[], None]) -> tuple[Columns, Columns] | None:
        """Add the next part; raises NeedsSerialRunError if it is unknown which rows one core would keep.

        Returns columns and the columns to copy them to. `settle` returns once all pending copies are finished.
        """
        for number in part.sites:
            self.site(number)
        accesses_before = self.accesses
        self.accesses += part.accesses
        self.finished += part.blocks
        self.many_phases |= part.many_phases
        if isinstance(part.kept, ReservedRows):
            begin, self._last_room = self._spans[-1][0] + self._last_room, part.kept.most
            self._spans.append((begin, begin + part.accesses))
        if part.kept is None or not part.accesses:
            self._add_arrivals(part, accesses_before)
            return None
        sites = self._trace_sites[part.numbers]
        columns = part.kept.columns()
        if not np.array_equal(sites, np.arange(len(sites))):
            trace_sites = sites.astype(np.min_scalar_type(sites.max()))[columns["site"]]
            columns["site"] = (
                part.kept.replace_column("site", trace_sites)
                if isinstance(part.kept, ReservedRows)
                else trace_sites
            )
        if isinstance(part.kept, ReservedRows):
            self._add_arrivals(part, accesses_before)
            return None
        # The number of rows with which one core finds that there are too many.
        full_count = (self.limit // CHUNK + 1) * CHUNK
        if self.capped:
            self.count(columns)
            return None
        self._add_arrivals(part, accesses_before)
        if self.accesses < full_count:
            if target := self._store.reserve_copy(columns):
                return columns, target
            settle()
            self._store.append(columns)
        else:
            settle()
            self._stop_keeping_at(columns, full_count - accesses_before)
        return None

    def only_read(self) -> set[int]:
        """Return the buffers that were read and not written, as far as that is known."""
        loads, stored = [
            self.streaming.done(at_loads=at_loads) if self.streaming else set() for at_loads in (True, False)
        ]
        for columns in self.kept:
            at_loads = columns["op"] == Op.LOAD
            for buffers, is_kind in ((loads, at_loads), (stored, ~at_loads)):
                buffers.update(np.flatnonzero(counts_of(columns["buffer"][is_kind])).tolist())
        return loads - stored

    def predict_rows_per_block(self, remaining: int) -> int:
        """Predict the rows of each remaining block; 0 if that is impossible.

        All blocks until now must have made the same number, and all rows must fit.
        """
        count, kept = len(self.finished), len(self._store)
        rows_per_block, remainder = divmod(self.access_count(), max(1, count))
        if (
            self.capped
            or remainder
            or not rows_per_block
            or (count + remaining) * rows_per_block > self.limit
        ):
            return 0
        # The first and last rows of the blocks, if the prediction is right.
        end_rows = np.arange(count)[:, None] * rows_per_block + np.array([0, rows_per_block - 1])
        waiting = self.rows["context"][end_rows[end_rows >= kept] - kept] // self.threads
        block = self._store.columns()["block"] if kept else np.empty(0, np.int64)
        blocks = np.concatenate([block[end_rows[end_rows < kept]], self._blocks[waiting]])
        return rows_per_block if np.array_equal(blocks, np.repeat(self.finished, 2)) else 0

    def expect(self, rows: int) -> bool:
        """Widen columns for any access; return whether there is room for more rows."""
        index = np.min_scalar_type(max(buffer.size for buffer in self.buffers) - 1)
        self._spans, self._last_room = [(0, len(self._store))], len(self._store)
        return not self.capped and self._store.expect(len(self._store) + rows, {"index": index})

    def region(self, rows: int) -> ReservedRows:
        """Reserve room for the rows of the next part; raises NeedsSerialRunError if there is none."""
        columns = self._store.reserve_rows(rows)
        if columns is None:
            raise NeedsSerialRunError
        return ReservedRows(columns)

    def _add_arrivals(self, part: Part, accesses_before: int) -> None:
        if self.streaming is None:
            for own_log, part_log in zip((self._barrier_log, self._warp_log), part.barriers, strict=True):
                own_log.extend(part_log, accesses_before)

    def _stop_keeping_at(self, columns: Columns, full_count: int) -> None:
        """Keep the blocks before the one that makes row `full_count` of these columns, and count the others."""
        last = columns["block"][full_count - 1]
        begin = int(np.argmax(columns["block"] == last))
        block_rows = int(np.count_nonzero(columns["block"] == last))
        seen_types = [
            np.dtype(self.buffers[b].dtype) for b in np.unique(columns["buffer"][:full_count]).tolist()
        ]
        types = [*(c["value"].dtype for c in self._kept_columns()), *seen_types]
        if self.many_phases or block_rows > self.limit or np.result_type(*types) != columns["value"].dtype:
            raise NeedsSerialRunError
        if begin:
            self._store.append({name: column[:begin] for name, column in columns.items()})
        self.kept = self._kept_columns()
        for kept_columns in self.kept:
            self.count(kept_columns)
        self.count({name: column[begin:] for name, column in columns.items()})
        self._stop_keeping()

    def _kept_columns(self) -> list[Columns]:
        return [self._store.columns()] if len(self._store) else []

    def end_parts(self) -> None:
        """Close the gaps between rows once all parts are there, and check if there are more rows than may be kept."""
        if len(self._spans) > 1:
            self._store.close_gaps(self._spans)
        if not self.capped:
            self.kept = self._kept_columns()
        if self.accesses > self.limit and not self.capped:
            self._apply_limit()


class PartMemory(LaunchMemory):
    """The memory of a launch for the blocks of a part: shared and local memory are separate, and no buffer is new."""

    def __init__(
        self, launch_memory: LaunchMemory, launch_state: NDArray[np.int64], state: NDArray[np.int64]
    ) -> None:
        vars(self).update(vars(launch_memory))
        self.seen, self._blocks = launch_memory.seen.copy(), []
        for word in (*self._tables, Word.DYNAMIC, Word.DECLARED_FROM, Word.DECLARATIONS, Word.DECLARED):
            state[word] = launch_state[word]
        self._tables = self._tables | {Word.SEEN: self.seen}
        state[Word.SEEN] = self.seen.ctypes.data

    def declare(self) -> None:
        """Make no buffer: refuse arrays that the first blocks have not declared."""
        if int(self.seen.max()) != self._seen_count:
            raise NeedsSerialRunError

    def number_of(self, region: int, code: int) -> int:
        """Return an existing buffer."""
        self.declare()
        if (region, code) not in self._numbers:
            raise NeedsSerialRunError
        return self._numbers[region, code]


class PartRecorder(RowRecorder):
    """Takes the rows of parts, one after the other, and notes the memory that they touch.

    Raises NeedsSerialRunError if a result depends on the order of blocks on one core.
    """

    touched: TouchedMemory
    memory: PartMemory
    many_phases = False

    def begin(self, launch_recorder: LaunchRecorder, only_read: Container[int]) -> None:
        """Start with the buffers and sites of the first blocks; `only_read` are the buffers that they only read."""
        self.buffers, self.sites = launch_recorder.buffers, list(launch_recorder.sites)
        self._buffer_numbers = launch_recorder._buffer_numbers.copy()
        self._trace_sites = launch_recorder._trace_sites.copy()
        self._program_sites = [0] * len(self.sites)
        for number in np.flatnonzero(self._trace_sites >= 0).tolist():
            self._program_sites[self._trace_sites[number]] = number
        self._reported_sites = len(self.sites)
        self.touched = TouchedMemory(self.buffers, only_read)
        for region_code in np.flatnonzero(self._buffer_numbers >= 0).tolist():
            self.touched.learn(region_code, int(self._buffer_numbers[region_code]))

    def site(self, number: int) -> int:
        """Return the number of a site of the program in this recorder."""
        if self._trace_sites[number] < 0:
            self._program_sites.append(number)
        return super().site(number)

    def begin_part(self, kept: GrowingColumns | ReservedRows | None, patience: float) -> None:
        """Begin a part whose accesses are kept in `kept`, or counted; `patience` is its limit in seconds.

        A part that seems endless is left to one core, which checks that.
        """
        self._deadline = time.thread_time() + patience
        self.accesses, self.finished, self.many_phases = 0, [], False
        self.state[Word.BASE] = 0
        # Small logs: for large ones the system would use huge pages, which are cleared for each part.
        self._barrier_log = BarrierLog(self._memory // 8, SMALL_LOG)
        self._warp_log = BarrierLog(self._memory // 8, SMALL_LOG, of_warp=True)
        if kept is None and self.streaming is None:
            self._stop_keeping()
        elif kept is not None:
            self._store = kept
            self._delegate_intake()

    def end_part(self) -> Part:
        """Return the record of the part, once its blocks have ended."""
        self.flush()
        self.memory.declare()
        if self.state[Word.GRID] or self.in_pieces:
            raise NeedsSerialRunError
        new_sites, self._reported_sites = (
            self._program_sites[self._reported_sites :],
            len(self._program_sites),
        )
        store = self._store if self.streaming is None else None
        logs = (self._barrier_log, self._warp_log)
        return Part(
            self.finished, self.accesses, new_sites, list(self._program_sites), store, logs, self.many_phases
        )

    def _on_call(self, call: int) -> int:
        if call not in _CALLS or time.thread_time() > self._deadline:
            self.failure = NeedsSerialRunError()
            return 1
        return super()._on_call(call)

    def _catch_up(self) -> None:
        super()._catch_up()
        if self.touched.is_unmarked:
            raise NeedsSerialRunError

    def _take_rows(self, complete: int) -> None:
        self.many_phases |= _has_many_phases(self)
        if self._phases[: self.state[Word.NUMBERS]].max(initial=0) >= IDLE_PHASES:
            raise NeedsSerialRunError  # one core refuses blocks that did nothing in so many phases
        rows = self.rows[: self._row_count()]
        while (marked := self.touched.add(rows, self._ops)) < len(rows):
            region_code = int(rows["key"][marked]) >> SITE_BITS
            if self.touched.is_learned(region_code):
                raise NeedsSerialRunError  # a first store to a buffer whose reads were not noted
            self.touched.learn(
                region_code, self.number_of(region_code >> CODE_BITS, region_code & _CODE_MASK)
            )
            rows = rows[marked:]
        super()._take_rows(complete)

    def _refuse_busy_waits(self, rows: NDArray[np.void]) -> None:
        super()._refuse_busy_waits(rows)
        if self._same_reads > SAME_READS // 2:  # one core counts from other rows on
            raise NeedsSerialRunError

    def _apply_limit(self) -> None:
        """Keep all rows: the launch's recorder enforces the limit."""

    def release(self) -> None:
        """Release what the launch's recorder has added; from here on compiled code can't write rows."""
        super().release()
        del self._callback


def _has_many_phases(recorder: RowRecorder) -> bool:
    return bool(recorder.state[Word.NUMBERS] >= MAX_PHASES // 2)


NEVER = END  # a limit that no part reaches

"""The recorder of compiled launches: rows become columns, with the same limits as in the simulator."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns, narrow
from ...model.trace import WARP, Barriers, Op, OutOfBounds, Site
from ...recording.out_of_bounds import IllegalAddressError, check_address, element_name
from ...recording.recorder import CHUNK, Recorder, TooManyAccessesError
from ...recording.warp_operations import Participants
from ..not_compilable import EndlessWaitError, NotCompilableError
from ..rewrite.program import RecordingProgram
from ..rows.decode import fill_values, type_of_values, view_rounds
from ..rows.streaming_counters import StreamingCounters
from ..rows.touched_memory import TouchedMemory
from ..runtime.printing import read_message
from ..state import (
    CODE_BITS,
    IDLE_PHASES,
    INTAKE_COLUMNS,
    MAX_ARRIVALS,
    MAX_INDICES,
    MAX_PHASES,
    ROW,
    SITE_BITS,
    ArrivalWord,
    BlockSlot,
    DriverCall,
    StopReason,
    ThreadSlot,
    Word,
)
from .barrier_log import BarrierLog
from .busy_wait import SAME_READS, is_busy_wait
from .growing_columns import GrowingColumns, ReservedRows
from .intake_tables import Decoder, Intake, count_address
from .signals import is_compiling

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_SITE_MASK, _CODE_MASK = (1 << SITE_BITS) - 1, (1 << CODE_BITS) - 1
COUNTED = 1 << 14  # rows that are counted at once without being kept: few enough for a processor's cache
MOST_OP = int(Op.ATOMIC)  # the highest Op of accesses that are not made
END = 1 << 62  # beyond every context
MAX_ENDED = 1 << 15  # blocks that end before the driver's turn, besides those of a sweep


class ThreadFaultError(Exception):
    """An access that ends the launch on a GPU: (block, thread, site, error)."""

    def __init__(self, block: int, thread: int, site: Site, error: Exception) -> None:
        super().__init__(str(error))
        self.block, self.thread, self.site, self.error = block, thread, site, error


class RowRecorder(Recorder):
    """Takes the rows that compiled code writes to `rows`, and the accesses that are out of bounds.

    number_of(region, code) gives the buffer of a region's elements of a dtype. memory: bytes of columns before they go
    to files, and of rows that wait to be counted. Once no more rows are kept, `streaming` counts them directly, a
    warp's phase at a time. The rows of the block that reaches the limit are counted as columns (`count`).
    """

    _in_turns = False  # whether threads take turns
    touched: TouchedMemory | None = None  # notes the memory that rows touch, if that is needed

    def __init__(
        self, limit: int, memory: int, count: Callable[[Columns], None], program: RecordingProgram,
        state: NDArray[np.int64], number_of: Callable[[int, int], int], blocks: int, threads: int,
    ) -> None:  # fmt: skip
        super().__init__(limit, count)
        self._top_block, self._memory = blocks - 1, memory
        self.program, self.state, self.number_of, self.threads = program, state, number_of, threads
        self.failure: BaseException | None = None
        self.streaming: StreamingCounters | None = None
        self.rows: NDArray[Any] = np.empty(0, ROW)
        self._index_parts = np.zeros(MAX_INDICES, np.int64)
        self._buffer_numbers = np.full(1 << 32 - SITE_BITS, -1, np.int32)
        self._trace_sites = np.full(max(1, len(program.sites)), -1, np.int32)
        self._ops = np.array([*program.site_kinds, 0], np.uint8)
        self.records_rounds = program.round_bits is not None
        tops = {"block": self._top_block, "thread": threads - 1}
        self._widths = {name: np.min_scalar_type(tops.get(name, 0)) for name in INTAKE_COLUMNS[:-1]}
        self._blocks = self._phases = np.zeros(0, np.int64)
        self._arrival_log = np.zeros((MAX_ARRIVALS, len(ArrivalWord)), np.int64)
        self._barrier_log = BarrierLog(memory // 8)
        self._warp_log = BarrierLog(memory // 8, of_warp=True)
        self._ended = np.zeros(0, np.int64)
        self.thread_slots = self.block_slots = self.warps = np.zeros((1, 1), np.int64)
        # Block, number of accesses and phase when threads last did more than wait.
        self._idle_since = (0, 0, 0)
        self._printed: list[str] = []  # printed lines that are not shown yet
        self._serving = False  # whether Python runs here and may be interrupted
        self._same_reads = 0  # rows since a thread last did anything but repeat the same few loads
        # The rest of the memory is for work on the columns.
        self._store: GrowingColumns | ReservedRows = GrowingColumns(memory // 2)
        self._decoder = Decoder(state)
        self._intake = Intake(state, in_turns=self._in_turns)
        self._callback = _CALLBACK(self._on_call)
        for word, table in (
            (Word.INDICES, self._index_parts), (Word.ARRIVALS, self._arrival_log),
        ):  # fmt: skip
            state[word] = table.ctypes.data
        state[Word.CALL] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self._make_room(CHUNK, 0)
        if not limit:
            self._stop_keeping()

    def _make_room(self, size: int, held_rows: int) -> None:
        """Allocate rows; the first `held_rows` are copied from the old ones."""
        rows = np.empty(size, ROW)
        if held_rows:
            _as_words(rows)[:held_rows] = _as_words(self.rows)[:held_rows]
        self.rows, begin = rows, rows.ctypes.data
        words = (
            (Word.BEGIN, begin),
            (Word.ROW, begin + held_rows * ROW.itemsize),
            (Word.END, begin + rows.nbytes),
        )
        for word, address in words:
            self.state[word] = address

    def use_slots(
        self, block_slots: NDArray[np.int64], thread_slots: NDArray[np.int64], warps: NDArray[np.int64]
    ) -> None:
        """Use the slots of resident blocks, and allocate tables for them: see `BlockSlot`, `ThreadSlot`, `WarpWord`."""
        self.block_slots, self.thread_slots, self.warps = block_slots, thread_slots, warps
        room = MAX_PHASES + len(block_slots)
        self._blocks, self._phases = lengthen_table(self._blocks, room), lengthen_table(self._phases, room)
        self._ended = lengthen_table(self._ended, MAX_ENDED + len(block_slots))
        tables = (Word.BLOCKS, self._blocks), (Word.PHASES, self._phases), (Word.FINISHED, self._ended)
        for word, table in tables:
            self.state[word] = table.ctypes.data
        self.state[Word.NUMBERS_ROOM] = room

    @property
    def exceeded_limit(self) -> str:
        """The limit that was exceeded, for the message after TooManyAccessesError."""
        if self.streaming is None:
            return f"one block makes more than the {self.limit:,} that may be kept"
        max_rows = self._memory // ROW.itemsize
        return f"a block makes more between two barriers than the {max_rows:,} that may be kept"

    def _stop_keeping(self) -> None:
        self._intake.end()
        # Arrivals at barriers are not used for blocks that are not kept.
        self.state[Word.ARRIVALS] = self.state[Word.ARRIVED] = 0
        self.capped = True
        self.streaming = StreamingCounters(self.threads, self._learn, self._sort_out, self.touched)
        self._make_room(COUNTED, 0)

    def _take_arrivals(self) -> None:
        """Take the scheduler's log of arrivals; for blocks that are not kept there is none."""
        log = self._arrival_log[: self.state[Word.ARRIVED]]
        self.state[Word.ARRIVED] = 0
        if self.streaming is None and len(log):
            self._barrier_log.add(log)
            self._warp_log.add(log)

    def print_lines(self) -> None:
        """Print the kernel's output; not before it is certain that no other engine repeats it."""
        for line in self._printed:
            print(line)
        self._printed = []

    def take_ended(self) -> None:
        """Take the blocks that have ended since the last call."""
        self._catch_up()
        ended = self._ended[: self.state[Word.FINISHED_COUNT]].tolist()
        self.state[Word.FINISHED_COUNT] = 0
        if self.capped and self.streaming is None:
            for block in ended:
                self.finish_block(block)
        else:
            self.finished += ended

    def site(self, number: int) -> int:
        """Return the trace's number of a site of the program."""
        if self._trace_sites[number] < 0:
            self._trace_sites[number] = len(self.sites)
            self.sites.append(self.program.sites[number])
        return int(self._trace_sites[number])

    def _on_call(self, call: int) -> int:
        """Serve compiled code, which stops if this returns 1; nothing may be raised through it."""
        try:
            self._serving = True
            self._serve(call)
            self._serving = False
        except BaseException as error:  # noqa: BLE001  # raised again by the caller of compiled code
            self._serving, self.failure = False, self.failure or error
        return int(self.failure is not None)

    def _serve(self, call: int) -> None:
        self._catch_up()
        if call == DriverCall.OUT_OF_BOUNDS:
            self._record_out_of_bounds()
        elif call == DriverCall.FULL:
            self._take_rows(END if self.streaming is None else self._first_incomplete_context())
        elif call == DriverCall.NUMBERS:
            self._take_rows(END)
        elif call == DriverCall.ARRIVALS:
            self._refuse_idle_barriers()
            self._take_arrivals()
        elif call == DriverCall.MASK_FAULT:
            self.mask_faults.check(self._participants())
        elif call == DriverCall.PRINT:
            self._printed.append(read_message(int(self.state[Word.MESSAGE])))
        elif call == DriverCall.TOO_DEEP:
            name = ctypes.string_at(int(self.state[Word.MESSAGE])).decode()
            raise NotCompilableError(f"the recursion of {name} is too deep for a thread's stack")

    def stop(self, failure: BaseException) -> None:
        """Stop compiled code at its next call, its caller at its next sweep, and counting at once.

        Not while something is compiled for that: LLVM then calls Python functions that must not raise, and would fail.
        """
        self.failure = failure
        if self._serving and not is_compiling(sys._getframe()):
            raise failure

    def raise_failure(self) -> None:
        """Raise the exception that stops the launch, if there is one."""
        if self.failure is not None:
            raise self.failure

    def _first_incomplete_context(self) -> int:
        """Return the context from which on warps may make more accesses in this phase, while a thread runs."""
        number, context = int(self.state[Word.NUMBER]), int(self.state[Word.CONTEXT])
        if self.state[Word.RESUMED] or self.state[Word.IN_WARPS]:
            return number  # threads that wait for lanes of their warp will make more accesses in this phase
        return number + (context - number) // WARP * WARP

    def _participants(self) -> Participants:
        """Return the participants of the warp operation that continues."""
        group, first_slot = int(self.state[Word.GROUP]), int(self.state[Word.GROUP_SLOT])
        first_thread = int(self.thread_slots[first_slot, ThreadSlot.THREAD])
        slots = self.thread_slots[first_slot : first_slot + min(WARP, self.threads - first_thread)]
        lanes = sorted(
            (lane for lane in range(len(slots)) if group >> lane & 1),
            key=lambda lane: slots[lane, ThreadSlot.WARP_ARRIVAL],
        )
        sites = {lane: self.site(int(slots[lane, ThreadSlot.SITE])) for lane in lanes}
        shuffles = (
            lane for lane in lanes if StopReason.SHUFFLE <= slots[lane, ThreadSlot.REASON] <= StopReason.XOR
        )
        sources = [
            _source_lane(StopReason(slots[n, ThreadSlot.REASON]), n, int(slots[n, ThreadSlot.EXTRA]))
            for n in shuffles
        ]
        running = int(np.bitwise_or.reduce(self.warps[slots[0, ThreadSlot.WARP]]))
        block = int(self.block_slots[slots[0, ThreadSlot.BLOCK_SLOT], BlockSlot.BLOCK])
        lane_mask, mask = (1 << len(slots)) - 1, int(self.state[Word.GROUP_MASK])
        accesses = self.access_count()
        return Participants(block, first_thread // WARP, mask, sites, sources, lane_mask, running, accesses)

    def access_count(self) -> int:
        """Count the accesses until now, taken in or not."""
        return self.accesses + self._intake.taken + self._row_count()

    def current_loop(self) -> tuple[str, int] | None:
        """Return file and line of the loop whose round compiled code counted last; None if none runs."""
        loops = self.program.loops if hasattr(self, "_callback") else []
        number = int(self.state[Word.LOOP])
        return loops[number - 1] if 0 < number <= len(loops) else None

    def _row_count(self) -> int:
        return int(self.state[Word.ROW] - self.state[Word.BEGIN]) // ROW.itemsize

    def flush(self) -> None:
        """Take in all rows, which are complete phases of warps."""
        self._take_rows(END)

    def _take_rows(self, complete: int) -> None:
        """Turn the rows into columns, or count those with contexts before `complete`."""
        self._catch_up()
        self._refuse_idle_barriers()
        self._take_arrivals()
        self._note_ended_blocks()
        rows, taken = self.rows[: self._row_count()], self._row_count()
        self._refuse_busy_waits(rows[self._intake.left :])
        if self.streaming is not None:
            taken = self._count_complete(self.streaming, rows, complete)
            self._delegate_counting(self.streaming)
            if self.count_past_limit and self._is_too_large(len(rows) - taken):
                taken, self.in_pieces = taken + self._count_complete(self.streaming, rows[taken:], END), True
        elif len(rows):
            self._keep(rows)
        self.accesses += taken
        self._reset_rows(taken)
        if len(rows) and self.streaming is None:
            self._apply_limit()
            if self.capped:
                self._intake.end()
                self.state[Word.PAUSE_AT] = 1  # the driver's turn is at the end of this block

    def _catch_up(self) -> None:
        """Record the rows that compiled code has taken in."""
        if taken := self._intake.note_taken():
            self.accesses += taken
            self._same_reads = 0
            if self.streaming is None:
                self._store.add(taken)
                self.kept = [self._store.columns()]

    def _keep(self, rows: NDArray[Any]) -> None:
        if self.capped:
            self.pending.append(self._columns(rows))
        else:
            self._decode(rows, self._store)
            self.kept = [self._store.columns()]
            self._delegate_intake()

    def _delegate_intake(self) -> None:
        """Let compiled code take in rows by itself from here on, as far as it can."""
        if self.records_rounds:
            return
        tables = (self._buffer_numbers, self._trace_sites, self._ops)
        self._intake.begin(self._store, self._most_rows(), tables, self.touched)

    def _delegate_counting(self, streaming: StreamingCounters) -> None:
        """Let compiled code count rows by itself from here on, as far as it can."""
        if self.records_rounds:
            return
        tables = (self._buffer_numbers, self._trace_sites, self._ops)
        self._intake.begin_counting(count_address(), streaming.words, tables, self.touched)

    def _most_rows(self) -> int:
        """Return the number of rows after which the driver must check."""
        return self.limit

    def _count_complete(self, streaming: StreamingCounters, rows: NDArray[Any], complete: int) -> int:
        """Count the rows before a context; return their number."""
        count = len(rows)
        if complete < END:
            complete_rows = np.flatnonzero(rows["context"] < complete)
            count = int(complete_rows[-1]) + 1 if len(complete_rows) else 0
        if self.state[Word.RESUMED]:
            rows[:count] = rows[:count][np.argsort(rows["context"][:count], kind="stable")]
        if self.records_rounds:
            if count:
                self._sort_out(rows[:count])
            return count
        tables = (self._buffer_numbers, self._trace_sites, self._ops)
        streaming.add(rows[:count], self.buffers, tables, len(self.program.sites))
        return count

    def _sort_out(self, rows: NDArray[Any]) -> None:
        """Count rows whose order must be sorted out."""
        self.count(self._columns(rows))

    def _is_too_large(self, leftover: int) -> bool:
        """Check if so many waiting rows leave no room, and no more can be allocated."""
        return leftover > len(self.rows) // 4 and 4 * self.rows.nbytes > self._memory

    def _refuse_busy_waits(self, rows: NDArray[Any]) -> None:
        """Raise EndlessWaitError if a thread seems to wait for one that runs after it."""
        self._same_reads = self._same_reads + len(rows) if is_busy_wait(rows, self._ops) else 0
        if self._same_reads > SAME_READS:
            raise EndlessWaitError(
                "a thread may wait for another, and compiled threads run one after the other"
            )

    def _refuse_idle_barriers(self) -> None:
        """Raise EndlessWaitError if a block passes many barriers without an access; the simulator finds the reason."""
        block, accesses, phase = self._idle_since
        current = int(self.state[Word.BLOCK]), self.accesses + self._row_count(), int(self.state[Word.PHASE])
        if current[:2] != (block, accesses):
            self._idle_since = current
        elif current[2] - phase > IDLE_PHASES:
            raise EndlessWaitError("its threads pass barrier after barrier without accessing memory")

    def _is_phase_over(self, rows: Columns) -> NDArray[np.bool_]:
        """Return a mask of the rows in completed phases, or of warps that have completed one."""
        is_current = (rows["block"] == self.state[Word.BLOCK]) & (rows["phase"] == self.state[Word.PHASE])
        return np.asarray(
            super()._is_phase_over(rows) | (is_current & (rows["thread"] < self._first_incomplete_context()))
        )

    def _reset_rows(self, taken: int) -> None:
        """Continue at the first row, in the current phase; rows that were not taken are moved there."""
        leftover = self._intake.left = self._row_count() - taken
        size = len(self.rows)
        if leftover > size // 4:
            if self._is_too_large(leftover):
                raise TooManyAccessesError
            size *= 4
        last_phase = max(int(self.state[Word.NUMBERS]) - 1, 0)
        if leftover:
            words = _as_words(self.rows)
            words[:leftover] = words[taken : taken + leftover]
            self.rows["context"][:leftover] -= last_phase * self.threads
        if size != len(self.rows):
            self._make_room(size, leftover)
        self.state[Word.ROW] = self.state[Word.BEGIN] + leftover * ROW.itemsize
        self.state[Word.BASE] = self.accesses
        self._blocks[0], self._phases[0] = self._blocks[last_phase], self._phases[last_phase]
        self.state[Word.NUMBERS] = min(self.state[Word.NUMBERS], 1)
        self.block_slots[:, BlockSlot.NUMBER] = self.state[Word.NUMBER] = 0
        self.state[Word.CONTEXT] %= self.threads

    def _note_ended_blocks(self) -> None:
        """List the blocks that have made all their accesses, before the next rows are checked."""
        count = int(self.state[Word.FINISHED_COUNT])
        self.finished.extend(self._ended[:count].tolist())
        self.state[Word.FINISHED_COUNT] = 0
        self.state[Word.PAUSE_AT] = max(1, self.state[Word.PAUSE_AT] - count)

    def finish_block(self, block: int) -> None:
        """Record that a block has made all its accesses."""
        self.finished.append(block)
        if self.capped and self.streaming is None:
            self.flush()
            self._count_finished()
            self._stop_keeping()

    def end(self) -> None:
        """Take in the remaining rows unless they are not needed; from here on compiled code can't write rows."""
        if self.failure is None or isinstance(self.failure, Exception):
            self.close()
        del self._callback

    def release(self) -> None:
        """Release the columns, which live on in the trace: a launch and its recorder refer to each other."""
        self._intake.end()
        self.kept, self.pending, self._store = [], [], GrowingColumns(0)

    def columns(self) -> Columns:
        """Return the columns of all rows kept, in order."""
        columns = self.kept[0] if len(self.kept) == 1 else super().columns()
        if not self.records_rounds:
            return columns
        if self.state[Word.ROUNDS_LOST]:
            return {name: column for name, column in columns.items() if name != "round"}
        return {"round": np.empty(0, np.uint64)} | columns

    def _columns(self, rows: NDArray[Any]) -> Columns:
        """Return new columns of some rows."""
        columns = GrowingColumns(END, len(rows))
        self._decode(rows, columns)
        return columns.columns()

    def _decode(self, rows: NDArray[Any], store: GrowingColumns | ReservedRows) -> None:
        """Add rows to columns, which are widened as needed."""
        tables, widths = (self._buffer_numbers, self._trace_sites, self._ops), self._widths
        begin, end = len(store), len(store) + len(rows)
        while True:
            columns = store.room(len(rows), widths)
            decoded = self._decoder.decode(rows, columns, begin, tables)
            if decoded < len(rows):
                self._learn(int(rows["key"][decoded]))
                continue
            types = self._decoder.types
            if all(columns[name].itemsize >= dtype.itemsize for name, dtype in types.items()):
                break
            widths = widths | types
        codes = self._decoder.codes
        values = store.room(len(rows), {"value": type_of_values(codes)})["value"]
        fill_values(rows, codes, values[begin:end])
        if self.records_rounds:
            rounds = view_rounds(rows)
            store.room(len(rows), {"round": rounds.dtype})["round"][begin:end] = rounds
        store.add(len(rows))

    def _learn(self, key: int) -> None:
        """Find the buffer and site of a new key."""
        self.site(key & _SITE_MASK)
        region_and_code = key >> SITE_BITS
        if self._buffer_numbers[region_and_code] < 0:
            region, code = region_and_code >> CODE_BITS, region_and_code & _CODE_MASK
            self._buffer_numbers[region_and_code] = self.number_of(region, code)

    def _record_out_of_bounds(self) -> None:
        number = self._row_count()
        index, key, context, _ = self.rows[number].item()
        if self._buffer_numbers[key >> SITE_BITS] < 0:
            self._learn(key)
        buffer = int(self._buffer_numbers[key >> SITE_BITS])
        indices = self._index_parts[: self.state[Word.INDEX_COUNT]].tolist()
        sweep, thread = divmod(context, self.threads)
        thread_and_phase = (int(self._blocks[sweep]), thread, int(self._phases[sweep]))
        site = self.site(key & _SITE_MASK)
        text = element_name(self.buffers[buffer], indices, index)
        op = min(int(self._ops[key & _SITE_MASK]), MOST_OP)
        step = self.accesses + number
        self.out_of_bounds.append((*thread_and_phase, op, buffer, site, step, index, text))
        try:
            check_address(self.buffers, buffer, index, text)
        except IllegalAddressError as error:
            raise ThreadFaultError(*thread_and_phase[:2], self.sites[site], error) from None

    def _split(self, chunks: list[Columns]) -> tuple[list[Columns], list[Columns]]:
        """Split into (rows of finished blocks, the others); blocks run one after the other."""
        if self.finished and chunks[-1]["block"][-1] == self.finished[-1]:
            names = chunks[0]
            return [{name: np.concatenate([c[name] for c in chunks]) for name in names}], []
        return super()._split(chunks)

    def barriers(self, *, warp: bool = False) -> Barriers:
        """Return the arrivals at barriers, or at warp operations, as columns."""
        return (self._warp_log if warp else self._barrier_log).barriers(self.site)

    def outside(self) -> OutOfBounds:
        """Return the accesses out of bounds as columns."""
        return _out_of_bounds_columns(self.out_of_bounds)


def lengthen_table(table: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return a longer table of words, or rows of words, that begins with another one."""
    longer_table = np.zeros((count, *table.shape[1:]), np.int64)
    longer_table[: len(table)] = table
    return longer_table


def _source_lane(reason: StopReason, lane: int, extra: int) -> int:
    """Return the lane whose value a shuffle reads."""
    if reason == StopReason.SHUFFLE:
        return extra % WARP
    if reason == StopReason.XOR:
        return lane ^ extra
    return lane + (extra if reason == StopReason.DOWN else -extra)


def _as_words(rows: NDArray[Any]) -> NDArray[np.int64]:
    """View rows as words, which are copied faster than fields."""
    return rows.view(np.int64).reshape(len(rows), -1)


def _out_of_bounds_columns(out_of_bounds: Sequence[tuple[Any, ...]]) -> OutOfBounds:
    """Convert out-of-bounds accesses to columns; each is given as the fields of `OutOfBounds`."""
    block, thread, phase, op, buffer, site, step, cell, text = (
        [access[i] for access in out_of_bounds] for i in range(9)
    )
    thread_and_phase = (narrow(np.array(column, np.int64)) for column in (block, thread, phase))
    buffer_site_step = (narrow(np.array(column, np.int64)) for column in (buffer, site, step))
    fields = (*thread_and_phase, np.array(op, np.uint8), *buffer_site_step, np.array(cell, np.int64))
    return OutOfBounds(*fields, tuple(text))  # type: ignore[call-arg, arg-type]

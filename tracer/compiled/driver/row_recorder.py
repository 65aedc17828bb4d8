"""The recorder of compiled launches: rows become columns, under the same caps as in the simulator."""

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
from ...recording.recorder import CHUNK, Recorder, TooLarge
from ...recording.warp_operations import Participants
from ..not_compilable import NotCompilable, WaitsForOthers
from ..rewrite.program import RecordingProgram
from ..rows.decode import fill_values, type_of_values
from ..rows.streaming_counters import StreamingCounters
from ..rows.touched import Touched
from ..runtime.printing import printed
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
    DriverCall,
    PlaceWord,
    SeatWord,
    StopReason,
    Word,
)
from .barrier_log import BarrierLog
from .busy_wait import SAME_READS, is_busy_wait
from .growing_columns import GrowingColumns, Region
from .intake import Decoder, Intake, count_address
from .signals import is_compiling

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_SITE_MASK, _CODE_MASK = (1 << SITE_BITS) - 1, (1 << CODE_BITS) - 1
COUNTED = 1 << 14  # rows that are counted at once without being kept: few enough for a processor's cache
MOST_OP = int(Op.ATOMIC)  # that accesses which are not made have
END = 1 << 62  # beyond every context
MAX_ENDED = 1 << 15  # blocks that end before the driver has its turn, besides those of a sweep


class ThreadFaultError(Exception):
    """An access that ends the launch on a GPU: (block, thread, where it is made, the error)."""

    def __init__(self, block: int, thread: int, site: Site, error: Exception) -> None:
        super().__init__(str(error))
        self.block, self.thread, self.site, self.error = block, thread, site, error


class RowRecorder(Recorder):
    """Takes the rows that compiled code writes to `rows`, and what it says of misses.

    number_of(region, code) gives the buffer of a region's elements of a dtype. memory: bytes of columns before they go
    to files, and of rows that wait to be counted. Once no more rows are kept, they are counted as they are, a warp's
    phase at a time (`streaming`); those of the block in which that is found are counted as columns (`count`).
    """

    _in_turns = False  # whether threads take turns
    touched: Touched | None = None  # where it is noted which memory the rows touch, if that is to be known

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
        self._parts = np.zeros(MAX_INDICES, np.int64)
        self._buffer_numbers = np.full(1 << 32 - SITE_BITS, -1, np.int32)
        self._final = np.full(max(1, len(program.sites)), -1, np.int32)
        self._ops = np.array([*program.site_kinds, 0], np.uint8)
        tops = {"block": self._top_block, "thread": threads - 1}
        self._widths = {name: np.min_scalar_type(tops.get(name, 0)) for name in INTAKE_COLUMNS[:-1]}
        self._blocks = self._phases = np.zeros(0, np.int64)
        self._log = np.zeros((MAX_ARRIVALS, len(ArrivalWord)), np.int64)
        self._arrived = BarrierLog(memory // 8)
        self._arrived_warp = BarrierLog(memory // 8, of_warp=True)
        self._ended = np.zeros(0, np.int64)
        self.places = self.seats = self.warps = np.zeros((1, 1), np.int64)
        self._idle_since = (0, 0, 0)  # block, accesses made and phase when threads last did more than wait
        self._printed: list[str] = []  # lines that nobody has seen
        self._serving = False  # whether Python runs here and may be interrupted
        self._same_reads = 0  # rows since a thread last did anything but make the same few loads
        # The rest of the memory is for what is made of the columns.
        self._store: GrowingColumns | Region = GrowingColumns(memory // 2)
        self._decoder = Decoder(state)
        self._intake = Intake(state, in_turns=self._in_turns)
        self._callback = _CALLBACK(self._on_call)
        for word, table in (
            (Word.INDICES, self._parts), (Word.ARRIVALS, self._log),
        ):  # fmt: skip
            state[word] = table.ctypes.data
        state[Word.CALL] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self._make_room(CHUNK, 0)
        if not limit:
            self._keep_no_more()

    def _make_room(self, size: int, held: int) -> None:
        """Have room for so many rows, the first of which are `held` from before."""
        rows = np.empty(size, ROW)
        if held:
            _words(rows)[:held] = _words(self.rows)[:held]
        self.rows, begin = rows, rows.ctypes.data
        words = (Word.BEGIN, begin), (Word.ROW, begin + held * ROW.itemsize), (Word.END, begin + rows.nbytes)
        for word, address in words:
            self.state[word] = address

    def have_seats(
        self, seats: NDArray[np.int64], places: NDArray[np.int64], warps: NDArray[np.int64]
    ) -> None:
        """Have room for what these resident blocks do: see `SeatWord`, `PlaceWord`, `WarpWord`; the driver's own."""
        self.seats, self.places, self.warps = seats, places, warps
        room = MAX_PHASES + len(seats)
        self._blocks, self._phases = longer(self._blocks, room), longer(self._phases, room)
        self._ended = longer(self._ended, MAX_ENDED + len(seats))
        tables = (Word.BLOCKS, self._blocks), (Word.PHASES, self._phases), (Word.FINISHED, self._ended)
        for word, table in tables:
            self.state[word] = table.ctypes.data
        self.state[Word.NUMBERS_ROOM] = room

    @property
    def too_many(self) -> str:
        """What was too much, after TooLarge."""
        if self.streaming is None:
            return f"one block makes more than the {self.limit:,} that may be held"
        most = self._memory // ROW.itemsize
        return f"a block makes more between two barriers than the {most:,} that may be held"

    def _keep_no_more(self) -> None:
        self._intake.end()
        # Of blocks that are not kept, nobody asks who came to which barrier.
        self.state[Word.ARRIVALS] = self.state[Word.ARRIVED] = 0
        self.capped = True
        self.streaming = StreamingCounters(self.threads, self._learn, self._sort_out, self.touched)
        self._make_room(COUNTED, 0)

    def _take_arrivals(self) -> None:
        """Take what the scheduler noted of barriers; of blocks that are not kept, nothing is."""
        log = self._log[: self.state[Word.ARRIVED]]
        self.state[Word.ARRIVED] = 0
        if self.streaming is None and len(log):
            self._arrived.add(log)
            self._arrived_warp.add(log)

    def print_lines(self) -> None:
        """Print what the kernel printed: not before it is settled that no other engine does it again."""
        for line in self._printed:
            print(line)
        self._printed = []

    def take_ended(self) -> None:
        """Take the blocks that have ended since."""
        self._catch_up()
        ended = self._ended[: self.state[Word.FINISHED_COUNT]].tolist()
        self.state[Word.FINISHED_COUNT] = 0
        if self.capped and self.streaming is None:
            for block in ended:
                self.finish_block(block)
        else:
            self.finished += ended

    def site(self, number: int) -> int:
        """Return the number in the trace of a site of the program."""
        if self._final[number] < 0:
            self._final[number] = len(self.sites)
            self.sites.append(self.program.sites[number])
        return int(self._final[number])

    def _on_call(self, call: int) -> int:
        """Serve compiled code, which stops where this returns 1; nothing may be raised through it."""
        try:
            self._serving = True
            self._serve(call)
            self._serving = False
        except BaseException as error:  # noqa: BLE001  # raised again by whoever runs compiled code
            self._serving, self.failure = False, self.failure or error
        return int(self.failure is not None)

    def _serve(self, call: int) -> None:
        self._catch_up()
        if call == DriverCall.OUT_OF_BOUNDS:
            self._record_out_of_bounds()
        elif call == DriverCall.FULL:
            self._empty(END if self.streaming is None else self._under_way())
        elif call == DriverCall.NUMBERS:
            self._empty(END)
        elif call == DriverCall.ARRIVALS:
            self._refuse_idle_barriers()
            self._take_arrivals()
        elif call == DriverCall.MASK_FAULT:
            self.mask_faults.check(self._participants())
        elif call == DriverCall.PRINT:
            self._printed.append(printed(int(self.state[Word.MESSAGE])))
        elif call == DriverCall.TOO_DEEP:
            name = ctypes.string_at(int(self.state[Word.MESSAGE])).decode()
            raise NotCompilable(f"{name} calls itself more often than a thread's stack has room for")

    def stop(self, failure: BaseException) -> None:
        """Stop compiled code at its next call, what drives it at its next sweep, and at once what is counted.

        Not while something is compiled for that: LLVM calls functions of Python's there, out of which nothing can be
        raised, and would fail.
        """
        self.failure = failure
        if self._serving and not is_compiling(sys._getframe()):
            raise failure

    def raise_failure(self) -> None:
        """Raise what is to stop the launch, if anything is."""
        if self.failure is not None:
            raise self.failure

    def _under_way(self) -> int:
        """Return the context from which on rows of warps are not yet complete, while a thread runs."""
        number, context = int(self.state[Word.NUMBER]), int(self.state[Word.CONTEXT])
        if self.state[Word.RESUMED] or self.state[Word.IN_WARPS]:
            return number  # threads that wait for lanes of their warp will make more accesses in this phase
        return number + (context - number) // WARP * WARP

    def _participants(self) -> Participants:
        """Return who came to the warp operation that goes on."""
        group, first = int(self.state[Word.GROUP]), int(self.state[Word.GROUP_PLACE])
        threads = int(self.places[first, PlaceWord.THREAD])
        warp = self.places[first : first + min(WARP, self.threads - threads)]
        came = sorted(
            (lane for lane in range(len(warp)) if group >> lane & 1),
            key=lambda lane: warp[lane, PlaceWord.CAME],
        )
        sites = {lane: self.site(int(warp[lane, PlaceWord.SITE])) for lane in came}
        shuffles = (
            lane for lane in came if StopReason.SHUFFLE <= warp[lane, PlaceWord.REASON] <= StopReason.XOR
        )
        sources = [
            _source(StopReason(warp[n, PlaceWord.REASON]), n, int(warp[n, PlaceWord.EXTRA])) for n in shuffles
        ]
        running = int(np.bitwise_or.reduce(self.warps[warp[0, PlaceWord.WARP]]))
        block = int(self.seats[warp[0, PlaceWord.SEAT], SeatWord.BLOCK])
        there, mask = (1 << len(warp)) - 1, int(self.state[Word.GROUP_MASK])
        made = self.accesses_until_now()
        return Participants(block, threads // WARP, mask, sites, sources, there, running, made)

    def accesses_until_now(self) -> int:
        """Return how many accesses have been made, taken in or not."""
        return self.accesses + self._intake.taken + self._count()

    def loop_under_way(self) -> tuple[str, int] | None:
        """Return file and line of the loop of which compiled code last counted a round; None where none runs."""
        loops = self.program.loops if hasattr(self, "_callback") else []
        number = int(self.state[Word.LOOP])
        return loops[number - 1] if 0 < number <= len(loops) else None

    def _count(self) -> int:
        return int(self.state[Word.ROW] - self.state[Word.BEGIN]) // ROW.itemsize

    def flush(self) -> None:
        """Take in all rows, which are whole warps' phases."""
        self._empty(END)

    def _empty(self, complete: int) -> None:
        """Turn the rows into columns or count them; then only those of contexts before `complete`."""
        self._catch_up()
        self._refuse_idle_barriers()
        self._take_arrivals()
        self._note_ended()
        rows, taken = self.rows[: self._count()], self._count()
        self._refuse_busy_waits(rows[self._intake.left :])
        if self.streaming is not None:
            taken = self._summed(self.streaming, rows, complete)
            self._let_count(self.streaming)
            if self.to_the_end and self._too_large(len(rows) - taken):
                taken, self.in_pieces = taken + self._summed(self.streaming, rows[taken:], END), True
        elif len(rows):
            self._keep(rows)
        self.accesses += taken
        self._start_over(taken)
        if len(rows) and self.streaming is None:
            self._mind_the_limit()
            if self.capped:
                self._intake.end()
                self.state[Word.PAUSE_AT] = 1  # the driver has its turn at the end of this block

    def _catch_up(self) -> None:
        """Take note of the rows that compiled code has taken in."""
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
            self._let_take_in()

    def _let_take_in(self) -> None:
        """Let compiled code take in what rows it can by itself from here on."""
        tables = (self._buffer_numbers, self._final, self._ops)
        self._intake.begin(self._store, self._most_rows(), tables, self.touched)

    def _let_count(self, streaming: StreamingCounters) -> None:
        """Let compiled code count what rows it can by itself from here on."""
        tables = (self._buffer_numbers, self._final, self._ops)
        self._intake.begin_counting(count_address(), streaming.words, tables, self.touched)

    def _most_rows(self) -> int:
        """Return how many rows there may be before the driver looks what to do."""
        return self.limit

    def _summed(self, streaming: StreamingCounters, rows: NDArray[Any], complete: int) -> int:
        """Count the rows before a context; return how many these are."""
        count = len(rows)
        if complete < END:
            before = np.flatnonzero(rows["context"] < complete)
            count = int(before[-1]) + 1 if len(before) else 0
        if self.state[Word.RESUMED]:
            rows[:count] = rows[:count][np.argsort(rows["context"][:count], kind="stable")]
        tables = (self._buffer_numbers, self._final, self._ops)
        streaming.add(rows[:count], self.buffers, tables, len(self.program.sites))
        return count

    def _sort_out(self, rows: NDArray[Any]) -> None:
        """Count rows whose requests need sorting out."""
        self.count(self._columns(rows))

    def _too_large(self, left: int) -> bool:
        """Return whether so many rows that must wait leave no room, and there may be no more."""
        return left > len(self.rows) // 4 and 4 * self.rows.nbytes > self._memory

    def _refuse_busy_waits(self, rows: NDArray[Any]) -> None:
        """Raise WaitsForOthers where a thread seems to wait for one that runs after it."""
        self._same_reads = self._same_reads + len(rows) if is_busy_wait(rows, self._ops) else 0
        if self._same_reads > SAME_READS:
            raise WaitsForOthers(
                "a thread may wait for another, and compiled threads run one after the other"
            )

    def _refuse_idle_barriers(self) -> None:
        """Raise WaitsForOthers where a block passes barrier after barrier without an access; the simulator sees why."""
        block, made, phase = self._idle_since
        now = int(self.state[Word.BLOCK]), self.accesses + self._count(), int(self.state[Word.PHASE])
        if now[:2] != (block, made):
            self._idle_since = now
        elif now[2] - phase > IDLE_PHASES:
            raise WaitsForOthers("its threads pass one barrier after the other and access nothing")

    def _complete(self, rows: Columns) -> NDArray[np.bool_]:
        """Return which rows are of phases that are over, or of warps that are through with one."""
        here = (rows["block"] == self.state[Word.BLOCK]) & (rows["phase"] == self.state[Word.PHASE])
        return np.asarray(super()._complete(rows) | (here & (rows["thread"] < self._under_way())))

    def _start_over(self, taken: int) -> None:
        """Begin with the first row again, in the phase under way; rows that were not taken stay."""
        left = self._intake.left = self._count() - taken
        size = len(self.rows)
        if left > size // 4:
            if self._too_large(left):
                raise TooLarge
            size *= 4
        last = max(int(self.state[Word.NUMBERS]) - 1, 0)
        if left:
            words = _words(self.rows)
            words[:left] = words[taken : taken + left]
            self.rows["context"][:left] -= last * self.threads
        if size != len(self.rows):
            self._make_room(size, left)
        self.state[Word.ROW] = self.state[Word.BEGIN] + left * ROW.itemsize
        self.state[Word.BASE] = self.accesses
        self._blocks[0], self._phases[0] = self._blocks[last], self._phases[last]
        self.state[Word.NUMBERS] = min(self.state[Word.NUMBERS], 1)
        self.seats[:, SeatWord.NUMBER] = self.state[Word.NUMBER] = 0
        self.state[Word.CONTEXT] %= self.threads

    def _note_ended(self) -> None:
        """Note the blocks that have made all their accesses, before the rows that follow are looked at."""
        count = int(self.state[Word.FINISHED_COUNT])
        self.finished.extend(self._ended[:count].tolist())
        self.state[Word.FINISHED_COUNT] = 0
        self.state[Word.PAUSE_AT] = max(1, self.state[Word.PAUSE_AT] - count)

    def finish_block(self, block: int) -> None:
        """Note that a block has made all its accesses."""
        self.finished.append(block)
        if self.capped and self.streaming is None:
            self.flush()
            self._count_finished()
            self._keep_no_more()

    def end(self) -> None:
        """Take in what is left, unless nobody wants it; from here on compiled code can't write rows."""
        if self.failure is None or isinstance(self.failure, Exception):
            self.close()
        del self._callback

    def release(self) -> None:
        """Let go of the columns, which live on in the trace: a launch and its recorder hold each other."""
        self._intake.end()
        self.kept, self.pending, self._store = [], [], GrowingColumns(0)

    def columns(self) -> Columns:
        """Return the columns of all rows kept, in order."""
        return self.kept[0] if len(self.kept) == 1 else super().columns()

    def _columns(self, rows: NDArray[Any]) -> Columns:
        """Return columns of their own for some rows."""
        made = GrowingColumns(END, len(rows))
        self._decode(rows, made)
        return made.columns()

    def _decode(self, rows: NDArray[Any], store: GrowingColumns | Region) -> None:
        """Add rows to columns, which are made as wide as that takes."""
        tables, widths = (self._buffer_numbers, self._final, self._ops), self._widths
        begin, end = len(store), len(store) + len(rows)
        while True:
            columns = store.room(len(rows), widths)
            done = self._decoder.decode(rows, columns, begin, tables)
            if done < len(rows):
                self._learn(int(rows["key"][done]))
                continue
            needed = self._decoder.types
            if all(columns[name].itemsize >= dtype.itemsize for name, dtype in needed.items()):
                break
            widths = widths | needed
        codes = self._decoder.codes
        values = store.room(len(rows), {"value": type_of_values(codes)})["value"]
        fill_values(rows, codes, values[begin:end])
        store.add(len(rows))

    def _learn(self, key: int) -> None:
        """Find the buffer and site of a key that is new."""
        self.site(key & _SITE_MASK)
        region_and_code = key >> SITE_BITS
        if self._buffer_numbers[region_and_code] < 0:
            region, code = region_and_code >> CODE_BITS, region_and_code & _CODE_MASK
            self._buffer_numbers[region_and_code] = self.number_of(region, code)

    def _record_out_of_bounds(self) -> None:
        number = self._count()
        index, key, context, _ = self.rows[number].item()
        if self._buffer_numbers[key >> SITE_BITS] < 0:
            self._learn(key)
        buffer = int(self._buffer_numbers[key >> SITE_BITS])
        indices = self._parts[: self.state[Word.INDEX_COUNT]].tolist()
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
        """Return (rows of finished blocks, the others); blocks run one after the other."""
        if self.finished and chunks[-1]["block"][-1] == self.finished[-1]:
            names = chunks[0]
            return [{name: np.concatenate([c[name] for c in chunks]) for name in names}], []
        return super()._split(chunks)

    def barriers(self, *, warp: bool = False) -> Barriers:
        """Return the arrivals at barriers, or at warp operations, as columns."""
        return (self._arrived_warp if warp else self._arrived).barriers(self.site)

    def outside(self) -> OutOfBounds:
        """Return the accesses that were not made as columns."""
        return _outside_of(self.out_of_bounds)


def longer(table: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return a table of so many words, or rows of words, that begins as another does."""
    made = np.zeros((count, *table.shape[1:]), np.int64)
    made[: len(table)] = table
    return made


def _source(reason: StopReason, lane: int, extra: int) -> int:
    """Return the lane whose value a shuffle takes."""
    if reason == StopReason.SHUFFLE:
        return extra % WARP
    if reason == StopReason.XOR:
        return lane ^ extra
    return lane + (extra if reason == StopReason.DOWN else -extra)


def _words(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return rows as words, which are copied faster than fields."""
    return rows.view(np.int64).reshape(len(rows), -1)


def _outside_of(out_of_bounds: Sequence[tuple[Any, ...]]) -> OutOfBounds:
    """Return the accesses that were not made as columns; each is given as the fields of `OutOfBounds`."""
    block, thread, phase, op, buffer, site, step, cell, text = (
        [m[i] for m in out_of_bounds] for i in range(9)
    )
    thread_and_phase = (narrow(np.array(c, np.int64)) for c in (block, thread, phase))
    what = (narrow(np.array(c, np.int64)) for c in (buffer, site, step))
    made = (*thread_and_phase, np.array(op, np.uint8), *what, np.array(cell, np.int64))
    return OutOfBounds(*made, tuple(text))  # type: ignore[call-arg, arg-type]

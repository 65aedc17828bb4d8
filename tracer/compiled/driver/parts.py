"""Parts of a launch's blocks that run beside each other: what each records, and how the whole takes it in."""

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
from ..rows.touched import Touched
from ..state import CODE_BITS, IDLE_PHASES, MAX_PHASES, SITE_BITS, DriverCall, Word
from .barrier_log import SOME, BarrierLog
from .busy_wait import SAME_READS
from .growing_columns import GrowingColumns, Region
from .memory import LaunchMemory
from .row_recorder import END, RowRecorder

_CALLS = (
    DriverCall.FULL,
    DriverCall.TICK,
    DriverCall.NUMBERS,
    DriverCall.ARRIVALS,
)  # that each part serves itself
_CODE_MASK = (1 << CODE_BITS) - 1


class NotBeside(Exception):
    """Only one core after the other blocks' can tell what this launch does: all is undone, and run there.

    unforeseen: an error of ours that stopped it, if that was why: the trace is right all the same, and slow.
    """

    def __init__(self, unforeseen: BaseException | None = None) -> None:
        super().__init__(repr(unforeseen) if unforeseen else "")
        self.unforeseen = unforeseen


class Part(Struct, frozen=True, eq=False):
    """What some blocks recorded that follow each other."""

    blocks: list[int]  # in order
    accesses: int  # made
    sites: list[int]  # sites of the program that whoever ran it had not met before, in order
    numbers: list[int]  # sites of the program by their number in the columns
    kept: GrowingColumns | Region | None  # the accesses; None where they have been counted
    barriers: tuple[
        BarrierLog, BarrierLog
    ]  # arrivals at barriers and warp operations; steps count from the part's
    many_phases: bool  # see WholeRecorder.many_phases


class WholeRecorder(RowRecorder):
    """Takes rows, and parts that others have recorded; the columns are those of one core.

    many_phases: whether rows may have been emptied since phases were many, and so in between of the usual places.
    """

    _store: GrowingColumns
    many_phases = False
    others: Sequence[PartRecorder] = ()  # of the parts under way, this thread's first
    _room = 0  # of the last part that was written to its place, rows that there was room for

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._spans: list[
            tuple[int, int]
        ] = []  # rows of the first blocks, and of parts written to their places

    def accesses_until_now(self) -> int:
        """Return how many accesses have been made, those of parts under way among them."""
        return super().accesses_until_now() + sum(other.accesses_until_now() for other in self.others)

    def loop_under_way(self) -> tuple[str, int] | None:
        """Return file and line of the loop that runs in this thread; None where none does."""
        return self.others[0].loop_under_way() if self.others else super().loop_under_way()

    def _empty(self, complete: int) -> None:
        self.many_phases |= _has_many_phases(self)
        super()._empty(complete)

    def add(self, part: Part, settle: Callable[[], None]) -> tuple[Columns, Columns] | None:
        """Take in the next part; raises NotBeside where it can't be told what one core would keep.

        Returns columns and where they are to be copied to. `settle` returns once all that was to be copied is.
        """
        for number in part.sites:
            self.site(number)
        before = self.accesses
        self.accesses += part.accesses
        self.finished += part.blocks
        self.many_phases |= part.many_phases
        if isinstance(part.kept, Region):
            begin, self._room = self._spans[-1][0] + self._room, part.kept.most
            self._spans.append((begin, begin + part.accesses))
        if part.kept is None or not part.accesses:
            self._add_arrivals(part, before)
            return None
        sites = self._final[part.numbers]
        columns = part.kept.columns()
        if not np.array_equal(sites, np.arange(len(sites))):
            final = sites.astype(np.min_scalar_type(sites.max()))[columns["site"]]
            columns["site"] = part.kept.replaced("site", final) if isinstance(part.kept, Region) else final
        if isinstance(part.kept, Region):
            self._add_arrivals(part, before)
            return None
        full = (self.limit // CHUNK + 1) * CHUNK  # rows with which one core finds that they are too many
        if self.capped:
            self.count(columns)
            return None
        self._add_arrivals(part, before)
        if self.accesses < full:
            if place := self._store.place(columns):
                return columns, place
            settle()
            self._store.append(columns)
        else:
            settle()
            self._cap(columns, full - before)
        return None

    def only_read(self) -> set[int]:
        """Return the buffers that were read and not written, as far as that is known."""
        loads, others = [
            self.streaming.done(at_loads=at) if self.streaming else set() for at in (True, False)
        ]
        for columns in self.kept:
            at_loads = columns["op"] == Op.LOAD
            for found, rows in ((loads, at_loads), (others, ~at_loads)):
                found.update(np.flatnonzero(counts_of(columns["buffer"][rows])).tolist())
        return loads - others

    def rows_of_each(self, left: int) -> int:
        """Return how many rows each of the blocks that are left is expected to make; 0 where nobody can tell.

        All until now have made as many, and all may be kept.
        """
        count, kept = len(self.finished), len(self._store)
        each, rest = divmod(self.accesses_until_now(), max(1, count))
        if self.capped or rest or not each or (count + left) * each > self.limit:
            return 0
        ends = np.arange(count)[:, None] * each + np.array([0, each - 1])  # first and last rows, if so
        waiting = self.rows["context"][ends[ends >= kept] - kept] // self.threads
        block = self._store.columns()["block"] if kept else np.empty(0, np.int64)
        found = np.concatenate([block[ends[ends < kept]], self._blocks[waiting]])
        return each if np.array_equal(found, np.repeat(self.finished, 2)) else 0

    def expect(self, rows: int) -> bool:
        """Have columns as wide as any access needs; return whether there is room for so many more rows."""
        index = np.min_scalar_type(max(buffer.size for buffer in self.buffers) - 1)
        self._spans, self._room = [(0, len(self._store))], len(self._store)
        return not self.capped and self._store.expect(len(self._store) + rows, {"index": index})

    def region(self, rows: int) -> Region:
        """Return room for the rows of the part that begins next; raises NotBeside where there is none."""
        columns = self._store.region(rows)
        if columns is None:
            raise NotBeside
        return Region(columns)

    def _add_arrivals(self, part: Part, before: int) -> None:
        if self.streaming is None:
            for mine, theirs in zip((self._arrived, self._arrived_warp), part.barriers, strict=True):
                mine.extend(theirs, before)

    def _cap(self, columns: Columns, full: int) -> None:
        """Keep the blocks before the one that makes row `full` of these, and count all from there on."""
        last = columns["block"][full - 1]
        begin = int(np.argmax(columns["block"] == last))
        under_way = int(np.count_nonzero(columns["block"] == last))
        seen = [np.dtype(self.buffers[b].dtype) for b in np.unique(columns["buffer"][:full]).tolist()]
        types = [*(c["value"].dtype for c in self._kept_so_far()), *seen]
        if self.many_phases or under_way > self.limit or np.result_type(*types) != columns["value"].dtype:
            raise NotBeside
        if begin:
            self._store.append({name: column[:begin] for name, column in columns.items()})
        self.kept = self._kept_so_far()
        for kept in self.kept:
            self.count(kept)
        self.count({name: column[begin:] for name, column in columns.items()})
        self._keep_no_more()

    def _kept_so_far(self) -> list[Columns]:
        return [self._store.columns()] if len(self._store) else []

    def end_parts(self) -> None:
        """Put rows next to each other, once all are there, and look whether they are more than may be kept."""
        if len(self._spans) > 1:
            self._store.close_gaps(self._spans)
        if not self.capped:
            self.kept = self._kept_so_far()
        if self.accesses > self.limit and not self.capped:
            self._mind_the_limit()


class PartMemory(LaunchMemory):
    """The memory of a launch as blocks see it that run beside others: they have their own, and make no buffer."""

    def __init__(self, whole: LaunchMemory, whole_state: NDArray[np.int64], state: NDArray[np.int64]) -> None:
        vars(self).update(vars(whole))
        self.seen, self._blocks = whole.seen.copy(), []
        for word in (*self._tables, Word.DYNAMIC, Word.DECLARED_FROM, Word.DECLARATIONS, Word.DECLARED):
            state[word] = whole_state[word]
        self._tables = self._tables | {Word.SEEN: self.seen}
        state[Word.SEEN] = self.seen.ctypes.data

    def declare(self) -> None:
        """Make no buffer: refuse arrays that the first blocks have not declared."""
        if int(self.seen.max()) != self._known:
            raise NotBeside

    def number_of(self, region: int, code: int) -> int:
        """Return a buffer that there is."""
        self.declare()
        if (region, code) not in self._numbers:
            raise NotBeside
        return self._numbers[region, code]


class PartRecorder(RowRecorder):
    """Takes the rows of parts, one after the other, and notes which memory they touch.

    What only the order of one core tells raises NotBeside.
    """

    touched: Touched
    memory: PartMemory
    many_phases = False

    def begin(self, whole: WholeRecorder, only_read: Container[int]) -> None:
        """Know all buffers and sites that the first blocks have met, and which of these they only read."""
        self.buffers, self.sites = whole.buffers, list(whole.sites)
        self._buffer_numbers, self._final = whole._buffer_numbers.copy(), whole._final.copy()
        self._numbers = [0] * len(self.sites)
        for number in np.flatnonzero(self._final >= 0).tolist():
            self._numbers[self._final[number]] = number
        self._known = len(self.sites)
        self.touched = Touched(self.buffers, only_read)
        for what in np.flatnonzero(self._buffer_numbers >= 0).tolist():
            self.touched.learn(what, int(self._buffer_numbers[what]))

    def site(self, number: int) -> int:
        """Return the number here of a site of the program."""
        if self._final[number] < 0:
            self._numbers.append(number)
        return super().site(number)

    def begin_part(self, kept: GrowingColumns | Region | None, patience: float) -> None:
        """Begin a part whose accesses are kept in this, or counted; it takes so many seconds at most.

        What seems not to end is left to one core, where somebody looks at it.
        """
        self._until = time.thread_time() + patience
        self.accesses, self.finished, self.many_phases = 0, [], False
        self.state[Word.BASE] = 0
        # Little room: of memory for many the system would give whole large pages, which are cleared for each part.
        self._arrived = BarrierLog(self._memory // 8, SOME)
        self._arrived_warp = BarrierLog(self._memory // 8, SOME, of_warp=True)
        if kept is None and self.streaming is None:
            self._keep_no_more()
        elif kept is not None:
            self._store = kept
            self._let_take_in()

    def end_part(self) -> Part:
        """Return what the part recorded, once its blocks have ended."""
        self.flush()
        self.memory.declare()
        if self.state[Word.GRID] or self.in_pieces:
            raise NotBeside
        new, self._known = self._numbers[self._known :], len(self._numbers)
        kept = self._store if self.streaming is None else None
        arrived = (self._arrived, self._arrived_warp)
        return Part(self.finished, self.accesses, new, list(self._numbers), kept, arrived, self.many_phases)

    def _on_call(self, call: int) -> int:
        if call not in _CALLS or time.thread_time() > self._until:
            self.failure = NotBeside()
            return 1
        return super()._on_call(call)

    def _catch_up(self) -> None:
        super()._catch_up()
        if self.touched.is_unmarked:
            raise NotBeside

    def _empty(self, complete: int) -> None:
        self.many_phases |= _has_many_phases(self)
        if self._phases[: self.state[Word.NUMBERS]].max(initial=0) >= IDLE_PHASES:
            raise NotBeside  # one core would refuse it if it did nothing in so many phases
        rows = self.rows[: self._count()]
        while (done := self.touched.add(rows, self._ops)) < len(rows):
            what = int(rows["key"][done]) >> SITE_BITS
            if self.touched.is_known(what):
                raise NotBeside  # nobody knows who has read what is written now
            self.touched.learn(what, self.number_of(what >> CODE_BITS, what & _CODE_MASK))
            rows = rows[done:]
        super()._empty(complete)

    def _refuse_busy_waits(self, rows: NDArray[np.void]) -> None:
        super()._refuse_busy_waits(rows)
        if self._same_reads > SAME_READS // 2:  # one core begins to count at other rows
            raise NotBeside

    def _mind_the_limit(self) -> None:
        """Keep all: the whole minds it."""

    def release(self) -> None:
        """Let go of all that the whole has taken in; from here on compiled code can't write rows."""
        super().release()
        del self._callback


def _has_many_phases(recorder: RowRecorder) -> bool:
    return bool(recorder.state[Word.NUMBERS] >= MAX_PHASES // 2)


NEVER = END  # a limit that no part reaches

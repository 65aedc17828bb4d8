"""Contents of buffers: what each holds, who read and wrote it, at any moment or in a block, in any order of asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from ..dataflow.load_destinations import LoadDestinations
from ..model.array_types import Ints, Mask
from ..model.grouping import ascends, group_numbers, group_starts, offsets
from ..model.trace import Op, Trace, is_poison, poison
from .access_history import AccessHistory, BufferCells, TimedAccesses
from .beside import begun
from .requests import Requests

NOWHERE, INTO_SHARED, INTO_RESULT = 0, 1, 2  # where a loaded element goes
ANY = -1  # thread
CHUNK = 1 << 13  # requests handled at once: few enough for their accesses to stay in a processor's cache
SPARSE = 16  # elements for each access, from which on it takes longer to look at all than at those accessed
Destinations = tuple[NDArray[np.uint8], Ints, Ints]  # kind, buffer, access index; see `destinations`


class TouchedElements(NamedTuple):
    """Elements of a buffer, by number in its shape in C order, phase by phase; in a phase perhaps more than once."""

    elements: Ints  # (n,)
    phases: Ints  # (phases in which there are some,), ascending
    first: Ints  # (of these,), where the elements of each begin


class BufferContents:
    """The contents of a trace's buffers at every moment.

    The state at moment m includes every request with moment <= m; of several stores to an element the one of
    the largest step counts. An element that is accessed at the moment holds what that access saw or left: lanes of a
    warp may have run apart, and a load may have come before a store that is shown before it. Of several accesses the
    last one counts, or a load or store of the thread that is looked at. The end holds what the launch left. Shared
    buffers exist once per block and local ones once per thread: `block` and `thread` say which, and don't matter for
    others. Work on a buffer is done when it is first asked for.
    Buffers whose bytes overlap are kept apart: a store through one does not show in the other.
    """

    def __init__(
        self, trace: Trace, requests: Requests, destinations: Callable[[], LoadDestinations] | None = None
    ) -> None:
        self._trace = trace
        self._find_destinations = destinations or partial(LoadDestinations, trace)
        self._requests = requests
        self._first = np.searchsorted(requests.moment, np.arange(requests.end + 2))
        self._cells: dict[int, BufferCells] = {}
        self._histories: dict[tuple[int, int], AccessHistory] = {}
        self._ranges: dict[int, tuple[float, float]] = {}
        self._poison: dict[int, Literal["none", "some", "all"]] = {}
        self._touched: dict[int, dict[int, TouchedElements]] = {}  # by block
        self._first_stores: dict[int, Ints] = {}  # by block

    def values(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[Any]:
        """Return the content of a buffer, in its shape and dtype; poison where nothing was written."""
        last = self._last_writes(buffer, moment, block, thread)
        return self.cells(buffer).shaped(self._overwritten(self.initial(buffer), last))

    def settled(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[Any]:
        """Return what the requests up to a moment leave, in the buffer's shape: without what accesses saw at it.

        Counts that grow with the moments take this: an access at a moment may have run after stores that later
        moments show.
        """
        last = self._history(buffer, block, thread).last_writes(moment)
        return self.cells(buffer).shaped(self._overwritten(self.initial(buffer), last))

    def reads(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[np.int32]:
        """Return how often each element was read by loads and atomics, in the buffer's shape."""
        return self.cells(buffer).shaped(self._history(buffer, block, thread).reads(moment))

    def written(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[np.bool_]:
        """Return whether the launch has written each element, in the buffer's shape."""
        return self.cells(buffer).shaped(self._last_writes(buffer, moment, block, thread) >= 0)

    def newest(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> tuple[Ints, NDArray[Any]]:
        """Return the cells that were written by now, ascending, and what they hold; of records, nothing."""
        assert self._trace.value is not None
        last = self._last_writes(buffer, moment, block, thread)
        cells = (last >= 0).nonzero()[0]
        return cells, _cast(self._trace.value[last[cells]], self._dtype(buffer))

    def sparse_reads(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0
    ) -> tuple[Ints, NDArray[Any]] | None:
        """Return (elements that are ever read, how often by now) where these are few of many; else None.

        Elements are numbers in the buffer's shape, in C order, ascending.
        """
        history = self._history(buffer, block, thread)
        if not self.cells(buffer).plain or history.loads.touched is None:
            return None
        return history.loads.touched, history.reads_touched(moment)

    def sparse_writes(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0
    ) -> tuple[Ints, NDArray[Any], NDArray[np.bool_]] | None:
        """Return (elements that are ever written, what they hold, whether written by now), where these are few of many.

        Else None; elements as in `sparse_reads`.
        """
        history = self._history(buffer, block, thread)
        touched = history.writes.touched
        if not self.cells(buffer).plain or touched is None:
            return None
        last = history.last_writes_touched(moment)
        cells, rows = self._seen(buffer, moment, block, thread)
        place = np.searchsorted(touched, cells)
        last[place] = rows
        return touched, self._overwritten(self.initial(buffer, touched), last), last >= 0

    def some_values(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0, most: int = 1 << 16
    ) -> NDArray[Any]:
        """Return what elements hold: all, or of more than `most` some, those that are written where these are few.

        The smallest and the largest finite value that the buffer ever holds are then among them.
        """
        size = len(self.cells(buffer))
        written = self.sparse_writes(buffer, moment, block, thread) if size > most else None
        if written is None:
            return self.values(buffer, moment, block, thread).ravel()
        evenly = self.initial(buffer, np.arange(0, size, -(-size // most)))
        ends = np.array(self.value_range(buffer)).astype(self._dtype(buffer))
        return np.concatenate([evenly, written[1], ends])

    def writer(self, buffer: int, element: int, moment: int, block: int = 0, thread: int = 0) -> int | None:
        """Return the access (row of the trace) that wrote an element last, None where none did.

        element: its number in the buffer's shape, in C order.
        """
        last = int(self._last_writes(buffer, moment, block, thread)[self.cells(buffer).cell(element)])
        return last if last >= 0 else None

    def _last_writes(self, buffer: int, moment: int, block: int, thread: int) -> NDArray[np.int32]:
        """Return the row of the write that each cell holds at a moment, -1 where there was none."""
        last = self._history(buffer, block, thread).last_writes(moment)
        cells, rows = self._seen(buffer, moment, block, thread)
        last[cells] = rows
        return last

    def _seen(self, buffer: int, moment: int, block: int, thread: int) -> tuple[Ints, Ints]:
        """Return cells that are accessed at a moment, and the row of the write that each holds there, -1 for none."""
        nothing = np.empty(0, np.int64), np.empty(0, np.int64)
        history = self._history(buffer, block, thread)
        if not 0 < moment < self._requests.end or not len(history.writes.timed.rows):
            return nothing
        asked, trace = self._requests, self._trace
        now = np.array(self.request_rows(moment), np.int64)
        now = now[asked.buffer[now] == buffer]
        space = trace.buffers[buffer].space
        if space in ("shared", "local"):
            now = now[asked.block[now] == block]
        if not len(now):
            return nothing
        rows = np.sort(self._rows_of(now)).astype(np.int64)
        if space == "local":
            rows = rows[trace.thread[rows] == thread]
        cells = self.cells(buffer).of(trace.index[rows])
        here = cells >= 0
        if history.writes.touched is not None:  # else no write can be seen there
            touched = history.writes.touched
            place = np.minimum(np.searchsorted(touched, cells), len(touched) - 1)
            here &= touched[place] == cells
        rows, cells = rows[here], cells[here]
        op = trace.op[rows]
        mine = (trace.block[rows] == block) & (trace.thread[rows] == thread)
        first = np.argsort(mine & (op <= Op.STORE), kind="stable")  # the later ones count
        rows, cells, op = rows[first], cells[first], op[first]
        written = np.where(op == Op.LOAD, history.writes_before(cells, rows), rows)
        return cells, written

    def element_numbers(self, buffer: int, index: NDArray[np.integer[Any]]) -> Ints:
        """Return the number in the buffer's shape (C order) of each access index, -1 where there is none."""
        return self.cells(buffer).element_numbers(index)

    def touched(self, block: int) -> Mapping[int, TouchedElements]:
        """Return what a block (linear number) accesses of buffers in global and constant memory, by buffer."""
        if block not in self._touched:
            self._touched[block] = self._new_touched(self._rows_of_block(block))
        return self._touched[block]

    def _new_touched(self, part: slice | Ints) -> dict[int, TouchedElements]:
        trace, found = self._trace, {}
        buffers, index, phases = trace.buffer[part], trace.index[part], trace.phase[part]
        if (phases[1:] < phases[:-1]).any():
            order = np.argsort(phases, kind="stable")
            buffers, index, phases = buffers[order], index[order], phases[order]
        for number in [n for n, b in enumerate(trace.buffers) if b.space in ("global", "constant")]:
            mine = np.flatnonzero(buffers == number)
            elements = self.element_numbers(number, index[mine])
            there = elements >= 0
            if there.any():
                found[number] = _by_phase(elements[there], phases[mine][there])
        return found

    def first_stores(self, block: int) -> Ints:
        """Return the first write (row of the trace) of each thread of a block to each element of global memory."""
        if block not in self._first_stores:
            trace, part = self._trace, self._rows_of_block(block)
            rows = _chosen(part, trace.op[part] != Op.LOAD)
            rows = rows[np.array([b.space == "global" for b in trace.buffers], bool)[trace.buffer[rows]]]
            width = 1 + int(trace.index[rows].max(initial=0))
            spot = trace.thread[rows].astype(np.int64) * len(trace.buffers) + trace.buffer[rows]
            spot = spot * width + trace.index[rows].astype(np.int64)
            self._first_stores[block] = rows[np.unique(spot, return_index=True)[1]]
        return self._first_stores[block]

    def _rows_of_block(self, block: int) -> slice | Ints:
        """Return the accesses of a block, ascending: a slice where they follow one another, which copies no columns."""
        if not self._block_by_block:
            return np.flatnonzero(self._trace.block == block)
        column = self._trace.block
        wanted = column.dtype.type(block)  # of another type, NumPy would convert the whole column
        return slice(int(np.searchsorted(column, wanted)), int(np.searchsorted(column, wanted, "right")))

    @cached_property
    def _block_by_block(self) -> bool:
        return ascends(self._trace.block)

    def request_rows(self, moment: int) -> range:
        """Return the requests of this moment."""
        if not 0 < moment <= self._requests.end:
            return range(0)
        return range(int(self._first[moment]), int(self._first[moment + 1]))

    def accesses_at(self, moment: int) -> Ints:
        """Return the accesses (rows of the trace) of this moment, by request, then lane."""
        requests = self.request_rows(moment)
        rows: Ints = self._requests.accesses.of(slice(requests.start, requests.stop))
        return rows

    def destinations(self, rows: NDArray[np.integer[Any]]) -> Destinations:
        """Return where the elements of these accesses go: (kind, buffer, access index in it), an array each.

        kind is NOWHERE (buffer and index are -1), INTO_SHARED or INTO_RESULT; see `LoadDestinations`.
        """
        target = self._destinations.of(rows)
        nowhere = target < 0
        buffer = self._trace.buffer[target].astype(np.int64)
        index = self._trace.index[target].astype(np.int64)
        kind = self._kind_into[buffer]
        buffer[nowhere], index[nowhere], kind[nowhere] = -1, -1, NOWHERE
        return kind, buffer, index

    def value_range(self, buffer: int) -> tuple[float, float]:
        """Return the smallest and the largest finite value that a buffer ever holds; (0, 0) when there is none.

        Complex values count by magnitude.
        """
        if buffer not in self._ranges:
            self._ranges[buffer] = self._range(buffer)
        return self._ranges[buffer]

    def cells(self, buffer: int) -> BufferCells:
        """Return how a buffer's shape maps to the elements that have memory of their own."""
        if buffer not in self._cells:
            self._cells[buffer] = BufferCells(self._trace.buffers[buffer])
        return self._cells[buffer]

    def prepare(self) -> None:
        """Compute what every picture of these contents needs and takes a while."""
        _ = self._destinations
        first = int(self._trace.blocks[0])  # which is looked at first
        _ = self.touched(first), self.first_stores(first)
        for number, buffer in enumerate(self._trace.buffers):
            self.value_range(number)
            self.poison_in(number)
            if buffer.space != "local":
                self._history(number, first, 0).reads_touched(0)

    def poison_in(self, buffer: int) -> Literal["none", "some", "all"]:
        """Return how much of a buffer holds poison before the launch."""
        if buffer not in self._poison:
            initial = self._trace.initial.get(buffer)
            there = is_poison(initial) if initial is not None else np.ones(1, bool)
            self._poison[buffer] = "none" if not there.any() else "all" if there.all() else "some"
        return self._poison[buffer]

    @cached_property
    def _destinations(self) -> LoadDestinations:
        return self._find_destinations()

    @cached_property
    def _kind_into(self) -> NDArray[np.uint8]:
        """The kind of what goes into each buffer, shape (buffers,)."""
        spaces = [buffer.space for buffer in self._trace.buffers]
        return np.array([INTO_SHARED if s == "shared" else INTO_RESULT for s in spaces], np.uint8)

    def _range(self, buffer: int) -> tuple[float, float]:
        trace, dtype = self._trace, self._dtype(buffer)
        held = [_written(trace.initial[buffer].reshape(-1))] if buffer in trace.initial else []
        asked = self._requests
        writing = np.flatnonzero((asked.buffer == buffer) & (asked.op != Op.LOAD))
        if trace.value is not None and dtype.kind != "V" and len(writing):
            held.append(_cast(trace.value[self._rows_of(writing)], dtype))
        if not held or dtype.kind == "V":
            return 0.0, 0.0
        ends = [end for h in held for end in _ends(np.abs(h) if h.dtype.kind == "c" else h)]
        return min(ends, default=0.0), max(ends, default=0.0)

    def _dtype(self, buffer: int) -> np.dtype[Any]:
        return np.dtype(self._trace.buffers[buffer].dtype)

    def initial(self, buffer: int, some: Ints | None = None) -> NDArray[Any]:
        """Return a new array of what each cell, or some of them, holds before the launch."""
        dtype, cells = self._dtype(buffer), self.cells(buffer)
        if buffer not in self._trace.initial:
            return np.full(len(cells) if some is None else len(some), poison(dtype), dtype)
        content = cells.taken(self._trace.initial[buffer])
        return (content if some is None else content[some]).astype(dtype)

    def _overwritten(self, content: NDArray[Any], last: NDArray[np.int32]) -> NDArray[Any]:
        """Put in what these rows wrote; complete records have no values in a trace and stay as they began."""
        written = np.flatnonzero(last >= 0)
        if self._trace.value is not None and content.dtype.kind != "V":
            content[written] = _cast(self._trace.value[last[written]], content.dtype)
        return content

    def _history(self, buffer: int, block: int, thread: int) -> AccessHistory:
        """Return the history of the copy of a buffer that this thread sees."""
        copy = self._copy(buffer, block, thread)
        if (buffer, copy) not in self._histories:
            reads = partial(_reads_of, ref(self), buffer, block, thread)
            writes = self._timed_accesses(buffer, block, thread, writing=True)
            self._histories[buffer, copy] = AccessHistory(len(self.cells(buffer)), reads, writes)
        return self._histories[buffer, copy]

    def _copy(self, buffer: int, block: int, thread: int) -> int:
        space = self._trace.buffers[buffer].space
        if space == "local":
            return block * self._trace.threads + thread
        return block if space == "shared" else 0

    def _timed_accesses(self, buffer: int, block: int, thread: int, writing: bool) -> TimedAccesses:
        """Return the reads or writes of one copy of a buffer in the order of moments, with the rows of writes."""
        asked, made = self._requests, self._requests_to(buffer, block)
        made = made[asked.op[made] != (Op.LOAD if writing else Op.STORE)]
        thread = thread if self._trace.buffers[buffer].space == "local" else ANY
        parts = (self._part(buffer, made[low : low + CHUNK], thread) for low in range(0, len(made), CHUNK))
        return TimedAccesses.of(parts, int(asked.lanes[made].sum()), with_rows=writing)

    def _part(self, buffer: int, some: Ints, thread: int) -> tuple[Ints, Ints, Ints]:
        """Return (cell, moment, row) of the accesses that some requests make, of one thread or of any."""
        asked, lanes = self._requests, self._requests.lanes[some]
        rows = self._rows_of(some)
        cell = self.cells(buffer).of(self._trace.index[rows])
        here, moment = cell >= 0, np.repeat(asked.moment[some], lanes)
        if thread != ANY:
            here &= self._trace.thread[rows] == thread
        return (cell, moment, rows) if here.all() else (cell[here], moment[here], rows[here])

    def _rows_of(self, some: Ints) -> NDArray[Any]:
        """Return the accesses (rows of the trace) that some requests make."""
        return self._requests.accesses.of(some)

    def _requests_to(self, buffer: int, block: int) -> Ints:
        """Return the requests to a buffer, those of one block where each block has a copy."""
        mine = self._requests.buffer == buffer
        if self._trace.buffers[buffer].space in ("shared", "local"):
            mine &= self._requests.block == block
        return np.flatnonzero(mine)


def _reads_of(contents: ref[BufferContents], buffer: int, block: int, thread: int) -> TimedAccesses:
    """Return the reads of a copy of a buffer, for a history that its contents hold: no circle keeps a trace alive."""
    held = contents()
    assert held is not None
    return held._timed_accesses(buffer, block, thread, writing=False)


def _chosen(part: slice | Ints, wanted: Mask) -> Ints:
    """Return those rows of a part of a trace that are wanted; wanted: (rows of the part,)."""
    places = np.flatnonzero(wanted)
    return places + part.start if isinstance(part, slice) else part[places]


def _by_phase(elements: Ints, phases: NDArray[np.unsignedinteger]) -> TouchedElements:
    """Return the elements of accesses, phase after phase; each once in a phase where that takes no sorting."""
    first = group_starts(phases)
    known, low = phases[first].astype(np.int64), np.minimum.reduceat(elements, first)
    start = offsets(np.maximum.reduceat(elements, first) + 1 - low)
    if start[-1] > SPARSE * len(elements):
        return TouchedElements(elements, known, first)
    mask, apart = np.zeros(start[-1], bool), start[:-1] - low
    mask[elements + apart[group_numbers(first, len(elements))]] = True
    places = np.flatnonzero(mask)
    first = np.searchsorted(places, start[:-1])
    return TouchedElements(places - apart[group_numbers(first, len(places))], known, first)


def destinations_beside(trace: Trace) -> Callable[[], LoadDestinations]:
    """Return what finds the destinations of a trace's loads: of a large one a thread does, from now on."""
    return begun(partial(LoadDestinations, trace), len(trace))


def contents_of(
    trace: Trace, requests: Requests, destinations: Callable[[], LoadDestinations] | None = None
) -> BufferContents:
    """Return what the buffers of a trace hold at every moment; nothing is computed until it is asked for.

    destinations: returns where loaded elements go, where somebody has found it out already.
    """
    return BufferContents(trace, requests, destinations)


def _written(content: NDArray[Any]) -> NDArray[Any]:
    """Return content without the poison of whole numbers, that of others being no finite value."""
    return content[content != poison(content.dtype)] if content.dtype.kind in "iu" else content


def _ends(numbers: NDArray[Any]) -> list[float]:
    """Return the smallest and the largest finite number, nothing where there is none."""
    with np.errstate(invalid="ignore"):
        ends = [float(numbers.min()), float(numbers.max())] if len(numbers) else []
    if np.isfinite(ends).all():
        return ends  # as nearly always: millions of numbers need not be copied
    finite = numbers[np.isfinite(numbers)]
    return [float(finite.min()), float(finite.max())] if len(finite) else []


def _cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return values of the trace's column in the dtype of a buffer that they came from."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = values.real
    with np.errstate(invalid="ignore", over="ignore"):
        return values.astype(dtype)

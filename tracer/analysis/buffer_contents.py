"""Contents of buffers at any moment: the values, and the reads and writes of each element, also by block."""

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
from .background import in_background
from .requests import Requests

NOWHERE, INTO_SHARED, INTO_RESULT = 0, 1, 2  # destination of a loaded element
ANY = -1  # thread
CHUNK = 1 << 13  # requests handled at once: few enough for their accesses to stay in a processor's cache
SPARSE = 16  # elements per access above which a scan of all elements is slower than one of the accessed ones
Destinations = tuple[NDArray[np.uint8], Ints, Ints]  # kind, buffer, access index; see `destinations`


class TouchedElements(NamedTuple):
    """Elements of a buffer, by number in its shape in C order, phase by phase; an element may repeat in a phase."""

    elements: Ints  # (n,)
    phases: Ints  # (phases with elements,), ascending
    first: Ints  # (phases with elements,), index of the first element of each


class BufferContents:
    """The contents of a trace's buffers at every moment.

    The state at moment m includes every request with moment <= m; of several stores to an element the one of
    the largest step counts. An element that is accessed at the moment has the value that the access read or wrote.
    Lanes of a warp may have diverged, so a load may have run before a store that is shown before it. Of several
    accesses the last one counts, or a load or store of the selected thread. The end state is the launch's result.
    Shared buffers exist once per block and local ones once per thread: `block` and `thread` select the copy, and are
    ignored for others. Data about a buffer are computed on first use.
    Buffers whose bytes overlap are independent here: a store through one does not show in the other.
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
        """Return the contents after the requests up to a moment, in the buffer's shape.

        Unlike `values`, it ignores the order in which accesses of the moment ran. Use it for counts that grow with the
        moments: an access at a moment may have run after stores that later moments show.
        """
        last = self._history(buffer, block, thread).last_writes(moment)
        return self.cells(buffer).shaped(self._overwritten(self.initial(buffer), last))

    def reads(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[np.int32]:
        """Count the reads of each element by loads and atomics, in the buffer's shape."""
        return self.cells(buffer).shaped(self._history(buffer, block, thread).reads(moment))

    def written(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> NDArray[np.bool_]:
        """Test each element for a write by the launch, in the buffer's shape."""
        return self.cells(buffer).shaped(self._last_writes(buffer, moment, block, thread) >= 0)

    def newest(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> tuple[Ints, NDArray[Any]]:
        """Return the cells written by now, ascending, and their values; for records, no values."""
        assert self._trace.value is not None
        last = self._last_writes(buffer, moment, block, thread)
        cells = (last >= 0).nonzero()[0]
        return cells, _cast(self._trace.value[last[cells]], self._dtype(buffer))

    def sparse_reads(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0
    ) -> tuple[Ints, NDArray[Any]] | None:
        """Return (elements that are ever read, reads by now) if these elements are few of many; else None.

        Elements are numbers in the buffer's shape, in C order, ascending.
        """
        history = self._history(buffer, block, thread)
        if not self.cells(buffer).plain or history.loads.touched is None:
            return None
        return history.loads.touched, history.reads_touched(moment)

    def sparse_writes(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0
    ) -> tuple[Ints, NDArray[Any], NDArray[np.bool_]] | None:
        """Return (elements that are ever written, values, whether written by now) if these elements are few of many.

        Else None; elements as in `sparse_reads`.
        """
        history = self._history(buffer, block, thread)
        touched = history.writes.touched
        if not self.cells(buffer).plain or touched is None:
            return None
        last = history.last_writes_touched(moment)
        cells, rows = self._seen(buffer, moment, block, thread)
        position = np.searchsorted(touched, cells)
        last[position] = rows
        return touched, self._overwritten(self.initial(buffer, touched), last), last >= 0

    def sampled_values(
        self, buffer: int, moment: int, block: int = 0, thread: int = 0, most: int = 1 << 16
    ) -> NDArray[Any]:
        """Return the values of all elements, or a sample of more than `most`, with the written ones if these are few.

        A sample includes the smallest and the largest finite value that the buffer ever holds.
        """
        size = len(self.cells(buffer))
        written = self.sparse_writes(buffer, moment, block, thread) if size > most else None
        if written is None:
            return self.values(buffer, moment, block, thread).ravel()
        sample = self.initial(buffer, np.arange(0, size, -(-size // most)))
        ends = np.array(self.value_range(buffer)).astype(self._dtype(buffer))
        return np.concatenate([sample, written[1], ends])

    def writer(self, buffer: int, element: int, moment: int, block: int = 0, thread: int = 0) -> int | None:
        """Find the access (row of the trace) that wrote an element last, None if there is none.

        element: its number in the buffer's shape, in C order.
        """
        last = int(self._last_writes(buffer, moment, block, thread)[self.cells(buffer).cell(element)])
        return last if last >= 0 else None

    def disordered_store(
        self, buffer: int, element: int, moment: int, block: int = 0, thread: int = 0
    ) -> int | None:
        """Find the store (row of the trace) that a moment's access to an element shows out of order, or None.

        The access ran before this store of an earlier moment, or after this store of a later one.
        """
        cell = self.cells(buffer).cell(element)
        last = int(self._history(buffer, block, thread).last_writes(moment)[cell])
        shown = int(self._last_writes(buffer, moment, block, thread)[cell])
        if shown > last and self._requests.moment[self._requests.request[shown]] > moment:
            return shown
        return last if shown < last else None

    def _last_writes(self, buffer: int, moment: int, block: int, thread: int) -> NDArray[np.int32]:
        """Find the row of the write that each cell holds at a moment, -1 if there is none."""
        last = self._history(buffer, block, thread).last_writes(moment)
        cells, rows = self._seen(buffer, moment, block, thread)
        last[cells] = rows
        return last

    def early_accesses(self, buffer: int, moment: int, block: int = 0, thread: int = 0) -> bytes:
        """Return a key of the cells whose values at a moment differ from those after it; empty if there are none.

        These cells show an access that ran before stores of earlier moments.
        """
        if self._trace.schedule == "lockstep" and not self._requests.accesses.listed.any():
            return b""
        cells, rows = self._seen(buffer, moment, block, thread)
        if not len(cells):
            return b""
        history = self._history(buffer, block, thread)
        last, touched = history.last_writes_touched(moment), history.writes.touched
        position = cells if touched is None else np.searchsorted(touched, cells)
        differs = last[position] != rows
        return np.concatenate([cells[differs], rows[differs]]).tobytes() if differs.any() else b""

    def _seen(self, buffer: int, moment: int, block: int, thread: int) -> tuple[Ints, Ints]:
        """Find the cells accessed at a moment, and the row of the write that each holds there, -1 for none."""
        nothing = np.empty(0, np.int64), np.empty(0, np.int64)
        history = self._history(buffer, block, thread)
        if not 0 < moment < self._requests.end or not len(history.writes.timed.rows):
            return nothing
        requests, trace = self._requests, self._trace
        now = np.array(self.request_rows(moment), np.int64)
        now = now[requests.buffer[now] == buffer]
        space = trace.buffers[buffer].space
        if space in ("shared", "local"):
            now = now[requests.block[now] == block]
        if not len(now):
            return nothing
        rows = np.sort(self._rows_of(now)).astype(np.int64)
        if space == "local":
            rows = rows[trace.thread[rows] == thread]
        cells = self.cells(buffer).cells_of(trace.index[rows])
        kept = cells >= 0
        if history.writes.touched is not None:  # other cells have no writes
            touched = history.writes.touched
            position = np.minimum(np.searchsorted(touched, cells), len(touched) - 1)
            kept &= touched[position] == cells
        rows, cells = rows[kept], cells[kept]
        op = trace.op[rows]
        of_thread = (trace.block[rows] == block) & (trace.thread[rows] == thread)
        by_priority = np.argsort(
            of_thread & (op <= Op.STORE), kind="stable"
        )  # later entries overwrite earlier ones
        rows, cells, op = rows[by_priority], cells[by_priority], op[by_priority]
        written = np.where(op == Op.LOAD, history.writes_before(cells, rows), rows)
        return cells, written

    def element_numbers(self, buffer: int, index: NDArray[np.integer[Any]]) -> Ints:
        """Return the number in the buffer's shape (C order) of each access index, -1 where there is none."""
        return self.cells(buffer).element_numbers(index)

    def touched(self, block: int) -> Mapping[int, TouchedElements]:
        """Return the elements that a block (linear number) accesses in global and constant memory, by buffer."""
        if block not in self._touched:
            self._touched[block] = self._new_touched(self._rows_of_block(block))
        return self._touched[block]

    def _new_touched(self, part: slice | Ints) -> dict[int, TouchedElements]:
        trace, touched = self._trace, {}
        buffers, index, phases = trace.buffer[part], trace.index[part], trace.phase[part]
        if (phases[1:] < phases[:-1]).any():
            order = np.argsort(phases, kind="stable")
            buffers, index, phases = buffers[order], index[order], phases[order]
        for number in [index for index, b in enumerate(trace.buffers) if b.space in ("global", "constant")]:
            chosen = np.flatnonzero(buffers == number)
            elements = self.element_numbers(number, index[chosen])
            exists = elements >= 0
            if exists.any():
                touched[number] = _by_phase(elements[exists], phases[chosen][exists])
        return touched

    def first_stores(self, block: int) -> Ints:
        """Find the first write (row of the trace) of each thread of a block to each element of global memory."""
        if block not in self._first_stores:
            trace, part = self._trace, self._rows_of_block(block)
            rows = _select_rows(part, trace.op[part] != Op.LOAD)
            rows = rows[np.array([b.space == "global" for b in trace.buffers], bool)[trace.buffer[rows]]]
            width = 1 + int(trace.index[rows].max(initial=0))
            key = trace.thread[rows].astype(np.int64) * len(trace.buffers) + trace.buffer[rows]
            key = key * width + trace.index[rows].astype(np.int64)
            self._first_stores[block] = rows[np.unique(key, return_index=True)[1]]
        return self._first_stores[block]

    def _rows_of_block(self, block: int) -> slice | Ints:
        """Return the accesses of a block, ascending: a slice if they are consecutive, which copies no columns."""
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
        rows: Ints = self._requests.accesses.rows_of(slice(requests.start, requests.stop))
        return rows

    def destinations(self, rows: NDArray[np.integer[Any]]) -> Destinations:
        """Return the destinations of loaded elements: (kind, buffer, access index in it), an array each.

        kind is NOWHERE (buffer and index are -1), INTO_SHARED or INTO_RESULT; see `LoadDestinations`.
        """
        target = self._destinations.stores_of(rows)
        nowhere = target < 0
        buffer = self._trace.buffer[target].astype(np.int64)
        index = self._trace.index[target].astype(np.int64)
        kind = self._kind_into[buffer]
        buffer[nowhere], index[nowhere], kind[nowhere] = -1, -1, NOWHERE
        return kind, buffer, index

    def value_range(self, buffer: int) -> tuple[float, float]:
        """Return the smallest and the largest finite value that a buffer ever holds; (0, 0) if there is none.

        Content of unwritten memory does not count, nor do copies of it.
        Complex values count by magnitude.
        """
        if buffer not in self._ranges:
            self._ranges[buffer] = self._range(buffer)
        return self._ranges[buffer]

    def cells(self, buffer: int) -> BufferCells:
        """Map a buffer's shape to the elements that have their own memory."""
        if buffer not in self._cells:
            self._cells[buffer] = BufferCells(self._trace.buffers[buffer])
        return self._cells[buffer]

    def prepare(self) -> None:
        """Compute the slow data that every picture of these contents needs."""
        _ = self._destinations
        first = int(self._trace.blocks[0])  # shown first
        _ = self.touched(first), self.first_stores(first)
        for number, buffer in enumerate(self._trace.buffers):
            self.value_range(number)
            self.poison_in(number)
            if buffer.space != "local":
                self._history(number, first, 0).reads_touched(0)

    def poison_in(self, buffer: int) -> Literal["none", "some", "all"]:
        """Return the extent of a buffer that holds poison before the launch."""
        if buffer not in self._poison:
            initial = self._trace.initial.get(buffer)
            poisoned = is_poison(initial) if initial is not None else np.ones(1, bool)
            self._poison[buffer] = "none" if not poisoned.any() else "all" if poisoned.all() else "some"
        return self._poison[buffer]

    @cached_property
    def _destinations(self) -> LoadDestinations:
        return self._find_destinations()

    @cached_property
    def _kind_into(self) -> NDArray[np.uint8]:
        """The kind of destination that each buffer is, shape (buffers,)."""
        spaces = [buffer.space for buffer in self._trace.buffers]
        return np.array([INTO_SHARED if space == "shared" else INTO_RESULT for space in spaces], np.uint8)

    def _range(self, buffer: int) -> tuple[float, float]:
        trace, dtype = self._trace, self._dtype(buffer)
        contents = [_written(trace.initial[buffer].reshape(-1))] if buffer in trace.initial else []
        requests = self._requests
        writing = np.flatnonzero((requests.buffer == buffer) & (requests.op != Op.LOAD))
        if trace.value is not None and dtype.kind != "V" and len(writing):
            stored = _cast(trace.value[self._rows_of(writing)], dtype)
            # Of 0xA5, a common small number, nothing is left out.
            contents.append(_written(stored) if dtype.itemsize >= 4 else stored)
        if not contents or dtype.kind == "V":
            return 0.0, 0.0
        ends = [
            end
            for values in contents
            for end in _ends(np.abs(values) if values.dtype.kind == "c" else values)
        ]
        return min(ends, default=0.0), max(ends, default=0.0)

    def _dtype(self, buffer: int) -> np.dtype[Any]:
        return np.dtype(self._trace.buffers[buffer].dtype)

    def initial(self, buffer: int, chosen: Ints | None = None) -> NDArray[Any]:
        """Return a new array of the content of each cell, or of the chosen cells, before the launch."""
        dtype, cells = self._dtype(buffer), self.cells(buffer)
        if buffer not in self._trace.initial:
            return np.full(len(cells) if chosen is None else len(chosen), poison(dtype), dtype)
        content = cells.select(self._trace.initial[buffer])
        return (content if chosen is None else content[chosen]).astype(dtype)

    def _overwritten(self, content: NDArray[Any], last: NDArray[np.int32]) -> NDArray[Any]:
        """Store the values of these rows; complete records have no values in a trace and keep their initial content."""
        written = np.flatnonzero(last >= 0)
        if self._trace.value is not None and content.dtype.kind != "V":
            content[written] = _cast(self._trace.value[last[written]], content.dtype)
        return content

    def _history(self, buffer: int, block: int, thread: int) -> AccessHistory:
        """Return the history of the copy of a buffer that this thread accesses."""
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
        """Find the reads or writes of one copy of a buffer in the order of moments, with the rows of writes."""
        requests, chosen = self._requests, self._requests_to(buffer, block)
        chosen = chosen[requests.op[chosen] != (Op.LOAD if writing else Op.STORE)]
        thread = thread if self._trace.buffers[buffer].space == "local" else ANY
        parts = (
            self._part(buffer, chosen[low : low + CHUNK], thread) for low in range(0, len(chosen), CHUNK)
        )
        return TimedAccesses.from_parts(parts, int(requests.lanes[chosen].sum()), with_rows=writing)

    def _part(self, buffer: int, chosen: Ints, thread: int) -> tuple[Ints, Ints, Ints]:
        """Return (cell, moment, row) of the accesses of the chosen requests, of one thread or of any."""
        requests, lanes = self._requests, self._requests.lanes[chosen]
        rows = self._rows_of(chosen)
        cell = self.cells(buffer).cells_of(self._trace.index[rows])
        kept, moment = cell >= 0, np.repeat(requests.moment[chosen], lanes)
        if thread != ANY:
            kept &= self._trace.thread[rows] == thread
        return (cell, moment, rows) if kept.all() else (cell[kept], moment[kept], rows[kept])

    def _rows_of(self, chosen: Ints) -> NDArray[Any]:
        """List the accesses (rows of the trace) of the chosen requests."""
        return self._requests.accesses.rows_of(chosen)

    def _requests_to(self, buffer: int, block: int) -> Ints:
        """List the requests to a buffer, or those of one block if each block has a copy."""
        matches = self._requests.buffer == buffer
        if self._trace.buffers[buffer].space in ("shared", "local"):
            matches &= self._requests.block == block
        return np.flatnonzero(matches)


def _reads_of(contents: ref[BufferContents], buffer: int, block: int, thread: int) -> TimedAccesses:
    """Find the reads of a copy of a buffer; the history refers to it weakly, so that no cycle keeps a trace alive."""
    target = contents()
    assert target is not None
    return target._timed_accesses(buffer, block, thread, writing=False)


def _select_rows(part: slice | Ints, wanted: Mask) -> Ints:
    """Select rows of a part of a trace by a mask; wanted: (rows of the part,)."""
    positions = np.flatnonzero(wanted)
    return positions + part.start if isinstance(part, slice) else part[positions]


def _by_phase(elements: Ints, phases: NDArray[np.unsignedinteger]) -> TouchedElements:
    """Group the elements of accesses by phase, each once per phase where that needs no sorting."""
    first = group_starts(phases)
    present, low = phases[first].astype(np.int64), np.minimum.reduceat(elements, first)
    start = offsets(np.maximum.reduceat(elements, first) + 1 - low)
    if start[-1] > SPARSE * len(elements):
        return TouchedElements(elements, present, first)
    mask, shift = np.zeros(start[-1], bool), start[:-1] - low
    mask[elements + shift[group_numbers(first, len(elements))]] = True
    positions = np.flatnonzero(mask)
    first = np.searchsorted(positions, start[:-1])
    return TouchedElements(positions - shift[group_numbers(first, len(positions))], present, first)


def destinations_in_background(trace: Trace) -> Callable[[], LoadDestinations]:
    """Start to find the destinations of a trace's loads, in a thread if it is large; return a function that waits."""
    return in_background(partial(LoadDestinations, trace), len(trace))


def contents_of(
    trace: Trace, requests: Requests, destinations: Callable[[], LoadDestinations] | None = None
) -> BufferContents:
    """Return the contents of a trace's buffers at every moment; everything is computed on first use.

    destinations: returns the destinations of loaded elements, if already computed.
    """
    return BufferContents(trace, requests, destinations)


def _written(content: NDArray[Any]) -> NDArray[Any]:
    """Remove the bytes of unwritten memory from content; the poison of other types is no finite value."""
    if content.dtype.kind not in "iuf":
        return content
    bits = content.view(f"u{content.dtype.itemsize}")
    written: NDArray[Any] = content[bits != poison(bits.dtype)]
    return written


def _ends(numbers: NDArray[Any]) -> list[float]:
    """Return the smallest and the largest finite number, nothing if there is none."""
    with np.errstate(invalid="ignore"):
        ends = [float(numbers.min()), float(numbers.max())] if len(numbers) else []
    if np.isfinite(ends).all():
        return ends  # the usual case, without a copy of millions of numbers
    finite = numbers[np.isfinite(numbers)]
    return [float(finite.min()), float(finite.max())] if len(finite) else []


def _cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert values of the trace's column to the dtype of their buffer."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = values.real
    with np.errstate(invalid="ignore", over="ignore"):
        return values.astype(dtype)

"""Converts the notes of a launch on a GPU to a trace, in the order of the GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ...model.array_types import Columns, Ints, narrow
from ...model.launch import Array, Schedule
from ...model.trace import BARRIER, Barriers, Buffer, Op, OutOfBounds, Site, Trace
from ...recording.finish import finish
from ...recording.kernel_loader import create_array
from ...recording.recorder import Recorder, widest
from ...recording.run_record import RunRecord
from ...storage.recorded_traces import MEASURED
from ..marks.calibration import CalibrationError, Clocks, calibrate
from .access_order import PICO, Order, order_of
from .notes import (
    AFTER,
    BASE,
    BEFORE,
    DECLARED_FROM,
    FIRST,
    INSTANCES,
    MULTIPROCESSOR,
    OLD,
    PLACE,
    SITE,
    VALUE,
    NotedArray,
    Notes,
    NotesError,
)


class MeasuredRun(Struct, frozen=True, eq=False):
    """A launch on a GPU: its trace, its results, and how well its order is known."""

    trace: Trace
    results: dict[str, NDArray[Any]]  # the contents of array arguments after the launch, by name
    order: Order
    resolution: float  # nanoseconds: the steps of the timer that compares multiprocessors' clocks
    nanoseconds: float  # from the first access to the last
    multiprocessors: int  # on which it ran
    latencies: dict[str, float]  # median cycles of loads by space, including the note

    @property
    def outside(self) -> int:
        """The number of accesses outside their arrays, which the GPU made nevertheless."""
        return len(self.trace.outside.step)


def measured_run(notes: Notes) -> MeasuredRun:
    """Decode notes; raises NotesError for inconsistent ones."""
    try:
        clocks = calibrate(notes.before, notes.after)
        return _Decoder(notes, clocks).run()
    except CalibrationError as error:
        raise NotesError(str(error)) from error


class MeasuredRecorder(Recorder):
    """Holds the accesses and arrivals of a launch on a GPU, which are all known in advance."""

    def __init__(self, arrivals: Barriers, warp_arrivals: Barriers, outside: OutOfBounds) -> None:
        super().__init__(1 << 62, lambda columns: None)
        self._barriers, self._outside = (arrivals, warp_arrivals), outside

    def barriers(self, *, warp: bool = False) -> Barriers:
        """Return the arrivals at barriers, or at warp operations, as columns."""
        return self._barriers[warp]

    def outside(self) -> OutOfBounds:
        """Return the accesses outside their arrays."""
        return self._outside


class _Decoder:
    """Reads the notes of a launch. All columns have shape (notes,), thread after thread."""

    def __init__(self, notes: Notes, clocks: Clocks) -> None:
        head, rows = notes.head, notes.rows
        self._notes, self._head, self._clocks = notes, head, clocks
        self._threads = math.prod(head.launch.block)
        self._thread = np.repeat(np.arange(len(notes.heads)), notes.counts)  # in the grid
        self._site = rows[:, SITE].astype(np.int64)
        self._kind = np.array([site.kind for site in head.sites], np.int64)[self._site]
        self._waits = self._kind == BARRIER
        self._at_barrier = self._waits & (rows[:, VALUE] == 0) & (rows[:, OLD] == 0)
        self._record = self._new_record()
        self._buffer = np.zeros(len(rows), np.int64)
        self._index = np.zeros(len(rows), np.int64)

    def run(self) -> MeasuredRun:
        """Build the trace and the figures of the launch."""
        self._locate_accesses()
        order = self._order()
        rank = np.lexsort((self._thread, order.times))
        inside = self._inside()
        recorder = MeasuredRecorder(
            self._arrivals(rank, self._at_barrier), self._arrivals(rank, self._waits & ~self._at_barrier),
            self._outside(rank, ~inside & ~self._waits),
        )  # fmt: skip
        recorder.buffers, recorder.sites = self._record.recorder.buffers, self._sites()
        recorder.kept = [self._columns(rank[(inside & ~self._waits)[rank]])]
        recorder.accesses = len(recorder.kept[0]["op"])
        recorder.finished = list(range(math.prod(self._head.launch.grid)))
        self._record.recorder = recorder
        self._record.finals = dict(self._notes.results)
        self._record.resident = self._concurrent_blocks()
        trace = finish(self._record, self._head.file, origin_of(self._notes))
        return MeasuredRun(
            replace(trace, notice=self._notice(order)), dict(self._notes.results), order, self._clocks.resolution,
            float(order.times.max(initial=0)) / PICO, len(np.unique(self._notes.heads[:, MULTIPROCESSOR])),
            self._latencies(),
        )  # fmt: skip

    def _new_record(self) -> RunRecord:
        launch = replace(self._head.launch, schedule=Schedule(MEASURED, self._head.launch.schedule.seed))
        record = RunRecord(launch, self._head.names, lambda done, total: None)
        record.recorder = Recorder(1 << 62, lambda columns: None)
        return record

    def _locate_accesses(self) -> None:
        """Find the buffer and the index of each access, from the addresses of array and element."""
        is_located = self._waits.copy()
        given = zip(self._head.names, self._head.launch.arguments, strict=True)
        arrays = {name: create_array(a) for name, a in given if isinstance(a, Array)}
        for argument in self._head.arguments:
            memory = self._record.memory_of(arrays[argument.name], argument.name, "global")
            start = np.full(len(self._notes.heads), argument.address, np.uint64)
            is_located |= self._locate_in(memory.buffer, start)
        for number, declared in enumerate(self._head.declared):
            first = DECLARED_FROM + INSTANCES * number
            starts = self._notes.heads[:, first : first + INSTANCES].T
            starts = starts[starts.any(axis=1)]
            buffer = self._declare(number, declared) if len(starts) else -1
            for start in starts:
                is_located |= self._locate_in(buffer, start)
        if not is_located.all():
            line = self._head.sites[int(self._site[np.argmin(is_located)])].line
            raise NotesError(f"An access of line {line} on the GPU belongs to no known array.")

    def _declare(self, number: int, array: NotedArray) -> int:
        """Return the number of the buffer of a declared array."""
        name = array.name or f"{array.space}_{number}"
        if array.shape is None:
            return self._record.add_dynamic(name, np.dtype(array.dtype))
        if array.space == "constant":
            return self._record.memory_of(self._notes.contents[number], name, "constant").buffer
        template = np.empty(array.shape, array.dtype)
        return self._record.add_array(name, array.space, template, template.size)

    def _locate_in(self, buffer: int, start: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Locate accesses in a buffer, whose address is given per thread; return a mask of them."""
        buffer_info = self._record.recorder.buffers[buffer]
        begin, rows = start[self._thread], self._notes.rows
        is_inside: NDArray[np.bool_] = (begin > 0) & ~self._waits & (rows[:, BASE] >= begin)
        is_inside &= rows[:, BASE] - begin < max(1, buffer_info.size * buffer_info.unit)
        self._buffer[is_inside] = buffer
        self._index[is_inside] = (rows[is_inside, PLACE] - begin[is_inside]).view(
            np.int64
        ) // buffer_info.unit
        return is_inside

    def _inside(self) -> NDArray[np.bool_]:
        size = np.array([b.size for b in self._buffers] or [0], np.int64)[self._buffer]
        return (self._index >= 0) & (self._index < size)

    @property
    def _buffers(self) -> list[Buffer]:
        return self._record.recorder.buffers

    def _order(self) -> Order:
        rows, space = self._notes.rows, np.array([b.space for b in self._buffers] or [""])[self._buffer]
        copy = np.where(space == "shared", self._thread // self._threads, 0)
        copy = np.where(space == "local", self._thread, copy)
        _, element = np.unique(np.stack([self._buffer, copy, self._index]), axis=1, return_inverse=True)
        multiprocessor = self._notes.heads[:, MULTIPROCESSOR].astype(np.int64)
        if (multiprocessor >= len(self._clocks.rate)).any() or np.isnan(
            self._clocks.rate[multiprocessor]
        ).any():
            raise NotesError("A block ran on a multiprocessor whose clock was not read; run it again.")
        return order_of(
            self._clocks, multiprocessor[self._thread], rows[:, BEFORE], self._thread,
            (self._kind >= Op.ATOMIC) & ~self._waits, element.reshape(-1), rows[:, OLD], rows[:, VALUE],
        )  # fmt: skip

    def _phase(self) -> Ints:
        """Count the barriers of its block that each thread has passed."""
        before = np.cumsum(self._at_barrier) - self._at_barrier
        starts = np.cumsum(self._notes.counts) - self._notes.counts
        first = before[np.minimum(starts, max(0, len(before) - 1))] if len(before) else starts
        return np.asarray(before - first[self._thread], np.int64)

    def _columns(self, rows: Ints) -> Columns:
        """Build the columns of a trace from these notes."""
        buffer = self._buffer[rows]
        return {
            "block": narrow(self._thread[rows] // self._threads), "thread": narrow(self._thread[rows] % self._threads),
            "phase": narrow(self._phase()[rows]), "op": self._kind[rows].astype(np.uint8), "buffer": narrow(buffer),
            "site": narrow(self._site[rows]), "index": narrow(self._index[rows]),
            "value": values_of(self._notes.rows[rows, VALUE], buffer, self._buffers),
        }  # fmt: skip

    def _arrivals(self, rank: Ints, chosen: NDArray[np.bool_]) -> Barriers:
        """Return the arrivals among the notes, in order."""
        accesses = self._inside() & ~self._waits
        step = np.cumsum(accesses[rank]) - accesses[rank]
        positions = np.flatnonzero(chosen[rank])
        rows = rank[positions]
        columns = [
            self._thread[rows] // self._threads, self._thread[rows] % self._threads, self._phase()[rows],
            self._site[rows], step[positions], *self._notes.rows[rows][:, [VALUE, OLD]].T.astype(np.int64),
        ]  # fmt: skip
        return Barriers(*(narrow(column) for column in columns))

    def _outside(self, rank: Ints, chosen: NDArray[np.bool_]) -> OutOfBounds:
        """Return the accesses outside their arrays, in order."""
        accesses = self._inside() & ~self._waits
        step = np.cumsum(accesses[rank]) - accesses[rank]
        positions = np.flatnonzero(chosen[rank])
        rows = rank[positions]
        columns = [
            self._thread[rows] // self._threads, self._thread[rows] % self._threads, self._phase()[rows],
            np.minimum(self._kind[rows], Op.ATOMIC), self._buffer[rows], self._site[rows], step[positions],
        ]  # fmt: skip
        names = [
            f"{self._buffers[b].name}[{i}]"
            for b, i in zip(self._buffer[rows], self._index[rows], strict=True)
        ]
        narrowed = [narrow(column) for column in columns]
        narrowed[3] = narrowed[3].astype(np.uint8)
        return OutOfBounds(*narrowed, self._index[rows], tuple(names))  # type: ignore[call-arg, arg-type]

    def _sites(self) -> list[Site]:
        return [Site(s.function, s.file, s.line, s.column) for s in self._head.sites]

    def _concurrent_blocks(self) -> int:
        """Count the most concurrent blocks, by the clocks."""
        heads, rows = self._notes.heads, self._notes.rows
        block = np.arange(len(heads)) // self._threads
        multiprocessor = heads[:, MULTIPROCESSOR].astype(np.int64)
        start = self._clocks.times(multiprocessor, heads[:, FIRST].astype(np.int64))
        end = start.copy()
        if len(rows):
            last = self._clocks.times(multiprocessor[self._thread], rows[:, AFTER].astype(np.int64))
            np.maximum.at(end, self._thread, last)
        blocks = int(block[-1]) + 1
        starts, ends = np.full(blocks, np.inf), np.full(blocks, -np.inf)
        np.minimum.at(starts, block, start)
        np.maximum.at(ends, block, end)
        return int(max(np.count_nonzero((starts <= time) & (ends >= time)) for time in starts.tolist()))

    def _latencies(self) -> dict[str, float]:
        """Return the median cycles of loads for each space, from before to after the load."""
        rows, loads = self._notes.rows, (self._kind == Op.LOAD) & ~self._waits
        space = np.array([b.space for b in self._buffers] or [""])[self._buffer]
        cycles = (rows[:, AFTER] - rows[:, BEFORE]).astype(np.float64)
        names = [n for n in ("global", "shared", "local", "constant") if (loads & (space == n)).any()]
        return {name: float(np.median(cycles[loads & (space == name)])) for name in names}

    def _notice(self, order: Order) -> str:
        device, resolution, chains = self._head.device.name, f"{self._clocks.resolution:.0f} ns", ""
        if order.atomics:
            chains = f", {order.chained:,} of {order.atomics:,} atomics by their values"
        return (
            f"Measured on {with_article(device)} on {self._head.date[:10]}: its {len(self._notes.rows):,} accesses and "
            f"waits are in the order of its clocks, known to {resolution} between multiprocessors{chains}."
        )


def with_article(device: str) -> str:
    """Return a device's name with its article."""
    return f"{'an' if device.startswith(('NVIDIA', 'A', 'I', 'O')) else 'a'} {device}"


def origin_of(notes: Notes) -> str:
    """Describe the origin of a trace of notes."""
    head = notes.head
    numba = head.versions.get("numba-cuda", "")
    return f"{head.device.name}, {head.date[:10]}, numba-cuda {numba}, measured; {head.revision or 'unknown revision'}"


def values_of(bits: NDArray[np.uint64], buffer: Ints, buffers: list[Buffer]) -> NDArray[Any]:
    """Convert the bits of accesses to values of their buffers' types, in the widest of these types."""
    used = [int(b) for b in np.unique(buffer)]
    values: NDArray[Any] = np.zeros(len(bits), widest([np.dtype(buffers[b].dtype) for b in used]))
    for number in used:
        is_of_buffer, dtype = buffer == number, np.dtype(buffers[number].dtype)
        raw = np.ascontiguousarray(bits[is_of_buffer]).view(np.uint8).reshape(-1, 8)[:, : dtype.itemsize]
        values[is_of_buffer] = np.ascontiguousarray(raw).view(dtype).reshape(-1)
    return values

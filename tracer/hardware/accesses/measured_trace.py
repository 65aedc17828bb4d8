"""From the notes of a launch on a GPU to its trace: what an engine's run ends in, in the order that the GPU made it."""

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
from ...recording.kernel_loader import filled
from ...recording.recorder import Recorder, widest
from ...recording.run_record import RunRecord
from ...storage.recorded_traces import MEASURED
from ..marks.calibration import Clocks, NotCalibrated, fitted
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
from .order import PICO, Order, order_of


class MeasuredRun(Struct, frozen=True, eq=False):
    """A launch as a GPU made it: its trace, what it left, and how well its order is known."""

    trace: Trace
    results: dict[str, NDArray[Any]]  # what each array argument held after the launch, by name
    order: Order
    resolution: float  # nanoseconds: the steps of the timer by which clocks of multiprocessors are compared
    nanoseconds: float  # from the first access to the last
    multiprocessors: int  # on which it ran
    latencies: dict[str, float]  # cycles that loads of a space took, the median, with the note of them

    @property
    def outside(self) -> int:
        """How many accesses lay outside their arrays, which the GPU made all the same."""
        return len(self.trace.outside.step)


def measured_run(notes: Notes) -> MeasuredRun:
    """Return what a GPU did; raises NotesError for notes that make no sense."""
    try:
        clocks = fitted(notes.before, notes.after)
        return _Decoder(notes, clocks).run()
    except NotCalibrated as error:
        raise NotesError(str(error)) from error


class MeasuredRecorder(Recorder):
    """Holds the accesses and arrivals of a launch on a GPU, which all are there already."""

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
        """Return what the notes say."""
        self._place_all()
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
        self._record.resident = self._most_at_once()
        trace = finish(self._record, self._head.file, made_by(self._notes))
        return MeasuredRun(
            replace(trace, notice=self._notice(order)), dict(self._notes.results), order, self._clocks.resolution,
            float(order.times.max(initial=0)) / PICO, len(np.unique(self._notes.heads[:, MULTIPROCESSOR])),
            self._latencies(),
        )  # fmt: skip

    def _new_record(self) -> RunRecord:
        launch = replace(self._head.launch, schedule=Schedule(MEASURED, self._head.launch.schedule.seed))
        record = RunRecord(launch, self._head.names, lambda done, of: None)
        record.recorder = Recorder(1 << 62, lambda columns: None)
        return record

    def _place_all(self) -> None:
        """Find buffer and index of each access: by where its array begins, and by where its element lies."""
        found = self._waits.copy()
        given = zip(self._head.names, self._head.launch.arguments, strict=True)
        arrays = {name: filled(a) for name, a in given if isinstance(a, Array)}
        for argument in self._head.arguments:
            memory = self._record.memory_of(arrays[argument.name], argument.name, "global")
            start = np.full(len(self._notes.heads), argument.address, np.uint64)
            found |= self._place(memory.buffer, start)
        for number, declared in enumerate(self._head.declared):
            first = DECLARED_FROM + INSTANCES * number
            starts = self._notes.heads[:, first : first + INSTANCES].T
            starts = starts[starts.any(axis=1)]
            buffer = self._declare(number, declared) if len(starts) else -1
            for start in starts:
                found |= self._place(buffer, start)
        if not found.all():
            line = self._head.sites[int(self._site[np.argmin(found)])].line
            raise NotesError(f"An access of line {line} on the GPU lies in no array that is known.")

    def _declare(self, number: int, array: NotedArray) -> int:
        """Return the number of the buffer of an array that the kernel declares."""
        name = array.name or f"{array.space}_{number}"
        if array.shape is None:
            return self._record.add_dynamic(name, np.dtype(array.dtype))
        if array.space == "constant":
            return self._record.memory_of(self._notes.contents[number], name, "constant").buffer
        like = np.empty(array.shape, array.dtype)
        return self._record.add_array(name, array.space, like, like.size)

    def _place(self, buffer: int, start: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Note buffer and index of accesses in a buffer's memory, whose address is given for each thread."""
        known = self._record.recorder.buffers[buffer]
        begin, rows = start[self._thread], self._notes.rows
        mine: NDArray[np.bool_] = (begin > 0) & ~self._waits & (rows[:, BASE] >= begin)
        mine &= rows[:, BASE] - begin < max(1, known.size * known.unit)
        self._buffer[mine] = buffer
        self._index[mine] = (rows[mine, PLACE] - begin[mine]).view(np.int64) // known.unit
        return mine

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
        """Return how many barriers of its block each thread had passed."""
        before = np.cumsum(self._at_barrier) - self._at_barrier
        starts = np.cumsum(self._notes.counts) - self._notes.counts
        first = before[np.minimum(starts, max(0, len(before) - 1))] if len(before) else starts
        return np.asarray(before - first[self._thread], np.int64)

    def _columns(self, rows: Ints) -> Columns:
        """Return the columns of a trace of these notes."""
        buffer = self._buffer[rows]
        return {
            "block": narrow(self._thread[rows] // self._threads), "thread": narrow(self._thread[rows] % self._threads),
            "phase": narrow(self._phase()[rows]), "op": self._kind[rows].astype(np.uint8), "buffer": narrow(buffer),
            "site": narrow(self._site[rows]), "index": narrow(self._index[rows]),
            "value": values_of(self._notes.rows[rows, VALUE], buffer, self._buffers),
        }  # fmt: skip

    def _arrivals(self, rank: Ints, chosen: NDArray[np.bool_]) -> Barriers:
        """Return the arrivals among the notes, in their order."""
        accesses = self._inside() & ~self._waits
        step = np.cumsum(accesses[rank]) - accesses[rank]
        at = np.flatnonzero(chosen[rank])
        rows = rank[at]
        columns = [
            self._thread[rows] // self._threads, self._thread[rows] % self._threads, self._phase()[rows],
            self._site[rows], step[at], *self._notes.rows[rows][:, [VALUE, OLD]].T.astype(np.int64),
        ]  # fmt: skip
        return Barriers(*(narrow(column) for column in columns))

    def _outside(self, rank: Ints, chosen: NDArray[np.bool_]) -> OutOfBounds:
        """Return the accesses that lay outside their arrays, in their order."""
        accesses = self._inside() & ~self._waits
        step = np.cumsum(accesses[rank]) - accesses[rank]
        at = np.flatnonzero(chosen[rank])
        rows = rank[at]
        columns = [
            self._thread[rows] // self._threads, self._thread[rows] % self._threads, self._phase()[rows],
            np.minimum(self._kind[rows], Op.ATOMIC), self._buffer[rows], self._site[rows], step[at],
        ]  # fmt: skip
        names = [
            f"{self._buffers[b].name}[{i}]"
            for b, i in zip(self._buffer[rows], self._index[rows], strict=True)
        ]
        made = [narrow(column) for column in columns]
        made[3] = made[3].astype(np.uint8)
        return OutOfBounds(*made, self._index[rows], tuple(names))  # type: ignore[call-arg, arg-type]

    def _sites(self) -> list[Site]:
        return [Site(s.function, s.file, s.line, s.column) for s in self._head.sites]

    def _most_at_once(self) -> int:
        """Return how many blocks were under way at once, by the clocks."""
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
        return int(max(np.count_nonzero((starts <= at) & (ends >= at)) for at in starts.tolist()))

    def _latencies(self) -> dict[str, float]:
        """Return the cycles from before a load to after it, the median of all loads of a space."""
        rows, loads = self._notes.rows, (self._kind == Op.LOAD) & ~self._waits
        space = np.array([b.space for b in self._buffers] or [""])[self._buffer]
        took = (rows[:, AFTER] - rows[:, BEFORE]).astype(np.float64)
        names = [n for n in ("global", "shared", "local", "constant") if (loads & (space == n)).any()]
        return {name: float(np.median(took[loads & (space == name)])) for name in names}

    def _notice(self, order: Order) -> str:
        device, known, chains = self._head.device.name, f"{self._clocks.resolution:.0f} ns", ""
        if order.atomics:
            chains = f", {order.chained:,} of {order.atomics:,} atomics by the values that they found"
        return (
            f"Measured on {an(device)} on {self._head.date[:10]}: its {len(self._notes.rows):,} accesses and waits "
            f"stand in the order of its clocks, known to {known} between multiprocessors{chains}."
        )


def an(device: str) -> str:
    """Return a device's name with its article."""
    return f"{'an' if device.startswith(('NVIDIA', 'A', 'I', 'O')) else 'a'} {device}"


def made_by(notes: Notes) -> str:
    """Return what made a trace of notes."""
    head = notes.head
    numba = head.versions.get("numba-cuda", "")
    return f"{head.device.name}, {head.date[:10]}, numba-cuda {numba}, measured; {head.revision or 'unknown revision'}"


def values_of(bits: NDArray[np.uint64], buffer: Ints, buffers: list[Buffer]) -> NDArray[Any]:
    """Return the values that the bits of accesses are, each of its buffer's type, in the widest of these."""
    used = [int(b) for b in np.unique(buffer)]
    made: NDArray[Any] = np.zeros(len(bits), widest([np.dtype(buffers[b].dtype) for b in used]))
    for number in used:
        mine, dtype = buffer == number, np.dtype(buffers[number].dtype)
        raw = np.ascontiguousarray(bits[mine]).view(np.uint8).reshape(-1, 8)[:, : dtype.itemsize]
        made[mine] = np.ascontiguousarray(raw).view(dtype).reshape(-1)
    return made

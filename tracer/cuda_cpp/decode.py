"""Builds the trace of a launch from the rows that the runtime recorded."""

from __future__ import annotations

import math
import mmap
import re
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.counters import totals_of
from ..analysis.requests import requests_of
from ..compiled import state
from ..model import launch as launches
from ..model.array_types import Columns, narrow
from ..model.trace import (
    Barriers,
    Buffer,
    KernelError,
    MissingLanes,
    Op,
    OutOfBounds,
    Site,
    Trace,
    no_barriers,
    nothing_outside,
    unravel,
)
from .counted_rows import BUFFERS, BlockRuns, RowCounter, take_rows
from .launch_memory import LaunchEvent, LaunchMemory, ProgramMemory
from .program_facts import ProgramFacts
from .row_columns import RowColumns
from .rows import ARRIVAL, ROW, WARP_ARRIVAL, WHY

MOST_BLOCKS = (1 << 32) - 1  # blocks whose numbers the runtime can hold
MOST_WAITING = 12_000_000  # accesses of a warp between two barriers that can be counted
MOST_LOOKED_AT = 1000  # misaligned copies
_VECTOR_POINTER = re.compile(r"\bu?(char|short|int|long|longlong|float|double)([24])\s*(?:const\s*)?[*>&]")
_VECTOR_BYTES = {"char": 1, "short": 2, "long": 8, "longlong": 8, "double": 8}
ERRORS = {
    "IllegalAddress": "accesses {size} bytes at an address that is not memory of the GPU",
    "HostMemory": "accesses {size} bytes of the host's memory, which a GPU cannot reach",
    "FreedMemory": "accesses {size} bytes of memory that cudaFree has freed",
    "MisalignedAddress": "accesses {size} bytes at an address that is not a multiple of {size}",
    "Assertion": "fails an assertion",
    "SurfaceBounds": "accesses a surface outside of its array",
    "Trap": "calls __trap()",
    "Exception": "throws an exception",
    "Endless": "does not end",
    "Deadlock": "and others wait for each other without end",
}


class KernelFault(Struct):
    """The error that ended a kernel, as the runtime reports it."""

    type: str
    address: int
    site: int
    block: int
    thread: int
    size: int
    operation: int


class RowsEvent(Struct):
    """Rows and arrivals that the runtime hands over."""

    rows: int
    arrivals: int
    sites: list[int]
    done: int  # blocks that have ended
    complete: int  # no more counted rows come with contexts below it
    is_lost: bool  # whether some accesses were neither recorded nor counted
    running: list[int] = []  # numbers of the blocks with more rows to come
    faults: list[tuple[int, int, int, int, int, int, int, int]] = []
    error: KernelFault | None = None


Memory = mmap.mmap | memoryview


class LaunchDecoder:
    """Collects the rows of a launch and builds its trace."""

    def __init__(
        self,
        event: LaunchEvent,
        facts: ProgramFacts,
        memory: ProgramMemory,
        symbols: NDArray[np.uint8],
        schedule: launches.Schedule,
        resident: int,
        limits: launches.Limits,
    ) -> None:
        """symbols: contents of the program's variables, each from a multiple of 16."""
        self._event, self._facts = event, facts
        self._schedule, self._resident, self._limits = schedule, resident, limits
        self._site_numbers: list[int] = []  # of the runtime's sites
        self._sites: dict[Site, int] = {}
        self.kernel = (facts.debug.function(event.function) if event.function else "") or event.kernel_name
        self._memory = LaunchMemory(event, facts, memory, symbols, self.kernel)
        self._columns = RowColumns(self._memory)
        self._positions: list[
            NDArray[np.int64]
        ] = []  # of the rows in `_columns` among all, once some are missing
        self._arrivals: list[NDArray[np.void]] = []
        self._before = 0  # rows of earlier messages
        # Rows of the first running blocks and their positions, then rows of those that are paused: see `_pause`.
        self._first: list[tuple[NDArray[np.void], NDArray[np.int64]]] = []
        self._paused: list[NDArray[np.void]] = []
        self._first_blocks = 0  # blocks below this number are recorded, 0 for all
        self._counter: RowCounter | None = None  # once rows are counted instead of kept
        self._is_part = False  # whether some accesses were neither kept nor counted
        self.sampled = 0  # blocks that run, evenly from all; 0 for all
        self.chosen: NDArray[np.int64] | None = (
            None  # numbers of the blocks that run, ascending; None for all
        )

    # --- rows

    def begin(self, counting: bool) -> None:
        """Begin; counting: whether no rows are kept."""
        if counting:
            self._counter = self._new_counter()

    def add(self, event: RowsEvent, rows_memory: Memory, arrivals_memory: Memory) -> str:
        """Add the rows, arrivals and sites of a message.

        Returns the answer for the runtime: "ok", "count" if rows are only counted from now on, "keep 4" for rows of
        the blocks below 4 until these have ended, "stop" for no more.
        """
        self.add_sites(event.sites)
        self._is_part |= event.is_lost
        if self._counter is not None:
            self._counter.use_sites(self._site_numbers)
            self._counter.add(np.frombuffer(rows_memory, state.ROW, event.rows), event.complete)
            self._is_part |= self._counter.waiting > MOST_WAITING
            return "stop" if self._is_part else "ok"
        rows = np.frombuffer(rows_memory, ROW, event.rows)
        self._arrivals.append(np.frombuffer(arrivals_memory, ARRIVAL, event.arrivals).copy())
        before, self._before = self._before, self._before + len(rows)
        if self._first_blocks:
            return self._pause(rows, before, event.running)
        if not event.running and self._before <= self._limits.accesses:
            self._columns.add(rows, self._site_table())
            return "ok"
        runs = BlockRuns(rows["block"])
        is_complete = ~np.isin(runs.blocks, np.array(event.running, np.uint32))
        if not is_complete.any():
            return self._pause(rows, before, event.running)
        fits = is_complete.copy()
        fits[is_complete] = np.cumsum(runs.counts[is_complete]) <= self._limits.accesses
        self._keep(rows, before, runs.positions(fits))
        complete, early = (take_rows(rows, runs.positions(mask)) for mask in (is_complete, ~is_complete))
        return self._start_counting(complete, early, event.running)

    def add_sites(self, pcs: list[int]) -> None:
        """Add sites by their return addresses, counted from the start of the image."""
        for pc in pcs:
            site = self._facts.debug.site(pc) or Site(self.kernel, self._event.file, self._event.line, 0)
            self._site_numbers.append(self._sites.setdefault(site, len(self._sites)))

    def _keep(self, rows: NDArray[np.void], before: int, positions: slice | NDArray[np.int64]) -> None:
        """Keep some rows in columns. before: the position of the first row."""
        self._columns.add(take_rows(rows, positions), self._site_table())
        if isinstance(positions, slice):
            positions = np.arange(positions.start, positions.stop)
        self._positions.append(positions + before)

    def _pause(self, rows: NDArray[np.void], before: int, running: list[int]) -> str:
        """Take rows of the first running blocks only; the others wait until these have ended, and are then counted."""
        numbers = sorted(running)
        first = [number for number in numbers if number < self._first_blocks]
        is_over = bool(self._first_blocks) and not first
        if not self._first_blocks:
            first = numbers[: max(1, len(numbers) // 4)]
        limit = self._first_blocks if is_over else first[-1] + 1
        self._first.append((rows, before + np.arange(len(rows))))
        self._split(limit)
        while not is_over and 2 * sum(len(kept) for kept, _ in self._first) > self._limits.accesses:
            first = first[: len(first) // 2]
            limit = first[-1] + 1 if first else 0
            self._split(limit)
            if not first:
                break
        if first:
            self._first_blocks = limit
            return f"keep {limit}"
        complete, positions = (np.concatenate(parts) for parts in zip(*self._first, strict=True))
        self._first = []
        runs = BlockRuns(complete["block"])
        fitting = runs.positions(np.cumsum(runs.counts) <= self._limits.accesses)
        self._columns.add(take_rows(complete, fitting), self._site_table())
        self._positions.append(positions[fitting])
        if self._is_part:
            return "stop"
        return self._start_counting(complete, np.concatenate(self._paused), running)

    def _split(self, limit: int) -> None:
        """Move the rows of blocks from a number on to the paused ones."""
        first, self._first = self._first, []
        for rows, positions in first:
            runs = BlockRuns(rows["block"])
            is_first = runs.blocks < limit
            chosen = runs.positions(is_first)
            self._first.append((take_rows(rows, chosen).copy(), positions[chosen]))
            self._paused.append(take_rows(rows, runs.positions(~is_first)).copy())

    def _start_counting(self, complete: NDArray[np.void], early: NDArray[np.void], running: list[int]) -> str:
        """Count rows from now on, after those of complete blocks. early: of running blocks, and of some that ended."""
        self._counter = self._new_counter()
        self._counter.add_blocks(complete)
        runs, blocks = BlockRuns(early["block"]), np.array(running, np.uint32)
        goes_on = np.isin(runs.blocks, blocks)
        self._counter.add_blocks(take_rows(early, runs.positions(~goes_on)))
        self._counter.add_early(take_rows(early, runs.positions(goes_on)), blocks)
        self._paused = []
        return "count"

    def _new_counter(self) -> RowCounter:
        counter = RowCounter(
            math.prod(self._event.block), self._memory, self._event.allocations, self._count_columns
        )
        counter.use_sites(self._site_numbers)
        return counter

    def _count_columns(self, columns: Columns) -> dict[str, int]:
        trace = self._trace(columns, np.unique(columns["block"]).astype(np.int64), buffers=tuple(BUFFERS))
        return totals_of(trace, requests_of(trace))

    def _site_table(self) -> NDArray[np.int64]:
        return np.array(self._site_numbers or [0], np.int64)

    # --- the trace

    def finish(self, faults: list[tuple[int, ...]], error: KernelFault | None) -> Trace:
        """Build the trace of the ended launch."""
        for rows, positions in self._first:
            self._columns.add(rows, self._site_table())
            self._positions.append(positions)
        columns, outside = self._columns.columns(), self._columns.outside()
        self._add_unaccessed()
        is_capped = self._counter is not None or self._is_part
        blocks = self._blocks_that_run()
        recorded = np.unique(columns["block"]).astype(np.int64) if is_capped else blocks
        count, totals, notice = len(columns["op"]), {}, ""
        arrivals = np.concatenate(self._arrivals) if self._arrivals else np.empty(0, ARRIVAL)
        if is_capped:
            arrivals = arrivals[np.isin(arrivals["block"], recorded.astype(np.uint32))]
            positions = np.concatenate([np.empty(0, np.int64), *self._positions])
            arrivals["row"] = np.searchsorted(positions, arrivals["row"])
        if self._is_part:
            blocks = recorded
            notice = (
                f"The first {len(recorded):,} of {math.prod(self._event.grid):,} blocks are recorded; the others ran "
                "without a record, since the launch makes too many accesses. Choose a smaller size to see all."
            )
        elif self._counter is not None:
            kept, totals = count, self._counter.totals()
            count = self._counter.count
            notice = (
                f"{kept:,} of {count:,} accesses are kept (the cap is {self._limits.accesses:,}): "
                "the counters cover the complete launch, the pictures only its first blocks."
            )
        error = error or self._misaligned(self._columns.misaligned)
        kernel_error = None
        if error is not None:
            kernel_error = self._kernel_error(error)
            reached = max(int(columns["block"].max(initial=0)), error.block)
            blocks = blocks[blocks <= reached]
            recorded = recorded if is_capped else blocks
        is_warp = arrivals["kind"] == WARP_ARRIVAL
        return self._trace(
            columns,
            blocks,
            recorded=recorded,
            steps=self._steps(outside["step"], len(self._columns)),
            barriers=self._barriers(arrivals[~is_warp]),
            warp_barriers=self._barriers(arrivals[is_warp]),
            outside=self._outside(outside),
            missing=tuple(self._missing(fault) for fault in faults),
            error=kernel_error,
            totals=totals,
            notice=notice,
            accesses=count,
        )

    @staticmethod
    def _steps(outside: NDArray[np.int64], count: int) -> NDArray[np.unsignedinteger] | None:
        """Return the steps of the rows that are within their buffers; None if all are."""
        return narrow(np.delete(np.arange(count), outside)) if len(outside) else None

    def _blocks_that_run(self) -> NDArray[np.int64]:
        if self.chosen is not None:
            return self.chosen
        if not self.sampled:
            return np.arange(math.prod(self._event.grid), dtype=np.int64)
        last = min(math.prod(self._event.grid), MOST_BLOCKS) - 1
        return np.array([last * i // (self.sampled - 1) for i in range(self.sampled)], np.int64)

    def _trace(
        self,
        columns: Columns,
        blocks: NDArray[np.int64],
        *,
        recorded: NDArray[np.int64] | None = None,
        steps: NDArray[np.unsignedinteger] | None = None,
        barriers: Barriers | None = None,
        warp_barriers: Barriers | None = None,
        outside: OutOfBounds | None = None,
        missing: tuple[MissingLanes, ...] = (),
        error: KernelError | None = None,
        totals: dict[str, int] | None = None,
        notice: str = "",
        accesses: int | None = None,
        buffers: tuple[Buffer, ...] | None = None,
    ) -> Trace:
        """Build a trace; buffers: instead of those of the columns."""
        initial = {}
        if buffers is None:
            buffers = tuple(self._columns.buffers)
            for number, (buffer, views) in enumerate(
                zip(buffers, self._columns.views_of_buffer, strict=True)
            ):
                content = views.initial_of(buffer) if buffer.space in ("global", "constant") else None
                if content is not None:
                    initial[number] = content
        event, facts = self._event, self._facts
        file = self.kernel_file()
        sources = dict.fromkeys([file, *(site.file for site in self._sites), event.file])
        files = {name: facts.texts[name] for name in sources if name in facts.texts}
        arguments, constants = self._memory.recorded_arguments(file) or ((), self._memory.known_values(file))
        launch = launches.Launch(
            f"{file}:{self.kernel}", facts.texts.get(file, ""), arguments, event.grid, event.block,
            shared_bytes=event.shared, constants=constants, schedule=self._schedule, resident=self._resident,
            engine="compiled",
        )  # fmt: skip
        integers = {name: _own(column) for name, column in columns.items() if name not in ("value", "op")}
        return Trace(
            block=integers["block"],
            thread=integers["thread"],
            phase=integers["phase"],
            op=columns["op"].astype(np.uint8),
            buffer=integers["buffer"],
            site=integers["site"],
            index=integers["index"],
            value=columns.get("value"),
            steps=steps,
            barriers=no_barriers() if barriers is None else barriers,
            warp_barriers=no_barriers() if warp_barriers is None else warp_barriers,
            buffers=buffers,
            sites=tuple(self._sites) or (Site(self.kernel, file, event.line, 0),),
            initial=initial,
            launch=launches.encode(launch),
            kernel=self.kernel,
            grid=event.grid,
            block_dim=event.block,
            schedule=self._schedule.kind,
            resident=self._resident,
            blocks=blocks,
            recorded=blocks if recorded is None else recorded,
            accesses=len(columns["op"]) if accesses is None else accesses,
            totals=totals or {},
            notice=notice,
            sources=files,
            error=error,
            missing=missing,
            made_by=f"CUDA C++ on this processor, compiled; {facts.compiler}",
            outside=nothing_outside() if outside is None else outside,
        )

    def kernel_file(self) -> str:
        """Return the file that defines the kernel: of the first site in it, else of the launch."""
        for site in self._sites:
            if site.function == self.kernel and site.file in self._facts.texts:
                return site.file
        return self._event.file

    def _add_unaccessed(self) -> None:
        """Add the buffers of arguments that the kernel did not access."""
        named = {views.region.start for views in self._columns.views_of_buffer}
        for number in sorted(self._memory.passed):
            views = self._memory.views[number]
            buffer = views.main_buffer()
            if views.region.start not in named and buffer is not None:
                self._columns.add_buffer(buffer, views)

    def _outside(self, rows: Columns) -> OutOfBounds:
        buffers = tuple(self._columns.buffers)
        names = tuple(
            _element(buffers[buffer], index)
            for buffer, index in zip(rows["buffer"].tolist(), rows["index"].tolist(), strict=True)
        )
        block, thread, phase, buffer, site, step = (
            narrow(rows[name]) for name in ("block", "thread", "phase", "buffer", "site", "step")
        )
        op = np.minimum(rows["op"], Op.ATOMIC).astype(np.uint8)
        return OutOfBounds(block, thread, phase, op, buffer, site, step, rows["index"], names)

    def _barriers(self, arrivals: NDArray[np.void]) -> Barriers:
        return Barriers(
            _own(arrivals["block"]), _own(arrivals["thread"]), _own(arrivals["phase"]),
            _own(self._site_table()[arrivals["site"]]), _own(arrivals["row"]), _own(arrivals["reach"]),
            _own(arrivals["part"]),
        )  # fmt: skip

    def _missing(self, fault: tuple[int, ...]) -> MissingLanes:
        block, warp, site, mask, missing, row, why, other = fault
        kind = WHY[why]
        return MissingLanes(
            block,
            warp,
            self._site_numbers[site],
            mask,
            missing,
            row,
            kind,
            self._site_numbers[other] if kind == "apart" else -1,
        )

    def _misaligned(self, rows: NDArray[np.void]) -> KernelFault | None:
        """Find the first copy of a vector at a misaligned address, which stops a kernel on a GPU.

        rows: those of copies at misaligned addresses.
        """
        for row in range(min(len(rows), MOST_LOOKED_AT)):
            site = int(rows["site"][row])
            place = tuple(self._sites)[self._site_numbers[site]]
            lines = self._facts.texts.get(place.file, "").splitlines()[place.line - 1 : place.line]
            if lines and (vector := _VECTOR_POINTER.search(lines[0])):
                size = int(vector[2]) * _VECTOR_BYTES.get(vector[1], 4)
                block, thread = int(rows["block"][row]), int(rows["thread"][row])
                return KernelFault("MisalignedAddress", 0, site, block, thread, size, 0)
        return None

    def _kernel_error(self, error: KernelFault) -> KernelError:
        has_site = (
            bool(self._site_numbers) and error.site < len(self._site_numbers) and error.type != "Deadlock"
        )
        site = (
            tuple(self._sites)[self._site_numbers[error.site]]
            if has_site
            else Site("", self._event.file, self._event.line, 0)
        )
        text = ERRORS.get(error.type, error.type).format(size=error.size)
        return KernelError(
            error.type,
            f"{text}.",
            unravel(error.block, self._event.grid),
            unravel(max(0, error.thread), self._event.block),
            site.file,
            site.line,
        )


def _element(buffer: Buffer, index: int) -> str:
    """Name an element outside its array, as "tile[16, 3]": the last indices within their dimensions."""
    positions = []
    for axis in range(len(buffer.shape) - 1, 0, -1):
        positions.append(index % buffer.shape[axis])
        index //= buffer.shape[axis]
    return f"{buffer.name}[{', '.join(map(str, (index, *reversed(positions))))}]"


def _own(column: NDArray[np.integer[Any]]) -> NDArray[np.unsignedinteger]:
    """Return a small copy of a column, which does not lie in the memory that the next launch overwrites."""
    return np.ascontiguousarray(narrow(column))

"""Builds the trace of a launch from the rows that the runtime recorded."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.counters import totals_of
from ..analysis.requests import requests_of
from ..model import launch as launches
from ..model.array_types import Columns, narrow
from ..model.trace import (
    STOPPED,
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
from .launch_memory import LaunchEvent, LaunchMemory, ProgramMemory
from .program_facts import ProgramFacts
from .regions import Views
from .rows import ARRIVAL, MISALIGNED, OUTSIDE, ROW, WARP_ARRIVAL, WHY

MOST_BLOCKS = (1 << 32) - 1  # blocks whose numbers the runtime can hold
MOST_COUNTED = 200_000_000  # accesses of a launch that are counted; the rest runs without a record
COUNTED_SPACES = ("global", "shared", "constant")
COUNTED_SIZES = (1, 2, 4, 8, 16)  # bytes of an access
# Buffers that stand for all memory of a space and a size of access, where only counters are wanted.
COUNTED_AS = [
    Buffer(space, space, f"|V{size}", (1 << 62,), (1,), 0, 1, 1 << 62)
    for space in COUNTED_SPACES
    for size in COUNTED_SIZES
]
_SIZE_INDEX = np.array(
    [COUNTED_SIZES.index(size) if size in COUNTED_SIZES else 0 for size in range(17)], np.int64
)
MOST_LOOKED_AT = 1000  # misaligned copies
_VECTOR_POINTER = re.compile(r"\bu?(char|short|int|long|longlong|float|double)([24])\s*(?:const\s*)?[*>&]")
_VECTOR_BYTES = {"char": 1, "short": 2, "long": 8, "longlong": 8, "double": 8}
ERRORS = {
    "IllegalAddress": "accesses {size} bytes at an address that is not memory of the GPU",
    "HostMemory": "accesses {size} bytes of the host's memory, which a GPU cannot reach",
    "FreedMemory": "accesses {size} bytes of memory that cudaFree has freed",
    "MisalignedAddress": "accesses {size} bytes at an address that is not a multiple of {size}",
    "Assertion": "fails an assertion",
    "Trap": "calls __trap()",
    "Exception": "throws an exception",
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
        self._buffers: dict[Buffer, int] = {}
        self._views_of_buffer: list[Views] = []
        named = event.kernel.partition("<")[0].rpartition("::")[2].strip()
        self.kernel = (facts.debug.function(event.function) if event.function else "") or named
        self._memory = LaunchMemory(event, facts, memory, symbols, self.kernel)
        self._variables = self._memory.regions[self._memory.allocations :]
        starts = [region.start for region in self._variables]
        self._variable_starts = np.array(starts, np.uint64)
        self._order = np.argsort(self._variable_starts)
        # By the allocation of a row, 0 for other memory.
        self._allocation_starts = np.array([0, *(start for start, *_ in event.allocations)], np.uint64)
        self._allocation_sizes = np.array([1 << 63, *(size for _, size, *_ in event.allocations)], np.uint64)
        self._kept: list[NDArray[np.void]] = []
        self._waiting: list[
            NDArray[np.void]
        ] = []  # rows of blocks that still run, once rows are only counted
        self._arrivals: list[NDArray[np.void]] = []
        self._count = 0
        self._totals: dict[str, int] | None = None
        self._first_blocks = 0  # number of blocks that are recorded, 0 for all
        self._is_stopped = False  # whether the launch went on without rows
        self.sampled = 0  # blocks that run, evenly from all; 0 for all
        self.chosen: NDArray[np.int64] | None = (
            None  # numbers of the blocks that run, ascending; None for all
        )

    # --- rows

    def add(
        self, rows: NDArray[np.void], arrivals: NDArray[np.void], pcs: list[int], running: list[int]
    ) -> str:
        """Add rows (dtype ROW), arrivals (dtype ARRIVAL) and new sites; running: the blocks with more rows to come.

        Returns the answer for the runtime: "ok", "count" if rows are only counted from now on, "keep 4" for rows of
        the first 4 blocks only, "stop" for no more.
        """
        self.add_sites(pcs)
        self._count += len(rows)
        if self._totals is None and self._count <= self._limits.accesses and not running:
            self._kept.append(rows)
            self._arrivals.append(arrivals)
            return "ok"
        if self._first_blocks or (self._totals is None and len(running) >= len(np.unique(rows["block"]))):
            return self._keep_first(rows, arrivals, running)
        if self._totals is None:
            self._totals = {}
            self._arrivals.append(arrivals.copy())
            self._kept = self._count_complete(rows, running)
        else:
            self._count_complete(np.concatenate([*self._waiting, rows]) if self._waiting else rows, running)
        waiting = sum(map(len, self._waiting))  # of blocks that run long, perhaps without end
        if self._count < MOST_COUNTED and waiting <= self._limits.accesses:
            return "count"
        self._waiting = []
        self._is_stopped = True
        return "stop"

    def add_sites(self, pcs: list[int]) -> None:
        """Add sites by their return addresses, counted from the start of the image."""
        for pc in pcs:
            site = self._facts.debug.site(pc) or Site(self.kernel, self._event.file, self._event.line, 0)
            self._site_numbers.append(self._sites.setdefault(site, len(self._sites)))

    def _keep_first(self, rows: NDArray[np.void], arrivals: NDArray[np.void], running: list[int]) -> str:
        """Keep the rows of fewer blocks, since none has ended yet; the launch goes on without the others."""
        at_end = not running
        self._first_blocks = self._first_blocks or (min(running) + max(1, len(running) // 4))
        rows = np.concatenate([*self._kept, rows])
        while not at_end and self._first_blocks > 1 and 2 * len(rows) > self._limits.accesses:
            self._first_blocks = max(1, self._first_blocks // 2)
            rows = rows[rows["block"] < self._first_blocks]
        self._kept = [rows[rows["block"] < self._first_blocks].copy()]
        self._arrivals = [np.concatenate([*self._arrivals, arrivals])]
        if len(self._kept[0]) <= self._limits.accesses // 2 or at_end:
            return f"keep {self._first_blocks}"
        self._kept, self._is_stopped = [], True
        return "stop"

    def _count_complete(self, rows: NDArray[np.void], running: list[int]) -> list[NDArray[np.void]]:
        """Count the rows of complete blocks and return them by block; those of running blocks wait."""
        self._waiting = []
        if running:
            going = np.isin(rows["block"], np.array(running, np.uint32))
            self._waiting = [rows[going]]
            rows = rows[~going]
        if not len(rows):
            return []
        block = rows["block"]
        if np.any(block[1:] < block[:-1]):
            rows = rows[np.argsort(narrow(block), kind="stable")]
        self._add_totals(rows)
        return [rows]

    def _add_totals(self, rows: NDArray[np.void]) -> None:
        from ..compiled.rows.block_counters import count_block_rows  # imports Numba, which few launches need

        assert self._totals is not None
        threads = math.prod(self._event.block)
        counters = count_block_rows(self._counted_columns(rows), COUNTED_AS, len(self._sites), threads)
        if counters is None:
            columns, outside = self._columns(rows, with_values=False)
            columns = {name: column[~outside] for name, column in columns.items()}
            trace = self._trace(columns, np.unique(columns["block"]).astype(np.int64))
            counters = totals_of(trace, requests_of(trace))
        for name, number in counters.items():
            self._totals[name] = self._totals.get(name, 0) + number

    def _counted_columns(self, rows: NDArray[np.void]) -> Columns:
        """Return the columns that counting needs: buffers are those of COUNTED_AS, indices are addresses."""
        address, allocation = rows["address"], rows["allocation"]
        space = np.zeros(len(rows), np.int64)  # index in COUNTED_SPACES
        for region in self._variables:
            if region.space != "global":
                inside = (address - np.uint64(region.start)) < np.uint64(region.size)
                space[inside & (allocation == 0)] = COUNTED_SPACES.index(region.space)
        buffer = space * len(COUNTED_SIZES) + _SIZE_INDEX[rows["size"]]
        columns: Columns = {
            "block": rows["block"], "phase": rows["phase"], "thread": rows["thread"], "op": rows["operation"] & 7,
            "buffer": buffer, "site": self._numbered(rows["site"]), "index": address.astype(np.int64),
        }  # fmt: skip
        offset = address - self._allocation_starts[allocation]
        sizes = self._allocation_sizes[allocation]
        # An address before its allocation has an offset near 2**64.
        outside = (offset >= sizes) | (offset + rows["size"] > sizes) | ((rows["operation"] & OUTSIDE) != 0)
        return {name: column[~outside] for name, column in columns.items()} if outside.any() else columns

    def _columns(
        self, rows: NDArray[np.void], *, with_values: bool = True
    ) -> tuple[Columns, NDArray[np.bool_]]:
        """Return the columns of rows, and the mask of those outside their buffers."""
        count = len(rows)
        region = rows["allocation"].astype(np.int64) - 1
        others = np.flatnonzero(region < 0)
        if len(others) and len(self._order):
            place = (
                np.searchsorted(self._variable_starts[self._order], rows["address"][others], side="right") - 1
            )
            region[others] = self._memory.allocations + self._order[np.maximum(place, 0)]
        buffer, index = np.zeros(count, np.int64), np.zeros(count, np.int64)
        values = rows["value"]
        outside = (rows["operation"] & OUTSIDE) != 0
        pieces: list[tuple[NDArray[np.int64], Buffer]] = []
        for number in np.unique(region).tolist():
            chosen = np.flatnonzero(region == number)
            views = self._memory.views[number]
            offsets = (rows["address"][chosen] - np.uint64(views.region.start)).astype(np.int64)
            sizes = rows["size"][chosen]
            beyond = (offsets < 0) | (offsets + sizes > views.region.size)
            outside[chosen] |= beyond
            for view_buffer, here, first in views.match(offsets, sizes):
                if view_buffer not in self._buffers:
                    self._buffers[view_buffer] = len(self._buffers)
                    self._views_of_buffer.append(views)
                accesses = chosen[here]
                buffer[accesses] = self._buffers[view_buffer]
                index[accesses] = (offsets[here] - first) // view_buffer.unit
                pieces.append((accesses, view_buffer))
        dtype = _value_type([view_buffer.dtype for _, view_buffer in pieces]) if with_values else None
        value = np.zeros(count, dtype) if dtype is not None else None
        if value is not None:
            for accesses, view_buffer in pieces:
                kind = np.dtype(view_buffer.dtype)
                if kind.kind != "V":
                    value[accesses] = _as_numbers(values[accesses], kind)
        columns: Columns = {
            "block": rows["block"], "thread": rows["thread"], "phase": rows["phase"], "op": rows["operation"] & 7,
            "buffer": buffer, "site": self._numbered(rows["site"]), "index": index,
        }  # fmt: skip
        if value is not None:
            columns["value"] = value
        return columns, outside

    def _numbered(self, sites: NDArray[np.uint32]) -> NDArray[np.int64]:
        return np.array(self._site_numbers or [0], np.int64)[sites]

    # --- the trace

    def finish(self, faults: list[tuple[int, ...]], error: KernelFault | None) -> Trace:
        """Build the trace of the ended launch."""
        notice = ""
        is_part = self._is_stopped or self._first_blocks > 0
        is_capped = self._totals is not None or is_part
        rows = np.concatenate(self._kept) if self._kept else np.empty(0, ROW)
        if self._waiting and not self._is_stopped:
            self._count_complete(np.concatenate(self._waiting), [])
        columns, outside = self._columns(rows)
        skipped = np.flatnonzero(outside)
        kept = np.flatnonzero(~outside)
        record = self._outside(columns, skipped)
        columns = {name: column[kept] for name, column in columns.items()} if len(skipped) else columns
        self._add_unaccessed()
        blocks = self._blocks_that_run()
        recorded = np.unique(rows["block"]).astype(np.int64) if is_capped else blocks
        if is_part:
            blocks, self._totals, self._count = recorded, {}, len(rows)
        arrivals = np.concatenate(self._arrivals) if self._arrivals else np.empty(0, ARRIVAL)
        if is_capped:
            arrivals = arrivals[np.isin(arrivals["block"], recorded.astype(np.uint32))]
            notice = (
                f"The first {len(recorded):,} of {math.prod(self._event.grid):,} blocks are recorded; the others ran "
                "without a record, since the launch makes too many accesses. Choose a smaller size to see all."
                if is_part
                else f"{len(rows):,} of {self._count:,} accesses are kept (the cap is {self._limits.accesses:,}): "
                "the counters cover the complete launch, the pictures only its first blocks."
            )
        error = error or self._misaligned(rows)
        if error is not None:
            kernel_error = self._kernel_error(error)
            reached = int(rows["block"].max(initial=0)) if len(rows) else error.block
            blocks = recorded = blocks[blocks <= max(reached, error.block)]
        else:
            kernel_error = None
        is_warp = arrivals["kind"] == WARP_ARRIVAL
        return self._trace(
            columns,
            blocks,
            recorded=recorded,
            steps=narrow(kept) if len(skipped) else None,
            barriers=self._barriers(arrivals[~is_warp]),
            warp_barriers=self._barriers(arrivals[is_warp]),
            outside=record,
            missing=tuple(self._missing(fault) for fault in faults),
            error=kernel_error,
            totals=self._totals or {},
            notice=notice,
            accesses=self._count - len(skipped),
        )

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
    ) -> Trace:
        buffers = tuple(self._buffers)
        initial = {}
        for number, buffer in enumerate(buffers):
            if buffer.space in ("global", "constant"):
                content = self._views_of_buffer[number].initial_of(buffer)
                if content is not None:
                    initial[number] = content
        event, facts = self._event, self._facts
        file = self._kernel_file()
        sources = dict.fromkeys([file, *(site.file for site in self._sites), event.file])
        files = {name: facts.texts[name] for name in sources if name in facts.texts}
        arguments, constants = self._memory.recorded_arguments(file) or ((), {})
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

    def _kernel_file(self) -> str:
        """Return the file that defines the kernel: of the first site in it, else of the launch."""
        for site in self._sites:
            if site.function == self.kernel and site.file in self._facts.texts:
                return site.file
        return self._event.file

    def _add_unaccessed(self) -> None:
        """Add the buffers of arguments that the kernel did not access."""
        named = {views.region.start for views in self._views_of_buffer}
        for number in sorted(self._memory.passed):
            views = self._memory.views[number]
            if views.region.start in named:
                continue
            buffer = views.main_buffer()
            if buffer is not None and buffer not in self._buffers:
                self._buffers[buffer] = len(self._buffers)
                self._views_of_buffer.append(views)

    def _outside(self, columns: Columns, rows: NDArray[np.int64]) -> OutOfBounds:
        buffers = tuple(self._buffers)
        names = tuple(
            _element(buffers[buffer], index)
            for buffer, index in zip(
                columns["buffer"][rows].tolist(), columns["index"][rows].tolist(), strict=True
            )
        )
        block, thread, phase, buffer, site = (
            narrow(columns[name][rows]) for name in ("block", "thread", "phase", "buffer", "site")
        )
        op = np.minimum(columns["op"][rows], Op.ATOMIC).astype(np.uint8)
        cell = columns["index"][rows].astype(np.int64)
        return OutOfBounds(block, thread, phase, op, buffer, site, narrow(rows), cell, names)

    def _barriers(self, arrivals: NDArray[np.void]) -> Barriers:
        return Barriers(
            _own(arrivals["block"]), _own(arrivals["thread"]), _own(arrivals["phase"]),
            _own(self._numbered(arrivals["site"])), _own(arrivals["row"]), _own(arrivals["reach"]),
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
        """Find the first copy of a vector at a misaligned address, which stops a kernel on a GPU."""
        for row in np.flatnonzero(rows["operation"] & MISALIGNED)[:MOST_LOOKED_AT]:
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


def stopped_notice(sentence: str) -> str:
    """Write the notice of a launch that was stopped before its end."""
    return f"{STOPPED} {sentence}"


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


def _value_type(dtypes: list[str]) -> np.dtype[np.generic] | None:
    kinds = [np.dtype(dtype) for dtype in dict.fromkeys(dtypes) if np.dtype(dtype).kind != "V"]
    if not kinds:
        return None if dtypes else np.dtype(np.float32)
    return np.result_type(*kinds)


def _as_numbers(raw: NDArray[np.uint64], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """View the low bytes of 8-byte words as numbers."""
    words: NDArray[np.unsignedinteger] = raw.astype(f"<u{dtype.itemsize}")
    return words.view(dtype)

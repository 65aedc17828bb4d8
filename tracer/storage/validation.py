"""Validation of a trace, so that code that draws or counts it needs no further checks.

The claims of a file are checked before its columns are read (`check_meta`, `check_announced`), and the columns'
contents before they are used (`check_trace`). The limits are those of possible launches, or of a session: tables
of blocks, phases and cells are sized by these numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..model.counter_names import NAMES
from ..model.grouping import group_starts, positions_in_group, stable_order
from ..model.launch import Array, Launch, Scalar, ScheduleKind, decode
from ..model.trace import (
    COMPARED,
    FENCE,
    GRID_SCOPE,
    SPACES,
    WARP,
    Barriers,
    Buffer,
    Check,
    Dim3,
    KernelError,
    MissingLanes,
    Op,
    Site,
    Trace,
)

LARGEST_BYTES = 2**31  # bytes that a trace, or one of its buffers, may take
LARGEST_TABLE = 2**25  # entries of a table by block and phase
MOST_CONTENTS = 2**30  # bytes of all buffers together, with the number of each element's writer
WRITER_BYTES = 4  # of a writer's number
MOST_SCATTERED = 2**25  # elements of non-contiguous buffers, which need tables
MOST_BUFFERS = 512
MOST_SITES = 2**16
MOST_BLOCKS = 2**21  # that ran
NUMBERED_BLOCKS = 2**32  # block numbers have 32 bits
MOST_THREADS = 2**48  # of a launch, whether they ran or not: products with their numbers fit 64 bits
FARTHEST = 2**48  # bytes from the first address: as many as there are on a GPU
LONGEST_TEXT = 10_000  # characters of a name, a path or a message
LONGEST_SOURCE = 4_000_000  # characters of a file's text
MOST_DIMENSIONS = 32
LONGEST_OF_NOTHING = 2**16  # elements along the other dimensions of an empty buffer
CHUNK = 1 << 16  # rows that are checked at once
MOST_AT_ONCE = 1 << 20  # rows that an engine may record before it applies a launch's limit
ACCESS_COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "index", "step")
BARRIER_COLUMNS = ("block", "thread", "phase", "site", "step", "reach", "part")
OUTSIDE_COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "step")
DTYPES = frozenset(np.dtype(kind).name for kind in "?bhilqBHILQefdFD")
NUMBERS = re.compile(r"[<|](?:b1|[iu][1248]|f[248]|c8|c16)")
RECORDS = re.compile(r"\|V[1-9]\d{0,3}")

Announced = tuple[np.dtype[Any], int]  # a column's header: the type and the number of its entries


class Meta(Protocol):
    """The data of a trace in addition to its columns; see `Trace`."""

    @property
    def buffers(self) -> tuple[Buffer, ...]: ...
    @property
    def sites(self) -> tuple[Site, ...]: ...
    @property
    def launch(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def grid(self) -> Dim3: ...
    @property
    def block_dim(self) -> Dim3: ...
    @property
    def schedule(self) -> str: ...
    @property
    def resident(self) -> int: ...
    @property
    def segment_ends(self) -> tuple[int, ...]: ...
    @property
    def accesses(self) -> int: ...
    @property
    def totals(self) -> dict[str, int]: ...
    @property
    def notice(self) -> str: ...
    @property
    def sources(self) -> dict[str, str]: ...
    @property
    def error(self) -> KernelError | None: ...
    @property
    def check(self) -> Check | None: ...
    @property
    def made_by(self) -> str: ...
    @property
    def missing(self) -> tuple[MissingLanes, ...]: ...


class TooLargeError(Exception):
    """A valid trace that takes more memory than Tilescope allows; the text names the excess."""


def check_meta(meta: Meta) -> None:
    """Raise ValueError, with the fault, unless the data of a trace are possible.

    Raises TooLargeError for valid data of a launch that is too large to be shown.
    """
    _check_sizes(meta)
    _check_texts(meta)
    _check_launch(meta)
    for buffer in meta.buffers:
        _check_buffer(buffer)
    _check_memory(meta.buffers)
    _check_outcome(meta)
    _check_missing(meta)


def check_announced(meta: Meta, columns: Mapping[str, Announced]) -> None:
    """Raise ValueError unless columns of these types and lengths could be those of a trace; none is read.

    columns: all required ones, by their names in a file.
    """
    for name, (dtype, _) in columns.items():
        if name == "value":
            _require(NUMBERS.fullmatch(dtype.str) is not None, "dtype of the values")
        elif name == "outside.cell":
            _require(dtype == np.int64, "dtype of indices outside their buffers")
        elif not name.startswith("initial."):
            _require(dtype.kind == "u", "dtype of a column")
    optional = [name for name in ("value", "round") if name in columns]
    _check_lengths(columns, [*ACCESS_COLUMNS, *optional], "a column")
    for table in ("barriers", "warp_barriers"):
        _check_lengths(columns, [f"{table}.{name}" for name in BARRIER_COLUMNS], "a column of barriers")
    outside = [f"outside.{name}" for name in (*OUTSIDE_COLUMNS, "cell")]
    _check_lengths(columns, [name for name in outside if name in columns], "accesses outside their buffers")
    rows = columns["step"][1]
    most = decode(meta.launch).limits.accesses
    _require(rows <= min(meta.accesses, most + MOST_AT_ONCE if most else 0), "number of accesses")
    _require(columns["blocks"][1] <= min(math.prod(meta.grid), MOST_BLOCKS), "number of blocks")
    _require(columns["recorded"][1] <= columns["blocks"][1], "number of recorded blocks")
    for name, announced in columns.items():
        if name.startswith("initial."):
            _check_initial(meta, int(name.removeprefix("initial.")), *announced)


def check_trace(trace: Trace, between: Callable[[], None] = lambda: None) -> None:
    """Raise ValueError, with the fault, unless all numbers of the trace's columns are in range.

    The meta data, and the types and lengths of the columns, have been checked. between: called now and then
    between two pieces of the columns of accesses.
    """
    _check_blocks(trace)
    _check_accesses(trace, between)
    _check_barriers(trace, trace.barriers, GRID_SCOPE, 0)
    _check_barriers(trace, trace.warp_barriers, FENCE, COMPARED)
    _check_phases(trace, between)
    _check_outside(trace)
    for lost in trace.missing:
        _require(_holds(trace.blocks, lost.block), "a warp that did not run")


def _require(condition: bool | np.bool_, fault: str) -> None:
    if not condition:
        raise ValueError(fault)


def _within(numbers: Iterable[int], low: int, high: int) -> bool:
    return all(low <= number < high for number in numbers)


def _below(column: NDArray[Any], limit: int) -> bool:
    return not len(column) or int(column.max()) < limit


def _ascends(column: NDArray[Any]) -> bool:
    return bool(np.all(column[:-1] <= column[1:]))


def _holds(ascending: NDArray[Any], number: int) -> bool:
    position = int(np.searchsorted(ascending, number))
    return position < len(ascending) and int(ascending[position]) == number


def _are_among(column: NDArray[Any], ascending: NDArray[Any]) -> bool:
    """Return True if each entry of the column is in the ascending one."""
    if not len(ascending) or not len(column):
        return not len(column)
    if int(ascending[-1]) - int(ascending[0]) == len(ascending) - 1:  # the usual case: without gaps
        return int(column.min()) >= int(ascending[0]) and int(column.max()) <= int(ascending[-1])
    return bool(np.isin(column, ascending).all())


def _check_sizes(meta: Meta) -> None:
    _require(_within((*meta.grid, *meta.block_dim), 1, 2**31), "grid or block size")
    _require(math.prod(meta.block_dim) <= 1024, "threads in a block")
    _require(math.prod(meta.grid) * math.prod(meta.block_dim) <= MOST_THREADS, "threads of the launch")
    _require(1 <= meta.resident < 2**63, "resident blocks")
    _require(0 <= meta.accesses < 2**62, "number of accesses")
    _require(_within(meta.segment_ends, 0, 2**62), "ends of the order's segments")
    _require(not meta.totals or meta.totals.keys() == set(NAMES), "names of the totals")
    _require(_within(meta.totals.values(), 0, 2**62), "totals")
    _require(len(meta.sites) <= MOST_SITES, "number of sites")
    _require(
        _within((n for s in meta.sites for n in (s.line, s.column)), 0, 2**31), "line or column of a site"
    )
    _require(len(meta.sources) <= len(meta.sites) + 1, "number of source texts")


def _texts(meta: Meta) -> Iterator[str]:
    yield from (meta.kernel, meta.notice, meta.made_by, *meta.sources)
    yield from (text for b in meta.buffers for text in (b.name, b.dtype))
    yield from (text for s in meta.sites for text in (s.function, s.file))
    if meta.error is not None:
        yield from (meta.error.type, meta.error.message, meta.error.file)


def _check_texts(meta: Meta) -> None:
    _require(all(len(text) <= LONGEST_TEXT for text in _texts(meta)), "a text that is too long")
    _require(
        all(len(text) <= LONGEST_SOURCE for text in meta.sources.values()), "a source text that is too long"
    )
    _require(meta.schedule in get_args(ScheduleKind), "schedule")


def _check_launch(meta: Meta) -> None:
    try:
        launch = decode(meta.launch)
    except msgspec.MsgspecError as error:
        raise ValueError(f"launch: {error}") from error
    _require(launch.grid == meta.grid and launch.block == meta.block_dim, "launch of another grid or block")
    _require(len(launch.source) <= LONGEST_SOURCE, "a source text that is too long")
    _require(len(launch.schedule.order_text) <= LONGEST_SOURCE, "an order that is too long")
    texts = (launch.kernel, launch.scenario, launch.imports_digest, *launch.constants)
    _require(all(len(text) <= LONGEST_TEXT for text in texts), "a text of the launch that is too long")
    _require(len(launch.arguments) <= MOST_BUFFERS, "arguments of the launch")
    _require(all(_is_possible(argument) for argument in launch.arguments), "an argument of the launch")
    _require(_are_in_range(launch, math.prod(meta.grid)), "numbers of the launch")


def _is_possible(argument: Array | Scalar) -> bool:
    """Return True if an argument is possible."""
    if isinstance(argument, Scalar):
        return len(argument.dtype) <= LONGEST_TEXT
    texts = (argument.dtype, argument.path, argument.digest)
    return (
        len(argument.shape) <= MOST_DIMENSIONS
        and _within(argument.shape, 0, 2**63)
        and argument.seed >= 0
        and all(len(text) <= LONGEST_TEXT for text in texts)
    )


def _are_in_range(launch: Launch, blocks: int) -> bool:
    """Return True if the numbers of a launch of so many blocks are in range."""
    return (
        _within(launch.blocks or (), 0, blocks)
        and (launch.resident is None or 1 <= launch.resident < 2**63)
        and _within((launch.shared_bytes, launch.schedule.seed), 0, 2**63)
        and _within((launch.limits.accesses, launch.limits.memory), 0, 2**63)
    )


def _check_buffer(buffer: Buffer) -> None:
    _require(buffer.space in SPACES, "space of a buffer")
    dtype = buffer.dtype in DTYPES or NUMBERS.fullmatch(buffer.dtype) or RECORDS.fullmatch(buffer.dtype)
    _require(bool(dtype), "dtype of a buffer")
    _require(len(buffer.shape) == len(buffer.strides) <= MOST_DIMENSIONS, "dimensions of a buffer")
    _require(
        0 <= buffer.address < FARTHEST and 1 <= buffer.unit <= LARGEST_BYTES, "address or unit of a buffer"
    )
    _require(0 <= buffer.size * buffer.unit <= LARGEST_BYTES, "size of a buffer")
    _require(_within(buffer.shape, 0, LARGEST_BYTES + 1), "shape of a buffer")
    _require(math.prod(buffer.shape) <= max(buffer.size, 1), "shape of a buffer")
    if not math.prod(buffer.shape):
        _require(_within(buffer.shape, 0, LONGEST_OF_NOTHING + 1), "shape of a buffer")
    else:
        ends = [(n - 1) * step // buffer.unit for n, step in zip(buffer.shape, buffer.strides, strict=True)]
        lowest, highest = (sum(pick(end, 0) for end in ends) for pick in (min, max))
        _require(lowest >= 0 and highest < max(buffer.size, 1), "strides of a buffer")


def _check_memory(buffers: Collection[Buffer]) -> None:
    """Raise TooLargeError if the cells of all buffers together, or the tables of some, would fill the memory."""
    _require(len(buffers) <= MOST_BUFFERS, "number of buffers")
    if sum(buffer.size * (buffer.itemsize + WRITER_BYTES) for buffer in buffers) > MOST_CONTENTS:
        cells = sum(buffer.size for buffer in buffers)
        raise TooLargeError(f"its arrays have {cells:,} elements together")
    scattered = sum(buffer.size for buffer in buffers if not buffer.is_plain)
    if scattered > MOST_SCATTERED:
        raise TooLargeError(f"its arrays that are not contiguous have {scattered:,} elements together")


def _check_outcome(meta: Meta) -> None:
    """Check the data of an error, and of the comparison with the reference."""
    if meta.error is not None:
        places = zip((*meta.error.block, *meta.error.thread), (*meta.grid, *meta.block_dim), strict=True)
        _require(all(0 <= n < limit for n, limit in places), "the thread of an error")
        _require(0 <= meta.error.line < 2**31, "the line of an error")
    if meta.check is not None:
        largest, tolerance = meta.check.largest_error, meta.check.tolerance
        _require(largest >= 0 and not tolerance < 0, "error of the result")
        _require(math.isfinite(largest) or not meta.check.equal, "error of the result")
        _require(0 <= meta.check.differing <= meta.check.elements < 2**62, "elements of the result")


def _check_missing(meta: Meta) -> None:
    warps, sites = -(-math.prod(meta.block_dim) // WARP), len(meta.sites)
    places = {(lost.site, lost.why) for lost in meta.missing}
    _require(len(places) == len(meta.missing), "a duplicate warp operation")
    for lost in meta.missing:
        _require(0 <= lost.warp < warps, "a warp that did not run")
        _require(0 <= lost.site < sites and 0 <= lost.step <= meta.accesses, "a warp operation")
        _require(0 <= lost.mask < 2**32 and 0 < lost.missing < 2**32, "lanes of a warp")
        _require(-1 <= lost.other < sites and (lost.other >= 0) == (lost.why == "apart"), "a warp operation")


def _check_lengths(columns: Mapping[str, Announced], names: Iterable[str], subject: str) -> None:
    _require(len({columns[name][1] for name in names}) <= 1, f"length of {subject}")


def _check_initial(meta: Meta, number: int, dtype: np.dtype[Any], count: int) -> None:
    _require(number < len(meta.buffers), "initial contents of no buffer")
    buffer = meta.buffers[number]
    _require(buffer.space in ("global", "constant"), "initial contents of a buffer that has none")
    _require(count == buffer.size, "length of initial contents")
    _require(dtype == np.dtype(buffer.dtype), "dtype of initial contents")


def _check_blocks(trace: Trace) -> None:
    for blocks in (trace.blocks, trace.recorded):
        _require(bool(np.all(np.diff(blocks) > 0)), "order of the blocks")
        _require(not len(blocks) or blocks[0] >= 0, "a block outside the grid")
        _require(_below(blocks, min(math.prod(trace.grid), NUMBERED_BLOCKS)), "a block outside the grid")
    _require(_are_among(trace.recorded, trace.blocks), "a recorded block that did not run")


def _check_accesses(trace: Trace, between: Callable[[], None]) -> None:
    sizes = np.array([buffer.size for buffer in trace.buffers], np.int64)
    _require(not len(trace) or len(sizes) > 0, "an access to no buffer")
    if len(sizes) and int(sizes.max()) < 2**32:
        sizes = sizes.astype(np.uint32)
    for low in range(0, len(trace), CHUNK):
        _check_some(trace, slice(low, low + CHUNK), sizes)
        between()
    warps = min(len(trace), len(trace.blocks) * trace.warps)
    if trace.steps is not None:
        _require(_below(trace.steps[-1:], 2**62 // max(1, warps)), "step of an access")


def _check_some(trace: Trace, rows: slice, sizes: NDArray[Any]) -> None:
    """Check a slice of the accesses, small enough to stay in a processor's cache."""
    buffer = trace.buffer[rows]
    _require(_below(trace.op[rows], len(Op)), "op of an access")
    _require(_below(trace.thread[rows], trace.threads), "a thread outside its block")
    _require(_below(buffer, len(trace.buffers)), "an access to no buffer")
    _require(_below(trace.site[rows], len(trace.sites)), "an access from no site")
    _require(_are_among(trace.block[rows], trace.blocks), "an access of a block that did not run")
    _require(bool((trace.index[rows] < sizes[buffer]).all()), "an access outside its buffer")
    if trace.round is not None:
        _require(_below(trace.round[rows], len(trace)), "rounds of an access")
    if trace.steps is not None:
        _require(_ascends(trace.steps[rows.start : rows.stop + 1]), "order of the accesses")


def _check_barriers(trace: Trace, barriers: Barriers, widest: int, largest_part: int) -> None:
    """Check arrivals at barriers, or at warp operations; widest: the largest reach; largest_part: the largest part."""
    _require(_below(barriers.thread, trace.threads), "a thread outside its block at a barrier")
    _require(_below(barriers.site, len(trace.sites)), "a barrier at no site")
    _require(_below(barriers.reach, widest + 1), "reach of a barrier")
    _require(_below(barriers.part, largest_part + 1), "part of a lane in a barrier")
    _require(_below(barriers.step, 2**62), "step of a barrier")
    _require(_are_among(barriers.block, trace.blocks), "a barrier of a block that did not run")


def _check_phases(trace: Trace, between: Callable[[], None]) -> None:
    """Check that each phase's threads passed the barrier before it, and that tables of phases are not too large."""
    barriers = trace.barriers
    # A thread that passed p barriers has p rows here, so the tables bound the number of phases.
    _require(_below(barriers.phase, len(barriers.phase)), "phase of a barrier")
    phases = int(barriers.phase.max()) + 2 if len(barriers.phase) else 1
    _require(phases * len(trace.blocks) <= LARGEST_TABLE, "too many phases")
    _require(_are_consecutive(trace), "a barrier that a thread came to out of turn")
    reached = np.zeros(len(trace.blocks), np.int64)
    np.maximum.at(reached, trace.block_positions(barriers.block), barriers.phase.astype(np.int64) + 1)
    least = int(reached.min()) if len(reached) else 0
    for table in (trace, trace.warp_barriers, trace.outside):
        for low in range(0, len(table.phase), CHUNK):
            phase, block = table.phase[low : low + CHUNK], table.block[low : low + CHUNK]
            everywhere = int(phase.max()) <= least  # the usual case
            _require(
                everywhere or np.all(phase <= reached[trace.block_positions(block)]),
                "a phase that its block did not reach",
            )
            between()
    if (barriers.reach == GRID_SCOPE).any():  # each is a pass over the phases of all blocks
        _require(phases * phases * len(trace.blocks) <= 8 * LARGEST_TABLE, "too many barriers of the grid")


def _are_consecutive(trace: Trace) -> bool:
    """Return True if each thread reached one barrier after each phase, from the first on."""
    barriers = trace.barriers
    thread, phase = trace.thread_numbers(barriers.block, barriers.thread), barriers.phase
    by_phase = stable_order(phase)
    order = by_phase[stable_order(thread[by_phase])]
    turn = positions_in_group(group_starts(thread[order]), len(order))
    return bool(np.array_equal(phase[order], turn))


def _check_outside(trace: Trace) -> None:
    outside = trace.outside
    _require(len(outside.step) == len(outside.text), "accesses outside their buffers")
    _require(all(len(text) <= LONGEST_TEXT for text in outside.text), "a text that is too long")
    _require(_below(outside.op, len(Op)) and _below(outside.thread, trace.threads), "an access outside")
    _require(_below(outside.buffer, len(trace.buffers)), "an access outside of no buffer")
    _require(_below(outside.site, len(trace.sites)), "an access outside from no site")
    _require(_below(outside.step, 2**62), "step of an access outside")
    _require(_are_among(outside.block, trace.blocks), "an access outside of a block that did not run")

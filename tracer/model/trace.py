"""A trace: every access of a launch, one NumPy column per property, and other data about the launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace
from numpy.typing import NDArray

Dim3 = tuple[int, int, int]
COUNTED_SEPARATELY = 12  # most kinds of accesses that are counted one by one
WARP = 32
ALIAS_SEPARATOR = "/"  # between the names of arguments that share memory
SPACES = ("global", "shared", "local", "constant")
BLOCK_SCOPE, GRID_SCOPE = 0, 1  # of a barrier
VOTED_NO, VOTED_YES, COMPARED = (
    33,
    34,
    35,
)  # a lane's part in a vote or a comparison; see `Barriers`
FENCE_BLOCK, FENCE = 1 << 32, 1 << 33  # threadfence_block; threadfence and threadfence_system


class Op(IntEnum):
    """The kind of an access. A reduction is an atomic whose old value is not used (except `NEVER_REDUCED`)."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    REDUCTION = 3


# Functions of `cuda.atomic` for which a GPU has no reduction: it returns the old value even if it is not used.
NEVER_REDUCED = ("exch", "cas", "compare_and_swap")
STOPPED = "Stopped after"  # beginning of the notice of a launch that made too many accesses
# Schedules whose moments follow the steps, not the rounds of lockstep.
STEPPED = ("random", "measured", "order")
FEW_BLOCKS = 1 << 20  # entries that a table by block numbers may always have
BARRIER = 4  # used like an `Op`, for the site of a barrier


class Site(Struct, frozen=True):
    """The position in the source that makes an access."""

    function: str
    file: str
    line: int  # from 1
    column: int  # from 0, in characters


class Buffer(Struct, frozen=True):
    """A piece of memory that accesses index.

    Index i of an access is the element at byte `address + i * unit`; for a C-contiguous buffer that is
    the i-th element of `shape`. There is one copy of a shared buffer per block and of a local one per
    thread. Buffers whose bytes overlap share memory.
    """

    name: str  # of the variable; several that share memory are joined by ALIAS_SEPARATOR
    space: str  # one of SPACES
    dtype: str  # of an element, as NumPy writes it: "<f4"
    shape: tuple[int, ...]  # elements along each dimension
    strides: tuple[int, ...]  # bytes from an element to the next, along each dimension
    address: int  # in bytes: global ones multiples of 256, shared ones from the start of a block's
    unit: int  # bytes from an index to the next: more than `itemsize` for a field of a record
    size: int  # number of indices

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return np.dtype(self.dtype).itemsize

    @property
    def is_plain(self) -> bool:
        """Whether the access index of every element is its number in C order."""
        steps = [math.prod(self.shape[axis + 1 :]) * self.unit for axis in range(len(self.shape))]
        pairs = zip(self.shape, self.strides, steps, strict=True)
        return all(length <= 1 or stride == step for length, stride, step in pairs)

    def elements(self) -> NDArray[np.int64]:
        """Return the access index of every element, in the buffer's shape."""
        index = np.zeros(self.shape, np.int64)
        if not index.size:
            return index
        for axis, (length, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            steps = np.arange(length, dtype=np.int64) * stride // self.unit
            index += steps.reshape([-1 if dimension == axis else 1 for dimension in range(len(self.shape))])
        return index

    def field(self, name: str, dtype: np.dtype[Any], offset: int) -> Buffer:
        """Return the buffer of a field of the elements, `offset` bytes from the start of each.

        A field that is an array indexes its own elements; raises TypeError if the records' layout does not allow that.
        """
        address, text = self.address + offset, f"{self.name}.{name}"
        if dtype.subdtype is None:
            return replace(self, name=text, dtype=dtype.str, address=address)
        size, inner = dtype.base.itemsize, dtype.shape
        if self.unit % size:
            raise TypeError(
                f"{self.name}: an array in a record of {self.unit} bytes, not a multiple of {size}"
            )
        strides = self.strides + np.empty(inner, dtype.base).strides
        count = (max(0, self.size - 1) * self.unit) // size + math.prod(inner)
        return Buffer(text, self.space, dtype.base.str, self.shape + inner, strides, address, size, count)

    def viewed_as(self, dtype: np.dtype[Any], nbytes: int) -> Buffer:
        """Return the first `nbytes` bytes as a one-dimensional buffer of another type."""
        size = dtype.itemsize
        count = nbytes // size
        return Buffer(self.name, self.space, dtype.str, (count,), (size,), self.address, size, count)


class BufferColumns(Struct, frozen=True, eq=False):
    """Properties of buffers, as columns of shape (buffers,); see `Buffer`."""

    space: NDArray[np.str_]  # one of SPACES
    address: NDArray[np.int64]  # in bytes
    unit: NDArray[np.int64]  # bytes from an index to the next
    itemsize: NDArray[np.int64]  # bytes of an element
    size: NDArray[np.int64]  # number of indices

    @classmethod
    def from_buffers(cls, buffers: Sequence[Buffer]) -> BufferColumns:
        """Return the columns of these buffers."""
        names = ("address", "unit", "itemsize", "size")
        numbers = (np.array([getattr(buffer, name) for buffer in buffers], np.int64) for name in names)
        return cls(np.array([buffer.space for buffer in buffers], "U8"), *numbers)


class KernelError(Struct, frozen=True):
    """An exception that ended a kernel."""

    type: str  # name of the exception's class
    message: str
    block: Dim3  # index in the grid
    thread: Dim3  # index in the block
    file: str
    line: int  # from 1


class Check(Struct, frozen=True):
    """Comparison of the result with NumPy's."""

    largest_error: float  # absolute, of any element; infinite if one is not a number
    tolerance: float  # largest error that passes
    equal: bool  # whether the check passes
    differing: int = 0  # elements with a larger error; 0 of 0 if unknown
    elements: int = 0
    is_by_chance: bool = False  # whether a result depends on a load outside its array; then the check fails


class Barriers(Struct, frozen=True, eq=False):
    """Every arrival of a thread at a barrier, a warp operation or a fence, in order: columns of shape (arrivals,).

    reach: the threads or memory it orders. At a barrier BLOCK_SCOPE or GRID_SCOPE; at a warp operation a bit for each
    lane that syncwarp names, 0 if it does not order memory; at a fence FENCE_BLOCK or FENCE. By default barriers are of
    the block, and warp operations order nothing.
    part: the lane's part in a warp operation. In a shuffle 1 more than the lane whose value it requests, its own for
    one beyond the warp; in a vote VOTED_NO or VOTED_YES; in a match COMPARED; else 0.
    """

    block: NDArray[np.unsignedinteger]  # linear number in the grid
    thread: NDArray[np.unsignedinteger]  # linear number in the block
    phase: NDArray[np.unsignedinteger]  # that a barrier ended
    site: NDArray[np.unsignedinteger]  # index in the trace's `sites`
    step: NDArray[np.unsignedinteger]  # accesses of the launch before it
    reach: NDArray[np.unsignedinteger] = field(default_factory=lambda: np.empty(0, np.uint8))
    part: NDArray[np.unsignedinteger] = field(default_factory=lambda: np.empty(0, np.uint8))

    def __post_init__(self) -> None:
        for name in ("reach", "part"):
            if not len(getattr(self, name)):
                force_setattr(self, name, np.zeros(len(self.step), np.uint8))


class OutOfBounds(Struct, frozen=True, eq=False):
    """Accesses that were skipped, since an index was outside its array: columns of shape (such accesses,)."""

    block: NDArray[np.unsignedinteger]  # linear number in the grid
    thread: NDArray[np.unsignedinteger]  # linear number in the block
    phase: NDArray[np.unsignedinteger]  # barriers that the thread had passed
    op: NDArray[np.uint8]  # an `Op`, of atomics always ATOMIC
    buffer: NDArray[np.unsignedinteger]  # index in the trace's `buffers`
    site: NDArray[np.unsignedinteger]  # index in the trace's `sites`
    step: NDArray[np.unsignedinteger]  # accesses of the launch before it
    cell: NDArray[np.int64]  # signed index (see `Buffer`) that a GPU, without checks, would have touched
    text: tuple[str, ...]  # the element as the source names it: "tile[16, 3]"


class MissingLanes(Struct, frozen=True):
    """A warp operation whose mask does not match the lanes that came: the first at its site, for each `why`.

    "waiting": the missing lanes run, but can never come. "ended": they had returned, or the block has no such
    thread. "read": the same, and their values are taken. "unnamed": they come though the mask leaves them out.
    "apart": they come to another operation. "outside": the mask leaves them out, and a shuffle takes their values.
    """

    block: int  # linear number in the grid
    warp: int  # number in the block
    site: int  # index in the trace's `sites`
    mask: int  # a bit for each named lane
    missing: int  # a bit for each lane to which `why` applies
    step: int  # accesses of the launch before the warp went on
    why: Literal["waiting", "ended", "read", "unnamed", "apart", "outside"] = "waiting"
    other: int = -1  # site of the other operation, if lanes are "apart"


def no_barriers() -> Barriers:
    """Return the arrivals of a launch without any."""
    return Barriers(*_no_rows(7))


def nothing_outside() -> OutOfBounds:
    """Return the accesses outside arrays of a launch without any."""
    block, thread, phase, op, buffer, site, step = _no_rows(7)
    return OutOfBounds(block, thread, phase, op, buffer, site, step, np.empty(0, np.int64), ())


def _no_rows(columns: int) -> list[NDArray[np.uint8]]:
    return [np.empty(0, np.uint8) for _ in range(columns)]


class Trace(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """A launch's accesses: columns of shape (accesses kept,), in the order of `step`.

    value: loaded, stored, or left by an atomic, in the launch's widest simple dtype; None for a launch with only
    records. initial: contents of global and constant buffers before the launch, by buffer number, shape (size,); a
    buffer that is missing there, such as shared and local ones, began as poison (`poison`).
    """

    block: NDArray[np.unsignedinteger]  # linear number in the grid, x fastest
    thread: NDArray[np.unsignedinteger]  # linear number in the block, x fastest
    phase: NDArray[np.unsignedinteger]  # barriers that the thread had passed
    op: NDArray[np.uint8]  # an `Op`
    buffer: NDArray[np.unsignedinteger]  # index in `buffers`
    site: NDArray[np.unsignedinteger]  # index in `sites`
    index: NDArray[np.unsignedinteger]  # element of the buffer; see `Buffer`
    steps: NDArray[np.unsignedinteger] | None  # as `step`; None if that is 0 1 2 ...
    value: NDArray[np.generic] | None
    barriers: Barriers  # arrivals at barriers of block or grid
    buffers: tuple[Buffer, ...]
    sites: tuple[Site, ...]
    initial: dict[int, NDArray[np.generic]]
    launch: str  # the `Launch` as JSON
    kernel: str  # name of the function
    grid: Dim3  # blocks along x, y, z
    block_dim: Dim3  # threads of a block along x, y, z
    schedule: str  # the kind: "lockstep", "sequential", "random", "order", or "measured" on a GPU
    resident: int  # blocks that ran at once
    blocks: NDArray[np.int64]  # linear numbers of the blocks that ran, ascending
    recorded: NDArray[np.int64]  # of the blocks whose accesses are all kept; fewer after a cap
    accesses: int  # that the launch made; more than the rows after a cap
    totals: dict[str, int] = field(
        default_factory=dict
    )  # counters of the complete launch if rows are missing
    notice: str = ""  # one sentence about what is missing
    sources: dict[str, str] = field(default_factory=dict)  # text of each file in which a site lies
    error: KernelError | None = None
    check: Check | None = None  # None if nothing was compared
    made_by: str = ""  # the engine that ran the launch, and the reason for the choice
    warp_barriers: Barriers = field(default_factory=no_barriers)  # arrivals at warp operations and fences
    outside: OutOfBounds = field(default_factory=nothing_outside)
    missing: tuple[MissingLanes, ...] = ()
    is_race_free: bool = False  # True if it is already certain that no threads race
    is_initialised: bool = (
        False  # True if it is already certain that shared and local memory is written before it is read
    )
    segment_ends: tuple[int, ...] = ()  # accesses of the launch at the end of each segment of its order
    # Number of the rounds of all loops and calls in which an access is made, ascending in each thread. None where the
    # engine does not record it: then the n-th access of each lane at a site counts as one round.
    round: NDArray[np.unsignedinteger] | None = None

    def __len__(self) -> int:
        return len(self.op)

    @cached_property
    def step(self) -> NDArray[np.unsignedinteger]:
        """The scheduler's count at each access: a column that most analyses do not need (`steps_of`)."""
        if self.steps is not None:
            return self.steps
        return np.arange(len(self), dtype=np.min_scalar_type(max(0, len(self) - 1)))

    def steps_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the scheduler's count at each of these accesses."""
        return (rows if self.steps is None else self.steps[rows]).astype(np.int64)

    def segments_of(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the segment of the launch's explicit order in which each of these steps is made."""
        return np.searchsorted(self.segment_ends, steps, side="right").astype(np.int64)

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return math.prod(self.block_dim)

    @property
    def warps(self) -> int:
        """Warps in a block; the last one may be partial."""
        return -(-self.threads // WARP)

    def block_positions(self, block: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the index in `blocks` of each of these blocks, which ran."""
        table = self._position_of_block
        positions: NDArray[np.int64] = table[block] if len(table) else np.searchsorted(self.blocks, block)
        return positions

    def thread_numbers(
        self, block: NDArray[np.integer[Any]], thread: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Number threads, below len(blocks) * threads: ascending by block and thread."""
        number = self.block_positions(block)
        number *= self.threads
        np.add(number, thread, out=number, casting="unsafe")
        return number

    def thread_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the number (`thread_numbers`) of the thread of each access."""
        return self.thread_numbers(self.block[rows], self.thread[rows])

    def thread_in_grid(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the linear number in the grid of the thread of each access."""
        number: NDArray[np.int64] = self.block[rows].astype(np.int64) * self.threads + self.thread[rows]
        return number

    @cached_property
    def _position_of_block(self) -> NDArray[np.int64]:
        """The index in `blocks` of each block number up to the largest; empty if that table would be large."""
        largest = int(self.blocks.max(initial=0))
        if largest > 4 * len(self.blocks) + FEW_BLOCKS:
            return np.empty(0, np.int64)
        position = np.zeros(largest + 1, np.int64)
        position[self.blocks] = np.arange(len(self.blocks))
        return position

    @cached_property
    def is_recorded(self) -> NDArray[np.bool_]:
        """Whether all accesses of each of `blocks` are kept."""
        return np.isin(self.blocks, self.recorded)

    @cached_property
    def buffer_columns(self) -> BufferColumns:
        """The buffers as columns."""
        return BufferColumns.from_buffers(self.buffers)

    @property
    def is_stopped(self) -> bool:
        """Whether the launch was stopped before its end, so that its remaining accesses are unknown."""
        return self.notice.startswith(STOPPED)

    @property
    def is_part(self) -> bool:
        """Whether only some of the grid's blocks ran, or only some accesses were kept."""
        return len(self.blocks) < math.prod(self.grid) or self.accesses > len(self)

    @cached_property
    def access_counts(self) -> NDArray[np.int64]:
        """Number of accesses of each `Op` to each buffer, shape (buffers, 4)."""
        count, size = np.zeros(len(self.buffers) * len(Op), np.int64), 1 << 16
        kind: type[np.integer[Any]] = np.uint8 if len(count) <= 256 else np.int64
        for low in range(0, len(self), size):
            code: NDArray[np.integer[Any]] = self.buffer[low : low + size].astype(kind)
            code *= len(Op)
            code += self.op[low : low + size]
            count += _codes_counted(code, count)
        return count.reshape(-1, len(Op))

    def with_scan_results(self, *, is_race_free: bool, is_initialised: bool) -> Trace:
        """Return the trace with the results of a scan, and with the counts made for it."""
        trace = replace(self, is_race_free=is_race_free, is_initialised=is_initialised)
        if "access_counts" in vars(self):
            vars(trace)["access_counts"] = self.access_counts
        return trace

    @property
    def nbytes(self) -> int:
        """Bytes of the columns in memory."""
        columns = [self.block, self.thread, self.phase, self.op, self.buffer, self.site, self.index]
        columns += [column for column in (self.steps, self.round) if column is not None]
        return sum(column.nbytes for column in columns) + (0 if self.value is None else self.value.nbytes)


def _codes_counted(code: NDArray[Any], earlier: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count each number below len(earlier); `earlier` has the counts so far.

    If few numbers occur, it is fastest to count them one by one.
    """
    counts, remaining, occurring = np.zeros_like(earlier), len(code), np.flatnonzero(earlier)
    for number in occurring[np.argsort(-earlier[occurring])][:COUNTED_SEPARATELY].tolist():
        counts[number] = np.count_nonzero(code == number)
        remaining -= int(counts[number])
        if not remaining:
            return counts
    return np.bincount(code, minlength=len(earlier))


def unravel(number: int, dim: Dim3) -> Dim3:
    """Return the (x, y, z) of a linear number in a grid or block of this size, x fastest."""
    x, rest = number % dim[0], number // dim[0]
    return x, rest % dim[1], rest // dim[1]


# A nan that no computation produces, which distinguishes unwritten memory from a result.
_NAN = {2: b"\xa5\x7f", 4: b"\xa5\xa5\xe5\x7f", 8: b"\xa5\xa5\xa5\xa5\xa5\xa5\xfd\x7f"}


def poison(dtype: np.dtype[np.generic]) -> np.generic:
    """Return the fill value of uninitialised memory: a special nan, or bytes of 0xA5 in integers."""
    if dtype.kind in "fc":
        parts = 1 + (dtype.kind == "c")
        return dtype.type(np.frombuffer(_NAN[dtype.itemsize // parts] * parts, dtype)[0])
    return np.frombuffer(b"\xa5" * dtype.itemsize, dtype)[0] if dtype.kind != "b" else dtype.type(True)


def is_poison(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Find the values that are poison, and any other nan; records never are."""
    matches: NDArray[np.bool_] = np.zeros(values.shape, bool)
    if values.dtype.kind in "fc":
        matches = np.isnan(values)
    elif values.dtype.kind in "iu":
        matches = values == poison(values.dtype)
    return matches


def poisoned(shape: int | tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array as uninitialised memory looks to a kernel: poison, or in records bytes of 0xA5."""
    if dtype.names is None:
        return np.full(shape, poison(dtype), dtype)
    array = np.empty(shape, dtype)
    array.view(np.uint8).fill(0xA5)
    return array

"""A trace: every access of a launch, one NumPy column each, and the file that holds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Dim3 = tuple[int, int, int]
WARP = 32
ONE_MEMORY = "/"  # between the names of arguments that lie in one memory
SPACES = ("global", "shared", "local", "constant")
OF_BLOCK, OF_GRID = 0, 1  # what a barrier orders
FENCE_BLOCK, FENCE = 1 << 32, 1 << 33  # threadfence_block; threadfence and threadfence_system


class Op(IntEnum):
    """What an access does. A reduction is an atomic whose old value is not used."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    REDUCTION = 3


BARRIER = 4  # stands where an `Op` stands, for the site of a barrier


@dataclass(frozen=True)
class Site:
    """The place in the source that makes an access: line from 1, column from 0 (in characters)."""

    function: str
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Buffer:
    """A piece of memory that accesses index.

    Index i of an access is the element at byte `address + i * unit`; for a C-contiguous buffer that is
    the i-th element of `shape`. `strides` are in bytes, one per dimension of `shape`; `itemsize` is the
    size of an element, which is smaller than `unit` for a field of a record. Global addresses
    are multiples of 256; shared ones count from the start of the block's shared memory; there is one copy
    of a shared buffer in each block and of a local one in each thread. Buffers whose bytes overlap look
    into the same memory.
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    unit: int
    size: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return np.dtype(self.dtype).itemsize

    def elements(self) -> NDArray[np.int64]:
        """Return the access index of every element, in the buffer's shape."""
        index = np.zeros(self.shape, np.int64)
        for axis, (length, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            steps = np.arange(length, dtype=np.int64) * stride // self.unit
            index += steps.reshape([-1 if i == axis else 1 for i in range(len(self.shape))])
        return index


@dataclass(frozen=True)
class KernelError:
    """How a kernel ended that raised: what, in which block and thread, on which line."""

    type: str
    message: str
    block: Dim3
    thread: Dim3
    file: str
    line: int


@dataclass(frozen=True)
class Check:
    """The result against NumPy: the largest absolute error, what was tolerated, and the verdict.

    differing: how many of so many elements are off by more than is tolerated; of nobody knows how many, 0 of 0.
    """

    largest_error: float
    tolerance: float
    equal: bool
    differing: int = 0
    elements: int = 0


@dataclass(frozen=True, eq=False)
class Barriers:
    """Every arrival of a thread at a barrier, a warp operation or a fence, in order: one column each.

    phase: the one that a barrier ended. reach: whom it orders. At a barrier OF_BLOCK or OF_GRID; at a warp
    operation a bit for each lane that syncwarp names, 0 where no order of memory is promised; at a fence
    FENCE_BLOCK or FENCE. Without it barriers are of the block, and warp operations order nothing.
    """

    block: NDArray[np.unsignedinteger]
    thread: NDArray[np.unsignedinteger]
    phase: NDArray[np.unsignedinteger]
    site: NDArray[np.unsignedinteger]
    step: NDArray[np.unsignedinteger]
    reach: NDArray[np.unsignedinteger] = field(default_factory=lambda: np.empty(0, np.uint8))

    def __post_init__(self) -> None:
        if not len(self.reach):
            object.__setattr__(self, "reach", np.zeros(len(self.step), np.uint8))


@dataclass(frozen=True, eq=False)
class Outside:
    """Accesses that were not made, since an index lay outside its array: one column each.

    `cell` is the signed index (see `Buffer`) that a GPU, which checks nothing, would have touched; `text`
    is the element as the source names it, "tile[16, 3]".
    """

    block: NDArray[np.unsignedinteger]
    thread: NDArray[np.unsignedinteger]
    phase: NDArray[np.unsignedinteger]
    op: NDArray[np.uint8]
    buffer: NDArray[np.unsignedinteger]
    site: NDArray[np.unsignedinteger]
    step: NDArray[np.unsignedinteger]
    cell: NDArray[np.int64]
    text: tuple[str, ...]


@dataclass(frozen=True)
class MissingLanes:
    """A warp operation to which not just those lanes came that its mask names: the first at its site, for each `why`.

    mask, missing: a bit for each lane; step: the scheduler's count when it went on. why: what is said of `missing`.
    "waiting": they run, but could never come. "ended": they had returned, or the block has no such thread. "read":
    they had too, and their values are taken. "unnamed": they come though the mask leaves them out. "apart": they
    come to another operation, at the site `other`, which is -1 otherwise.
    """

    block: int
    warp: int
    site: int
    mask: int
    missing: int
    step: int
    why: Literal["waiting", "ended", "read", "unnamed", "apart"] = "waiting"
    other: int = -1


def _nothing_outside() -> Outside:
    block, thread, phase, op, buffer, site, step = _no_rows(7)
    return Outside(block, thread, phase, op, buffer, site, step, np.empty(0, np.int64), ())


def _no_rows(columns: int) -> list[NDArray[np.uint8]]:
    return [np.empty(0, np.uint8) for _ in range(columns)]


@dataclass(frozen=True, eq=False)
class Trace:
    """What a launch did, access by access.

    Columns have one entry per access, in the order of `step`:

    block, thread: linear numbers, x fastest; phase: barriers the thread had passed; op: an `Op`;
    buffer, site: places in `buffers` and `sites`; index: see `Buffer`; value: loaded, stored, or left by
    an atomic, in the launch's widest simple dtype, None for a launch on records alone; step: the
    scheduler's count.

    initial: contents of global and constant buffers before the launch, by buffer number, one entry per
    index; a buffer that is missing there, shared and local ones among them, began as poison (`poison`).
    blocks: the linear numbers of the blocks that ran, ascending. recorded: those whose accesses are all
    here; fewer after a cap.
    barriers, warp_barriers: arrivals at barriers of block or grid; at warp operations and fences.
    outside: the accesses that were not made. missing: the warp operations to which not all came that should.
    accesses: how many the launch made; more than there are rows after a cap.
    totals: whole-launch counters where rows are missing, else empty.
    notice: one sentence about what is missing, or "".
    """

    block: NDArray[np.unsignedinteger]
    thread: NDArray[np.unsignedinteger]
    phase: NDArray[np.unsignedinteger]
    op: NDArray[np.uint8]
    buffer: NDArray[np.unsignedinteger]
    site: NDArray[np.unsignedinteger]
    index: NDArray[np.unsignedinteger]
    step: NDArray[np.unsignedinteger]
    value: NDArray[np.generic] | None
    barriers: Barriers
    buffers: tuple[Buffer, ...]
    sites: tuple[Site, ...]
    initial: dict[int, NDArray[np.generic]]
    launch: str
    kernel: str
    grid: Dim3
    block_dim: Dim3
    schedule: str
    resident: int
    blocks: NDArray[np.int64]
    recorded: NDArray[np.int64]
    accesses: int
    totals: dict[str, int] = field(default_factory=dict)
    notice: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    error: KernelError | None = None
    check: Check | None = None
    made_by: str = ""
    warp_barriers: Barriers = field(default_factory=lambda: Barriers(*_no_rows(6)))
    outside: Outside = field(default_factory=_nothing_outside)
    missing: tuple[MissingLanes, ...] = ()

    def __len__(self) -> int:
        return len(self.step)

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return math.prod(self.block_dim)

    @property
    def warps(self) -> int:
        """Warps in a block, the last one perhaps not full."""
        return -(-self.threads // WARP)

    @property
    def is_part(self) -> bool:
        """Whether only some of the grid's blocks ran, or only some accesses were kept."""
        return len(self.blocks) < math.prod(self.grid) or self.accesses > len(self)

    @cached_property
    def tally(self) -> NDArray[np.int64]:
        """How many accesses of each `Op` each buffer has, shape (buffers, 4)."""
        count, size = np.zeros(len(self.buffers) * len(Op), np.int64), 1 << 18
        for low in range(0, len(self), size):
            buffer, op = self.buffer[low : low + size].astype(np.int64), self.op[low : low + size]
            count += np.bincount(buffer * len(Op) + op, minlength=len(count))
        return count.reshape(-1, len(Op))

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take in memory."""
        columns = [self.block, self.thread, self.phase, self.op, self.buffer, self.site, self.index]
        columns.append(self.step)
        return sum(c.nbytes for c in columns) + (0 if self.value is None else self.value.nbytes)


def unravel(number: int, dim: Dim3) -> Dim3:
    """Return the (x, y, z) of a linear number in a grid or block of this size, x fastest."""
    x, rest = number % dim[0], number // dim[0]
    return x, rest % dim[1], rest // dim[1]


# A nan that no computation makes by itself, so that it tells memory that nobody has written from a result.
_NAN = {2: b"\xa5\x7f", 4: b"\xa5\xa5\xe5\x7f", 8: b"\xa5\xa5\xa5\xa5\xa5\xa5\xfd\x7f"}


def poison(dtype: np.dtype[np.generic]) -> np.generic:
    """Return the value that uninitialised memory is filled with: a nan of its own, or bytes of 0xA5 in integers."""
    if dtype.kind in "fc":
        parts = 1 + (dtype.kind == "c")
        return dtype.type(np.frombuffer(_NAN[dtype.itemsize // parts] * parts, dtype)[0])
    return np.frombuffer(b"\xa5" * dtype.itemsize, dtype)[0] if dtype.kind != "b" else dtype.type(True)

"""The record of one running launch, which both engines fill and its trace is built from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from weakref import ref

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.launch import Launch, Schedule
from ..model.trace import ALIAS_SEPARATOR, Buffer, Dim3, KernelError
from .recorder import Recorder
from .run_order import OrderRun

RESIDENT_THREADS = 8192
ROW_BYTES = 48  # bytes of memory for a row, including data computed from it


class HostMemory(Struct, frozen=True, eq=False):
    """Memory of the host or the device that was passed to a launch."""

    cells: NDArray[Any]  # its elements in memory order, shape (size,)
    buffer: int  # number of its buffer in traces
    start: int  # address of the first element in this process


@dataclass(eq=False)
class RunRecord:
    """A running launch: its memories, the recorder of its accesses, and its outcome."""

    launch: Launch
    names: tuple[str, ...]  # of the kernel's parameters
    report: Callable[[int, int], None]  # called as blocks end, with the number of ended and of all blocks
    count_past_limit: bool = False  # whether to continue counting beyond the limit of waiting accesses
    recorder: Recorder = field(init=False)  # set by the engine, before anything is recorded
    grid: Dim3 = field(init=False)  # blocks along x, y, z
    dim: Dim3 = field(init=False)  # threads of a block along x, y, z
    resident: int = 1  # blocks that ran simultaneously
    memories: list[HostMemory] = field(default_factory=list)
    contents: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # of arguments known without a copy
    initial: dict[int, NDArray[Any]] = field(default_factory=dict)  # by buffer, shape (size,); see `Trace`
    finals: dict[str, NDArray[Any]] = field(default_factory=dict)  # by argument: the array with its results
    expected: Mapping[str, NDArray[Any]] | None = None  # by argument: the correct results, once known
    totals: dict[str, int] = field(default_factory=dict)  # counters of accesses that are not kept
    error: KernelError | None = None  # a thread's exception, as shown to the user
    raised: BaseException | None = None  # the exception that `error` describes
    notice: str = ""  # one sentence about missing data
    is_running: bool = False  # whether blocks run: not while arguments are copied or the trace is built
    untyped: str = ""  # why it ran with Python's arithmetic instead of Numba's, "" if it did not
    order: OrderRun | None = None  # the explicit order of its threads, once it runs
    inexact: str = ""  # results that may differ from a GPU's in their last bits, "" for none
    _records: dict[int, NDArray[Any]] = field(
        default_factory=dict
    )  # initial content of record arrays; not in traces
    _addresses: dict[str, int] = field(default_factory=dict)  # bytes used of each space
    _dynamic: Buffer | None = None  # the bytes of dynamic shared memory
    latest: ClassVar[ref[RunRecord] | None] = None  # the latest launch of this process

    def __post_init__(self) -> None:
        RunRecord.latest = ref(self)
        self.grid, self.dim = self.launch.grid, self.launch.block

    @contextmanager
    def running(self) -> Iterator[None]:
        """Context manager for the run of the blocks."""
        self.is_running = True
        try:
            yield
        finally:
            self.is_running = False

    def chosen_blocks(self) -> Sequence[int]:
        """Return the numbers of the blocks that run, in their order."""
        chosen = self.launch.blocks
        return range(self.grid[0] * self.grid[1] * self.grid[2]) if chosen is None else chosen

    def start_order(self) -> OrderRun | None:
        """Begin the explicit order of the launch, if it has one; raises OrderError if it is not of this launch."""
        launch = self.launch
        self.order = OrderRun.of_launch(launch) if launch.schedule.kind == "order" else None
        return self.order

    def add_totals(self, totals: Mapping[str, int]) -> None:
        """Add the counters of accesses that are not kept to those before."""
        for name, value in totals.items():
            self.totals[name] = self.totals.get(name, 0) + value

    def undo(self) -> None:
        """Restore the initial content of the launch's memories."""
        for memory in self.memories:
            if memory.cells.flags.writeable:  # otherwise it is a constant, which no kernel can change
                content = (self.initial | self._records)[memory.buffer]
                memory.cells.view(content.dtype)[...] = content

    def reset(self) -> None:
        """Undo the run and reset the record."""
        self.undo()
        self.memories.clear()
        for table in (self.initial, self.finals, self.totals, self._records, self._addresses):
            table.clear()
        self.error, self.raised, self.notice, self._dynamic = None, None, "", None

    def memory_of(self, ary: NDArray[Any], name: str, space: str) -> HostMemory:
        """Return the memory of an argument or a constant array; raises TypeError for memory with gaps."""
        root = _root(ary)
        start = root.__array_interface__["data"][0]
        for memory in self.memories:
            if (memory.start, memory.cells.nbytes) == (start, root.nbytes):
                if space == "global":
                    self._add_alias(memory.buffer, name)
                return memory
        return self._new_memory(root, ary, name, space)

    def buffer_as(self, memory: HostMemory, dtype: np.dtype[Any]) -> int:
        """Return the buffer number of a memory viewed as elements of this type."""
        if memory.cells.dtype == dtype:
            return memory.buffer
        view = self.recorder.buffers[memory.buffer].viewed_as(dtype, memory.cells.nbytes)
        return self.recorder.add_part(memory.buffer, f"view {dtype.str}", view)

    def _add_alias(self, buffer: int, name: str) -> None:
        """Add the name of another argument in the same memory to a buffer."""
        current = self.recorder.buffers[buffer]
        if name not in current.name.split(ALIAS_SEPARATOR):
            self.recorder.buffers[buffer] = replace(current, name=f"{current.name}{ALIAS_SEPARATOR}{name}")

    def _new_memory(self, root: NDArray[Any], ary: NDArray[Any], name: str, space: str) -> HostMemory:
        cells = np.ndarray(root.size, root.dtype, root)
        shaped = ary if ary.size == root.size and ary.dtype == root.dtype else root
        buffer = self.add_array(name, space, shaped, root.size)
        memory = HostMemory(cells, buffer, cells.__array_interface__["data"][0])
        if root.dtype.names is None:
            self.initial[buffer] = self._content(name, cells, self.recorder.buffers[buffer].dtype)
        else:
            self._records[buffer] = cells.copy()
        self.memories.append(
            memory
        )  # last: Ctrl+C may come during a large copy, and `undo` needs the content
        self.finals[name] = ary
        return memory

    def _content(self, name: str, cells: NDArray[Any], dtype: str) -> NDArray[Any]:
        """Return the current content of a memory, without a copy if an argument's content is known."""
        content = self.contents.get(name)
        if content is not None and content.dtype == cells.dtype and content.size == cells.size:
            return content.reshape(-1)
        copied: NDArray[Any] = cells.astype(dtype)
        return copied

    def add_array(self, name: str, space: str, ary: NDArray[Any], size: int) -> int:
        """Add a buffer at the next addresses of its space and return its number.

        ary: the array that gives its shape and strides. size: number of elements of its memory.
        """
        address = self._addresses.get(space, 0)
        align = 256 if space in ("global", "constant") else 16
        self._addresses[space] = -(-(address + max(1, ary.nbytes)) // align) * align
        strides = tuple(int(stride) for stride in ary.strides)
        dtype = "<i8" if ary.dtype.kind in "mM" else ary.dtype.str
        return self.recorder.add_buffer(
            Buffer(name, space, dtype, ary.shape, strides, address, ary.itemsize, size)
        )

    def add_dynamic(self, name: str, dtype: np.dtype[Any]) -> int:
        """Add a buffer of dynamic shared memory viewed as elements of this type, and return its number.

        The buffers of all types share one address and the name of the first.
        """
        nbytes = self.launch.shared_bytes
        if self._dynamic is None:
            address = self._addresses.get("shared", 0)
            self._dynamic = Buffer(name, "shared", "|u1", (nbytes,), (1,), address, 1, nbytes)
            self._addresses["shared"] = address + nbytes
        return self.recorder.add_buffer(self._dynamic.viewed_as(dtype, nbytes))


def _root(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns a view's memory, in memory order."""
    root = ary
    while isinstance(root.base, np.ndarray) and root.base.dtype.itemsize == ary.dtype.itemsize:
        root = root.base
    if not root.flags.forc:  # elements repeated along a dimension exist only once
        root = root[tuple(slice(0, 1) if step == 0 else slice(None) for step in root.strides)]
    if not root.flags.forc:
        raise TypeError(f"an array with gaps in its memory, strides {root.strides} for shape {root.shape}")
    return root.view(ary.dtype) if root.dtype != ary.dtype else root


def resident_blocks(schedule: Schedule, resident: int | None, threads: int) -> int:
    """Choose the number of simultaneous blocks; a sequential launch runs one after the other."""
    if schedule.kind == "sequential":
        return 1
    return max(1, RESIDENT_THREADS // threads) if resident is None else max(1, resident)


def max_rows(memory: int) -> int:
    """Return the number of accesses that fit in this many bytes of memory."""
    return max(1, memory // ROW_BYTES)

"""The record of one launch under way: what both engines fill in, and what its trace is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

RESIDENT_THREADS = 8192
ROW_BYTES = 48  # bytes that a row of the columns takes, with what is made of it


class HostMemory(Struct, frozen=True, eq=False):
    """Memory that the host or the device owns, and a launch was given."""

    cells: NDArray[Any]  # its elements in memory order, shape (size,)
    buffer: int  # the buffer that traces call it
    start: int  # address of the first element in this process


@dataclass(eq=False)
class RunRecord:
    """One launch under way: the memory that it was given, where its accesses are recorded, and how it ended."""

    launch: Launch  # what runs
    names: tuple[str, ...]  # of the kernel's parameters
    report: Callable[[int, int], None]  # is called as blocks end: how many have, and of how many
    to_the_end: bool = False  # whether it goes on where more accesses must be held than may be
    recorder: Recorder = field(init=False)  # set by the engine, before anything is recorded
    grid: Dim3 = field(init=False)  # blocks along x, y, z
    dim: Dim3 = field(init=False)  # threads of a block along x, y, z
    resident: int = 1  # blocks that ran at once
    memories: list[HostMemory] = field(default_factory=list)
    contents: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # of arguments known without a copy
    initial: dict[int, NDArray[Any]] = field(default_factory=dict)  # by buffer, shape (size,); see `Trace`
    finals: dict[str, NDArray[Any]] = field(default_factory=dict)  # by argument: what holds its results
    expected: Mapping[str, NDArray[Any]] | None = None  # by argument: what that should be, once known
    totals: dict[str, int] = field(default_factory=dict)  # counters of the accesses that are not kept
    error: KernelError | None = None  # what a thread raised, as it is shown
    raised: BaseException | None = None  # what `error` tells of
    notice: str = ""  # one sentence about what is missing
    untyped: str = ""  # why it ran with Python's arithmetic instead of Numba's, "" where it did not
    inexact: str = ""  # which results may differ from a GPU's in their last bits, "" where none may
    _records: dict[int, NDArray[Any]] = field(default_factory=dict)  # as `initial`; traces do without it
    _addresses: dict[str, int] = field(default_factory=dict)  # bytes taken of each space
    _dynamic: Buffer | None = None  # the bytes of dynamic shared memory
    latest: ClassVar[ref[RunRecord] | None] = None  # the launch of this process that began last

    def __post_init__(self) -> None:
        RunRecord.latest = ref(self)
        self.grid, self.dim = self.launch.grid, self.launch.block

    def chosen_blocks(self) -> Sequence[int]:
        """Return the numbers of the blocks that run, in their order."""
        chosen = self.launch.blocks
        return range(self.grid[0] * self.grid[1] * self.grid[2]) if chosen is None else chosen

    def add_totals(self, found: Mapping[str, int]) -> None:
        """Add the counters of accesses that are not kept to those before."""
        for name, value in found.items():
            self.totals[name] = self.totals.get(name, 0) + value

    def undo(self) -> None:
        """Give the memory that the launch was given the content that it had."""
        for memory in self.memories:
            if memory.cells.flags.writeable:  # else it is a constant, which no kernel has changed
                before = (self.initial | self._records)[memory.buffer]
                memory.cells.view(before.dtype)[...] = before

    def begin_again(self) -> None:
        """Forget what has run, as if nothing had."""
        self.undo()
        self.memories.clear()
        for table in (self.initial, self.finals, self.totals, self._records, self._addresses):
            table.clear()
        self.error, self.raised, self.notice, self._dynamic = None, None, "", None

    def memory_of(self, ary: NDArray[Any], name: str, space: str) -> HostMemory:
        """Return the memory that an argument or a constant array looks into; raises TypeError for one with gaps."""
        root = _root(ary)
        start = root.__array_interface__["data"][0]
        for memory in self.memories:
            if (memory.start, memory.cells.nbytes) == (start, root.nbytes):
                if space == "global":
                    self._name_too(memory.buffer, name)
                return memory
        return self._new_memory(root, ary, name, space)

    def buffer_as(self, memory: HostMemory, dtype: np.dtype[Any]) -> int:
        """Return the number of the buffer of a memory's bytes seen as elements of this type."""
        if memory.cells.dtype == dtype:
            return memory.buffer
        seen = self.recorder.buffers[memory.buffer].viewed_as(dtype, memory.cells.nbytes)
        return self.recorder.add_part(memory.buffer, f"view {dtype.str}", seen)

    def _name_too(self, buffer: int, name: str) -> None:
        """Call a buffer by another argument too, which lies in the same memory."""
        known = self.recorder.buffers[buffer]
        if name not in known.name.split(ALIAS_SEPARATOR):
            self.recorder.buffers[buffer] = replace(known, name=f"{known.name}{ALIAS_SEPARATOR}{name}")

    def _new_memory(self, root: NDArray[Any], ary: NDArray[Any], name: str, space: str) -> HostMemory:
        cells = np.ndarray(root.size, root.dtype, root)
        shaped = ary if ary.size == root.size and ary.dtype == root.dtype else root
        buffer = self.add_array(name, space, shaped, root.size)
        memory = HostMemory(cells, buffer, cells.__array_interface__["data"][0])
        self.memories.append(memory)
        if root.dtype.names is None:
            self.initial[buffer] = self._content(name, cells, self.recorder.buffers[buffer].dtype)
        else:
            self._records[buffer] = cells.copy()
        self.finals[name] = ary
        return memory

    def _content(self, name: str, cells: NDArray[Any], dtype: str) -> NDArray[Any]:
        """Return what some memory holds now, of an argument whose content is known without a copy."""
        known = self.contents.get(name)
        if known is not None and known.dtype == cells.dtype and known.size == cells.size:
            return known.reshape(-1)
        copied: NDArray[Any] = cells.astype(dtype)
        return copied

    def add_array(self, name: str, space: str, ary: NDArray[Any], size: int) -> int:
        """Return the number of a new buffer, which has the next addresses of its space.

        ary: the array that it is indexed as. size: elements of the memory in which this lies.
        """
        address = self._addresses.get(space, 0)
        align = 256 if space in ("global", "constant") else 16
        self._addresses[space] = -(-(address + max(1, ary.nbytes)) // align) * align
        strides = tuple(int(s) for s in ary.strides)
        dtype = "<i8" if ary.dtype.kind in "mM" else ary.dtype.str
        return self.recorder.add_buffer(
            Buffer(name, space, dtype, ary.shape, strides, address, ary.itemsize, size)
        )

    def add_dynamic(self, name: str, dtype: np.dtype[Any]) -> int:
        """Return the number of a new buffer of dynamic shared memory seen as elements of this type.

        Those of all types have one address, and the name of the first.
        """
        nbytes = self.launch.shared_bytes
        if self._dynamic is None:
            address = self._addresses.get("shared", 0)
            self._dynamic = Buffer(name, "shared", "|u1", (nbytes,), (1,), address, 1, nbytes)
            self._addresses["shared"] = address + nbytes
        return self.recorder.add_buffer(self._dynamic.viewed_as(dtype, nbytes))


def _root(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory that a view looks into, in memory order."""
    root = ary
    while isinstance(root.base, np.ndarray) and root.base.dtype.itemsize == ary.dtype.itemsize:
        root = root.base
    if not root.flags.forc:  # elements that an array repeats along a dimension lie there once
        root = root[tuple(slice(0, 1) if step == 0 else slice(None) for step in root.strides)]
    if not root.flags.forc:
        raise TypeError(f"an array whose memory has gaps, strides {root.strides} for shape {root.shape}")
    return root.view(ary.dtype) if root.dtype != ary.dtype else root


def resident_blocks(schedule: Schedule, resident: int | None, threads: int) -> int:
    """Return how many blocks run at once; a sequential launch runs one after the other."""
    if schedule.kind == "sequential":
        return 1
    return max(1, RESIDENT_THREADS // threads) if resident is None else max(1, resident)


def most_rows(memory: int) -> int:
    """Return how many accesses are kept at most in so many bytes."""
    return max(1, memory // ROW_BYTES)

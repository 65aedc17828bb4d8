"""One launch being run: its memory, its blocks, and how it ends."""

from __future__ import annotations

import gc
import hashlib
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .allocation import Allocation
from .arrays import RecordingArray, alias, recording
from .launch import Launch
from .positions import assigned_name, position
from .recorder import Recorder, TooLarge
from .results import totals_of_columns
from .scheduler import Scheduler
from .threads import Block, Stop, Thread
from .trace import ONE_MEMORY, Buffer, Dim3, KernelError, poison, unravel
from .user_code import user_code_for
from .whole import casting

_frame = sys._getframe
_HERE = str(Path(__file__).parent)


class Enough(TooLarge):
    """Whoever watches a run has seen enough of it."""


Watch = Callable[["Run"], None]


class Watched(Recorder):
    """A recorder that calls `watch` now and then, which may end the run."""

    def __init__(
        self, limit: int, count: Callable[[dict[str, NDArray[Any]]], None], watch: Callable[[], None]
    ) -> None:
        super().__init__(limit, count)
        self._watch = watch

    def context(self, block: int, thread: int, phase: int) -> int:
        """Return a number for this thread in this phase, which begins."""
        self._watch()
        return super().context(block, thread, phase)

    def flush(self) -> None:
        """Turn the log into columns."""
        super().flush()
        self._watch()


class Run:
    """One launch under way: where it is recorded, and what `cuda` needs to know of it."""

    def __init__(
        self, launch: Launch, names: tuple[str, ...], report: Callable[[int, int], None], watch: Watch | None = None
    ) -> None:  # fmt: skip
        self.launch = launch
        self.names = names
        self.report = report
        self.totals: dict[str, int] = {}
        rows = min(launch.limits.accesses, max(1, launch.limits.memory // 48))
        self._watch = watch
        self.to_the_end = False  # whether it goes on where more accesses must be held than may be
        self.recorder: Recorder = Watched(rows, self._count, self._look)
        self.scheduler = Scheduler(self.recorder, launch.schedule, launch.resident, self._digest)
        self.memories: list[Allocation] = []
        self.contents: Mapping[str, NDArray[Any]] = {}  # of arguments that are as their launch describes them
        self.initial: dict[int, NDArray[Any]] = {}
        self._records: dict[int, NDArray[Any]] = {}  # content of records, which traces do without
        self.finals: dict[str, NDArray[Any]] = {}
        self.error: KernelError | None = None
        self.notice = ""
        self.executed = False
        self.raised: BaseException | None = None
        self.module: Any = None  # what `cuda` is inside the kernel
        self.grid: Dim3 = launch.grid
        self.dim: Dim3 = launch.block
        self._addresses = {"global": 0, "shared": 0, "local": 0, "constant": 0}
        self._declared: dict[Any, int] = {}
        self._dynamic: tuple[str, int] | None = None

    def _look(self) -> None:
        if self._watch:
            self._watch(self)
        self.scheduler.mind_spinning()

    def _digest(self, live: list[Block]) -> bytes:
        """Return a digest of the launch's memory, with that of these blocks and their threads."""
        digest = hashlib.sha256()
        own = [
            array
            for b in live
            for part in (b.shared, *(t.locals for t in b.threads))
            for array in part.values()
        ]
        for cells in (*(m.cells for m in self.memories), *(getattr(array, "_ary", array) for array in own)):
            digest.update(np.ascontiguousarray(cells).reshape(-1).view(np.uint8).data)
        return digest.digest()

    def _count(self, columns: dict[str, NDArray[Any]]) -> None:
        for name, value in totals_of_columns(self, columns).items():
            self.totals[name] = self.totals.get(name, 0) + value

    def undo(self) -> None:
        """Give the memory that the launch was given the content that it had."""
        for memory in self.memories:
            before = (self.initial | self._records)[memory.buffer]
            memory.cells.view(before.dtype)[...] = before

    def argument(self, value: Any, name: str) -> Any:
        """Return what the kernel gets for an argument: arrays as recording ones, others as they are."""
        if isinstance(value, tuple):
            return rebuilt(value, (self.argument(v, f"{name}[{i}]") for i, v in enumerate(value)))
        return self.over(value, name, "global") if isinstance(value, np.ndarray) else value

    def over(self, ary: NDArray[Any], name: str, space: str) -> RecordingArray:
        """Return a recording array over memory that the host or the device owns."""
        root = _root(ary)
        start = root.__array_interface__["data"][0]
        memory = next((m for m in self.memories if (m.start, m.cells.nbytes) == (start, root.nbytes)), None)
        if memory is None:
            memory = self._new_memory(root, ary, name, space)
        elif space == "global":
            self._name_too(memory.buffer, name)
        if memory.cells.dtype != ary.dtype:
            return alias(ary, memory)
        return recording(ary, memory)

    def _name_too(self, buffer: int, name: str) -> None:
        """Call a buffer by another argument too, which lies in the same memory."""
        known = self.recorder.buffers[buffer]
        if name not in known.name.split(ONE_MEMORY):
            self.recorder.buffers[buffer] = replace(known, name=f"{known.name}{ONE_MEMORY}{name}")

    def _new_memory(self, root: NDArray[Any], ary: NDArray[Any], name: str, space: str) -> Allocation:
        cells = np.ndarray(root.size, root.dtype, root)
        shaped = ary if ary.size == root.size and ary.dtype == root.dtype else root
        memory = Allocation(cells, self._buffer(name, space, shaped, root.size), self.scheduler)
        self.memories.append(memory)
        if root.dtype.names is None:
            self.initial[memory.buffer] = self._content(
                name, cells, self.recorder.buffers[memory.buffer].dtype
            )
        else:
            self._records[memory.buffer] = cells.copy()
        self.finals[name] = ary
        return memory

    def _content(self, name: str, cells: NDArray[Any], dtype: str) -> NDArray[Any]:
        """Return what some memory holds now, of an argument whose content is known without a copy."""
        known = self.contents.get(name)
        if known is not None and known.dtype == cells.dtype and known.size == cells.size:
            return known.reshape(-1)
        copied: NDArray[Any] = cells.astype(dtype)
        return copied

    def _buffer(self, name: str, space: str, ary: NDArray[Any], size: int) -> int:
        address = self._addresses[space]
        align = 256 if space in ("global", "constant") else 16
        self._addresses[space] = -(-(address + max(1, ary.nbytes)) // align) * align
        strides = tuple(int(s) for s in ary.strides)
        dtype = "<i8" if ary.dtype.kind in "mM" else ary.dtype.str
        buffer = Buffer(name, space, dtype, ary.shape, strides, address, ary.itemsize, size)
        return self.recorder.add_buffer(buffer)

    def declared(self, space: str, shape: Any, dtype: np.dtype[Any], owner: dict[Any, Any]) -> RecordingArray:
        """Return the shared or local array of the declaration two frames up, fresh in each owner.

        A function that is called with another type or shape is another function on the GPU, with arrays of its own.
        """
        frame = _frame(2)
        lengths = shape if isinstance(shape, int) else tuple(shape)
        seen = (id(frame.f_code), frame.f_lasti, dtype, lengths)
        if seen not in owner:
            key = (space, frame.f_code, position(frame.f_code, frame.f_lasti), dtype, lengths)
            if key not in owner:
                owner[key] = self._declare(key, shape, dtype, frame)
            owner[seen] = owner[key]
        return owner[seen]  # type: ignore[no-any-return]  # a RecordingArray

    def _declare(self, key: Any, shape: Any, dtype: np.dtype[Any], frame: FrameType) -> RecordingArray:
        fresh = poisoned(shape, dtype)
        if key not in self._declared:
            name = assigned_name(frame.f_code, frame.f_lasti, f"{key[0]}_{len(self._declared)}")
            self._declared[key] = self._buffer(name, key[0], fresh, fresh.size)
        return recording(fresh, Allocation(fresh.reshape(-1), self._declared[key], self.scheduler))

    def dynamic(self, dtype: np.dtype[Any], block: Block) -> RecordingArray:
        """Return the block's dynamic shared memory as an array of this type."""
        if self._dynamic is None or "dynamic" not in block.shared:
            frame = _frame(2)
            block.shared["dynamic"] = np.full(self.launch.shared_bytes, 0xA5, np.uint8)
            if self._dynamic is None:
                name = assigned_name(frame.f_code, frame.f_lasti, "dynamic")
                self._dynamic = (name, self._addresses["shared"])
                self._addresses["shared"] += self.launch.shared_bytes
        key = ("dynamic", dtype.str)
        if key not in block.shared:
            count = self.launch.shared_bytes // dtype.itemsize
            fresh = np.ndarray(count, dtype, block.shared["dynamic"])
            if key not in self._declared:
                name, address = self._dynamic
                size = dtype.itemsize
                buffer = Buffer(name, "shared", dtype.str, (count,), (size,), address, size, count)
                self._declared[key] = self.recorder.add_buffer(buffer)
            block.shared[key] = recording(fresh, Allocation(fresh, self._declared[key], self.scheduler))
        return block.shared[key]  # type: ignore[no-any-return]  # a RecordingArray

    def execute(
        self, kernel: FunctionType, grid: Dim3, dim: Dim3, arguments: tuple[Any, ...], debug: bool
    ) -> None:
        """Run the chosen blocks; what went wrong ends up in `error` or `notice`.

        With `debug`, a division by zero raises, as @cuda.jit(debug=True) promises.
        """
        self.grid, self.dim, self.executed = grid, dim, True
        self.recorder.to_the_end = self.to_the_end
        self.scheduler.user_code = user_code_for(kernel.__code__.co_filename)
        # Where there are too many or too few arguments, the kernel says so itself.
        names = (*self.names, *(f"argument {n}" for n in range(len(self.names), len(arguments))))
        given = tuple(self.argument(v, n) for v, n in zip(arguments, names, strict=False))
        blocks = self.launch.blocks
        chosen = list(range(grid[0] * grid[1] * grid[2])) if blocks is None else list(blocks)
        collecting = gc.isenabled()
        gc.disable()  # the log holds many small tuples, none of them in a cycle
        try:
            zero: Any = "raise" if debug else "ignore"
            with np.errstate(divide=zero, over="ignore", under="ignore", invalid="ignore"), casting():
                self.scheduler.run(kernel, given, grid, dim, chosen, self.report)
        except Enough:
            raise
        except TooLarge:
            self.notice = (
                f"Stopped after {self.recorder.accesses:,} accesses: one block makes more than the "
                f"{self.recorder.limit:,} that may be held. Choose a smaller size."
            )
        except Stop as stop:
            self.error, self.raised = self._error(*stop.args), stop.args[1]
        finally:
            if collecting:
                gc.enable()

    def _error(self, thread: Thread, error: BaseException) -> KernelError:
        steps = traceback.extract_tb(error.__traceback__)
        own = [s for s in steps if self.scheduler.user_code.owns(s.filename)]
        own = own or [s for s in steps if not s.filename.startswith(_HERE)] or list(steps)
        block, where = tuple(thread.block.index), unravel(thread.number, self.dim)
        return KernelError(
            type(error).__name__, str(error), (block[0], block[1], block[2]), where, own[-1].filename,
            own[-1].lineno or 0,
        )  # fmt: skip


def rebuilt(value: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """Return a tuple of other parts, named where `value` is."""
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def _root(ary: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory that a view looks into, in memory order."""
    root = ary
    while isinstance(root.base, np.ndarray) and root.base.dtype.itemsize == ary.dtype.itemsize:
        root = root.base
    if not root.flags.forc:
        raise TypeError(f"an array whose memory has gaps, strides {root.strides} for shape {root.shape}")
    return root.view(ary.dtype) if root.dtype != ary.dtype else root


def poisoned(shape: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array as a kernel finds memory that nobody has written: poison, or in records bytes of 0xA5."""
    if dtype.names is None:
        return np.full(shape, poison(dtype), dtype)
    fresh = np.empty(shape, dtype)
    fresh.view(np.uint8).fill(0xA5)
    return fresh

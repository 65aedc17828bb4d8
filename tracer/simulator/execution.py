"""One launch under way in the simulator: the arrays that its kernel gets, and the run of its blocks."""

from __future__ import annotations

import gc
import hashlib
import operator
import sys
import traceback
from collections.abc import Callable, Iterable
from types import FrameType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Columns
from ..model.trace import STOPPED, Dim3, KernelError, Op, poisoned, unravel
from ..model.user_code import Code, user_code_for
from ..nvidia_math.precision import inexact, names_of
from ..recording.bytecode_positions import assigned_name, is_our_own, position
from ..recording.fixed_width_ints import integer_casts
from ..recording.partial_totals import totals_of_columns
from ..recording.recorder import Recorder, TooLarge
from ..recording.run_record import RunRecord, most_rows
from .allocation import Allocation
from .arithmetic.conversions import as_computed
from .cuda_threads import Block, Thread, ThreadRaised
from .recording_array import OutOfBounds, RecordingArray, alias, recording
from .scheduler import Scheduler

_frame = sys._getframe


class Enough(TooLarge):
    """Whoever watches a run has seen enough of it."""


Watch = Callable[[RunRecord], None]


class WatchedRecorder(Recorder):
    """A recorder that calls `watch` now and then, which may end the run."""

    def __init__(self, limit: int, count: Callable[[Columns], None], watch: Callable[[], None]) -> None:
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


class Execution:
    """One launch under way in the simulator, and what `cuda` needs to know of it.

    record: what it leaves. recorder: the record's own. scheduler: decides whose turn it is. module: what `cuda` is
    inside the kernel. `watch` is called with the record now and then, and may raise Enough.
    """

    def __init__(self, record: RunRecord, watch: Watch | None = None) -> None:
        launch = record.launch
        rows = min(launch.limits.accesses, most_rows(launch.limits.memory))
        self.record = record
        self.recorder = record.recorder = WatchedRecorder(rows, self._count, self._watch_now)
        self.scheduler = Scheduler(self.recorder, launch.schedule, launch.resident, self._digest)
        self.module: Any = None
        self._watch = watch
        self._allocations: dict[int, Allocation] = {}  # of the memory that the launch was given, by buffer
        self._declared: dict[Any, int] = {}

    def _watch_now(self) -> None:
        if self._watch:
            self._watch(self.record)
        self.scheduler.check_livelock()

    def _digest(self, live: list[Block]) -> bytes:
        """Return a digest of the launch's memory, with that of these blocks and their threads."""
        digest = hashlib.sha256()
        own = [
            array
            for b in live
            for part in (b.shared, *(t.locals for t in b.threads))
            for array in part.values()
        ]
        given = (memory.cells for memory in self.record.memories)
        for cells in (*given, *(getattr(array, "_ary", array) for array in own)):
            digest.update(np.ascontiguousarray(cells).reshape(-1).view(np.uint8).data)
        return digest.digest()

    def _count(self, columns: Columns) -> None:
        self.record.resident = self.scheduler.slots
        self.record.add_totals(totals_of_columns(self.record, columns))

    def argument(self, value: Any, name: str) -> Any:
        """Return what the kernel gets for an argument: arrays as recording ones, others as they are."""
        if isinstance(value, tuple):
            return rebuilt(value, (self.argument(v, f"{name}[{i}]") for i, v in enumerate(value)))
        return self.over(value, name, "global") if isinstance(value, np.ndarray) else value

    def over(self, ary: NDArray[Any], name: str, space: str) -> RecordingArray:
        """Return a recording array over memory that the host or the device owns."""
        memory = self.record.memory_of(ary, name, space)
        if memory.buffer not in self._allocations:
            self._allocations[memory.buffer] = Allocation(memory.cells, memory.buffer, self.scheduler)
        allocation = self._allocations[memory.buffer]
        # A part of a host's array is copied to an address of its own.
        allocation.is_aligned &= ary.__array_interface__["data"][0] == memory.start
        return (recording if memory.cells.dtype == ary.dtype else alias)(ary, allocation)

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
            self._declared[key] = self.record.add_array(name, key[0], fresh, fresh.size)
        return recording(fresh, Allocation(fresh.reshape(-1), self._declared[key], self.scheduler))

    def dynamic(self, dtype: np.dtype[Any], block: Block) -> RecordingArray:
        """Return the block's dynamic shared memory as an array of this type."""
        nbytes, key = self.record.launch.shared_bytes, ("dynamic", dtype.str)
        if "dynamic" not in block.shared:
            block.shared["dynamic"] = np.full(nbytes, 0xA5, np.uint8)
        if key not in block.shared:
            fresh = np.ndarray(nbytes // dtype.itemsize, dtype, block.shared["dynamic"])
            if key not in self._declared:
                frame = _frame(2)
                name = assigned_name(frame.f_code, frame.f_lasti, "dynamic")
                self._declared[key] = self.record.add_dynamic(name, dtype)
            block.shared[key] = recording(fresh, Allocation(fresh, self._declared[key], self.scheduler))
        return block.shared[key]  # type: ignore[no-any-return]  # a RecordingArray

    def load_outside(self, ary: NDArray[Any], name: str, index: Any, frame: FrameType) -> Any:
        """Record a load outside a global array, which is part of the kernel's code, and return poison."""
        key = ("global", name)
        if key not in self._declared:
            self._declared[key] = self.record.add_array(name, "constant", ary, ary.size)
        lengths, parts = ary.shape, np.atleast_1d(index).tolist()
        wrapped = [part + length if part < 0 else part for part, length in zip(parts, lengths, strict=True)]
        steps = [stride // ary.itemsize for stride in ary.strides]
        found = OutOfBounds(sum(map(operator.mul, wrapped, steps)), f"{name}[{', '.join(map(str, parts))}]")
        memory = Allocation(ary.reshape(-1), self._declared[key], self.scheduler)
        return recording(ary, memory).record_out_of_bounds(found, Op.LOAD, frame)

    def instruction_of(self, frame: FrameType) -> tuple[Code, int]:
        """Return the code that a frame runs, a library's with the user's that called it, and its instruction."""
        return self.scheduler.user_code.locate(frame)

    def arrive(self, frame: FrameType, reach: int, part: int = 0, *, warp: bool = False) -> None:
        """Record that the current thread is at a barrier, or (warp) a warp operation or fence; see `Barriers`."""
        self.recorder.arrive(
            self.scheduler.current.context, *self.instruction_of(frame), reach, part, warp=warp
        )

    def execute(
        self, kernel: FunctionType, grid: Dim3, dim: Dim3, arguments: tuple[Any, ...], debug: bool,
        typed: FunctionType | None = None, untyped: str = "",
    ) -> None:  # fmt: skip
        """Run the chosen blocks; what went wrong ends up in the record's `error` or `notice`.

        With `debug`, a division by zero raises, as @cuda.jit(debug=True) promises. `typed` is the kernel with Numba's
        arithmetic, which runs in its stead; `untyped`, why it has Python's.
        """
        record = self.record
        record.untyped, record.inexact = untyped, inexact(names_of(kernel))
        record.grid, record.dim = grid, dim
        self.recorder.to_the_end = record.to_the_end
        self.scheduler.user_code = user_code_for(kernel.__code__.co_filename)
        # Where there are too many or too few arguments, the kernel says so itself.
        names = (*record.names, *(f"argument {n}" for n in range(len(record.names), len(arguments))))
        given = tuple(self.argument(v, n) for v, n in zip(arguments, names, strict=False))
        given = tuple(map(as_computed, given)) if typed else given
        collecting = gc.isenabled()
        gc.disable()  # the log holds many small tuples, none of them in a cycle
        try:
            zero: Any = "raise" if debug else "ignore"
            with np.errstate(divide=zero, over="ignore", under="ignore", invalid="ignore"), integer_casts():
                self.scheduler.run(typed or kernel, given, grid, dim, record.chosen_blocks(), record.report)
        except Enough:
            raise
        except TooLarge:
            record.notice = (
                f"{STOPPED} {self.recorder.accesses:,} accesses: one block makes more than the "
                f"{self.recorder.limit:,} that may be held. Choose a smaller size."
            )
        except ThreadRaised as stop:
            record.error, record.raised = self._error(*stop.args), stop.args[1]
        finally:
            record.resident = self.scheduler.slots
            if collecting:
                gc.enable()

    def _error(self, thread: Thread, error: BaseException) -> KernelError:
        steps = traceback.extract_tb(error.__traceback__)
        own = [s for s in steps if self.scheduler.user_code.owns(s.filename)]
        own = own or [s for s in steps if not is_our_own(s.filename)] or list(steps)
        block, where = tuple(thread.block.index), unravel(thread.number, self.record.dim)
        message = str(error).replace(RecordingArray.__name__, "array")  # which stands in for the program's
        return KernelError(
            type(error).__name__, message, (block[0], block[1], block[2]), where, own[-1].filename,
            own[-1].lineno or 0,
        )  # fmt: skip


def rebuilt(value: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """Return a tuple of other parts, named where `value` is."""
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)

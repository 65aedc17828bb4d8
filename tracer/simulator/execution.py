"""One running launch in the simulator: the arrays of its kernel, and the run of its blocks."""

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
from ..recording.bytecode_positions import assigned_name, is_tracer_file, position
from ..recording.fixed_width_ints import integer_casts
from ..recording.partial_totals import totals_of_columns
from ..recording.recorder import Recorder, TooManyAccessesError
from ..recording.run_record import RunRecord, max_rows
from .allocation import Allocation
from .arithmetic.conversions import to_computable
from .cuda_threads import Block, Thread, ThreadRaisedError
from .recording_array import OutOfBounds, RecordingArray, alias, recording
from .scheduler import Scheduler

_frame = sys._getframe


class StopRecording(TooManyAccessesError):
    """A watch stops a run early."""


Watch = Callable[[RunRecord], None]


class WatchedRecorder(Recorder):
    """A recorder that calls `watch` periodically, which may end the run."""

    def __init__(self, limit: int, count: Callable[[Columns], None], watch: Callable[[], None]) -> None:
        super().__init__(limit, count)
        self._watch = watch

    def context(self, block: int, thread: int, phase: int) -> int:
        """Return a new context number for this thread in this phase."""
        self._watch()
        return super().context(block, thread, phase)

    def flush(self) -> None:
        """Convert the log to columns."""
        super().flush()
        self._watch()


class Execution:
    """One running launch in the simulator, with the state that `cuda` needs.

    record: the result. recorder: the record's recorder. scheduler: chooses the next thread. module: the `cuda` module
    inside the kernel. `watch` is called with the record periodically, and may raise Enough.
    """

    def __init__(self, record: RunRecord, watch: Watch | None = None) -> None:
        launch = record.launch
        rows = min(launch.limits.accesses, max_rows(launch.limits.memory))
        self.record = record
        self.recorder = record.recorder = WatchedRecorder(rows, self._count, self._watch_now)
        self.scheduler = Scheduler(
            self.recorder, launch.schedule, launch.resident, self._digest, record.start_order()
        )
        self.module: Any = None
        self._watch = watch
        self._allocations: dict[int, Allocation] = {}  # of the launch's memories, by buffer
        self._declared: dict[Any, int] = {}

    def _watch_now(self) -> None:
        if self._watch:
            self._watch(self.record)
        self.scheduler.check_livelock()

    def _digest(self, live: list[Block]) -> bytes:
        """Compute a digest of the launch's memory and the memory of these blocks and their threads."""
        digest = hashlib.sha256()
        block_arrays = [
            array
            for b in live
            for part in (b.shared, *(t.locals for t in b.threads))
            for array in part.values()
        ]
        memories = (memory.cells for memory in self.record.memories)
        for cells in (*memories, *(getattr(array, "_ary", array) for array in block_arrays)):
            digest.update(np.ascontiguousarray(cells).reshape(-1).view(np.uint8).data)
        return digest.digest()

    def _count(self, columns: Columns) -> None:
        self.record.resident = self.scheduler.slots
        self.record.add_totals(totals_of_columns(self.record, columns))

    def argument(self, value: Any, name: str) -> Any:
        """Convert an argument for the kernel: arrays to recording arrays, other values unchanged."""
        if isinstance(value, tuple):
            return rebuild_tuple(
                value, (self.argument(item, f"{name}[{index}]") for index, item in enumerate(value))
            )
        return self.over(value, name, "global") if isinstance(value, np.ndarray) else value

    def over(self, ary: NDArray[Any], name: str, space: str) -> RecordingArray:
        """Return a recording array over memory of the host or the device."""
        memory = self.record.memory_of(ary, name, space)
        if memory.buffer not in self._allocations:
            self._allocations[memory.buffer] = Allocation(memory.cells, memory.buffer, self.scheduler)
        allocation = self._allocations[memory.buffer]
        # A part of a host array is copied to a new address.
        allocation.is_aligned &= ary.__array_interface__["data"][0] == memory.start
        return (recording if memory.cells.dtype == ary.dtype else alias)(ary, allocation)

    def declared(self, space: str, shape: Any, dtype: np.dtype[Any], owner: dict[Any, Any]) -> RecordingArray:
        """Return the shared or local array of the declaration two frames up, a new one for each owner.

        On a GPU, a function that is called with another type or shape is another function, with separate arrays.
        """
        frame = _frame(2)
        lengths = shape if isinstance(shape, int) else tuple(shape)
        call_key = (id(frame.f_code), frame.f_lasti, dtype, lengths)
        if call_key not in owner:
            key = (space, frame.f_code, position(frame.f_code, frame.f_lasti), dtype, lengths)
            if key not in owner:
                owner[key] = self._declare(key, shape, dtype, frame)
            owner[call_key] = owner[key]
        return owner[call_key]  # type: ignore[no-any-return]  # a RecordingArray

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
        """Record a load outside a global array of the kernel's code, and return poison."""
        key = ("global", name)
        if key not in self._declared:
            self._declared[key] = self.record.add_array(name, "constant", ary, ary.size)
        lengths, parts = ary.shape, np.atleast_1d(index).tolist()
        wrapped = [part + length if part < 0 else part for part, length in zip(parts, lengths, strict=True)]
        steps = [stride // ary.itemsize for stride in ary.strides]
        access = OutOfBounds(sum(map(operator.mul, wrapped, steps)), f"{name}[{', '.join(map(str, parts))}]")
        memory = Allocation(ary.reshape(-1), self._declared[key], self.scheduler)
        return recording(ary, memory).record_out_of_bounds(access, Op.LOAD, frame)

    def instruction_of(self, frame: FrameType) -> tuple[Code, int]:
        """Return the code of a frame, with the user's caller for library code, and its instruction."""
        return self.scheduler.user_code.locate(frame)

    def arrive(self, frame: FrameType, reach: int, part: int = 0, *, warp: bool = False) -> None:
        """Record that the current thread is at a barrier, or with `warp` at a warp operation or fence."""
        self.recorder.arrive(
            self.scheduler.current.context, *self.instruction_of(frame), reach, part, warp=warp
        )

    def execute(
        self, kernel: FunctionType, grid: Dim3, dim: Dim3, arguments: tuple[Any, ...], debug: bool,
        typed: FunctionType | None = None, untyped: str = "",
    ) -> None:  # fmt: skip
        """Run the chosen blocks; problems are stored in the record's `error` or `notice`.

        With `debug`, a division by zero raises, as with @cuda.jit(debug=True). `typed` is the kernel with Numba's
        arithmetic, which runs instead; `untyped` is the reason for Python's arithmetic.
        """
        record = self.record
        record.untyped, record.inexact = untyped, inexact(names_of(kernel))
        record.grid, record.dim = grid, dim
        self.recorder.count_past_limit = record.count_past_limit
        self.scheduler.user_code = user_code_for(kernel.__code__.co_filename)
        # With a wrong number of arguments, the call of the kernel raises an error.
        names = (
            *record.names,
            *(f"argument {number}" for number in range(len(record.names), len(arguments))),
        )
        converted = tuple(self.argument(v, n) for v, n in zip(arguments, names, strict=False))
        converted = tuple(map(to_computable, converted)) if typed else converted
        was_collecting = gc.isenabled()
        gc.disable()  # the log holds many small objects without cycles
        try:
            on_zero_division: Any = "raise" if debug else "ignore"
            with (
                np.errstate(divide=on_zero_division, over="ignore", under="ignore", invalid="ignore"),
                integer_casts(),
                record.running(),
            ):
                self.scheduler.run(
                    typed or kernel, converted, grid, dim, record.chosen_blocks(), record.report
                )
        except StopRecording:
            raise
        except TooManyAccessesError:
            record.notice = (
                f"{STOPPED} {self.recorder.accesses:,} accesses: one block makes more than the "
                f"{self.recorder.limit:,} that may be kept. Choose a smaller size."
            )
        except ThreadRaisedError as raised:
            record.error, record.raised = self._error(*raised.args), raised.args[1]
        finally:
            record.resident = self.scheduler.slots
            if was_collecting:
                gc.enable()

    def _error(self, thread: Thread, error: BaseException) -> KernelError:
        frames = traceback.extract_tb(error.__traceback__)
        user_frames = [s for s in frames if self.scheduler.user_code.owns(s.filename)]
        user_frames = user_frames or [s for s in frames if not is_tracer_file(s.filename)] or list(frames)
        block, thread_index = tuple(thread.block.index), unravel(thread.number, self.record.dim)
        message = str(error).replace(RecordingArray.__name__, "array")  # it replaces the program's array
        return KernelError(
            type(error).__name__, message, (block[0], block[1], block[2]), thread_index, user_frames[-1].filename,
            user_frames[-1].lineno or 0,
        )  # fmt: skip


def rebuild_tuple(value: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """Build a tuple of other parts, a named tuple if `value` is one."""
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)

"""The `cuda` module inside a traced kernel, with our threads, barriers, memory, atomics and warp operations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import alignment_fault
from ..model.trace import BLOCK_SCOPE, FENCE, FENCE_BLOCK, GRID_SCOPE, WARP
from ..nvidia_math.native import native_function_named
from ..recording.bytecode_positions import assigned_name
from ..recording.fixed_width_ints import BitFunctions
from ..recording.fused import fma
from ..recording.warp_operations import ALL, Converge, warp_operations
from .arithmetic.conversions import kind_of
from .cuda_threads import Block, Index3
from .execution import Execution
from .host import kernel_names
from .recording_array import Atomic, RecordingArray

_frame = sys._getframe


class SimulatorInterface(Struct, frozen=True):
    """Functions of the simulator that are needed here: the current launch, dtypes, and unwrapping of arrays."""

    current: Callable[[], Execution]
    as_dtype: Callable[[Any], np.dtype[Any]]
    array_in: Callable[[Any], NDArray[Any] | None]


class _Shared:
    def __init__(self, execution: Execution, numba: SimulatorInterface) -> None:
        self._execution, self._numba = execution, numba

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> RecordingArray:
        _check_alignment(alignment)
        block, element_type = self._execution.scheduler.current.block, self._numba.as_dtype(dtype)
        if shape in (0, (0,)):
            return self._execution.dynamic(element_type, block)
        return self._execution.declared("shared", shape, element_type, block.shared)


class _Local:
    def __init__(self, execution: Execution, numba: SimulatorInterface) -> None:
        self._execution, self._numba = execution, numba

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> RecordingArray:
        _check_alignment(alignment)
        locals_ = self._execution.scheduler.current.locals
        return self._execution.declared("local", shape, self._numba.as_dtype(dtype), locals_)


class _Constant:
    def __init__(self, execution: Execution, numba: SimulatorInterface) -> None:
        self._execution, self._numba = execution, numba

    def array_like(self, ary: Any) -> RecordingArray:
        frame = _frame(1)
        name = assigned_name(frame.f_code, frame.f_lasti, "constant")
        host_array = self._numba.array_in(ary)
        if host_array is None:  # NumPy would read a global array's bytes and lose the fields of records
            host_array = ary.__array__() if hasattr(ary, "__array__") else np.asarray(ary)
        return self._execution.over(host_array, name, "constant")


class _GridGroup:
    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def sync(self) -> int:
        """Wait for every thread of the grid; return 0, as a GPU does on success."""
        _arrive(self._execution, None, _frame(1), GRID_SCOPE)
        return 0


class _Cooperative:
    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def this_grid(self) -> _GridGroup:
        return _GridGroup(self._execution)


def _check_alignment(alignment: int | None) -> None:
    """Raise ValueError for an alignment that Numba refuses; traces don't show the alignment."""
    fault = alignment_fault(alignment)
    if fault:
        raise ValueError(fault)


def _arrive(execution: Execution, vote: Any, frame: FrameType, reach: int = BLOCK_SCOPE) -> Block:
    execution.arrive(frame, reach)
    return execution.scheduler.barrier(vote, of_grid=reach == GRID_SCOPE)


def _make_converge(execution: Execution) -> Converge:
    def converge(
        mask: int, value: Any, *, orders: bool = False, source: int | None = None, part: int = 0
    ) -> dict[int, Any]:
        """Wait for the lanes of a mask; called by a warp operation in a kernel, possibly through `_from`."""
        frame = _frame(2 if source is None else 3)
        execution.arrive(frame, int(mask) & ALL if orders else 0, part, warp=True)
        return execution.scheduler.converge(int(mask), value, execution.instruction_of(frame), source)

    return converge


def module_class(base: type, numba: SimulatorInterface) -> type:
    """Return the class of `cuda` inside a kernel: Numba's class with our threads and memory."""

    class Module(BitFunctions, base):  # type: ignore[misc]  # known only at run time
        def __init__(self, grid_dim: Any, block_dim: Any, dynshared_size: int) -> None:
            super().__init__(grid_dim, block_dim, dynshared_size)
            self._fp16.hfloor = lambda x: np.floor(x, dtype=np.float16)  # Numba's version rounds up
            self._fp16.hfma = lambda a, b, c: fma("float16", a, b, c)  # Numba's version rounds twice
            self.serve(numba.current())

        def serve(self, execution: Execution) -> None:
            """Act as `cuda` for this execution from now on."""
            self._execution = execution
            self._scheduler = execution.scheduler
            self._shared, self._local, self._const = (
                _Shared(execution, numba),
                _Local(execution, numba),
                _Constant(execution, numba),
            )
            self._atomic, self._cg = Atomic(), _Cooperative(execution)
            execution.module = self
            for name, operation in warp_operations(_make_converge(execution), lambda: self.laneid).items():
                setattr(self, name, operation)

        def __getattr__(self, name: str) -> Any:
            return kernel_names.inside(name)

        @property
        def threadIdx(self) -> Index3:  # CUDA's name
            return self._scheduler.current.index  # type: ignore[no-any-return]

        @property
        def blockIdx(self) -> Index3:
            return self._scheduler.current.block.index  # type: ignore[no-any-return]

        def grid(self, n: int) -> Any:
            current, dim = self._scheduler.current, self.blockDim
            thread, block = current.index, current.block.index
            position = (block.x * dim.x + thread.x, block.y * dim.y + thread.y, block.z * dim.z + thread.z)
            if n not in (1, 2, 3):
                raise ValueError(f"cuda.grid takes 1, 2 or 3, not {n}")
            return position[0] if n == 1 else position[:n]

        def fma(self, a: Any, b: Any, c: Any) -> Any:
            is_single = all(kind_of(value) in ("float16", "float32") for value in (a, b, c))
            return fma("float32" if is_single else "float64", a, b, c)

        def cbrt(self, value: Any) -> Any:
            is_single = kind_of(value) in ("float16", "float32")
            compute = native_function_named("cbrtf" if is_single else "cbrt") or np.cbrt
            return (np.float32 if is_single else float)(compute(float(value)))

        @property
        def laneid(self) -> int:
            return self._scheduler.current.number % WARP  # type: ignore[no-any-return]

        def activemask(self) -> int:
            frame = _frame(1)
            self._execution.arrive(frame, 0, warp=True)
            return self._scheduler.active_mask(self._execution.instruction_of(frame))

        def nanosleep(self, ns: int) -> None:
            pass

        def threadfence(self) -> None:
            self._execution.arrive(_frame(1), FENCE, warp=True)

        def threadfence_system(self) -> None:
            self._execution.arrive(_frame(1), FENCE, warp=True)

        def threadfence_block(self) -> None:
            self._execution.arrive(_frame(1), FENCE_BLOCK, warp=True)

        def syncthreads(self) -> None:
            _arrive(self._execution, None, _frame(1))

        def syncthreads_count(self, value: Any) -> int:
            return _arrive(self._execution, value, _frame(1)).ballot[0]

        def syncthreads_and(self, value: Any) -> int:
            return _arrive(self._execution, value, _frame(1)).ballot[1]

        def syncthreads_or(self, value: Any) -> int:
            return _arrive(self._execution, value, _frame(1)).ballot[2]

    return Module

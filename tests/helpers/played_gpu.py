"""A GPU played by Numba's simulator, from a case to its timeline: run as a program.

Four multiprocessors whose clocks began at other times; each look at a clock takes 8 cycles of all of them. The file
of the timeline goes where the first argument says; the second is the case, the third how much longer kernels take with
marks of each detail, the fourth for how many marks of a warp there is room at first.
"""

from __future__ import annotations

import ctypes
import os
import sys
from types import ModuleType
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import msgspec
import numpy as np
from numba import cuda

CYCLES, RATE, BEGAN = 8, 2.0, (10**9, 5 * 10**12, (1 << 32) - 1000, 3)
EPOCH, STEP = 10**18, 32  # nanoseconds
now = [0]


def cycles(multiprocessor: int) -> int:
    now[0] += CYCLES
    return BEGAN[multiprocessor] + now[0]


def timer() -> int:
    now[0] += CYCLES
    return EPOCH + int(now[0] / RATE) // STEP * STEP


def cell(address: int, kind: Any) -> Any:
    return kind.from_address(address)


def place() -> tuple[int, int]:
    """Return the lane's number in the block, and the block's."""
    t, b, d, g = cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim
    return (t.z * d.y + t.y) * d.x + t.x, (b.z * g.y + b.y) * g.x + b.x


def begin(ends: int, warps: int, slot: int, detailed: int) -> int:
    lane, block = place()
    warp = block * warps + lane // 32
    if lane % 32 == 0:
        cell(ends + 16 * warp, ctypes.c_uint32).value = cycles(block % 4) % (1 << 32)
    return warp * slot if lane % 32 == 0 and block % 4 < detailed else -(1 << 31)


def mark(index: int, marks: int, limit: int, number: int) -> int:
    if 0 <= index < limit:
        cell(marks + 8 * index, ctypes.c_uint32).value = cycles(place()[1] % 4) % (1 << 32)
        cell(marks + 8 * index + 4, ctypes.c_uint32).value = number
    return index + 1


def end(ends: int, warps: int, moment: int) -> None:
    lane, block = place()
    warp = block * warps + lane // 32
    if lane % 32 == 0:
        cell(ends + 16 * warp + 8, ctypes.c_uint32).value = block % 4
        cell(ends + 16 * warp + 12, ctypes.c_int32).value = moment
    cell(ends + 16 * warp + 4, ctypes.c_uint32).value = cycles(block % 4) % (1 << 32)


def multiprocessor() -> int:
    return int(cuda.blockIdx.x % 4)


def clock() -> int:
    return cycles(multiprocessor())


class DeviceArray(np.ndarray):  # type: ignore[type-arg]
    """An array that lies where the kernels find it."""

    def copy_to_host(self) -> Any:
        return np.array(self)

    def copy_to_device(self, host: Any) -> None:
        self[...] = host

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.ctypes.data, False)}


def on_device(array: Any) -> Any:
    return np.ascontiguousarray(array).copy().view(DeviceArray)


class PlayedCuda:
    @staticmethod
    def device_array(shape: Any, dtype: Any) -> Any:
        """Return memory in which anything may stand."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return on_device(np.frombuffer(os.urandom(size), dtype).reshape(shape))


class PlayedDevice:
    MULTIPROCESSOR_COUNT = 4


class PlayedGpu:
    """What recording asks of a GPU."""

    cuda, device, stream = PlayedCuda, PlayedDevice, 0

    def __init__(self, longer: dict[str, float]) -> None:
        self.longer = longer

    def on_device(self, array: Any) -> Any:
        return on_device(array)

    def synchronize(self) -> None:
        pass

    def free_memory(self) -> int:
        return 1 << 28

    def empty_time(self) -> float:
        return 1.0

    def kernel_time(self, enqueue: Any, *, flush: bool, before: Any = None, after: Any = None) -> float:
        if before:
            before()
            enqueue()
            after()
        source = getattr(enqueue.__self__, "source", None)
        return 100.0 * (self.longer[source.detail] if source else 1.0)


def play() -> None:
    """Have the marks and clocks of this file stand for those of a GPU."""
    from tilescope.tracer.hardware import marks
    from tilescope.tracer.hardware.marks import marked_call, record
    from tilescope.tracer.hardware.marks.marked_kernel import function_of
    from tilescope.tracer.hardware.marks.marking import BEGIN, END, MARK
    from tilescope.tracer.hardware.timeline import KernelCost

    device: Any = {
        f.__name__: cuda.jit(device=True)(f) for f in (begin, mark, end, clock, timer, multiprocessor)
    }
    stand_in: Any = ModuleType("tilescope.tracer.hardware.marks.intrinsics")
    vars(stand_in).update(device)
    sys.modules[stand_in.__name__] = marks.intrinsics = stand_in  # type: ignore[attr-defined]
    names = {BEGIN: device["begin"], MARK: device["mark"], END: device["end"]}
    marked_call.marked_kernel = lambda source, kernel, room: cuda.jit(  # type: ignore[assignment]
        function_of(source, kernel.py_func, names, room)
    )
    marked_call._cost = lambda gpu, launch, kernel, times: KernelCost(30, 0, times, 8)
    record.shared_bytes_of = lambda launch, kernel: 0


def main(path: str, wanted: str, longer: str, slot: str) -> None:
    """Record a case as if on a GPU."""
    from pathlib import Path

    from measured import DEVICE
    from tilescope.tracer.hardware.marks import marked_call, record
    from tilescope.tracer.hardware.timeline_file import save
    from tilescope.tracer.hardware.times.cases import Case

    play()
    marked_call.SMALLEST_SLOT = int(slot)  # type: ignore[misc]
    case = msgspec.json.decode(wanted, type=Case)
    gpu: Any = PlayedGpu(msgspec.json.decode(longer))
    save(record.timeline_of(case, gpu, DEVICE, "abc"), Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A kernel on the GPU with and without marks: its costs, and one launch with its clocks."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...model.launch import Launch
from ..timeline import KernelCost
from ..times.gpu import Gpu
from ..times.measurement import MeasurementError, median
from ..times.timed_calls import NumbaCall
from .calibration import CalibrationError, Clocks, calibrate
from .decoding import NO_MARKS, WRITTEN_ROW, Warps, counts_of, with_complete_clocks
from .marked_kernel import Room, marked_kernel
from .marking import MarkedSource

SAMPLES: Final = 30  # kernel times with and without marks, alternately
STEPS: Final = 16  # steps of the timer at which a multiprocessor's clock is read
MULTIPROCESSORS: Final = 1024  # the limit of multiprocessors' numbers
SMALLEST_SLOT, LARGEST_SLOT = 64, 1 << 16  # marks per warp
LARGEST_BUFFER: Final = 16 << 30  # bytes for all marks
MARK_BYTES: Final = 8
LANES: Final = 32
LONGEST: Final = 1e6  # microseconds of a launch, so that the lower half of a clock overflows at most once


class TooManyMarksError(Exception):
    """A warp writes more marks than memory is available for."""


class Recorded(Struct, frozen=True, eq=False):
    """One launch with marks, read back."""

    warps: Warps
    clocks: Clocks
    microseconds: float  # between two events


class PlainCall(NumbaCall):
    """The kernel without marks."""

    @property
    def kernel(self) -> Any:
        """The launched kernel."""
        return self._kernel

    def restore(self) -> None:
        """Restore the initial contents of the arrays on the device."""
        for device, host in zip(self._device, self._host, strict=True):
            if isinstance(host, np.ndarray):
                device.copy_to_device(host)


class MarkedCall(PlainCall):
    """A kernel with marks, which can be launched repeatedly on the same arrays."""

    def __init__(
        self, gpu: Gpu, launch: Launch, names: tuple[str, ...], kernel: Any, source: MarkedSource
    ) -> None:
        super().__init__(gpu, launch, names)
        self.source, self._plain = source, kernel
        self.per_block = -(-math.prod(launch.block) // LANES)
        self.shape = (math.prod(launch.grid), self.per_block)
        self._ends = gpu.cuda.device_array((*self.shape, WRITTEN_ROW.itemsize), np.uint8)
        self.slot = SMALLEST_SLOT
        self._marks: Any = None

    def _allocate(self, detailed: int = MULTIPROCESSORS) -> None:
        """Allocate memory for the marks and compile the kernel for it; raises TooManyMarksError."""
        count = math.prod(self.shape) * self.slot
        room = min(LARGEST_BUFFER, self._gpu.free_memory() // 2)
        if self.slot > LARGEST_SLOT or count >= NO_MARKS or count * MARK_BYTES > room:
            raise TooManyMarksError
        self._marks = None
        self._marks = self._gpu.cuda.device_array(count, np.uint64)
        self._kernel = marked_kernel(
            self.source, self._plain, Room(self.per_block, self.slot, count, detailed)
        )
        self._configured = self._kernel[self._shape]

    def enqueue(self) -> None:
        """Launch the kernel on the stream."""
        self._configured(*self._device, _address(self._ends), _address(self._marks))

    def allocate_marks(self, most: int, few: int) -> None:
        """Allocate room for the marks of all warps, or only of a few multiprocessors if there are too many segments.

        most: the largest number of segments. few: the number of multiprocessors. Raises TooManyMarksError.
        """
        self._allocate()
        counts = self._counts()
        while counts.max() > self.slot:
            self.slot = 1 << int(counts.max() - 1).bit_length()
            self._allocate()
            counts = self._counts()
        if (counts + 1).sum() > most:
            self._allocate(few)
            if (self._counts() < 0).all():  # these multiprocessors run no block
                self._allocate()

    def _counts(self) -> NDArray[np.int64]:
        """Launch the kernel and count the marks of each warp, shape (blocks, warps of a block)."""
        self.enqueue()
        self._gpu.synchronize()
        return counts_of(self._rows(), self.slot)

    def _rows(self) -> NDArray[np.void]:
        """Return the rows that all warps wrote at their starts and ends."""
        rows: NDArray[np.void] = self._ends.copy_to_host().view(WRITTEN_ROW)[..., 0]
        return rows

    def record(self) -> Recorded:
        """Launch the kernel once between two readings of all clocks; raises MeasurementError."""
        gpu = self._gpu
        before, after = ClockReading(gpu), ClockReading(gpu)
        microseconds = gpu.kernel_time(self.enqueue, flush=False, before=before.enqueue, after=after.enqueue)
        gpu.synchronize()
        if microseconds > LONGEST:
            raise MeasurementError("The kernel runs too long for the clocks in marks; choose a smaller size.")
        try:
            clocks = calibrate(before.pairs(), after.pairs())
        except CalibrationError as error:
            raise MeasurementError(str(error)) from error
        return Recorded(with_complete_clocks(self._rows(), clocks), clocks, microseconds)

    def marks_of(self, warps: NDArray[np.int64], most: int) -> NDArray[np.uint32]:
        """Return the marks of some warps of the launch, shape (warps, most, 2): clock and number."""
        from .clock_kernels import gather

        gpu = self._gpu
        if not most:
            return np.zeros((len(warps), 0, 2), np.uint32)
        out = gpu.cuda.device_array((len(warps), most), np.uint64)
        gather[len(warps), 128, gpu.stream](self._marks, gpu.on_device(warps * self.slot), out)
        gpu.synchronize()
        marks: NDArray[np.uint32] = out.copy_to_host().view(np.uint32).reshape(len(warps), most, 2)
        return marks


class ClockReading:
    """Reads the clocks of all multiprocessors at some steps of the timer."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._pairs = gpu.on_device(np.zeros((MULTIPROCESSORS, STEPS, 2), np.uint64))
        self._taken = gpu.on_device(np.zeros(MULTIPROCESSORS, np.int32))
        self.enqueue()  # so that nothing is compiled while a stream is blocked
        gpu.synchronize()

    def enqueue(self) -> None:
        """Queue the reading, which replaces the previous one."""
        from ....kernels.timing import overwrite
        from .clock_kernels import read_clocks

        stream = self._gpu.stream
        overwrite[1, MULTIPROCESSORS, stream](self._taken)
        read_clocks[2 * int(self._gpu.device.MULTIPROCESSOR_COUNT), 1, stream](self._pairs, self._taken)

    def pairs(self) -> NDArray[np.uint64]:
        """Return the pairs, shape (multiprocessors, steps, 2): clock and timer, zeros for missing multiprocessors."""
        pairs: NDArray[np.uint64] = self._pairs.copy_to_host()
        return pairs


def costs_of(gpu: Gpu, launch: Launch, plain: PlainCall, marked: MarkedCall) -> tuple[KernelCost, KernelCost]:
    """Measure a kernel's costs without and with marks, alternately."""
    times: list[list[float]] = [[], []]
    for _ in range(SAMPLES):
        for call, taken in zip((plain, marked), times, strict=True):
            taken.append(gpu.kernel_time(call.enqueue, flush=False))
    costs = [
        _cost(gpu, launch, call.kernel, tuple(taken))
        for call, taken in zip((plain, marked), times, strict=True)
    ]
    return costs[0], costs[1]


def _cost(gpu: Gpu, launch: Launch, kernel: Any, times: tuple[float, ...]) -> KernelCost:
    compiled = next(iter(kernel.overloads.values()))
    threads = math.prod(launch.block)
    context = gpu.cuda.current_context()
    function = compiled._codelibrary.get_cufunc()
    at_once = context.get_active_blocks_per_multiprocessor(function, threads, launch.shared_bytes)
    return KernelCost(compiled.regs_per_thread, compiled.local_mem_per_thread, times, int(at_once))


def shared_bytes_of(launch: Launch, kernel: Any) -> int:
    """Return the static and dynamic shared memory of a block."""
    return int(next(iter(kernel.overloads.values())).shared_mem_per_block) + launch.shared_bytes


def slowdown(plain: KernelCost, marked: KernelCost) -> float:
    """Return the slowdown factor of the marks."""
    return median(marked.microseconds) / max(median(plain.microseconds), 1e-3)


def _address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])

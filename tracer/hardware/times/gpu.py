"""The GPU of a measuring process: opening, describing and timing it.

A launch from Python costs the host tens of microseconds, so two events around one short kernel would time the
host. A kernel that sleeps blocks the stream first, until everything to be timed is queued (after NVIDIA's nvbench,
https://github.com/NVIDIA/nvbench).
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measurement import ClockRates, Device, MeasurementError, Real, median

OLDEST = (7, 0)  # compute capability that nanosleep needs
HOLD, LONGEST_HOLD = 50, 20_000  # pauses of 10 µs
Enqueue = Callable[[], None]
_NOTHING: Enqueue = lambda: None  # noqa: E731


def open_gpu() -> Gpu:
    """Open the GPU; raises MeasurementError with the reason if there is none."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise MeasurementError("No GPU can be used: numba-cuda is missing; install tilescope[gpu].")
    from numba import cuda

    if not cuda.is_available():
        raise MeasurementError(f"No GPU can be used: {no_device_reason(cuda)}.")
    device = cuda.get_current_device()
    if tuple(device.compute_capability) < OLDEST:
        raise MeasurementError(f"{device.name} is {too_old_text(device.compute_capability)}.")
    try:
        return Gpu(cuda)
    except Exception as error:  # missing compilers and libraries raise many types
        raise MeasurementError(
            f"No kernel can be compiled ({first_line(error)}); install tilescope[gpu], for an older driver "
            "tilescope[gpu-cu12]."
        ) from error


def too_old_text(capability: Sequence[int]) -> str:
    """Explain why a device with a compute capability below OLDEST can't be used, as the end of a sentence."""
    own = ".".join(map(str, capability))
    return f"too old: its compute capability is {own}, measuring needs {'.'.join(map(str, OLDEST))}"


def no_device_reason(cuda: Any) -> str:
    """Explain why numba.cuda finds no device, as the end of a sentence."""
    text = str(cuda.cuda_error() or "")
    if "CUDASIM" in text or cuda.config.ENABLE_CUDASIM:
        return "Numba's simulator is on (NUMBA_ENABLE_CUDASIM)"
    if "library" in text:
        return "there is no NVIDIA driver; install one, or measure on another computer"
    return first_line(text) or "the driver finds no device"


def first_line(error: object) -> str:
    """Return the first non-empty line of an error, without a full stop, at most 200 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0].rstrip(".:")[:200] if lines else ""
    return f"{type(error).__name__}: {text}" if isinstance(error, Exception) else text


class Gpu:
    """The current device with its own stream. All times are in microseconds."""

    def __init__(self, cuda: Any) -> None:
        from ....kernels import timing

        self.cuda, self._kernels = cuda, timing
        self.device = cuda.get_current_device()
        self.stream = cuda.stream()
        self._start, self._stop = cuda.event(timing=True), cuda.event(timing=True)
        self._pauses = HOLD
        size = max(2 * int(self.device.L2_CACHE_SIZE), 1 << 25) // 4
        self._dirty, self._clean = (self.on_device(np.zeros(size, np.float32)) for _ in range(2))
        reals: tuple[Real, ...] = ("float32", "float64")
        self._sinks = {real: self.on_device(np.zeros(1, real)) for real in reals}
        self._wide = (int(self.device.MULTIPROCESSOR_COUNT) * 8, 256)
        self._compile()
        self.two_events = 0.0
        self.two_events = median_of(lambda: self.kernel_time(lambda: None, flush=False), 50)

    def _compile(self) -> None:
        """Run everything that a sample needs once, so that nothing is compiled while a stream is blocked."""
        self._kernels.hold[1, 1, self.stream](1)
        self._flush()
        self._nothing()
        self._multiply_add(1, "float32")
        self.synchronize()

    def on_device(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        return self.cuda.to_device(array)

    def synchronize(self) -> None:
        """Wait until the device has finished; raises its errors."""
        self.cuda.synchronize()

    def is_lost(self) -> bool:
        """Return True if an error has made the device unusable for this process."""
        try:
            self.synchronize()
        except Exception:  # noqa: BLE001  # any error means that the device does not respond
            return True
        return False

    def kernel_time(
        self, enqueue: Enqueue, *, flush: bool, before: Enqueue = _NOTHING, after: Enqueue = _NOTHING
    ) -> float:
        """Measure the time between two events around the work of `enqueue` on `stream`, minus the time of the events.

        With `flush`, the L2 cache holds clean lines of another array; otherwise the same work has just finished.
        `before` queues work just before the first event, `after` just after the second. Raises MeasurementError if
        the host can't queue the work in time.
        """
        while self._pauses <= LONGEST_HOLD:
            self._kernels.hold[1, 1, self.stream](self._pauses)
            (self._flush if flush else enqueue)()
            before()
            self._start.record(self.stream)
            enqueue()
            self._stop.record(self.stream)
            after()
            late = self._start.query()
            self._stop.synchronize()
            if not late:
                return max(1000 * float(self._start.elapsed_time(self._stop)) - self.two_events, 0.0)
            self._pauses *= 2
        self._pauses = HOLD
        raise MeasurementError("The host is too slow to keep the device busy; close other programs.")

    def _flush(self) -> None:
        """Write one array larger than the L2 cache, then read another, so that no dirty lines remain."""
        self._kernels.overwrite[(*self._wide, self.stream)](self._dirty)
        self._kernels.read_all[(*self._wide, self.stream)](self._clean, self._sinks["float32"])

    def _nothing(self) -> None:
        self._kernels.nothing[1, 1, self.stream]()

    def call_time(self, call: Callable[[], object], *, wait: bool) -> float:
        """Measure the host's time of a call; with `wait`, until the device has finished."""
        self.synchronize()
        start = time.perf_counter()
        call()
        if wait:
            self.synchronize()
        seconds = time.perf_counter() - start
        self.synchronize()
        return 1e6 * seconds

    def describe(self) -> Device:
        """Describe the device."""
        driver, clocks = self._driver_and_clocks()
        return Device(
            name=str(self.device.name),
            compute_capability=(
                int(self.device.compute_capability[0]),
                int(self.device.compute_capability[1]),
            ),
            multiprocessors=int(self.device.MULTIPROCESSOR_COUNT),
            memory_bytes=int(self.cuda.current_context().get_memory_info().total),
            l2_bytes=int(self.device.L2_CACHE_SIZE),
            driver=driver,
            cuda=self._cuda_version(),
            clocks=clocks,
        )

    def _cuda_version(self) -> tuple[int, int]:
        from numba.cuda.cudadrv.driver import driver

        major, minor = driver.get_version()
        return int(major), int(minor)

    def _driver_and_clocks(self) -> tuple[str, ClockRates | None]:
        """Return the driver's version and the clock rates, read while the device is busy for half a second."""
        self._multiply_add(1_500_000, "float32")
        names = ("driver_version", "clocks.sm", "clocks.mem")
        answer = nvidia_smi(str(self.device.uuid), *names) or nvidia_smi(str(self.device.id), *names)
        self.synchronize()
        if len(answer) != 3:
            return "", None
        numbers = [int(text) if text.isdigit() else 0 for text in answer[1:]]
        return answer[0], ClockRates(*numbers) if all(numbers) else None

    def arithmetic(self, rounds: int, real: Real) -> float:
        """Run multiply-adds on all multiprocessors, and return their GFLOP/s."""
        blocks, threads = self._wide
        self._multiply_add(1, real)
        self.synchronize()  # the first run may compile
        time = self.kernel_time(lambda: self._multiply_add(rounds, real), flush=False)
        return blocks * threads * 64 * rounds / time / 1000

    def _multiply_add(self, rounds: int, real: Real) -> None:
        half = np.dtype(real).type(0.5)
        self._kernels.multiply_add[(*self._wide, self.stream)](self._sinks[real], half, rounds)

    def free_memory(self) -> int:
        """Return the free bytes of the device's memory."""
        return int(self.cuda.current_context().get_memory_info().free)

    def empty_time(self) -> float:
        """Measure the time of an empty kernel."""
        return median_of(lambda: self.kernel_time(self._nothing, flush=False))

    def copy_rate(self) -> float:
        """Measure the GB/s that a copy within the device's memory reads and writes together."""
        size = min(1 << 29, self.free_memory() // 8)
        source, target = (self.cuda.device_array(size, np.uint8) for _ in range(2))

        def copy() -> None:
            target.copy_to_device(source, stream=self.stream)

        return median_of(lambda: 2 * size / self.kernel_time(copy, flush=False) / 1000)


def median_of(sampler: Callable[[], float], times: int = 10) -> float:
    """Return the median of several samples."""
    return median(tuple(sampler() for _ in range(times)))


def nvidia_smi(device: str, *names: str) -> Sequence[str]:
    """Query properties of a device with the driver's tool; return nothing if the tool is missing."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    command = [tool, f"--id={device}", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return [text.strip() for text in output.strip().split(",")]

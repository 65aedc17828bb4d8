"""The calls that are timed: a case's kernel or program with its arguments, and the samplers of its times."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ....kernels.scenarios import catalogue
from ...model.launch import Array, Launch
from ...recording.kernel_loader import create_array, load_kernel, set_constants
from .cases import Case, launch_of_case
from .ceilings import Cublas, CublasError
from .cuda_c import CudaCKernel
from .gpu import Gpu
from .measurement import MeasurementError, TimingKind
from .sampling import Sampler

REPEATS = 1000  # launches of a wrong kernel with a single number as result


class TimedCall(Protocol):
    """The kernel or program of a case, ready to run. Times are in microseconds."""

    @property
    def compiles(self) -> bool:
        """The first call compiles it."""

    def first_call(self) -> float:
        """Compile and run it as if for the first time; return the time."""

    def results(self) -> dict[str, NDArray[Any]]:
        """Run it on fresh arrays, and return their contents by name."""

    def samplers(self) -> dict[TimingKind, Sampler]:
        """Return a sampler for each kind of time."""

    def outcomes(self) -> tuple[float, ...]:
        """Return the results of many runs if each is one number; else nothing."""


def timed_call_of(case: Case, gpu: Gpu | None) -> TimedCall:
    """Create the call of a case; raises LoadError, and errors of the device."""
    scenario, launch = catalogue.find(case.scenario), launch_of_case(case)
    names = tuple(a.name for a in scenario.plan(case.values).arguments)
    baseline = next((b for b in scenario.baselines if b.name == case.baseline), None)
    if baseline and baseline.on_device:
        assert gpu is not None, "a library's product needs a device"
        return CublasCall(gpu, launch, names, lambda: CublasProduct(gpu, launch))
    if baseline:
        return CpuCall(baseline.function, launch, names)
    if scenario.engine == "python":
        return CpuCall(scenario.kernel, launch, names)
    assert gpu is not None, "a kernel needs a device"
    if scenario.cuda_c:
        kernel = scenario.cuda_c
        return CudaCCall(
            gpu, launch, names, lambda: CudaCKernel(kernel, case.values, launch, int(gpu.stream))
        )
    return NumbaCall(gpu, launch, names)


class CpuCall:
    """A program on the CPU."""

    def __init__(self, function: str, launch: Launch, names: tuple[str, ...]) -> None:
        module, _, name = function.rpartition(":")
        self._run = getattr(importlib.import_module(module), name)
        self._launch, self._names = launch, names
        self._arguments = _host_arguments(launch)
        self.compiles = hasattr(self._run, "py_func")

    def first_call(self) -> float:
        """Compile it with Numba, and run it; return the time."""
        import numba

        run, arguments = numba.njit(self._run.py_func), _host_arguments(self._launch)
        return _host_time(lambda: run(*arguments))

    def results(self) -> dict[str, NDArray[Any]]:
        """Run it once."""
        self._run(*self._arguments)
        return _named_arrays(self._names, self._arguments)

    def samplers(self) -> dict[TimingKind, Sampler]:
        """Return the sampler of its only kind of time."""
        return {"cpu": lambda: _host_time(lambda: self._run(*self._arguments))}

    def outcomes(self) -> tuple[float, ...]:
        """Return nothing: the program is deterministic."""
        return ()


class DeviceCall:
    """A kernel on the device, with its arrays there and on the host."""

    compiles = True

    def __init__(self, gpu: Gpu, launch: Launch, names: tuple[str, ...]) -> None:
        self._gpu, self._launch, self._names = gpu, launch, names
        self._host = _host_arguments(launch)
        self._device = [gpu.on_device(a) if isinstance(a, np.ndarray) else a for a in self._host]

    def enqueue(self) -> None:
        """Launch the kernel on the stream with the least host time."""
        raise NotImplementedError

    def launch(self) -> None:
        """Launch the kernel like a program."""
        self.enqueue()

    def with_copies(self) -> None:
        """Copy the arrays to the device, launch, and copy them back."""
        raise NotImplementedError

    def results(self) -> dict[str, NDArray[Any]]:
        """Run it once."""
        self.enqueue()
        self._gpu.synchronize()
        back = [a.copy_to_host() if hasattr(a, "copy_to_host") else a for a in self._device]
        return _named_arrays(self._names, back)

    def samplers(self) -> dict[TimingKind, Sampler]:
        """Return the samplers of a kernel's times."""
        gpu = self._gpu
        return {
            "kernel-cold": lambda: gpu.kernel_time(self.enqueue, flush=True),
            "kernel-warm": lambda: gpu.kernel_time(self.enqueue, flush=False),
            "call": lambda: gpu.call_time(self.launch, wait=True),
            "launch": lambda: gpu.call_time(self.launch, wait=False),
            "with-copies": lambda: gpu.call_time(self.with_copies, wait=True),
        }

    def outcomes(self) -> tuple[float, ...]:
        """Launch a kernel with one array of one element repeatedly, each time on fresh data."""
        arrays = [(d, h) for d, h in zip(self._device, self._host, strict=True) if isinstance(h, np.ndarray)]
        if len(arrays) != 1 or arrays[0][1].size != 1:
            return ()
        (device, host), results = arrays[0], []
        for _ in range(REPEATS):
            device.copy_to_device(host)
            self._gpu.synchronize()
            self.enqueue()
            self._gpu.synchronize()
            results.append(float(device.copy_to_host()[0]))
        return tuple(results)


class NumbaCall(DeviceCall):
    """A kernel compiled by Numba."""

    def __init__(self, gpu: Gpu, launch: Launch, names: tuple[str, ...]) -> None:
        super().__init__(gpu, launch, names)
        self._kernel = _numba_kernel(launch)
        self._shape = (launch.grid, launch.block, gpu.stream, launch.shared_bytes)
        self._configured = self._kernel[self._shape]

    def first_call(self) -> float:
        """Load the kernel's file again, compile, run, and wait; return the time."""
        kernel = _numba_kernel(self._launch)
        return self._gpu.call_time(lambda: kernel[self._shape](*self._device), wait=True)

    def enqueue(self) -> None:
        """Launch the kernel on the stream."""
        self._configured(*self._device)

    def launch(self) -> None:
        """Launch the kernel with grid and block, like a program."""
        self._kernel[self._shape](*self._device)

    def with_copies(self) -> None:
        """Launch the kernel on host arrays, which Numba copies to the device and back."""
        launch = self._launch
        self._kernel[launch.grid, launch.block, 0, launch.shared_bytes](*self._host)


class PointerKernel(Protocol):
    """A kernel that is launched with the addresses of its arrays."""

    def enqueue(self, pointers: Sequence[int]) -> None:
        """Queue it on the stream."""


class CudaCCall(DeviceCall):
    """A kernel compiled by NVRTC."""

    def __init__(
        self, gpu: Gpu, launch: Launch, names: tuple[str, ...], compiled: Callable[[], PointerKernel]
    ) -> None:
        super().__init__(gpu, launch, names)
        self._compiled = compiled
        self._kernel = compiled()
        self._pointers = [_address(a) for a in self._device if hasattr(a, "copy_to_host")]

    def first_call(self) -> float:
        """Compile, load, run, and wait; return the time."""
        return self._gpu.call_time(lambda: self._compiled().enqueue(self._pointers), wait=True)

    def enqueue(self) -> None:
        """Launch the kernel on the stream."""
        self._kernel.enqueue(self._pointers)

    def with_copies(self) -> None:
        """Copy the arrays to the device, launch, and copy them back, as Numba does automatically."""
        stream = self._gpu.stream
        arrays = [a for a in self._host if isinstance(a, np.ndarray)]
        copies = [self._gpu.on_device(a) for a in arrays]
        self._kernel.enqueue([_address(copy) for copy in copies])
        for copy, array in zip(copies, arrays, strict=True):
            copy.copy_to_host(array, stream=stream)


class CublasCall(CudaCCall):
    """NVIDIA's library on the arrays of a kernel; it compiles nothing."""

    compiles = False


class CublasProduct:
    """C = A B of a launch's first three arrays, float32, row-major; raises MeasurementError without cuBLAS."""

    def __init__(self, gpu: Gpu, launch: Launch) -> None:
        a, b = (array.shape for array in launch.arguments[:2] if isinstance(array, Array))
        self._sizes = a[0], a[1], b[1]
        try:
            self._cublas = _opened(gpu)
        except CublasError as error:
            raise MeasurementError(f"cuBLAS can't be used here ({error}); install nvidia-cublas.") from error

    def enqueue(self, pointers: Sequence[int]) -> None:
        """Queue the product, without TF32."""
        self._cublas.multiply("float32", self._sizes, pointers)


@cache
def _opened(gpu: Gpu) -> Cublas:
    """Open cuBLAS on a GPU's stream, once per process."""
    return Cublas(gpu)


def _address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


def _numba_kernel(launch: Launch) -> Any:
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    return kernel


def _host_arguments(launch: Launch) -> list[Any]:
    return [create_array(a) if isinstance(a, Array) else a.value for a in launch.arguments]


def _named_arrays(names: tuple[str, ...], arguments: list[Any]) -> dict[str, NDArray[Any]]:
    pairs = zip(names, arguments, strict=True)
    return {name: value for name, value in pairs if isinstance(value, np.ndarray)}


def _host_time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return 1e6 * (time.perf_counter() - start)

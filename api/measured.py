"""Measure a launch of a notebook's cell on the notebook's GPU, to show its time next to its trace."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..tracer.calls.configured_kernel import ConfiguredKernel, read_configured_kernel
from ..tracer.hardware.times.gpu import first_line, median_of, open_gpu

LARGEST = 1 << 28  # bytes of the arguments that are copied, of all launches of a cell
SAMPLES = 20


class LaunchCopies:
    """The launches of a cell with copies of their arguments, since tracing a launch changes them."""

    def __init__(self) -> None:
        self._launches: list[tuple[ConfiguredKernel, list[Any], tuple[Any, ...]] | None] = []
        self._room = LARGEST if _has_gpu() else 0

    def add(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """Copy the arguments of a launch before it is traced, as far as there is room."""
        size = sum(int(getattr(value, "nbytes", 0)) for value in arguments)
        if size > self._room or not self._room:
            self._launches.append(None)
            return
        self._room -= size
        self._launches.append((read_configured_kernel(kernel), list(map(_on_host, arguments)), arguments))

    def measure(self, index: int) -> str:
        """Run a launch on the GPU, and describe its time; "" without a GPU or a copy."""
        copied = self._launches[index] if index < len(self._launches) else None
        if copied is None:
            return ""
        try:
            return _measured(*copied, is_last=index == len(self._launches) - 1)
        except Exception as error:  # noqa: BLE001  # drivers and compilers raise many types
            return f"not measured ({first_line(error)})"


def _has_gpu() -> bool:
    cuda = sys.modules.get("numba.cuda")
    return cuda is not None and not cuda.config.ENABLE_CUDASIM and bool(cuda.is_available())


def _on_host(value: Any) -> Any:
    if hasattr(value, "copy_to_host"):
        return value.copy_to_host()
    return value.copy() if isinstance(value, np.ndarray) else value


def _measured(
    configured: ConfiguredKernel, copies: list[Any], arguments: tuple[Any, ...], *, is_last: bool
) -> str:
    gpu = open_gpu()
    on_gpu = [gpu.on_device(value) if isinstance(value, np.ndarray) else value for value in copies]
    launch = configured.kernel[configured.grid, configured.block, gpu.stream, configured.shared_bytes]
    launch(*on_gpu)
    gpu.synchronize()
    results = ""
    if is_last:  # the arguments still have the results of the trace
        pairs = [(_on_host(a), _on_host(b)) for a, b in zip(on_gpu, arguments, strict=True)]
        is_equal = all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)
        results = ", with the traced results" if is_equal else ", with results other than the traced ones"
    time = median_of(lambda: gpu.kernel_time(lambda: launch(*on_gpu), flush=False), SAMPLES)
    name = gpu.device.name
    device = name.decode() if isinstance(name, bytes) else str(name)
    return f"measured {time:.3g} µs on {device}{results}"

"""CUDA C kernels: their source, and compilation with NVRTC through cuda-core on first use."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from .... import ROOT
from ....kernels.scenarios.catalogue import CudaC, Values
from ...model.launch import Launch

FOLDER = ROOT / "kernels" / "cuda_c"


def source_of(kernel: CudaC) -> tuple[Path, str]:
    """Return the path and the text of a CUDA C kernel's file."""
    path = FOLDER / kernel.file
    return path, path.read_text(encoding="utf-8")


def function_of(kernel: CudaC, values: Values) -> str:
    """Return the name of the function with its template parameters."""
    return kernel.function.format(**values)


class CudaCKernel:
    """A CUDA C kernel, compiled for the current device, for launches on one stream."""

    def __init__(self, kernel: CudaC, values: Values, launch: Launch, stream: int) -> None:
        import cuda.core as core  # numba-cuda launches through it too

        function = function_of(kernel, values)
        options = core.ProgramOptions(std="c++17", define_macro=[("TILE", str(values.get("tile", "")))])
        program = core.Program(source_of(kernel)[1], "c++", options)
        names = (function,) if "<" in function else ()
        code = program.compile("cubin", name_expressions=names)
        shared = launch.shared_bytes if kernel.dynamic else 0
        config = core.LaunchConfig(grid=launch.grid, block=launch.block, shmem_size=shared)
        self._numbers = [ctypes.c_int(int(values[name])) for name in kernel.numbers]
        self._code = code  # keeps the kernel's module loaded
        self.kernel = code.get_kernel(function)  # of cuda-core
        self._launch = partial(core.launch, core.Stream.from_handle(stream), config, self.kernel)

    def enqueue(self, pointers: Sequence[int]) -> None:
        """Launch the kernel with the addresses of the arrays."""
        self._launch(*pointers, *self._numbers)

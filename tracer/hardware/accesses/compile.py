"""Compilation of a marked kernel for a GPU, with Numba."""

from __future__ import annotations

import ast
from typing import Any

from numba import cuda
from numba.cuda.np import numpy_support

from .device import NAMES
from .marked_kernel import ENTRY, MarkedKernel


def compiled(kernel: MarkedKernel, file: str, **options: Any) -> Any:
    """Compile the launched function; options: of @cuda.jit. file: the file name of its lines."""
    return cuda.jit(**options)(functions_of(kernel, file, **options)[ENTRY])


def functions_of(kernel: MarkedKernel, file: str, **options: Any) -> dict[str, Any]:
    """Define the kernel's functions for `cuda.jit`, by name; ENTRY is the launched one."""
    names = {**NAMES, **kernel.values}
    for number, array in enumerate(kernel.program.declared):
        names[f"_ts_dtype_{number}"] = numpy_support.from_dtype(array.dtype)
        names[f"_ts_content_{number}"] = array.content
    for function in kernel.functions:
        exec(compile(ast.Module([function], []), file, "exec"), names)  # the user's own kernel
        if function.name != ENTRY:
            names[function.name] = cuda.jit(device=True, **options)(names[function.name])
    return names

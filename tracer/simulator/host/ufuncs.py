"""@vectorize and @guvectorize for CUDA: Numba's implementation, with readable kernel sources and result types."""

from __future__ import annotations

import linecache
import re
from itertools import count
from pathlib import Path
from typing import Any

_numbers = count()


def complete(vectorizers: Any, deviceufunc: Any) -> None:
    """Adapt Numba's CUDA ufuncs to our kernels."""
    folder = Path(vectorizers.__file__).parent
    deviceufunc.exec = lambda source, names: _execute(source, names, folder)
    vectorizers.CUDAVectorize._compile_core = _compile_core


def _execute(source: str, names: dict[str, Any], folder: Path) -> None:
    """Run the source of a kernel that calls a ufunc's function, under a file name that tracebacks can show."""
    match = re.search(r"def __(?:vectorized|gufunc)_(\w+)", source)
    file = str(folder / f"<ufunc {match[1] if match else ''} {next(_numbers)}>")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)  # Numba's own template


def _compile_core(self: Any, sig: Any) -> tuple[Any, Any]:
    """Return (the device function of a ufunc, the type of its results)."""
    from numba import cuda

    core = cuda.jit(sig, device=True, inline="always")(self.pyfunc)
    return core, sig.return_type or _infer_result_type(self.pyfunc, sig.args)


def _infer_result_type(function: Any, types: Any) -> Any:
    """Infer the result type of a function for these argument types with Numba."""
    from numba import njit

    compiled = njit(function)
    compiled.compile(tuple(types))
    return compiled.overloads[tuple(types)].signature.return_type

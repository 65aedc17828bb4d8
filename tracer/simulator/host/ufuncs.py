"""@vectorize and @guvectorize for CUDA: Numba's own, whose kernels get sources that can be read, and result types."""

from __future__ import annotations

import linecache
import re
from itertools import count
from pathlib import Path
from typing import Any

_numbers = count()


def complete(vectorizers: Any, deviceufunc: Any) -> None:
    """Make Numba's module of ufuncs for CUDA work with kernels of ours."""
    folder = Path(vectorizers.__file__).parent
    deviceufunc.exec = lambda source, names: _execute(source, names, folder)
    vectorizers.CUDAVectorize._compile_core = _compile_core


def _execute(source: str, names: dict[str, Any], folder: Path) -> None:
    """Run the text of a kernel that calls a ufunc's function, as a file of Numba's that tracebacks can show."""
    found = re.search(r"def __(?:vectorized|gufunc)_(\w+)", source)
    file = str(folder / f"<ufunc {found[1] if found else ''} {next(_numbers)}>")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)  # Numba's own template


def _compile_core(self: Any, sig: Any) -> tuple[Any, Any]:
    """Return (the function of a ufunc as a device function, the type of its results)."""
    from numba import cuda

    core = cuda.jit(sig, device=True, inline="always")(self.pyfunc)
    return core, sig.return_type or _inferred(self.pyfunc, sig.args)


def _inferred(function: Any, types: Any) -> Any:
    """Return the type of a function's result for arguments of these types, as Numba infers it."""
    from numba import njit

    compiled = njit(function)
    compiled.compile(tuple(types))
    return compiled.overloads[tuple(types)].signature.return_type

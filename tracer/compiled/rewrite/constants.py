"""Values that are constant during a launch, as expressions of compiled code."""

from __future__ import annotations

import ast
import hashlib
import math
from enum import Enum
from types import BuiltinFunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..state import CODES
from .program import RecordingProgram

LARGEST = 1 << 20  # bytes of a global array that is written into the code
_FUNCTIONS = (abs, bool, complex, divmod, enumerate, float, int, len, max, min, pow, range, round, tuple, zip)


def constant(program: RecordingProgram, value: Any, stem: str) -> ast.expr | None:
    """Return an expression for a value, or None if compiled code can't use the value."""
    if type(value) in (int, bool, complex, str, type(None)) or (
        type(value) is float and math.isfinite(value)
    ):
        return ast.Constant(value)
    if isinstance(value, tuple):
        parts = [constant(program, v, stem) for v in value]
        return None if None in parts else ast.Tuple([p for p in parts if p], ast.Load())
    if isinstance(value, Enum):
        literal = ast.Constant(int(value)) if isinstance(value, int) else None
        return literal or _name_value(
            program, value, stem, f"{value!r} {type(value).__module__}.{type(value).__qualname__}"
        )
    if isinstance(value, float | np.generic):
        return _name_value(program, value, stem, f"{type(value).__name__}({value})")
    if isinstance(value, np.ndarray):
        fits = value.dtype in CODES and value.flags.c_contiguous and value.nbytes <= LARGEST
        return _name_value(program, value, stem, _describe_array(value)) if fits else None
    if any(value is f for f in _FUNCTIONS):
        return ast.Name(value.__name__, ast.Load())
    if is_type(value):
        return _name_value(program, numba_type(value), stem, str(value))
    value = np.fmod if value is math.fmod else value  # numba supports only this one
    if _is_library_function(value) or (isinstance(value, type) and issubclass(value, BaseException)):
        return _name_value(program, value, stem, f"{value.__module__}.{value.__name__}")
    return None


def _describe_array(array: NDArray[Any]) -> str:
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


def _name_value(program: RecordingProgram, value: Any, stem: str, fact: str) -> ast.expr:
    return ast.Name(program.name(value, stem, fact), ast.Load())


def is_type(value: Any) -> bool:
    """Check if a value is a type of numba or of numba-cuda."""
    return type(value).__module__.startswith("numba") and hasattr(value, "cast_python_value")


def numba_type(value: Any) -> Any:
    """Return numba's type for a type that may be numba-cuda's."""
    from numba import types

    return getattr(types, str(value), value)


def _is_library_function(value: Any) -> bool:
    """Check if a value is a function or type of math, operator or NumPy."""
    module = getattr(value, "__module__", None) or ""
    is_library_module = (
        module in ("math", "cmath", "operator", "_operator") or module.split(".")[0] == "numpy"
    )
    kinds = BuiltinFunctionType | np.ufunc | type
    return is_library_module and (isinstance(value, kinds) or callable(value)) and hasattr(value, "__name__")

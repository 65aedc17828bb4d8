"""Which results may differ from a GPU's in their last bits, by the functions that a kernel calls."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from inspect import getclosurevars
from types import FunctionType

from .bitcode import available

# Computed exactly by any library.
_EXACT = {
    "ceil", "copysign", "fabs", "floor", "fmod", "frexp", "isfinite", "isinf", "isnan", "ldexp", "modf", "remainder",
    "sqrt", "trunc", "nextafter",
}  # fmt: skip
_IN_TEXT = re.compile(r"_ts_(?:math|np|cuda|libdevice)_(\w+)")


def names_in(text: str) -> set[str]:
    """Return the functions that a compiled kernel's text calls."""
    return set(_IN_TEXT.findall(text)) | ({"pow"} if "_ts_power" in text else set())


def names_of(function: FunctionType) -> set[str]:
    """Return the names that a kernel and its device functions use, those of the functions that they call among them."""
    all_names: set[str] = set()
    seen: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        callee = waiting.pop()
        if callee in seen:
            continue
        seen.add(callee)
        names = {*callee.__code__.co_names, *callee.__code__.co_freevars}
        all_names |= names
        outside = callee.__globals__ | dict(getclosurevars(callee).nonlocals)
        values = (outside.get(name) for name in names)
        called = (getattr(value, "py_func", getattr(value, "fn", None)) for value in values)
        waiting += [value for value in called if isinstance(value, FunctionType)]
    return all_names


def inexact(names: Iterable[str]) -> str:
    """List the functions that are only close to those of a GPU, as part of a sentence; "" if there are none."""
    near = sorted(name for name in names if _is_near(name))
    if not near:
        return ""
    return f"last bits may differ from a GPU's after {', '.join(near)} without libdevice"


def _is_near(name: str) -> bool:
    """Test if this computer's library computes a function that libdevice computes on a GPU."""
    is_function = callable(getattr(math, name, None)) or name == "cbrt"
    return not available() and is_function and name not in _EXACT

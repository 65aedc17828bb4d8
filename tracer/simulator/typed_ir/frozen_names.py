"""The values of a function's global names and closures, frozen when it is compiled, as on a GPU.

Numba compiles numbers, tuples and the content of arrays into the code, once for each list of argument types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.conversions import to_computable

LIBRARIES = ("numba", "numpy", "math", "cmath", "operator")  # modules whose constants never change


class GlobalArray:
    """A global array inside a kernel, with its content when the kernel was compiled."""

    # Returns the value of a load outside the array; takes the array, the index, and the frame of the load.
    load_outside: ClassVar[Callable[[GlobalArray, Any, FrameType], Any] | None] = None

    def __init__(self, ary: NDArray[Any], name: str = "a global array") -> None:
        self._ary, self._name = ary, name

    def __getitem__(self, index: Any) -> Any:
        try:
            element = self._ary[index]
        except IndexError:
            load_outside: Any = GlobalArray.load_outside  # not a method: the array is an explicit argument
            if load_outside is None or np.size(index) != self._ary.ndim:
                raise
            return to_computable(load_outside(self, index, sys._getframe(1)))
        return GlobalArray(element, self._name) if isinstance(element, np.ndarray) else to_computable(element)

    def __len__(self) -> int:
        return len(self._ary)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self._ary)))

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        return np.asarray(self._ary, *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ary, name)


def names_of(code: CodeType) -> set[str]:
    """Collect the names that a function, or one nested in it, may look up outside."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*map(names_of, inner))


def current_values(function: FunctionType) -> dict[str, Any]:
    """Return the current values of the names that a function looks up outside, without builtins."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    values = {}
    for name in names_of(function.__code__):
        if name in cells:
            try:
                values[name] = cells[name].cell_contents
            except ValueError:  # not assigned yet
                continue
        elif name in function.__globals__:
            values[name] = function.__globals__[name]
    return values


def freeze(value: Any) -> Any:
    """Return a value that later changes don't affect: arrays and modules are copied."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        copy = value.copy()
        copy.flags.writeable = False
        return copy
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in LIBRARIES:
        module = ModuleType(value.__name__)
        module.__dict__.update(value.__dict__)
        return module
    return value


def as_seen_by_kernel(value: Any, name: str = "a global array") -> Any:
    """Convert a frozen value for a kernel; name: the name of an array in messages."""
    return GlobalArray(value, name) if isinstance(value, np.ndarray) else to_computable(value)

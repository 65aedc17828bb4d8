"""What the global names and closures of a function mean: frozen when it is compiled, as on a GPU.

Numba takes numbers, tuples and the content of arrays into the code that it compiles, once for each types of arguments.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.conversions import as_computed

LIBRARIES = ("numba", "numpy", "math", "cmath", "operator")  # modules in which nobody changes a number


class GlobalArray:
    """A global array as a kernel has it: what it held when the kernel was compiled; its elements are computed with."""

    # Gives what a kernel gets that loads an element outside: of this array, at this index, by a frame's instruction.
    load_outside: ClassVar[Callable[[GlobalArray, Any, FrameType], Any] | None] = None

    def __init__(self, ary: NDArray[Any], name: str = "a global array") -> None:
        self._ary, self._name = ary, name

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self._ary[index]
        except IndexError:
            load_outside: Any = GlobalArray.load_outside  # no method: it is given the array
            if load_outside is None or np.size(index) != self._ary.ndim:
                raise
            return as_computed(load_outside(self, index, sys._getframe(1)))
        return GlobalArray(found, self._name) if isinstance(found, np.ndarray) else as_computed(found)

    def __len__(self) -> int:
        return len(self._ary)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self._ary)))

    def __array__(self, *given: Any, **options: Any) -> NDArray[Any]:
        return np.asarray(self._ary, *given, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ary, name)


def names_of(code: CodeType) -> set[str]:
    """Return the names that a function, or one inside it, may find outside."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*map(names_of, inner))


def current_values(function: FunctionType) -> dict[str, Any]:
    """Return what the names that a function finds outside mean now; those of Python's own are not among them."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found = {}
    for name in names_of(function.__code__):
        if name in cells:
            try:
                found[name] = cells[name].cell_contents
            except ValueError:  # not assigned yet
                continue
        elif name in function.__globals__:
            found[name] = function.__globals__[name]
    return found


def frozen(value: Any) -> Any:
    """Return a value that later changes of it don't reach: of arrays and modules, copies."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        copy = value.copy()
        copy.flags.writeable = False
        return copy
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in LIBRARIES:
        seen = ModuleType(value.__name__)
        seen.__dict__.update(value.__dict__)
        return seen
    return value


def in_kernel(value: Any, name: str = "a global array") -> Any:
    """Return a frozen value as a kernel computes with it; name: of an array, in messages."""
    return GlobalArray(value, name) if isinstance(value, np.ndarray) else as_computed(value)

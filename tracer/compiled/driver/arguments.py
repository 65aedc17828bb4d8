"""The arguments of a kernel: arrays, scalars and tuples of them, in a table that compiled code reads."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from msgspec import Struct, field
from numba.core import types
from numba.np import numpy_support
from numpy.typing import NDArray

from ..not_compilable import NotCompilableError
from ..runtime import cell_type, threads
from ..state import CODES, code_of

_SCALARS = {bool: types.boolean, int: types.int64, float: types.float64, complex: types.complex128}


class Arguments(Struct):
    """The arguments of a launch."""

    arrays: list[tuple[str, NDArray[Any]]] = field(default_factory=list)  # with names; also arrays in tuples
    expressions: list[str] = field(default_factory=list)  # of each argument, in compiled code
    readers: dict[str, Any] = field(default_factory=dict)  # the functions that the expressions call, by name
    facts: list[str] = field(default_factory=list)  # everything that compiled code depends on
    _words: list[int] = field(default_factory=list)  # the table, 64 bits each
    _array_offsets: list[int] = field(default_factory=list)  # index in `_words` where each array begins

    def add(self, name: str, value: Any) -> None:
        """Add an argument; raises NotCompilableError for a kind that compiled code does not support."""
        self.expressions.append(self._expression(name, value))

    def _expression(self, name: str, value: Any) -> str:
        if isinstance(value, tuple):
            parts = "".join(f"{self._expression(f'{name}[{i}]', v)}, " for i, v in enumerate(value))
            type_name = (
                ""
                if type(value) is tuple
                else self._constant(type(value), " ".join(getattr(value, "_fields", "")))
            )
            return f"{type_name}({parts})"
        if value is None:
            return "None"
        if isinstance(value, Enum):
            return self._constant(value, f"{type(value).__module__}.{type(value).__qualname__}")
        reader = f"_ts_argument_{len(self.readers)}"
        offset = len(self._words)
        self.readers[reader] = (
            self._array(name, value) if isinstance(value, np.ndarray) else self._scalar(name, value)
        )
        self.facts.append(f"{reader} = {self.facts.pop()} at {offset}")
        return f"{reader}(_ts_state)"

    def _constant(self, value: Any, fact: str) -> str:
        """Return the name of a constant; `fact`, with its text, describes everything in which constants can differ."""
        reader = f"_ts_argument_{len(self.readers)}"
        self.readers[reader] = value
        self.facts.append(f"{reader} = {value!r} {fact}")
        return reader

    def _array(self, name: str, value: NDArray[Any]) -> Any:
        has_supported_type = code_of(value.dtype) is not None or value.dtype.names is not None
        # A record is given as an array of no dimensions.
        is_array = value.ndim > 0 or value.dtype.names is not None
        if not has_supported_type or not value.flags.aligned or not value.flags.writeable or not is_array:
            raise NotCompilableError(
                f"{name} is an array of {value.ndim} dimensions of {value.dtype}, {_flags(value)}."
            )
        offset = len(self._words)
        self._array_offsets.append(offset)
        self.arrays.append((name, value))
        self._words += [value.ctypes.data, 0, 0, *value.shape, *value.strides]
        self.facts.append(f"array({value.dtype}, {value.ndim})")
        return cell_type.argument_reader(value.dtype, value.ndim, offset)

    def _scalar(self, name: str, value: Any) -> Any:
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise NotCompilableError(f"{name} is {value}, which takes more than 64 bits.")
        kind = _SCALARS.get(type(value))
        if kind is None and isinstance(value, np.generic) and value.dtype in CODES:
            kind = getattr(types, "boolean" if value.dtype.kind == "b" else value.dtype.name)
        if kind is None and isinstance(value, np.datetime64 | np.timedelta64):
            kind = numpy_support.from_dtype(value.dtype)
        if kind is None:
            raise NotCompilableError(f"{name} is of the type {type(value).__name__}.")
        offset = len(self._words)
        self._words += np.frombuffer(np.array([value]).tobytes().ljust(16, b"\0"), np.int64).tolist()
        self.facts.append(str(kind))
        return threads.scalar_reader(kind, offset)

    @property
    def word_count(self) -> int:
        """The word of the table after the arguments, where `runtime_values` begin."""
        return len(self._words)

    def table(self, starts: list[tuple[int, int]], runtime_values: list[int]) -> NDArray[np.int64]:
        """Build the table; `starts` gives the start of each array's memory and its region.

        runtime_values: the other values that compiled code gets when it begins.
        """
        words = np.array([*self._words, *runtime_values] or [0], np.int64)
        for offset, (start, region) in zip(self._array_offsets, starts, strict=True):
            words[offset + 1 : offset + 3] = start, region
        return words


def _flags(value: NDArray[Any]) -> str:
    return ", ".join(f"{name} {getattr(value.flags, name)}" for name in ("aligned", "writeable"))

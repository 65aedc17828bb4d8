"""What a kernel is called with: arrays, scalars and tuples of them, as compiled code reads them from a table."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from msgspec import Struct, field
from numba.core import types
from numba.np import numpy_support
from numpy.typing import NDArray

from ..not_compilable import NotCompilable
from ..runtime import cell_type, threads
from ..state import CODES, code_of

_SCALARS = {bool: types.boolean, int: types.int64, float: types.float64, complex: types.complex128}


class Arguments(Struct):
    """The arguments of a launch."""

    arrays: list[tuple[str, NDArray[Any]]] = field(default_factory=list)  # those in them, by name
    expressions: list[str] = field(default_factory=list)  # of each argument, in compiled code
    readers: dict[str, Any] = field(default_factory=dict)  # the functions that these call, by name
    facts: list[str] = field(default_factory=list)  # all that compiled code depends on
    _words: list[int] = field(default_factory=list)  # of the table: 64 bits each
    _array_offsets: list[int] = field(default_factory=list)  # index in these where each array begins

    def add(self, name: str, value: Any) -> None:
        """Add an argument; raises NotCompilable for one of a kind that compiled code can't have."""
        self.expressions.append(self._expression(name, value))

    def _expression(self, name: str, value: Any) -> str:
        if isinstance(value, tuple):
            parts = "".join(f"{self._expression(f'{name}[{i}]', v)}, " for i, v in enumerate(value))
            kind = (
                ""
                if type(value) is tuple
                else self._known(type(value), " ".join(getattr(value, "_fields", "")))
            )
            return f"{kind}({parts})"
        if value is None:
            return "None"
        if isinstance(value, Enum):
            return self._known(value, f"{type(value).__module__}.{type(value).__qualname__}")
        made = f"_ts_argument_{len(self.readers)}"
        offset = len(self._words)
        self.readers[made] = (
            self._array(name, value) if isinstance(value, np.ndarray) else self._scalar(name, value)
        )
        self.facts.append(f"{made} = {self.facts.pop()} at {offset}")
        return f"{made}(_ts_state)"

    def _known(self, value: Any, fact: str) -> str:
        """Return the name of what compiled code has as it is; `fact` says, with its text, all that can differ."""
        made = f"_ts_argument_{len(self.readers)}"
        self.readers[made] = value
        self.facts.append(f"{made} = {value!r} {fact}")
        return made

    def _array(self, name: str, value: NDArray[Any]) -> Any:
        known = code_of(value.dtype) is not None or value.dtype.names is not None
        whole = (
            value.ndim > 0 or value.dtype.names is not None
        )  # a record is given as an array of no dimensions
        if not known or not value.flags.aligned or not value.flags.writeable or not whole:
            raise NotCompilable(
                f"{name} is an array of {value.ndim} dimensions of {value.dtype}, {_flags(value)}."
            )
        offset = len(self._words)
        self._array_offsets.append(offset)
        self.arrays.append((name, value))
        self._words += [value.ctypes.data, 0, 0, *value.shape, *value.strides]
        self.facts.append(f"array({value.dtype}, {value.ndim})")
        return cell_type.argument(value.dtype, value.ndim, offset)

    def _scalar(self, name: str, value: Any) -> Any:
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise NotCompilable(f"{name} is {value}, which takes more than 64 bits.")
        kind = _SCALARS.get(type(value))
        if kind is None and isinstance(value, np.generic) and value.dtype in CODES:
            kind = getattr(types, "boolean" if value.dtype.kind == "b" else value.dtype.name)
        if kind is None and isinstance(value, np.datetime64 | np.timedelta64):
            kind = numpy_support.from_dtype(value.dtype)
        if kind is None:
            raise NotCompilable(f"{name} is of the type {type(value).__name__}.")
        offset = len(self._words)
        self._words += np.frombuffer(np.array([value]).tobytes().ljust(16, b"\0"), np.int64).tolist()
        self.facts.append(str(kind))
        return threads.scalar(kind, offset)

    @property
    def end(self) -> int:
        """The word of the table behind the arguments, where `told` begins."""
        return len(self._words)

    def table(self, starts: list[tuple[int, int]], told: list[int]) -> NDArray[np.int64]:
        """Return the table, given of each array where its memory starts and the region that this is.

        told: what else compiled code is told as it begins.
        """
        words = np.array([*self._words, *told] or [0], np.int64)
        for offset, (start, region) in zip(self._array_offsets, starts, strict=True):
            words[offset + 1 : offset + 3] = start, region
        return words


def _flags(value: NDArray[Any]) -> str:
    return ", ".join(f"{name} {getattr(value.flags, name)}" for name in ("aligned", "writeable"))

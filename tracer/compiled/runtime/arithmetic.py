"""Functions of `cuda` that compute, as compiled code has them, and its vectors: tuples whose components have names.

Functions of bits look at as many as a number's type has.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.extending import intrinsic, overload

from ...model.vector_types import AXES, VECTOR_TYPES, VectorType
from .gpu_numbers import converted


def width_of(value: Any) -> int:
    """Return how many bits of a whole number count: 64 or, of smaller types, 32 (compiled code)."""
    raise NotImplementedError


def _width_of(value: Any) -> Any:
    width = 32 if isinstance(value, types.Integer) and value.bitwidth <= 32 else 64
    return lambda value: width


overload(width_of, strict=False)(_width_of)


def brev_width_of(value: Any) -> int:
    """Return how many bits `cuda.brev` turns round: Numba takes all but uint64 as uint32."""
    raise NotImplementedError


def _brev_width_of(value: Any) -> Any:
    width = 64 if isinstance(value, types.Integer) and value == types.uint64 else 32
    return lambda value: width


overload(brev_width_of, strict=False)(_brev_width_of)


def _popc(value: Any) -> Any:
    count = 0
    for bit in range(width_of(value)):
        count += (value >> bit) & 1
    return count


def _brev(value: Any) -> Any:
    width = brev_width_of(value)
    turned = 0
    for bit in range(width):
        turned |= ((value >> bit) & 1) << (width - 1 - bit)
    return turned


def _clz(value: Any) -> Any:
    width = width_of(value)
    for bit in range(width):
        if (value >> (width - 1 - bit)) & 1:
            return bit
    return width


def _ffs(value: Any) -> Any:
    for bit in range(width_of(value)):
        if (value >> bit) & 1:
            return bit + 1
    return 0


def _selp(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


ARITHMETIC = {
    f"_ts_cuda{function.__name__}": numba.njit(error_model="numpy")(function)
    for function in (_popc, _brev, _clz, _ffs, _selp)
}


def _vector_of(vector: VectorType) -> Any:
    """Return what makes a vector of numbers and vectors, which are given as a tuple."""
    named = namedtuple(vector.name, list(AXES[: vector.size]))  # type: ignore[misc]  # known at run time only
    made: Any = types.NamedUniTuple(getattr(types, vector.kind), vector.size, named)

    def typer(typing: Any, parts: Any) -> Any:
        given = _flat(parts) if isinstance(parts, types.BaseTuple) else []
        numbers = all(isinstance(t, types.Integer | types.Float | types.Boolean) for t in given)
        if len(given) != vector.size or not numbers:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = zip(_values(builder, args[0], parts), given, strict=True)
            found = [converted(context, builder, value, before, made.dtype) for value, before in values]
            return context.make_tuple(builder, made, found)

        return made(parts), generate

    return intrinsic(typer)


def _is_vector(kind: Any) -> bool:
    return isinstance(kind, types.NamedUniTuple)


def _flat(parts: Sequence[Any]) -> list[Any]:
    return [kind for part in parts for kind in (part if _is_vector(part) else (part,))]


def _values(builder: Any, whole: Any, parts: Sequence[Any]) -> list[Any]:
    given = zip(cgutils.unpack_tuple(builder, whole), parts, strict=True)
    return [
        v
        for value, part in given
        for v in (cgutils.unpack_tuple(builder, value) if _is_vector(part) else [value])
    ]


ARITHMETIC |= {f"_ts_vector_{vector.name}": _vector_of(vector) for vector in set(VECTOR_TYPES.values())}

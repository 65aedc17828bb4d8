"""Functions of `cuda` that compute, and vectors, in compiled code: vectors are named tuples.

Bit functions look at as many bits as the type of a number has.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.extending import intrinsic, overload

from ...model.vector_types import AXES, VECTOR_TYPES, VectorType
from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from .gpu_numbers import convert_number


def width_of(value: Any) -> int:
    """Return the number of bits of an integer that count: 64, or 32 for smaller types (compiled code)."""
    raise NotImplementedError


def _width_of(value: Any) -> Any:
    width = 32 if isinstance(value, types.Integer) and value.bitwidth <= 32 else 64
    return lambda value: width


overload(width_of, strict=False)(_width_of)


def brev_width_of(value: Any) -> int:
    """Return the number of bits that `cuda.brev` reverses: Numba treats every type but uint64 as uint32."""
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
    reversed_bits = 0
    for bit in range(width):
        reversed_bits |= ((value >> bit) & 1) << (width - 1 - bit)
    return reversed_bits


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


def _vector_maker(vector: VectorType) -> Any:
    """Make an intrinsic that builds a vector from a tuple of numbers and vectors."""
    tuple_class = namedtuple(vector.name, list(AXES[: vector.size]))  # type: ignore[misc]  # the names are only known at run time
    vector_type: Any = types.NamedUniTuple(getattr(types, vector.kind), vector.size, tuple_class)

    def typer(typing: TypingContext, parts: types.Type) -> Intrinsic:
        component_types = _flatten_types(parts) if isinstance(parts, types.BaseTuple) else []
        are_numbers = all(isinstance(t, types.Integer | types.Float | types.Boolean) for t in component_types)
        if len(component_types) != vector.size or not are_numbers:
            return None

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            values = zip(_flatten_values(builder, args[0], parts), component_types, strict=True)
            components = [
                convert_number(context, builder, value, from_type, vector_type.dtype)
                for value, from_type in values
            ]
            return context.make_tuple(builder, vector_type, components)

        return vector_type(parts), generate

    return intrinsic(typer)


def _is_vector(kind: Any) -> bool:
    return isinstance(kind, types.NamedUniTuple)


def _flatten_types(parts: Sequence[Any]) -> list[Any]:
    return [component for part in parts for component in (part if _is_vector(part) else (part,))]


def _flatten_values(builder: Builder, vector: Any, parts: Sequence[Any]) -> list[Any]:
    pairs = zip(cgutils.unpack_tuple(builder, vector), parts, strict=True)
    return [
        v
        for value, part in pairs
        for v in (cgutils.unpack_tuple(builder, value) if _is_vector(part) else [value])
    ]


ARITHMETIC |= {f"_ts_vector_{vector.name}": _vector_maker(vector) for vector in set(VECTOR_TYPES.values())}

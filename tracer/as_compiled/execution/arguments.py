"""A kernel's arguments for its compiled code: one after the other, as Numba's data models flatten them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..not_countable import NotCountableError

SLOT = 16  # bytes per argument


class Pointer:
    """An array or a record in device memory."""

    def __init__(
        self, address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        self.address, self.dtype, self.shape, self.strides = address, dtype, shape, strides


def pack_arguments(values: list[Any], types: tuple[Any, ...]) -> NDArray[np.uint8]:
    """Build the table of arguments, SLOT bytes for each; values: numbers, tuples, `Pointer`s."""
    if len(values) != len(types):
        raise NotCountableError(f"It takes {len(types)} arguments and was given {len(values)}")
    flat = [part for value, kind in zip(values, types, strict=True) for part in _flat(value, kind)]
    table = np.zeros(max(1, len(flat)) * SLOT, np.uint8)
    for number, content in enumerate(flat):
        table[number * SLOT : number * SLOT + len(content)] = np.frombuffer(content, np.uint8)
    return table


def _flat(value: Any, kind: Any) -> list[bytes]:
    """Flatten a value of one of Numba's types into its parts, each as bytes."""
    from numba.core import types

    if isinstance(kind, types.Array):
        return _array(value)
    if isinstance(kind, types.Record):
        return [_integer(value.address)]
    if isinstance(kind, types.BaseTuple):
        inner = list(kind.types) if hasattr(kind, "types") else [kind.dtype] * kind.count
        return [item for part, each in zip(value, inner, strict=True) for item in _flat(part, each)]
    if isinstance(kind, types.NoneType | types.Omitted | types.Literal) and not isinstance(
        kind, types.Integer
    ):
        return []
    if isinstance(kind, types.Complex):
        part = np.float32 if kind.bitwidth == 64 else np.float64
        number = complex(value)
        return [part(number.real).tobytes(), part(number.imag).tobytes()]
    if isinstance(kind, types.Float):
        return [np.dtype(f"float{kind.bitwidth}").type(value).tobytes()]
    if isinstance(kind, types.Boolean):
        return [_integer(bool(value))]
    if isinstance(kind, types.NPDatetime | types.NPTimedelta):
        return [_integer(int(np.asarray(value).view(np.int64)))]
    if isinstance(kind, types.Integer):
        return [_integer(int(value))]
    if isinstance(kind, types.EnumMember):
        return _flat(getattr(value, "value", value), kind.dtype)
    if isinstance(kind, types.CPointer | types.RawPointer):
        return [_integer(value.address if isinstance(value, Pointer) else int(value))]
    raise NotCountableError(f"An argument has a type that is not supported here, {kind}")


def _array(value: Pointer) -> list[bytes]:
    size = int(np.prod(value.shape, dtype=np.int64))
    numbers = [0, 0, size, value.dtype.itemsize, value.address, *value.shape, *value.strides]
    return [_integer(number) for number in numbers]


def _integer(value: int) -> bytes:
    return (value & ((1 << 64) - 1)).to_bytes(8, "little")

"""`print` in compiled code: the driver gets the values with a description of their types, and prints them."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np import numpy_support

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, word_pointer
from ..scheduler.switching import call_driver
from ..state import DriverCall, Word

_VALUE_BYTES = 16
_PYTHON_TYPES = ("int64", "float64", "bool", "complex128")  # which the simulator holds as Python objects


def _describe_type(kind: Any) -> Any:
    """Describe the type of a value to print: a text, the name of a NumPy type, a list; None if it can't be printed."""
    if isinstance(kind, types.StringLiteral):
        return {"text": kind.literal_value}
    if isinstance(types.unliteral(kind), types.Number | types.Boolean):
        return str(numpy_support.as_dtype(types.unliteral(kind)))
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        parts = [_describe_type(part) for part in kind]
        return None if None in parts else parts
    return None


def _flatten(builder: Builder, kind: Any, value: Value) -> Iterator[tuple[Any, Any]]:
    """Yield (type, value) of the numbers in a value."""
    if isinstance(kind, types.BaseTuple):
        for part, inner in zip(kind, cgutils.unpack_tuple(builder, value), strict=True):
            yield from _flatten(builder, part, inner)
    elif not isinstance(kind, types.StringLiteral):
        yield types.unliteral(kind), value


def _print(typing: TypingContext, state: types.Type, values: types.Type) -> Intrinsic:
    """Print the values of a tuple on one line."""
    described = _describe_type(values) if isinstance(values, types.BaseTuple) else None
    if described is None:
        return None
    text = json.dumps(described)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        numbers = list(_flatten(builder, values, args[1]))
        size = 1 + len(numbers) * _VALUE_BYTES // 8
        message = cgutils.alloca_once(builder, ir.ArrayType(I64, size))
        message = builder.bitcast(message, I64.as_pointer())
        description = context.insert_const_string(builder.module, text)
        builder.store(builder.ptrtoint(description, I64), message)
        for position, (kind, value) in enumerate(numbers):
            data = context.data_model_manager[kind].as_data(builder, value)
            slot = builder.gep(message, [I64(1 + position * _VALUE_BYTES // 8)])
            builder.store(data, builder.bitcast(slot, data.type.as_pointer()))
        builder.store(builder.ptrtoint(message, I64), word_pointer(builder, args[0], Word.MESSAGE))
        call_driver(context, builder, args[0], I64(DriverCall.PRINT))
        return context.get_dummy_value()

    return types.none(types.int64, values), generate


print_line = intrinsic(_print)


def read_message(message: int) -> str:
    """Read the text that a kernel prints, from the address of its message."""
    (text,) = (ctypes.c_int64 * 1).from_address(message)
    described = json.loads(ctypes.string_at(text))
    count = _count_numbers(described)
    data = ctypes.string_at(message + 8, count * _VALUE_BYTES)
    values = (data[i : i + _VALUE_BYTES] for i in range(0, len(data), _VALUE_BYTES))
    return " ".join(map(str, _read_values(described, values)))


def _count_numbers(described: Any) -> int:
    return (
        sum(map(_count_numbers, described))
        if isinstance(described, list)
        else int(isinstance(described, str))
    )


def _read_values(described: Any, data: Iterator[bytes]) -> tuple[Any, ...]:
    """Read the values of a tuple."""
    return tuple(_read_values(d, data) if isinstance(d, list) else _read_value(d, data) for d in described)


def _read_value(described: Any, data: Iterator[bytes]) -> Any:
    if isinstance(described, dict):
        return described["text"]
    value = np.frombuffer(next(data), described, 1)[0]
    return value.item() if described in _PYTHON_TYPES else value

"""`cuda.atomic` in compiled code: read, compute in the element's type, write, record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from .cell_type import Cells
from .element import Element, parts_of, record_update, to_index_values
from .gpu_numbers import convert_number

# The new value of an element, from its old value and the operand, as on the GPU.
ATOMIC_UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
    "exch": lambda old, value: value,
    "max": lambda old, value: value if value > old else old,
    "min": lambda old, value: value if value < old else old,
    "nanmax": lambda old, value: value if value > old or old != old else old,
    "nanmin": lambda old, value: value if value < old or old != old else old,
}
INTEGERS_ONLY = ("and_", "or_", "xor")


def update(name: str) -> Any:
    """Make an intrinsic for an atomic operation: (state, cells, index, value, site) -> old value."""

    def typer(
        typing: TypingContext,
        state: types.Type,
        cells: types.Type,
        index: types.Type,
        value: types.Type,
        site: types.Type,
    ) -> Intrinsic:
        if not _is_supported(typing, cells, index, value):
            return None
        if name in INTEGERS_ONLY and not isinstance(cells.dtype, types.Integer):
            return None

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            state, array, index_value, operand, site = args
            operand = convert_number(context, builder, operand, value, cells.dtype)

            def change(old: Any) -> Any:
                inner = cells.dtype(cells.dtype, cells.dtype)
                return context.compile_internal(builder, ATOMIC_UPDATES[name], inner, (old, operand))

            return _update_element(
                context, builder, (cells, index), (state, array, index_value, site), change
            )

        return cells.dtype(state, cells, index, value, site), generate

    return intrinsic(typer)


def _cas(
    typing: TypingContext,
    state: types.Type,
    cells: types.Type,
    index: types.Type,
    old: types.Type,
    value: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Replace the element if it equals `old`; return its previous value."""
    if not _is_supported(typing, cells, index, value) or not typing.can_convert(old, cells.dtype):
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state, array, index_value, expected, replacement, site = args
        expected = convert_number(context, builder, expected, old, cells.dtype)
        replacement = convert_number(context, builder, replacement, value, cells.dtype)

        def change(current: Any) -> Any:
            inner = cells.dtype(cells.dtype, cells.dtype, cells.dtype)
            return context.compile_internal(
                builder, _compare_and_swap, inner, (current, expected, replacement)
            )

        return _update_element(context, builder, (cells, index), (state, array, index_value, site), change)

    return cells.dtype(state, cells, index, old, value, site), generate


def _compare_and_swap(current: Any, expected: Any, replacement: Any) -> Any:
    return replacement if current == expected else current


def _is_supported(typing: TypingContext, cells: types.Type, index: types.Type, value: types.Type) -> bool:
    """Check if an atomic operation on one element with a value can be compiled."""
    if not isinstance(cells, Cells) or cells.is_record or not _is_atomic_index(cells, index):
        return False
    return isinstance(value, types.Number | types.Boolean) and bool(typing.can_convert(value, cells.dtype))


def _is_atomic_index(cells: Cells, index: Any) -> bool:
    """Check if an index selects one element; in atomic operations, Numba truncates float indices to integers."""
    parts = parts_of(index)
    return len(parts) == cells.ndim and all(isinstance(p, types.Integer | types.Float) for p in parts)


def _update_element(
    context: BaseContext, builder: Builder, numba_types: Any, values: Any, change: Callable[[Any], Any]
) -> Value:
    """Replace an element by `change` of it, record that, and return the old value."""
    (cells, index_kind), (state, array, index_value, site) = numba_types, values
    element = Element(
        context, builder, cells, array, to_index_values(context, builder, index_kind, index_value)
    )
    return record_update(element, state, change, site)


UPDATES = {f"_ts_{name}": update(name) for name in ATOMIC_UPDATES} | {"_ts_cas": intrinsic(_cas)}

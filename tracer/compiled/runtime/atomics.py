"""cuda.atomic in compiled code: read, compute in the element's type, write, record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.extending import intrinsic

from .cell_type import Cells
from .element import Element, numbers, parts_of, updated
from .gpu_numbers import converted

# What an operation makes of the old value and the one given; the meaning that each has on the GPU.
CHANGES: dict[str, Callable[[Any, Any], Any]] = {
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
    """Return what does an atomic operation: (state, cells, index, value, site) -> old value."""

    def typer(typing: Any, state: Any, cells: Any, index: Any, value: Any, site: Any) -> Any:
        if not _fits(typing, cells, index, value):
            return None
        if name in INTEGERS_ONLY and not isinstance(cells.dtype, types.Integer):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            state, array, index_value, given, site = args
            given = converted(context, builder, given, value, cells.dtype)

            def change(old: Any) -> Any:
                inner = cells.dtype(cells.dtype, cells.dtype)
                return context.compile_internal(builder, CHANGES[name], inner, (old, given))

            return _updated(context, builder, (cells, index), (state, array, index_value, site), change)

        return cells.dtype(state, cells, index, value, site), generate

    return intrinsic(typer)


def _cas(typing: Any, state: Any, cells: Any, index: Any, old: Any, value: Any, site: Any) -> Any:
    """Replace the element if it equals `old`; return what it was."""
    if not _fits(typing, cells, index, value) or not typing.can_convert(old, cells.dtype):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state, array, index_value, expected, given, site = args
        expected = converted(context, builder, expected, old, cells.dtype)
        given = converted(context, builder, given, value, cells.dtype)

        def change(seen: Any) -> Any:
            inner = cells.dtype(cells.dtype, cells.dtype, cells.dtype)
            return context.compile_internal(builder, _replaced, inner, (seen, expected, given))

        return _updated(context, builder, (cells, index), (state, array, index_value, site), change)

    return cells.dtype(state, cells, index, old, value, site), generate


def _replaced(seen: Any, old: Any, value: Any) -> Any:
    return value if seen == old else seen


def _fits(typing: Any, cells: Any, index: Any, value: Any) -> bool:
    """Return whether an atomic operation of one element by a value can be compiled."""
    if not isinstance(cells, Cells) or cells.is_record or not _is_place(cells, index):
        return False
    return isinstance(value, types.Number | types.Boolean) and bool(typing.can_convert(value, cells.dtype))


def _is_place(cells: Cells, index: Any) -> bool:
    """Return whether an index names one element; Numba makes floats in that of an atomic operation whole."""
    parts = parts_of(index)
    return len(parts) == cells.ndim and all(isinstance(p, types.Integer | types.Float) for p in parts)


def _updated(context: Any, builder: Any, kinds: Any, values: Any, change: Callable[[Any], Any]) -> Any:
    """Replace an element by `change` of it, record that, and return the old value."""
    (kind, index_kind), (state, array, index_value, site) = kinds, values
    element = Element(context, builder, kind, array, numbers(context, builder, index_kind, index_value))
    return updated(element, state, change, site)


UPDATES = {f"_ts_{name}": update(name) for name in CHANGES} | {"_ts_cas": intrinsic(_cas)}

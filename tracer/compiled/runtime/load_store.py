"""Loads and stores, each of which writes a row: compiled kernels call these instead of indexing."""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..not_compilable import NotCompilableError
from .cell_type import Cells
from .element import is_element, load_typer, parts_of, store_typer
from .records import assign_typer, part_typer


def _load(
    typing: TypingContext, state: types.Type, cells: types.Type, index: types.Type, site: types.Type
) -> Intrinsic:
    """Load an element and record it; index a tuple without a record."""
    if isinstance(cells, types.BaseTuple):
        return _load_from_tuple(typing, state, cells, index, site)
    if isinstance(cells, types.Array):
        return _load_from_numpy(typing, state, cells, index, site)
    if not isinstance(cells, Cells):
        return None
    if cells.is_record or not is_element(cells, index):
        return part_typer(state, cells, index, site)
    return load_typer(typing, state, cells, index, site)


def _load_from_tuple(
    typing: TypingContext, state: types.Type, kind: types.Type, index: types.Type, site: types.Type
) -> Intrinsic:
    """Type the index of a tuple: if its parts differ in type, the index must be a literal."""
    is_uniform = isinstance(kind, types.UniTuple | types.NamedUniTuple)
    if isinstance(index, types.IntegerLiteral) and not is_uniform:
        position = index.literal_value
        if not -len(kind) <= position < len(kind):
            return None

        def take(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            return cgutils.unpack_tuple(builder, args[1])[position]

        return kind[position](state, kind, index, site), take
    # LLVM's cases all have one width, but Numba's unsigned indices have another.
    index_type = types.intp if isinstance(index, types.Integer) else index
    inner = typing.resolve_function_type(operator.getitem, (kind, index_type), {})
    if inner is None or not is_uniform:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        index_value = context.cast(builder, args[2], index, index_type)
        return context.get_function(operator.getitem, inner)(builder, (args[1], index_value))

    return inner.return_type(state, kind, index, site), generate


def _load_from_numpy(
    typing: TypingContext, state: types.Type, array: types.Type, index: types.Type, site: types.Type
) -> Intrinsic:
    """Type the index of a NumPy array, which is a global or made by the kernel; its accesses are not recorded."""
    inner, check = (
        typing.resolve_function_type(operator.getitem, (array, index), {}),
        _bounds_check(array, index),
    )
    if inner is None or check is None:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        context.compile_internal(builder, check, types.none(array, index), (args[1], args[2]))
        kinds = zip(args[1:3], (array, index), inner.args, strict=True)
        arguments = [context.cast(builder, *parts) for parts in kinds]
        return context.get_function(operator.getitem, inner)(builder, arguments)

    return inner.return_type(state, array, index, site), generate


def _store_to_numpy(
    typing: TypingContext,
    state: types.Type,
    value: types.Type,
    array: types.Type,
    index: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Type a store to a NumPy array."""
    inner = typing.resolve_function_type(operator.setitem, (array, index, value), {})
    check = _bounds_check(array, index)
    if inner is None or check is None or not array.mutable:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        _, stored_value, target, index_value, _ = args
        context.compile_internal(builder, check, types.none(array, index), (target, index_value))
        kinds = zip((target, index_value, stored_value), (array, index, value), inner.args, strict=True)
        context.get_function(operator.setitem, inner)(
            builder, [context.cast(builder, *parts) for parts in kinds]
        )
        return context.get_dummy_value()

    return types.none(state, value, array, index, site), generate


def _bounds_check(array: Any, index: Any) -> Any:
    """Choose a check that leaves an index outside a NumPy array to the simulator; None if nothing can check it."""
    parts = parts_of(index)
    if all(isinstance(part, types.SliceType) for part in parts):
        return _check_nothing
    is_integer_tuple = isinstance(index, types.UniTuple) and isinstance(index.dtype, types.Integer)
    if len(parts) > array.ndim or not (is_integer_tuple or isinstance(index, types.Integer)):
        return None
    return _check_index if isinstance(index, types.Integer) else _check_indices


def _check_nothing(array: Any, index: Any) -> None:
    pass


def _check_index(array: Any, index: Any) -> None:
    if not -len(array) <= index < len(array):
        raise NotCompilableError("an index outside a NumPy array")


def _check_indices(array: Any, index: Any) -> None:
    for axis in range(len(index)):
        if not -array.shape[axis] <= index[axis] < array.shape[axis]:
            raise NotCompilableError("an index outside a NumPy array")


def _store(
    typing: TypingContext,
    state: types.Type,
    value: types.Type,
    cells: types.Type,
    index: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Store a value to an element, or to each element of a view, and record that."""
    if isinstance(cells, types.Array):
        return _store_to_numpy(typing, state, value, cells, index, site)
    if not isinstance(cells, Cells):
        return None
    if cells.is_record or not is_element(cells, index):
        return assign_typer(state, value, cells, index, site)
    return store_typer(typing, state, value, cells, index, site)


load, store = intrinsic(_load), intrinsic(_store)

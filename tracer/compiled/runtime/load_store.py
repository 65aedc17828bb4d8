"""Loads and stores, each of which writes a row: what compiled kernels call instead of indexing."""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..not_compilable import NotCompilable
from .cell_type import Cells
from .element import is_element, load_typer, parts_of, store_typer
from .records import assign_typer, part_typer


def _load(typing: Any, state: Any, cells: Any, index: Any, site: Any) -> Any:
    """Load an element and record it; of a tuple, just index."""
    if isinstance(cells, types.BaseTuple):
        return _of_tuple(typing, state, cells, index, site)
    if isinstance(cells, types.Array):
        return _of_numpy(typing, state, cells, index, site)
    if not isinstance(cells, Cells):
        return None
    if cells.is_record or not is_element(cells, index):
        return part_typer(state, cells, index, site)
    return load_typer(typing, state, cells, index, site)


def _of_tuple(typing: Any, state: Any, kind: Any, index: Any, site: Any) -> Any:
    """Type the index of a tuple: of parts of different types, only by a literal."""
    uniform = isinstance(kind, types.UniTuple | types.NamedUniTuple)
    if isinstance(index, types.IntegerLiteral) and not uniform:
        place = index.literal_value
        if not -len(kind) <= place < len(kind):
            return None

        def take(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return cgutils.unpack_tuple(builder, args[1])[place]

        return kind[place](state, kind, index, site), take
    # LLVM has cases of one width alone, where Numba's unsigned indices have another.
    whole = types.intp if isinstance(index, types.Integer) else index
    inner = typing.resolve_function_type(operator.getitem, (kind, whole), {})
    if inner is None or not uniform:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = context.cast(builder, args[2], index, whole)
        return context.get_function(operator.getitem, inner)(builder, (args[1], place))

    return inner.return_type(state, kind, index, site), generate


def _of_numpy(typing: Any, state: Any, array: Any, index: Any, site: Any) -> Any:
    """Type the index of an array of Numba's own: a global, or one that the kernel makes; nothing records those."""
    inner, check = typing.resolve_function_type(operator.getitem, (array, index), {}), _check_of(array, index)
    if inner is None or check is None:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        context.compile_internal(builder, check, types.none(array, index), (args[1], args[2]))
        kinds = zip(args[1:3], (array, index), inner.args, strict=True)
        given = [context.cast(builder, *parts) for parts in kinds]
        return context.get_function(operator.getitem, inner)(builder, given)

    return inner.return_type(state, array, index, site), generate


def _to_numpy(typing: Any, state: Any, value: Any, array: Any, index: Any, site: Any) -> Any:
    """Type a store to an array of Numba's own."""
    inner = typing.resolve_function_type(operator.setitem, (array, index, value), {})
    check = _check_of(array, index)
    if inner is None or check is None or not array.mutable:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, given, target, place, _ = args
        context.compile_internal(builder, check, types.none(array, index), (target, place))
        kinds = zip((target, place, given), (array, index, value), inner.args, strict=True)
        context.get_function(operator.setitem, inner)(
            builder, [context.cast(builder, *parts) for parts in kinds]
        )
        return context.get_dummy_value()

    return types.none(state, value, array, index, site), generate


def _check_of(array: Any, index: Any) -> Any:
    """Return what leaves an index outside an array of Numba's own to the simulator; None where nothing can check it."""
    parts = parts_of(index)
    if all(isinstance(part, types.SliceType) for part in parts):
        return _never_outside
    uniform = isinstance(index, types.UniTuple) and isinstance(index.dtype, types.Integer)
    if len(parts) > array.ndim or not (uniform or isinstance(index, types.Integer)):
        return None
    return _inside if isinstance(index, types.Integer) else _all_inside


def _never_outside(array: Any, index: Any) -> None:
    pass


def _inside(array: Any, index: Any) -> None:
    if not -len(array) <= index < len(array):
        raise NotCompilable("an index outside an array of NumPy's")


def _all_inside(array: Any, index: Any) -> None:
    for axis in range(len(index)):
        if not -array.shape[axis] <= index[axis] < array.shape[axis]:
            raise NotCompilable("an index outside an array of NumPy's")


def _store(typing: Any, state: Any, value: Any, cells: Any, index: Any, site: Any) -> Any:
    """Store a value to an element, or to each of a view, and record that."""
    if isinstance(cells, types.Array):
        return _to_numpy(typing, state, value, cells, index, site)
    if not isinstance(cells, Cells):
        return None
    if cells.is_record or not is_element(cells, index):
        return assign_typer(state, value, cells, index, site)
    return store_typer(typing, state, value, cells, index, site)


load, store = intrinsic(_load), intrinsic(_store)

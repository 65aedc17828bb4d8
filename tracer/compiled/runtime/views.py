"""Views of cells: slices, transposes, other shapes and types, parts of complex numbers; assignments to slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.extending import intrinsic, overload, overload_attribute
from numba.cpython import slicing
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.np import numpy_support

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64
from ..next_row import reload_next_row
from ..not_compilable import NotCompilableError
from ..state import CODES
from .cell_type import Cells, build_cells
from .element import load_element, parts_of, store_element


def view_typer(state: types.Type, cells: Cells, index: types.Type, site: types.Type) -> Intrinsic:
    """Type an index that selects no single element; such an index makes no access."""
    parts = parts_of(index)
    ellipses = [position for position, part in enumerate(parts) if isinstance(part, types.EllipsisType)]
    is_supported = all(isinstance(p, types.Integer | types.SliceType | types.EllipsisType) for p in parts)
    if not is_supported or len(ellipses) > 1 or len(parts) - len(ellipses) > cells.ndim:
        return None
    ndim = cells.ndim - sum(isinstance(p, types.Integer) for p in parts)
    kind = cells.with_ndim(ndim)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        values = cgutils.unpack_tuple(builder, args[2]) if isinstance(index, types.BaseTuple) else [args[2]]
        pairs = list(zip(parts, values, strict=True))
        if ellipses:  # all axes without an index
            pairs[ellipses[0] : ellipses[0] + 1] = [(None, None)] * (cells.ndim + 1 - len(parts))
        return _view(context, builder, (cells, kind), args[1], pairs)

    return kind(state, cells, index, site), generate


def _view(
    context: BaseContext, builder: Builder, kinds: Any, value: Value, parts: Sequence[tuple[Any, Any]]
) -> Value:
    """Build the view that the parts of an index, (type, value) each, select; it may lie outside its array.

    A part without a type keeps its axis.
    """
    cells, kind = kinds
    struct = cgutils.create_struct_proxy(cells)(context, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
    data, is_outside, lengths, steps = struct.data, struct.is_outside, [], []
    for axis, (part, part_value) in enumerate(parts):
        if part is None:
            offset, length, step = I64(0), shape[axis], strides[axis]
        elif isinstance(part, types.SliceType):
            offset, length, step = _slice_axis(context, builder, part, part_value, shape[axis], strides[axis])
        else:
            index = context.cast(builder, part_value, part, types.int64)
            wrapped = builder.select(
                builder.icmp_signed("<", index, I64(0)), builder.add(index, shape[axis]), index
            )
            is_outside = builder.or_(is_outside, builder.icmp_unsigned(">=", wrapped, shape[axis]))
            offset, length, step = builder.mul(wrapped, strides[axis]), None, None
        if length is not None:
            lengths.append(length)
            steps.append(step)
        data = builder.add(data, offset)
    indexed_axes = len(parts)
    return build_cells(
        context,
        builder,
        kind,
        data,
        struct.start,
        struct.region,
        is_outside,
        [*lengths, *shape[indexed_axes:]],
        [*steps, *strides[indexed_axes:]],
    )


def _slice_axis(
    context: BaseContext, builder: Builder, part: Any, slice_value: Any, length: Any, stride: Any
) -> tuple[Any, Any, Any]:
    """Compute the offset of a slice's first element in bytes, its length, and its stride in bytes."""
    bounds = context.make_helper(builder, part, slice_value)
    slicing.guard_invalid_slice(context, builder, part, bounds)
    slicing.fix_slice(builder, bounds, length)
    count = slicing.get_slice_length(builder, bounds)
    return builder.mul(bounds.start, stride), count, slicing.fix_stride(builder, bounds, stride)


def make_fill(kind: Cells, value: Any) -> Any:
    """Make a function that stores a value to all elements of a view: (context, builder, args). None if it does not fit.

    Its args are the state, the value, the view and the site. All loads come first, then the stores.
    """
    if isinstance(value, Cells) and value.ndim <= kind.ndim and not value.is_record:
        implement = _copy
    elif isinstance(value, types.Number | types.Boolean | types.NPDatetime | types.NPTimedelta):
        implement = _fill
    else:
        return None
    inner = types.none(types.int64, value, kind, types.int64)

    def fill(context: BaseContext, builder: Builder, args: Values) -> None:
        context.compile_internal(builder, implement, inner, args)
        reload_next_row(builder, args[0])

    return fill


def _fill(state: Any, value: Any, target: Any, site: Any) -> None:
    for index in np.ndindex(target.shape):
        store_element(state, value, target, index, site)


def _copy(state: Any, value: Any, target: Any, site: Any) -> None:
    loaded = np.empty(value.shape, dtype_like(value))
    for index in np.ndindex(value.shape):
        loaded[index] = load_element(state, value, index, site + 1)
    broadcast = np.broadcast_to(loaded, target.shape)
    for index in np.ndindex(target.shape):
        store_element(state, broadcast[index], target, index, site)


def _dtype_like(typing: TypingContext, cells: types.Type) -> Intrinsic:
    """Type the NumPy dtype of loaded elements."""
    kind = types.DType(cells.dtype)
    return kind(cells), lambda context, builder, signature, args: context.get_dummy_value()


dtype_like = intrinsic(_dtype_like)


def _turned(typing: TypingContext, cells: types.Type) -> Intrinsic:
    """Type the transpose."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
        shape, strides = (cgutils.unpack_tuple(builder, t)[::-1] for t in (struct.shape, struct.strides))
        return build_cells(
            context,
            builder,
            cells,
            struct.data,
            struct.start,
            struct.region,
            struct.is_outside,
            shape,
            strides,
        )

    return cells(cells), generate


def _reshaped(typing: TypingContext, cells: types.Type, shape: types.Type) -> Intrinsic:
    """Type a view of another shape, whose lengths have been checked."""
    kind = cells.with_ndim(len(shape))

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
        lengths = cgutils.unpack_tuple(builder, args[1])
        steps = [I64(cells.itemsize)]
        for length in lengths[:0:-1]:
            steps.insert(0, builder.mul(steps[0], length))
        return build_cells(
            context,
            builder,
            kind,
            struct.data,
            struct.start,
            struct.region,
            struct.is_outside,
            lengths,
            steps,
        )

    return kind(cells, shape), generate


def _viewed(typing: TypingContext, cells: types.Type, dtype: types.Type, length: types.Type) -> Intrinsic:
    """Type the same bytes as another dtype, with a given length of the last dimension."""
    kind = Cells(dtype.dtype, cells.ndim)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
        shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
        shape, strides = [*shape[:-1], args[2]], [*strides[:-1], I64(kind.itemsize)]
        return build_cells(
            context,
            builder,
            kind,
            struct.data,
            struct.start,
            struct.region,
            struct.is_outside,
            shape,
            strides,
        )

    return kind(cells, dtype, length), generate


def _distance(typing: TypingContext, cells: types.Type) -> Intrinsic:
    """Compute the offset in bytes of a view's first element from the start of its memory."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
        return builder.sub(struct.data, struct.start)

    return types.int64(cells), generate


transposed_view, reshaped, viewed, distance = map(intrinsic, (_turned, _reshaped, _viewed, _distance))


def _transpose(cells: Any) -> Any:
    return lambda cells: transposed_view(cells)


overload_attribute(Cells, "T", inline="never", strict=False)(_transpose)


def reshape(cells: Any, shape: Any) -> Any:
    """Return a view of another shape, a number or a tuple of them, one of which may be -1 (compiled code)."""
    raise NotImplementedError


def _reshape(cells: Any, shape: Any) -> Any:
    if not isinstance(cells, Cells):
        return None
    if isinstance(shape, types.Integer):
        return lambda cells, shape: reshape(cells, (shape,))
    if not isinstance(shape, types.BaseTuple) or not all(isinstance(n, types.Integer) for n in shape):
        return None
    return _reshape_to


def _reshape_to(cells: Any, shape: Any) -> Any:
    expected = cells.itemsize
    for axis in range(cells.ndim - 1, -1, -1):
        if cells.shape[axis] > 1 and cells.strides[axis] != expected:
            raise NotCompilableError("reshape of a view that has gaps")
        expected *= cells.shape[axis]
    product, free_axis = 1, -1
    for axis, length in enumerate(shape):
        if length < 0:
            free_axis = axis
        else:
            product *= length
    lengths = shape
    if free_axis >= 0:
        lengths = tuple_setitem(shape, free_axis, cells.size // max(1, product))
        product *= cells.size // max(1, product)
    if product != cells.size:
        raise NotCompilableError("reshape to another size")
    return reshaped(cells, lengths)


overload(reshape, strict=False)(_reshape)


def view(cells: Any, dtype: Any) -> Any:
    """Return the same bytes as another dtype (compiled code)."""
    raise NotImplementedError


def _view_as(cells: Any, dtype: Any) -> Any:
    if not isinstance(cells, Cells) or not cells.ndim or cells.unit != cells.itemsize or cells.is_record:
        return None
    if not hasattr(dtype, "dtype") or cells.numpy not in CODES:
        return None
    if numpy_support.as_dtype(dtype.dtype) not in CODES:
        return None
    size = numpy_support.as_dtype(dtype.dtype).itemsize
    last = cells.ndim - 1

    def implement(cells: Any, dtype: Any) -> Any:
        nbytes = cells.shape[last] * cells.itemsize
        if cells.strides[last] != cells.itemsize or nbytes % size:
            raise NotCompilableError("a view as another type of an array with gaps")
        if distance(cells) % size:
            raise NotCompilableError("a view as another type at an address that is no multiple of its size")
        return viewed(cells, dtype, nbytes // size)

    return implement


overload(view, strict=False)(_view_as)


def _part(number: int) -> Any:
    """Make an intrinsic that returns the real (1) or imaginary (2) parts of an array."""

    def typer(typing: TypingContext, cells: types.Type) -> Intrinsic:
        kind = Cells(cells.dtype.underlying_float, cells.ndim, cells.unit, number)
        offset = I64(kind.itemsize if number == 2 else 0)

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            struct = cgutils.create_struct_proxy(cells)(context, builder, args[0])
            shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
            data, start = (builder.add(address, offset) for address in (struct.data, struct.start))
            return build_cells(
                context, builder, kind, data, start, struct.region, struct.is_outside, shape, strides
            )

        return kind(cells), generate

    return intrinsic(typer)


real, imag = _part(1), _part(2)


def _real(cells: Any) -> Any:
    if isinstance(cells.dtype, types.Complex):
        return lambda cells: real(cells)
    return lambda cells: cells


def _imag(cells: Any) -> Any:
    return (lambda cells: imag(cells)) if isinstance(cells.dtype, types.Complex) else None


overload_attribute(Cells, "real", inline="never", strict=False)(_real)
overload_attribute(Cells, "imag", inline="never", strict=False)(_imag)

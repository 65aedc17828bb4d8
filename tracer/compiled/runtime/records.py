"""Records in compiled code. A field is a view of the same memory: a separate region, with the stride of the records.

A record itself is never loaded or stored: operations on it go field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np import numpy_support

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I32, I64
from ..state import CODES, REGION_SHIFT, regions_of
from .cell_type import Cells, build_cells, contiguous_strides
from .element import Element, record_load, record_store
from .gpu_numbers import convert_number
from .views import make_fill, view_typer

# A function that assigns: (context, builder, values of the state, the given value, the target, and the site).
Assign = Callable[[Any, Any, Sequence[Any]], Any]


class Field(Struct, frozen=True):
    """A field of records."""

    kind: Cells  # the type of the field in an array of records
    offset: int  # bytes from the start of a record
    region: int  # relative to the region of the records
    shape: tuple[int, ...]  # of the field in one record: () for a single element

    @property
    def is_element(self) -> bool:
        """Whether the field of one record is a single element."""
        return not self.kind.ndim and not self.kind.is_record

    def view(self, context: BaseContext, builder: Builder, cells: Cells, value: Value) -> Value:
        """Return the cells of the field in some records."""
        struct = cgutils.create_struct_proxy(cells)(context, builder, value)
        data, start = (builder.add(address, I64(self.offset)) for address in (struct.data, struct.start))
        region = builder.add(struct.region, I32(self.region << REGION_SHIFT))
        shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
        inner_strides = contiguous_strides(self.shape, self.kind.itemsize)
        lengths, steps = [*shape, *map(I64, self.shape)], [*strides, *map(I64, inner_strides)]
        return build_cells(
            context, builder, self.kind, data, start, region, struct.is_outside, lengths, steps
        )


def field_of(cells: Any, name: str) -> Field | None:
    """Find a field of records; None if there is none, or if compiled code doesn't support its type."""
    fields = cells.numpy.fields if isinstance(cells, Cells) and cells.is_record else None
    if not fields or name not in fields:
        return None
    dtype, offset = fields[name][:2]
    base, shape = dtype.base, dtype.shape
    if (base.names is None and base not in CODES) or (shape and cells.unit % base.itemsize):
        return None
    earlier_names = cells.numpy.names[: cells.numpy.names.index(name)]
    region = 1 + sum(regions_of(fields[other][0].base) for other in earlier_names)
    unit = base.itemsize if shape else cells.unit
    return Field(Cells(numpy_support.from_dtype(base), cells.ndim + len(shape), unit), offset, region, shape)


def _find_field(cells: Cells, index: Any) -> Field | None:
    """Find the field that an index selects: by a name or, in a single record, by a number."""
    if isinstance(index, types.StringLiteral):
        return field_of(cells, index.literal_value)
    names = cells.numpy.names
    if cells.ndim or not isinstance(index, types.IntegerLiteral) or not 0 <= index.literal_value < len(names):
        return None
    return field_of(cells, names[index.literal_value])


def _take_field(field: Field, context: BaseContext, builder: Builder, cells: Cells, args: Values) -> Value:
    """Take a field from (state, records, site): its loaded value, or a view."""
    state, value, site = args
    view = field.view(context, builder, cells, value)
    if not field.is_element:
        return view
    return record_load(Element(context, builder, field.kind, view, ()), state, site)


def part_typer(state: types.Type, cells: Cells, index: types.Type, site: types.Type) -> Intrinsic:
    """Type an index that is not a plain load: it gives a view, or a field of records."""
    field = _find_field(cells, index) if cells.is_record else None
    if field is None:
        return view_typer(state, cells, index, site)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return _take_field(field, context, builder, cells, (args[0], args[1], args[3]))

    return (field.kind.dtype if field.is_element else field.kind)(state, cells, index, site), generate


def _attribute(
    typing: TypingContext, state: types.Type, value: types.Type, name: types.Type, site: types.Type
) -> Intrinsic:
    """Type an attribute: a field of records, or an attribute that numba knows."""
    if not isinstance(name, types.StringLiteral):
        return None
    field = field_of(value, name.literal_value)
    if field is not None:
        return part_typer(state, value, name, site)
    attribute_type = typing.resolve_getattr(value, name.literal_value)
    if attribute_type is None:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        get = context.get_getattr(value, name.literal_value)
        return get(context, builder, value, args[1], name.literal_value)

    return attribute_type(state, value, name, site), generate


def _set_attribute(
    typing: TypingContext,
    state: types.Type,
    value: types.Type,
    cells: types.Type,
    name: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Type an assignment to a field of records."""
    if not isinstance(name, types.StringLiteral) or field_of(cells, name.literal_value) is None:
        return None
    return assign_typer(state, value, cells, name, site)


attribute, set_attribute = intrinsic(_attribute), intrinsic(_set_attribute)


def assign_typer(
    state: types.Type, value: types.Type, cells: Cells, index: types.Type, site: types.Type
) -> Intrinsic:
    """Type an assignment to a slice, a record, or a field of one."""
    field = _find_field(cells, index) if cells.is_record else None
    view: Any = view_typer(state, cells, index, site) if field is None else None
    if field is None and view is None:
        return None
    kind = field.kind if field else view[0].return_type
    assign = _make_assignment(kind, value)
    if assign is None:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state, stored_value, cells_value, index_value, site = args
        if field:
            target = field.view(context, builder, cells, cells_value)
        else:
            target = view[1](context, builder, view[0], [state, cells_value, index_value, site])
        assign(context, builder, (state, stored_value, target, site))
        return context.get_dummy_value()

    return types.none(state, value, cells, index, site), generate


def _make_assignment(kind: Cells, value: Any) -> Assign | None:
    """Make a function that assigns a value to cells of a type; None if the value does not fit."""
    if kind.is_record:
        return _assign_record(kind, value)
    if kind.ndim:
        return make_fill(kind, value)  # type: ignore[no-any-return]
    if not isinstance(value, types.Number | types.Boolean):
        return None

    def assign(context: BaseContext, builder: Builder, args: Values) -> None:
        state, number, target, site = args
        element = Element(context, builder, kind, target, ())
        record_store(element, state, convert_number(context, builder, number, value, kind.dtype), site)

    return assign


def _assign_record(kind: Cells, value: Any) -> Assign | None:
    """Make a function that assigns a record or a tuple, field by field."""
    parts = [_assign_field(kind, value, position, name) for position, name in enumerate(kind.numpy.names)]
    if not all(parts):
        return None

    def assign(context: BaseContext, builder: Builder, args: Values) -> None:
        for part in parts:
            assert part is not None
            part(context, builder, args)

    return assign


def _assign_field(kind: Cells, value: Any, position: int, name: str) -> Assign | None:
    target = field_of(kind, name)
    if target is None:
        return None
    if isinstance(value, types.BaseTuple):
        return _assign_from(target, kind, value[position], lambda context, builder, args: (
            cgutils.unpack_tuple(builder, args[1])[position]
        )) if position < len(value) else None  # fmt: skip
    source = field_of(value, name)
    if source is None:
        return None
    source_type = source.kind.dtype if source.is_element else source.kind

    def take(context: BaseContext, builder: Builder, args: Values) -> Value:
        return _take_field(source, context, builder, value, (args[0], args[1], builder.add(args[3], I64(1))))

    return _assign_from(target, kind, source_type, take)


def _assign_from(target: Field, kind: Cells, source_type: Any, take: Callable[..., Any]) -> Assign | None:
    """Make a function that assigns the result of `take`, of a type, to a field of records."""
    inner = _make_assignment(target.kind, source_type)
    if inner is None:
        return None

    def assign(context: BaseContext, builder: Builder, args: Values) -> None:
        value = take(context, builder, args)
        inner(context, builder, (args[0], value, target.view(context, builder, kind, args[2]), args[3]))

    return assign

"""Records in compiled code: a field is a view of the same memory, a region of its own with the stride of the records.

A record itself is never loaded or stored: whatever a kernel does with one, it does field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np import numpy_support

from ..state import CODES, REGION_SHIFT, regions_of
from ..words import I32, I64
from .cell_type import Cells, build, contiguous
from .element import Element, loaded, stored
from .gpu_numbers import converted
from .views import filling, view_typer

# What does something: (context, builder, values of the state, what is given, what is assigned to, and the site).
Assign = Callable[[Any, Any, Sequence[Any]], Any]


class Field(Struct, frozen=True):
    """A field of records."""

    kind: Cells  # the type of all its elements in an array of records
    offset: int  # bytes from the start of a record
    region: int  # counted from that of the records
    shape: tuple[int, ...]  # of what one record has: () for an element

    @property
    def is_element(self) -> bool:
        """Whether of one record it is one element."""
        return not self.kind.ndim and not self.kind.is_record

    def view(self, context: Any, builder: Any, cells: Cells, value: Any) -> Any:
        """Return its cells in some records."""
        struct = cgutils.create_struct_proxy(cells)(context, builder, value)
        data, start = (builder.add(place, I64(self.offset)) for place in (struct.data, struct.start))
        region = builder.add(struct.region, I32(self.region << REGION_SHIFT))
        shape, strides = (cgutils.unpack_tuple(builder, t) for t in (struct.shape, struct.strides))
        inner = contiguous(self.shape, self.kind.itemsize)
        lengths, steps = [*shape, *map(I64, self.shape)], [*strides, *map(I64, inner)]
        return build(context, builder, self.kind, data, start, region, struct.is_outside, lengths, steps)


def field_of(cells: Any, name: str) -> Field | None:
    """Return a field of records; None where there is none, or of a type that compiled code can't have."""
    fields = cells.numpy.fields if isinstance(cells, Cells) and cells.is_record else None
    if not fields or name not in fields:
        return None
    dtype, offset = fields[name][:2]
    base, shape = dtype.base, dtype.shape
    if (base.names is None and base not in CODES) or (shape and cells.unit % base.itemsize):
        return None
    before = cells.numpy.names[: cells.numpy.names.index(name)]
    region = 1 + sum(regions_of(fields[other][0].base) for other in before)
    unit = base.itemsize if shape else cells.unit
    return Field(Cells(numpy_support.from_dtype(base), cells.ndim + len(shape), unit), offset, region, shape)


def _named(cells: Cells, index: Any) -> Field | None:
    """Return the field that an index names: a text, or of one record a number."""
    if isinstance(index, types.StringLiteral):
        return field_of(cells, index.literal_value)
    names = cells.numpy.names
    if cells.ndim or not isinstance(index, types.IntegerLiteral) or not 0 <= index.literal_value < len(names):
        return None
    return field_of(cells, names[index.literal_value])


def _taken(field: Field, context: Any, builder: Any, cells: Cells, args: Sequence[Any]) -> Any:
    """Return what a field of (state, records, site) is: its loaded value, or a view."""
    state, value, site = args
    view = field.view(context, builder, cells, value)
    if not field.is_element:
        return view
    return loaded(Element(context, builder, field.kind, view, ()), state, site)


def part_typer(state: Any, cells: Cells, index: Any, site: Any) -> Any:
    """Type an index that is no load by itself: one that gives a view, or a field of records."""
    field = _named(cells, index) if cells.is_record else None
    if field is None:
        return view_typer(state, cells, index, site)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _taken(field, context, builder, cells, (args[0], args[1], args[3]))

    return (field.kind.dtype if field.is_element else field.kind)(state, cells, index, site), generate


def _attribute(typing: Any, state: Any, value: Any, name: Any, site: Any) -> Any:
    """Type an attribute: a field of records, or what numba says that it is."""
    if not isinstance(name, types.StringLiteral):
        return None
    field = field_of(value, name.literal_value)
    if field is not None:
        return part_typer(state, value, name, site)
    found = typing.resolve_getattr(value, name.literal_value)
    if found is None:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        get = context.get_getattr(value, name.literal_value)
        return get(context, builder, value, args[1], name.literal_value)

    return found(state, value, name, site), generate


def _set_attribute(typing: Any, state: Any, value: Any, cells: Any, name: Any, site: Any) -> Any:
    """Type an assignment to a field of records."""
    if not isinstance(name, types.StringLiteral) or field_of(cells, name.literal_value) is None:
        return None
    return assign_typer(state, value, cells, name, site)


attribute, set_attribute = intrinsic(_attribute), intrinsic(_set_attribute)


def assign_typer(state: Any, value: Any, cells: Cells, index: Any, site: Any) -> Any:
    """Type an assignment to what is no element of an array: a slice, a record, a field of one."""
    field = _named(cells, index) if cells.is_record else None
    view: Any = view_typer(state, cells, index, site) if field is None else None
    if field is None and view is None:
        return None
    kind = field.kind if field else view[0].return_type
    assign = _assigning(kind, value)
    if assign is None:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state, given, array, place, site = args
        if field:
            target = field.view(context, builder, cells, array)
        else:
            target = view[1](context, builder, view[0], [state, array, place, site])
        assign(context, builder, (state, given, target, site))
        return context.get_dummy_value()

    return types.none(state, value, cells, index, site), generate


def _assigning(kind: Cells, value: Any) -> Assign | None:
    """Return what assigns a value to cells of a type, or None where it does not fit."""
    if kind.is_record:
        return _by_fields(kind, value)
    if kind.ndim:
        return filling(kind, value)  # type: ignore[no-any-return]
    if not isinstance(value, types.Number | types.Boolean):
        return None

    def assign(context: Any, builder: Any, args: Sequence[Any]) -> None:
        state, given, target, site = args
        element = Element(context, builder, kind, target, ())
        stored(element, state, converted(context, builder, given, value, kind.dtype), site)

    return assign


def _by_fields(kind: Cells, value: Any) -> Assign | None:
    """Return what assigns records, or of a tuple its parts, field by field."""
    parts = [_by_field(kind, value, place, name) for place, name in enumerate(kind.numpy.names)]
    if not all(parts):
        return None

    def assign(context: Any, builder: Any, args: Sequence[Any]) -> None:
        for part in parts:
            assert part is not None
            part(context, builder, args)

    return assign


def _by_field(kind: Cells, value: Any, place: int, name: str) -> Assign | None:
    target = field_of(kind, name)
    if target is None:
        return None
    if isinstance(value, types.BaseTuple):
        return _from(target, kind, value[place], lambda context, builder, args: (
            cgutils.unpack_tuple(builder, args[1])[place]
        )) if place < len(value) else None  # fmt: skip
    source = field_of(value, name)
    if source is None:
        return None
    given = source.kind.dtype if source.is_element else source.kind

    def take(context: Any, builder: Any, args: Sequence[Any]) -> Any:
        return _taken(source, context, builder, value, (args[0], args[1], builder.add(args[3], I64(1))))

    return _from(target, kind, given, take)


def _from(target: Field, kind: Cells, given: Any, take: Callable[..., Any]) -> Assign | None:
    """Return what assigns what `take` gives, of a type, to a field of records."""
    inner = _assigning(target.kind, given)
    if inner is None:
        return None

    def assign(context: Any, builder: Any, args: Sequence[Any]) -> None:
        value = take(context, builder, args)
        inner(context, builder, (args[0], value, target.view(context, builder, kind, args[2]), args[3]))

    return assign

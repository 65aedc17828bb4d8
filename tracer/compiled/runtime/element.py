"""One element of an array in compiled code: its address, its load and store, and the row that records them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I64, element_pointer, load_word, store_word
from ..next_row import next_row, set_next_row
from ..scheduler.switching import call_driver, end_turn
from ..state import CONTEXT_AT, KEY_AT, ROW_BYTES, VALUE_AT, DriverCall, Word
from .cell_type import Cells, key_of
from .gpu_numbers import convert_number
from .loop_rounds import record_rounds, write_round


def parts_of(index: Any) -> tuple[Any, ...]:
    """Return the types of the parts of an index."""
    return tuple(index) if isinstance(index, types.BaseTuple) else (index,)


def is_element(cells: Cells, index: Any) -> bool:
    """Check if an index of this type selects one element."""
    parts = [part for part in parts_of(index) if not isinstance(part, types.EllipsisType)]
    return len(parts) == cells.ndim and all(isinstance(p, types.Integer) for p in parts)


def to_index_values(context: BaseContext, builder: Builder, kind: Any, index: Value) -> list[Any]:
    """Convert the parts of an integer index to 64-bit values; an ellipsis among them stands for no axis."""
    values = cgutils.unpack_tuple(builder, index) if isinstance(kind, types.BaseTuple) else [index]
    kinds = parts_of(kind)
    integers = [(v, k) for v, k in zip(values, kinds, strict=True) if not isinstance(k, types.EllipsisType)]
    return [context.cast(builder, v, k, types.int64) for v, k in integers]


# A function that accesses an element through a pointer: returns the value to record, and the thread's result.
Access = Callable[[Any], tuple[Any, Any]]


class Element:
    """One element of cells. `inside` is false if it is out of bounds; `address` and `index` are set even then."""

    def __init__(
        self, context: BaseContext, builder: Builder, kind: Cells, cells: Any, parts: Sequence[Any]
    ) -> None:
        self.context, self.builder, self.kind, self.parts = context, builder, kind, parts
        # See _CellsModel.
        self.address, start, self.region, is_outside, shapes, steps = cgutils.unpack_tuple(builder, cells)
        self.inside: Any = builder.not_(is_outside)
        shape, strides = (cgutils.unpack_tuple(builder, numbers) for numbers in (shapes, steps))
        for part, length, stride in zip(parts, shape, strides, strict=True):
            self._add_axis(part, length, stride)
        self.index = self._units_in(builder.sub(self.address, start), kind.unit)

    def _add_axis(self, part: Any, length: Any, stride: Any) -> None:
        """Add the offset along an axis. A negative index wraps once, as in Python: Numba's GPU code does that too."""
        b = self.builder
        wrapped = b.select(b.icmp_signed("<", part, I64(0)), b.add(part, length), part)
        self.inside = b.and_(self.inside, b.icmp_unsigned("<", wrapped, length))
        self.address = b.add(self.address, b.mul(wrapped, stride))

    def _units_in(self, distance: Any, unit: int) -> Any:
        """Count the units in a distance, which is a multiple of the unit; records may have any size."""
        if unit & (unit - 1):
            return self.builder.sdiv(distance, I64(unit))
        return self.builder.ashr(distance, I64(unit.bit_length() - 1))

    def access(self, state: Any, site: Any, make: Access) -> Any:
        """End the thread's turn, then access the element and record that; if it is outside, call the driver instead.

        Returns the thread's result, or a poisoned element if the element is outside; None if there is no result.
        """
        b = self.builder
        end_turn(b, state)
        row = next_row(b, state)
        self._begin_row(state, row, site)
        with b.if_else(self.inside, likely=True) as (inside_block, outside_block):
            with inside_block:
                data, result = make(self._pointer(self.address))
                self._end_row(state, row, data)
                inside_block = b.block
            with outside_block:
                self._report_outside(state)
                poisoned = self._poison(state) if result is not None else None
                outside_block = b.block
        return _merge(b, (result, inside_block), (poisoned, outside_block))

    def load(self, pointer: Any) -> Any:
        """Load the element at a pointer in its memory representation."""
        return self.builder.load(pointer, align=self._align)

    def store(self, data: Any, pointer: Any) -> None:
        """Store a memory representation at a pointer."""
        self.builder.store(data, pointer, align=self._align)

    def _poison(self, state: Any) -> Any:
        poison = self.builder.add(load_word(self.builder, state, Word.POISON), I64(self.kind.code * 16))
        return self.load(self._pointer(poison))

    @property
    def _align(self) -> int | None:
        """Return the alignment: fields of records may be unaligned."""
        return None if self.kind.unit == self.kind.itemsize else 1

    def _pointer(self, address: Any) -> Any:
        return element_pointer(self.builder, address, data_type(self.context, self.kind))

    def _begin_row(self, state: Any, row: Any, site: Any) -> None:
        """Write the index, the key and the context of an access."""
        b = self.builder
        key = b.zext(key_of(b, self.region, self.kind.code, site), I64)
        context = b.shl(load_word(b, state, Word.CONTEXT), I64(8 * (CONTEXT_AT - KEY_AT)))
        b.store(self.index, element_pointer(b, row, I64))
        b.store(b.or_(key, context), element_pointer(b, row, I64, I64(KEY_AT // 8)))
        write_round(b, state, row, self.kind.itemsize)

    def _end_row(self, state: Any, row: Any, data: Any) -> None:
        """Write the value in its memory representation, and go on to the next row."""
        b = self.builder
        b.store(data, element_pointer(b, b.add(row, I64(VALUE_AT)), data.type))
        next_address = b.add(row, I64(ROW_BYTES))
        set_next_row(b, state, next_address)
        with cgutils.if_unlikely(b, b.icmp_signed("==", next_address, load_word(b, state, Word.END))):
            call_driver(self.context, b, state, I64(DriverCall.FULL))

    def _report_outside(self, state: Any) -> None:
        """Report to the driver that the element is outside. The next row overwrites this one, which has no value."""
        b = self.builder
        store_word(b, I64(len(self.parts)), state, Word.INDEX_COUNT)
        parts = load_word(b, state, Word.INDICES)
        for position, part in enumerate(self.parts):
            b.store(part, element_pointer(b, parts, I64, I64(position)))
        call_driver(self.context, b, state, I64(DriverCall.OUT_OF_BOUNDS))


def _merge(builder: Builder, *values: Any) -> Value:
    """Merge values from several blocks into one; each pair is a value with its block."""
    if values[0][0] is None:
        return None
    phi = builder.phi(values[0][0].type)
    for value, block in values:
        phi.add_incoming(value, block)
    return phi


def record_load(element: Element, state: Any, site: Any) -> Any:
    """Load an element, record the access, and return the value."""

    def make(pointer: Any) -> Any:
        data = element.load(pointer)
        return data, data

    return from_data(element.context, element.builder, element.kind, element.access(state, site, make))


def record_store(element: Element, state: Any, value: Any, site: Any) -> None:
    """Store a value of the element's type, and record the access."""
    data = to_data(element.context, element.builder, element.kind, value)

    def make(pointer: Any) -> Any:
        element.store(data, pointer)
        return data, None

    element.access(state, site, make)


def record_update(element: Element, state: Any, change: Callable[[Any], Any], site: Any) -> Any:
    """Replace an element by `change` of it in one turn, record that, and return the old value."""
    context, builder, kind = element.context, element.builder, element.kind

    def make(pointer: Any) -> Any:
        old = element.load(pointer)
        data = to_data(context, builder, kind, change(from_data(context, builder, kind, old)))
        element.store(data, pointer)
        return data, old

    return from_data(context, builder, kind, element.access(state, site, make))


def data_type(context: Any, kind: Cells) -> Any:
    """Return the LLVM type of an element in memory."""
    return context.get_data_type(kind.dtype)


def to_data(context: BaseContext, builder: Builder, kind: Cells, value: Value) -> Value:
    """Convert a value to its memory representation."""
    return context.data_model_manager[kind.dtype].as_data(builder, value)


def from_data(context: BaseContext, builder: Builder, kind: Cells, data: Value) -> Value:
    """Convert a memory representation to a value."""
    return context.data_model_manager[kind.dtype].from_data(builder, data)


def _load(
    typing: TypingContext, state: types.Type, cells: types.Type, index: types.Type, site: types.Type
) -> Intrinsic:
    """Load an element and record it."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state, cells_value, index_value, site = args
        return record_load(_element(context, builder, (cells, index), cells_value, index_value), state, site)

    return cells.dtype(state, cells, index, site), generate


def _store(
    typing: TypingContext,
    state: types.Type,
    value: types.Type,
    cells: types.Type,
    index: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Store a value to an element, converted to its type, and record the access."""
    if not typing.can_convert(value, cells.dtype):
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        state, new_value, cells_value, index_value, site = args
        element = _element(context, builder, (cells, index), cells_value, index_value)
        record_store(element, state, convert_number(context, builder, new_value, value, cells.dtype), site)
        return context.get_dummy_value()

    return types.none(state, value, cells, index, site), generate


def _element(context: BaseContext, builder: Builder, kinds: Any, cells: Any, index: Value) -> Element:
    cells_type, index_kind = kinds
    return Element(context, builder, cells_type, cells, to_index_values(context, builder, index_kind, index))


# If a call does not type-check, Numba prints the typer's name. not_compilable.py recognises loads and stores by it.
load_typer, store_typer = _load, _store


def _load_in_rounds(
    typing: TypingContext, state: types.Type, cells: types.Type, index: types.Type, site: types.Type
) -> Intrinsic:
    """Do the same in a function that several kernels share, some of which record rounds."""
    return _in_rounds(_load(typing, state, cells, index, site))


def _store_in_rounds(
    typing: TypingContext,
    state: types.Type,
    value: types.Type,
    cells: types.Type,
    index: types.Type,
    site: types.Type,
) -> Intrinsic:
    """Do the same in a function that several kernels share, some of which record rounds."""
    return _in_rounds(_store(typing, state, value, cells, index, site))


def _in_rounds(typed: Intrinsic) -> Intrinsic:
    if typed is None:
        return None
    signature, generate = typed

    def generate_in_rounds(context: BaseContext, builder: Builder, sig: Signature, args: Values) -> Value:
        record_rounds(builder)
        return generate(context, builder, sig, args)

    return signature, generate_in_rounds


load_element, store_element = intrinsic(_load_in_rounds), intrinsic(_store_in_rounds)

"""One element of an array in compiled code: where it is, how it is loaded and stored, and the row that says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ..next_row import next_row, set_next_row
from ..scheduler.switching import call_driver, end_turn
from ..state import CONTEXT_AT, KEY_AT, ROW_BYTES, VALUE_AT, DriverCall, Word
from ..words import I64, at, load_word, store_word
from .cell_type import Cells, key_of
from .gpu_numbers import converted


def parts_of(index: Any) -> tuple[Any, ...]:
    """Return the types of an index's parts."""
    return tuple(index) if isinstance(index, types.BaseTuple) else (index,)


def is_element(cells: Cells, index: Any) -> bool:
    """Return whether an index of this type names one element."""
    parts = [part for part in parts_of(index) if not isinstance(part, types.EllipsisType)]
    return len(parts) == cells.ndim and all(isinstance(p, types.Integer) for p in parts)


def numbers(context: Any, builder: Any, kind: Any, index: Any) -> list[Any]:
    """Return the parts of an index of integers as 64-bit values; an ellipsis beside them stands for no axis."""
    values = cgutils.unpack_tuple(builder, index) if isinstance(kind, types.BaseTuple) else [index]
    kinds = parts_of(kind)
    given = [(v, k) for v, k in zip(values, kinds, strict=True) if not isinstance(k, types.EllipsisType)]
    return [context.cast(builder, v, k, types.int64) for v, k in given]


# What accesses an element by a pointer to it: returns what is recorded as its value, and what the thread gets.
Access = Callable[[Any], tuple[Any, Any]]


class Element:
    """One element of cells: `inside` says whether it is; `address` and `index` (its index) are as if it were."""

    def __init__(self, context: Any, builder: Any, kind: Cells, cells: Any, parts: Sequence[Any]) -> None:
        self.context, self.builder, self.kind, self.parts = context, builder, kind, parts
        # See _CellsModel.
        self.address, start, self.region, is_outside, shapes, steps = cgutils.unpack_tuple(builder, cells)
        self.inside: Any = builder.not_(is_outside)
        shape, strides = (cgutils.unpack_tuple(builder, numbers) for numbers in (shapes, steps))
        for part, length, stride in zip(parts, shape, strides, strict=True):
            self._step(part, length, stride)
        self.index = self._index_of(builder.sub(self.address, start), kind.unit)

    def _step(self, part: Any, length: Any, stride: Any) -> None:
        """A negative index wraps once, as in Python: Numba compiles that rule for the GPU too."""
        b = self.builder
        wrapped = b.select(b.icmp_signed("<", part, I64(0)), b.add(part, length), part)
        self.inside = b.and_(self.inside, b.icmp_unsigned("<", wrapped, length))
        self.address = b.add(self.address, b.mul(wrapped, stride))

    def _index_of(self, distance: Any, unit: int) -> Any:
        """Return how many units lie in a distance, of whole ones: records may have any size."""
        if unit & (unit - 1):
            return self.builder.sdiv(distance, I64(unit))
        return self.builder.ashr(distance, I64(unit.bit_length() - 1))

    def access(self, state: Any, site: Any, make: Access) -> Any:
        """Access the element in a turn of its own, and record that; where it is outside, tell the driver instead.

        Returns what the thread gets, a poisoned element where it is outside; None where it gets nothing.
        """
        b = self.builder
        end_turn(b, state)
        row = next_row(b, state)
        self._begin_row(state, row, site)
        with b.if_else(self.inside, likely=True) as (there, outside):
            with there:
                data, got = make(self._pointer(self.address))
                self._end_row(state, row, data)
                there = b.block
            with outside:
                self._miss(state)
                poisoned = self._poison(state) if got is not None else None
                outside = b.block
        return _either(b, (got, there), (poisoned, outside))

    def load(self, pointer: Any) -> Any:
        """Return the element at a pointer as it lies in memory."""
        return self.builder.load(pointer, align=self._align)

    def store(self, data: Any, pointer: Any) -> None:
        """Store what is to lie in memory at a pointer."""
        self.builder.store(data, pointer, align=self._align)

    def _poison(self, state: Any) -> Any:
        poison = self.builder.add(load_word(self.builder, state, Word.POISON), I64(self.kind.code * 16))
        return self.load(self._pointer(poison))

    @property
    def _align(self) -> int | None:
        """Fields of records may lie anywhere."""
        return None if self.kind.unit == self.kind.itemsize else 1

    def _pointer(self, address: Any) -> Any:
        return at(self.builder, address, data_type(self.context, self.kind))

    def _begin_row(self, state: Any, row: Any, site: Any) -> None:
        """Write what is accessed, where, and by whom."""
        b = self.builder
        what = b.zext(key_of(b, self.region, self.kind.code, site), I64)
        who = b.shl(load_word(b, state, Word.CONTEXT), I64(8 * (CONTEXT_AT - KEY_AT)))
        b.store(self.index, at(b, row, I64))
        b.store(b.or_(what, who), at(b, row, I64, I64(KEY_AT // 8)))

    def _end_row(self, state: Any, row: Any, data: Any) -> None:
        """Write the value, as it lies in memory, and go on to the next row."""
        b = self.builder
        b.store(data, at(b, b.add(row, I64(VALUE_AT)), data.type))
        after = b.add(row, I64(ROW_BYTES))
        set_next_row(b, state, after)
        with cgutils.if_unlikely(b, b.icmp_signed("==", after, load_word(b, state, Word.END))):
            call_driver(self.context, b, state, I64(DriverCall.FULL))

    def _miss(self, state: Any) -> None:
        """Tell the driver that the element is outside: the row is there without a value, and is written over."""
        b = self.builder
        store_word(b, I64(len(self.parts)), state, Word.INDEX_COUNT)
        parts = load_word(b, state, Word.INDICES)
        for place, part in enumerate(self.parts):
            b.store(part, at(b, parts, I64, I64(place)))
        call_driver(self.context, b, state, I64(DriverCall.OUT_OF_BOUNDS))


def _either(builder: Any, *values: Any) -> Any:
    """Return the value, of several with the block each is from, of the block that was run."""
    if values[0][0] is None:
        return None
    made = builder.phi(values[0][0].type)
    for value, block in values:
        made.add_incoming(value, block)
    return made


def loaded(element: Element, state: Any, site: Any) -> Any:
    """Load an element, record that, and return its value."""

    def make(pointer: Any) -> Any:
        data = element.load(pointer)
        return data, data

    return from_data(element.context, element.builder, element.kind, element.access(state, site, make))


def stored(element: Element, state: Any, value: Any, site: Any) -> None:
    """Store a value of the element's type, and record that."""
    data = to_data(element.context, element.builder, element.kind, value)

    def make(pointer: Any) -> Any:
        element.store(data, pointer)
        return data, None

    element.access(state, site, make)


def updated(element: Element, state: Any, change: Callable[[Any], Any], site: Any) -> Any:
    """Replace an element by `change` of it in one turn, record that, and return its value before."""
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


def to_data(context: Any, builder: Any, kind: Cells, value: Any) -> Any:
    """Return a loaded element as it lies in memory."""
    return context.data_model_manager[kind.dtype].as_data(builder, value)


def from_data(context: Any, builder: Any, kind: Cells, data: Any) -> Any:
    """Return an element as it lies in memory as the value to compute with."""
    return context.data_model_manager[kind.dtype].from_data(builder, data)


def _load(typing: Any, state: Any, cells: Any, index: Any, site: Any) -> Any:
    """Load an element and record it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state, value, place, site = args
        return loaded(_element(context, builder, (cells, index), value, place), state, site)

    return cells.dtype(state, cells, index, site), generate


def _store(typing: Any, state: Any, value: Any, cells: Any, index: Any, site: Any) -> Any:
    """Store a value to an element, converted to its type, and record it."""
    if not typing.can_convert(value, cells.dtype):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        state, given, array, place, site = args
        element = _element(context, builder, (cells, index), array, place)
        stored(element, state, converted(context, builder, given, value, cells.dtype), site)
        return context.get_dummy_value()

    return types.none(state, value, cells, index, site), generate


def _element(context: Any, builder: Any, kinds: Any, cells: Any, index: Any) -> Element:
    kind, index_kind = kinds
    return Element(context, builder, kind, cells, numbers(context, builder, index_kind, index))


# Numba names a typer where it does not fit, and not_compilable.py tells loads and stores by that name.
load_typer, store_typer = _load, _store
load_element, store_element = intrinsic(_load), intrinsic(_store)

"""The arrays of compiled kernels as Numba sees them: a separate type, so that every access is recorded.

An operation that is not defined for it here (a sum, an array expression) does not compile. Then the simulator runs the
kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.extending import (
    intrinsic,
    make_attribute_wrapper,
    overload,
    overload_attribute,
    register_model,
)
from numba.np import numpy_support

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..memory_words import I32, I64, element_pointer, load_word, word_pointer
from ..state import COMPONENTS_FROM, RECORD_CODE, REGION_SHIFT, SITE_BITS, Word, code_of

INSIDE = cgutils.false_bit


class Cells(types.Type):  # type: ignore[misc]  # Numba is untyped to mypy
    """An array, or a view of one: its address, buffer, shape and strides (in bytes).

    unit: bytes between neighbouring elements in memory, by default the size of an element; for a field of records, the
    size of a record. part: 1 for the real parts of complex numbers, 2 for the imaginary parts, 0 for anything else.
    """

    def __init__(self, dtype: Any, ndim: int, unit: int = 0, part: int = 0) -> None:
        self.dtype, self.ndim, self.part = dtype, ndim, part
        self.numpy = numpy_support.as_dtype(dtype)
        self.unit = unit or self.itemsize
        spacing = "" if self.unit == self.itemsize else f", {self.unit} apart, part {part}"
        super().__init__(name=f"Cells({dtype}, {ndim}{spacing})")

    def with_ndim(self, ndim: int) -> Cells:
        """Return the type of a view with a number of dimensions."""
        return Cells(self.dtype, ndim, self.unit, self.part)

    @property
    def is_record(self) -> bool:
        """Whether its elements are records."""
        return isinstance(self.dtype, types.Record)

    @property
    def code(self) -> int:
        """The dtype's index in DTYPES, or RECORD_CODE."""
        if self.part:
            return COMPONENTS_FROM + self.part - 1 + 2 * (self.itemsize == 8)
        code = code_of(self.numpy)
        return RECORD_CODE if code is None else code

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.numpy.itemsize)


class _CellsModel(models.StructModel):  # type: ignore[misc]
    """data: address of the first element; start: of the buffer; region: its number, shifted as in a key.

    is_outside: whether this is a view that begins outside its array, so that all its elements are outside.
    """

    def __init__(self, manager: Any, fe_type: Cells) -> None:
        lengths = types.UniTuple(types.int64, fe_type.ndim)
        addresses = [("data", types.int64), ("start", types.int64)]
        others = [
            ("region", types.uint32),
            ("is_outside", types.boolean),
            ("shape", lengths),
            ("strides", lengths),
        ]
        super().__init__(manager, fe_type, addresses + others)


register_model(Cells)(_CellsModel)
make_attribute_wrapper(Cells, "shape", "shape")
make_attribute_wrapper(Cells, "strides", "strides")


def _define_attribute(name: str, value: Any) -> None:
    """Define an attribute from a function of the type that returns the function to compile."""

    def define(cells: Any) -> Any:
        return value(cells)

    overload_attribute(Cells, name, inline="never", strict=False)(define)


def _implement_constant(get_constant: Any) -> Any:
    def implement(cells: Any) -> Any:
        value = get_constant(cells)
        return lambda cells: value

    return implement


def _size(cells: Any) -> Any:
    def size(cells: Any) -> Any:
        count = 1
        for length in cells.shape:
            count *= length
        return count

    return size


_define_attribute("ndim", _implement_constant(lambda cells: cells.ndim))
_define_attribute("itemsize", _implement_constant(lambda cells: cells.itemsize))
_define_attribute("size", _size)
_define_attribute("nbytes", lambda cells: lambda cells: cells.size * cells.itemsize)


def _len(cells: Any) -> Any:
    if isinstance(cells, Cells):
        return lambda cells: cells.shape[0]
    return None


overload(len, strict=False)(_len)


def build_cells(
    context: BaseContext,
    builder: Builder,
    kind: Cells,
    data: Value,
    start: Value,
    region: Value,
    is_outside: Any,
    shape: Sequence[Any],
    strides: Sequence[Any],
) -> Value:
    """Build the value of an array or view."""
    struct = cgutils.create_struct_proxy(kind)(context, builder)
    struct.data, struct.start, struct.region, struct.is_outside = data, start, region, is_outside
    struct.shape = cgutils.pack_array(builder, shape, I64)
    struct.strides = cgutils.pack_array(builder, strides, I64)
    return struct._getvalue()


def contiguous_strides(shape: Sequence[int], itemsize: int) -> list[int]:
    """Compute the strides, in bytes, of a C-contiguous array."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def cells_type(dtype: Any, ndim: int) -> Cells:
    """Return the type of arrays of a NumPy dtype."""
    return Cells(numpy_support.from_dtype(dtype), ndim)


def argument_reader(dtype: Any, ndim: int, index: int) -> Any:
    """Make an intrinsic that reads an array from the table of arguments, from a word on.

    The words: its address, the start of its memory, its region, its shape and its strides.
    """
    kind = cells_type(dtype, ndim)

    def typer(typing: TypingContext, state: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            table = load_word(builder, args[0], Word.ARGUMENTS)
            words = [
                builder.load(element_pointer(builder, table, I64, I64(index + i)))
                for i in range(3 + 2 * ndim)
            ]
            region = builder.trunc(builder.shl(words[2], I64(REGION_SHIFT)), I32)
            shape, strides = words[3 : 3 + ndim], words[3 + ndim :]
            return build_cells(context, builder, kind, words[0], words[1], region, INSIDE, shape, strides)

        return kind(types.int64), generate

    return intrinsic(typer)


def declared_array_reader(
    dtype: Any, shape: tuple[int, ...] | None, index: int, first_region: int, *, per_thread: bool = False,
    first_length_word: int | None = None,
) -> Any:  # fmt: skip
    """Make an intrinsic that returns a declared array.

    index: in the table of memory. first_region: counted after the regions of the arguments. per_thread: whether each
    thread has a copy. first_length_word: index of its lengths in the table of arguments; None if they are part of the
    code. A shape of None is that of dynamic shared memory.
    """
    kind = cells_type(dtype, 1 if shape is None else len(shape))

    def typer(typing: TypingContext, state: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            state = args[0]
            number_declaration(builder, state, index)
            address = builder.load(
                element_pointer(builder, load_word(builder, state, Word.MEMORY), I64, I64(index))
            )
            lengths = _lengths(builder, state, shape, kind, first_length_word)
            size, *strides = _strides(builder, lengths, kind.itemsize)
            if per_thread:
                address = builder.add(address, builder.mul(load_word(builder, state, Word.THREAD), size))
            region_number = builder.add(load_word(builder, state, Word.DECLARED_FROM), I64(first_region))
            region = builder.trunc(builder.shl(region_number, I64(REGION_SHIFT)), I32)
            return build_cells(context, builder, kind, address, address, region, INSIDE, lengths, strides)

        return kind(types.int64), generate

    return intrinsic(typer)


def _lengths(
    builder: Builder, state: Value, shape: tuple[int, ...] | None, kind: Cells, first_length_word: int | None
) -> list[Any]:
    if shape is None:
        return [builder.udiv(load_word(builder, state, Word.DYNAMIC), I64(kind.itemsize))]
    if first_length_word is None:
        return [I64(length) for length in shape]
    table = load_word(builder, state, Word.ARGUMENTS)
    return [
        builder.load(element_pointer(builder, table, I64, I64(first_length_word + axis)))
        for axis in range(len(shape))
    ]


def _strides(builder: Builder, lengths: Sequence[Any], itemsize: int) -> list[Any]:
    """Compute the size of a C-contiguous array in bytes, followed by its strides."""
    strides = [I64(itemsize)]
    for length in reversed(lengths):
        strides.insert(0, builder.mul(strides[0], length))
    return strides


def number_declaration(builder: Builder, state: Value, index: int) -> None:
    """Number a declaration when it is first executed."""
    seen = element_pointer(builder, load_word(builder, state, Word.SEEN), I64, I64(index))
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(seen), I64(0))):
        count = word_pointer(builder, state, Word.DECLARED)
        number = builder.add(builder.load(count), I64(1))
        builder.store(number, count)
        builder.store(number, seen)


def key_of(builder: Builder, region: Value, code: int, site: Value) -> Value:
    """Build the key of an access: region and dtype of the array, and the site."""
    low = builder.or_(builder.trunc(site, I32), I32(code << SITE_BITS))
    return builder.or_(region, low)

"""Convert rows, as compiled code writes them, to columns; a column here is an address and a width.

So the code is compiled once for columns of any width. Python calls `decode_at`; compiled code calls its parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic
from numpy.typing import NDArray

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..compile_cached import compile_cached, compile_with_callers
from ..memory_words import I64, element_pointer, peek, peek8, peek16, peek32, poke, poke8, poke16, poke32
from ..state import (
    CODE_BITS,
    CODES,
    COLUMNS,
    CONTEXT_AT,
    DTYPES,
    INTAKE_COLUMNS,
    KEY_AT,
    ROUND_AT,
    ROW_BYTES,
    SITE_BITS,
    SITES,
    VALUE_AT,
    ColumnWord,
    IntakeWord,
    Number,
    ValueKind,
    Word,
)

_COLUMN_BYTES = 8 * len(ColumnWord)
_SITE_MASK, _CODE_MASK = SITES - 1, (1 << CODE_BITS) - 1
_NEW = 0xFFFFFFFF  # marks a new buffer or site: all bits of -1, too many for the width of any column
# Columns, in the order of `INTAKE_COLUMNS`.
_BLOCK, _THREAD, _PHASE, _BUFFER, _SITE, _OP, _INDEX, _VALUE = range(len(INTAKE_COLUMNS))


def _row_address(words: int, number: int, row: int) -> int:
    """Return the address of a row of a column."""
    column = words + 8 * COLUMNS + _COLUMN_BYTES * number
    return peek(column, ColumnWord.ADDRESS) + row * peek(column, ColumnWord.WIDTH)


def _width_of(words: int, number: int) -> int:
    """Return the width of a column in bytes."""
    return peek(words + 8 * COLUMNS + _COLUMN_BYTES * number, ColumnWord.WIDTH)


row_address, width_of = compile_with_callers(_row_address), compile_with_callers(_width_of)


def _fits(bits: int, width: int) -> bool:
    """Check if unsigned integers with these combined bits fit into a width of bytes."""
    return bits >= 0 and (width == 8 or bits >> (8 * width) == 0)


fits = compile_with_callers(_fits)


def _fill(address: int, width: int, count: int, number: Number) -> None:
    """Fill consecutive rows of a column with a number."""
    if width == 1:
        for row in range(count):
            poke8(address + row, number)
    elif width == 2:
        for row in range(count):
            poke16(address + 2 * row, number)
    elif width == 4:
        for row in range(count):
            poke32(address + 4 * row, number)
    else:
        for row in range(count):
            poke(address, row, number)


fill = compile_with_callers(_fill)


def _put_who(state: int, words: int, rows: int, count: int, kept: int) -> int:
    """Fill block, thread and phase of rows; return the combined bits of the phases."""
    blocks, phases, threads = peek(state, Word.BLOCKS), peek(state, Word.PHASES), peek(state, Word.THREADS)
    begin, bits, inverse = 0, 0, 1.0 / threads
    while begin < count:
        context = peek32(rows + ROW_BYTES * begin + CONTEXT_AT)
        end = begin + 1
        while end < count and peek32(rows + ROW_BYTES * end + CONTEXT_AT) == context:
            end += 1
        # Exact for numbers as small as these, and faster than a division.
        number = np.int64((context + 0.5) * inverse)
        phase = peek(phases, number)
        bits |= phase
        row, row_count = kept + begin, end - begin
        fill(row_address(words, _BLOCK, row), width_of(words, _BLOCK), row_count, peek(blocks, number))
        fill(
            row_address(words, _THREAD, row), width_of(words, _THREAD), row_count, context - number * threads
        )
        fill(row_address(words, _PHASE, row), width_of(words, _PHASE), row_count, phase)
        begin = end
    return bits


put_threads = compile_with_callers(_put_who)


def _put_what(words: int, rows: int, count: int, kept: int) -> tuple[int, int, int, int]:
    """Fill buffer, site and op of rows.

    Returns the combined bits of the buffers, and of the sites (all bits if one is new), a bit for the code of each
    dtype, and whether the memory that they touch must be noted.
    """
    buffers, sites = peek(words, IntakeWord.BUFFERS), peek(words, IntakeWord.SITES)
    buffer, site = row_address(words, _BUFFER, kept), row_address(words, _SITE, kept)
    buffer_width, site_width = width_of(words, _BUFFER), width_of(words, _SITE)
    ops, op, watched = (
        peek(words, IntakeWord.OPS),
        row_address(words, _OP, kept),
        peek(words, IntakeWord.WATCHED),
    )
    to_watch, buffer_bits, site_bits, codes, is_narrow = 0, 0, 0, 0, buffer_width == 1 and site_width == 1
    for row in range(count):
        key = peek32(rows + ROW_BYTES * row + KEY_AT)
        region_code, site_number = key >> SITE_BITS, key & _SITE_MASK
        row_buffer, row_site, row_op = (
            peek32(buffers + 4 * region_code),
            peek32(sites + 4 * site_number),
            peek8(ops + site_number),
        )
        buffer_bits |= row_buffer
        site_bits |= row_site
        codes |= 1 << (region_code & _CODE_MASK)
        to_watch |= peek8(watched + region_code) & (1 | row_op << 1)
        poke8(op + row, row_op)
        if is_narrow:
            poke8(buffer + row, row_buffer)
            poke8(site + row, row_site)
        else:
            fill(buffer + buffer_width * row, buffer_width, 1, row_buffer)
            fill(site + site_width * row, site_width, 1, row_site)
    return buffer_bits, site_bits, codes, to_watch


put_sites = compile_with_callers(_put_what)


def _put_indices(words: int, rows: int, count: int, kept: int) -> int:
    """Fill the index of rows; return the combined bits."""
    address, width, bits = row_address(words, _INDEX, kept), width_of(words, _INDEX), 0
    if width == 1:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke8(address + row, index)
    elif width == 2:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke16(address + 2 * row, index)
    elif width == 4:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke32(address + 4 * row, index)
    else:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke(address, row, index)
    return bits


put_indices = compile_with_callers(_put_indices)


def _integer_loader(bits: int, *, signed: bool = True) -> Any:
    def load(builder: Builder, address: Value) -> Value:
        value = builder.load(element_pointer(builder, address, ir.IntType(bits)))
        if bits == I64.width:
            return value
        return (builder.sext if signed else builder.zext)(value, I64)

    return load


_LOADS = {
    CODES[dtype]: _integer_loader(8 * dtype.itemsize, signed=dtype.kind == "i")
    for dtype in CODES
    if dtype.kind in "biu"
}  # fmt: skip


def _as_long(typing: TypingContext, address: types.Type, code: types.Type) -> Intrinsic:
    """Load the integer at an address, of the dtype with this code."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return _select_by_code(builder, args[1], {c: load(builder, args[0]) for c, load in _LOADS.items()})

    return types.int64(types.int64, types.int64), generate


def _as_double(typing: TypingContext, address: types.Type, code: types.Type) -> Intrinsic:
    """Load the number at an address, of the dtype with this code, as a float64; half precision is not supported."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        b, address, double = builder, args[0], ir.DoubleType()
        values = {
            code: (b.uitofp if DTYPES[code].kind == "u" else b.sitofp)(load(b, address), double)
            for code, load in _LOADS.items()
        }  # fmt: skip
        values[CODES[np.dtype(np.float32)]] = b.fpext(
            b.load(element_pointer(b, address, ir.FloatType())), double
        )
        values[CODES[np.dtype(np.float64)]] = b.load(element_pointer(b, address, double))
        return _select_by_code(b, args[1], values)

    return types.float64(types.int64, types.int64), generate


def _select_by_code(builder: Builder, code: Any, values: dict[int, Any]) -> Value:
    """Select the value that belongs to a code; each row has room for the widest one."""
    first, *others = values.items()
    result = first[1]
    for other, value in others:
        result = builder.select(builder.icmp_signed("==", code, I64(other)), value, result)
    return result


def _store_double(typing: TypingContext, address: types.Type, value: types.Type) -> Intrinsic:
    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        builder.store(args[1], element_pointer(builder, args[0], ir.DoubleType()))
        return context.get_dummy_value()

    return types.none(types.int64, types.float64), generate


as_long, as_double, store_double = intrinsic(_as_long), intrinsic(_as_double), intrinsic(_store_double)


def _convert(words: int, rows: int, count: int, kept: int) -> None:
    """Fill the value of rows with different dtypes, in a column of float64 or int64."""
    address, is_double = row_address(words, _VALUE, kept), peek(words, IntakeWord.KIND) == ValueKind.FLOAT64
    for row in range(count):
        address_of_row = rows + ROW_BYTES * row
        code = peek32(address_of_row + KEY_AT) >> SITE_BITS & _CODE_MASK
        if is_double:
            store_double(address + 8 * row, as_double(address_of_row + VALUE_AT, code))
        else:
            poke(address, row, as_long(address_of_row + VALUE_AT, code))


convert = compile_with_callers(_convert)


def _put_values(words: int, rows: int, count: int, kept: int, codes: int) -> bool:
    """Fill the value of rows with these dtypes; return False if the column can't hold them."""
    address, width, value = row_address(words, _VALUE, kept), width_of(words, _VALUE), rows + VALUE_AT
    if codes & ~peek(words, IntakeWord.OWN_CODES):
        if peek(words, IntakeWord.KIND) == ValueKind.OWN_DTYPE or codes & ~peek(
            words, IntakeWord.CONVERTIBLE_CODES
        ):
            return False
        convert(words, rows, count, kept)
    elif width == 4:
        for row in range(count):
            poke32(address + 4 * row, peek32(value + ROW_BYTES * row))
    elif width == 8:
        for row in range(count):
            poke(address, row, peek(value + ROW_BYTES * row, 0))
    elif width == 2:
        for row in range(count):
            poke16(address + 2 * row, peek16(value + ROW_BYTES * row))
    else:
        for row in range(count):
            poke8(address + row, peek8(value + ROW_BYTES * row))
    return True


put_values = compile_with_callers(_put_values)


def _first_new_key(words: int, rows: int, count: int) -> int:
    """Find the first row whose buffer or site is new; return the number of rows if there is none."""
    for row in range(count):
        key = peek32(rows + ROW_BYTES * row + KEY_AT)
        buffer = peek32(peek(words, IntakeWord.BUFFERS) + 4 * (key >> SITE_BITS))
        if (buffer | peek32(peek(words, IntakeWord.SITES) + 4 * (key & _SITE_MASK))) == _NEW:
            return row
    return count


first_new_key = compile_with_callers(_first_new_key)


def _decode_at(state: int, words: int, rows: int, count: int, kept: int) -> int:
    """Fill all columns but the value, from row `kept` on; store the combined bits of numbers in `IntakeWord.BITS`.

    Returns the first row of an unknown buffer or site, or the number of rows if there is none.
    """
    buffers, sites, codes, _ = put_sites(words, rows, count, kept)
    if buffers == _NEW or sites == _NEW:
        return first_new_key(words, rows, count)
    bits = words + 8 * IntakeWord.BITS
    poke(bits, _PHASE, put_threads(state, words, rows, count, kept))
    poke(bits, _BUFFER, buffers)
    poke(bits, _SITE, sites)
    poke(bits, _INDEX, put_indices(words, rows, count, kept))
    poke(words, IntakeWord.CODES, codes)
    return count


decode_at = compile_cached(_decode_at)


def type_of_values(codes: int) -> np.dtype[Any]:
    """Return the common dtype of the dtypes whose codes are the bits of `codes`."""
    present = [dtype for code, dtype in enumerate(DTYPES) if codes >> code & 1]
    return present[0] if len(present) == 1 else np.result_type(*present)


def fill_values(rows: NDArray[Any], codes: int, target: NDArray[Any]) -> None:
    """Write the values of rows, whose dtypes' codes are the bits of `codes`, into a column that is wide enough."""
    present = [code for code in range(len(DTYPES)) if codes >> code & 1]
    if len(present) == 1:
        target[...] = _view_values(rows, DTYPES[present[0]])
        return
    code = rows["key"] >> SITE_BITS & _CODE_MASK
    for present_code in present:
        has_code = code == present_code
        target[has_code] = _view_values(rows, DTYPES[present_code])[has_code]


def _view_values(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ndarray(len(rows), dtype, rows, VALUE_AT, (ROW_BYTES,))


def view_rounds(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the numbers of rounds that rows record; see rewrite/rounds.py."""
    return np.ndarray(len(rows), np.uint64, rows, ROUND_AT, (ROW_BYTES,))

"""From rows, as compiled code writes them, to columns, which are addresses and widths here.

So this is compiled once for columns of any width. Python calls it by `decode_at`, and compiled code parts of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic
from numpy.typing import NDArray

from ..cached import cached, part
from ..state import (
    CODE_BITS,
    CODES,
    COLUMNS,
    CONTEXT_AT,
    DTYPES,
    INTAKE_COLUMNS,
    KEY_AT,
    ROW_BYTES,
    SITE_BITS,
    SITES,
    VALUE_AT,
    ColumnWord,
    IntakeWord,
    ValueKind,
    Word,
)
from ..words import I64, at, peek, peek8, peek16, peek32, poke, poke8, poke16, poke32

_COLUMN_BYTES = 8 * len(ColumnWord)
_LOW, _CODE = SITES - 1, (1 << CODE_BITS) - 1
_NEW = 0xFFFFFFFF  # in place of a number that nobody knows yet: all bits of -1, for which no column is wide enough
# Columns, as `INTAKE_COLUMNS` has them.
_BLOCK, _THREAD, _PHASE, _BUFFER, _SITE, _OP, _INDEX, _VALUE = range(len(INTAKE_COLUMNS))


def _place(words: Any, number: Any, row: Any) -> Any:
    """Return the address of a row of a column."""
    column = words + 8 * COLUMNS + _COLUMN_BYTES * number
    return peek(column, ColumnWord.ADDRESS) + row * peek(column, ColumnWord.WIDTH)


def _width(words: Any, number: Any) -> Any:
    """Return how many bytes a row of a column takes."""
    return peek(words + 8 * COLUMNS + _COLUMN_BYTES * number, ColumnWord.WIDTH)


place_of, width_of = part(_place), part(_width)


def _fits(bits: Any, width: Any) -> Any:
    """Return whether whole numbers, whose bits are among these, need no more bytes each."""
    return bits >= 0 and (width == 8 or bits >> (8 * width) == 0)


fits = part(_fits)


def _fill(place: Any, width: Any, count: Any, number: Any) -> None:
    """Put a number into so many rows of a column from an address on."""
    if width == 1:
        for row in range(count):
            poke8(place + row, number)
    elif width == 2:
        for row in range(count):
            poke16(place + 2 * row, number)
    elif width == 4:
        for row in range(count):
            poke32(place + 4 * row, number)
    else:
        for row in range(count):
            poke(place, row, number)


fill = part(_fill)


def _put_who(state: Any, words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill block, thread and phase of rows; return the bits that any phase has."""
    blocks, phases, threads = peek(state, Word.BLOCKS), peek(state, Word.PHASES), peek(state, Word.THREADS)
    begin, bits, each = 0, 0, 1.0 / threads
    while begin < count:
        context = peek32(rows + ROW_BYTES * begin + CONTEXT_AT)
        end = begin + 1
        while end < count and peek32(rows + ROW_BYTES * end + CONTEXT_AT) == context:
            end += 1
        number = np.int64((context + 0.5) * each)  # of numbers as small as these; to divide takes longer
        phase = peek(phases, number)
        bits |= phase
        here, alike = kept + begin, end - begin
        fill(place_of(words, _BLOCK, here), width_of(words, _BLOCK), alike, peek(blocks, number))
        fill(place_of(words, _THREAD, here), width_of(words, _THREAD), alike, context - number * threads)
        fill(place_of(words, _PHASE, here), width_of(words, _PHASE), alike, phase)
        begin = end
    return bits


put_who = part(_put_who)


def _put_what(words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill buffer, site and op of rows.

    Returns the bits that any buffer has, and those of any site (all of them where one is new), a bit for the code of
    each dtype, and whether it is to be noted what they touch.
    """
    buffers, sites = peek(words, IntakeWord.BUFFERS), peek(words, IntakeWord.SITES)
    buffer, site = place_of(words, _BUFFER, kept), place_of(words, _SITE, kept)
    wide, narrow = width_of(words, _BUFFER), width_of(words, _SITE)
    ops, op, watched = (
        peek(words, IntakeWord.OPS),
        place_of(words, _OP, kept),
        peek(words, IntakeWord.WATCHED),
    )
    watch, buffer_bits, site_bits, codes, small = 0, 0, 0, 0, wide == 1 and narrow == 1
    for row in range(count):
        key = peek32(rows + ROW_BYTES * row + KEY_AT)
        what, where = key >> SITE_BITS, key & _LOW
        mine, here, done = peek32(buffers + 4 * what), peek32(sites + 4 * where), peek8(ops + where)
        buffer_bits |= mine
        site_bits |= here
        codes |= 1 << (what & _CODE)
        watch |= peek8(watched + what) & (1 | done << 1)
        poke8(op + row, done)
        if small:
            poke8(buffer + row, mine)
            poke8(site + row, here)
        else:
            fill(buffer + wide * row, wide, 1, mine)
            fill(site + narrow * row, narrow, 1, here)
    return buffer_bits, site_bits, codes, watch


put_what = part(_put_what)


def _put_indices(words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill the index of rows; return the bits that any has."""
    place, width, bits = place_of(words, _INDEX, kept), width_of(words, _INDEX), 0
    if width == 1:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke8(place + row, index)
    elif width == 2:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke16(place + 2 * row, index)
    elif width == 4:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke32(place + 4 * row, index)
    else:
        for row in range(count):
            index = peek(rows + ROW_BYTES * row, 0)
            bits |= index
            poke(place, row, index)
    return bits


put_indices = part(_put_indices)


def _number(bits: int, *, signed: bool = True) -> Any:
    def load(builder: Any, address: Any) -> Any:
        value = builder.load(at(builder, address, ir.IntType(bits)))
        if bits == I64.width:
            return value
        return (builder.sext if signed else builder.zext)(value, I64)

    return load


_LOADS = {
    CODES[dtype]: _number(8 * dtype.itemsize, signed=dtype.kind == "i") for dtype in CODES if dtype.kind in "biu"
}  # fmt: skip


def _as_long(typing: Any, address: Any, code: Any) -> Any:
    """Return the whole number at an address, of the dtype with this code."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _chosen(builder, args[1], {c: load(builder, args[0]) for c, load in _LOADS.items()})

    return types.int64(types.int64, types.int64), generate


def _as_double(typing: Any, address: Any, code: Any) -> Any:
    """Return the number at an address, of the dtype with this code, as a float64; half precision is not among them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, address, double = builder, args[0], ir.DoubleType()
        values = {
            code: (b.uitofp if DTYPES[code].kind == "u" else b.sitofp)(load(b, address), double)
            for code, load in _LOADS.items()
        }  # fmt: skip
        values[CODES[np.dtype(np.float32)]] = b.fpext(b.load(at(b, address, ir.FloatType())), double)
        values[CODES[np.dtype(np.float64)]] = b.load(at(b, address, double))
        return _chosen(b, args[1], values)

    return types.float64(types.int64, types.int64), generate


def _chosen(builder: Any, code: Any, values: dict[int, Any]) -> Any:
    """Return the value that belongs to a code; each row has room for the widest."""
    first, *others = values.items()
    found = first[1]
    for other, value in others:
        found = builder.select(builder.icmp_signed("==", code, I64(other)), value, found)
    return found


def _store_double(typing: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], at(builder, args[0], ir.DoubleType()))
        return context.get_dummy_value()

    return types.none(types.int64, types.float64), generate


as_long, as_double, store_double = intrinsic(_as_long), intrinsic(_as_double), intrinsic(_store_double)


def _convert(words: Any, rows: Any, count: Any, kept: Any) -> None:
    """Fill the value of rows whose dtypes differ, in a column of float64 or int64."""
    place, doubles = place_of(words, _VALUE, kept), peek(words, IntakeWord.KIND) == ValueKind.FLOAT64
    for row in range(count):
        here = rows + ROW_BYTES * row
        code = peek32(here + KEY_AT) >> SITE_BITS & _CODE
        if doubles:
            store_double(place + 8 * row, as_double(here + VALUE_AT, code))
        else:
            poke(place, row, as_long(here + VALUE_AT, code))


convert = part(_convert)


def _put_values(words: Any, rows: Any, count: Any, kept: Any, codes: Any) -> Any:
    """Fill the value of rows, whose dtypes are these; return whether the column can hold them."""
    place, width, value = place_of(words, _VALUE, kept), width_of(words, _VALUE), rows + VALUE_AT
    if codes & ~peek(words, IntakeWord.SAME):
        if peek(words, IntakeWord.KIND) == ValueKind.SAME or codes & ~peek(words, IntakeWord.HELD):
            return False
        convert(words, rows, count, kept)
    elif width == 4:
        for row in range(count):
            poke32(place + 4 * row, peek32(value + ROW_BYTES * row))
    elif width == 8:
        for row in range(count):
            poke(place, row, peek(value + ROW_BYTES * row, 0))
    elif width == 2:
        for row in range(count):
            poke16(place + 2 * row, peek16(value + ROW_BYTES * row))
    else:
        for row in range(count):
            poke8(place + row, peek8(value + ROW_BYTES * row))
    return True


put_values = part(_put_values)


def _first_unknown(words: Any, rows: Any, count: Any) -> Any:
    """Return the first row whose buffer or site is new, or how many rows there are."""
    for row in range(count):
        key = peek32(rows + ROW_BYTES * row + KEY_AT)
        buffer = peek32(peek(words, IntakeWord.BUFFERS) + 4 * (key >> SITE_BITS))
        if (buffer | peek32(peek(words, IntakeWord.SITES) + 4 * (key & _LOW))) == _NEW:
            return row
    return count


first_unknown = part(_first_unknown)


def _decode_at(state: Any, words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill all columns but the value of rows, from a row of theirs on; say in `IntakeWord.BITS` what bits numbers have.

    Returns the first row of unknown buffer or site, or how many there are.
    """
    buffers, sites, codes, _ = put_what(words, rows, count, kept)
    if buffers == _NEW or sites == _NEW:
        return first_unknown(words, rows, count)
    bits = words + 8 * IntakeWord.BITS
    poke(bits, _PHASE, put_who(state, words, rows, count, kept))
    poke(bits, _BUFFER, buffers)
    poke(bits, _SITE, sites)
    poke(bits, _INDEX, put_indices(words, rows, count, kept))
    poke(words, IntakeWord.CODES, codes)
    return count


decode_at = cached(_decode_at)


def type_of_values(codes: int) -> np.dtype[Any]:
    """Return the widest of the dtypes whose codes are the bits of `codes`."""
    present = [dtype for code, dtype in enumerate(DTYPES) if codes >> code & 1]
    return present[0] if len(present) == 1 else np.result_type(*present)


def fill_values(rows: NDArray[Any], codes: int, target: NDArray[Any]) -> None:
    """Write the values of rows, whose dtypes' codes are the bits of `codes`, into a column as wide or wider."""
    present = [code for code in range(len(DTYPES)) if codes >> code & 1]
    if len(present) == 1:
        target[...] = _values_as(rows, DTYPES[present[0]])
        return
    code = rows["key"] >> SITE_BITS & _CODE
    for one in present:
        mine = code == one
        target[mine] = _values_as(rows, DTYPES[one])[mine]


def _values_as(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.ndarray(len(rows), dtype, rows, VALUE_AT, (ROW_BYTES,))

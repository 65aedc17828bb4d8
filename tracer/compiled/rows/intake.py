"""What compiled code does by itself with rows once there is no more room for others: the driver's usual work with them.

It takes Python's lock, and some fifty microseconds, to ask the driver. So rows in which nothing is new are put into
columns or counted here, just as `RowRecorder` would; all others are left to it. Addresses and widths of columns are
numbers, so that this is compiled once for columns of any width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray
from numba.core import types
from numba.core.extending import intrinsic

from ...model.trace import WARP, Op
from ..cached import part
from ..state import (
    CODE_BITS,
    CODES,
    DTYPES,
    IDLE_PHASES,
    MAX_PHASES,
    REGIONS,
    ROW,
    SEAT_WORDS,
    SITE_BITS,
    SITES,
    ColumnWord,
    CountWord,
    IntakeWord,
    SeatWord,
    ValueKind,
    Word,
)
from ..words import I64, at, peek, peek8, peek16, peek32, pointer, poke, poke8, poke16, poke32
from .touched import mark

_ROW_BYTES, _SEAT_BYTES, _COLUMN_BYTES = ROW.itemsize, 8 * SEAT_WORDS, 8 * len(ColumnWord)
_KEY, _CONTEXT, _VALUE_AT = (ROW.fields[name][1] for name in ("key", "context", "value"))  # type: ignore[index]
_OPS = len(Op)
_LOW, _CODE, _KEYS = SITES - 1, (1 << CODE_BITS) - 1, REGIONS << CODE_BITS
_BLOCK, _THREAD, _PHASE, _BUFFER, _SITE, _OP, _INDEX, _VALUE = range(
    8
)  # columns, as `INTAKE_COLUMNS` has them


def _place(words: Any, number: Any, row: Any) -> Any:
    """Return the address of a row of a column."""
    column = words + 8 * IntakeWord.COLUMNS + _COLUMN_BYTES * number
    return peek(column, ColumnWord.ADDRESS) + row * peek(column, ColumnWord.WIDTH)


def _width(words: Any, number: Any) -> Any:
    """Return how many bytes a row of a column takes."""
    return peek(words + 8 * IntakeWord.COLUMNS + _COLUMN_BYTES * number, ColumnWord.WIDTH)


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
    """Fill block, thread and phase of rows; return whether they are wide enough."""
    blocks, phases, threads = peek(state, Word.BLOCKS), peek(state, Word.PHASES), peek(state, Word.THREADS)
    begin, bits, each = 0, 0, 1.0 / threads
    while begin < count:
        context = peek32(rows + _ROW_BYTES * begin + _CONTEXT)
        end = begin + 1
        while end < count and peek32(rows + _ROW_BYTES * end + _CONTEXT) == context:
            end += 1
        number = np.int64((context + 0.5) * each)  # of numbers as small as these; to divide takes longer
        phase = peek(phases, number)
        bits |= phase
        here, alike = kept + begin, end - begin
        fill(place_of(words, _BLOCK, here), width_of(words, _BLOCK), alike, peek(blocks, number))
        fill(place_of(words, _THREAD, here), width_of(words, _THREAD), alike, context - number * threads)
        fill(place_of(words, _PHASE, here), width_of(words, _PHASE), alike, phase)
        begin = end
    return fits(bits, width_of(words, _PHASE))


put_who = part(_put_who)


def _put_what(words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill buffer, site and op of rows.

    Returns a bit for the code of each dtype among them, 0 where a key is new, and whether it is to be noted what
    they touch.
    """
    buffers, sites = peek(words, IntakeWord.BUFFERS), peek(words, IntakeWord.SITES)
    buffer, site = place_of(words, _BUFFER, kept), place_of(words, _SITE, kept)
    ops, op = peek(words, IntakeWord.OPS), place_of(words, _OP, kept)
    if width_of(words, _BUFFER) != 1 or width_of(words, _SITE) != 1:
        return 0, 0
    watched, watch, bits, codes = peek(words, IntakeWord.WATCHED), 0, 0, 0
    for row in range(count):
        key = peek32(rows + _ROW_BYTES * row + _KEY)
        what, where = key >> SITE_BITS, key & _LOW
        mine, here = peek32(buffers + 4 * what), peek32(sites + 4 * where)  # -1, all bits, where that is new
        bits |= mine | here
        codes |= 1 << (what & _CODE)
        poke8(buffer + row, mine)
        poke8(site + row, here)
        done = peek8(ops + where)
        watch |= peek8(watched + what) & (1 | done << 1)
        poke8(op + row, done)
    return codes if fits(bits, 1) else 0, watch


put_what = part(_put_what)


def _put_indices(words: Any, rows: Any, count: Any, kept: Any) -> Any:
    """Fill the index of rows; return whether the column is wide enough."""
    place, width, bits = place_of(words, _INDEX, kept), width_of(words, _INDEX), 0
    if width == 1:
        for row in range(count):
            index = peek(rows + _ROW_BYTES * row, 0)
            bits |= index
            poke8(place + row, index)
    elif width == 2:
        for row in range(count):
            index = peek(rows + _ROW_BYTES * row, 0)
            bits |= index
            poke16(place + 2 * row, index)
    elif width == 4:
        for row in range(count):
            index = peek(rows + _ROW_BYTES * row, 0)
            bits |= index
            poke32(place + 4 * row, index)
    else:
        for row in range(count):
            poke(place, row, peek(rows + _ROW_BYTES * row, 0))
    return fits(bits, width)


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
        here = rows + _ROW_BYTES * row
        code = peek32(here + _KEY) >> SITE_BITS & _CODE
        if doubles:
            store_double(place + 8 * row, as_double(here + _VALUE_AT, code))
        else:
            poke(place, row, as_long(here + _VALUE_AT, code))


convert = part(_convert)


def _put_values(words: Any, rows: Any, count: Any, kept: Any, codes: Any) -> Any:
    """Fill the value of rows, whose dtypes are these; return whether the column can hold them."""
    place, width, value = place_of(words, _VALUE, kept), width_of(words, _VALUE), rows + _VALUE_AT
    if codes & ~peek(words, IntakeWord.SAME):
        if peek(words, IntakeWord.KIND) == ValueKind.SAME or codes & ~peek(words, IntakeWord.HELD):
            return False
        convert(words, rows, count, kept)
    elif width == 4:
        for row in range(count):
            poke32(place + 4 * row, peek32(value + _ROW_BYTES * row))
    elif width == 8:
        for row in range(count):
            poke(place, row, peek(value + _ROW_BYTES * row, 0))
    elif width == 2:
        for row in range(count):
            poke16(place + 2 * row, peek16(value + _ROW_BYTES * row))
    else:
        for row in range(count):
            poke8(place + row, peek8(value + _ROW_BYTES * row))
    return True


put_values = part(_put_values)


def _are_marked(words: Any, rows: Any, count: Any) -> Any:
    """Note what memory rows touch; return False where only the driver can."""
    keys = carray(pointer(rows), (count, _ROW_BYTES // 4), np.uint32)[:, _KEY // 4]
    indices = carray(pointer(rows), (count, _ROW_BYTES // 8), np.int64)[:, 0]
    where = carray(pointer(peek(words, IntakeWord.WHERE)), (_KEYS, 3), np.int64)
    ops = carray(pointer(peek(words, IntakeWord.OPS)), (SITES,), np.uint8)
    there = carray(pointer(peek(words, IntakeWord.TOUCHED)), (peek(words, IntakeWord.PLACES),), np.uint8)
    return mark(keys, indices, where, ops, peek(words, IntakeWord.SHIFT), there) == count


are_marked = part(_are_marked)


def _note_taken(state: Any, words: Any, taken: Any) -> None:
    """Note that so many rows have been taken in, and begin with the first row again."""
    poke(words, IntakeWord.TAKEN, peek(words, IntakeWord.TAKEN) + taken)
    poke(state, Word.ROW, peek(state, Word.BEGIN))
    poke(state, Word.BASE, peek(state, Word.BASE) + taken)


def _number_anew(state: Any) -> None:
    """Number phases from the one under way on, of which all rows are that are left; see `RowRecorder`."""
    last = max(peek(state, Word.NUMBERS) - 1, 0)
    blocks, phases = peek(state, Word.BLOCKS), peek(state, Word.PHASES)
    poke(blocks, 0, peek(blocks, last))
    poke(phases, 0, peek(phases, last))
    poke(state, Word.NUMBERS, min(peek(state, Word.NUMBERS), 1))
    poke(state, Word.NUMBER, 0)
    for seat in range(peek(state, Word.CAPACITY)):
        poke(peek(state, Word.SEATS) + seat * _SEAT_BYTES, SeatWord.NUMBER, 0)
    poke(state, Word.CONTEXT, peek(state, Word.CONTEXT) % peek(state, Word.THREADS))


note_taken, number_anew = part(_note_taken), part(_number_anew)


def _are_of_one_thread(rows: Any, begin: Any, end: Any) -> Any:
    """Return whether these rows may be of one thread, of which the driver looks whether it waits for another."""
    first, last = rows + _ROW_BYTES * begin, rows + _ROW_BYTES * (end - 1)
    return begin < end and peek32(first + _CONTEXT) == peek32(last + _CONTEXT)


are_of_one_thread = part(_are_of_one_thread)


def _has_idle_phases(state: Any) -> Any:
    """Return whether a block has come to so many phases that one core would look whether it ever ends."""
    most = 0
    for number in range(peek(state, Word.NUMBERS)):
        most = max(most, peek(peek(state, Word.PHASES), number))
    return most >= IDLE_PHASES


has_idle_phases = part(_has_idle_phases)


def _is_for_driver(state: Any, words: Any, rows: Any, begin: Any, end: Any) -> Any:
    """Return whether it is the driver's to look at these rows, whatever they are."""
    if are_of_one_thread(rows, begin, end) or peek(state, Word.NUMBERS) >= MAX_PHASES // 2:
        return True
    return peek(words, IntakeWord.TOUCHED) and has_idle_phases(state)


is_for_driver = part(_is_for_driver)


def _kept_at_once(state: Any, words: Any, rows: Any, count: Any) -> Any:
    """Put rows into columns; return False where that is the driver's."""
    kept = peek(words, IntakeWord.KEPT)
    if kept + count > peek(words, IntakeWord.MOST) or is_for_driver(state, words, rows, 0, count):
        return False
    codes, watch = put_what(words, rows, count, kept)
    if (
        codes == 0
        or not put_values(words, rows, count, kept, codes)
        or not put_indices(words, rows, count, kept)
    ):
        return False
    if not put_who(state, words, rows, count, kept) or (watch and not are_marked(words, rows, count)):
        return False
    poke(words, IntakeWord.KEPT, kept + count)
    note_taken(state, words, count)
    if peek(words, IntakeWord.IN_TURNS) == 0:
        number_anew(state)
    return True


kept_at_once = part(_kept_at_once)


def _call(typing: Any, function: Any, argument: Any) -> Any:
    """Call a compiled function of one whole number, which returns one, at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = (types.int64,)
        kind = context.call_conv.get_function_type(types.int64, kinds)
        entry = builder.inttoptr(args[0], kind.as_pointer())
        _, result = context.call_conv.call_function(builder, entry, types.int64, kinds, [args[1]])
        return result

    return types.int64(types.int64, types.int64), generate


call = intrinsic(_call)


def _whole_warps(state: Any, rows: Any, count: Any) -> Any:
    """Return up to where rows are of warps that are through with their phase; see `RowRecorder`."""
    number, context = peek(state, Word.NUMBER), peek(state, Word.CONTEXT)
    if peek(state, Word.IN_WARPS) == 0:
        number += (context - number) // WARP * WARP
    while count > 0 and peek32(rows + _ROW_BYTES * (count - 1) + _CONTEXT) >= number:
        count -= 1
    return count


whole_warps = part(_whole_warps)


def _watched(words: Any, counts: Any) -> Any:
    """Return how many requests have been counted of which it is to be noted what they touch."""
    sums, flags, found = peek(counts, CountWord.SUMS), peek(words, IntakeWord.FLAGS), 0
    for number in range(peek(counts, CountWord.RULE_COUNT) * _OPS):
        if peek8(flags + number):
            found += peek(sums, 3 * number)
    return found


watched_of = part(_watched)


def _counted(words: Any, rows: Any, count: Any) -> Any:
    """Count rows, and note what memory they touch, where that is to be known; return how many are counted."""
    counts, notes = peek(words, IntakeWord.COUNTS), peek(words, IntakeWord.TOUCHED) != 0
    poke(counts, CountWord.ROWS, rows)
    poke(counts, CountWord.COUNT, count)
    before = watched_of(words, counts) if notes else 0
    taken = call(peek(words, IntakeWord.COUNTER), counts)
    if notes and watched_of(words, counts) != before and not are_marked(words, rows, taken):
        poke(words, IntakeWord.UNMARKED, 1)
    return taken


counted = part(_counted)


def _move_down(state: Any, rows: Any, taken: Any, count: Any, by: Any) -> None:
    """Let the rows begin with those that were not taken, of contexts that are less by this."""
    for row in range(count - taken):
        target, source = rows + _ROW_BYTES * row, rows + _ROW_BYTES * (taken + row)
        for word in range(_ROW_BYTES // 8):
            poke(target, word, peek(source, word))
        if by:
            poke32(target + _CONTEXT, peek32(target + _CONTEXT) - by)
    poke(state, Word.ROW, rows + _ROW_BYTES * (count - taken))


move_down = part(_move_down)


def _counted_at_once(state: Any, words: Any, rows: Any, count: Any) -> Any:
    """Count the rows of whole warps, and keep the others; return False where there is more to do for the driver."""
    left = peek(words, IntakeWord.LEFT)
    if peek(state, Word.RESUMED) or is_for_driver(state, words, rows, left, count):
        return False
    whole = whole_warps(state, rows, count)
    taken = counted(words, rows, whole)
    note_taken(state, words, taken)
    if taken < whole or count - taken > count // 4:
        move_down(state, rows, taken, count, 0)
        poke(words, IntakeWord.LEFT, max(0, left - taken))
        return False
    poke(words, IntakeWord.LEFT, count - taken)
    move_down(state, rows, taken, count, (peek(state, Word.NUMBERS) - 1) * peek(state, Word.THREADS))
    number_anew(state)
    return True


counted_at_once = part(_counted_at_once)


def _taken_in(state: Any) -> Any:
    """Take in the rows, of which there are as many as there is room for; return False where that is the driver's."""
    words = peek(state, Word.INTAKE)
    if words == 0:
        return False
    rows = peek(state, Word.BEGIN)
    count = (peek(state, Word.ROW) - rows) // _ROW_BYTES
    if peek(words, IntakeWord.COUNTER):
        return counted_at_once(state, words, rows, count)
    return kept_at_once(state, words, rows, count)


taken_in = part(_taken_in)

"""What compiled code does by itself with rows once there is no more room for others: the driver's usual work with them.

It takes Python's lock, and some fifty microseconds, to ask the driver. So rows in which nothing is new are put into
columns or counted here, just as `RowRecorder` would; all others are left to it.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.extending import intrinsic

from ...model.trace import WARP
from ..cached import part
from ..state import (
    CONTEXT_AT,
    IDLE_PHASES,
    INTAKE_COLUMNS,
    MAX_PHASES,
    ROW_BYTES,
    SEAT_WORDS,
    CountWord,
    IntakeWord,
    SeatWord,
    Word,
)
from ..words import I64, peek, peek32, poke, poke32
from .decode import fits, put_indices, put_values, put_what, put_who, width_of
from .touched import mark

_SEAT_BYTES = 8 * SEAT_WORDS
_BUFFER, _SITE, _PHASE, _INDEX = map(INTAKE_COLUMNS.index, ("buffer", "site", "phase", "index"))


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
    first, last = rows + ROW_BYTES * begin, rows + ROW_BYTES * (end - 1)
    return begin < end and peek32(first + CONTEXT_AT) == peek32(last + CONTEXT_AT)


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
    buffers, sites, codes, watch = put_what(words, rows, count, kept)
    if not fits(buffers, width_of(words, _BUFFER)) or not fits(sites, width_of(words, _SITE)):
        return False  # too large a number, or one that nobody knows yet
    if not put_values(words, rows, count, kept, codes):
        return False
    if not fits(put_indices(words, rows, count, kept), width_of(words, _INDEX)):
        return False
    if not fits(put_who(state, words, rows, count, kept), width_of(words, _PHASE)):
        return False
    if watch and mark(peek(words, IntakeWord.TOUCHED), rows, count, peek(words, IntakeWord.OPS)) < count:
        return False  # what a store touches that only the driver can note
    poke(words, IntakeWord.KEPT, kept + count)
    note_taken(state, words, count)
    if peek(words, IntakeWord.IN_TURNS) == 0:
        number_anew(state)
    return True


kept_at_once = part(_kept_at_once)


def _call(typing: Any, function: Any, argument: Any) -> Any:
    """Call a compiled function of one whole number, which returns one, at an address; 0 where it raises."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = (types.int64,)
        kind = context.call_conv.get_function_type(types.int64, kinds)
        entry = builder.inttoptr(args[0], kind.as_pointer())
        status, result = context.call_conv.call_function(builder, entry, types.int64, kinds, [args[1]])
        return builder.select(status.is_ok, result, I64(0))

    return types.int64(types.int64, types.int64), generate


call = intrinsic(_call)


def _whole_warps(state: Any, rows: Any, count: Any) -> Any:
    """Return up to where rows are of warps that are through with their phase; see `RowRecorder`."""
    number, context = peek(state, Word.NUMBER), peek(state, Word.CONTEXT)
    if peek(state, Word.IN_WARPS) == 0:
        number += (context - number) // WARP * WARP
    while count > 0 and peek32(rows + ROW_BYTES * (count - 1) + CONTEXT_AT) >= number:
        count -= 1
    return count


whole_warps = part(_whole_warps)


def _counted(words: Any, rows: Any, count: Any) -> Any:
    """Count rows, and note what memory they touch, where that is to be known; return how many are counted."""
    counts = peek(words, IntakeWord.COUNTS)
    poke(counts, CountWord.ROWS, rows)
    poke(counts, CountWord.COUNT, count)
    return call(peek(words, IntakeWord.COUNTER), counts)


counted = part(_counted)


def _move_down(state: Any, rows: Any, taken: Any, count: Any, by: Any) -> None:
    """Let the rows begin with those that were not taken, of contexts that are less by this."""
    for row in range(count - taken):
        target, source = rows + ROW_BYTES * row, rows + ROW_BYTES * (taken + row)
        for word in range(ROW_BYTES // 8):
            poke(target, word, peek(source, word))
        if by:
            poke32(target + CONTEXT_AT, peek32(target + CONTEXT_AT) - by)
    poke(state, Word.ROW, rows + ROW_BYTES * (count - taken))


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
    count = (peek(state, Word.ROW) - rows) // ROW_BYTES
    if peek(words, IntakeWord.COUNTER):
        return counted_at_once(state, words, rows, count)
    return kept_at_once(state, words, rows, count)


taken_in = part(_taken_in)

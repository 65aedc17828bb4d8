"""The driver's usual work with rows, done by compiled code when the buffer of rows is full.

A call of the driver takes the GIL and about 50 µs. So rows without new buffers or sites are put into columns or counted
here, exactly as `RowRecorder` does. All others are left to the driver.
"""

from __future__ import annotations

from collections.abc import Callable

from numba.core import types
from numba.core.extending import intrinsic

from ...model.trace import WARP
from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..compile_cached import compile_with_callers
from ..memory_words import I64, peek, peek32, poke, poke32
from ..state import (
    BLOCK_SLOT_WORDS,
    CONTEXT_AT,
    IDLE_PHASES,
    INTAKE_COLUMNS,
    MAX_PHASES,
    ROW_BYTES,
    BlockSlot,
    CountWord,
    IntakeWord,
    Word,
)
from .decode import fits, put_indices, put_sites, put_threads, put_values, width_of
from .touched_memory import mark

_BLOCK_SLOT_BYTES = 8 * BLOCK_SLOT_WORDS
_BUFFER, _SITE, _PHASE, _INDEX = map(INTAKE_COLUMNS.index, ("buffer", "site", "phase", "index"))


def _note_taken(state: int, words: int, taken: int) -> None:
    """Record that rows have been taken in, and start again at the first row."""
    poke(words, IntakeWord.TAKEN, peek(words, IntakeWord.TAKEN) + taken)
    poke(state, Word.ROW, peek(state, Word.BEGIN))
    poke(state, Word.BASE, peek(state, Word.BASE) + taken)


def _renumber_phases(state: int) -> None:
    """Renumber phases from the current one on; the remaining rows all belong to it. See `RowRecorder`."""
    last = max(peek(state, Word.NUMBERS) - 1, 0)
    blocks, phases = peek(state, Word.BLOCKS), peek(state, Word.PHASES)
    poke(blocks, 0, peek(blocks, last))
    poke(phases, 0, peek(phases, last))
    poke(state, Word.NUMBERS, min(peek(state, Word.NUMBERS), 1))
    poke(state, Word.NUMBER, 0)
    for slot_number in range(peek(state, Word.CAPACITY)):
        poke(peek(state, Word.BLOCK_SLOTS) + slot_number * _BLOCK_SLOT_BYTES, BlockSlot.NUMBER, 0)
    poke(state, Word.CONTEXT, peek(state, Word.CONTEXT) % peek(state, Word.THREADS))


note_taken, renumber_phases = compile_with_callers(_note_taken), compile_with_callers(_renumber_phases)


def _are_of_one_thread(rows: int, begin: int, end: int) -> bool:
    """Check if these rows may all be of one thread; the driver checks if it waits for another one."""
    first, last = rows + ROW_BYTES * begin, rows + ROW_BYTES * (end - 1)
    return begin < end and peek32(first + CONTEXT_AT) == peek32(last + CONTEXT_AT)


are_of_one_thread = compile_with_callers(_are_of_one_thread)


def _has_idle_phases(state: int) -> bool:
    """Check if a block has come to so many phases that the driver must check if it ever ends."""
    max_phase = 0
    for number in range(peek(state, Word.NUMBERS)):
        max_phase = max(max_phase, peek(peek(state, Word.PHASES), number))
    return max_phase >= IDLE_PHASES


has_idle_phases = compile_with_callers(_has_idle_phases)


def _is_for_driver(state: int, words: int, rows: int, begin: int, end: int) -> int:
    """Check if the driver must look at these rows, whatever they are."""
    if are_of_one_thread(rows, begin, end) or peek(state, Word.NUMBERS) >= MAX_PHASES // 2:
        return True
    return peek(words, IntakeWord.TOUCHED) and has_idle_phases(state)


is_for_driver = compile_with_callers(_is_for_driver)


def _try_keep(state: int, words: int, rows: int, count: int) -> bool:
    """Put rows into columns; return False if the driver must do it."""
    kept = peek(words, IntakeWord.KEPT)
    if kept + count > peek(words, IntakeWord.MAX_KEPT) or is_for_driver(state, words, rows, 0, count):
        return False
    buffers, sites, codes, watch = put_sites(words, rows, count, kept)
    if not fits(buffers, width_of(words, _BUFFER)) or not fits(sites, width_of(words, _SITE)):
        return False  # too large a number, or a new buffer or site
    if not put_values(words, rows, count, kept, codes):
        return False
    if not fits(put_indices(words, rows, count, kept), width_of(words, _INDEX)):
        return False
    if not fits(put_threads(state, words, rows, count, kept), width_of(words, _PHASE)):
        return False
    if watch and mark(peek(words, IntakeWord.TOUCHED), rows, count, peek(words, IntakeWord.OPS)) < count:
        return False  # a store whose memory only the driver can note
    poke(words, IntakeWord.KEPT, kept + count)
    note_taken(state, words, count)
    if peek(words, IntakeWord.IN_TURNS) == 0:
        renumber_phases(state)
    return True


try_keep = compile_with_callers(_try_keep)


def _call(typing: TypingContext, function: types.Type, argument: types.Type) -> Intrinsic:
    """Call a compiled function at an address, from one integer to another; 0 if it raises."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        argument_types = (types.int64,)
        function_type = context.call_conv.get_function_type(types.int64, argument_types)
        entry = builder.inttoptr(args[0], function_type.as_pointer())
        status, result = context.call_conv.call_function(
            builder, entry, types.int64, argument_types, [args[1]]
        )
        return builder.select(status.is_ok, result, I64(0))

    return types.int64(types.int64, types.int64), generate


call: Callable[[int, int], int] = intrinsic(_call)


def _end_of_complete_warps(state: int, rows: int, count: int) -> int:
    """Find the end of the rows whose warps have finished their phase; see `RowRecorder`."""
    number, context = peek(state, Word.NUMBER), peek(state, Word.CONTEXT)
    if peek(state, Word.IN_WARPS) == 0:
        number += (context - number) // WARP * WARP
    while count > 0 and peek32(rows + ROW_BYTES * (count - 1) + CONTEXT_AT) >= number:
        count -= 1
    return count


end_of_complete_warps = compile_with_callers(_end_of_complete_warps)


def _count_rows(words: int, rows: int, count: int) -> int:
    """Count rows, and note the memory that they touch if that is needed; return the number of rows counted."""
    counts = peek(words, IntakeWord.COUNTS)
    poke(counts, CountWord.ROWS, rows)
    poke(counts, CountWord.COUNT, count)
    return call(peek(words, IntakeWord.COUNTER), counts)


count_rows = compile_with_callers(_count_rows)


def _move_down(state: int, rows: int, taken: int, count: int, offset: int) -> None:
    """Move the rows that were not taken to the beginning, and reduce their contexts by an offset."""
    for row in range(count - taken):
        target, source = rows + ROW_BYTES * row, rows + ROW_BYTES * (taken + row)
        for word in range(ROW_BYTES // 8):
            poke(target, word, peek(source, word))
        if offset:
            poke32(target + CONTEXT_AT, peek32(target + CONTEXT_AT) - offset)
    poke(state, Word.ROW, rows + ROW_BYTES * (count - taken))


move_down = compile_with_callers(_move_down)


def _try_count(state: int, words: int, rows: int, count: int) -> bool:
    """Count the rows of complete warps, and keep the others; return False if the driver has more to do."""
    leftover = peek(words, IntakeWord.LEFTOVER)
    if peek(state, Word.RESUMED) or is_for_driver(state, words, rows, leftover, count):
        return False
    end = end_of_complete_warps(state, rows, count)
    taken = count_rows(words, rows, end)
    note_taken(state, words, taken)
    if taken < end or count - taken > count // 4:
        move_down(state, rows, taken, count, 0)
        poke(words, IntakeWord.LEFTOVER, max(0, leftover - taken))
        return False
    poke(words, IntakeWord.LEFTOVER, count - taken)
    move_down(state, rows, taken, count, (peek(state, Word.NUMBERS) - 1) * peek(state, Word.THREADS))
    renumber_phases(state)
    return True


try_count = compile_with_callers(_try_count)


def _take_in(state: int) -> bool:
    """Take in all rows of a full buffer; return False if the driver must do it."""
    words = peek(state, Word.INTAKE)
    if words == 0:
        return False
    rows = peek(state, Word.BEGIN)
    count = (peek(state, Word.ROW) - rows) // ROW_BYTES
    if peek(words, IntakeWord.COUNTER):
        return try_count(state, words, rows, count)
    return try_keep(state, words, rows, count)


take_in_rows = compile_with_callers(_take_in)

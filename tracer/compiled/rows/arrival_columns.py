"""Convert the scheduler's log of arrivals at barriers and warp operations to columns."""

from __future__ import annotations

from ..compile_cached import compile_cached, compile_with_callers
from ..memory_words import peek, poke, poke8, poke16, poke32
from ..state import ArrivalWord, ColumnWord

_ARRIVAL_BYTES, _COLUMN_BYTES = 8 * len(ArrivalWord), 8 * len(ColumnWord)
_COLUMNS = int(ArrivalWord.OF_WARP)  # the words before `OF_WARP`
_CHUNK = 128  # arrivals that fit into a processor's nearest cache while all columns are written


def _bits_of_arrivals(log: int, count: int, of_warp: int, bits: int) -> int:
    """Count the arrivals at warp operations, or those elsewhere; combine the bits of each of their columns.

    log, bits: addresses, of arrivals and of a word for each column.
    """
    matches = 0
    for column in range(_COLUMNS):
        poke(bits, column, 0)
    for row in range(count):
        arrival = log + _ARRIVAL_BYTES * row
        if peek(arrival, ArrivalWord.OF_WARP) == of_warp:
            matches += 1
            for column in range(_COLUMNS):
                poke(bits, column, peek(bits, column) | peek(arrival, column))
    return matches


def _put_column(log: int, begin: int, end: int, of_warp: int, number: int, column: int) -> None:
    """Write a word of the arrivals of a kind to a column, and advance the column's address."""
    address, width = peek(column, ColumnWord.ADDRESS), peek(column, ColumnWord.WIDTH)
    for row in range(begin, end):
        arrival = log + _ARRIVAL_BYTES * row
        if peek(arrival, ArrivalWord.OF_WARP) == of_warp:
            if width == 1:
                poke8(address, peek(arrival, number))
            elif width == 2:
                poke16(address, peek(arrival, number))
            elif width == 4:
                poke32(address, peek(arrival, number))
            else:
                poke(address, 0, peek(arrival, number))
            address += width
    poke(column, ColumnWord.ADDRESS, address)


put_column = compile_with_callers(_put_column)


def _put_arrivals(log: int, count: int, of_warp: int, columns: int) -> None:
    """Write the arrivals of a kind to columns that are wide enough: a table of `ColumnWord`, which is changed."""
    for begin in range(0, count, _CHUNK):
        for number in range(_COLUMNS):
            end = min(begin + _CHUNK, count)
            put_column(log, begin, end, of_warp, number, columns + _COLUMN_BYTES * number)


bits_of_arrivals, put_arrivals = compile_cached(_bits_of_arrivals), compile_cached(_put_arrivals)

"""From arrivals at barriers and warp operations, as the scheduler notes them, to columns."""

from __future__ import annotations

from typing import Any

from ..cached import cached, part
from ..state import ArrivalWord, ColumnWord
from ..words import peek, poke, poke8, poke16, poke32

_ARRIVAL_BYTES, _COLUMN_BYTES = 8 * len(ArrivalWord), 8 * len(ColumnWord)
_COLUMNS = int(ArrivalWord.OF_WARP)  # the words before it
_AT_ONCE = 128  # arrivals, which stay in a processor's nearest cache from one column to the next


def _bits_of(log: Any, count: Any, of_warp: Any, bits: Any) -> Any:
    """Return how many of these arrivals are at warp operations, or are not; say which bits numbers of theirs have.

    log, bits: addresses, of arrivals and of a word for each column.
    """
    found = 0
    for column in range(_COLUMNS):
        poke(bits, column, 0)
    for row in range(count):
        arrival = log + _ARRIVAL_BYTES * row
        if peek(arrival, ArrivalWord.OF_WARP) == of_warp:
            found += 1
            for column in range(_COLUMNS):
                poke(bits, column, peek(bits, column) | peek(arrival, column))
    return found


def _put_column(log: Any, begin: Any, end: Any, of_warp: Any, number: Any, column: Any) -> None:
    """Write a number of the arrivals of a kind to a column, which then begins behind them."""
    place, width = peek(column, ColumnWord.ADDRESS), peek(column, ColumnWord.WIDTH)
    for row in range(begin, end):
        arrival = log + _ARRIVAL_BYTES * row
        if peek(arrival, ArrivalWord.OF_WARP) == of_warp:
            if width == 1:
                poke8(place, peek(arrival, number))
            elif width == 2:
                poke16(place, peek(arrival, number))
            elif width == 4:
                poke32(place, peek(arrival, number))
            else:
                poke(place, 0, peek(arrival, number))
            place += width
    poke(column, ColumnWord.ADDRESS, place)


put_column = part(_put_column)


def _put_arrivals(log: Any, count: Any, of_warp: Any, columns: Any) -> None:
    """Write the arrivals of a kind to columns, wide enough for them: a table of `ColumnWord`, which is changed."""
    for begin in range(0, count, _AT_ONCE):
        for number in range(_COLUMNS):
            end = min(begin + _AT_ONCE, count)
            put_column(log, begin, end, of_warp, number, columns + _COLUMN_BYTES * number)


bits_of_arrivals, put_arrivals = cached(_bits_of), cached(_put_arrivals)

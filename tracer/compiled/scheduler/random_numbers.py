"""Python's random numbers in compiled code: the Mersenne Twister, so that the random schedule is the simulator's.

Makoto Matsumoto and Takuji Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
number generator", ACM Transactions on Modeling and Computer Simulation 8 (1998). How Python makes a number
below another of it is in `random.Random._randbelow_with_getrandbits`.
"""

from __future__ import annotations

from typing import Any

from ..cached import cached
from ..state import TWISTER_WORDS, Word
from ..words import peek, poke

_PERIOD, _MIDDLE = TWISTER_WORDS, 397
_UPPER, _LOWER, _MATRIX, _ALL = 0x80000000, 0x7FFFFFFF, 0x9908B0DF, 0xFFFFFFFF


def _twist_of(numbers: Any) -> None:
    """Make the next 624 numbers of the last ones."""
    for i in range(_PERIOD):
        mixed = (peek(numbers, i) & _UPPER) | (peek(numbers, (i + 1) % _PERIOD) & _LOWER)
        next_one = peek(numbers, (i + _MIDDLE) % _PERIOD) ^ (mixed >> 1)
        poke(numbers, i, next_one ^ _MATRIX if mixed & 1 else next_one)
    poke(numbers, _PERIOD, 0)


_twist = cached(_twist_of)


def _number_at(numbers: Any, at: Any) -> Any:
    """Return one of the numbers of 32 bits that the last twist has made."""
    y = peek(numbers, at)
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return (y ^ (y >> 18)) & _ALL


_number = cached(_number_at)


def _next_number_of(numbers: Any) -> Any:
    """Return the next number of 32 bits."""
    if peek(numbers, _PERIOD) >= _PERIOD:
        _twist(numbers)
    at = peek(numbers, _PERIOD)
    poke(numbers, _PERIOD, at + 1)
    return _number(numbers, at)


_next_number = cached(_next_number_of)


def _below_of(state: Any, limit: Any) -> Any:
    """Return a number from 0 to below a limit of at most 32 bits, as `Random._randbelow` does."""
    numbers, bits = peek(state, Word.TWISTER), 0
    while limit >> bits:
        bits += 1
    found = _next_number(numbers) >> (32 - bits)
    while found >= limit:
        found = _next_number(numbers) >> (32 - bits)
    return found


below = cached(_below_of)


def _later_below_of(state: Any, limit: Any, ahead: Any) -> Any:
    """Return what `below` will make of a later number, or -1 where it takes another or none is made yet.

    ahead: how many numbers later; `below` takes between half of them and all.
    """
    numbers, bits = peek(state, Word.TWISTER), 0
    at = peek(numbers, _PERIOD) + ahead
    if at >= _PERIOD:
        return -1
    while limit >> bits:
        bits += 1
    found = _number(numbers, at) >> (32 - bits)
    return found if found < limit else -1


later_below = cached(_later_below_of)

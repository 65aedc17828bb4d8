"""Python's random numbers in compiled code: the Mersenne Twister, so that the random schedule is the simulator's.

Makoto Matsumoto and Takuji Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
number generator", ACM Transactions on Modeling and Computer Simulation 8 (1998). How Python makes a number
below another of it is in `random.Random._randbelow_with_getrandbits`.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cached import part
from ..state import TWISTER_WORDS, Word
from ..words import peek, poke

_PERIOD, _MIDDLE = TWISTER_WORDS, 397
_UPPER, _LOWER, _MATRIX, _ALL = 0x80000000, 0x7FFFFFFF, 0x9908B0DF, 0xFFFFFFFF
# Behind the generator's words, as Python gives them, and how many are used: the numbers that the last twist has made.
_USED, _MADE = _PERIOD, _PERIOD + 1
WORDS = _MADE + _PERIOD


def _twist_word(numbers: Any, i: Any, after: Any, middle: Any) -> None:
    mixed = (peek(numbers, i) & _UPPER) | (peek(numbers, after) & _LOWER)
    poke(numbers, i, peek(numbers, middle) ^ (mixed >> 1) ^ (-(mixed & 1) & _MATRIX))


twist_word = part(_twist_word)


def _tempered(y: Any) -> Any:
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return (y ^ (y >> 18)) & _ALL


tempered = part(_tempered)


def _twist_of(numbers: Any) -> None:
    """Make the next 624 numbers of 32 bits."""
    for i in range(_PERIOD - _MIDDLE):
        twist_word(numbers, i, i + 1, i + _MIDDLE)
    for i in range(_PERIOD - _MIDDLE, _PERIOD - 1):
        twist_word(numbers, i, i + 1, i + _MIDDLE - _PERIOD)
    twist_word(numbers, _PERIOD - 1, 0, _MIDDLE - 1)
    for i in range(_PERIOD):
        poke(numbers, _MADE + i, tempered(peek(numbers, i)))
    poke(numbers, _USED, 0)


twist = part(_twist_of)


def _bits_of(limit: Any) -> Any:
    """Return how many bits a number takes."""
    bits = 0
    while limit >> bits:
        bits += 1
    return bits


bits_of = part(_bits_of)


def _below_of(state: Any, limit: Any, bits: Any) -> Any:
    """Return a number from 0 to below a limit, which takes at most 32 bits, as `Random._randbelow` does."""
    numbers, found = peek(state, Word.TWISTER), limit
    while found >= limit:
        if peek(numbers, _USED) >= _PERIOD:
            twist(numbers)
        used = peek(numbers, _USED)
        poke(numbers, _USED, used + 1)
        found = peek(numbers, _MADE + used) >> (32 - bits)
    return found


below = part(_below_of)


def _later_below_of(state: Any, limit: Any, bits: Any, ahead: Any) -> Any:
    """Return what `below` will make of a later number, or -1 where it takes another or none is made yet.

    ahead: how many numbers later; `below` takes between half of them and all.
    """
    numbers = peek(state, Word.TWISTER)
    at = peek(numbers, _USED) + ahead
    if at >= _PERIOD:
        return -1
    found = peek(numbers, _MADE + at) >> (32 - bits)
    return found if found < limit else -1


later_below = part(_later_below_of)


def generator(seed: int) -> NDArray[np.int64]:
    """Return the words of a generator that begins as Python's `Random(seed)`; all numbers of it are yet to be made."""
    made = np.zeros(WORDS, np.int64)
    made[: _USED + 1] = random.Random(seed).getstate()[1]
    assert made[_USED] == _PERIOD
    return made

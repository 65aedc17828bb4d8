"""Python's random numbers in compiled code: the Mersenne Twister, for the same random schedule as the simulator's.

Makoto Matsumoto and Takuji Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
number generator", ACM Transactions on Modeling and Computer Simulation 8 (1998). Python derives a number below a limit
in `random.Random._randbelow_with_getrandbits`.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile_cached import compile_with_callers
from ..memory_words import peek, poke
from ..state import TWISTER_WORDS, Word

_PERIOD, _MIDDLE = TWISTER_WORDS, 397
_UPPER, _LOWER, _MATRIX, _ALL = 0x80000000, 0x7FFFFFFF, 0x9908B0DF, 0xFFFFFFFF
# After the state, in Python's order: the number of outputs used, and the outputs of the last twist.
_USED, _OUTPUTS = _PERIOD, _PERIOD + 1
WORDS = _OUTPUTS + _PERIOD


def _twist_word(numbers: int, i: int, next_index: int, middle: int) -> None:
    mixed = (peek(numbers, i) & _UPPER) | (peek(numbers, next_index) & _LOWER)
    poke(numbers, i, peek(numbers, middle) ^ (mixed >> 1) ^ (-(mixed & 1) & _MATRIX))


twist_word = compile_with_callers(_twist_word)


def _temper(y: int) -> Any:
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return (y ^ (y >> 18)) & _ALL


temper = compile_with_callers(_temper)


def _twist(numbers: int) -> None:
    """Generate the next 624 numbers of 32 bits."""
    for i in range(_PERIOD - _MIDDLE):
        twist_word(numbers, i, i + 1, i + _MIDDLE)
    for i in range(_PERIOD - _MIDDLE, _PERIOD - 1):
        twist_word(numbers, i, i + 1, i + _MIDDLE - _PERIOD)
    twist_word(numbers, _PERIOD - 1, 0, _MIDDLE - 1)
    for i in range(_PERIOD):
        poke(numbers, _OUTPUTS + i, temper(peek(numbers, i)))
    poke(numbers, _USED, 0)


twist = compile_with_callers(_twist)


def _count_bits(limit: int) -> int:
    """Count the bits of a number."""
    bits = 0
    while limit >> bits:
        bits += 1
    return bits


count_bits = compile_with_callers(_count_bits)


def _below(state: int, limit: int, bits: int) -> int:
    """Draw a number from 0 to below a limit of at most 32 bits, as `Random._randbelow` does."""
    numbers, number = peek(state, Word.TWISTER), limit
    while number >= limit:
        if peek(numbers, _USED) >= _PERIOD:
            twist(numbers)
        used = peek(numbers, _USED)
        poke(numbers, _USED, used + 1)
        number = peek(numbers, _OUTPUTS + used) >> (32 - bits)
    return number


random_below = compile_with_callers(_below)


def _later_below(state: int, limit: int, bits: int, ahead: int) -> int:
    """Predict the result of a later `below`; -1 if it would skip this number, or if it is not generated yet.

    ahead: how many numbers later; `below` uses between half of them and all.
    """
    numbers = peek(state, Word.TWISTER)
    position = peek(numbers, _USED) + ahead
    if position >= _PERIOD:
        return -1
    number = peek(numbers, _OUTPUTS + position) >> (32 - bits)
    return number if number < limit else -1


later_random_below = compile_with_callers(_later_below)


def generator(seed: int) -> NDArray[np.int64]:
    """Return the words of a generator seeded as Python's `Random(seed)`, before its first twist."""
    words = np.zeros(WORDS, np.int64)
    words[: _USED + 1] = random.Random(seed).getstate()[1]
    assert words[_USED] == _PERIOD
    return words

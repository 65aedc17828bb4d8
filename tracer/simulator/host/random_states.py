"""The initial states of numba.cuda.random's generators, the same as on a GPU, without compiling Numba's function.

xoroshiro128+ and SplitMix64 are by Blackman and Vigna (https://prng.di.unimi.it/). A jump of 2^64 steps is linear over
GF(2): the new state is the exclusive or of the images of the set bits of the old state. So n states need only log2(n)
rounds. In each round all existing states jump together, twice as far as in the previous round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]  # 128-bit states as pairs of words, N x 2
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
BITS = 128
_MASK = (1 << 64) - 1


def fill_states(states: Any, seed: Any, subsequence_start: Any) -> None:
    """Fill an array of states (s0, s1): the first from a seed, each other 2^64 steps after the previous one."""
    if not len(states):
        return
    words = np.empty((len(states), 2), np.uint64)
    words[0] = _split_mix(int(seed) & _MASK)
    jump, remaining = _jump_matrix(), int(subsequence_start)
    power, first = jump, words[:1]
    while remaining:
        first = _apply(power, first) if remaining & 1 else first
        power, remaining = _apply(power, power), remaining >> 1
    words[0] = first[0]
    done = 1
    while done < len(words):
        count = min(done, len(words) - done)
        words[done : done + count] = _apply(jump, words[:count])
        done, jump = done + count, _apply(jump, jump)
    states["s0"], states["s1"] = words[:, 0], words[:, 1]


def _split_mix(seed: int) -> int:
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _jump_matrix() -> Words:
    """Compute the matrix of a jump: row b is the state after the jump of a state with only bit b set."""
    state = np.zeros((BITS, 2), np.uint64)
    for bit in range(BITS):
        state[bit, bit // 64] = np.uint64(1 << bit % 64)
    jumped = np.zeros_like(state)
    for word in JUMP:
        for bit in range(64):
            if word >> bit & 1:
                jumped ^= state
            _step(state)
    return jumped


def _step(state: Words) -> None:
    """Advance each state by one, in place."""
    s0, s1 = state[:, 0].copy(), state[:, 0] ^ state[:, 1]
    state[:, 0] = _rotate_left(s0, 55) ^ s1 ^ s1 << np.uint64(14)
    state[:, 1] = _rotate_left(s1, 36)


def _rotate_left(words: Words, bits: int) -> Words:
    return words << np.uint64(bits) | words >> np.uint64(64 - bits)


def _apply(columns: Words, states: Words) -> Words:
    """Apply a linear map, given as the image of each bit, to states; uses a table for each byte."""
    images = np.zeros_like(states)
    state_bytes = np.ascontiguousarray(states.astype("<u8")).view(np.uint8).reshape(len(states), BITS // 8)
    for position in range(BITS // 8):
        table = np.zeros((256, 2), np.uint64)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ columns[position * 8 + bit]
        images ^= table[state_bytes[:, position]]
    return images

"""Traces of a few threads that do anything, with values of any type, for tests of what traces are written as."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tilescope.tracer.model.trace import Trace
from traces import BUFFERS, OPS, trace_of


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress."""


def random_trace(seed: int, dtype: str = "f8") -> Trace:
    """Return the trace of a few threads that do anything, with values of a type, the odd ones among them."""
    chance = random.Random(seed)
    able = [(buffer, op) for buffer, b in enumerate(BUFFERS) for op in OPS[b.space]]

    def access() -> tuple[int, int, int, int]:
        buffer, op = chance.choice(able)
        return chance.randrange(16), op, buffer, chance.randrange(BUFFERS[buffer].size)

    programs = {(b, t): [[access() for _ in range(7)]] for b in (0, 3) for t in range(4)}
    trace = trace_of(programs, "random", 2, seed)
    return replace(trace, value=random_values(np.dtype(dtype), len(trace), chance))


def random_values(dtype: np.dtype[Any], count: int, chance: random.Random) -> NDArray[Any]:
    """Return values of a type whose bits are random: nan, infinities, the smallest and the largest come up."""
    if dtype.kind == "b":
        return np.array([chance.random() < 0.5 for _ in range(count)])
    bits = np.frombuffer(chance.randbytes(count * dtype.itemsize), dtype).copy()
    if dtype.kind in "fc":
        parts = bits.view(f"f{dtype.itemsize // (1 + (dtype.kind == 'c'))}")
        parts[:4] = np.nan, np.inf, -np.inf, -0.0
        parts[np.isnan(parts)] = np.nan
    return bits

"""Arrivals at barriers and warp operations, from the scheduler's log to columns, against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tilescope.tracer.compiled.driver.barrier_log import NAMES, BarrierLog
from tilescope.tracer.compiled.state import ArrivalWord
from tilescope.tracer.model.array_types import Ints

MEMORY = 1 << 24
MOST = 7, 1 << 10, 1 << 20, 1 << 40  # of numbers of one, two, four and eight bytes


def arrivals(generator: np.random.Generator, count: int, most: int, of_warp: float) -> Ints:
    """Return the words of some arrivals, of which this share is at warp operations."""
    log: Ints = generator.integers(0, most, (count, len(ArrivalWord)))
    log[:, ArrivalWord.SITE] %= 5
    log[:, ArrivalWord.OF_WARP] = generator.random(count) < of_warp
    return log


def kept(log: BarrierLog) -> list[list[int]]:
    """Return the columns of a log; sites are renumbered, ten higher."""
    barriers = log.barriers(lambda number: number + 10)
    return [getattr(barriers, name).tolist() for name in NAMES]


def expected(log: Ints, of_warp: bool) -> list[list[int]]:
    """Return the same of the words that it was given."""
    own = log[log[:, ArrivalWord.OF_WARP] == of_warp].copy()
    own[:, ArrivalWord.SITE] += 10
    return [own[:, number].tolist() for number in range(len(NAMES))]


@pytest.mark.parametrize("of_warp", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_log_keeps_barriers_of_its_kind_in_order_for_large_numbers(of_warp, share):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    generator, log = np.random.default_rng(seed), BarrierLog(MEMORY, 16, of_warp=of_warp)
    given = [arrivals(generator, count, most, share) for most in MOST for count in (0, 1, 300)]
    for some in given:
        log.add(some)
        some[...] = -1  # the scheduler writes the next ones there
    generator = np.random.default_rng(seed)
    again = [arrivals(generator, count, most, share) for most in MOST for count in (0, 1, 300)]
    assert kept(log) == expected(np.concatenate(again), of_warp)


def test_the_log_of_a_part_is_added_with_its_accesses_counted_on():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    generator = np.random.default_rng(seed)
    first, second = (arrivals(generator, 200, 1 << 10, 0.0) for _ in range(2))
    complete, part = BarrierLog(MEMORY, 16), BarrierLog(MEMORY, 16)
    complete.add(first)
    part.add(second)
    complete.extend(part, 1 << 33)
    second[:, ArrivalWord.STEP] += 1 << 33
    assert kept(complete) == expected(np.concatenate([first, second]), False)

"""The order of a GPU's accesses: by clocks, by what atomics found, by each thread's own order."""

import numpy as np
import pytest

from tilescope.tracer.hardware.accesses.access_order import PICO, chains_of, order_of, raise_within_groups
from tilescope.tracer.hardware.marks.calibration import Clocks

CLOCKS = Clocks(np.array([1000, 5_000_000]), np.array([0.0, 0.0]), np.array([2.0, 2.0]), 1.0)


def longs(*numbers):
    return np.array(numbers, np.int64)


def words(*numbers):
    return np.array(numbers, np.uint64)


def ordered(multiprocessor, cycles, thread, atomic=None, element=None, old=None, left=None):
    """Return the rows in their order, and the order."""
    count = len(cycles)
    results = order_of(
        CLOCKS, longs(*multiprocessor), words(*cycles), longs(*thread), np.array(atomic or [False] * count),
        longs(*(element or [0] * count)), words(*(old or [0] * count)), words(*(left or [0] * count)),
    )  # fmt: skip
    return np.argsort(results.times, kind="stable").tolist(), results


def test_clocks_of_two_multiprocessors_are_brought_onto_one_axis():
    rows, order = ordered([0, 0, 1], [1000, 1200, 5_000_100], [0, 0, 1])
    assert rows == [0, 2, 1]
    assert order.times.tolist() == [0, 100 * PICO, 50 * PICO]


def test_a_thread_keeps_its_own_order_where_its_clock_shows_no_difference():
    rows, _ = ordered([0, 0, 0], [1000, 1000, 1000], [0, 0, 0])
    assert rows == [0, 1, 2]


def test_atomics_are_ordered_by_their_old_values_whatever_the_clocks_show():
    rows, order = ordered(
        [0, 1, 0], [1000, 5_000_002, 1004], [0, 1, 2], [True] * 3, [7, 7, 7], old=[2, 0, 1], left=[3, 1, 2]
    )
    assert rows == [1, 2, 0]
    assert (order.chained, order.atomics) == (3, 3)


def test_accesses_after_an_atomic_stay_after_it():
    rows, _ = ordered(
        [0, 0, 1],
        [1000, 1001, 5_000_400],
        [0, 0, 1],
        [True, False, True],
        [7, 1, 7],
        old=[1, 0, 0],
        left=[2, 0, 1],
    )
    assert rows == [2, 0, 1]


@pytest.mark.parametrize(
    ("old", "left", "why"),
    [
        ([0, 0], [1, 1], "two found the same value"),
        ([5, 6], [5, 6], "they changed nothing, and found different values"),
        ([0, 1, 3], [1, 2, 3], "nobody left what one found that changed nothing"),
        ([0, 7], [1, 8], "nobody left what the second found"),
    ],
)
def test_atomics_without_a_unique_order_are_ordered_by_the_clocks(old, left, why):
    assert chains_of(np.zeros(len(old), np.int64), words(*old), words(*left)) == [], why


def test_atomics_that_change_nothing_stand_where_their_value_was():
    chains = chains_of(np.zeros(5, np.int64), words(1, 2, 0, 1, 2), words(2, 2, 1, 1, 2))
    assert list(map(list, chains)) == [[2, 3, 0, 1, 4]]
    assert list(map(list, chains_of(np.zeros(2, np.int64), words(5, 5), words(5, 5)))) == [[0, 1]]


def test_elements_have_separate_chains():
    chains = chains_of(longs(1, 2, 1, 2), words(1, 10, 0, 11), words(2, 11, 1, 12))
    assert sorted(map(list, chains)) == [[1, 3], [2, 0]]


@pytest.mark.parametrize("seed", range(5))
def test_rising_times_are_the_least_that_rise_within_each_group(seed):
    chance = np.random.default_rng(seed)
    group = np.sort(chance.integers(0, 4, 40))
    times = chance.integers(-50, 50, 40)
    expected = []
    for number, (time, item) in enumerate(zip(times.tolist(), group.tolist(), strict=True)):
        same = number and group[number - 1] == item
        expected.append(max(time, expected[-1] + 1) if same else time)
    assert raise_within_groups(times, group).tolist() == expected, f"seed {seed}"


def test_a_launch_without_accesses_has_an_order():
    rows, order = ordered([], [], [])
    assert rows == [] and len(order.times) == 0

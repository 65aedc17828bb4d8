"""Samples: taken in turns from all that is measured together, until each median is known well enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct, field

from .measurement import median, median_interval

FEWEST, MOST = 20, 2000  # samples; FEWEST only while the time limit lasts
FEWEST_LATE = 3  # samples once the time limit is over
Key = TypeVar("Key", bound=Hashable)
Sampler = Callable[[], float]


class StoppingCriterion(Struct, frozen=True):
    """When to stop sampling."""

    precision: float = 0.01  # half the median's interval over the median
    limit: float = 1.0  # seconds that the samples of one key take


class _Series(Struct, Generic[Key]):
    key: Key  # of what is sampled
    sampler: Sampler  # takes one sample, in microseconds
    samples: list[float] = field(default_factory=list)  # microseconds
    seconds: float = 0.0  # that taking them took
    settled: bool = False  # whether the median is known to the precision
    ended: bool = False  # whether no more are taken


class Failure(Exception):
    """Taking a sample failed: which one's, and why."""

    def __init__(self, key: Hashable, error: Exception) -> None:
        super().__init__(key, error)
        self.key, self.error = key, error


def sample(
    samplers: Mapping[Key, Sampler],
    criterion: StoppingCriterion,
    progress: Callable[[int, int], None] = lambda done, of: None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Key, tuple[tuple[float, ...], bool]]:
    """Return per key its samples and whether its median is known to the precision.

    One sample of each is taken in turn, so that a drifting clock meets all alike. A sampler returns
    microseconds. `progress(done, of)` counts keys. Raises Failure for a sampler that raises.
    """
    series = [_Series(key, sampler) for key, sampler in samplers.items()]
    left = series
    while left:
        for one in left:
            _take(one, criterion, clock)
        ended = [one for one in left if one.ended]
        left = [one for one in left if not one.ended]
        if ended:
            progress(len(series) - len(left), len(series))
    return {one.key: (tuple(one.samples), one.settled) for one in series}


def _take(one: _Series[Key], criterion: StoppingCriterion, clock: Callable[[], float]) -> None:
    start = clock()
    try:
        one.samples.append(one.sampler())
    except Exception as error:  # whatever a kernel or a driver raises is this row's end alone
        raise Failure(one.key, error) from error
    one.seconds += clock() - start
    count = len(one.samples)
    # The interval is looked at ever more rarely, since it sorts all samples.
    if count >= FEWEST and (count % max(10, count // 10) == 0 or count == FEWEST):
        one.settled = relative_half_width(tuple(one.samples)) <= criterion.precision
    late = one.seconds >= criterion.limit and count >= FEWEST_LATE
    one.ended = one.settled or late or count >= MOST


def relative_half_width(samples: tuple[float, ...]) -> float:
    """Return half the width of the median's 95 % interval over the median."""
    low, high = median_interval(samples)
    return (high - low) / 2 / median(samples)

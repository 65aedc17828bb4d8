"""Sampling: everything that is measured together is sampled alternately, until each median is precise enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct, field

from .measurement import median, median_interval

FEWEST, MOST = 20, 2000  # samples; FEWEST applies within the time limit
FEWEST_LATE = 3  # samples after the time limit
Key = TypeVar("Key", bound=Hashable)
Sampler = Callable[[], float]


class StoppingCriterion(Struct, frozen=True):
    """The criterion that ends sampling."""

    precision: float = 0.01  # half the median's interval over the median
    limit: float = 1.0  # seconds of one key's samples


class _Series(Struct, Generic[Key]):
    key: Key
    sampler: Sampler  # takes one sample, in microseconds
    samples: list[float] = field(default_factory=list)  # microseconds
    seconds: float = 0.0  # duration of all samples
    settled: bool = False  # the median is known to the precision
    ended: bool = False  # no more samples are taken


class SamplingError(Exception):
    """Taking a sample failed, with its key and the error."""

    def __init__(self, key: Hashable, error: Exception) -> None:
        super().__init__(key, error)
        self.key, self.error = key, error


def sample(
    samplers: Mapping[Key, Sampler],
    criterion: StoppingCriterion,
    progress: Callable[[int, int], None] = lambda done, total: None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Key, tuple[tuple[float, ...], bool]]:
    """Return for each key its samples, and whether its median is known to the precision.

    The keys are sampled alternately, so that a drifting clock affects all equally. Samplers return microseconds.
    `progress(done, total)` counts keys. Raises Failure for a sampler that raises.
    """
    series = [_Series(key, sampler) for key, sampler in samplers.items()]
    left = series
    while left:
        for sampled in left:
            _take(sampled, criterion, clock)
        ended = [sampled for sampled in left if sampled.ended]
        left = [sampled for sampled in left if not sampled.ended]
        if ended:
            progress(len(series) - len(left), len(series))
    return {sampled.key: (tuple(sampled.samples), sampled.settled) for sampled in series}


def _take(series: _Series[Key], criterion: StoppingCriterion, clock: Callable[[], float]) -> None:
    start = clock()
    try:
        series.samples.append(series.sampler())
    except Exception as error:  # any error of a kernel or a driver ends only this row
        raise SamplingError(series.key, error) from error
    series.seconds += clock() - start
    count = len(series.samples)
    # The interval is computed ever more rarely, since that sorts all samples.
    if count >= FEWEST and (count % max(10, count // 10) == 0 or count == FEWEST):
        series.settled = relative_half_width(tuple(series.samples)) <= criterion.precision
    is_late = series.seconds >= criterion.limit and count >= FEWEST_LATE
    series.ended = series.settled or is_late or count >= MOST


def relative_half_width(samples: tuple[float, ...]) -> float:
    """Return half the width of the median's 95 % interval over the median."""
    low, high = median_interval(samples)
    return (high - low) / 2 / median(samples)

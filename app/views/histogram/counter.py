"""A counter at a moment: its value, the lost additions and their cause, the results of other schedules. No Qt."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.histogram_launch import HistogramLaunch, sum_of_additions
from ....tracer.hardware.times.recorded_outcomes import RecordedOutcomes, Spread
from ....tracer.model.array_types import Ints
from ....tracer.storage.recorded_traces import device_of
from ...model.session import Session
from ..common.wording import MEASURED, buffer_text, count_text, plural

HARDWARE = (
    "Why so regular: all threads start in less time than one load from global memory takes, so all have loaded "
    "0 before the first of them stores."
)
MOST_LINES = 2000  # additions that are drawn; of more additions, every n-th


class AdditionLines(NamedTuple):
    """Additions as they are drawn, in the order of their loads; positions are from 0 to 1."""

    first: NDArray[np.float64]  # (n,), the position of the load in the order of the accesses
    last: NDArray[np.float64]  # (n,), the position of the store; equals `first` for an atomic
    height: NDArray[np.float64]  # (n,), the position among the additions
    loaded: Ints  # (n,), the moment of the load
    stored: Ints  # (n,), the moment of the store
    survives: NDArray[np.bool_]  # (n,), whether the final value includes it


class CounterViewData(Struct, frozen=True, eq=False, dict=True):
    """The counter of a session that counts into one element; derived data are computed once."""

    session: Session
    counting: HistogramLaunch

    @property
    def name(self) -> str:
        """The counter's name."""
        return buffer_text(self.session.trace.buffers[self.counting.result.buffer])

    @property
    def expected(self) -> int:
        """The value of the counter if no addition were lost."""
        expected = self.counting.expected
        return (
            sum_of_additions(self.session.trace, self.counting.result)
            if expected is None
            else int(expected[0])
        )

    def value(self, moment: int) -> int:
        """Read the value of the counter at a moment."""
        return int(self.session.memory.settled(self.counting.result.buffer, moment).ravel()[0])

    @cached_property
    def lines(self) -> AdditionLines:
        """The additions that are drawn."""
        additions, requests = self.counting.result, self.session.requests
        first = np.where(additions.load >= 0, additions.load, additions.row)
        order = np.argsort(first, kind="stable")
        step = -(-len(order) // MOST_LINES)
        is_drawn = np.zeros(len(order), bool)
        is_drawn[:: max(1, step)] = True
        if additions.survives.sum() <= MOST_LINES:
            is_drawn |= additions.survives[order]
        order, height = order[is_drawn], np.flatnonzero(is_drawn)
        start, end = int(first.min(initial=0)), int(additions.row.max(initial=0)) + 1
        begin, finish = ((column[order] - start) / (end - start) for column in (first, additions.row))
        loaded = requests.moment[requests.request[first[order]]]
        return AdditionLines(
            begin,
            finish,
            height / max(1, len(additions)),
            loaded,
            additions.moment[order],
            additions.survives[order],
        )

    def additions_text(self, moment: int) -> str:
        """Count the additions made and lost up to a moment, in words."""
        additions = self.counting.result
        progress = f"{count_text(additions.upto(moment))} of {count_text(len(additions))} additions made"
        lost = additions.lost(moment)
        return f"{progress}, {count_text(lost) if lost else 'none'} lost"

    def why(self) -> str:
        """Explain the result of this schedule."""
        lost, schedule = self.counting.result.lost(self.session.end), self.session.launch.schedule
        if not self.counting.races:
            return "An atomic addition loads, adds and stores as one act: no other thread interferes, in any order."
        if schedule.kind == MEASURED:
            return (
                f"As {device_of(self.session.trace)} ran it, in the order of its clocks: between the load of a thread "
                "and its store, other threads store, and its store overwrites their sums."
                if lost
                else "No addition was lost in this launch on the GPU; another launch may lose some."
            )
        if schedule.kind == "lockstep":
            return (
                "Lockstep: every thread loads before any of them stores. All load the same number and store the "
                "same sum, and only the last store remains."
                if lost
                else "Here one thread adds at a time, so nothing is lost."
            )
        if schedule.kind == "sequential":
            return (
                "Sequential hides the race: each thread runs to its end before the next begins, so every load "
                "sees the store before it. No GPU promises that order."
            )
        if schedule.kind == "order":
            return (
                "The order states which threads go next: a store overwrites the sums of threads that stored after its "
                "load."
                if lost
                else "In this order each thread stores before the next one loads, so nothing is lost."
            )
        return (
            f"Random, seed {schedule.seed}: threads are interrupted between load and store, and a store "
            "overwrites all stores since its load. Another seed gives another result."
        )

    def words(self, moment: int, spread: Spread | None, *, explains: bool) -> list[str]:
        """Describe the picture. explains: with the reason for the result and its spread."""
        value = f"{self.name} is {count_text(self.value(moment))}, expected {count_text(self.expected)}"
        reasons = [self.why(), *spread_texts(spread)] if explains else []
        return [value, self.additions_text(moment), *reasons]


def spread_texts(spread: Spread | None) -> list[str]:
    """Describe the results of random schedules and GPUs."""
    if spread is None:
        return []
    return [
        seeds_text(spread),
        *map(measured_text, spread.measured),
        regular_text(spread),
    ]


def seeds_text(spread: Spread) -> str:
    """Describe the results of random schedules, as far as they are traced."""
    totals, wanted = spread.totals, spread.wanted
    if spread.problem:
        return spread.problem
    if not wanted:
        return "This launch is too large to be traced under many seeds; take fewer threads."
    if len(totals) < wanted:
        return f"Tracing random schedules: {len(totals)} of {wanted}…"
    from ....tracer.hardware.times.measurement import median  # not imported at start-up

    middle = f"{median(tuple(map(float, totals))):g}"
    return f"{plural(wanted, 'random schedule')}: {range_text(totals)}, median {middle}"


def measured_text(measured: RecordedOutcomes) -> str:
    """Describe the results of a GPU."""
    outcomes = measured.outcomes
    launches = f"{count_text(len(outcomes))} recorded launches"
    if len(set(outcomes)) == 1:
        return f"{measured.device}: {count_text(outcomes[0])} in each of {launches}"
    usual, often = Counter(outcomes).most_common(1)[0]
    most = f"{count_text(usual)} in {count_text(often)} of them"
    return f"{measured.device}: {range_text(outcomes)} in {launches}, {most}"


def regular_text(spread: Spread) -> str:
    """Explain why GPUs give the same result in every launch; "" if they do not."""
    is_constant = all(len(set(measured.outcomes)) == 1 for measured in spread.measured)
    return HARDWARE if spread.measured and is_constant else ""


def range_text(numbers: tuple[int, ...]) -> str:
    """Format a number, or the smallest and the largest of several."""
    low, high = min(numbers), max(numbers)
    return count_text(low) if low == high else f"{count_text(low)} to {count_text(high)}"

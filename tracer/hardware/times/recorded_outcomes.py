"""The results of nondeterministic launches: with other seeds, and as recorded on GPUs."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Struct

from ...model.launch import Launch, Schedule
from ...model.trace import Trace

SEEDS = 32
LARGEST = 4_000_000  # accesses of all seeds together


class RecordedOutcomes(NamedTuple):
    """The results of many launches on a GPU, and their origin."""

    device: str  # name of the GPU
    origin: str  # device and date, see Measurement
    outcomes: tuple[int, ...]  # by launch


class Spread(Struct, frozen=True):
    """The results of random schedules and of GPUs."""

    totals: tuple[int, ...] = ()  # by seed, as far as known
    wanted: int = SEEDS  # the final number of seeds
    measured: tuple[RecordedOutcomes, ...] = ()  # by GPU
    problem: str = ""  # one sentence why there are no more, else ""


def seeded(launch: Launch, seed: int) -> Launch:
    """Give a launch a random schedule; its input stays the same."""
    return msgspec.structs.replace(launch, schedule=Schedule("random", seed))


def seeds_for(trace: Trace) -> int:
    """Return the number of seeds to trace: fewer if one takes long, 0 if too long."""
    return min(SEEDS, LARGEST // max(1, trace.accesses)) if not trace.is_part else 0


def recorded_outcomes_of(launch: Launch) -> tuple[RecordedOutcomes, ...]:
    """List the recorded outcomes of this scenario with this grid and block, by GPU."""
    from .measurement import (  # imported late: the window starts without it
        MeasurementError,
        load,
        recorded_measurements,
    )

    outcomes = []
    for path in recorded_measurements():
        try:
            measurement = load(path)
        except MeasurementError:
            continue  # the charts report unreadable measurements
        name = measurement.device.name if measurement.device else measurement.host.processor
        for row in measurement.rows:
            is_same_launch = (row.scenario, row.grid, row.block) == (
                launch.scenario,
                launch.grid,
                launch.block,
            )
            if is_same_launch and row.outcomes:
                outcomes.append(
                    RecordedOutcomes(name, measurement.origin, tuple(int(n) for n in row.outcomes))
                )
    return tuple(outcomes)

"""What a launch that is no function of its input ends with: under other seeds, and on a GPU as recorded."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Struct

from ..model.launch import Launch, Schedule
from ..model.trace import Trace

SEEDS = 32
LARGEST = 4_000_000  # accesses that all seeds together may make


class RecordedOutcomes(NamedTuple):
    """What a GPU left in each of many launches, and where and when that was recorded."""

    device: str  # name of the GPU
    origin: str  # where and when, see Measurement
    outcomes: tuple[int, ...]  # launch by launch


class Spread(Struct, frozen=True):
    """What random schedules end with, and what GPUs ended with."""

    totals: tuple[int, ...] = ()  # seed by seed, as far as they are known
    wanted: int = SEEDS  # how many seeds there will be
    measured: tuple[RecordedOutcomes, ...] = ()  # GPU by GPU
    problem: str = ""  # one sentence about why there are no more, else ""


def seeded(launch: Launch, seed: int) -> Launch:
    """Return a launch with a random schedule; its input stays the same."""
    return msgspec.structs.replace(launch, schedule=Schedule("random", seed))


def seeds_for(trace: Trace) -> int:
    """Return how many seeds are worth tracing: fewer where one takes long, 0 where too long."""
    return min(SEEDS, LARGEST // max(1, trace.accesses)) if not trace.is_part else 0


def recorded_outcomes_of(launch: Launch) -> tuple[RecordedOutcomes, ...]:
    """Return what was recorded of this scenario with this grid and block on each GPU that has such a row."""
    from .measurement import MeasurementError, load, recorded  # the window starts without it

    found = []
    for path in recorded():
        try:
            measurement = load(path)
        except MeasurementError:
            continue  # the charts, which are about measurements, say what is wrong with one
        name = measurement.device.name if measurement.device else measurement.host.processor
        for row in measurement.rows:
            same = (row.scenario, row.grid, row.block) == (launch.scenario, launch.grid, launch.block)
            if same and row.outcomes:
                found.append(RecordedOutcomes(name, measurement.origin, tuple(int(n) for n in row.outcomes)))
    return tuple(found)

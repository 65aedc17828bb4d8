"""Counters that Nsight Compute read on GPUs during launches of the catalogue; data of the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from .... import resources
from ....kernels.scenarios.catalogue import find
from ...model.launch import Array, Launch
from ...model.plan import launch_of


class LaunchCounters(msgspec.Struct, frozen=True):
    """The counters of one launch."""

    scenario: str  # the name in the catalogue
    values: dict[str, int]
    counters: dict[str, int]  # by name
    reason: str  # why some differ from the trace, "" if none does
    device: str = ""  # of the recording
    date: str = ""  # of the recording


class RecordedCounters(msgspec.Struct, frozen=True):
    """The counters of one device, and the method."""

    device: str
    date: str  # month and year
    how: str
    launches: list[LaunchCounters]


class CountersFile(msgspec.Struct, frozen=True):
    """The content of the package's file."""

    recordings: list[RecordedCounters]


@cache
def recordings() -> list[RecordedCounters]:
    """Load the recordings of the package, one for each device."""
    text = files(resources).joinpath("counters.json").read_bytes()
    return msgspec.json.decode(text, type=CountersFile).recordings


@cache
def recorded_launches() -> tuple[LaunchCounters, ...]:
    """List the launches of all recordings, with their device and date."""
    return tuple(
        msgspec.structs.replace(launch, device=recording.device, date=recording.date)
        for recording in recordings()
        for launch in recording.launches
    )


def recorded_counters_of(launch: Launch) -> LaunchCounters | None:
    """Return the counters of a launch that does the same as this one, perhaps on other values, or None."""
    for recorded in recorded_launches():
        if recorded.scenario == launch.scenario and _does_same(
            launch_of(find(recorded.scenario), recorded.values), launch
        ):
            return recorded
    return None


def _does_same(first: Launch, second: Launch) -> bool:
    return all(
        getattr(first, name) == getattr(second, name)
        for name in ("kernel", "source", "grid", "block", "constants", "blocks")
    ) and _types(first) == _types(second)


def _types(launch: Launch) -> list[tuple[tuple[int, ...], str]]:
    return [(a.shape, a.dtype) for a in launch.arguments if isinstance(a, Array)]

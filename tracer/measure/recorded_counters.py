"""Counters that Nsight Compute read on a GPU, of launches of the catalogue; data of the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from ... import resources
from ...kernels.scenarios.catalogue import find
from ..model.launch import Array, Launch
from ..model.plan import launch_of


class LaunchCounters(msgspec.Struct, frozen=True):
    """The counters that were read of one launch."""

    scenario: str  # the catalogue's name of it
    values: dict[str, int]  # its parameters
    counters: dict[str, int]  # amounts, by name
    reason: str  # why some differ from the trace, "" where none does
    device: str = ""  # that of the recording
    date: str = ""  # likewise


class RecordedCounters(msgspec.Struct, frozen=True):
    """The counters that were read on one device, and how."""

    device: str
    date: str  # month and year
    how: str
    launches: list[LaunchCounters]


class CountersFile(msgspec.Struct, frozen=True):
    """What the package's file holds."""

    recordings: list[RecordedCounters]


@cache
def recordings() -> list[RecordedCounters]:
    """Return the recordings that come with the package, one for each device."""
    text = files(resources).joinpath("counters.json").read_bytes()
    return msgspec.json.decode(text, type=CountersFile).recordings


@cache
def recorded_launches() -> tuple[LaunchCounters, ...]:
    """Return the launches of all recordings, with their device and date."""
    return tuple(
        msgspec.structs.replace(launch, device=recording.device, date=recording.date)
        for recording in recordings()
        for launch in recording.launches
    )


def recorded_counters_of(launch: Launch) -> LaunchCounters | None:
    """Return what was read of a launch that does the same as this one, on other values perhaps; None for none."""
    for read in recorded_launches():
        if read.scenario == launch.scenario and _same(launch_of(find(read.scenario), read.values), launch):
            return read
    return None


def _same(one: Launch, other: Launch) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("kernel", "source", "grid", "block", "constants", "blocks")
    ) and _types(one) == _types(other)


def _types(launch: Launch) -> list[tuple[tuple[int, ...], str]]:
    return [(a.shape, a.dtype) for a in launch.arguments if isinstance(a, Array)]

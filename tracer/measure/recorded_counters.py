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


class RecordedCounters(msgspec.Struct, frozen=True):
    """The counters that were read on one device, and how."""

    device: str
    how: str
    launches: list[LaunchCounters]


@cache
def recorded_counters() -> RecordedCounters:
    """Return the counters that come with the package."""
    text = files(resources).joinpath("counters.json").read_bytes()
    return msgspec.json.decode(text, type=RecordedCounters)


def recorded_counters_of(launch: Launch) -> LaunchCounters | None:
    """Return what was read of a launch that does the same as this one, on other values perhaps; None for none."""
    for read in recorded_counters().launches:
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

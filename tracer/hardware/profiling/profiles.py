"""The recorded profiles of the catalogue's kernels; data of the package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import msgspec

from .... import resources
from ....kernels.scenarios.catalogue import CatalogueError, find
from ...model.launch import Array, Launch
from ...model.plan import launch_of
from ..times.measurement import Device
from ..times.traffic import row_key

FILE: Final = "profiles.json"  # of the resources
LARGEST: Final = 16_000_000  # bytes of the file

# warm: after the same launch. cold: after the profiler has flushed the caches.
CacheState = Literal["warm", "cold"]


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counters of one launch; everything in it is measured."""

    scenario: str  # the name in the catalogue
    parameters: dict[str, int | str]  # all of them
    caches: CacheState  # before the launch
    dram_read: float  # bytes from DRAM to the L2 cache
    dram_written: float  # bytes from the L2 cache to DRAM
    l1_hits: float | None  # per cent of the sectors requested from L1, None without requests
    l2_hits: float | None  # per cent of the sectors requested from L2 by L1, including stores
    warps_active: float  # per cent of the multiprocessors' limit, on average over the launch
    nanoseconds: float  # duration
    registers: int  # per thread, as launched
    occupancy: float  # per cent, as modelled by the profiler

    @property
    def dram_bytes(self) -> float:
        """The bytes read from DRAM and written to it."""
        return self.dram_read + self.dram_written


class Profiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The profiles of one device, and the method."""

    device: Device
    how: str  # the profiler, its version and the metrics, in a sentence or two
    date: str  # ISO 8601, UTC
    revision: str  # of git, with + if files differ from it, "" if unknown
    profiles: tuple[Profile, ...]

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, 2026-11-23."""
        return f"{self.device.name}, {self.date[:10]}"


# Created at import: threads that use a type for the first time at once can crash msgspec.
_DECODER = msgspec.json.Decoder(Profiles)


def decode(content: bytes) -> Profiles | None:
    """Decode the content of a file; return None if it is invalid."""
    if len(content) > LARGEST:
        return None
    try:
        record = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return record if all(map(_is_valid, record.profiles)) else None


def _is_valid(profile: Profile) -> bool:
    amounts = (profile.dram_read, profile.dram_written, profile.nanoseconds, float(profile.registers))
    shares = (profile.l1_hits, profile.l2_hits, profile.warps_active, profile.occupancy)
    given = [share for share in shares if share is not None]
    return all(math.isfinite(n) and n >= 0 for n in amounts) and all(0 <= share <= 100.5 for share in given)


@cache
def recorded_profiles() -> Profiles | None:
    """Load the record of the package; return None if it is missing or invalid."""
    try:
        return decode(files(resources).joinpath(FILE).read_bytes())
    except OSError:
        return None


@cache
def _by_launch() -> dict[object, Profile]:
    record = recorded_profiles()
    profiles = record.profiles if record else ()
    return {(profile.caches, row_key(profile.scenario, profile.parameters)): profile for profile in profiles}


def profile_of(scenario: str, parameters: Mapping[str, int | str], caches: CacheState) -> Profile | None:
    """Return the profile of a scenario's launch with these parameters, or None."""
    return _by_launch().get((caches, row_key(scenario, parameters)))


def profile_of_launch(launch: Launch, caches: CacheState) -> Profile | None:
    """Return the profile of a launch that does the same as this one, perhaps on other values."""
    for profile in _by_launch().values():
        if (profile.scenario, profile.caches) == (launch.scenario, caches) and _is_same(profile, launch):
            return profile
    return None


def _is_same(profile: Profile, launch: Launch) -> bool:
    try:
        other = launch_of(find(profile.scenario), profile.parameters)
    except CatalogueError:  # the scenario has changed since the recording
        return False
    names = ("kernel", "source", "grid", "block", "constants", "shared_bytes", "blocks")
    return all(getattr(other, n) == getattr(launch, n) for n in names) and _types(other) == _types(launch)


def _types(launch: Launch) -> list[tuple[object, ...]]:
    return [(a.shape, a.dtype) if isinstance(a, Array) else (a.value,) for a in launch.arguments]

"""What a profiler counted while kernels of the catalogue ran on a GPU, as it was recorded; data of the package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import msgspec

from .... import resources
from ....kernels.scenarios.catalogue import CatalogueError, find
from ...measure.measurement import Device
from ...measure.traffic import row_key
from ...model.launch import Array, Launch
from ...model.plan import launch_of

FILE: Final = "profiles.json"  # of the resources
LARGEST: Final = 16_000_000  # bytes of the file

# warm: the same launch has just run. cold: the profiler has emptied the caches.
CacheState = Literal["warm", "cold"]


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was counted during one launch; everything in it is measured."""

    scenario: str  # the catalogue's name of it
    parameters: dict[str, int | str]  # all of them
    caches: CacheState  # how it found them
    dram_read: float  # bytes that the L2 cache fetched from DRAM
    dram_written: float  # bytes that it wrote there
    l1_hits: float | None  # per cent of the sectors asked of L1 that it had, None where none was asked
    l2_hits: float | None  # the same of what L1 asked of L2, stores among it
    warps_active: float  # per cent of the warps that multiprocessors can have, on average while it ran
    nanoseconds: float  # that it ran
    registers: int  # a thread, as it was launched
    occupancy: float  # per cent: the most warps at once, as the profiler models it

    @property
    def dram_bytes(self) -> float:
        """Bytes read from DRAM and written there."""
        return self.dram_read + self.dram_written


class Profiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was counted on one device, and how."""

    device: Device
    how: str  # the profiler, its version and the metrics, in a sentence or two
    date: str  # ISO 8601, UTC
    revision: str  # of git, + where files differ from it, "" if unknown
    profiles: tuple[Profile, ...]

    @property
    def origin(self) -> str:
        """Where and when it was counted: NVIDIA H200, 2026-11-23."""
        return f"{self.device.name}, {self.date[:10]}"


# Made when it is imported: threads that are the first to use a type at once can crash msgspec.
_DECODER = msgspec.json.Decoder(Profiles)


def decode(content: bytes) -> Profiles | None:
    """Return the record that a file's content is, None for anything else."""
    if len(content) > LARGEST:
        return None
    try:
        found = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return found if all(map(_is_sound, found.profiles)) else None


def _is_sound(profile: Profile) -> bool:
    amounts = (profile.dram_read, profile.dram_written, profile.nanoseconds, float(profile.registers))
    shares = (profile.l1_hits, profile.l2_hits, profile.warps_active, profile.occupancy)
    known = [share for share in shares if share is not None]
    return all(math.isfinite(n) and n >= 0 for n in amounts) and all(0 <= share <= 100.5 for share in known)


@cache
def recorded_profiles() -> Profiles | None:
    """Return the record that comes with the package, None where there is none that can be read."""
    try:
        return decode(files(resources).joinpath(FILE).read_bytes())
    except OSError:
        return None


@cache
def _by_launch() -> dict[object, Profile]:
    record = recorded_profiles()
    found = record.profiles if record else ()
    return {(profile.caches, row_key(profile.scenario, profile.parameters)): profile for profile in found}


def profile_of(scenario: str, parameters: Mapping[str, int | str], caches: CacheState) -> Profile | None:
    """Return what was counted during a launch of a scenario with these parameters, None where nobody did."""
    return _by_launch().get((caches, row_key(scenario, parameters)))


def profile_of_launch(launch: Launch, caches: CacheState) -> Profile | None:
    """Return what was counted during a launch that does the same as this one, on other values perhaps."""
    for found in _by_launch().values():
        if (found.scenario, found.caches) == (launch.scenario, caches) and _is_same(found, launch):
            return found
    return None


def _is_same(profile: Profile, launch: Launch) -> bool:
    try:
        other = launch_of(find(profile.scenario), profile.parameters)
    except CatalogueError:  # of a record from before the scenario was changed
        return False
    names = ("kernel", "source", "grid", "block", "constants", "shared_bytes", "blocks")
    return all(getattr(other, n) == getattr(launch, n) for n in names) and _types(other) == _types(launch)


def _types(launch: Launch) -> list[tuple[object, ...]]:
    return [(a.shape, a.dtype) if isinstance(a, Array) else (a.value,) for a in launch.arguments]

"""Profiles that are made up, for tests and pictures of what is shown of recorded ones."""

from __future__ import annotations

from tilescope.tracer.hardware.profiling import profiles, row_figures
from tilescope.tracer.hardware.profiling.profiles import Profile, Profiles
from tilescope.tracer.hardware.times.measurement import Device

NUMBERS = {
    "dram_read": 33_024.0, "dram_written": 0.0, "l1_hits": 12.5, "l2_hits": 98.75, "warps_active": 12.4,
    "nanoseconds": 4_128.0, "registers": 32, "occupancy": 100.0,
}  # fmt: skip
H200 = Device("NVIDIA H200", (9, 0), 132, 150_109_880_320, 62_914_560, "580.159.04", (13, 0), None)


def synthetic_profile(scenario, caches="warm", **given):
    """Return a profile of a scenario; given: its numbers, and parameters."""
    numbers = {name: given.pop(name, usual) for name, usual in NUMBERS.items()}
    return Profile(scenario, given, caches, **numbers)


def synthetic_record(*profiles):
    """Return a record of these profiles."""
    return Profiles(H200, "Made for a test.", "2026-11-23T00:00:00+00:00", "", profiles)


def replace_recorded_profiles(monkeypatch, record):
    """Use this record instead of that of the package; None for none."""
    for module in (profiles, row_figures):
        monkeypatch.setattr(module, "recorded_profiles", lambda: record)
    uncached = getattr(profiles._by_launch, "__wrapped__", profiles._by_launch)
    monkeypatch.setattr(profiles, "_by_launch", uncached)

"""Occupancy and profiles as text; each number has its mark."""

from __future__ import annotations

from math import floor, log10, prod
from typing import Final

from ...model.finding import count_noun
from ...model.launch import Launch
from ..occupancy import WARP
from .profiles import Profile, Profiles
from .recorded_kernels import LaunchOccupancy

MODELLED, MEASURED = "modelled", "measured"
UNITS: Final = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def occupancy_text(launch_occupancy: LaunchOccupancy, launch: Launch) -> str:
    """Describe the occupancy of a launch and its limit."""
    room, blocks = launch_occupancy.occupancy, prod(launch.grid)
    if not room.blocks:
        return f"No block of it fits on a multiprocessor, for want of {limiters_text(launch_occupancy)}."
    fit = f"A multiprocessor has room for {count_noun(room.blocks, 'block')} of it at once"
    warps = f"{room.warps} of {room.most_warps} warps, an occupancy of {share_text(room.share)}"
    limits = limiters_text(launch_occupancy)
    return f"{fit}: {warps}, limited by {limits}. The launch has {count_noun(blocks, 'block')}."


def limiters_text(launch_occupancy: LaunchOccupancy) -> str:
    """Name the resources that limit the blocks: registers and threads."""
    room = launch_occupancy.occupancy
    names = [f"the limit of {room.limits[n]} blocks" if n == "blocks" else n for n in room.limiters]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def basis_text(launch_occupancy: LaunchOccupancy) -> str:
    """Explain the basis of an occupancy: the resources of the code, and their origin."""
    compiled = launch_occupancy.compiled
    spilled = f", {compiled.local_bytes:,} bytes of local memory" if compiled.local_bytes else ""
    a_thread = f"{count_noun(compiled.registers, 'register')}{spilled} a thread"
    shared = f"{launch_occupancy.shared_bytes:,} bytes of" if launch_occupancy.shared_bytes else "no"
    a_block = f"{shared} shared memory a block of {count_noun(-(-launch_occupancy.threads // WARP), 'warp')}"
    target = f"{device_text(launch_occupancy)} ({launch_occupancy.date[:10]})"
    return f"Modelled from {a_thread} and {a_block}, as compiled for {target}."


def device_text(launch_occupancy: LaunchOccupancy) -> str:
    """Return the target of the compilation: NVIDIA H200, compute capability 9.0."""
    capability = f"compute capability {launch_occupancy.capability[0]}.{launch_occupancy.capability[1]}"
    return capability if launch_occupancy.device == capability else f"{launch_occupancy.device}, {capability}"


def share_text(share: float) -> str:
    """Return a share from 0 to 1 in per cent: 100 %, 43.8 %."""
    return percent_text(100 * share)


def percent_text(percent: float) -> str:
    """Return per cent with a decimal unless that is 0."""
    return f"{percent:.1f}".removesuffix(".0") + " %"


def amount_text(count: float) -> str:
    """Return bytes with three digits in the largest suitable unit: 33.0 kB, 1.21 GB."""
    unit, size = next((unit for unit in UNITS if count >= unit[1]), UNITS[-1])
    value = count / size
    digits = 0 if unit == "B" or value == 0 else max(2 - floor(log10(value)), 0)
    return f"{value:,.{digits}f} {unit}"


def dram_text(profile: Profile) -> str:
    """Return the DRAM traffic: 33.0 kB read from DRAM, 0 B written."""
    return f"{amount_text(profile.dram_read)} read from DRAM, {amount_text(profile.dram_written)} written"


def hits_text(profile: Profile) -> str:
    """Return the hit rates of the caches: L1 had 87 % and L2 had 99 % of the sectors requested from it."""
    rates = [
        f"{name} had {percent_text(rate)}"
        for name, rate in (("L1", profile.l1_hits), ("L2", profile.l2_hits))
        if rate is not None
    ]
    return f"{' and '.join(rates)} of the sectors requested from it" if rates else ""


def profile_text(profile: Profile) -> str:
    """Describe the profile of a launch."""
    active = f"{percent_text(profile.warps_active)} of the possible warps were active on average"
    return f"{'; '.join(filter(None, (active, dram_text(profile), hits_text(profile))))}."


def origin_text(profile: Profile, record: Profiles) -> str:
    """Describe the origin of a profile."""
    return f"Read with Nsight Compute: {record.origin}, caches {profile.caches}."

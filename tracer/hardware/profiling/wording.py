"""Occupancy and what a profiler counted, in words; each number has its mark."""

from __future__ import annotations

from math import floor, log10, prod
from typing import Final

from ...model.finding import counted
from ...model.launch import Launch
from ..occupancy import WARP
from .compiled_kernels import LaunchOccupancy
from .profiles import Profile, Profiles

MODELLED, MEASURED = "modelled", "measured"  # the marks
UNITS: Final = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def occupancy_text(found: LaunchOccupancy, launch: Launch) -> str:
    """Return how many blocks of a launch fit on a multiprocessor, and what keeps more away."""
    room, blocks = found.occupancy, prod(launch.grid)
    if not room.blocks:
        return f"No block of it fits on a multiprocessor, for want of {limiters_text(found)}."
    fit = f"A multiprocessor has room for {counted(room.blocks, 'block')} of it at once"
    warps = f"{room.warps} of {room.most_warps} warps, an occupancy of {share_text(room.share)}"
    return f"{fit}: {warps}, limited by {limiters_text(found)}. The launch has {counted(blocks, 'block')}."


def limiters_text(found: LaunchOccupancy) -> str:
    """Return what keeps more blocks away: registers and threads."""
    room = found.occupancy
    names = [f"the {room.limits[n]} blocks that there can be" if n == "blocks" else n for n in room.limiters]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def basis_text(found: LaunchOccupancy) -> str:
    """Return what an occupancy is modelled from: what the launch's code takes, and where that is from."""
    compiled = found.compiled
    spilled = f", {compiled.local_bytes:,} bytes of local memory" if compiled.local_bytes else ""
    a_thread = f"{counted(compiled.registers, 'register')}{spilled} a thread"
    shared = f"{found.shared_bytes:,} bytes of" if found.shared_bytes else "no"
    a_block = f"{shared} shared memory a block of {counted(-(-found.threads // WARP), 'warp')}"
    return (
        f"Modelled from {a_thread} and {a_block}, as compiled for {device_text(found)} ({found.date[:10]})."
    )


def device_text(found: LaunchOccupancy) -> str:
    """Return what a kernel was compiled for: NVIDIA H200, compute capability 9.0."""
    capability = f"compute capability {found.capability[0]}.{found.capability[1]}"
    return capability if found.device == capability else f"{found.device}, {capability}"


def share_text(share: float) -> str:
    """Return a part of a whole, 0 to 1, in per cent: 100 %, 43.8 %."""
    return percent_text(100 * share)


def percent_text(percent: float) -> str:
    """Return per cent with a digit behind the point where there is something."""
    return f"{percent:.1f}".removesuffix(".0") + " %"


def amount_text(count: float) -> str:
    """Return bytes with three digits in the largest unit that they fill: 33.0 kB, 1.21 GB."""
    unit, size = next((unit for unit in UNITS if count >= unit[1]), UNITS[-1])
    value = count / size
    digits = 0 if unit == "B" or value == 0 else max(2 - floor(log10(value)), 0)
    return f"{value:,.{digits}f} {unit}"


def dram_text(profile: Profile) -> str:
    """Return what went through DRAM: 33.0 kB read from DRAM, 0 B written."""
    return f"{amount_text(profile.dram_read)} read from DRAM, {amount_text(profile.dram_written)} written"


def hits_text(profile: Profile) -> str:
    """Return how much the caches had: L1 had 87 % of the sectors asked of it, L2 99 %."""
    rates = [
        f"{name} had {percent_text(rate)}"
        for name, rate in (("L1", profile.l1_hits), ("L2", profile.l2_hits))
        if rate is not None
    ]
    return f"{' and '.join(rates)} of the sectors asked of it" if rates else ""


def profile_text(profile: Profile) -> str:
    """Return what was counted during a launch."""
    active = f"{percent_text(profile.warps_active)} of the warps that there can be were active on average"
    return f"{'; '.join(filter(None, (active, dram_text(profile), hits_text(profile))))}."


def origin_text(profile: Profile, record: Profiles) -> str:
    """Return where, when and how it was counted."""
    return f"Read with Nsight Compute: {record.origin}, caches {profile.caches}."

"""Why a measured row is as fast as it is: its occupancy and what was counted, of the device that it ran on."""

from __future__ import annotations

from msgspec import Struct

from ....kernels.scenarios.catalogue import CatalogueError, find
from ...measure.measurement import Device, Row, TimingKind
from ...model.launch import Launch
from ...model.plan import launch_of
from .compiled_kernels import LaunchOccupancy, occupancy_of
from .profiles import CacheState, Profile, profile_of, recorded_profiles
from .wording import basis_text, occupancy_text, origin_text, profile_text


class RowFigures(Struct, frozen=True):
    """What is known of a measured row besides its time."""

    launch: Launch | None = None  # of it
    room: LaunchOccupancy | None = None  # how many of its blocks fit on a multiprocessor (modelled)
    profile: Profile | None = None  # what was counted during the launch (measured)
    origin: str = ""  # where and when that was counted

    @property
    def texts(self) -> list[str]:
        """All that is known, a paragraph each."""
        room, launch = self.room, self.launch
        modelled = [f"{occupancy_text(room, launch)} {basis_text(room)}"] if room and launch else []
        return modelled + ([f"{profile_text(self.profile)} {self.origin}"] if self.profile else [])


def figures_of(row: Row, device: Device | None, kind: TimingKind) -> RowFigures:
    """Return what is known of a row of a measurement on this device; kind: of the time that it explains."""
    if device is None or row.baseline or row.engine not in ("numba-cuda", "cuda-c"):
        return RowFigures()
    try:
        launch = launch_of(find(row.scenario), row.parameters)
    except CatalogueError:  # of a measurement from before the scenario was changed
        return RowFigures()
    room = occupancy_of(launch)
    if room and room.capability != device.compute_capability:
        room = None
    profile, origin = _profile(row, device, "cold" if kind == "kernel-cold" else "warm")
    return RowFigures(launch, room, profile, origin)


def _profile(row: Row, device: Device, caches: CacheState) -> tuple[Profile | None, str]:
    record, found = recorded_profiles(), profile_of(row.scenario, row.parameters, caches)
    if record is None or found is None or record.device.name != device.name:
        return None, ""
    return found, origin_text(found, record)

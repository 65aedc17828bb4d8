"""Explanations of a measured row: its occupancy and its profile, for its device."""

from __future__ import annotations

from msgspec import Struct

from ....kernels.scenarios.catalogue import CatalogueError, find
from ...model.launch import Launch
from ...model.plan import launch_of
from ..times.measurement import Device, Row, TimingKind
from .profile_text import basis_text, occupancy_text, origin_text, profile_text
from .profiles import CacheState, Profile, profile_of, recorded_profiles
from .recorded_kernels import LaunchOccupancy, occupancy_of


class RowFigures(Struct, frozen=True):
    """Figures that explain the time of a measured row."""

    launch: Launch | None = None  # of the row
    room: LaunchOccupancy | None = None  # modelled
    profile: Profile | None = None  # measured
    origin: str = ""  # of the profile

    @property
    def texts(self) -> list[str]:
        """The figures as text, a paragraph each."""
        room, launch = self.room, self.launch
        modelled = [f"{occupancy_text(room, launch)} {basis_text(room)}"] if room and launch else []
        return modelled + ([f"{profile_text(self.profile)} {self.origin}"] if self.profile else [])


def figures_of(row: Row, device: Device | None, kind: TimingKind) -> RowFigures:
    """Collect the figures of a row that was measured on this device; kind: the kind of time to explain."""
    if device is None or row.baseline or row.engine not in ("numba-cuda", "cuda-c"):
        return RowFigures()
    try:
        launch = launch_of(find(row.scenario), row.parameters)
    except CatalogueError:  # the scenario has changed since the measurement
        return RowFigures()
    room = occupancy_of(launch)
    if room and room.capability != device.compute_capability:
        room = None
    profile, origin = _profile(row, device, "cold" if kind == "kernel-cold" else "warm")
    return RowFigures(launch, room, profile, origin)


def _profile(row: Row, device: Device, caches: CacheState) -> tuple[Profile | None, str]:
    record, profile = recorded_profiles(), profile_of(row.scenario, row.parameters, caches)
    if record is None or profile is None or record.device.name != device.name:
        return None, ""
    return profile, origin_text(profile, record)

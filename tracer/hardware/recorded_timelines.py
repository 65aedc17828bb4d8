"""Timelines that were recorded: those that come with the package, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from ... import resources
from ...kernels.scenarios.catalogue import CatalogueError, find
from ..model.launch import Array, Launch
from ..model.plan import launch_of
from ..storage.folders import data_folder
from .timeline import Timeline, TimelineHead
from .timeline_file import SUFFIX, TimelineFileError, load, load_head

FOLDER: Final = "timelines"
KEPT: Final = 16  # timelines in memory


def own_folder() -> Path:
    """Return where timelines of this computer go. It may not exist yet."""
    return data_folder() / FOLDER


def recorded_timelines() -> list[Path]:
    """Return the files of all timelines: first the user's own, then those that come with the package."""
    folders = (own_folder(), Path(str(files(resources))) / FOLDER)
    return [path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}"))]


def timelines_of(scenario: str, values: Mapping[str, int | str], source: str = "") -> list[Timeline]:
    """Return the timelines of a scenario's launch with these parameters, those left out at their defaults.

    source: the text of the kernel's file, where it is not its own. Raises CatalogueError.
    """
    return timelines_of_launch(launch_of(find(scenario), values, source=source))


def timelines_of_launch(launch: Launch) -> list[Timeline]:
    """Return the timelines of launches that do the same as this one, on other numbers perhaps.

    Files that can't be read are left out, as are those of a kernel that has another text by now.
    """
    return [found for path in recorded_timelines() if (found := _timeline_if(path, launch)) is not None]


def read_heads() -> None:
    """Read of which launches there are timelines, for a thread: whoever asks later need not wait for it."""
    for path in recorded_timelines():
        with suppress(TimelineFileError, CatalogueError, OSError):
            _launch(path, path.stat().st_mtime_ns)


def _timeline_if(path: Path, launch: Launch) -> Timeline | None:
    try:
        stamp = path.stat().st_mtime_ns
        head = _head(path, stamp)
        if head.scenario != launch.scenario or not _same(head, _launch(path, stamp), launch):
            return None
        return _whole(path, stamp)
    except (TimelineFileError, CatalogueError, OSError):
        return None


@lru_cache(256)
def _head(path: Path, stamp: int) -> TimelineHead:
    return load_head(path)


@lru_cache(KEPT)
def _whole(path: Path, stamp: int) -> Timeline:
    return load(path)


@lru_cache(256)
def _launch(path: Path, stamp: int) -> Launch:
    """Return the launch of a timeline, but for the text of its kernel, which may be another by now."""
    head = _head(path, stamp)
    return launch_of(find(head.scenario), head.values)


def _same(head: TimelineHead, other: Launch, launch: Launch) -> bool:
    """Return whether a timeline is of a launch that does the same; other: its own."""
    alike = all(
        getattr(other, name) == getattr(launch, name) for name in ("kernel", "grid", "block", "constants")
    )
    whole = launch.blocks is None and head.source == launch.source
    return whole and alike and other.shared_bytes == launch.shared_bytes and _types(other) == _types(launch)


def _types(launch: Launch) -> list[object]:
    return [(a.shape, a.dtype) if isinstance(a, Array) else a.value for a in launch.arguments]

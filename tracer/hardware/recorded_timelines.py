"""The recorded timelines: those that ship with Tilescope, and the user's own."""

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
    """Return the folder of this computer's timelines. It may not exist yet."""
    return data_folder() / FOLDER


def recorded_timelines() -> list[Path]:
    """List the files of all timelines, the user's own first."""
    folders = (own_folder(), Path(str(files(resources))) / FOLDER)
    return [path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}"))]


def timelines_of(scenario: str, values: Mapping[str, int | str], source: str = "") -> list[Timeline]:
    """Load the timelines of a scenario's launch; parameters that are left out have their defaults.

    source: the text of the kernel's file, if it was changed. Raises CatalogueError.
    """
    return timelines_of_launch(launch_of(find(scenario), values, source=source))


def timelines_of_launch(launch: Launch) -> list[Timeline]:
    """Load the timelines of launches that do the same as this one, perhaps on other numbers.

    Unreadable files are left out, as are those whose kernel has another text by now.
    """
    return [timeline for path in recorded_timelines() if (timeline := _timeline_if(path, launch)) is not None]


def read_heads() -> None:
    """Read the heads of all timelines in advance, in a thread, so that later requests are fast."""
    for path in recorded_timelines():
        with suppress(TimelineFileError, CatalogueError, OSError):
            stamp = path.stat().st_mtime_ns
            if _head(path, stamp).scenario:
                _launch(path, stamp)


def _timeline_if(path: Path, launch: Launch) -> Timeline | None:
    try:
        stamp = path.stat().st_mtime_ns
        head = _head(path, stamp)
        if not launch.scenario and not head.scenario:
            is_same = is_of_program(head, launch.kernel, launch.source)
            same_size = (head.grid, head.block) == (launch.grid, launch.block)
            return _timeline(path, stamp) if is_same and same_size else None
        if head.scenario != launch.scenario or not _does_same(head, _launch(path, stamp), launch):
            return None
        return _timeline(path, stamp)
    except (TimelineFileError, CatalogueError, OSError):
        return None


@lru_cache(256)
def _head(path: Path, stamp: int) -> TimelineHead:
    return load_head(path)


@lru_cache(KEPT)
def _timeline(path: Path, stamp: int) -> Timeline:
    return load(path)


@lru_cache(256)
def _launch(path: Path, stamp: int) -> Launch:
    """Return the launch of a timeline with its kernel's current text, which may differ."""
    head = _head(path, stamp)
    return launch_of(find(head.scenario), head.values)


def _does_same(head: TimelineHead, other: Launch, launch: Launch) -> bool:
    """Return True if a timeline is of a launch that does the same; other: the timeline's launch."""
    has_same_shape = all(
        getattr(other, name) == getattr(launch, name) for name in ("kernel", "grid", "block", "constants")
    )
    has_all_blocks_and_same_source = launch.blocks is None and head.source == launch.source
    return (
        has_all_blocks_and_same_source
        and has_same_shape
        and other.shared_bytes == launch.shared_bytes
        and _types(other) == _types(launch)
    )


def is_of_program(head: TimelineHead, kernel: str, source: str) -> bool:
    """Return True if a timeline is of a kernel (`file:function`) of a user's program with the same text.

    The folder of the file may be another: a program is recorded on one computer and shown on others.
    """
    (file, _, function), (other, _, of_other) = head.kernel.rpartition(":"), kernel.rpartition(":")
    same_name = (Path(file).name, function) == (Path(other).name, of_other)
    return not head.scenario and same_name and head.source == source


def _types(launch: Launch) -> list[object]:
    return [(a.shape, a.dtype) if isinstance(a, Array) else a.value for a in launch.arguments]

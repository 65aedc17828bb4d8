"""From a setup to its launch, to all parameters of its scenario, and to the schedules that may be chosen for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from ...kernels.scenarios.catalogue import CatalogueError, find, settle
from ...tracer.model.launch import Array, Launch
from ...tracer.model.plan import launch_of, left_of
from ...tracer.storage.recorded_traces import MEASURED, device_of_recording, path_of
from .bookmark import Setup, Value

SCHEDULES = ("lockstep", "sequential", "random")
UNKNOWN = "a GPU"  # where a recording is wanted that is not there


def launch_of_setup(setup: Setup) -> Launch:
    """Return the launch of a setup that names a scenario; raises CatalogueError and PlanError."""
    return launch_of(
        find(setup.scenario),
        setup.values,
        schedule=setup.schedule,
        resident=setup.resident,
        blocks=setup.blocks,
        engine=setup.engine,
        keep=setup.keep,
        source=setup.source,
        without=setup.without,
    )


def edited_launch(launch: Launch, setup: Setup) -> Launch:
    """Return a launch of a file with the kernel as a setup has it; raises PlanError for a line that has to stay."""
    return msgspec.structs.replace(launch, source=left_of(setup.source or launch.source, setup.without))


def other_kernels(setups: Sequence[Setup], may_come: Iterable[Sequence[Setup]]) -> tuple[Launch, ...]:
    """Return launches of setups that may come, one for each kernel that has to be compiled for none of `setups`.

    Those that can't be launched are left out, as where a file of theirs is gone: whoever wants one is told then.
    """
    known = {_compiled_as(launch) for launch in _launches(setups)}
    launches = [launch for later in may_come for launch in _launches(later)]
    first = {_compiled_as(launch): launch for launch in reversed(launches)}
    return tuple(first[key] for key in reversed(first) if key not in known)


def _launches(setups: Iterable[Setup]) -> Iterator[Launch]:
    """Yield the launches of setups that name a scenario and can be launched."""
    for setup in setups:
        if not setup.file:
            with suppress(CatalogueError):
                yield launch_of_setup(setup)


def _compiled_as(launch: Launch) -> tuple[object, ...]:
    """Return what a kernel is compiled for: launches that differ in nothing of it share the code.

    Most are told whole numbers as they begin.
    """
    types = tuple(argument.dtype if isinstance(argument, Array) else "" for argument in launch.arguments)
    constants = ((name, value) for name, value in launch.constants.items() if type(value) is not int)
    return launch.kernel, launch.source, tuple(sorted(constants)), types


def values_of(setup: Setup) -> dict[str, Value]:
    """Return every parameter of a setup's scenario with its value; {} for a trace file."""
    return {} if setup.file else dict(settle(find(setup.scenario), setup.values))


def schedule_choices(setups: Iterable[Setup]) -> list[tuple[str, str]]:
    """Return what may be chosen for these setups, as (text, kind).

    A GPU's order is offered where it was recorded for exactly one of these launches, and where it is chosen already.
    """
    choices = [(kind, kind) for kind in SCHEDULES]
    setups = list(setups)
    device = next(filter(None, map(recorded_device, setups)), "")
    if device or any(setup.schedule.kind == MEASURED for setup in setups):
        choices.append((f"as on {device or UNKNOWN} ({MEASURED})", MEASURED))
    return choices


def recorded_device(setup: Setup) -> str:
    """Return the GPU that has recorded a setup's launch, "" where none has."""
    if setup.file or setup.is_edited or not setup.scenario:
        return ""
    try:
        path = path_of(launch_of_setup(setup))
    except CatalogueError:
        return ""
    return "" if path is None else _device(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _device(path: Path, changed: int) -> str:
    return device_of_recording(path)

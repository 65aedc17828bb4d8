"""Turn a setup into its launch, the parameters of its scenario, and the schedules it may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from ...kernels.scenarios.catalogue import CatalogueError, find, settle
from ...tracer.model.launch import Array, Launch
from ...tracer.model.plan import launch_of, schedule_words, source_without_lines
from ...tracer.storage.recorded_traces import MEASURED, device_of_recording, path_of
from .bookmark import Setup, Value
from .setup_text import schedule_summary

SCHEDULES = ("lockstep", "sequential", "random")
UNKNOWN_GPU = "a GPU"  # stands for the device of a recording that is missing


def launch_of_setup(setup: Setup) -> Launch:
    """Build the launch of a setup that names a scenario; raises CatalogueError and PlanError."""
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
    """Apply a setup's kernel edits to a file's launch; raises PlanError for a line that can't be removed."""
    return msgspec.structs.replace(
        launch, source=source_without_lines(setup.source or launch.source, setup.without)
    )


def kernels_to_compile(setups: Sequence[Setup], upcoming: Iterable[Sequence[Setup]]) -> tuple[Launch, ...]:
    """List launches of upcoming setups, one for each kernel that none of `setups` compiles.

    Setups that can't be launched are left out, for example because their file is gone.
    """
    compiled = {_compiled_as(launch) for launch in _launches(setups)}
    launches = [launch for later in upcoming for launch in _launches(later)]
    first = {_compiled_as(launch): launch for launch in reversed(launches)}
    return tuple(first[key] for key in reversed(first) if key not in compiled)


def _launches(setups: Iterable[Setup]) -> Iterator[Launch]:
    """Yield the launches of setups that name a scenario and can be launched."""
    for setup in setups:
        if not setup.file:
            with suppress(CatalogueError):
                yield launch_of_setup(setup)


def _compiled_as(launch: Launch) -> tuple[object, ...]:
    """Return the key of a compiled kernel: launches with equal keys share the code.

    Most kernels get integers at run time, so these are not part of the key.
    """
    types = tuple(argument.dtype if isinstance(argument, Array) else "" for argument in launch.arguments)
    constants = ((name, value) for name, value in launch.constants.items() if type(value) is not int)
    return launch.kernel, launch.source, tuple(sorted(constants)), types


def values_of(setup: Setup) -> dict[str, Value]:
    """Map every parameter of a setup's scenario to its value; {} for a trace file."""
    return {} if setup.file else dict(settle(find(setup.scenario), setup.values))


def schedule_choices(setups: Iterable[Setup]) -> list[tuple[str, str]]:
    """List the schedules that these setups may use, as (text, kind).

    The GPU's order is offered if it was recorded for exactly one of these launches, or is chosen already.
    """
    choices = [(kind, kind) for kind in SCHEDULES]
    setups = list(setups)
    device = next(filter(None, map(recorded_device, setups)), "")
    if device or any(setup.schedule.kind == MEASURED for setup in setups):
        choices.append((f"as on {device or UNKNOWN_GPU} ({MEASURED})", MEASURED))
    orders = {setup.schedule for setup in setups if setup.schedule.kind == "order"}
    choices += [(schedule_summary(order), schedule_words(order)) for order in orders]
    return choices


def recorded_device(setup: Setup) -> str:
    """Find the GPU that recorded a setup's launch, "" if none has."""
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

"""From a setup to its launch, and to all parameters of its scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ...kernels.scenarios.catalogue import find, settle
from ...tracer.model.launch import Array, Launch
from ...tracer.model.plan import launch_of, left_of
from .bookmark import Setup, Value


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
    """Return launches of setups that may come, one for each kernel that has to be compiled for none of `setups`."""
    known = {_compiled_as(launch_of_setup(setup)) for setup in setups if not setup.file}
    launches = [launch_of_setup(setup) for later in may_come for setup in later if not setup.file]
    first = {_compiled_as(launch): launch for launch in reversed(launches)}
    return tuple(first[key] for key in reversed(first) if key not in known)


def _compiled_as(launch: Launch) -> tuple[object, ...]:
    """Return what a kernel is compiled for: launches that differ in nothing of it share the code."""
    types = tuple(argument.dtype if isinstance(argument, Array) else "" for argument in launch.arguments)
    return launch.kernel, launch.source, tuple(sorted(launch.constants.items())), types


def values_of(setup: Setup) -> dict[str, Value]:
    """Return every parameter of a setup's scenario with its value; {} for a trace file."""
    return {} if setup.file else dict(settle(find(setup.scenario), setup.values))

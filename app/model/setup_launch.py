"""From a setup to its launch, and to all parameters of its scenario."""

from __future__ import annotations

import msgspec

from ...kernels.scenarios.catalogue import find, settle
from ...tracer.model.launch import Launch
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


def values_of(setup: Setup) -> dict[str, Value]:
    """Return every parameter of a setup's scenario with its value; {} for a trace file."""
    return {} if setup.file else dict(settle(find(setup.scenario), setup.values))

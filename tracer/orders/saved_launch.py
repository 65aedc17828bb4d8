"""Launches of saved traces, ready to run again."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..model.launch import Launch, decode, is_cuda_cpp, is_python_program
from ..model.trace import Trace
from ..storage.launch_inputs import with_inputs

_STEPS = ("lockstep", "sequential", "random", "order")


class SavedLaunchError(Exception):
    """A trace whose launch can't run again; one sentence."""


def runnable_launch(trace: Trace, folder: Path) -> Launch:
    """Return the launch of a saved trace with its inputs, as files in a folder; raises SavedLaunchError."""
    if not trace.launch:
        raise SavedLaunchError("The trace holds no launch that could run again.")
    try:
        launch = decode(trace.launch)
    except msgspec.MsgspecError as error:
        raise SavedLaunchError(f"The launch of the trace can't be read: {error}.") from error
    file = launch.kernel.rpartition(":")[0]
    if is_cuda_cpp(file) or is_python_program(launch):
        raise SavedLaunchError("Only kernels in Python can run in another order.")
    if launch.schedule.kind not in _STEPS:
        raise SavedLaunchError(
            "A launch measured on a GPU can't run in another order; search the scenario instead."
        )
    if launch.blocks is None and len(trace.blocks) < trace.grid[0] * trace.grid[1] * trace.grid[2]:
        launch = replace(launch, blocks=tuple(trace.blocks.tolist()))
    try:
        return with_inputs(launch, trace, folder)
    except (OSError, ValueError) as error:
        raise SavedLaunchError(f"The inputs of the launch can't be restored: {error}.") from error

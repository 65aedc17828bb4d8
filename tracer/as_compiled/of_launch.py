"""The job that counts a launch which was traced: of the catalogue, of a trace file, or of a user's program."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from ..model.launch import OBJECT_DTYPE, Array, Launch, Scalar, is_python_program
from ..model.trace import Trace
from ..storage.launch_inputs import with_inputs
from .job import LaunchJob


def job_of(launch: Launch, trace: Trace, folder: Path) -> LaunchJob | str:
    """Return the job of a launch, or a sentence why it can't be counted; folder: where its inputs are kept.

    Raises OSError.
    """
    if is_python_program(launch):
        return "It is a Python program, which no compiler for a GPU takes."
    if any(isinstance(one, Scalar) and one.dtype == OBJECT_DTYPE for one in launch.arguments):
        return "It has an argument whose value is not kept with its trace."
    folder.mkdir(parents=True, exist_ok=True)
    known = with_inputs(launch, trace, folder)
    lacking = [
        one for one in known.arguments
        if isinstance(one, Array) and not launch.scenario and one.fill == "zeros" and one not in launch.arguments
    ]  # fmt: skip
    if lacking:
        return "The content of its arrays is not kept with its trace."
    return LaunchJob(replace(known, blocks=_blocks(launch, trace)))


def _blocks(launch: Launch, trace: Trace) -> tuple[int, ...] | None:
    """Return the blocks that were traced, None where that is all."""
    count = launch.grid[0] * launch.grid[1] * launch.grid[2]
    return None if len(trace.blocks) == count else tuple(trace.blocks.tolist())

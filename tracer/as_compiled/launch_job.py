"""The job that counts a traced launch: of the catalogue, of a trace file, or of a user's program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ..model.launch import OBJECT_DTYPE, Array, Launch, Scalar, is_cuda_cpp, is_python_program
from ..model.trace import Trace
from ..storage.launch_inputs import with_inputs
from ..type_inference.question import Question
from .job import LaunchJob


def job_of(launch: Launch, trace: Trace, folder: Path, question: Question | None = None) -> LaunchJob | str:
    """Return the job of a launch, or a sentence with the reason why it can't be counted.

    folder: of its inputs. question: describes its kernel better than the text of its file. Raises OSError.
    """
    if is_python_program(launch):
        return "It is a Python program, which can't be compiled for a GPU."
    if is_cuda_cpp(launch.kernel.rpartition(":")[0]):
        return "It is CUDA C++; only Numba kernels are counted as compiled."
    if any(isinstance(argument, Scalar) and argument.dtype == OBJECT_DTYPE for argument in launch.arguments):
        return "It has an argument whose value is not kept with its trace."
    if not all(isinstance(argument, Scalar) or _is_plain(argument) for argument in launch.arguments):
        return "It has an array of records, whose content is not kept with its trace."
    folder.mkdir(parents=True, exist_ok=True)
    with_contents = with_inputs(launch, trace, folder)
    return LaunchJob(replace(with_contents, blocks=_blocks(launch, trace)), question)


def _is_plain(array: Array) -> bool:
    try:
        return np.dtype(array.dtype).names is None
    except (TypeError, ValueError):  # records, whose text NumPy does not read
        return False


def _blocks(launch: Launch, trace: Trace) -> tuple[int, ...] | None:
    """Return the blocks that were traced, None for all."""
    count = launch.grid[0] * launch.grid[1] * launch.grid[2]
    return None if len(trace.blocks) == count else tuple(trace.blocks.tolist())

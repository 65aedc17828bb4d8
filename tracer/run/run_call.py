"""Runs a kernel call of another process (`tracer/calls`) under the tracer, like a launch of a program here."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replace_launch

from ..calls.call import load_call
from ..calls.rebuilt import Arguments, kernel_of, stand_for_program
from ..model.launch import Launch
from ..model.trace import Trace
from ..recording.kernel_loader import LoadError
from ..simulator.host.launch_checks import check_limits
from ..simulator.numba_patch import recording_of, refusal_of_launch, refused_kernel
from ..type_inference.rebuilt_kernel import NotRebuilt
from .engine import Report
from .launch_size import LaunchRefused, check_size, is_too_large, sampled_blocks
from .program_hook import RecordingOptions, launch_of_call
from .program_launch import ProgramLaunch


def run_call(folder: Path, report: Report) -> Trace:
    """Run the call in a folder and return its trace; its memories in the folder then hold the results.

    `report(done, total)` is called as blocks end. A launch that is too large runs a sample of its blocks. Raises
    LoadError, also if Numba does not compile the kernel for a GPU.
    """
    call = load_call(folder)
    stand_for_program(call)
    try:
        kernel, arguments = kernel_of(call), Arguments(call, folder)
        configured = kernel[call.grid, call.block, 0, call.shared_bytes]
        checked = configured.checked(arguments.values, {})
        check_size(call.grid, call.block)
        check_limits(configured.fn.__name__, call.grid, call.block, call.shared_bytes)
        launch = _sample(launch_of_call(configured, checked, RecordingOptions(call.schedule)))
        trace = _trace(launch, configured, checked, report)
    except (NotRebuilt, LaunchRefused, TypeError, ValueError) as error:
        raise LoadError(
            f"{call.functions[0].name} can't be launched: {str(error).removesuffix('.')}."
        ) from error
    arguments.write_back()
    return trace


def _trace(launch: Launch, configured: Any, arguments: tuple[Any, ...], report: Report) -> Trace:
    refusal = refusal_of_launch(configured, arguments)
    if refusal is not None:
        raise refused_kernel(configured.fn.__name__, refusal)
    names = tuple(inspect.signature(configured.fn).parameters)
    attempt = ProgramLaunch()
    with recording_of(launch, names, report, attempt.choose):
        configured(*arguments)
    attempt.note_stores()
    if attempt.trace is None:
        raise LoadError(f"{launch.kernel.rpartition(':')[2]} launched nothing.")
    return attempt.trace


def _sample(launch: Launch) -> Launch:
    """Restrict a too large launch to a sample of its blocks."""
    if not is_too_large(launch.grid, launch.block):
        return launch
    return replace_launch(launch, blocks=sampled_blocks(launch.grid, launch.block))

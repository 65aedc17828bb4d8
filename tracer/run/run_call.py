"""A call of a kernel in another process (`tracer/calls`), run here under the tracer as a program's own launch is."""

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
    """Run the call in a folder and return its trace; its memories in the folder then hold what the kernel left there.

    `report(done, of)` is called as blocks end. Of a launch that is too large some blocks run. Raises LoadError, also
    where Numba does not compile the kernel for a GPU.
    """
    call = load_call(folder)
    stand_for_program(call)
    try:
        kernel, arguments = kernel_of(call), Arguments(call, folder)
        configured = kernel[call.grid, call.block, 0, call.shared_bytes]
        given = configured.checked(arguments.values, {})
        check_size(call.grid, call.block)
        check_limits(configured.fn.__name__, call.grid, call.block, call.shared_bytes)
        launch = _sampled(launch_of_call(configured, given, RecordingOptions(call.schedule)))
        trace = _traced(launch, configured, given, report)
    except (NotRebuilt, LaunchRefused, TypeError, ValueError) as error:
        raise LoadError(
            f"{call.functions[0].name} can't be launched: {str(error).removesuffix('.')}."
        ) from error
    arguments.write_back()
    return trace


def _traced(launch: Launch, configured: Any, arguments: tuple[Any, ...], report: Report) -> Trace:
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


def _sampled(launch: Launch) -> Launch:
    """Return a launch of some blocks where there are too many."""
    if not is_too_large(launch.grid, launch.block):
        return launch
    return replace_launch(launch, blocks=sampled_blocks(launch.grid, launch.block))

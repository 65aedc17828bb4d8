"""Runs a kernel call of another process (`tracer/calls`) under the tracer, like a launch of a program here."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replace_launch

from ..calls.call import load_call
from ..calls.rebuild_call import RebuiltArguments, impersonate_program, rebuild_kernel
from ..model.launch import Launch
from ..model.trace import Trace
from ..recording.kernel_loader import LoadError
from ..simulator.host.launch_checks import check_limits
from ..simulator.numba_patch import record_launch, refusal_of_launch, refused_kernel
from ..type_inference.rebuild_kernel import NotRebuiltError
from .endless import looking_periodically
from .engine import Report
from .launch_size import LaunchRefusedError, check_size, choose_sample_blocks, is_too_large
from .program_hook import RecordingOptions, call_both, describe_launch
from .program_launch import ProgramLaunch


def run_call(folder: Path, report: Report, patience: float | None) -> Trace:
    """Run the call in a folder and return its trace; its memories in the folder then hold the results.

    `report(done, total)` is called as blocks end. patience: seconds of CPU time for a block, None for no limit.
    A launch that is too large runs a sample of its blocks. Raises LoadError, also if Numba does not
    compile the kernel for a GPU.
    """
    call = load_call(folder)
    impersonate_program(call)
    try:
        kernel, arguments = rebuild_kernel(call), RebuiltArguments(call, folder)
        configured = kernel[call.grid, call.block, 0, call.shared_bytes]
        checked = configured.checked(arguments.values, {})
        check_size(call.grid, call.block)
        check_limits(configured.fn.__name__, call.grid, call.block, call.shared_bytes)
        launch = _sample(describe_launch(configured, checked, RecordingOptions(call.schedule)))
        trace = _trace(launch, configured, checked, report, patience)
    except (NotRebuiltError, LaunchRefusedError, TypeError, ValueError) as error:
        raise LoadError(
            f"{call.functions[0].name} can't be launched: {str(error).removesuffix('.')}."
        ) from error
    arguments.write_back()
    return trace


def _trace(
    launch: Launch, configured: Any, arguments: tuple[Any, ...], report: Report, patience: float | None
) -> Trace:
    refusal = refusal_of_launch(configured, arguments)
    if refusal is not None:
        raise refused_kernel(configured.fn.__name__, refusal)
    names = tuple(inspect.signature(configured.fn).parameters)
    attempt = ProgramLaunch()
    with (
        attempt.bounded(launch, attempt.choose, patience) as bounded,
        looking_periodically(bounded.look),
        record_launch(launch, names, call_both(report, bounded.ended), bounded.perform),
    ):
        configured(*arguments)
    attempt.note_stores()
    if attempt.trace is None:
        raise LoadError(f"{launch.kernel.rpartition(':')[2]} launched nothing.")
    return attempt.trace


def _sample(launch: Launch) -> Launch:
    """Restrict a too large launch to a sample of its blocks."""
    if not is_too_large(launch.grid, launch.block):
        return launch
    return replace_launch(launch, blocks=choose_sample_blocks(launch.grid, launch.block))

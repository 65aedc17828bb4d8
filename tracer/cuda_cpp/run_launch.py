"""Runs a `Launch` of a kernel in CUDA C++, as the other engines run those of Numba's kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..dataflow.load_uses import depends_on_outside
from ..model.embedded_cpp import cpp_text_of, is_embedded
from ..model.launch import Array, Launch, encode
from ..model.trace import STOPPED, Check, Trace
from ..recording.kernel_loader import create_array, kernel_file
from ..recording.reference_check import compare_results
from .session import SessionOptions
from .single_launch import KernelArgument, KernelCall, LaunchedKernel, build_call, launch_kernel

Report = Callable[[int, int], None]


def run_launch(launch: Launch, report: Report, patience: float | None) -> Trace:
    """Trace a launch, compare a scenario's result with NumPy's, and return the trace.

    report: called with the blocks that have ended, and all. patience: seconds of CPU time for a block. Raises LoadError
    for an array that can't be created, and the errors of `launch_kernel`.
    """
    launched = launch_kernel(
        call_of(launch),
        SessionOptions(
            launch.schedule, launch.resident, patience, launch.limits, blocks=launch.blocks, report=report
        ),
    )
    trace = replace(launched.trace, launch=encode(launch))
    return replace(trace, check=_check(launch, launched)) if launch.scenario else trace


def compile_launch(launch: Launch) -> None:
    """Compile a launch's kernel, which a later run then finds; raises the errors of `build_call`."""
    build_call(call_on(launch, []))


def call_of(launch: Launch) -> KernelCall:
    """Describe a launch with its arrays; raises LoadError."""
    arguments: list[KernelArgument] = [
        create_array(argument) if isinstance(argument, Array) else argument.value
        for argument in launch.arguments
    ]
    return call_on(launch, arguments)


def call_on(launch: Launch, arguments: Sequence[KernelArgument]) -> KernelCall:
    """Describe a launch on these arguments."""
    file, _, kernel = launch.kernel.rpartition(":")
    text = (cpp_text_of(launch.source, kernel) or "") if is_embedded(file) else launch.source
    return KernelCall(
        Path(kernel_file(launch)),
        text,
        kernel,
        arguments,
        launch.grid,
        launch.block,
        launch.shared_bytes,
        launch.constants,
    )


def _check(launch: Launch, launched: LaunchedKernel) -> Check | None:
    """Compare the results with NumPy's; None if only some blocks ran, or the kernel did not end."""
    trace = launched.trace
    if trace.error is not None or trace.notice.startswith(STOPPED) or launch.blocks is not None:
        return None
    finals = {launched.names[number]: array for number, array in launched.arrays.items()}
    check = compare_results(launch, launched.names, finals)
    return (
        replace(check, equal=False, is_by_chance=True) if check.equal and depends_on_outside(trace) else check
    )

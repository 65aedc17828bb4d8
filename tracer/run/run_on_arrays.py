"""Launches on given arrays, which hold the results afterwards; the launch runs as in a user's program."""

from __future__ import annotations

from typing import Any

from ..model.launch import Launch
from ..model.trace import Trace
from ..simulator.numba_patch import record_launch, refusal_of_launch, refused_kernel
from .original_builtins import original_builtins
from .program_launch import ProgramLaunch


def run_on_arrays(launch: Launch, kernel: Any, arguments: list[Any], names: tuple[str, ...]) -> Trace:
    """Run a kernel on these arguments, compiled if that is faster, and return the trace.

    launch: its description. names: the kernel's parameter names. Raises KernelRefusedError.
    """
    refusal = refusal_of_launch(kernel, tuple(arguments))
    if refusal is not None:
        raise refused_kernel(kernel.fn.__name__, refusal)
    attempt = ProgramLaunch()
    with original_builtins(), record_launch(launch, names, perform=attempt.choose):
        kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
    assert attempt.trace is not None, "a launch leaves a trace"
    return attempt.trace

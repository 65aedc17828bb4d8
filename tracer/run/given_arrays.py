"""Launches on given arrays, which hold the results afterwards; the launch runs as in a user's program."""

from __future__ import annotations

from typing import Any

from ..model.launch import Launch
from ..model.trace import Trace
from ..simulator.numba_patch import recording_of, refusal_of_launch, refused_kernel
from .own_builtins import own_builtins
from .program_launch import ProgramLaunch


def run_on(launch: Launch, kernel: Any, arguments: list[Any], names: tuple[str, ...]) -> Trace:
    """Run a kernel on these arguments, compiled if that is faster, and return the trace.

    launch: its description. names: the kernel's parameter names. Raises KernelRefusedError.
    """
    refusal = refusal_of_launch(kernel, tuple(arguments))
    if refusal is not None:
        raise refused_kernel(kernel.fn.__name__, refusal)
    attempt = ProgramLaunch()
    with own_builtins(), recording_of(launch, names, perform=attempt.choose):
        kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
    assert attempt.trace is not None, "a launch leaves a trace"
    return attempt.trace

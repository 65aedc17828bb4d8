"""Launches on given arrays, which hold the results afterwards; the launch runs as in a user's program."""

from __future__ import annotations

from typing import Any

from ..model.launch import Launch
from ..model.trace import Trace
from ..simulator.numba_patch import record_launch, refusal_of_launch, refused_kernel
from .endless import looking_periodically
from .original_builtins import original_builtins
from .program_launch import ProgramLaunch

PATIENCE = (
    2.0  # seconds of CPU time after which a block counts as endless: exercises make a few thousand accesses
)


def run_on_arrays(launch: Launch, kernel: Any, arguments: list[Any], names: tuple[str, ...]) -> Trace:
    """Run a kernel on these arguments, compiled if that is faster, and return the trace.

    launch: its description. names: the kernel's parameter names. The trace of an endless launch has its first accesses
    and the error LaunchTimeoutError. Raises KernelRefusedError.
    """
    refusal = refusal_of_launch(kernel, tuple(arguments))
    if refusal is not None:
        raise refused_kernel(kernel.fn.__name__, refusal)
    attempt = ProgramLaunch()
    with (
        original_builtins(),
        attempt.bounded(launch, attempt.choose, PATIENCE) as bounded,
        looking_periodically(bounded.look),
        record_launch(launch, names, bounded.ended, bounded.perform),
    ):
        kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
    assert attempt.trace is not None, "a launch leaves a trace"
    return attempt.trace

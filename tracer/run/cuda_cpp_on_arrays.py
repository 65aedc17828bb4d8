"""Launches in CUDA C++ on given arrays, which hold the results afterwards."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from msgspec.structs import replace

from ..cuda_cpp.build import BuildError, prepare
from ..cuda_cpp.compilers import CompilerError
from ..cuda_cpp.run_launch import call_on
from ..cuda_cpp.session import SessionOptions
from ..cuda_cpp.single_launch import KernelLaunchError, launch_kernel
from ..model.launch import Launch, Limits, encode
from ..model.trace import Trace
from ..recording.kernel_loader import KernelRefusedError, kernel_file

MOST_ACCESSES = 1_000_000  # that are kept
BLOCK_SECONDS = (
    1.0  # of CPU time after which a block counts as endless: exercises make a few thousand accesses
)


def prepare_compiler() -> None:
    """Compile what all programs share; errors are ignored here, since the launch reports them."""
    with suppress(CompilerError, BuildError, OSError):
        prepare()


def run_cuda_cpp_on_arrays(
    launch: Launch, kernel: Any, arguments: list[Any], names: tuple[str, ...]
) -> Trace:
    """Run a kernel in CUDA C++ on these arguments and return the trace, like `run_on_arrays`.

    launch: its description. kernel, names: not used. Raises KernelRefusedError for a text that does not compile and for
    a launch without a trace.
    """
    file = kernel_file(launch)
    try:
        launched = launch_kernel(
            call_on(launch, arguments),
            SessionOptions(launch.schedule, launch.resident, BLOCK_SECONDS, Limits(MOST_ACCESSES)),
        )
    except CompilerError as error:
        raise KernelRefusedError(str(error), file, 0) from error
    except (BuildError, KernelLaunchError) as error:
        sentence = str(error)
        raise KernelRefusedError(
            sentence[:1].upper() + sentence[1:], error.file or file, error.line
        ) from error
    for number, content in launched.arrays.items():
        if isinstance(arguments[number], np.ndarray):
            arguments[number][...] = content
    return replace(launched.trace, launch=encode(launch))

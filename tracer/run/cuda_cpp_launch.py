"""Runs launches in CUDA C++, or those of their Numba twins where there is no C++ compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ..cuda_cpp.build import BuildError
from ..cuda_cpp.compilers import CompilerError
from ..cuda_cpp.run_launch import run_launch
from ..cuda_cpp.single_launch import KernelLaunchError
from ..model.launch import Launch
from ..model.plan import twin_of
from ..model.trace import Trace
from ..recording.kernel_loader import LoadError, kernel_file
from .endless import EndlessLaunchError

Report = Callable[[int, int], None]
TWIN_NOTICE = "The pictures show the Numba twin of the kernel."


def run_cuda_cpp(
    launch: Launch, report: Report, block_seconds: float | None, run_twin: Callable[[Launch], Trace]
) -> Trace:
    """Run a launch in CUDA C++; without a C++ compiler that of its Numba twin, if it has one.

    block_seconds: of CPU time for a block, None for no limit. Raises LoadError and EndlessLaunchError.
    """
    file = kernel_file(launch)
    try:
        return run_launch(launch, report, block_seconds)
    except CompilerError as error:
        twin = twin_of(launch)
        if twin is None:
            raise LoadError(str(error), file) from error
        trace = run_twin(twin)
        return replace(trace, notice=f"{TWIN_NOTICE} {error} {trace.notice}".strip())
    except (BuildError, KernelLaunchError) as error:
        where, line = error.file or file, error.line
        sentence = f"{where}:{line}: {error}" if line else str(error)
        if isinstance(error, KernelLaunchError) and error.kind == "endless":
            raise EndlessLaunchError(str(error), where, line) from error
        raise LoadError(sentence, where, line) from error
    except OSError as error:
        raise LoadError(f"{Path(file).name} can't be compiled: {error.strerror or error}.", file) from error

"""The compiled engine: rewrite, compile, run block by block, and return the trace."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ..execution import Run
from ..launch import Launch
from ..loading import arrays_of, constants_of, load_kernel
from ..recorder import TooLarge
from ..results import finish
from ..trace import KernelError, Trace, unravel
from .blocks import Blocks
from .compile import Kind, compiled
from .memory import Memory
from .names import NotCompilable
from .program import Program
from .recording import RowRecorder
from .rewrite import rewritten
from .state import CODES, Word


def run(launch: Launch, report: Callable[[int, int], None]) -> Trace:
    """Run a launch compiled and return its trace, in the order of `sequential`; raises NotCompilable.

    `report(done, of)` is called as blocks end. Raises LoadError where the kernel's file or arguments don't make
    a launch.
    """
    if launch.schedule.kind == "random":
        raise NotCompilable("The random schedule switches threads at every access.")
    module, kernel = load_kernel(launch)
    if getattr(kernel, "_debug", False) or getattr(kernel, "targetoptions", {}).get("debug"):
        raise NotCompilable("debug=True asks for errors that compiled code does not raise.")
    constants_of(module, launch)
    arguments, names = arrays_of(launch, kernel)
    program = rewritten(kernel.py_func)
    sweep = compiled(program, [_kind(v, n) for v, n in zip(arguments, names, strict=True)])
    made = Run(launch, names, report)
    _execute(made, program, sweep, arguments)
    return finish(made, str(module.__file__), f"numba {numba.__version__}, compiled")


def _kind(value: Any, name: str) -> Kind:
    if not isinstance(value, np.ndarray):
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise NotCompilable(f"{name} is {value}, which takes more than 64 bits.")
        return type(value)
    if value.dtype not in CODES:
        raise NotCompilable(f"{name} is an array of {value.dtype}.")
    return value.dtype, value.ndim


def _execute(made: Run, program: Program, sweep: Any, arguments: list[Any]) -> None:
    """Run the chosen blocks; what went wrong ends up in `error` or `notice`."""
    launch = made.launch
    state = np.zeros(len(Word), np.int64)
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    limit = made.recorder.limit
    recorder = RowRecorder(limit, made._count, program, state, lambda r, c: memory.number_of(r, c), threads)
    made.recorder = recorder
    memory = Memory(made, program, arguments, state, threads)
    for region, (value, name) in enumerate(zip(arguments, made.names, strict=True)):
        if isinstance(value, np.ndarray):
            memory.argument(region, value, name)
    blocks = Blocks(sweep, state, recorder, memory, launch.grid, launch.block)
    count = launch.grid[0] * launch.grid[1] * launch.grid[2]
    chosen = list(range(count)) if launch.blocks is None else list(launch.blocks)
    try:
        for done, block in enumerate(chosen, 1):
            blocks.run(block)
            recorder.finish_block(block)
            made.report(done, len(chosen))
    except Exception as error:  # noqa: BLE001  # whatever a kernel raises is shown to its author
        _end(made, recorder.failure or error, state)


def _end(made: Run, error: BaseException, state: Any) -> None:
    """Note how a launch ended that did not come to its end."""
    recorder = made.recorder
    if isinstance(error, TooLarge):
        made.notice = (
            f"Stopped after {recorder.accesses:,} accesses: one block makes more than the "
            f"{recorder.limit:,} that may be held. Choose a smaller size."
        )
        return
    if isinstance(error, NotCompilable) or not isinstance(error, Exception):
        raise error
    block = (int(state[Word.BX]), int(state[Word.BY]), int(state[Word.BZ]))
    thread = unravel(int(state[Word.THREAD]), made.dim)
    frame = traceback.extract_tb(error.__traceback__)[-1]  # numba adds one for the line that raised
    made.error = KernelError(type(error).__name__, str(error), block, thread, frame.filename, frame.lineno or 0)

"""Launches for tests: a kernel from a text, traced in this process."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # for programs that are run without conftest.py

import numpy as np
from numpy.typing import NDArray

from tilescope.tracer.model.launch import Array, Launch, Limits, Scalar, Schedule
from tilescope.tracer.model.trace import Trace

HEADER = "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int32, int64, uint8\n"


def launch(
    folder: Path,
    source: str,
    arguments: tuple[Array | Scalar, ...] = (),
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (1, 1, 1),
    schedule: str = "lockstep",
    seed: int = 0,
    **options: Any,
) -> Launch:
    """Return a launch of the kernel named `kernel` in a text, which is written to a file of the folder."""
    text = HEADER + textwrap.dedent(source)
    path = folder / "kernels.py"
    path.write_text(text)
    return Launch(
        kernel=f"{path}:kernel", source=text, arguments=arguments, grid=grid, block=block,
        schedule=Schedule(schedule, seed), **options,
    )  # fmt: skip


def trace(*args: Any, report: Any = lambda done, total: None, **options: Any) -> Trace:
    """Return the trace of `launch(...)`."""
    from tilescope.tracer.simulator.numba_patch import run

    return run(launch(*args, **options), report)


def final_contents(trace: Trace, name: str) -> NDArray[Any]:
    """Return the content of a global buffer after the launch: its initial content, with every store replayed."""
    number = next(i for i, b in enumerate(trace.buffers) if b.name == name)
    cells = trace.initial[number].copy()
    own_rows = (trace.buffer == number) & (trace.op != 0)
    assert trace.value is not None
    value = trace.value[own_rows] if cells.dtype.kind == "c" else trace.value[own_rows].real
    with np.errstate(all="ignore"):
        cells[trace.index[own_rows]] = value.astype(cells.dtype)
    return cells[trace.buffers[number].elements()]


def access_rows(trace: Trace, name: str) -> list[tuple[int, int, str, int]]:
    """Return the accesses of one buffer as (thread, phase, op, index)."""
    numbers = [i for i, b in enumerate(trace.buffers) if b.name == name]
    own_rows = np.isin(trace.buffer, numbers)
    columns = (trace.thread[own_rows], trace.phase[own_rows], trace.op[own_rows], trace.index[own_rows])
    return [(int(t), int(p), "LSAR"[o], int(i)) for t, p, o, i in zip(*columns, strict=True)]


__all__ = ["Array", "Limits", "Scalar", "access_rows", "final_contents", "launch", "trace"]

"""Random kernels: the trace reproduces what the kernel left in memory, and reads return the last write."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from launching import Array, final_contents, launch
from random_kernels import SIZE, kernels
from tilescope.tracer.model.trace import Trace, poison
from tilescope.tracer.simulator import numba_patch


def stale_reads(trace: Trace) -> list[int]:
    """Return the rows of loads whose value is not what was last written there, or was there before."""
    memory: dict[tuple[int, ...], int] = {}
    stale = []
    columns = (trace.op, trace.buffer, trace.block, trace.thread, trace.index, trace.value)
    for row, (op, buffer, block, thread, index, value) in enumerate(zip(*columns, strict=True)):
        space = trace.buffers[buffer].space
        owner = {"shared": (block,), "local": (block, thread)}.get(space, ())
        place = (int(buffer), *map(int, owner), int(index))
        fresh = (
            trace.initial[int(buffer)][index]
            if space == "global"
            else poison(np.dtype(trace.buffers[buffer].dtype))
        )
        if op == 0 and memory.get(place, int(fresh)) != value:
            stale.append(row)
        if op != 0:
            memory[place] = int(value)
    return stale


@settings(max_examples=60, print_blob=True)
@given(
    source=kernels(), block=st.sampled_from([1, 3, 8, 33]), grid=st.integers(1, 3), resident=st.integers(1, 3),
    schedule=st.sampled_from(["lockstep", "sequential", "random"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_trace_explains_memory(
    source: str, block: int, grid: int, resident: int, schedule: str, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kernel_launch = launch(
            Path(folder), source, (Array((SIZE,), "int32", "arange"), Array((SIZE,), "int32")), (grid, 1, 1),
            (block, 1, 1), schedule, seed, resident=resident,
        )  # fmt: skip
        module, kernel = numba_patch.load_kernel(kernel_launch)
        arrays = [np.arange(SIZE, dtype=np.int32), np.zeros(SIZE, np.int32)]
        trace = numba_patch.trace_kernel(
            kernel_launch, module, kernel, arrays, ("a", "b"), lambda done, total: None
        )
    assert trace.error is None, trace.error
    for name, array in zip("ab", arrays, strict=True):
        assert final_contents(trace, name).tolist() == array.tolist()
    assert stale_reads(trace) == []

"""Random kernels: the trace reproduces what the kernel left in memory, and reads return the last write."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from launching import Array, contents, launch
from tilescope.tracer import simulator
from tilescope.tracer.trace import Trace, poison

SIZE = 12
INDEX = st.sampled_from(["t", "t + 1", "2 * t", "t // 3", "x", "x * 5", "7", "-1 - t", "i"])
ARRAY = st.sampled_from(["a", "b", "shared"])


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Return the lines of a random block of code over a, b, shared and mine."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["move", "add", "atomic", "local"] + ["if", "for"] * (depth > 0)))
        target, source = draw(ARRAY), draw(ARRAY)
        to, at = f"({draw(INDEX)}) % {SIZE}", f"({draw(INDEX)}) % {SIZE}"
        if kind == "move":
            lines.append(f"{target}[{to}] = {source}[{at}]")
        elif kind == "add":
            lines.append(f"{target}[{to}] += {source}[{at}] + {draw(st.integers(0, 9))}")
        elif kind == "atomic":
            lines.append(f"cuda.atomic.add({target}, {to}, {draw(st.integers(1, 9))})")
        elif kind == "local":
            lines += [f"mine[i % 3] = {source}[{at}]", f"{target}[{to}] = mine[i % 3]"]
        else:
            head = (
                f"if t % {draw(st.integers(1, 4))} == 0:"
                if kind == "if"
                else f"for i in range(t % 3, {draw(st.integers(1, 4))}):"
            )
            lines += [head] + ["    " + line for line in draw(statements(depth - 1))]
    return lines


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """Return a random kernel; barriers stand where every thread comes by."""
    lines = ["t, x, i = cuda.threadIdx.x, cuda.grid(1), 0", f"shared = cuda.shared.array({SIZE}, int32)"]
    lines.append("mine = cuda.local.array(3, int32)")
    for _ in range(draw(st.integers(1, 3))):
        lines += [*draw(statements()), "cuda.syncthreads()"]
    return "@cuda.jit\ndef kernel(a, b):\n" + "".join(f"    {line}\n" for line in lines)


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


@settings(max_examples=60, deadline=None, print_blob=True)
@given(
    source=kernels(), block=st.sampled_from([1, 3, 8, 33]), grid=st.integers(1, 3), resident=st.integers(1, 3),
    schedule=st.sampled_from(["lockstep", "sequential", "random"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_trace_explains_memory(
    source: str, block: int, grid: int, resident: int, schedule: str, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = launch(
            Path(folder), source, (Array((SIZE,), "int32", "arange"), Array((SIZE,), "int32")), (grid, 1, 1),
            (block, 1, 1), schedule, seed, resident=resident,
        )  # fmt: skip
        module, kernel = simulator.load_kernel(made)
        arrays = [np.arange(SIZE, dtype=np.int32), np.zeros(SIZE, np.int32)]
        trace = simulator.record(made, module, kernel, arrays, ("a", "b"), lambda done, of: None)
    assert trace.error is None, trace.error
    for name, array in zip("ab", arrays, strict=True):
        assert contents(trace, name).tolist() == array.tolist()
    assert stale_reads(trace) == []

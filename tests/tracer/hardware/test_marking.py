"""Kernels with marks: what gets which mark, and that a marked kernel does what the kernel does."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest

from launching import HEADER, Array, Launch, launch
from numba_catalogue import find_numba, numba_scenarios
from tilescope.kernels.scenarios.catalogue import settle
from tilescope.tracer.hardware.marks.decoding import WARP_ROW, Warps, segments_of
from tilescope.tracer.hardware.marks.marked_kernel import Room, marked_source_of
from tilescope.tracer.hardware.marks.marking import MarkedSource, NotMarkableError
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS, Detail, Segments
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op, Trace
from tilescope.tracer.recording.kernel_loader import load_kernel
from tilescope.tracer.simulator.numba_patch import run

VECTORS = (Array((64,), "float32", "arange"), Array((64,), "float32"))
SLOT = 1 << 12
# Marks that write their numbers into an array, so that a trace has them in the order in which they were passed.
MARKS = """
@cuda.jit(device=True)
def _ts_begin(ends, warps, slot, detailed):
    lane = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
    block = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x
    if lane % 32:
        return -1
    return (block * warps + lane // 32) * slot


@cuda.jit(device=True)
def _ts_mark(at, marks, limit, number):
    if at < 0:
        return at
    marks[at] = number
    return at + 1


@cuda.jit(device=True)
def _ts_end(ends, warps, at):
    cuda.atomic.add(ends, 0, 1)
"""


def marked(launch: Launch, detail: Detail = "all") -> MarkedSource:
    return marked_source_of(launch, load_kernel(launch)[1], detail)


def mark_texts(source: MarkedSource) -> list[str]:
    return [f"{m.kind}{'!' * m.barrier} {m.first_line}-{m.last_line}" for m in source.marks]


def of_text(folder: Any, body: str, detail: Detail = "all", arguments: str = "a, out") -> list[str]:
    """List the segments that a kernel's marks begin; lines are counted from its `def`, which is 0."""
    kernel_launch = launch(folder, f"@cuda.jit\ndef kernel({arguments}):\n{body}", VECTORS)
    shift = HEADER.count("\n") + 2
    source = marked(kernel_launch, detail)
    moved = [
        msgspec.structs.replace(m, first_line=m.first_line - shift, last_line=m.last_line - shift)
        for m in source.marks
    ]
    return mark_texts(MarkedSource(source.tree, tuple(moved), detail))


def of_scenario(name: str, detail: Detail = "all") -> list[str]:
    """List the segments that a scenario's marks begin; lines are counted from its `def`, which is 0."""
    launch = launch_of(find_numba(name), {})
    source = marked(launch, detail)
    first = load_kernel(launch)[1].py_func.__code__.co_firstlineno + 1
    moved = [
        msgspec.structs.replace(m, first_line=m.first_line - first, last_line=m.last_line - first)
        for m in source.marks
    ]
    return mark_texts(MarkedSource(source.tree, tuple(moved), detail))


def test_a_tiled_product_loads_waits_computes_waits_and_stores():
    assert of_scenario("matmul-tiled") == [
        "other 1-6", "load 7-13", "wait! 14-14", "compute 15-16", "wait! 17-17", "store 18-19",
    ]  # fmt: skip


def test_a_loop_of_loads_is_one_segment():
    assert of_scenario("matmul-naive-col-on-x") == ["other 1-2", "load 3-5", "store 6-6"]


def test_a_loop_that_loads_and_counts_has_marks_inside():
    assert of_scenario("histogram-private") == [
        "other 1-1", "compute 2-3", "wait! 4-4", "other 5-6", "load 7-7", "atomic 8-9", "wait! 10-10", "atomic 11-12",
    ]  # fmt: skip


def test_device_functions_have_the_kind_of_their_statements():
    assert of_scenario("workitem-tiled")[1:] == [
        "load 9-10", "wait! 11-11", "compute 12-13", "wait! 14-14", "store 15-15",
    ]  # fmt: skip


def test_thinned_marks_are_only_at_barriers():
    assert of_scenario("sum-sequential", "barriers") == [
        "load 1-3", "wait! 4-4", "other 5-6", "compute 7-8", "wait! 9-9", "atomic 11-12",
    ]  # fmt: skip
    assert of_scenario("histogram-global", "barriers") == ["other 1-5"]


def test_marks_only_at_the_ends_are_not_written():
    assert of_scenario("matmul-tiled", "ends") == ["other 1-19"]


BODIES = {
    "    i = cuda.grid(1)\n    out[i] = a[i]\n": ["other 1-1", "load 2-2"],
    "    i = cuda.grid(1)\n    x = a.shape[0] + i\n    out[i] = x\n": ["other 1-2", "store 3-3"],
    "    for x in a:\n        out[0] = x\n    cuda.syncwarp()\n": ["other 1-1", "load 1-2", "wait 3-3"],
    "    part = a[4:]\n    out[0] = part[1]\n": ["other 1-1", "load 2-2"],
    "    s = cuda.shared.array(32, float32)\n    v = s[1:]\n    out[0] = v[0] * 2\n": ["other 1-2", "store 3-3"],
    "    s = cuda.local.array(4, float32)\n    for j in range(4):\n        s[j] = j * 2\n    out[0] = s[1]\n": [
        "other 1-1", "compute 2-3", "store 4-4",
    ],
    "    if a[0] > 0:\n        out[1] = 2\n        cuda.syncthreads()\n    else:\n"
    "        cuda.atomic.add(out, 0, 1)\n": [
        "other 1-1", "load 1-1", "store 2-2", "wait! 3-3", "atomic 5-5",
    ],
    "    while cuda.atomic.cas(out, 0, 0, 1) != 0:\n        pass\n    out[1] = 1\n": [
        "other 1-1", "atomic 1-2", "store 3-3",
    ],
    "    cuda.syncthreads()\n    cuda.syncthreads()\n": ["other 1-1", "wait! 1-1", "wait! 2-2"],
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_kinds_of_statements(tmp_path, body):
    assert of_text(tmp_path, body) == BODIES[body]


def test_a_kernel_without_a_source_is_refused_in_a_sentence(tmp_path):
    kernel_launch = launch(tmp_path, "exec('def kernel(a, out): pass')\nkernel = cuda.jit(kernel)\n", VECTORS)
    with pytest.raises(NotMarkableError, match=r"The kernel can't be marked: .*\."):
        marked(kernel_launch)
    with pytest.raises(NotMarkableError, match="default, keyword or starred"):
        of_text(tmp_path, "    a[0] = 1\n", arguments="a, out=1")


# --- a marked kernel does what the kernel does


SMALL = {
    "m": 20, "k": 12, "n": 18, "tile": 4, "rows": 40, "cols": 36, "count": 300, "num_blocks": 2,
    "threads": 64, "bins": 20,
}  # fmt: skip
KERNELS = {s.kernel: s.name for s in reversed(numba_scenarios()) if s.engine == "cuda"}


def small(name: str) -> Launch:
    scenario = find_numba(name)
    own = {"m": 32, "k": 16, "n": 32} if "side" in (p.name for p in scenario.parameters) else SMALL
    given = {p.name: own[p.name] for p in scenario.parameters if p.name in own}
    return msgspec.structs.replace(
        launch_of(scenario, settle(scenario, given)), engine="simulator", schedule=Schedule("sequential")
    )


def with_marks(trace: Launch, source: MarkedSource) -> Launch:
    """Return the launch of a marked kernel, whose marks write their numbers."""
    tree = ast.parse(trace.source)
    name = trace.kernel.rpartition(":")[2]
    for place, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            source.tree.decorator_list = node.decorator_list
            tree.body[place] = source.tree
            tree.body[place:place] = ast.parse(MARKS).body
            break
    warps = -(-math.prod(trace.block) // 32)
    room = Room(warps, SLOT, math.prod(trace.grid) * warps * SLOT, 1)
    tree.body[0:0] = [
        ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), tree.body[0])
        for name, value in room.names().items()
    ]
    added = Array((1,), "int64"), Array((room.limit,), "int64")
    return msgspec.structs.replace(
        trace,
        source=ast.unparse(ast.fix_missing_locations(tree)),
        arguments=(*trace.arguments, *added),
        scenario="",
    )


def nothing(done: int, total: int) -> None:
    pass


@dataclass
class Both:
    plain: Trace
    marked: Trace
    source: MarkedSource
    launch: Launch

    def of_marks(self) -> np.ndarray[Any, Any]:
        numbers = [n for n, b in enumerate(self.marked.buffers) if b.name.startswith("_ts_")]
        return np.isin(self.marked.buffer, numbers)

    def written(self) -> np.ndarray[Any, Any]:
        number = next(n for n, b in enumerate(self.marked.buffers) if b.name == "_ts_marks")
        return np.flatnonzero(self.marked.buffer == number)


@pytest.fixture(scope="module", params=sorted(KERNELS.values()))
def both(request):
    trace = small(request.param)
    plain = run(trace, nothing)  # which completes the simulator, as kernels with a GPU's options need
    source = marked(trace)
    return Both(plain, run(with_marks(trace, source), nothing), source, trace)


def test_every_access_of_a_marked_kernel_is_one_of_the_kernel(both):
    own = ~both.of_marks()
    for name in ("block", "thread", "phase", "op", "index"):
        assert (getattr(both.marked, name)[own] == getattr(both.plain, name)).all(), name
    kinds = [[(b.space, b.shape, b.dtype) for b in t.buffers] for t in (both.marked, both.plain)]
    of_marked = [kinds[0][number] for number in both.marked.buffer[own]]
    assert of_marked == [kinds[1][number] for number in both.plain.buffer]
    values = [t.value.astype(np.complex128) for t in (both.marked, both.plain)]
    np.testing.assert_array_equal(values[0][own], values[1])


def test_all_threads_pass_an_end(both):
    ends = next(n for n, b in enumerate(both.marked.buffers) if b.name == "_ts_ends")
    assert (both.marked.buffer == ends).sum() == math.prod(both.launch.grid) * math.prod(both.launch.block)


def decoded(both: Both) -> Segments:
    """Return the segments of all warps, whose clocks are the trace's rows."""
    blocks, warps = math.prod(both.launch.grid), -(-math.prod(both.launch.block) // 32)
    place = both.written()
    position = both.marked.index[place].astype(int)
    counts = np.bincount(position // SLOT, minlength=blocks * warps)
    assert counts.max(initial=0) < SLOT
    marks = np.zeros((blocks * warps, max(1, counts.max(initial=0)), 2), np.uint32)
    marks[position // SLOT, position % SLOT, 0] = place
    marks[position // SLOT, position % SLOT, 1] = both.marked.value[place].real
    rows = np.zeros((blocks, warps), WARP_ROW)
    rows["end"] = len(both.marked)
    return segments_of(Warps(rows), np.arange(blocks), marks, counts, both.source.marks)


ALLOWED = {
    ("global", Op.LOAD): {"load", "atomic"},
    ("global", Op.STORE): {"store", "load", "atomic"},
    ("shared", Op.LOAD): {"compute", "load", "store", "atomic"},
}


def test_accesses_and_barriers_match_the_marks(both):
    """Of each warp's first lane: the kind and the lines of the segment in which each access lies, and its phase."""
    segments = decoded(both)
    rows = np.flatnonzero(~both.of_marks())
    lines = np.array([site.line for site in both.plain.sites])[both.plain.site]
    kernel = both.launch.kernel.rpartition(":")[2]
    own = np.array([site.function == kernel for site in both.plain.sites])[
        both.plain.site
    ]  # no lines of functions
    checked = 0
    for block in range(math.prod(both.launch.grid)):
        for warp in range(-(-math.prod(both.launch.block) // 32)):
            own_values = (both.marked.block[rows] == block) & (both.marked.thread[rows] == 32 * warp)
            here = np.flatnonzero((segments.block == block) & (segments.warp == warp))
            results = here[np.searchsorted(segments.start[here], rows[own_values], side="right") - 1]
            kinds = [SEGMENT_KINDS[kind] for kind in segments.kind[results]]
            ops = both.plain.op[own_values]
            spaces = [both.plain.buffers[b].space for b in both.plain.buffer[own_values]]
            for kind, space, op in zip(kinds, spaces, ops, strict=True):
                if op in (Op.ATOMIC, Op.REDUCTION):
                    assert kind == "atomic"
                elif (str(space), Op(op)) in ALLOWED:
                    assert kind in ALLOWED[str(space), Op(op)]
            inside = (segments.first_line[results] <= lines[own_values]) & (
                lines[own_values] <= segments.last_line[results]
            )
            assert (inside | ~own[own_values]).all()
            assert (segments.phase[results] == both.plain.phase[own_values]).all()
            checked += int(own_values.sum())
    assert checked

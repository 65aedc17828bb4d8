"""Counters of launches of which nothing is kept, and where columns go that are too large for memory."""

from __future__ import annotations

import errno
import json

import msgspec
import numpy as np
import pytest

from bank_passes import count_wavefronts
from engines import assert_counted, assert_same, ignore_progress, limit_accesses, requests_as_irregular
from folders import DATA
from launching import Array, Limits, launch
from numba_catalogue import find_numba, numba_scenarios
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.driver import growing_columns, row_recorder
from tilescope.tracer.compiled.driver.growing_columns import GrowingColumns
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.simulator import numba_patch
from tilescope.tracer.storage.trace_file import TraceFileError

KERNELS = [s.name for s in numba_scenarios() if s.engine == "cuda"]
H200 = json.loads((DATA / "h200_counters.json").read_text(encoding="utf-8"))


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows be counted when there are few, so that warps and phases are cut in the midst."""
    monkeypatch.setattr(row_recorder, "COUNTED", 64)


def trace_and_summary(launch: Launch) -> tuple[Trace, Trace]:
    """Return the traces of a launch with all accesses and with none."""
    return compiled.run_compiled(limit_accesses(launch, 20_000_000), ignore_progress), compiled.run_compiled(
        limit_accesses(launch, 0), ignore_progress
    )


@pytest.mark.parametrize("name", KERNELS)
def test_a_summary_has_the_counters_of_the_complete_trace(name):
    assert_counted(*trace_and_summary(launch_of(find_numba(name), {})))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.usefixtures("few_rows")
def test_counters_do_not_depend_on_where_rows_are_cut(name):
    assert_counted(*trace_and_summary(launch_of(find_numba(name), {})))


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("name", ["matmul-naive-row-on-x", "matmul-tiled", "matmul-tiled-early-return"])
@pytest.mark.usefixtures("few_rows")
def test_blocks_smaller_than_a_warp(name, tile):
    sizes = {"m": 9, "k": 6, "n": 7, "tile": tile}
    assert_counted(*trace_and_summary(launch_of(find_numba(name), sizes)))


WARPS = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    value = a[i]
    for k in range(5):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, 1 << k)
        out[i] = value
        cuda.syncwarp()
        out[i] = a[(i + k) % 64]
    cuda.syncthreads()
    out[i] += a[63 - i]
"""


@pytest.mark.usefixtures("few_rows")
def test_kernels_whose_warps_interact_between_barriers(tmp_path):
    arrays = (Array((64,), "int32", "arange"), Array((64,), "int32"))
    assert_counted(*trace_and_summary(launch(tmp_path, WARPS, arrays, block=(64, 1, 1))))


SHAPES = """
@cuda.jit(device=True)
def put(array, index, value):
    array[index] = value

@cuda.jit
def kernel(a, b, out):
    tile = cuda.shared.array(512, int16)
    t = cuda.threadIdx.x
    for k in range(9):
        put(a, t * (k % 3) + 5 * k, k)
        put(b, (t ^ k) + k, k)
        tile[t * (k % 4) + k] = t
        cuda.atomic.add(out, (t * (k % 2) + k) // 4, 1)
        if t >= 40 - 4 * k:
            put(a, 7 * t % 31 + k, k)
        cuda.syncthreads()
"""


@pytest.mark.usefixtures("few_rows")
def test_sites_whose_requests_change_shape_lanes_and_array(tmp_path):
    arrays = (Array((256,), "float32"), Array((256,), "float64"), Array((64,), "int32"))
    source = SHAPES.replace("int16", "numba.int16")
    kernel_launch = launch(tmp_path, f"import numba\n{source}", arrays, grid=(2, 1, 1), block=(64, 1, 1))
    assert_counted(*trace_and_summary(kernel_launch))


OTHER_LANES = """
@cuda.jit
def kernel(out):
    tile = cuda.shared.array(512, numba.{dtype})
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    for k in range(6):
        first = (5 * k + 9 * warp + 3 * cuda.blockIdx.x) % 24
        if first <= lane < first + 9 or k % 3 == 2 and lane == 31:
            tile[(lane - first) * (k % 2 + 1)] = 1
        elif {elsewhere}:
            tile[lane * warp + k] = 2
        cuda.syncthreads()
"""


@pytest.mark.parametrize("elsewhere", ["False", "lane % 7 < k"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("way", [requests_of, requests_as_irregular])
@pytest.mark.usefixtures("few_rows")
def test_requests_with_different_lanes(tmp_path, dtype, elsewhere, way):
    source = f"import numba\n{OTHER_LANES.format(dtype=dtype, elsewhere=elsewhere)}"
    kernel_launch = launch(tmp_path, source, (Array((1,), "int32"),), grid=(3, 1, 1), block=(96, 1, 1))
    complete, summary = trace_and_summary(kernel_launch)
    assert_counted(complete, summary)
    requests, size = way(complete), np.dtype(dtype).itemsize
    for number, rows in enumerate(np.split(requests.order, requests.start[1:-1])):
        lanes, elements = (complete.thread[rows] % 32).tolist(), complete.index[rows].tolist()
        first = {lane: element * size for lane, element in zip(lanes, elements, strict=True)}
        assert requests.wavefronts[number] == count_wavefronts(first, size)


@pytest.mark.parametrize("size", [(64, 64, 64), (5, 23, 7)])
def test_summaries_agree_with_the_h200(size):
    names = {"naive_row_on_x": "matmul-naive-row-on-x", "naive_col_on_x": "matmul-naive-col-on-x"}
    for case, name in names.items():
        measured = H200["launches"][f"{case} {'x'.join(map(str, size))}"]
        launch = launch_of(find_numba(name), dict(zip("mkn", size, strict=True)))
        totals = compiled.run_compiled(limit_accesses(launch, 0), ignore_progress).totals
        for counter in ("requests", "sectors"):
            for op in ("load", "store"):
                assert totals[f"global_{op}_{counter}"] == measured[f"global_{op}_{counter}"]


def test_the_simulator_gives_the_same_counts_and_keeps_nothing(tmp_path):
    launch = launch_of(find("matmul-tiled"), {"m": 20, "k": 20, "n": 20, "tile": 8})
    ours, theirs = (
        run(limit_accesses(launch, 0), ignore_progress) for run in (compiled.run_compiled, numba_patch.run)
    )
    assert ours.totals == theirs.totals
    assert len(theirs) == 0
    assert "the counters of the complete launch" in theirs.notice
    assert ours.notice == theirs.notice


def test_a_phase_of_a_warp_that_fits_nowhere_is_stopped(tmp_path):
    source = "@cuda.jit\ndef kernel(a):\n    while True:\n        a[0] += 1\n"
    kernel_launch = launch(tmp_path, source, (Array((1,)),), limits=Limits(accesses=0, memory=20_000_000))
    ended = compiled.run_compiled(kernel_launch, ignore_progress)
    assert ended.notice.startswith("Stopped after ")
    assert "between two barriers" in ended.notice


def test_columns_in_files_are_those_in_memory():
    launch = launch_of(find("matmul-tiled"), {"m": 40, "k": 40, "n": 40})
    for accesses in (20_000_000, 100_000):
        usual = compiled.run_compiled(limit_accesses(launch, accesses), ignore_progress)
        little = Limits(accesses=accesses, memory=10_000)
        assert_same(
            compiled.run_compiled(
                msgspec.structs.replace(limit_accesses(launch, accesses), limits=little), ignore_progress
            ),
            usual,
            0.0,
        )


def test_columns_grow_wider_in_memory_and_in_files():
    for memory in (1 << 30, 300, 0):
        growing = GrowingColumns(memory)
        for top in (10, 1000, 100_000):
            growing.append({"index": np.arange(top, dtype=np.min_scalar_type(top))})
        results = growing.columns()["index"]
        assert results.dtype == np.uint32
        assert results.tolist() == [*range(10), *range(1000), *range(100_000)]
        assert results.flags.writeable == (memory == 1 << 30)  # as nothing is that lies in a file


def no_room(file, begin, end):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_columns_in_memory_while_that_suffices(monkeypatch):
    monkeypatch.setattr(growing_columns, "make_room", no_room)
    monkeypatch.setattr(growing_columns, "most_in_memory", lambda most: min(most, 1000))
    launch = limit_accesses(launch_of(find("matmul-tiled"), {}), 20_000_000)
    in_memory = compiled.run_compiled(launch, ignore_progress)
    monkeypatch.undo()
    assert_same(in_memory, compiled.run_compiled(launch, ignore_progress), 0.0)


def test_a_full_disk_ends_in_one_sentence(monkeypatch):
    monkeypatch.setattr(growing_columns, "make_room", no_room)
    launch = msgspec.structs.replace(launch_of(find("matmul-tiled"), {}), limits=Limits(memory=1000))
    with pytest.raises(
        TraceFileError, match=r"Can't keep .* No space left on device; free some space"
    ) as trace:
        compiled.run_compiled(launch, ignore_progress)
    assert "\n" not in str(trace.value)


def test_the_phases_of_blocks_with_many_barriers(tmp_path):
    source = (
        "@cuda.jit\ndef kernel(a):\n    for k in range(300):\n        a[0] = k\n        cuda.syncthreads()\n"
    )
    kernel_launch = launch(tmp_path, source, (Array((1,)),), grid=(100, 1, 1))
    traced = compiled.run_compiled(kernel_launch, ignore_progress)
    assert traced.phase.tolist() == 100 * [*range(300)]

"""Blocks on several cores: the trace, the memory and the errors are those of one core, to the byte."""

from __future__ import annotations

import _thread
import os
import re
import sys
import tempfile
import threading
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import LONGS, assert_identical, ignore_progress, kernel_source, limit_accesses
from launching import Array, launch
from numba_catalogue import numba_scenarios
from random_kernels import SIZE, kernels
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import compile as stage
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.driver import parallel_run, row_recorder
from tilescope.tracer.compiled.driver.parts import NeedsSerialRunError
from tilescope.tracer.compiled.rows.streaming_counters import StreamingCounters
from tilescope.tracer.compiled.rows.touched_memory import TouchedMemory, has_cross_block_conflict
from tilescope.tracer.compiled.state import ROW, SITE_BITS
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Buffer, Op, Trace
from tilescope.tracer.storage import column_files

ALL = 1 << 24
APART = "i = cuda.grid(1)\nif i < out.size:\n    out[i] = 2 * a[i]"


@pytest.fixture(autouse=True)
def shared_at_once(monkeypatch):
    """Share the blocks of any launch, after the first."""
    for name in ("WARM_UP", "MIN_REMAINING", "COSTLY"):
        monkeypatch.setattr(parallel_run, name, 0.0)
    monkeypatch.setattr(parallel_run, "PART_ROWS", 100)


class Noted:
    """Counts how often blocks ran in parallel, and how often that was undone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shared = self.undone = 0
        run = parallel_run.ParallelRun.run

        def noted(team: parallel_run.ParallelRun, chosen: Any) -> None:
            self.shared += 1
            try:
                run(team, chosen)
            except NeedsSerialRunError:
                self.undone += 1
                raise

        monkeypatch.setattr(parallel_run.ParallelRun, "run", noted)


@pytest.fixture
def noted(monkeypatch):
    return Noted(monkeypatch)


def of_cores(launch: Launch, count: int, turns: bool = False) -> Trace:
    """Return the trace of a launch on so many cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_run, "cores", lambda: count)
        return compiled.run_compiled(launch, ignore_progress, turns=turns)


def alike(launch: Launch) -> Trace:
    """Assert that one, two and three cores give the same trace; return it."""
    item = of_cores(launch, 1)
    for count in (2, 3):
        assert_identical(of_cores(launch, count), item)
    return item


@pytest.mark.parametrize(
    "scenario", [s for s in numba_scenarios() if s.engine != "python"], ids=lambda s: s.name
)
def test_scenarios_are_traced_alike(scenario):
    launch = launch_of(scenario, {})
    rows = alike(limit_accesses(launch, ALL)).accesses
    for limit in (0, rows // 3):
        alike(limit_accesses(launch, limit))


@pytest.mark.parametrize("kept", [0, ALL, 40_000])
def test_independent_blocks_run_in_parallel(noted, kept):
    launch = launch_of(find("matmul-tiled"), {"m": 64, "k": 64, "n": 64})
    trace = alike(limit_accesses(launch, kept))
    assert (noted.shared, noted.undone) == (2, 0)
    assert trace.check.equal
    assert trace.recorded.tolist() == list(range({0: 0, ALL: 16, 40_000: 1}[kept]))


@pytest.mark.parametrize(
    "body",
    [
        "i = cuda.grid(1)\nout[0] = a[i]",  # all write one element
        "i = cuda.grid(1)\nout[i] = out[(i + 1) % 64] + a[i]",  # some read what others write
        "i = cuda.grid(1)\nif i > 60:\n    a[i + 100] = 1\nout[i] = a[i]",  # some miss
        "i = cuda.grid(1)\nif i > 40:\n    raise ValueError('late')\nout[i] = 1",
        "i = cuda.grid(1)\nif i > 40:\n    s = cuda.shared.array(4, int64)\n    s[0] = i\nout[i] = 1",
        "i = cuda.grid(1)\ncuda.atomic.add(out, 0, i)",
        "i = cuda.grid(1)\nif i > 40:\n    cuda.shfl_sync(3, i, 0)\nout[i] = 1",
    ],
)
def test_launches_that_need_one_core_run_on_one_core(tmp_path, body):
    longs = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(body), longs, grid=(16, 1, 1), block=(4, 1, 1))
    for limit in (ALL, 0, 30):
        alike(limit_accesses(kernel_launch, limit))


def test_late_blocks_that_write_elements_read_earlier_run_on_one_core(tmp_path, noted):
    body = "i = cuda.grid(1)\nfor k in range(40):\n    out[i] += a[i]\nif i > 40:\n    a[i] = 1"
    kernel_launch = launch(tmp_path, kernel_source(body), LONGS, grid=(16, 1, 1), block=(4, 1, 1))
    for limit in (ALL, 0):
        before = noted.undone
        alike(limit_accesses(kernel_launch, limit))
        assert noted.undone == before + 2


def test_sites_and_buffers_of_late_blocks_are_numbered_as_on_one_core(tmp_path, noted):
    body = """
i, b = cuda.grid(1), cuda.blockIdx.x
if b % 5 == 4:
    out[i] = a[i]
if b % 3 == 2:
    out[i] = 1
if b == 11:
    cuda.syncthreads()
    out[i] += 5
"""
    longs = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(body.strip()), longs, grid=(16, 1, 1), block=(4, 1, 1))
    for limit in (ALL, 0, 30):
        alike(limit_accesses(kernel_launch, limit))
    assert noted.shared
    assert not noted.undone


def test_an_internal_error_is_reported_and_loses_nothing(tmp_path, monkeypatch):
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(APART), longs, grid=(10, 1, 1), block=(64, 1, 1))
    monkeypatch.setattr(TouchedMemory, "add", lambda *given: 1 // 0)
    with pytest.warns(UserWarning, match="on one core after an internal error: ZeroDivisionError"):
        trace = of_cores(limit_accesses(kernel_launch, ALL), 2)
    assert_identical(trace, of_cores(limit_accesses(kernel_launch, ALL), 1))


def test_an_exception_of_a_kernel_is_not_an_internal_error(tmp_path, noted):
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    body = APART + "\nif i == 500:\n    raise ValueError('no')"
    kernel_launch = launch(tmp_path, kernel_source(body), longs, grid=(10, 1, 1), block=(64, 1, 1))
    assert alike(limit_accesses(kernel_launch, ALL)).error is not None
    assert noted.undone


@pytest.mark.parametrize("more", ["b < 5", "b >= 5"])
def test_blocks_may_make_other_numbers_of_accesses_than_the_first_ones(more, tmp_path, noted):
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    body = f"b = cuda.blockIdx.x\n{APART}\nif {more}:\n    out[i] += 1"
    kernel_launch = launch(tmp_path, kernel_source(body), longs, grid=(10, 1, 1), block=(64, 1, 1))
    assert alike(limit_accesses(kernel_launch, ALL)).accesses == 640 * 3
    assert bool(noted.undone) == (more == "b >= 5")


@pytest.mark.skipif(sys.platform != "linux", reason="columns are shared by their files")
def test_columns_in_files_are_written_by_all_cores(tmp_path, noted, monkeypatch):
    monkeypatch.setattr(column_files, "_shares", True)
    monkeypatch.setattr(column_files, "SMALL", 1000)
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(APART), longs, grid=(11, 1, 1), block=(64, 1, 1))
    assert alike(limit_accesses(kernel_launch, ALL)).accesses == 1280
    assert noted.shared and not noted.undone


def test_chosen_blocks_are_shared_too(tmp_path, noted):
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(APART), longs, grid=(10, 1, 1), block=(64, 1, 1))
    trace = alike(msgspec.structs.replace(limit_accesses(kernel_launch, ALL), blocks=(1, 3, 4, 8, 9)))
    assert trace.recorded.tolist() == [1, 3, 4, 8, 9]
    assert (noted.shared, noted.undone) == (2, 0)


def test_progress_reaches_all_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel_run, "cores", lambda: 3)
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(APART), longs, grid=(40, 1, 1), block=(16, 1, 1))
    seen: list[tuple[int, int]] = []
    compiled.run_compiled(limit_accesses(kernel_launch, ALL), lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {40}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_exception_in_a_progress_callback_stops_all(tmp_path, monkeypatch, error):
    monkeypatch.setattr(parallel_run, "cores", lambda: 3)
    longs = (Array((640,), "int64", "arange"), Array((640,), "int64"))
    kernel_launch = launch(tmp_path, kernel_source(APART), longs, grid=(40, 1, 1), block=(16, 1, 1))

    def report(done: int, total: int) -> None:
        if done > 5:
            raise error("enough")

    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            compiled.run_compiled(limit_accesses(kernel_launch, ALL), report)
    else:
        assert compiled.run_compiled(limit_accesses(kernel_launch, ALL), report).error.message == "enough"


def with_blocks_apart(source: str) -> str:
    """Build a random kernel whose blocks have separate elements, without atomics."""
    source = re.sub(r"cuda\.atomic\.add\((\w+), (.*), (\d+)\)", r"\1[\2] += \3", source)
    return re.sub(rf"\b([ab])\[(.*?) % {SIZE}\]", rf"\1[\2 % {SIZE} + {SIZE} * cuda.blockIdx.x]", source)


@settings(print_blob=True, max_examples=10)
@given(
    source=kernels(),
    apart=st.booleans(),
    block=st.sampled_from([1, 3, 8, 33]),
    grid=st.integers(2, 9),
    rows=st.sampled_from([32, 256, 1 << 14]),
    share=st.floats(0, 1),
)
def test_random_kernels_are_traced_alike(
    source: str, apart: bool, block: int, grid: int, rows: int, share: float
) -> None:
    """Blocks have separate elements, or they interact and the run is undone."""
    arrays = (Array((9 * SIZE,), "int32", "arange"), Array((9 * SIZE,), "int32"))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "cache_folder", lambda: Path(os.devnull) / "nowhere")
        patch.setattr(row_recorder, "COUNTED", rows)
        source = with_blocks_apart(source) if apart else source
        kernel_launch = launch(Path(folder), source, arrays, (grid, 1, 1), (block, 1, 1))
        complete = alike(limit_accesses(kernel_launch, ALL))
        alike(limit_accesses(kernel_launch, 0))
        alike(limit_accesses(kernel_launch, int(share * complete.accesses)))


@pytest.mark.parametrize(
    ("own_accesses", "others", "met"), [("r", "r", False), ("r", "w", True), ("w", "w", True)]
)
def test_threads_that_touch_memory_that_others_write_interact(own_accesses, others, met):
    buffers = [
        Buffer("a", "global", "<f8", (4,), (8,), 256, 8, 4),
        Buffer("s", "shared", "<f8", (4,), (8,), 0, 8, 4),
    ]
    results = []
    for how in (own_accesses, others):
        rows = np.zeros(2, ROW)
        rows["index"], rows["key"] = 3, (0, 1 << SITE_BITS)
        results.append(TouchedMemory(buffers))
        ops = np.array([Op.LOAD if how == "r" else Op.STORE], np.uint8)
        assert results[-1].add(rows, ops) == 0  # a buffer that is not known
        results[-1].learn(0, 0)
        assert results[-1].add(rows, ops) == 1
        results[-1].learn(1, 1)
        assert results[-1].add(rows, ops) == 2
    assert has_cross_block_conflict(results) == met


@pytest.mark.parametrize("step", [1, 2, -1, 0, 7])
@pytest.mark.parametrize("lanes", [32, 20])
def test_counting_rows_by_warp_matches_counting_them_one_by_one(step, lanes):
    """Two warps, each lane with a load and a store, whose elements follow each other or do not."""
    buffers = [
        Buffer("a", "global", "<f4", (999,), (4,), 256, 4, 999),
        Buffer("a.x", "global", "<f4", (999,), (24,), 8192, 24, 999),
    ]
    rows = np.zeros(4 * lanes, ROW)
    lane, rows["key"] = np.arange(2 * lanes) // 2, np.arange(4 * lanes) % 2 * (1 + (1 << SITE_BITS))
    rows["context"] = np.concatenate([lane, 32 + lane])
    rows["index"] = 400 + step * rows["context"].astype(np.int64)
    tables = np.array([0, 1], np.int32), np.array([0, 1], np.int32), np.array([Op.LOAD, Op.STORE], np.uint8)
    one_by_one, counted = TouchedMemory(buffers), TouchedMemory(buffers)
    for touched in (one_by_one, counted):
        touched.learn(0, 0)
        touched.learn(1, 1)
    assert one_by_one.add(rows, tables[2]) == len(rows)
    counters = StreamingCounters(64, _unexpected, _unexpected, counted)
    counters.add(rows, buffers, tables, 2)
    assert counters.done(at_loads=True) == {0}
    assert counted.words.tolist() == one_by_one.words.tolist()


def _unexpected(given: Any) -> None:
    raise AssertionError


@pytest.mark.parametrize("place", range(11))
def test_each_of_two_adjacent_places_counts(place):
    """Places are looked at eight at once: each is read, written, both or neither by one and by the other."""
    buffer = Buffer("a", "global", "|u1", (9,), (1,), 0, 1, 9)
    for own, others in product(range(4), repeat=2):
        first, other = TouchedMemory([buffer]), TouchedMemory([buffer])
        first.places[:11], other.places[:11] = [1, 2, 0] * 3 + [1, 3], [1, 0, 2] * 3 + [1, 0]
        first.places[place], other.places[place] = own, others
        assert has_cross_block_conflict([first, other]) == bool(own and others and (own | others) & 2)


def test_a_block_that_does_not_end_is_left_to_one_core(tmp_path, noted, monkeypatch):
    monkeypatch.setattr(parallel_run, "PATIENCE", 0.01)
    monkeypatch.setattr(parallel_run, "SLOWEST", 0)
    body = (
        "x = a[0]\nwhile cuda.blockIdx.x == 3 and x < 50_000_000:\n    x += 1 + x % 2\nout[cuda.grid(1)] = x"
    )
    longs = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    alike(limit_accesses(launch(tmp_path, kernel_source(body), longs, grid=(8, 1, 1), block=(2, 1, 1)), ALL))
    assert (noted.shared, noted.undone) == (2, 2)


def test_ctrl_c_stops_all_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel_run, "cores", lambda: 3)
    run = parallel_run.ParallelRun.run

    def interrupted(team: parallel_run.ParallelRun, chosen: Any) -> None:
        threading.Timer(0.1, _thread.interrupt_main).start()
        run(team, chosen)

    monkeypatch.setattr(parallel_run.ParallelRun, "run", interrupted)
    body = "x = a[0]\nwhile cuda.blockIdx.x and x >= 0:\n    x = (x + 1) % 100\nout[cuda.grid(1)] = x"
    longs = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    kernel_launch = limit_accesses(
        launch(tmp_path, kernel_source(body), longs, grid=(8, 1, 1), block=(2, 1, 1)), ALL
    )
    with pytest.raises(KeyboardInterrupt):
        compiled.run_compiled(kernel_launch, ignore_progress)
    assert not [thread for thread in threading.enumerate() if "_work" in thread.name]


def test_threads_that_call_themselves_have_their_stacks_on_all_cores(tmp_path, noted):
    source = """
    @cuda.jit
    def down(x):
        return 0 if x == 0 else 1 + down(x - 1)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = down(1000 + a[i])
    """
    longs = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    alike(limit_accesses(launch(tmp_path, source, longs, grid=(16, 1, 1), block=(4, 1, 1)), ALL))
    assert (noted.shared, noted.undone) == (2, 0)

"""The rungs of the ladder to cuBLAS: right for every shape that they take, refused in a sentence otherwise, and why
each is faster than the one before, in manually computed counters."""

import numpy as np
import pytest

from tilescope.kernels.scenarios.catalogue import CatalogueError, find, settle
from tilescope.kernels.scenarios.matmul_ladder_scenarios import LADDER
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.hardware.times.recorded_counters import recorded_launches
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op
from tilescope.tracer.run.worker_client import Worker

NAMES = [scenario.name for scenario in LADDER]
SQUARES = [(16, 2), (16, 4), (32, 2), (32, 4), (64, 4), (64, 8), (128, 8)]
COLUMNS = [(16, 2), (16, 4), (32, 2), (32, 4), (32, 8), (64, 4), (64, 8)]
IN_WARPS = [(tile, side) for tile, side in SQUARES if tile >= 8 * side]
FITTING = [
    *(("matmul-column", *shape) for shape in COLUMNS),
    *(("matmul-square", *shape) for shape in SQUARES),
    *((name, *shape) for name in ("matmul-wide", "matmul-two-buffers") for shape in IN_WARPS),
]
SMALL = {"m": 64, "k": 32, "n": 64, "tile": 32, "side": 4}


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


def counters(worker, name, **values):
    chosen = {key: value for key, value in (SMALL | values).items() if value is not None}
    trace = worker.run(launch_of(find(name), chosen))
    assert trace.check.equal
    return totals_of(trace, requests_of(trace))


@pytest.mark.parametrize(("name", "tile", "side"), FITTING)
def test_every_shape_equals_numpy(worker, name, tile, side):
    values = {"m": tile, "k": 32, "n": 2 * tile, "tile": tile, "side": side}
    trace = worker.run(launch_of(find(name), values))
    assert trace.error is None and trace.check.equal and trace.check.largest_error > 0


@pytest.mark.parametrize("source", ["ones", "arange", "threes-fours"])
@pytest.mark.parametrize("sizes", [(32, 8, 32), (96, 8, 32), (32, 56, 96), (64, 24, 32)])
@pytest.mark.parametrize("name", NAMES)
def test_any_multiples_of_the_tile_equal_numpy(worker, name, sizes, source):
    m, k, n = sizes
    trace = worker.run(launch_of(find(name), {**SMALL, "m": m, "k": k, "n": n, "input": source}))
    assert trace.error is None and trace.check.equal


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [{"m": 63}, {"n": 33}, {"k": 30}, {"m": 1, "k": 1, "n": 1}])
def test_unchecked_sizes_are_refused_before_the_kernel_runs(name, sizes):
    scenario = find(name)
    with pytest.raises(CatalogueError, match="must be multiples of 32, K a multiple of 8"):
        scenario.plan(settle(scenario, SMALL | sizes))


@pytest.mark.parametrize(
    ("name", "tile", "side", "words"),
    [
        ("matmul-column", 64, 2, "makes 2,048 threads"),
        ("matmul-column", 128, 8, "makes 2,048 threads"),
        ("matmul-square", 32, 8, "fewer than a row of B's tile"),
        ("matmul-square", 128, 2, "at most 1,024"),
        ("matmul-square", 64, 2, "at most 512"),
        ("matmul-wide", 16, 4, "4 threads in a row"),
        ("matmul-two-buffers", 32, 8, "fewer than a row of B's tile"),
    ],
)
def test_tiles_that_no_block_can_share_out_are_refused_in_a_sentence(name, tile, side, words):
    scenario = find(name)
    with pytest.raises(CatalogueError, match=words) as refused:
        scenario.plan(settle(scenario, {"m": 128, "k": 64, "n": 128, "tile": tile, "side": side}))
    assert str(refused.value).count(".") == 1


def test_a_column_reads_an_element_of_b_once_for_all_its_results(worker):
    # A warp's 32 threads: for each k an element of B, and one of A for each of 4 results; 64 / 4 warps in all share
    # the sums of 64 x 64 elements. One thread a result reads both for each.
    ours, tiled = counters(worker, "matmul-column"), counters(worker, "matmul-tiled", side=None)
    sums = 64 * 64 * 32 // 32
    assert tiled["shared_load_instructions"] == 2 * sums
    assert ours["shared_load_instructions"] == (1 + 4) * sums // 4
    assert ours["global_load_sectors"] == tiled["global_load_sectors"]


def test_a_square_reads_each_element_of_a_once_for_a_row_of_results(worker):
    ours = counters(worker, "matmul-square")
    assert ours["shared_load_instructions"] == (4 + 4) * (64 * 64 * 32 // 32) // 16
    assert ours["shared_load_wavefronts"] > ours["shared_load_instructions"]


def test_wide_loads_have_no_conflicts(worker):
    square, wide = counters(worker, "matmul-square"), counters(worker, "matmul-wide")
    assert wide["shared_load_instructions"] == square["shared_load_instructions"]
    assert wide["shared_load_wavefronts"] == wide["shared_load_instructions"]
    assert wide["shared_store_wavefronts"] == wide["shared_store_instructions"]
    large = counters(worker, "matmul-wide", m=128, n=128, tile=128, side=8)
    assert large["shared_load_wavefronts"] == large["shared_load_instructions"]
    assert large["shared_store_wavefronts"] == large["shared_store_instructions"]


def test_two_buffers_do_the_same_with_half_the_barriers(worker):
    wide, two = (worker.run(launch_of(find(n), SMALL)) for n in ("matmul-wide", "matmul-two-buffers"))
    assert totals_of(wide, requests_of(wide)) == totals_of(two, requests_of(two))
    tiles = 32 // 8
    assert int(wide.phase.max()) == 2 * tiles
    assert int(two.phase.max()) == tiles


@pytest.mark.parametrize("name", NAMES)
def test_a_thread_stores_its_patch_of_c_once(worker, name):
    trace = worker.run(launch_of(find(name), SMALL))
    stores = (trace.buffer == [b.name for b in trace.buffers].index("c")) & (trace.op == 1)
    assert np.bincount(trace.index[stores], minlength=64 * 64).tolist() == [1] * (64 * 64)
    first = stores & (trace.block == 0) & (trace.thread == 0)
    rows, cols = np.unique(trace.index[first] // 64), np.unique(trace.index[first] % 64)
    owned = {
        "matmul-column": ([0, 1, 2, 3], [0]),
        "matmul-square": ([0, 1, 2, 3], [0, 1, 2, 3]),
    }.get(name, ([0, 1, 8, 9], [0, 1, 16, 17]))
    assert (rows.tolist(), cols.tolist()) == owned


MERGED = {  # by rung and number of results: neighbours that the compiler loads at once from A's tile, and from B's
    ("matmul-column", 2): (4, 1),
    ("matmul-column", 4): (4, 1),
    ("matmul-column", 8): (1, 1),
    ("matmul-square", 4): (1, 4),
    ("matmul-square", 8): (1, 4),
    **{(name, 2): (1, 1) for name in ("matmul-wide", "matmul-two-buffers")},
    **{(name, 4): (2, 2) for name in ("matmul-wide", "matmul-two-buffers")},
    **{(name, 8): (4, 4) for name in ("matmul-wide", "matmul-two-buffers")},
}


@pytest.mark.parametrize(
    "read",
    [item for item in recorded_launches() if item.scenario in NAMES],
    ids=lambda first: f"{first.scenario} {first.values['tile']} {first.values['side']}",
)
def test_a_rung_counts_as_the_hardware_but_for_loads_that_the_compiler_merged(worker, read):
    trace = worker.run(launch_of(find(read.scenario), read.values))
    requests = requests_of(trace)
    loads = dict.fromkeys(("tile_a", "tile_b"), 0)
    for number, buffer in enumerate(trace.buffers):
        if buffer.name in loads:
            loads[buffer.name] = int(((requests.buffer == number) & (requests.op == Op.LOAD)).sum())
    own, (of_a, of_b) = totals_of(trace, requests), MERGED[read.scenario, read.values["side"]]
    own["shared_load_instructions"] = loads["tile_a"] // of_a + loads["tile_b"] // of_b
    differing = {name for name, number in read.counters.items() if own[name] != number}
    assert differing <= {"shared_load_wavefronts"}
    assert not differing or of_a * of_b > 1

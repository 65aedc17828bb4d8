"""Every kernel of the catalogue against NumPy, and the figures that the source documents print."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engines import ignore_progress
from folders import DATA
from launching import final_contents
from tilescope.kernels.scenarios.catalogue import CatalogueError, find, scenarios
from tilescope.tracer.analysis.counters import counters_of, totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.model.launch import Schedule, is_cuda_cpp_launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.engine import run as run_any
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.simulator.numba_patch import run

H200 = json.loads((DATA / "h200_counters.json").read_text(encoding="utf-8"))
KERNELS = [s for s in scenarios() if s.engine == "cuda"]
RIGHT = [s for s in KERNELS if not s.pitfall]
PITFALLS = [s for s in KERNELS if s.pitfall]


def traced(name, values=None, **options):
    launch = launch_of(find(name), values or {}, **options)
    return (run_any if is_cuda_cpp_launch(launch) else run)(launch, ignore_progress)


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


def is_right(trace):
    """Whether a launch left what NumPy computes and stayed inside its arrays."""
    return trace.error is None and trace.check.equal and not len(trace.outside.step)


def cases(scenario, values):
    return [pytest.param(scenario.name, v, id=f"{scenario.name} {dict(v)}") for v in values]


@pytest.mark.parametrize("name", [s.name for s in RIGHT])
def test_right_kernels_equal_numpy(name):
    trace = run_any(launch_of(find(name), {}), ignore_progress)
    assert is_right(trace)
    assert trace.check.largest_error <= trace.check.tolerance
    assert not trace.is_part


@pytest.mark.parametrize(("name", "values"), [c for s in PITFALLS for c in cases(s, s.works)])
def test_pitfalls_are_right_on_the_sizes_that_work(name, values):
    assert is_right(traced(name, values))


@pytest.mark.parametrize(("name", "values"), [c for s in PITFALLS for c in cases(s, s.breaks)])
def test_pitfalls_are_wrong_on_the_sizes_that_break(name, values):
    assert not is_right(traced(name, values))


def test_every_pitfall_shows_its_fault_and_has_both_kinds_of_sizes():
    assert len(PITFALLS) == 7
    for scenario in PITFALLS:
        assert scenario.group == "Pitfalls"
        assert scenario.works
        if scenario.name != "matmul-tiled-one-barrier":
            assert {} in scenario.breaks


def test_with_a_barrier_too_few_the_order_of_threads_decides():
    small = {"m": 16, "k": 16, "n": 16, "tile": 8}
    right, wrong, mixed = (
        traced("matmul-tiled-one-barrier", small, schedule=Schedule(kind))
        for kind in ("lockstep", "sequential", "random")
    )
    assert is_right(right)
    assert not is_right(wrong)
    assert not is_right(mixed)
    for kind in ("lockstep", "sequential", "random"):
        assert is_right(traced("matmul-tiled-one-barrier", {**small, "k": 8}, schedule=Schedule(kind)))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("matmul-add-into-global", {"m": 5, "k": 23, "n": 7}),
        ("matmul-tiled-dynamic", {"m": 5, "k": 23, "n": 7, "tile": 8}),
        ("matmul-tiled-dynamic", {"m": 9, "k": 17, "n": 20, "dtype": "float64"}),
        ("workitem-naive", {"m": 5, "k": 23, "n": 7}),
        ("vector-multiply", {"count": 999, "num_blocks": 2, "threads": 33}),
        ("vector-increment", {"count": 1, "input": "random"}),
        ("histogram-private", {"count": 1000, "num_blocks": 3, "threads": 50, "bins": 7}),
        ("histogram-global", {"count": 100, "num_blocks": 8, "bins": 1000}),
        ("copy-stride", {"count": 100, "stride": 3, "threads": 48, "dtype": "float64"}),
        ("copy-stride", {"count": 300, "stride": 2, "dtype": "uint8"}),
        ("copy-offset", {"count": 100, "offset": 0, "threads": 48, "dtype": "int16"}),
        ("copy-offset", {"count": 1, "offset": 32, "input": "random"}),
        ("transpose-tile", {"rows": 33, "cols": 70}),
        ("transpose-tile", {"rows": 33, "cols": 70, "padding": 3}),
        ("matmul-tiled", {"m": 5, "k": 23, "n": 7, "tile": 8, "padding": 8}),
        ("transpose-padded", {"rows": 70, "cols": 5, "dtype": "float64"}),
        ("transpose-naive", {"rows": 33, "cols": 5}),
        ("sum-interleaved", {"count": 1000, "threads": 32}),
        ("sum-sequential", {"count": 1, "threads": 64}),
    ],
)
def test_right_kernels_fit_sizes_that_do_not_divide(name, values):
    assert is_right(traced(name, values))


# --- current documentation: 4 x 4 and 5 x 23 times 23 x 7


@pytest.mark.parametrize(
    "name", ["matmul-naive-row-on-x", "matmul-tiled", "matmul-tiled-by-gridsize", "matmul-tiled-dynamic"]
)
def test_the_square_product_of_the_documentation(name):
    trace = traced(name, {"m": 4, "k": 4, "n": 4, "input": "arange-ones", "dtype": "float64"})
    assert final_contents(trace, "c").tolist() == [[row] * 4 for row in (6, 22, 38, 54)]
    assert trace.threads == 256


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
@pytest.mark.parametrize("tile", [2, 16])
@pytest.mark.parametrize("name", ["matmul-naive-row-on-x", "matmul-tiled"])
def test_the_square_product_of_an_integer_and_a_float_matrix(name, tile, engine, worker):
    values = {"m": 4, "k": 4, "n": 4, "tile": tile, "input": "arange-ones"}
    launch = launch_of(find(name), {**values, "dtype": "int64", "dtype_b": "float64"}, engine=engine)
    trace = worker.run(launch)
    assert ("compiled" in trace.made_by) == (engine == "compiled")
    assert [np.dtype(b.dtype).name for b in trace.buffers[:3]] == ["int64", "float64", "float64"]
    assert final_contents(trace, "c").tolist() == [[row] * 4 for row in (6, 22, 38, 54)]
    assert trace.check.equal and trace.check.largest_error == 0


def test_the_product_of_the_documentation_that_is_not_square():
    values = {"m": 5, "k": 23, "n": 7, "grid": "inputs", "input": "arange-ones", "dtype": "float64"}
    trace = traced("matmul-tiled-by-gridsize", values)
    assert trace.grid == (2, 2, 1)
    assert final_contents(trace, "c").tolist() == [[row] * 7 for row in (253, 782, 1311, 1840, 2369)]
    lost = final_contents(traced("matmul-tiled-by-gridsize", {**values, "grid": "c"}), "c")
    assert lost[:, 0].tolist() == [sum(range(23 * i, 23 * i + 16)) for i in range(5)]


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_blocks_of_four_threads_match_a_manual_count(engine, worker):
    """4 blocks of one warp of 4 lanes, 2 steps each: two rows of 2 elements of a 4 x 4 matrix lie in one sector."""
    values = {"m": 4, "k": 4, "n": 4, "tile": 2, "input": "arange-ones"}
    trace = worker.run(launch_of(find("matmul-tiled"), values, engine=engine))
    assert (trace.grid, trace.block_dim) == ((2, 2, 1), (2, 2, 1))
    assert final_contents(trace, "c").tolist() == [[row] * 4 for row in (6, 22, 38, 54)]
    totals = totals_of(trace, requests_of(trace))
    steps = 4 * 2
    assert totals["global_load_requests"] == totals["global_load_sectors"] == 2 * steps
    assert totals["global_store_requests"] == totals["global_store_sectors"] == 4
    assert totals["shared_load_instructions"] == totals["shared_load_wavefronts"] == 4 * steps
    assert totals["shared_store_instructions"] == totals["shared_store_wavefronts"] == 4 * steps


# --- HSA: sizes and traps


def test_work_items_make_16_steps_whatever_k_is():
    trace = traced("workitem-tiled", {"m": 16, "n": 16, "k": 320})
    assert set(trace.phase[trace.op == 1].tolist()) == set(range(0, 33, 2))
    a = launch_of(find("workitem-tiled"), {"m": 256, "k": 256, "n": 256})
    assert (a.grid, a.block) == ((16, 16, 1), (16, 16, 1))


# --- notebook: 256 ones, 3s times 4s, and its arithmetic


def test_256_ones_are_doubled_by_one_block():
    trace = traced("vector-double")
    assert (trace.grid, trace.block_dim) == ((1, 1, 1), (256, 1, 1))
    assert final_contents(trace, "data").tolist() == [2.0] * 256


def test_every_element_is_144():
    trace = traced(
        "matmul-naive-row-on-x", {"m": 24, "k": 12, "n": 22, "input": "threes-fours", "dtype": "float64"}
    )
    assert np.all(final_contents(trace, "c") == 144)


def test_every_element_is_576_and_the_reads_are_as_the_notebook_counts():
    values = {"m": 32, "k": 48, "n": 16, "input": "threes-fours", "dtype": "float64"}
    trace = traced("matmul-tiled-row-on-x", values)
    assert np.all(final_contents(trace, "c") == 576)
    counters, requests = counters_of(trace, requests_of(trace)), requests_of(trace)
    reads = {b.name: counters.mean_reads(i, requests.end) for i, b in enumerate(trace.buffers)}
    assert reads["a"] == 16 / 16
    assert reads["b"] == 32 / 16


def test_the_older_form_drops_a_remainder_of_k():
    values = {"m": 16, "k": 47, "n": 16, "input": "ones"}
    assert np.all(final_contents(traced("matmul-tiled-row-on-x", values), "c") == 32)


# --- tutorial: vectors, counters, histogram, 2s times 3s


def test_too_few_threads_leave_the_rest_untouched():
    data = final_contents(traced("vector-too-few-threads"), "data")
    assert data.tolist() == [1.0] * 640 + [0.0] * 360


def test_twos_times_threes_are_six():
    trace = traced("vector-multiply", {"input": "twos-threes", "num_blocks": 1, "threads": 64})
    assert set(final_contents(trace, "out").tolist()) == {6.0}


@pytest.mark.parametrize(
    ("name", "schedule", "expected"),
    [
        ("count-racing", "lockstep", 1),
        ("count-racing", "sequential", 1024),
        ("count-atomic", "lockstep", 1024),
        ("count-atomic", "sequential", 1024),
        ("count-atomic", "random", 1024),
    ],
)
def test_the_counter_ends_at(name, schedule, expected):
    trace = traced(name, schedule=Schedule(schedule))
    assert final_contents(trace, "counter").tolist() == [expected]


def test_a_random_schedule_loses_some_of_the_racing_counts():
    results = {
        final_contents(traced("count-racing", schedule=Schedule("random", seed)), "counter")[0]
        for seed in range(5)
    }
    assert all(1 <= count < 1024 for count in results)
    assert len(results) > 1


def test_histograms_equal_numpy_and_private_bins_spare_global_atomics():
    complete, private = traced("histogram-global"), traced("histogram-private")
    for trace in (complete, private):
        bins = final_contents(trace, "bins")
        assert bins.shape == (150,)
        assert 4090 <= bins.sum() <= 4096
    buffers = [b.name for b in private.buffers]
    atomics = [t.buffer[t.op >= 2] for t in (complete, private)]
    assert np.sum(atomics[0] == buffers.index("bins")) == final_contents(complete, "bins").sum()
    assert np.sum(atomics[1] == buffers.index("bins")) == 8 * 150


def test_2s_times_3s_are_3072_and_c_is_loaded_and_stored_k_times():
    trace = traced("matmul-add-into-global", {"m": 8, "k": 512, "n": 8, "tile": 8, "input": "twos-threes"})
    assert np.all(final_contents(trace, "c") == 3072)
    c = [b.name for b in trace.buffers].index("c")
    loads, stores = (np.sum((trace.buffer == c) & (trace.op == op)) for op in (0, 1))
    assert loads == stores == 8 * 8 * 512


def test_the_early_return_keeps_three_quarters_of_its_blocks_idle():
    launch = launch_of(find("matmul-tiled-early-return"), {"m": 256, "k": 512, "n": 256, "tile": 32})
    assert (launch.grid, launch.block) == ((16, 16, 1), (32, 32, 1))
    trace = traced(
        "matmul-tiled-early-return", {"m": 16, "k": 32, "n": 16, "tile": 16, "input": "twos-threes"}
    )
    assert trace.grid == (2, 2, 1)
    assert set(trace.block.tolist()) == {0}
    assert np.all(final_contents(trace, "c") == 192)


def test_threads_write_their_phases_in_order():
    trace = traced("barrier-three-threads", schedule=Schedule("random", 3))
    output = trace.value[np.argsort(trace.step)].astype(int).tolist()
    assert [sorted(output[i : i + 3]) for i in (0, 3, 6)] == [[1, 2, 3], [-3, -2, -1], [10, 20, 30]]


# --- transposes: the counters of an H200


@pytest.mark.parametrize("kind", ["naive", "tile", "padded"])
def test_transposes_make_the_requests_of_the_h200(kind):
    trace = traced(f"transpose-{kind}")
    totals = totals_of(trace, requests_of(trace))
    measured = H200["launches"][f"transpose_{kind} 64x64"]
    assert {name: totals[name] for name in measured if name in totals} == {
        name: count for name, count in measured.items() if name in totals
    }


def wavefronts(name, **values):
    """Return (of stores, of loads): the wavefronts of shared memory, in a launch whose result is right."""
    trace = traced(name, values)
    assert is_right(trace)
    totals = totals_of(trace, requests_of(trace))
    return totals["shared_store_wavefronts"], totals["shared_load_wavefronts"]


@pytest.mark.parametrize(
    ("padding", "times"), [(0, 32), (1, 1), (2, 2), (3, 1), (4, 4), (5, 1), (6, 2), (7, 1), (8, 8)]
)
def test_a_column_of_a_padded_tile_meets_in_as_many_banks_as_pitch_and_banks_have_in_common(padding, times):
    """The 32 requests that read a column: lanes gcd(32 + padding, 32) banks apart meet gcd at a time."""
    assert wavefronts("transpose-tile", rows=32, cols=32, padding=padding) == (32, 32 * times)
    if padding == 1:
        assert wavefronts("transpose-padded", rows=32, cols=32) == (32, 32)


def test_a_padded_tile_of_the_product_costs_a_wavefront_where_rows_of_16_no_longer_fill_the_banks():
    """Warps of two rows of 16: 8 of them clear and fill two tiles, and their second row begins where the first ends."""
    size = {"m": 16, "k": 16, "n": 16}
    assert wavefronts("matmul-tiled", **size) == (32, 256)
    stores, loads = wavefronts("matmul-tiled", **size, padding=1)
    assert stores == 2 * 32
    assert loads == 256


# --- copies: the sectors of a request, and the counters of an H200


def sectors_of_loads(name, values):
    """Return the sectors that each request of loads costs, all different amounts once."""
    trace = traced(name, values)
    requests = requests_of(trace)
    return set(requests.sectors[requests.op == 0].tolist())


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (32, 32)])
def test_sectors_of_a_request_grow_with_the_stride(stride, sectors):
    assert sectors_of_loads("copy-stride", {"stride": stride}) == {sectors}


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4), (1, 5), (4, 5), (7, 5), (8, 4), (31, 5), (32, 4)])
def test_an_offset_that_begins_inside_a_sector_costs_one_more(offset, sectors):
    assert sectors_of_loads("copy-offset", {"offset": offset}) == {sectors}


@pytest.mark.parametrize(("dtype", "sectors"), [("uint8", {2}), ("int16", {3}), ("float64", {9})])
def test_other_element_sizes_behave_the_same(dtype, sectors):
    assert sectors_of_loads("copy-offset", {"offset": 1, "dtype": dtype}) == sectors


@pytest.mark.parametrize("stride", [1, 2, 8, 32])
def test_copies_make_the_requests_of_the_h200(stride):
    trace = traced("copy-stride", {"count": 1024, "threads": 128, "stride": stride})
    totals = totals_of(trace, requests_of(trace))
    measured = H200["launches"][f"strided_copy {stride}"]
    assert {name: totals[name] for name in measured if name in totals} == {
        name: count for name, count in measured.items() if name in totals
    }


def test_a_copy_out_of_more_than_fits_is_refused_in_a_sentence():
    with pytest.raises(CatalogueError, match=r"^A would hold .* 16 GiB; at most 8 GiB are allowed\.$"):
        launch_of(find("copy-stride"), {"count": 1 << 26, "stride": 32, "dtype": "float64"})


def test_sequential_sums_avoid_the_conflicts_of_interleaved_ones():
    wavefronts = []
    for name in ("sum-interleaved", "sum-sequential"):
        trace = traced(name)
        wavefronts.append(totals_of(trace, requests_of(trace))["shared_load_wavefronts"])
    assert wavefronts[0] > wavefronts[1]


@pytest.mark.parametrize("read", H200["padded"], ids=lambda read: f"{read['scenario']} {read['values']}")
def test_padded_tiles_have_the_cost_of_a_gpu(read):
    trace = traced(read["scenario"], read["values"])
    counters = totals_of(trace, requests_of(trace))
    expected = {name: n for name, n in read.items() if name not in ("scenario", "values")}
    assert {name: counters[name] for name in expected} == expected

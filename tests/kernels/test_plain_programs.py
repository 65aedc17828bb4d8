"""The plain Python programs, the CPU baselines and the CUDA C kernels' twins: run as they are, and traced."""

from __future__ import annotations

import importlib
import threading

import msgspec
import numpy as np
import pytest

from launching import final_contents
from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.simulator.numba_patch import run
from tilescope.tracer.storage.trace_file import load, save

PROGRAMS = ["python-loops", "python-block-at-a-time", "python-run-threads", "python-threads"]
BASELINES = [(s, b) for s in scenarios() for b in s.baselines if not b.on_device]


def function_of(path):
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def traced(name, values=None, **options):
    return run(launch_of(find(name), values or {}, **options), lambda done, total: None)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("m", "k", "n", "tile"), [(4, 32, 4, 8), (5, 11, 9, 4), (1, 1, 1, 2)])
def test_programs_run_as_they_are(name, m, k, n, tile):
    random = np.random.default_rng(0)
    a, b = random.random((m, k)), random.random((k, n))
    c = np.zeros((m, n))
    function_of(find(name).kernel)(a, b, c, tile)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)


def test_three_real_threads_pass_two_barriers():
    output = np.zeros((3, 3), np.int32)
    before = threading.enumerate()
    function_of(find("python-barrier").kernel)(output)
    assert output.tolist() == [[1, 2, 3], [-1, -2, -3], [10, 20, 30]]
    assert {*threading.enumerate()} <= {*before}


@pytest.mark.parametrize("name", [*PROGRAMS, "python-barrier"])
@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
def test_programs_are_traced_and_equal_numpy(name, schedule):
    trace = traced(name, schedule=Schedule(schedule))
    assert trace.error is None
    assert trace.check.equal
    assert not len(trace.outside.step)
    again = traced(name, schedule=Schedule(schedule))
    assert again.index.tolist() == trace.index.tolist()


@pytest.mark.parametrize("name", [*PROGRAMS, "python-barrier"])
def test_traces_of_programs_are_kept_and_read_again(name, tmp_path):
    trace = traced(name)
    save(trace, tmp_path / "program.trace")
    again = load(tmp_path / "program.trace")
    assert again.phase.tolist() == trace.phase.tolist()
    if name in ("python-block-at-a-time", "python-run-threads"):
        assert len(trace.barriers.phase) == trace.phase.max()  # each sweep over the threads ends at one


def test_loops_run_thread_after_thread():
    trace = traced("python-loops", {"m": 2, "k": 3, "n": 2, "tile": 8})
    assert (trace.grid, trace.block_dim) == ((1, 1, 1), (1, 1, 1))
    c = [b.name for b in trace.buffers].index("c")
    stores = np.flatnonzero(trace.buffer == c)
    assert stores.tolist() == [6, 13, 20, 27]
    assert trace.index[stores].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["python-block-at-a-time", "python-run-threads"])
def test_all_cells_of_the_tiles_are_filled_before_one_is_used(name):
    trace = traced(name, {"m": 4, "k": 16, "n": 4, "tile": 8})
    shared = [b.space for b in trace.buffers].index("shared")
    assert trace.buffers[shared].name == "shared"
    assert trace.phase.max() == 3
    for phase in range(4):
        ops = trace.op[(trace.buffer == shared) & (trace.phase == phase)]
        assert set(ops.tolist()) == {1 - phase % 2}
        assert len(ops) == (2 * 64 if phase % 2 == 0 else 2 * 8 * 16)


def test_blocks_follow_each_other_with_shared_memory_of_their_own():
    trace = traced("python-block-at-a-time", {"m": 9, "k": 8, "n": 17, "tile": 8})
    assert trace.grid == (3, 2, 1)
    assert np.all(np.diff(trace.block.astype(int)) >= 0)
    assert set(trace.block.tolist()) == set(range(6))
    assert sum(b.space == "shared" for b in trace.buffers) == 1


def test_python_threads_are_the_threads_of_the_block_and_wait_for_each_other():
    trace = traced("python-threads", {"m": 4, "k": 16, "n": 4, "tile": 8})
    assert trace.block_dim == (8, 8, 1)
    assert set(trace.thread.tolist()) == set(range(64))
    assert np.all(np.diff(trace.phase.astype(int)) >= 0)
    assert len(trace.barriers.thread) == 64 * 2 * 2
    assert {site.function for site in trace.sites} == {"tiled_thread", "element"}


def test_the_order_within_a_phase_is_free_and_across_it_is_not():
    orders = set()
    for seed in range(6):
        trace = traced("python-barrier", schedule=Schedule("random", seed)).value.astype(int).tolist()
        assert [sorted(trace[i : i + 3]) for i in (0, 3, 6)] == [[1, 2, 3], [-3, -2, -1], [10, 20, 30]]
        orders.add(tuple(trace))
    assert len(orders) > 1


def test_only_chosen_blocks_are_played():
    trace = traced("python-loops", {"m": 9, "k": 2, "n": 9, "tile": 8}, blocks=[3])
    assert set(trace.block.tolist()) == {3}
    c = final_contents(trace, "c")
    assert c[8, 8] > 0
    assert c[0, 0] == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "    barrier.wait()\n    said[1",
            "    t == 2 or barrier.wait()\n    said[1",
            "without coming to the barrier",
        ),
        ("said[2, t] = 10", "said[3, t] = 10", ""),
        ("said[2, t] = 10", "raise ValueError('no') or 10", "no"),
    ],
)
def test_a_broken_edited_program_is_reported(old, new, words):
    right = launch_of(find("python-barrier"), {})
    assert old in right.source
    trace = run(
        msgspec.structs.replace(right, source=right.source.replace(old, new)), lambda done, total: None
    )
    if words:
        assert words in trace.error.message
    else:
        assert len(trace.outside.step) == 3


@pytest.mark.parametrize(("scenario", "baseline"), BASELINES, ids=lambda part: part.name)
def test_baselines_do_the_work_of_their_kernels(scenario, baseline):
    from tilescope.tracer.hardware.times.timed_calls import CpuCall
    from tilescope.tracer.recording.reference_check import compare_results

    launch = launch_of(scenario, {})
    names = tuple(argument.name for argument in scenario.plan(dict(defaults(scenario))).arguments)
    call = CpuCall(baseline.function, launch, names)
    assert compare_results(launch, names, call.results()).equal
    assert call.samplers()["cpu"]() > 0
    assert call.compiles == (baseline.name == "numba")


def defaults(scenario):
    return {parameter.name: parameter.default for parameter in scenario.parameters}


def test_the_twins_of_the_tiled_cuda_c_kernels_fill_each_cell_once():
    twin = find("cuda-c-tiled-static").twin
    trace = run(launch_of(twin, {"m": 8, "k": 16, "n": 8, "tile": 8}), lambda done, total: None)
    shared = [b.space for b in trace.buffers].index("shared")
    stores = trace.index[(trace.buffer == shared) & (trace.op == 1)]
    assert np.bincount(stores).tolist() == [2] * 128

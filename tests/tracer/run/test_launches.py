"""How launches end: checked, capped, raised; and with which constants and arguments they begin."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from launching import Array, Limits, Scalar, final_contents, launch, trace
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op
from tilescope.tracer.recording.kernel_loader import LoadError
from tilescope.tracer.run import engine
from tilescope.tracer.simulator.numba_patch import run

COPY = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
"""


def traced(launch):
    return run(launch, lambda done, total: None)


@pytest.mark.parametrize("name", ["matmul-naive-row-on-x", "matmul-naive-col-on-x", "matmul-tiled"])
@pytest.mark.parametrize(
    "values", [{"m": 5, "k": 23, "n": 7, "tile": 8}, {"m": 16, "k": 16, "n": 32, "dtype": "int32"}]
)
def test_results_equal_numpy(name, values):
    trace = traced(launch_of(find(name), values))
    assert trace.error is None
    assert trace.check is not None
    assert trace.check.equal
    assert trace.check.largest_error <= trace.check.tolerance


def test_a_wrong_result_is_reported(tmp_path):
    right = launch_of(find("matmul-tiled"), {"m": 16, "k": 32, "n": 16})
    wrong = msgspec.structs.replace(right, source=right.source.replace("range(TILE)", "range(TILE - 1)"))
    check = traced(wrong).check
    assert check is not None
    assert not check.equal
    assert check.largest_error > check.tolerance
    assert (check.differing, check.elements) == (16 * 16, 16 * 16)


@pytest.mark.parametrize("name", ["matmul-tiled", "count-racing"])
def test_different_elements_are_counted(name):
    sizes = {"m": 16, "k": 16, "n": 16} if name == "matmul-tiled" else {}
    check = traced(launch_of(find(name), sizes)).check
    assert (check.differing, check.elements) == ((0, 16 * 16) if name == "matmul-tiled" else (1, 1))


@pytest.mark.parametrize("schedule", ["lockstep", "sequential"])
def test_a_kernel_that_raises_reports_the_line_and_keeps_its_trace(tmp_path, schedule):
    source = """
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = 1
        if i == 5:
            raise ValueError("five is right out")
        a[i] = 2
    """
    ended = trace(
        tmp_path, source, (Array((8,)),), grid=(2, 1, 1), block=(4, 1, 1), schedule=schedule, resident=1
    )
    error = ended.error
    assert error is not None
    assert (error.type, error.message, error.block, error.thread) == (
        "ValueError",
        "five is right out",
        (1, 0, 0),
        (1, 0, 0),
    )
    assert (
        ended.sources[error.file].splitlines()[error.line - 1].strip()
        == 'raise ValueError("five is right out")'
    )
    assert len(ended) >= 4
    assert ended.check is None


def test_an_access_outside_is_recorded_and_not_performed(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[0, i]
        cuda.atomic.add(a, (2, 0), 1)
        a[1][-4] = 7
        a[1, -3] = 5
    """
    ended = trace(tmp_path, source, (Array((2, 3), fill="arange"), Array((4,))), block=(4, 1, 1))
    outside = ended.outside
    assert ended.error is None
    assert final_contents(ended, "a").tolist() == [[0, 1, 2], [5, 4, 5]]
    assert np.isnan(final_contents(ended, "out")[3])
    assert outside.text == ("a[0, 3]", *["a[2, 0]"] * 4, *["a[-4]"] * 4)
    assert outside.cell.tolist() == [3] + [6] * 4 + [2] * 4
    assert outside.op.tolist() == [Op.LOAD] + [Op.ATOMIC] * 4 + [Op.STORE] * 4
    assert outside.thread.tolist() == [3, 0, 1, 2, 3, 0, 1, 2, 3]
    assert {ended.sites[s].line for s in outside.site} == {8, 9, 10}


def test_after_an_error_the_next_launch_runs(tmp_path):
    broken = COPY + "    raise KeyError\n"
    assert trace(tmp_path, broken, (Array((4,)), Array((3,))), block=(4, 1, 1)).error is not None
    assert trace(tmp_path, COPY, (Array((4,)), Array((4,))), block=(4, 1, 1)).error is None


def test_past_the_cap_counters_go_on_without_accesses(tmp_path):
    complete = launch_of(find("matmul-tiled"), {"m": 32, "k": 32, "n": 32})
    everything = traced(complete)
    capped = traced(msgspec.structs.replace(complete, limits=Limits(accesses=40_000)))
    assert 0 < len(capped) <= 40_000
    assert capped.accesses == everything.accesses == len(everything)
    assert capped.is_part
    assert "40,000" in capped.notice
    assert "fewer blocks" in capped.notice
    assert capped.totals == totals_of(everything, requests_of(everything))
    assert set(capped.block.tolist()) == set(capped.recorded.tolist()) < set(capped.blocks.tolist())
    assert capped.check is not None
    assert capped.check.equal


def test_the_memory_cap_counts_too():
    complete = launch_of(find("matmul-naive-col-on-x"), {"m": 32, "k": 64, "n": 32})
    capped = traced(msgspec.structs.replace(complete, limits=Limits(memory=48 * 40_000)))
    assert 0 < len(capped) <= 40_000
    assert "40,000" in capped.notice


def test_a_block_too_large_to_count_stops_the_launch(tmp_path):
    source = """
    @cuda.jit
    def kernel(a):
        while True:
            a[0] += 1
    """
    ended = trace(tmp_path, source, (Array((1,)),), limits=Limits(accesses=50_000))
    assert ended.notice.startswith("Stopped after ")
    assert "50,000" in ended.notice
    assert ended.check is None


def test_constants_are_those_of_the_launch(tmp_path):
    source = """
    WIDTH = 1
    TYPE = float32
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(WIDTH, TYPE)
        out[0] = tile.size
        out[1] = tile.itemsize
    """
    ended = trace(tmp_path, source, (Array((2,)),), constants={"WIDTH": 7, "TYPE": "float64"})
    assert final_contents(ended, "out").tolist() == [7, 8]


def test_memory_columns_take_at_most_24_bytes_an_access():
    for name in ("matmul-naive-col-on-x", "matmul-tiled"):
        trace = traced(launch_of(find(name), {"m": 32, "k": 32, "n": 32}))
        assert trace.nbytes <= 24 * len(trace)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("@cuda.jit\ndef kernel(a:\n    pass\n", "kernels.py:5"),
        ("import no_such_module_here\n", r"kernels.py:4: .*no_such_module_here"),
        ("@cuda.jit\ndef other(a):\n    pass\n", "no kernel named kernel"),
        ("def kernel(a):\n    pass\n", "not a @cuda.jit kernel"),
        ("@cuda.jit\ndef kernel(a, b):\n    pass\n", "takes 2 arguments, not 1"),
    ],
)
def test_a_file_without_a_launch_gives_one_sentence(tmp_path, source, text):
    with pytest.raises(LoadError, match=text) as caught:
        trace(tmp_path, source, (Array((1,)),))
    assert "\n" not in str(caught.value)


def test_inputs_are_seeded_and_from_files(tmp_path):
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "numbers.npy", numbers)
    arguments = (
        Array((2, 3), fill="file", path=str(tmp_path / "numbers.npy")),
        Array((2, 3), fill="random", seed=3),
    )
    source = """
    @cuda.jit
    def kernel(a, b):
        pass
    """
    first, second = (trace(tmp_path, source, arguments) for _ in range(2))
    assert final_contents(first, "a").tolist() == numbers.tolist()
    assert final_contents(first, "b").tolist() == final_contents(second, "b").tolist()
    assert ((final_contents(first, "b") >= 0) & (final_contents(first, "b") < 1)).all()


def test_a_scalar_argument_is_passed_as_it_is(tmp_path):
    source = """
    @cuda.jit
    def kernel(out, n, x):
        out[0] = n + x
    """
    assert final_contents(trace(tmp_path, source, (Array((1,)), Scalar(2), Scalar(0.5))), "out")[0] == 2.5


def test_an_unsupported_simulator_is_named(tmp_path, monkeypatch):
    from numba.cuda.simulator import kernel

    from tilescope.tracer.simulator import numba_patch

    monkeypatch.setattr(numba_patch, "_installed", False)
    monkeypatch.delattr(kernel, "BlockManager")
    with pytest.raises(
        numba_patch.UnsupportedSimulator, match=r"numba [0-9.]+.*no BlockManager.*works with numba"
    ):
        run(launch(tmp_path, COPY, (Array((1,)), Array((1,)))), lambda done, total: None)


RACING = """
@cuda.jit
def kernel(out):
    out[0] += 1
"""


@pytest.mark.parametrize("source", [RACING, RACING.replace("out[0] += 1", "cuda.atomic.add(out, 0, 1)")])
def test_a_launch_too_large_for_lockstep_is_reported(tmp_path, monkeypatch, source):
    kernel_launch = launch(tmp_path, source, (Array((1,), "int64"),), block=(32, 1, 1), engine="compiled")
    in_turns = engine.run(kernel_launch, lambda done, total: None)
    assert final_contents(in_turns, "out").tolist() == [1 if source == RACING else 32]
    for part in (engine, compiled):
        monkeypatch.setattr(part, "MAX_TURNS", 10)
    left = engine.run(kernel_launch, lambda done, total: None)
    assert left.made_by.endswith("compiled")
    assert left.notice.startswith("The threads ran one after the other")
    assert final_contents(left, "out").tolist() == [32]

"""The compiled engine: what it refuses, who takes over, how launches end, what stays on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

import tilescope.tracer.compiled
from engines import LONGS, assert_engines_agree, ignore_progress, kernel_source
from launching import Array, Scalar, Schedule, final_contents, launch
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import compile as compiling
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run import engine

REFUSED = {
    "with numbers():\n    pass": "line 6: with in a kernel",
    "out[0] = [v for v in (1, 2)][0]": "line 6: a comprehension in a kernel",
    "try:\n    out[0] = 1\nexcept ValueError:\n    pass": "line 6: try in a kernel",
    "print(a[0], sep='')": "line 6: print with sep=",
    "print(a)": "line 6: print of",
    "@cuda.jit\ndef inner():\n    pass": "line 7: a function in a kernel with @cuda.jit",
    "a[0], *rest = 1, 2, 3": "line 6: an assignment to a variable with \\*",
    "out[0] = max(*a)": "line 6: ",
    "for x, y in zip(a, out):\n    pass\nelse:\n    pass": "line 6: a loop over zip or enumerate with else",
    "n = cuda.threadIdx.x\nb = cuda.local.array(n, int32)": "line 7: a shape that is not constant, n",
    "b = cuda.shared.array(4, int32, alignment=3)": "line 6: Alignment must be a power of 2",
    "out[0] = a[0] + 'x'": "line 6: ",
    "out[0] = np.sum(a)": "line 6: .*sum of",
    "np.add(a, 1, out)": "line 6: add of",
    "x = a if a[0] else 3\nout[0] = x": "line",
    "out[0] = a[1.5]": "line 6: a load from an array of int64 at float64",
    "out[0.5] = 1": "line 6: a store of 1 to an array of int64 at float64",
    "out[0] = math.perm(3, 2)": "line 6: perm, which Numba does not compile",
    "out[0] = math.tgamma(3)": "line 6: math.tgamma, which does not exist",
    "out[0] = totally": "line 6: totally, which is not defined",
    "out[0], a.x = 1, 2": "line 6: the attribute x",
}


@pytest.mark.parametrize("body", REFUSED)
def test_unsupported_kernels_are_refused_in_one_sentence(tmp_path, body):
    with pytest.raises(NotCompilableError, match=REFUSED[body]) as caught:
        compiled.run_compiled(launch(tmp_path, kernel_source(body), LONGS), ignore_progress)
    text = str(caught.value)
    assert "\n" not in text
    assert "\x1b" not in text
    assert "_ts_" not in text
    assert text.endswith(".")


def test_a_number_of_more_than_64_bits_is_left_to_the_simulator(tmp_path):
    kernel_launch = launch(tmp_path, kernel_source("pass", "n"), (Scalar(1 << 63),))
    with pytest.raises(NotCompilableError, match="n is 9223372036854775808"):
        compiled.run_compiled(kernel_launch, ignore_progress)


VIEWS = ("a.reshape(5, 5)[0, 0]", "a[::2].ravel()[1]")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_compiled_code_can_not_create_is_left_to_the_simulator(tmp_path, view):
    with pytest.raises(NotCompilableError, match=r"view|reshape"):
        compiled.run_compiled(launch(tmp_path, kernel_source(f"out[0] = {view}"), LONGS), ignore_progress)


def test_the_simulator_takes_over_and_reports_the_reason(tmp_path):
    kernel_launch = launch(tmp_path, kernel_source("out[0] = a.sum()"), LONGS, engine="compiled")
    traced = engine.run(kernel_launch, ignore_progress)
    assert final_contents(traced, "out")[0] == sum(range(64))
    assert "not compiled: line 6: " in traced.made_by


def test_the_launch_names_the_engine(tmp_path):
    body = "out[cuda.grid(1)] = a[cuda.grid(1)]"
    kernel_launch = launch(tmp_path, kernel_source(body), LONGS, block=(64, 1, 1))
    traces = [
        engine.run(msgspec.structs.replace(kernel_launch, engine=e), ignore_progress)
        for e in ("compiled", "simulator")
    ]
    assert ["compiled" in trace.made_by for trace in traces] == [True, False]
    assert traces[0].index[traces[0].op == 1].tolist() == traces[1].index[traces[1].op == 1].tolist()


def test_a_launch_with_a_race_is_shown_in_lockstep(tmp_path):
    kernel_launch = launch(
        tmp_path, kernel_source("a[0] += 1"), LONGS, (32, 1, 1), (32, 1, 1), engine="compiled"
    )
    shown = engine.run(kernel_launch, ignore_progress)
    assert final_contents(shown, "a")[0] == 1
    assert shown.made_by.endswith("; run again in turns: its threads may interact")
    sequential = engine.run(
        msgspec.structs.replace(kernel_launch, schedule=Schedule("sequential")), ignore_progress
    )
    assert final_contents(sequential, "a")[0] == 1024
    assert "compiled" in sequential.made_by


def test_a_python_program_is_not_compiled():
    scenario = find("barrier-three-threads"), find("python-barrier")
    for item in scenario:
        launch = msgspec.structs.replace(launch_of(item, {}), engine="compiled")
        assert engine.run(launch, ignore_progress).error is None


RAISING = ('raise ValueError("no five")', 'assert i != 5, "no five"', "check(i)", "check_and_wait(i)")


@pytest.mark.parametrize("line", RAISING)
def test_a_kernel_that_raises_reports_the_line_and_keeps_its_trace(tmp_path, line):
    source = f"""
    @cuda.jit(device=True)
    def check(i):
        if i == 5:
            raise KeyError("no five")

    @cuda.jit(device=True)
    def check_and_wait(i):
        cuda.syncthreads()
        assert i != 5

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = 1
        if i == 5:
            {line}
        a[i] = 2
    """
    ended = assert_engines_agree(launch(tmp_path, source, (Array((8,)),), (2, 1, 1), (4, 1, 1)))
    assert ended.error is not None
    assert ended.check is None
    assert len(ended) >= 4


def test_after_an_error_the_next_launch_runs(tmp_path):
    body = "out[cuda.grid(1)] = a[cuda.grid(1)]"
    assert (
        compiled.run_compiled(
            launch(tmp_path, kernel_source(body + "\nraise KeyError(1)"), LONGS), ignore_progress
        ).error
        is not None
    )
    assert compiled.run_compiled(launch(tmp_path, kernel_source(body), LONGS), ignore_progress).error is None


def test_device_functions_take_arguments_by_name(tmp_path):
    source = """
    @cuda.jit(device=True)
    def less(x, y=1):
        return x - y

    @cuda.jit(device=True)
    def wait_and_less(x, y=1):
        cuda.syncthreads()
        return x - y

    @cuda.jit
    def kernel(a, out):
        out[0] = less(y=5, x=a[7])
        out[1] = wait_and_less(y=4, x=a[7]) + wait_and_less(a[1])
    """
    assert final_contents(compiled.run_compiled(launch(tmp_path, source, LONGS), ignore_progress), "out")[
        :2
    ].tolist() == [
        2,
        3,
    ]


def test_division_by_zero_is_as_on_the_gpu(tmp_path):
    body = "x[0] = x[1] / x[2]\nx[1] = 1 / (x[2] * 0.0)"
    traced = compiled.run_compiled(
        launch(tmp_path, kernel_source(body, "x"), (Array((3,)),)), ignore_progress
    )
    assert traced.error is None
    assert np.isnan(final_contents(traced, "x")[0])
    assert np.isinf(final_contents(traced, "x")[1])


def test_wild_indices_crash_nothing(tmp_path):
    body = """b = cuda.shared.array((4, 4), int32)
i = cuda.grid(1)
for k in range(60):
    out[1 << k] = a[-(1 << k)]
    b[k - 20, 1 << k] += 1
out[a[i] * 2**40] = 3"""
    assert_engines_agree(launch(tmp_path, kernel_source(body), LONGS, block=(4, 1, 1)))


def test_an_edited_kernel_is_another_one(tmp_path):
    kernel_launch = launch(tmp_path, kernel_source("out[0] = 1"), LONGS)
    other = msgspec.structs.replace(kernel_launch, source=kernel_launch.source.replace("= 1", "= 2"))
    assert [
        final_contents(compiled.run_compiled(m, ignore_progress), "out")[0]
        for m in (kernel_launch, other, kernel_launch)
    ] == [1, 2, 1]


def test_an_edit_of_any_file_of_the_engine_makes_other_code():
    folder = Path(tilescope.tracer.compiled.__file__).parent
    files = set(folder.rglob("*.py"))
    others = {
        *(folder.parent / "nvidia_math").glob("*.py"),
        folder.parent / "recording" / "decimal_rounding.py",
    }
    assert set(compiling.engine_files()) == files | others
    assert {"compile.py", "state.py"} <= {file.name for file in files}


SINGLE = """
import sys
from pathlib import Path
from tilescope.tracer.compiled.driver import compile as compiling, engine
from tilescope.tracer.model.launch import decode
trace = engine.run_compiled(decode(Path(sys.argv[1]).read_text(encoding="utf-8")), lambda done, of: None)
stats = [sum(d.stats.cache_hits.values()) for d in compiling.compiled_kernels.values()]
import numba
print(len(trace), trace.error, sum(stats), numba.config.ENABLE_CUDASIM)
"""


def test_it_needs_no_simulator_and_a_second_start_compiles_nothing(tmp_path):
    from tilescope.tracer.model.launch import encode

    path = tmp_path / "launch.json"
    body = """s = cuda.shared.array(8, int64)
s[cuda.threadIdx.x] = a[cuda.grid(1)]
cuda.syncthreads()
out[cuda.grid(1)] = s[0]"""
    path.write_text(encode(launch(tmp_path, kernel_source(body), LONGS, block=(8, 1, 1))), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    environment["TILESCOPE_HOME"] = str(tmp_path / "home")
    command = [sys.executable, "-P", "-c", SINGLE, str(path)]
    options = {"env": environment, "capture_output": True, "text": True, "check": True}
    results = [subprocess.run(command, **options).stdout for _ in range(2)]
    assert [line.split() for line in results] == [["32", "None", "0", "0"], ["32", "None", "1", "0"]]
    assert list((tmp_path / "home" / "cache" / "compiled").glob("*.py"))


def test_without_a_place_to_write_it_compiles_every_time(tmp_path, monkeypatch):
    blocked = Path(tmp_path / "file")
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("TILESCOPE_HOME", str(blocked))
    traced = compiled.run_compiled(
        launch(tmp_path, kernel_source("out[3] = a[4] + 77"), LONGS), ignore_progress
    )
    assert final_contents(traced, "out")[3] == 81

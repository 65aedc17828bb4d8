"""`trace` and `trace_launches` in a user's own process: with numba for a GPU that is missing, and its simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE

HELPERS = """
import os
from numba import cuda
with open(os.environ["TIMES_IMPORTED"], "a") as file:
    file.write("helpers ")
SCALE = 3
size = model = object()  # of which kernels that use the module need not know

@cuda.jit(device=True)
def scaled(x):
    return x * SCALE
"""
PROGRAM = """
import json, os, sys
from collections import namedtuple
from enum import IntEnum
import numpy as np
import tilescope
from numba import cuda, float32, njit
import helpers
from helpers import scaled

with open(os.environ["TIMES_IMPORTED"], "a") as file:
    file.write("program ")
WEIGHTS = np.array([1.0, 2.0, 4.0], np.float32)
Pair = namedtuple("Pair", "x y")
RECORD = np.dtype([("x", np.int32), ("y", np.float64)], align=True)
said = {}


class Mode(IntEnum):
    LOW = 1
    HIGH = 7


@njit
def plus_one(x):
    return x + 1


def kernel_with(factor):
    @cuda.jit
    def closed(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = a[i] * factor + WEIGHTS[i % 3] + scaled(2) + Mode.HIGH.value + plus_one(0) + helpers.SCALE
    return closed


a = np.ones(6, np.float32)
closed = kernel_with(5)
launch = tilescope.trace(closed[2, 4], a)
said["closed"] = a.tolist()
said["grid"] = [launch.kernel, launch.grid, launch.block]
said["counters"] = {name: n for name, n in launch.counters.items() if n}
said["columns"] = {name: column.tolist() for name, column in launch.trace.items()}
said["buffers"] = launch.trace.buffers
WEIGHTS[:] = 0
tilescope.trace(closed[2, 4], a)
said["names as they are now"] = a.tolist()


@cuda.jit
def add(a, pair, point, number):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] += pair[1] + point.y + number


views = {
    "gaps": np.zeros((6, 8))[::2, ::-2], "fortran": np.zeros((3, 4), order="F"), "transposed": np.zeros((3, 4)).T,
    "small": np.zeros((3, 3), np.int8),
}
for name, view in views.items():
    tilescope.trace(add[(1, 1), (8, 8)], view, (1, np.int32(2)), Pair(3, 4.0), np.float32(2))
    whole = view.base if view.base is not None else view
    said[name] = [view.min().item(), view.max().item(), int((whole != 0).sum()), view.size]


@cuda.jit
def of_records(records, one):
    i = cuda.grid(1)
    records[i].x = i
    records[i].y = one.y
    one.x = 42


records, one = np.zeros(2, RECORD), np.array((0, 2.5), RECORD)[()]
tilescope.trace(of_records[1, 2], records, one)
said["records"] = [records.tolist(), one.tolist()]


@cuda.jit
def fill(a):
    a[cuda.grid(1)] = 1  # line of fill


fields = np.zeros(3, RECORD)
tilescope.trace(fill[1, 3], fields["x"])
said["field"] = fields["x"].tolist()
said["forall"] = tilescope.trace(fill.forall(100, tpb=32), np.zeros(128)).grid
outside = tilescope.trace(fill[1, 32], np.zeros(20))
said["findings"] = [[f.kind, f.severity, f.file, f.line, f.kernel, str(f)] for f in outside.findings]

code = "def typed(a):\\n    a[cuda.grid(1)] = 2\\n"
exec(compile(code, "<stdin>", "exec"))
b = np.zeros(4)
tilescope.trace(cuda.jit(typed)[1, 4], b)
said["typed at a prompt"] = b.tolist()


class Settings:
    number = 3


settings = Settings()


@cuda.jit
def with_settings(a):
    a[0] = settings.number


@cuda.jit
def with_model(a):
    a[0] = helpers.model


@cuda.jit(debug=True, opt=False)
def raising(a):
    a[0] = 7
    if a.size == 1:
        raise ValueError("too small")


def why(*words):
    try:
        tilescope.trace(*words)
    except tilescope.TilescopeError as error:
        return str(error)


small = np.zeros(1)
said["why"] = {
    "no kernel": why(3), "text": why(fill[1, 1], "x"), "list": why(fill[1, 1], [1]), "none": why(fill[1, 1], None),
    "objects": why(fill[1, 1], np.array([None])), "order": why(fill[1, 1], np.zeros(1, ">f4")),
    "in a tuple": why(fill[1, 1], (b, "x")), "too many": why(fill[1, 1], b, b), "settings": why(with_settings[1, 1], b),
    "model": why(with_model[1, 1], b), "threads": why(fill[1, 2000], b), "raising": why(raising[1, 1], small),
}
said["left by raising"] = small.tolist()

with tilescope.trace_launches() as launches:
    fill[1, 4](b)
    with tilescope.trace_launches() as inner:
        closed[2, 4](a)
    try:
        raising[1, 1](small)
    except tilescope.KernelRaised as error:
        said["raised"] = error.launch.kernel
said["recorded"] = [[one.kernel for one in launches], [one.kernel for one in inner], b.tolist()]
try:
    with tilescope.trace_launches() as launches:
        fill[1, 4](b)
        raise KeyError("mine")
except KeyError as error:
    said["through"] = [str(error), len(launches)]
try:
    fill[1, 4](b)
    said["afterwards"] = len(launches)
except Exception as error:
    said["afterwards"] = type(error).__name__
try:
    with tilescope.trace_launches():
        cuda.to_device(b)
    said["to_device"] = []
except Exception as error:
    said["to_device"] = error.__notes__


@cuda.jit
def shift(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + 10


with tilescope.trace_launches() as launches:
    d = np.arange(8, dtype=np.float32)
    d = cuda.to_device(d) if os.environ.get("NUMBA_ENABLE_CUDASIM") else d
    fill[1, 4](d[2:6])
    fill[1, 2](d[::4])
    shift[1, 4](d[:4], d[4:])
    said["device array"] = (d.copy_to_host() if hasattr(d, "copy_to_host") else d).tolist()
said["modules"] = sorted({name.partition(".")[0] for name in sys.modules} & {"PySide6", "greenlet"})
said["simulator"] = os.environ.get("NUMBA_ENABLE_CUDASIM", "")
print(json.dumps(said))
"""
LINE = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if "# line of fill" in text)
OUTSIDE = f"12 accesses to a on line {LINE} are outside it, first thread 20 of block 0"


def run(folder: Path, **environment: str) -> dict:
    (folder / "helpers.py").write_text(HELPERS)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    names = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"} | environment
    names |= {
        "TIMES_IMPORTED": str(folder / "imported"),
        "CUDA_VISIBLE_DEVICES": "",
    }  # a GPU, where there is one, is hidden
    command = [sys.executable, "-W", "ignore", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=names, timeout=PATIENCE, cwd=folder)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    output["imported"] = (folder / "imported").read_text().split()
    output["program"] = str(program)
    return output


@pytest.fixture(scope="module", params=["for a GPU", "simulator"])
def results(request, tmp_path_factory):
    """Return the program's output about its launches, in a process of either kind."""
    simulated = {"NUMBA_ENABLE_CUDASIM": "1"} if request.param == "simulator" else {}
    return run(tmp_path_factory.mktemp("traced"), **simulated) | {"kind": request.param}


def test_results_of_closures_globals_and_other_modules_are_returned(results):
    assert results["closed"] == [23, 24, 26, 23, 24, 26]
    assert results["names as they are now"] == [5 * before + 17 for before in results["closed"]]
    assert results["grid"] == ["closed", [2, 1, 1], [4, 1, 1]]


def test_nothing_of_the_program_runs_again(results):
    assert results["imported"] == ["helpers", "program"]


def test_counters_and_columns_match_the_launch(results):
    assert results["counters"] == {
        "global_load_requests": 2, "global_load_sectors": 2, "global_load_bytes": 24,
        "global_store_requests": 2, "global_store_sectors": 2, "global_store_bytes": 24,
    }  # fmt: skip
    columns = results["columns"]
    assert results["buffers"][0] == "a"
    own = [row for row, buffer in enumerate(columns["buffer"]) if buffer == 0]
    assert [columns["op"][row] for row in own].count(1) == 6
    assert sorted(columns["index"][row] for row in own) == sorted([*range(6)] * 2)
    assert {columns["value"][row] for row in own} == {1, 23, 24, 26}
    assert set(map(len, columns.values())) == {len(columns["op"])}


@pytest.mark.parametrize("view", ["gaps", "fortran", "transposed", "small"])
def test_views_of_all_kinds_are_written_in_place_and_nothing_else(results, view):
    assert results[view] == [8, 8, results[view][3], results[view][3]]


def test_records_and_their_fields_are_returned(results):
    assert results["records"] == [[[0, 2.5], [1, 2.5]], [42, 2.5]]
    assert results["field"] == [1, 1, 1]


def test_a_kernel_typed_at_a_prompt_runs(results):
    assert results["typed at a prompt"] == [2, 2, 2, 2]


def test_findings_name_the_user_s_file_and_line(results):
    [kind, severity, file, line, kernel, text] = results["findings"][0]
    assert (kind, severity, file, line, kernel) == ("bounds", "error", results["program"], LINE, "fill")
    assert text.startswith(f"{results['program']}:{LINE}: error: bounds: {OUTSIDE}")


def test_forall_has_a_thread_for_each_task(results):
    assert results["forall"] in ([4, 1, 1], [100, 1, 1])  # the simulator's own makes blocks of one thread


def test_unsupported_arguments_are_refused_by_name(results):
    why = results["why"]
    assert why["no kernel"] == "3 is not a configured kernel; write kernel[blocks, threads]."
    assert "argument a of fill is a str" in why["text"] and "argument a of fill is a list" in why["list"]
    assert "argument a of fill is a NoneType" in why["none"] and "Python objects" in why["objects"]
    assert ">f4" in why["order"] and "an item of argument a of fill is a str" in why["in a tuple"]
    assert "fill takes 1 argument, but 2 are given" in why["too many"]
    assert "with_settings uses settings, an object of Settings" in why["settings"]
    assert "with_model uses helpers.model, an object of object" in why["model"]
    assert "2,000 threads in a block" in why["threads"]


def test_a_kernel_that_raises_reports_the_line_and_keeps_its_writes(results):
    assert "thread (0, 0, 0) of block (0, 0, 0) raised ValueError: too small." in results["why"]["raising"]
    assert results["left by raising"] == [7] and results["raised"] == "raising"


def test_trace_launches_has_every_launch_and_nested_contexts_share_theirs(results):
    assert results["recorded"] == [["fill", "closed", "raising"], ["closed"], [1, 1, 1, 1]]


def test_parts_of_one_device_array_share_memory(results):
    assert results["device array"] == [1, 1, 1, 1, 11, 11, 11, 11]


def test_exceptions_propagate_and_restore_numba_s_launches(results):
    assert results["through"] == ["'mine'", 1]
    assert results["afterwards"] == ("CudaSupportError" if results["kind"] == "for a GPU" else 1)


def test_numba_cuda_s_functions_report_that_they_need_a_gpu(results):
    if results["kind"] == "for a GPU":
        assert "pass NumPy arrays to the kernel" in results["to_device"][0]
    else:
        assert results["to_device"] == []


def test_the_user_s_process_is_unchanged(results):
    assert results["modules"] == []
    assert results["simulator"] == ("1" if results["kind"] == "simulator" else "")

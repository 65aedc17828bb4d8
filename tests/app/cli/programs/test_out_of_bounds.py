"""Programs whose kernels go outside their arrays: they continue as on a GPU, and what they print is no result."""

from __future__ import annotations

import pytest

from programs import HEAD, run_program, run_tilescope

ENGINES = ("simulator", "compiled")
VIEWS = (
    HEAD
    + """
T = np.dtype([("x", "f4"), ("n", "i4"), ("v", "f4", 2)])

@cuda.jit
def views(a, records, out, whole):
    i = cuda.grid(1)
    row = a[i]                    # outside from 10 on, and nothing is read yet
    record = records[i]
    if i >= 10:
        row = row[1:]
    out[i] = row[0] + a[i].T[1]
    whole[i] = record.n + 1
    record.n = 4
    records[i].v[1] = 3
    a[i] = 5
    a[i, 2:] = 7
    kept = cuda.atomic.add(whole, i + 40, 1)
    if i == 0:
        out[0] = a[1:3][2, 1]     # inside a, outside the slice
    elif i == 1:
        whole[1] = kept

a, records = np.ones((10, 4)), np.zeros(3, T)
out, whole = np.zeros(12), np.zeros(12, np.int32)
views[1, 12](a, records, out, whole)
print(out, whole, a.sum(), records["n"], records["v"].sum())
"""
)
FAR = (
    HEAD
    + """
from numba.cuda.cudadrv.driver import CudaAPIError

@cuda.jit
def far(a, out, distance):
    i = cuda.grid(1)
    out[i] = a[i * distance]

a, out = np.ones(16, np.float32), np.zeros(4, np.float32)
far[1, 4](a, out, 100_000)
print(out)
try:
    far[1, 4](a, out, 1_000_000)
except CudaAPIError as error:
    print(error)
"""
)
NEIGHBOURS = (
    HEAD
    + """
@cuda.jit
def smooth(a, out):
    i = cuda.grid(1)
    out[i] = max(a[i], a[i + 1])

a, out = np.arange(32.0), np.zeros(32)
for _ in range(3):
    smooth[1, 32](a, out)
print("reached")
"""
)


def test_views_outside_their_array_are_read_as_poison_by_both_engines(script, tmp_path):
    path = script(VIEWS)
    theirs, ours = (run_program(tmp_path, ("--engine", engine), path) for engine in ENGINES)
    assert ours[:2] == theirs[:2]
    assert ours[2][0].made_by.endswith("compiled")
    printed = ours[0]
    assert printed.count("nan") == 3 and "-1515870810" in printed and "-1515870809" not in printed
    texts = [trace.outside.text for trace in (theirs[2][0], ours[2][0])]
    assert set(texts[0]) == set(texts[1]) and "a[10, 1]" in texts[0] and "records.n[3]" in texts[0]


def test_a_launch_ends_where_a_gpu_has_no_memory(script, tmp_path):
    path = script(FAR)
    for engine in ENGINES:
        done = run_tilescope("run", "--quiet", "--engine", engine, str(path), folder=tmp_path)
        assert done.returncode == 0, done.stderr
        near, far = done.stdout.splitlines()
        assert near == "[ 1. nan nan nan]"
        assert far.startswith(
            "tid=[1, 0, 0] ctaid=[0, 0, 0]: a[1000000] lies 3,999,936 bytes after the end of a"
        )
        assert f"{path}, line 10" in far


def test_each_cause_is_reported_once_and_the_program_continues(script, tmp_path):
    path = script(NEIGHBOURS)
    done = run_tilescope("run", "--quiet", str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "reached\n")
    assert done.stderr.count("error: bounds: 1 access to a on line 8 is outside it") == 1, done.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_program_stops_where_that_is_asked_for(script, tmp_path, command):
    done = run_tilescope(command, "--stop-at-errors", str(script(NEIGHBOURS)), folder=tmp_path)
    assert done.returncode == 1 and "reached" not in done.stdout + done.stderr
    assert "IndexError: tid=[31, 0, 0] ctaid=[0, 0, 0]: a[32] is outside its array" in done.stderr


GLOBALS = (
    HEAD
    + """
G = np.arange(4, dtype=np.float32)
H = np.arange(6).reshape(2, 3)

@cuda.jit
def look(out):
    i = cuda.grid(1)
    group = cuda.cg.this_grid()
    c = cuda.const.array_like(G)
    out[i] = G[i] + c[i - 1]
    group.sync()
    if i == 5:
        out[i] = H[i - 3, 1]

out = np.zeros(6)
look[1, 6](out)
print(out)
"""
)


def test_global_and_constant_arrays_have_an_end_too(script, tmp_path):
    path = script(GLOBALS)
    for engine in ENGINES:
        done = run_tilescope("run", "--quiet", "--engine", engine, str(path), folder=tmp_path)
        assert done.returncode == 0 and "nan" in done.stdout and "-6.51" in done.stdout, done.stderr
        assert "1 access to c on line 13 is outside it" in done.stderr
        assert "(also G on line 13 and H on line 16)" in done.stderr

"""Indices that wrap: noted where threads go below 0, and nowhere else."""

from __future__ import annotations

import pytest

from launching import Array, Scalar, launch, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.run.engine import run


def notes(folder, body, shape=(64,), block=(64, 1, 1), grid=(1, 1, 1), schedule="lockstep"):
    source = (
        "@cuda.jit\ndef kernel(a, out):\n    t, x, y = cuda.grid(1), cuda.threadIdx.x, cuda.threadIdx.y\n"
    )
    source += "".join(f"    {line}\n" for line in body.splitlines())
    given = (Array(shape, "float32", "arange"), Array((256,), "float32"))
    ended = trace(folder, source, given, grid=grid, block=block, schedule=schedule)
    assert ended.error is None, ended.error
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == "bounds"]


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
def test_a_stencil_that_wraps_at_its_beginning_is_noted(tmp_path, schedule):
    (finding,) = notes(tmp_path, "if t < 63:\n    out[t] = a[t - 1] + a[t] + a[t + 1]", schedule=schedule)
    assert (finding.severity, finding.count, finding.threads) == ("note", 1, ((0, 0),))
    assert finding.message.startswith(
        "1 read of a on line 8 goes below index 0 and so wraps to the other end, first thread 0 of block 0 to a[63]"
    )
    assert notes(tmp_path, "if 0 < t < 63:\n    out[t] = a[t - 1] + a[t] + a[t + 1]", schedule=schedule) == []


def test_accesses_of_one_line_are_counted_together(tmp_path):
    (finding,) = notes(tmp_path, "out[t] = a[t - 1] + a[t - 2]")
    assert (finding.count, len(finding.sites)) == (1 + 2, 2)


def test_each_row_of_a_matrix_may_wrap(tmp_path):
    (finding,) = notes(tmp_path, "out[16 * y + x] = a[y, x - 2]", (4, 16), (16, 4, 1))
    assert finding.count == 4 * 2


@pytest.mark.parametrize(
    "body",
    [
        "out[t] = a[(t - 1) % 64]",
        "out[t] = a[t - 1 if t > 0 else 63]",
        "left = t - 1\nout[t] = a[left]",
        "out[t] = a[63 - t]",
        "out[t] = a[a.size - 1]",
        "out[t] = a[-1]",
        "if t > 0:\n    out[t] = a[t - 1]",
        "k = t + 1\nout[t] = a[k - 1]",
    ],
)
def test_intended_or_missing_wraps_are_not_noted(tmp_path, body):
    assert notes(tmp_path, body) == []


def test_rows_of_threads_that_each_restart_do_not_wrap(tmp_path):
    assert notes(tmp_path, "k = x + 1\nout[16 * y + x] = a[k - 1]", (16,), (16, 4, 1)) == []


COUNTS = """
@cuda.jit(device=True)
def place(number, low):
    return int(number - low)

@cuda.jit
def kernel(x, hist, low):
    i = cuda.grid(1)
    if i < x.size:
        {line}
"""
LINES = {
    "an atomic": "cuda.atomic.add(hist, x[i] - 5, 1)",
    "a variable": "k = x[i] - 5\n        cuda.atomic.add(hist, k, 1)",
    "an argument": "cuda.atomic.add(hist, x[i] - low, 1)",
    "a function": "cuda.atomic.add(hist, place(x[i], low), 1)",
    "a store": "hist[x[i] - 5] = 1",
    "a load": "x[i] = hist[int(x[i]) - 5]",
}


@pytest.mark.parametrize("schedule", ["lockstep", "sequential"])
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_an_index_that_data_make_negative_is_noted(tmp_path, name, schedule, engine):
    given = (Array((16,), "int64", "arange"), Array((32,), "int64"), Scalar(5))
    kernel_launch = launch(
        tmp_path, COUNTS.format(line=LINES[name]), given, block=(32, 1, 1), schedule=schedule, engine=engine
    )
    ended = run(kernel_launch, lambda done, total: None)
    findings = [f for f in findings_of(ended, requests_of(ended)) if f.kind == "bounds"]
    assert [(f.severity, f.count, f.name) for f in findings] == [("note", 5, "hist")]
    assert (
        "go below index 0 and so wrap to the other end, first thread 0 of block 0 to hist[27]"
        in findings[0].message
    )


def test_a_data_index_that_is_never_negative_is_not_noted(tmp_path):
    given = (Array((16,), "int64", "arange"), Array((32,), "int64"), Scalar(0))
    for line in LINES.values():
        ended = trace(tmp_path, COUNTS.format(line=line.replace("- 5", "+ 16")), given, block=(32, 1, 1))
        assert not [f for f in findings_of(ended, requests_of(ended)) if f.kind == "bounds"]


def test_an_atomic_of_the_thread_before_wraps_too(tmp_path):
    (finding,) = notes(tmp_path, "if t < 64:\n    cuda.atomic.add(a, t - 1, 1)")
    assert (finding.severity, finding.count) == ("note", 1)

"""Stores that are overwritten before anybody reads them, and atomics that all wait for one address."""

from __future__ import annotations

import pytest

from finding_kernels import trace_kernel
from launching import Array
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

FLOATS = (Array((256,), "float32", "random"), Array((256,), "float32"))


def findings_in(folder, kind, body, *arguments, **options):
    ended = trace_kernel(folder, body, *(arguments or FLOATS), **options)
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == kind]


LOOP = "total = 0.0\nfor k in range(16):\n    total += arg0[(i + k) % 256]\n"


def test_only_the_last_store_of_a_loop_counts(tmp_path):
    (finding,) = findings_in(tmp_path, "overwritten", LOOP + "    arg1[i] = total")
    assert (finding.severity, finding.count, finding.name) == ("warning", 128 * 15, "arg1")
    assert finding.message.startswith(
        "1,920 of 2,048 stores to arg1 on line 10 are overwritten by the same thread in a loop"
    )
    assert finding.remedy == "keep it in a local variable, and store once after the loop"
    assert findings_in(tmp_path, "overwritten", LOOP + "arg1[i] = total") == []


@pytest.mark.parametrize(
    "body",
    [
        LOOP + "    arg1[i] = total\n    total = arg1[i] * 2",  # read again in the next round
        LOOP + "    arg1[(i * 16 + k) % 256] = total",  # other elements
        LOOP + "    arg1[0] = total",  # by other threads: a race, and told as one
        "for k in range(3):\n    arg1[i] = arg0[k]",  # few
        LOOP + "    cuda.atomic.add(arg1, i, total)",
    ],
)
def test_stores_that_are_read_or_few_are_not_reported(tmp_path, body):
    assert findings_in(tmp_path, "overwritten", body) == []


HOT = {"block": 256, "grid": 8}


def test_thousands_of_atomics_on_one_address_are_reported(tmp_path):
    (finding,) = findings_in(tmp_path, "hot atomic", "cuda.atomic.max(arg1, 0, arg0[i % 256])", **HOT)
    assert (finding.severity, finding.count, finding.name) == ("warning", 2048, "arg1")
    assert "2,048 atomics on line 7 update one address, arg1[0]" in finding.message
    assert "let one thread of each block make the atomic" in finding.remedy


def test_a_thread_with_many_atomics_should_sum_first(tmp_path):
    (finding,) = findings_in(
        tmp_path, "hot atomic", "for k in range(32):\n    cuda.atomic.add(arg1, 0, 1)", block=64
    )
    assert "where 256 atomics would do, one for each thread" in finding.message
    assert "local variable" in finding.remedy


@pytest.mark.parametrize(
    "body",
    [
        "if t == 0:\n    cuda.atomic.add(arg1, 0, arg0[0])",  # one of each block
        "if t % 32 == 0:\n    cuda.atomic.add(arg1, 0, arg0[0])",  # one of each warp
        "cuda.atomic.add(arg1, i % 256, arg0[0])",  # one address each
        "at = cuda.atomic.add(arg1, 0, 1)\narg0[i % 256] = at",  # a place for each
        "s = cuda.shared.array(1, float32)\ncuda.atomic.add(s, 0, 1)",  # in shared memory
    ],
)
def test_few_or_necessary_atomics_are_not_reported(tmp_path, body):
    assert findings_in(tmp_path, "hot atomic", body, **HOT) == []

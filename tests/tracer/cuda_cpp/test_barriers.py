"""Barriers of CUDA C++ that threads miss: a finding states that they returned only where they did."""

from __future__ import annotations

import pytest

from cuda_cpp import needs_compiler, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

pytestmark = needs_compiler
PROGRAM = """#include <cstdio>

__global__ void shift(const int *a, int *out, int n)
{{
    __shared__ int piece[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
{body}
}}

int main()
{{
    int *a, *out;
    cudaMallocManaged(&a, 50 * sizeof(int));
    cudaMallocManaged(&out, 50 * sizeof(int));
    for (int i = 0; i < 50; i++)
        a[i] = out[i] = 0;
    shift<<<1, 64>>>(a, out, 50);
    cudaDeviceSynchronize();
    return 0;
}}
"""
BRANCH = """    if (i < n) {
        piece[t] = a[i];
        __syncthreads();
        out[i] = piece[63 - t];
    }"""
RETURN = """    if (i >= n)
        return;
    piece[t] = a[i];
    __syncthreads();
    out[i] = piece[63 - t];"""
LOOP = """    for (int k = 0; k < 2; k++) {
        if (i < n) {
            piece[t] = a[i];
            __syncthreads();
            out[i] = piece[t];
        }
    }"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (BRANCH, {"barrier": "run past the barrier on line 9", "unwritten": "no thread ever wrote; write it first"}),
        (RETURN, {"unwritten": "14 threads returned before the barrier on line 10; keep every thread"}),
        (LOOP, {"barrier": "run past the barrier on line 10"}),
        ("#define LEAVE if (i >= n) return\n    LEAVE;\n    piece[t] = a[i];\n    __syncthreads();",
         {"barrier": "returned before the barrier on line 10"}),
    ],
)  # fmt: skip
def test_threads_return_only_where_the_kernel_returns(tmp_path, body, expected):
    (trace,) = run_text(tmp_path, PROGRAM.format(body=body)).traces
    messages = {
        f.kind: f.message
        for f in findings_of(trace, requests_of(trace))
        if f.kind in ("barrier", "unwritten")
    }
    assert messages.keys() == expected.keys()
    for kind, words in expected.items():
        assert words in messages[kind], messages[kind]
    if body == RETURN:
        assert "let those without data write 0" in messages["unwritten"]

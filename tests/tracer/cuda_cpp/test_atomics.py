"""Races of CUDA C++ that an atomic makes harmless."""

from __future__ import annotations

from cuda_cpp import needs_compiler, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

pytestmark = needs_compiler
PROGRAM = """#include <cstdio>

__device__ void multiply(int *address, int factor)
{
    int old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, assumed * factor);
    } while (old != assumed);
}

__global__ void product(int *out)
{
    multiply(out, 1 + threadIdx.x % 2);
}

int main()
{
    int *out;
    cudaMallocManaged(&out, sizeof(int));
    *out = 1;
    product<<<2, 4>>>(out);
    cudaDeviceSynchronize();
    printf("%d\\n", *out);
    return 0;
}
"""


def test_the_guides_loop_around_a_compare_and_swap_is_no_error(tmp_path):
    run = run_text(tmp_path, PROGRAM)
    (trace,) = run.traces
    races = [f for f in findings_of(trace, requests_of(trace)) if f.kind == "race"]
    assert [f.severity for f in races] == ["note"]

"""Remedies for kernels in CUDA C++: each that is shown was tried, and mends its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_cpp import needs_compiler, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model import cpp_text
from tilescope.tracer.remedies.cpp_edits import barrier_moves, race_fixes
from tilescope.tracer.remedies.trial import Trials, leave_out_untried

FOLDER = Path(__file__).parents[1] / "cuda_cpp" / "homework"
HOST = "\n#define T 1\nint host[2] = {1, 2};\n"  # a macro and a variable that no kernel uses
LOOP = "        __syncthreads();  // all have read\n"


@needs_compiler
@pytest.mark.parametrize(
    ("program", "old", "new", "remedy", "output"),
    [
        ("transpose", "    __syncthreads();\n", "", "put __syncthreads() after line 8", "32 33"),
        ("matmul", LOOP, "", "put __syncthreads() at the end of the loop of line 8, after line 14", "2 798"),
        (
            "histogram",
            "        atomicAdd(&local[data[i] % BINS], 1u);",
            "        local[data[i] % BINS] += 1;",
            "write atomicAdd(&local[data[i] % BINS], 1) on line 10",
            "150 150 0 0 150 0 0 0 0 150 0 0 0 0 0 0",
        ),
        (
            "histogram",
            "        local[threadIdx.x] = 0;\n    __syncthreads();",
            "    {\n        local[threadIdx.x] = 0;\n        __syncthreads();\n    }",
            "move __syncthreads() of line 9 out of the branch of line 6, after it",
            "150 150 0 0 150 0 0 0 0 150 0 0 0 0 0 0",
        ),
    ],
)
def test_a_remedy_mends_its_program(program, old, new, remedy, output, tmp_path):
    text = (FOLDER / f"{program}.cu").read_text().replace(old, new) + HOST
    trace = run_text(tmp_path, text).traces[0]
    findings = findings_of(trace, requests_of(trace))
    proven = Trials(60).prove_findings(trace, findings, findings)
    assert remedy in [fix.remedy for _, fix in proven]
    fixed = next(fix.text for _, fix in proven if fix.remedy == remedy)
    ran = run_text(tmp_path, fixed)
    assert ran.output.split() == output.split()
    errors = [finding for trace in ran.traces for finding in findings_of(trace, requests_of(trace))]
    assert not [finding for finding in errors if finding.severity == "error"]


MISSED = """__global__ void reverse(const int* a, int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = a[t];
        __syncthreads();
        out[t] = s[n - 1 - t];
    }
}
int main() {
    int *a, *out;
    cudaMalloc(&a, 256);
    cudaMalloc(&out, 256);
    cudaMemset(a, 0, 256);
    reverse<<<1, 64>>>(a, out, 50);
    cudaDeviceSynchronize();
}
"""


@needs_compiler
def test_threads_past_a_barrier_have_not_returned_and_untried_advice_is_left_out(tmp_path):
    trace = run_text(tmp_path, MISSED).traces[0]
    findings = findings_of(trace, requests_of(trace))
    (barrier,) = [finding for finding in findings if finding.kind == "barrier"]
    assert barrier.severity == "error" and barrier.message.startswith(
        "14 threads run past the barrier on line 6"
    )
    assert leave_out_untried(barrier).message.endswith("first thread 50 of block 0.")
    ((_, fix),) = Trials(60).prove_findings(trace, [barrier], findings)
    assert fix.remedy == "move __syncthreads() of line 6 out of the branch of line 4, which it splits in two"


KERNEL = """__global__ void k(int* a, int n) {
    __shared__ int s[64];
    for (int i = 0; i < n; i++)
        if (threadIdx.x < 32) { s[threadIdx.x] = a[i]; }
        else a[i] += s[threadIdx.x - 32];
    do { a[0]++; } while (a[0] < 3); if (n) return;
    if (n > 3) {
        a[1] = s[2];
        __syncthreads();
        a[2] = 7;
    }
}
"""


@pytest.mark.parametrize("lines", [[4, 5], [4, 6], [6, 6], [8, 10], [2, 12], [1, 1]])
@pytest.mark.parametrize("remedy", ["put __syncthreads()", "use an atomic function", "put __threadfence()"])
def test_an_edit_keeps_the_other_statements(lines, remedy):
    for fix in race_fixes(KERNEL, lines, remedy):
        (function,) = cpp_text.functions(fix.text)
        assert function.name == "k"
        added = fix.text.replace("__syncthreads();", "").replace("__threadfence();", "").split()
        if "atomic" not in remedy:
            assert added == KERNEL.replace("__syncthreads();", "").split()


def test_a_barrier_in_the_middle_of_a_branch_splits_it():
    (fix,) = barrier_moves(KERNEL, 9)
    assert (
        "        a[1] = s[2];\n    }\n    __syncthreads();\n    if (n > 3) {\n        a[2] = 7;\n    }\n"
        in fix.text
    )

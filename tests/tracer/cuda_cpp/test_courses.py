"""Programs in the style of courses and NVIDIA's samples: their output is that of an H100 with CUDA 13.0.

The files `*.txt` are what the programs printed on the GPU. `groups.cu` is the exception: two numbers of its last line
were calculated, since the recorded program read them before it had waited for the kernel.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_cpp import needs_compiler, run_file, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.cuda_cpp.build import build
from tilescope.tracer.cuda_cpp.rewrite import kernel_names
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.trace import Op

pytestmark = needs_compiler
FOLDER = Path(__file__).with_name("courses")


@pytest.mark.parametrize("program", ["groups", "constants", "thrust", "cub", "errors", "modern", "ptx"])
def test_a_program_prints_what_it_prints_on_a_gpu(program):
    ran = run_file(FOLDER / f"{program}.cu")
    assert ran.output == (FOLDER / f"{program}.txt").read_text() and ran.end.status == 0
    for trace in ran.traces:
        assert [f for f in findings_of(trace, requests_of(trace)) if f.severity == "error"] == []


def test_textures_and_surfaces_have_the_values_of_a_gpu():
    ran = run_file(FOLDER / "textures.cu")
    recorded = (FOLDER / "textures.txt").read_text().splitlines()
    printed = ran.output.splitlines()
    assert len(printed) == len(recorded) > 90
    for own, other in zip(printed, recorded, strict=True):
        for value, expected in zip(own.split(), other.split(), strict=True):
            if value != expected:  # filtered shares of integers have 16 bits on the GPU
                assert float(value.rstrip(",")) == pytest.approx(
                    float(expected.rstrip(",")), rel=1e-4, abs=1e-4
                )
    error = ran.traces[-1].error
    assert error is not None and error.type == "SurfaceBounds" and "surf2Dread" in error_line(error.line)


def error_line(line: int) -> str:
    return (FOLDER / "textures.cu").read_text().splitlines()[line - 1]


ENDLESS = """
__global__ void work(int* data) {
    data[threadIdx.x] = threadIdx.x;
    while (threadIdx.x == 5) {
    }
    data[threadIdx.x] += 1;
}
int main() {
    int* data;
    cudaMalloc(&data, 128);
    work<<<1, 32>>>(data);
    cudaDeviceSynchronize();
}
"""


def test_an_endless_launch_shows_what_it_did_so_far(tmp_path):
    ran = run_text(tmp_path, ENDLESS)
    (trace,) = ran.traces
    assert trace.error is not None and (trace.error.type, trace.error.thread) == ("Endless", (5, 0, 0))
    data = next(i for i, buffer in enumerate(trace.buffers) if buffer.name == "data")
    stored = trace.index[(trace.buffer == data) & (trace.op == Op.STORE)]
    assert set(range(5)) <= set(stored.tolist())
    assert [fault.kind for fault in ran.end.faults] == ["endless"] and ran.end.faults[0].line == 4


def test_an_attribute_between_type_and_name_is_not_the_kernel():
    text = "__global__ void __launch_bounds__(128, 4) add(int* a) {}\n"
    text += "template <class T> __global__ void __launch_bounds__(N) scale(T* a) {}"
    assert kernel_names(text) == ["add", "scale"]


def test_the_guards_of_nvidias_headers_are_defined(tmp_path):
    guards = ("__DRIVER_TYPES_H__", "__CUDA_RUNTIME_H__", "CUBLAS_API_H_", "CURAND_H_", "_CUFFT_H_")
    lines = [f"#ifndef {guard}\n#error {guard}\n#endif" for guard in guards]
    lines = ["#include <cublas_v2.h>", "#include <cufft.h>", "#include <curand.h>", *lines, "int main() {}"]
    path = tmp_path / "guards.cu"
    path.write_text("\n".join(lines))
    build(path)


def test_inline_ptx_that_is_missing_is_named_at_its_line(tmp_path):
    code = 'asm("{ .reg .pred p; vote.sync.all.pred p, p, 1; }");'
    text = f"__global__ void work() {{\n    {code}\n}}\nint main() {{ work<<<1, 1>>>(); cudaDeviceSynchronize(); }}\n"
    ran = run_text(tmp_path, text)
    (fault,) = ran.end.faults
    assert fault.kind == "missing" and fault.line == 2 and "vote.sync.all" in fault.text

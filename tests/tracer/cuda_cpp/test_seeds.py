"""The four CUDA C kernels of document 004 run as written, with their host code for PyTorch's tensors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cuda_cpp import needs_compiler, run_text
from programs import run_tilescope
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

SEEDS = Path(__file__).resolve().parents[4] / "shared" / "seeds"
DOCUMENT = next(iter(sorted(SEEDS.glob("004*"))), None)
pytestmark = [
    needs_compiler,
    pytest.mark.skipif(DOCUMENT is None, reason="the source documents are not next to the checkout"),
]
# What the notebook takes from a module that is not in the document, by its description there.
PRELUDE = """#include <torch/extension.h>
#include <stdio.h>
#include <c10/cuda/CUDAException.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }
"""
MAIN = """
int main() {
    auto m = torch::zeros({20, 36}).cuda(), n = torch::zeros({36, 44}).cuda();
    float left[20 * 36], right[36 * 44], product[20 * 44];
    for (int i = 0; i < 20 * 36; i++) left[i] = i % 7;
    for (int i = 0; i < 36 * 44; i++) right[i] = i % 5;
    cudaMemcpy(m.data_ptr<float>(), left, sizeof left, cudaMemcpyHostToDevice);
    cudaMemcpy(n.data_ptr<float>(), right, sizeof right, cudaMemcpyHostToDevice);
    auto out = FUNCTION(m, n);
    cudaMemcpy(product, out.data_ptr<float>(), sizeof product, cudaMemcpyDeviceToHost);
    for (float value : product) printf("%g ", value);
}
"""


def programs() -> list[tuple[str, str]]:
    """List the functions that the host calls, and the text of each with its kernel."""
    if DOCUMENT is None:
        return [("no document", "")]
    text = DOCUMENT.read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    parts = re.split(r"^cuda_src = \(\s*cuda_begin\s*\+ ", text, flags=re.MULTILINE)[1:]
    texts = ["".join(re.findall(r'(?:\A|cuda_src \+= )r"""(.*?)"""', part, re.DOTALL)) for part in parts]
    assert len(texts) == 4
    return [(re.findall(r"torch::Tensor (\w+)\(", text)[-1], text) for text in texts]


@pytest.mark.parametrize(("function", "text"), programs(), ids=[name for name, _ in programs()])
def test_a_kernel_of_the_document_runs_as_written(tmp_path, function, text):
    ran = run_text(tmp_path, PRELUDE + text + MAIN.replace("FUNCTION", function))
    left, right = np.arange(20 * 36) % 7.0, np.arange(36 * 44) % 5.0
    expected = left.reshape(20, 36) @ right.reshape(36, 44)
    assert [float(word) for word in ran.output.split()] == expected.ravel().tolist()
    (trace,) = ran.traces
    errors = [finding for finding in findings_of(trace, requests_of(trace)) if finding.severity == "error"]
    assert errors == [] and len(trace) > 0
    assert {buffer.name for buffer in trace.buffers} >= {"m", "n", "out"}


def test_a_python_program_calls_the_kernels_of_the_document_with_load_inline(tmp_path):
    lines = [
        "import torch",
        "from torch.utils.cpp_extension import load_inline",
        "m, n = torch.rand(20, 36).cuda(), torch.rand(36, 44).cuda()",
    ]
    for function, text in programs():
        declaration = f"torch::Tensor {function}(torch::Tensor m, torch::Tensor n);"
        lines += [
            f"source = {PRELUDE + text!r}",
            f"module = load_inline('own', [{declaration!r}], [source], ['{function}'])",
            f"print(bool(torch.isclose(module.{function}(m, n), m @ n, atol=1e-4).all()))",
        ]
    (tmp_path / "program.py").write_text("\n".join(lines))
    done = run_tilescope("check", "program.py", folder=tmp_path)
    assert done.stderr.splitlines()[:4] == ["True"] * 4 and done.returncode == 0, done.stdout + done.stderr
    assert "4 launches of 4 kernels traced" in done.stderr

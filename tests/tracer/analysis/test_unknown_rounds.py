"""Which kernels' counters need the rounds of their loops, by their text: of a trace that does not record them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.analysis.loop_rounds import are_rounds_unknown
from tilescope.tracer.model.trace import Trace

HELPERS = "__device__ float pick(const float* a, int j, int t) { if ((j + t) % 2) return 0; return a[j]; }\n"
UNKNOWN = [
    "for (int j = 0; j < n; j++) if ((j + t) % 2 == 0) s += a[j * 32 + t];",
    "for (int j = 0; j < n; j++) { if ((j + t) % 2) continue; s += a[j * 32 + t]; }",
    "for (int j = 0; j < n; j++) s += (j + t) % 2 ? a[j] : 0;",
    "int j = 0; while (j < n) { if (j % 3 != t % 3 && a[j] > 0) s += 1; j++; }",
    "int j = 0; do { if (t % (j + 1) == 0) { *out += 1; } j++; } while (j < n);",
    "for (int i = 0; i < n; i++) for (int j = 0; j < t; j++) s += a[j];",
    "for (int j = 0; j < n; j++) s += pick(a, j, t);",
    "for (int j = 0; j < n; j++) if ((j + t) & 1) atomicAdd(&out[j], 1.0f);",
    "for (int j = 0; j < n; j++) switch ((j + t) % 3) { case 0: s += a[j]; break; default: s += 1; }",
]
KNOWN = [
    "for (int j = 0; j < n; j++) s += a[j * 32 + t];",
    "for (int j = t; j < n; j += blockDim.x) s += a[j];",
    "for (int j = 0; j < n; j++) if (j % 2) s += a[j];",
    "for (int j = 0; j < n; j++) if (t < 7) s += a[j];",
    "for (int j = 0; j < n; j++) { if ((j + t) % 2) s += a[j]; __syncthreads(); }",
    "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) s += a[i + j + t];",
    "for (int j = 0; j < n; j++) { if (a[j] > t) break; s += a[j]; }",
    "for (int j = 0; j < n; j++) if ((j + t) % 2) s += j;",
    "if (t % 2) s += a[t]; // for (;;) if (t) a[0] = 1;",
]


@pytest.fixture(scope="module")
def numba_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    source = "@cuda.jit\ndef kernel(a):\n    a[cuda.threadIdx.x] = 1\n"
    folder: Path = tmp_path_factory.mktemp("kernel")
    return trace(folder, source, (Array((32,), "float32"),), block=(32, 1, 1))


@pytest.mark.parametrize(
    ("body", "is_unknown"), [*((body, True) for body in UNKNOWN), *((body, False) for body in KNOWN)]
)
def test_cuda_cpp(body: str, is_unknown: bool, numba_trace: Trace) -> None:
    head = "__global__ void kernel(float* a, float* out, int n) { int t = threadIdx.x; float s = 0;"
    kernel = f"{head} {body} out[t] = s; }}"
    of_text = replace(numba_trace, sources={"kernel.cu": HELPERS + kernel})
    assert are_rounds_unknown(of_text) == is_unknown
    assert not are_rounds_unknown(replace(of_text, kernel="other"))


def test_the_rounds_of_an_explicit_order_and_of_one_lane_are_known(numba_trace: Trace) -> None:
    body = f"int t = threadIdx.x; float s = 0; {UNKNOWN[0]}"
    text = f"__global__ void kernel(float* a, int n) {{ {body} }}"
    of_text = replace(numba_trace, sources={"kernel.cu": text})
    assert are_rounds_unknown(of_text)
    assert not are_rounds_unknown(replace(of_text, schedule="order"))
    assert not are_rounds_unknown(replace(of_text, block_dim=(1, 1, 1)))

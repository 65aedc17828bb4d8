"""Print, as JSON, what a naive product in CUDA C++ costs: seconds from the text to the trace.

python tests/bench/cuda_cpp.py SIZE ORDER [KEPT]

edit: a changed text is compiled, runs, and is traced. traced: an unchanged program runs and is traced. KEPT: the number
of accesses that are kept, by default as many as usual; then numba: the same launch of Numba's kernel, compiled before.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"NUMBA_ENABLE_CUDASIM": "1"}  # as in the worker

from msgspec.structs import replace

from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.cuda_cpp.build import build
from tilescope.tracer.cuda_cpp.session import Session, SessionOptions
from tilescope.tracer.model.launch import Limits, Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace

TEXT = """#include <cstdlib>
__global__ void product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
int main(int argc, char** argv) {
    int n = atoi(argv[1]);
    float *a, *b, *c;
    cudaMalloc(&a, 4 * n * n);
    cudaMalloc(&b, 4 * n * n);
    cudaMalloc(&c, 4 * n * n);
    cudaMemset(a, 0, 4 * n * n);
    cudaMemset(b, 0, 4 * n * n);
    product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
    cudaDeviceSynchronize();
}
"""


def traced(path: Path, text: str, size: str, order: str, limits: Limits) -> Trace:
    """Compile a text if it is new, run it, and return its trace."""
    built = build(path, text=text)
    traces: list[Trace] = []
    session = Session(
        SessionOptions(Schedule(order), limits=limits),
        lambda trace, seconds: traces.append(trace),
        lambda program: (built.sources.texts, built.compiler.version),
    )
    try:
        session.run([str(built.path), size])
    finally:
        session.close()
    return traces[0]


def twin_seconds(size: int, order: str, limits: Limits) -> float:
    """Measure the seconds of the same launch of Numba's kernel, after one that loads what it needs."""
    from tilescope.tracer.compiled.driver.engine import run_compiled

    taken = 0.0
    for edge in (16, size):
        launch = launch_of(
            find("matmul-naive-col-on-x"), {"m": edge, "k": edge, "n": edge}, schedule=Schedule(order)
        )
        begin = time.perf_counter()
        run_compiled(replace(launch, limits=limits), lambda done, total: None, turns=order != "sequential")
        taken = time.perf_counter() - begin
    return taken


def main(size: str, order: str, kept: str = "") -> None:
    """Measure and print."""
    limits = Limits(int(kept)) if kept else Limits()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "product.cu")
        path.write_text(TEXT, encoding="utf-8")
        traced(path, TEXT, "16", order, limits)  # compiles the runtime and fills the caches
        seconds = []
        for text in (TEXT.replace("sum = 0;", f"sum = 0;  // {time.time()}"), TEXT):
            begin = time.perf_counter()
            trace = traced(path, text, size, order, limits)
            seconds.append(time.perf_counter() - begin)
    figures = {"numba": twin_seconds(int(size), order, limits)} if kept else {}
    figures |= {
        "edit": seconds[0],
        "traced": seconds[1],
        "accesses": trace.accesses,
        "ns": 1e9 * seconds[1] / trace.accesses,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])

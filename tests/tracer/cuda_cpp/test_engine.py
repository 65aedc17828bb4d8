"""Programs in CUDA C++ from the text to the trace: accesses, counters, orders, memory, and what ends a launch."""

from __future__ import annotations

import numpy as np
import pytest

from cuda_cpp import needs_compiler, run_text
from launching import Array, launch
from tilescope.tracer.analysis.counters import counters_of, totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.trace import Op
from tilescope.tracer.run.engine import run
from tilescope.tracer.storage.trace_file import load, save

pytestmark = needs_compiler

MATMUL = """
#include <cstdio>
#include <vector>
#define TILE 8
__global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0;
    for (int t = 0; t < n / TILE; t++) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            acc += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + col] = acc;
}
int main() {
    const int n = 16;
    std::vector<float> a(n * n), b(n * n), out(n * n);
    for (int i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5;
    float *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, n * n * 4);
    cudaMalloc(&d_b, n * n * 4);
    cudaMalloc(&d_c, n * n * 4);
    cudaMemcpy(d_a, a.data(), n * n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.data(), n * n * 4, cudaMemcpyHostToDevice);
    tiled<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(d_a, d_b, d_c, n);
    cudaMemcpy(out.data(), d_c, n * n * 4, cudaMemcpyDeviceToHost);
    for (float v : out) printf("%g ", v);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
}
"""
# The same kernel for Numba.
TWIN = """
@cuda.jit
def kernel(a, b, c):
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 8 + y, cuda.blockIdx.x * 8 + x
    acc = float32(0)
    for t in range(2):
        tile_a[y, x] = a[row, t * 8 + x]
        tile_b[y, x] = b[t * 8 + y, col]
        cuda.syncthreads()
        for k in range(8):
            acc += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, col] = acc
"""
ORDERS = (Schedule("lockstep"), Schedule("sequential"), Schedule("random", 3))


def _ignore(done: int, total: int) -> None:
    pass


@pytest.mark.parametrize("schedule", ORDERS, ids=lambda schedule: schedule.kind)
def test_a_matrix_product_has_the_result_of_numpy_and_the_counters_of_its_twin(tmp_path, schedule):
    ran = run_text(tmp_path, MATMUL, schedule=schedule)
    i = np.arange(256)
    expected = (i % 7).reshape(16, 16).astype(float) @ (i % 5).reshape(16, 16)
    assert ran.output.split() == [f"{value:g}" for value in expected.ravel()]
    (trace,) = ran.traces
    square = [Array((16, 16), "float32", "ones") for _ in range(3)]
    twin = run(
        launch(tmp_path, TWIN, tuple(square), grid=(2, 2, 1), block=(8, 8, 1), engine="compiled"), _ignore
    )
    assert totals_of(trace, requests_of(trace)) == totals_of(twin, requests_of(twin))
    assert len(trace) == len(twin) and trace.grid == twin.grid and trace.block_dim == twin.block_dim
    assert findings_of(trace, requests_of(trace)) == [] and ran.end.faults == ()
    names = {(buffer.name, buffer.space, buffer.dtype, buffer.shape) for buffer in trace.buffers}
    assert names >= {("tile_a", "shared", "<f4", (8, 8)), ("a", "global", "<f4", (256,))}


def test_each_load_reads_what_was_stored_last(tmp_path):
    (trace,) = run_text(tmp_path, MATMUL).traces
    latest = {}
    for block, buffer, index, op, value in zip(
        trace.block.tolist(),
        trace.buffer.tolist(),
        trace.index.tolist(),
        trace.op.tolist(),
        trace.value.tolist(),
        strict=True,
    ):
        place = block if trace.buffers[buffer].space == "shared" else -1, buffer, index
        if op == Op.STORE:
            latest[place] = value
        elif place in latest:
            assert latest[place] == value
        else:
            assert trace.initial[buffer][index] == value


def test_a_trace_survives_its_file(tmp_path):
    (trace,) = run_text(tmp_path, MATMUL).traces
    save(trace, tmp_path / "trace.npz")
    again = load(tmp_path / "trace.npz")
    assert totals_of(again, requests_of(again)) == totals_of(trace, requests_of(trace))
    assert again.sources == {str(tmp_path / "program.cu"): MATMUL}


KINDS = """
#include <cstdio>
struct Body { float3 position; int mass; };
struct View { float* data; int length; };
__constant__ float weights[4];
__device__ int counter;
__global__ void kinds(Body* bodies, View view, double* wide, const unsigned char* bytes) {
    int i = threadIdx.x;
    bodies[i].mass = bytes[i];
    view.data[i] = weights[i % 4] + bodies[i].position.y;
    wide[i] = 2.0;
    atomicAdd(&counter, 1);
    int old = atomicExch(&bodies[0].mass, 3);
    if (old < 0) view.data[0] = old;
}
__global__ void vectors(float4* out, const float4* in) {
    out[threadIdx.x] = in[threadIdx.x];
}
int main() {
    Body* bodies;
    View view{nullptr, 32};
    double* wide;
    unsigned char* bytes;
    float4 *in, *out;
    cudaMalloc(&bodies, 32 * sizeof(Body));
    cudaMemset(bodies, 0, 32 * sizeof(Body));
    cudaMalloc(&view.data, 128);
    cudaMalloc(&wide, 256);
    cudaMalloc(&bytes, 32);
    cudaMemset(bytes, 1, 32);
    cudaMalloc(&in, 512);
    cudaMemset(in, 0, 512);
    cudaMalloc(&out, 512);
    float host[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(weights, host, sizeof host);
    int zero = 0;
    cudaMemcpyToSymbol(counter, &zero, 4);
    kinds<<<1, 32>>>(bodies, view, wide, bytes);
    vectors<<<1, 32>>>(out, in);
    int count;
    cudaMemcpyFromSymbol(&count, counter, 4);
    printf("%d %s", count, cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


def test_structures_variables_and_vectors_have_their_own_buffers(tmp_path):
    ran = run_text(tmp_path, KINDS)
    assert ran.output == "32 no error"
    kinds, vectors = ran.traces
    buffers = {buffer.name: buffer for buffer in kinds.buffers}
    assert buffers["bodies.mass"].unit == 16 and buffers["bodies.position.y"].dtype == "<f4"
    assert (
        buffers["view.data"].shape == (32,)
        and buffers["wide"].dtype == "<f8"
        and buffers["bytes"].dtype == "|u1"
    )
    assert buffers["weights"].space == "constant" and buffers["counter"].space == "global"
    operations = {
        (kinds.buffers[b].name, Op(o)) for b, o in zip(kinds.buffer.tolist(), kinds.op.tolist(), strict=True)
    }
    assert {("counter", Op.REDUCTION), ("bodies.mass", Op.ATOMIC)} <= operations
    (vector,) = {buffer.itemsize for buffer in vectors.buffers}
    counters = totals_of(vectors, requests_of(vectors))
    assert vector == 16 and counters["global_load_requests"] == 1 and counters["global_load_sectors"] == 16


BLOCKS = """
__global__ void fill(int* out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x];
}
int main() {
    int* out;
    cudaMalloc(&out, 64 * 32 * 4);
    fill<<<64, 32>>>(out);
}
"""


@pytest.mark.parametrize("resident", [1, 3, None])
@pytest.mark.parametrize("schedule", ORDERS, ids=lambda schedule: schedule.kind)
def test_each_block_has_its_own_shared_memory(tmp_path, schedule, resident):
    (trace,) = run_text(tmp_path, BLOCKS, schedule=schedule, resident=resident).traces
    out = np.flatnonzero([buffer.name == "out" for buffer in trace.buffers])[0]
    stores = trace.buffer == out
    block, thread = trace.block[stores].astype(int), trace.thread[stores].astype(int)
    assert trace.value[stores].tolist() == (block * 100 + 31 - thread).tolist()


LARGE = """
__global__ void add(float* a, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) a[(i + k) % (gridDim.x * blockDim.x)] += 1;
}
int main() {
    float* a;
    cudaMalloc(&a, 512 * 256 * 4);
    cudaMemset(a, 0, 512 * 256 * 4);
    add<<<512, 256>>>(a, 60);
    cudaFree(a);
}
"""


def test_a_launch_with_too_many_accesses_is_counted_completely(tmp_path):
    (trace,) = run_text(tmp_path, LARGE).traces
    assert 0 < len(trace) <= 12_000_000 < trace.accesses == 2 * 60 * 512 * 256
    totals = counters_of(trace, requests_of(trace)).total
    assert totals["global_load_requests"] == totals["global_store_requests"] == 60 * 512 * 8
    assert totals["global_load_bytes"] == 60 * 512 * 256 * 4
    assert 0 < len(trace.recorded) < len(trace.blocks) == 512
    assert "accesses are kept" in trace.notice


FAULTS = {
    "IllegalAddress": "p[1 << 28] = 1;",
    "HostMemory": "*host = 1;",
    "MisalignedAddress": "*(double*)(p + 1) = 1;",
    "Assertion": "assert(threadIdx.x > 40);",
    "Trap": "__trap();",
}


@pytest.mark.parametrize("kind", list(FAULTS))
def test_what_stops_a_kernel_is_an_error_at_its_line_and_the_program_goes_on(tmp_path, kind):
    text = (
        "#include <cstdio>\n#include <cassert>\n__global__ void stop(float* p, float* host) {\n"
        f"    {FAULTS[kind]}\n}}\n"
        "int main() {\n    float *p, number = 0;\n    cudaMalloc(&p, 64);\n    stop<<<2, 32>>>(p, &number);\n"
        '    printf("%d after", (int)cudaDeviceSynchronize());\n}\n'
    )
    ran = run_text(tmp_path, text)
    (trace,) = ran.traces
    assert trace.error is not None and trace.error.type == kind
    assert trace.error.line == 4
    number = {"MisalignedAddress": 716, "Assertion": 710, "Trap": 719}.get(kind, 700)
    assert ran.output.endswith(f"{number} after")
    errors = [finding for finding in findings_of(trace, requests_of(trace)) if finding.severity == "error"]
    assert any("the kernel is stopped on line" in finding.statement for finding in errors)


def test_a_copy_of_a_misaligned_vector_is_the_error_of_later_calls(tmp_path):
    text = (
        "#include <cstdio>\n__global__ void copy(const float* in, float* out) {\n"
        "    auto* to = reinterpret_cast<float4*>(out);\n"
        "    to[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1);\n"
        "}\nint main() {\n    float *in, *out, number;\n    cudaMalloc(&in, 2048);\n    cudaMalloc(&out, 512);\n"
        "    cudaMemset(in, 0, 2048);\n    copy<<<1, 32>>>(in, out);\n"
        '    printf("%d", (int)cudaDeviceSynchronize());\n    copy<<<1, 32>>>(in, out);\n'
        '    printf(" %d", (int)cudaMemcpy(&number, out, 4, cudaMemcpyDeviceToHost));\n}\n'
    )
    ran = run_text(tmp_path, text)
    (trace,) = ran.traces
    assert trace.error is not None and (trace.error.type, trace.error.line) == ("MisalignedAddress", 4)
    assert ran.output.endswith("716 716")


def test_an_address_from_outside_an_array_is_not_blamed_on_the_host(tmp_path):
    text = """#include <vector>
__global__ void gather(const int* index, const float* x, float* y) {
    y[threadIdx.x] = x[index[threadIdx.x + 1] + (threadIdx.x == 31) * (1LL << 28)];
}
int main() {
    int* index; float *x, *y; std::vector<int> zeros(32, 0);
    cudaMalloc(&index, 128), cudaMalloc(&x, 128), cudaMalloc(&y, 128);
    cudaMemcpy(index, zeros.data(), 128, cudaMemcpyHostToDevice), cudaMemset(x, 0, 128);
    gather<<<1, 32>>>(index, x, y);
    cudaFree(index), cudaFree(x), cudaFree(y);
}
"""
    (trace,) = run_text(tmp_path, text).traces
    assert trace.error is not None and trace.error.line == 3
    findings = findings_of(trace, requests_of(trace))
    (stopped,) = [finding for finding in findings if "the kernel is stopped" in finding.statement]
    assert stopped.remedy == "correct that access first, as this address may come from it"
    assert "host" not in stopped.statement


def test_an_index_outside_a_declared_dimension_is_outside_the_array(tmp_path):
    text = """
__global__ void edge(float* out) {
    __shared__ float tile[4][8];
    tile[threadIdx.x / 8][threadIdx.x % 8] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x / 8][threadIdx.x % 8 + 1];
}
int main() {
    float* out;
    cudaMalloc(&out, 128);
    edge<<<1, 32>>>(out);
    cudaFree(out);
}
"""
    ran = run_text(tmp_path, text)
    (trace,) = ran.traces
    assert len(trace.outside.thread) == 4 and set(trace.outside.thread.tolist()) == {7, 15, 23, 31}
    (error,) = [finding for finding in findings_of(trace, requests_of(trace)) if finding.severity == "error"]
    assert error.kind == "bounds" and "tile" in error.statement and "line 6" in error.statement


def test_a_warp_prints_its_lines_together(tmp_path):
    text = (
        '#include <cstdio>\n__global__ void kernel() { printf("first %d\\n", threadIdx.x); printf("second\\n"); }\n'
        "int main() { kernel<<<1, 2>>>(); return cudaDeviceSynchronize(); }\n"
    )
    assert run_text(tmp_path, text).output.splitlines() == ["first 0", "first 1", "second", "second"]

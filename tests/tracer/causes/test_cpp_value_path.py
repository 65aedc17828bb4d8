"""The path of a value in CUDA C++ equals a brute-force data flow."""

from __future__ import annotations

import numpy as np
import pytest

from cuda_cpp import has_compiler, run_text
from random_cpp_flows import random_kernels
from random_flows import Oracle, brute_force_path
from tilescope.tracer.causes.value_path import Causes
from tilescope.tracer.causes.variables import variables_of, watch
from tilescope.tracer.cuda_cpp.compilers import find_compiler
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.trace import Op, Trace

pytestmark = pytest.mark.skipif(
    not has_compiler() or find_compiler().kind == "gcc", reason="g++ records other places of accesses"
)
SCHEDULES = (Schedule(), Schedule("sequential"), Schedule("random", 3))


@pytest.mark.parametrize("seed", range(30))
def test_path_equals_a_brute_force_data_flow(tmp_path, seed):
    python, cpp = random_kernels(seed)
    print(cpp)
    launched = run_text(tmp_path, cpp, schedule=SCHEDULES[seed % 3]).traces[0]
    oracle, causes = Oracle(launched, python), Causes(launched)
    assert launched.value is not None
    writes = np.flatnonzero(launched.op != Op.LOAD)
    assert {int(row) for row in writes} == oracle.flows.keys()
    for row in writes.tolist():
        feeds = causes.flows.feeds(row)
        assert not feeds.reason
        assert launched.value[row] == oracle.values[row]
        assert frozenset(feeds.reads) == oracle.flows[row]
        assert frozenset(feeds.index_reads) == oracle.indices[row]
    for row in writes[-1 :: -max(1, len(writes) // 12)].tolist():
        path = causes.path(causes.element_of(row), before=row + 1)
        assert path.is_exact and path.last == row
        assert (set(path.writes), set(path.readings)) == brute_force_path(oracle, row)


CONSTRUCTS = """
#define WIDTH 2
#define AT(m, r, c) m[(r) * WIDTH + (c)]
struct Point { float x, y; };
__constant__ float factors[2] = {2.0f, 3.0f};
__device__ int total;
__device__ void take(const float *from, int i, float &into) { into = from[i]; }
template <typename T> __device__ T twice(T value) { return value + value; }

template <int N> __global__ void kernel(float *in, float *out, int *count, Point *points, float4 *wide) {
    const int i = threadIdx.x;
    __shared__ float tile[N][WIDTH + 1];
    __shared__ float one;
    float kept[N];
    #pragma unroll
    for (int k = 0; k < N; ++k)
        kept[k] = in[i + k];
    out[i] = kept[1];
    float *row = in + 4;
    out[4 + i] = *(row + i) + row[1];
    tile[i][0] = AT(in, i, 1);
    if (i == 0) one = in[7];
    __syncthreads();
    float taken;
    take(in, 3, taken);
    out[8 + i] = tile[i][0] * one + taken;
    points[i].y = points[i].x;
    Point *p = &points[1 - i];
    out[12 + i] = p->x;
    float4 four = wide[i];
    four.y = in[5];
    out[16 + i] = four.y + factors[i];
    count[i]++;
    int old = atomicAdd(&count[2], count[i]);
    out[20 + i] = (float)old;
    float v = twice(in[6 + i]);
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    out[24 + i] = i < 1 ? v : in[0];
    int j = 0;
    do { j++; } while (j < 3);
    out[28 + i] = in[j] + static_cast<float>(i);
    if (atomicAdd(&total, 1) >= 0) out[30 + i] = in[1];
}

int main() {
    float *in, *out; int *count; Point *points; float4 *wide;
    cudaMallocManaged(&in, 32); cudaMallocManaged(&out, 128); cudaMallocManaged(&count, 12);
    cudaMallocManaged(&points, 16); cudaMallocManaged(&wide, 32);
    for (int i = 0; i < 8; i++) in[i] = i;
    count[0] = count[1] = count[2] = 0;
    for (int i = 0; i < 2; i++) { points[i] = {1, 2}; wide[i] = make_float4(1, 2, 3, 4); }
    kernel<2><<<1, 2>>>(in, out, count, points, wide);
    cudaDeviceSynchronize();
}
"""
FED = {  # by element of out, the elements that fed it through registers
    0: {("in", 1)},
    1: {("in", 2)},
    4: {("in", 4), ("in", 5)},
    5: {("in", 5)},
    8: {("tile", 0), ("one", 0), ("in", 3)},
    12: {("points.x", 1)},
    13: {("points.x", 0)},
    16: {("in", 5), ("factors", 0)},
    20: {("count", 2)},
    24: {("in", 6), ("in", 7)},
    25: {("in", 0)},
    29: {("in", 3)},
    30: {("in", 1)},
}


def elements(launched: Trace, rows: tuple[int, ...]) -> set[tuple[str, int]]:
    return {(launched.buffers[int(launched.buffer[row])].name, int(launched.index[row])) for row in rows}


def test_constructs_of_cpp_are_followed(tmp_path):
    launched = run_text(tmp_path, CONSTRUCTS).traces[0]
    causes = Causes(launched)
    out = next(number for number, buffer in enumerate(launched.buffers) if buffer.name == "out")
    fed = {}
    for row in np.flatnonzero((launched.op == Op.STORE) & (launched.buffer == out)).tolist():
        feeds = causes.flows.feeds(row)
        assert not feeds.reason
        fed[int(launched.index[row])] = elements(launched, feeds.reads)
    assert {index: fed[index] for index in FED} == FED


def test_variables_and_watched_expressions_of_cpp(tmp_path):
    launched = run_text(tmp_path, CONSTRUCTS).traces[0]
    flows = Causes(launched).flows
    values = dict(variables_of(flows, 0, 1, 10_000).values)
    assert values["i"] == 1 and values["j"] == 3
    watched = watch(flows, launched, 0, "i * 2 + j")
    assert [watched.value(thread, len(watched.series[thread]) - 1) for thread in (0, 1)] == [3, 5]


def test_a_statement_that_is_not_followed_is_named(tmp_path):
    switch = CONSTRUCTS.replace("out[i] = kept[1];", "switch (i) { case 0: out[i] = kept[1]; }")
    launched = run_text(tmp_path, switch).traces[0]
    causes = Causes(launched)
    feeds = causes.flows.feeds(int(np.flatnonzero(launched.op == Op.STORE)[-1]))
    assert "holds a statement that is not replayed" in feeds.reason
    assert feeds.reads  # those that may have fed it

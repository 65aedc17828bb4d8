"""Launches and copies of CUDA C++ in streams that use the same memory: faults where nothing orders them."""

from cuda_cpp import needs_compiler, run_text

pytestmark = needs_compiler

PROGRAM = """#include <cuda_runtime.h>
__global__ void twice(float* x, int n) {{ if (threadIdx.x < n) x[threadIdx.x] *= 2; }}
int main() {{
    float *x, *pinned, pageable[64] = {{}};
    cudaStream_t s, t, u;
    cudaEvent_t e, f;
    cudaMalloc(&x, 256), cudaMallocHost(&pinned, 256), cudaMemset(x, 0, 256);
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaStreamCreate(&u), cudaEventCreate(&e), cudaEventCreate(&f);
    {}
    cudaDeviceSynchronize();
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaStreamDestroy(u), cudaEventDestroy(e), cudaEventDestroy(f);
    cudaFree(x), cudaFreeHost(pinned);
}}
"""
IN_S, IN_T = "twice<<<1, 64, 0, s>>>(x, 64);", "twice<<<1, 64, 0, t>>>(x, 64);"
UNORDERED = {
    "two launches": IN_S + IN_T,
    "copy and launch": "cudaMemcpyAsync(x, pinned, 256, cudaMemcpyHostToDevice, s);" + IN_T,
    "launch and copy": IN_S + "cudaMemcpyAsync(pinned, x, 256, cudaMemcpyDeviceToHost, t);",
    "memset and launch": "cudaMemsetAsync(x, 0, 256, s);" + IN_T,
    "event before the launch": f"cudaEventRecord(e, s); {IN_S} cudaStreamWaitEvent(t, e); {IN_T}",
    "waiting stream": f"{IN_S} cudaEventRecord(e, s); cudaStreamWaitEvent(u, e); {IN_T}",
    "other stream": f"{IN_S} cudaStreamSynchronize(t); {IN_T}",
}
ORDERED = {
    "one stream": IN_S + IN_S,
    "default stream between": f"{IN_S} twice<<<1, 32>>>(x, 32); {IN_T}",
    "event": f"{IN_S} cudaEventRecord(e, s); cudaStreamWaitEvent(t, e); {IN_T}",
    "two events": (
        f"{IN_S} cudaEventRecord(e, s); cudaStreamWaitEvent(u, e); cudaEventRecord(f, u); cudaStreamWaitEvent(t, f);"
        f" {IN_T}"
    ),
    "host waits for the event": f"{IN_S} cudaEventRecord(e, s); cudaEventSynchronize(e); {IN_T}",
    "host waits for the stream": f"{IN_S} cudaStreamSynchronize(s); {IN_T}",
    "host waits for all": f"{IN_S} cudaDeviceSynchronize(); {IN_T}",
    "host copies": f"{IN_S} cudaMemcpy(pageable, x, 256, cudaMemcpyDeviceToHost); {IN_T}",
    "pageable memory": f"cudaMemcpyAsync(x, pageable, 256, cudaMemcpyHostToDevice, s); {IN_T}",
    "halves": "twice<<<1, 32, 0, s>>>(x, 32); twice<<<1, 32, 0, t>>>(x + 32, 32);",
}


def test_work_in_two_streams_is_a_fault_if_nothing_orders_it(tmp_path):
    cases = " cudaDeviceSynchronize();\n    ".join([*UNORDERED.values(), *ORDERED.values()])
    text = PROGRAM.format(cases)
    faults = run_text(tmp_path, text).end.faults
    first = next(number for number, line in enumerate(text.splitlines(), 1) if IN_S + IN_T in line)
    names = [list(UNORDERED)[fault.line - first] for fault in faults]
    assert names == list(UNORDERED)
    assert all(fault.kind == "streams" for fault in faults)
    assert all("64 elements of x that" in fault.text and "nothing orders" in fault.text for fault in faults)

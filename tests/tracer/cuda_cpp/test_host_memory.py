"""What host code may not do with a GPU's memory: access device memory, or shared memory that a kernel may still use."""

from __future__ import annotations

import signal

import pytest

from cuda_cpp import needs_compiler, run_text

pytestmark = needs_compiler
PROGRAM = """
#include <cstdio>
#include <cstring>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/execution_policy.h>
__global__ void fill(int* a, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}}
__global__ void add(const int* a, int* sum) {{ atomicAdd(sum, a[threadIdx.x]); }}
int main() {{
  int *device, *managed, *pinned, host[64] = {{}}, sum = 0;
  cudaMalloc(&device, 64 * sizeof(int));
  cudaMallocManaged(&managed, 64 * sizeof(int));
  cudaMallocHost(&pinned, 64 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t event;
  cudaEventCreate(&event);
{body}
  printf("%d\\n", sum);
  cudaFree(device);
}}
"""
DEVICE = "device memory, which only kernels can access"
WRONG = {
    "reads-device": ("fill<<<1, 64>>>(device, 64);\ncudaDeviceSynchronize();\nsum = device[3];", 3, f"reads {DEVICE}"),
    "writes-device": ("for (int i = 0; i < 64; i++)\ndevice[i] = i;", 2, f"writes {DEVICE}"),
    "copies-device": ("fill<<<1, 64>>>(device, 64);\nmemcpy(host, device, sizeof host);", 2, f"reads {DEVICE}"),
    "clears-device": ("memset(device, 0, 64 * sizeof(int));", 1, f"writes {DEVICE}"),
    "reads-early": ("fill<<<1, 64>>>(managed, 64);\nsum = managed[5];", 2, "reads managed memory that fill may"),
    "writes-early": (
        "for (int i = 0; i < 64; i++) managed[i] = i;\ncudaMemset(device, 0, 4);\nadd<<<1, 64>>>(managed, device);\n"
        "managed[0] = 1;",
        4, "writes managed memory that add may",
    ),
    "copies-early": (
        "fill<<<1, 64>>>(device, 64);\n"
        "cudaMemcpyAsync(pinned, device, 256, cudaMemcpyDeviceToHost, stream);\nsum = pinned[1];",
        3, "reads pinned memory that cudaMemcpyAsync may",
    ),
    "overwrites-early": (
        "cudaMemcpyAsync(device, pinned, 256, cudaMemcpyHostToDevice, stream);\npinned[1] = 2;",
        2, "writes pinned memory that cudaMemcpyAsync may",
    ),
}  # fmt: skip
RIGHT = {
    "device-synchronize": "fill<<<1, 64>>>(managed, 64); cudaDeviceSynchronize(); sum = managed[5];",
    "stream-synchronize": "fill<<<1, 64, 0, stream>>>(managed, 64); cudaStreamSynchronize(stream); sum = managed[5];",
    "event-synchronize": (
        "fill<<<1, 64>>>(managed, 64); cudaEventRecord(event); cudaEventSynchronize(event); sum = managed[5];"
    ),
    "copy-waits": "fill<<<1, 64>>>(managed, 64); cudaMemcpy(host, managed, 256, cudaMemcpyDefault); sum = managed[5];",
    "other-elements": "fill<<<1, 32>>>(managed, 32); managed[40] = 5; sum = managed[40];",
    "kernel-reads-too": (
        "for (int i = 0; i < 64; i++) managed[i] = i; cudaMemset(device, 0, 4); add<<<1, 64>>>(managed, device);"
        " sum = managed[5];"
    ),
    "pageable-copy": (
        "fill<<<1, 64>>>(device, 64); cudaMemcpyAsync(host, device, 256, cudaMemcpyDeviceToHost); sum = host[5];"
    ),
    "pinned-after-wait": (
        "fill<<<1, 64>>>(device, 64); cudaMemcpyAsync(pinned, device, 256, cudaMemcpyDeviceToHost, stream);"
        " cudaStreamSynchronize(stream); sum = pinned[5];"
    ),
    "thrust-vector": "thrust::device_vector<int> v(64); v[5] = 5; sum = v[5];",
    "thrust-pointer": "fill<<<1, 64>>>(device, 64); thrust::device_ptr<int> p(device); sum = p[5];",
    "thrust-algorithm": (
        "fill<<<1, 64>>>(managed, 64); sum = thrust::reduce(thrust::device, managed, managed + 64) - 2016;"
        " sum += managed[5];"
    ),
    "thrust-raw": (
        "fill<<<1, 64>>>(device, 64);"
        " sum = thrust::reduce(thrust::device, device, device + 64, 0, [] __host__ __device__ (int a, int b)"
        " { return a + b; }) - 2011;"
    ),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_wrong_access_is_reported_at_its_line(name, tmp_path):
    body, line, text = WRONG[name]
    ran = run_text(tmp_path, PROGRAM.format(body=body))
    first_line = PROGRAM.splitlines().index("{body}") + 1
    assert [(fault.line - first_line + 1, text in fault.text) for fault in ran.end.faults[:1]] == [
        (line, True)
    ]
    assert ran.end.status == (-signal.SIGSEGV if DEVICE in text else 0)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_correct_access_is_not_reported(name, tmp_path):
    ran = run_text(tmp_path, PROGRAM.format(body=RIGHT[name]))
    assert (ran.output.split(), ran.end.faults, ran.end.status) == (["5"], (), 0)

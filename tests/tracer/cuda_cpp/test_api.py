"""The libraries of CUDA C++ programs: their output, compared with values computed with NumPy or on paper."""

from __future__ import annotations

import shutil
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from cuda_cpp import Ran, needs_compiler, run_file, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.cuda_cpp.build import BuildError, build
from tilescope.tracer.cuda_cpp.compilers import VARIABLE
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.trace import Op

PROGRAMS = Path(__file__).parent / "programs"
LOCKSTEP = Schedule("lockstep")


@pytest.fixture(params=["clang++", "g++"])
def compiler(request, monkeypatch) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


def _run(folder: Path, name: str, schedule: Schedule = LOCKSTEP) -> Ran:
    """Run a copy of a program."""
    path = folder / f"{name}.cu"
    shutil.copyfile(PROGRAMS / path.name, path)
    return run_file(path, schedule=schedule)


def _half(value: float) -> str:
    return f"{np.float16(value).view(np.uint16):04x}"


def _bfloat16(value: float) -> int:
    """Round to the nearest bfloat16, and to the even one of two."""
    bits = int(np.float32(value).view(np.uint32))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def test_cooperative_groups(tmp_path, compiler):
    ran = _run(tmp_path, "groups")
    values = np.arange(256)
    blocks = values.reshape(4, 64).sum(1)
    votes = [0] * 4
    for tile in range(4):
        lanes = np.arange(tile * 16, tile * 16 + 16)
        votes[tile] = sum(1 << rank for rank, value in enumerate(lanes) if value > 40)
        votes[tile] += (1 << 20) * bool((lanes > 62).any()) + (1 << 24) * bool((lanes < 32).all())
    # Each thread's sum of its warp, the 7 of every lane, and the number of its neighbour.
    warps = [int(values[t // 32 * 32 : t // 32 * 32 + 32].sum()) + 7 + (t % 32 ^ 1) for t in (0, 33, 63)]
    assert ran.output.splitlines() == [
        "blocks {} {} {} {}".format(*blocks),
        *(f"tile {values[16 * i : 16 * i + 16].sum()} {16 * i + 15} {votes[i]:x}" for i in range(4)),
        "warps {} {} {}".format(*warps),
        f"odd 32 {values[1:64:2].sum()}",
        "copied 63 0 127",
        f"grid {values.sum()} no error",
        f"configured {2 * blocks[3]} launched {2 * 127}",
    ]
    assert [trace.kernel for trace in ran.traces] == [
        "block_sums", "tiles", "keep_odd", "copies", "grid_sums", "block_sums", "copies",
    ]  # fmt: skip


def test_graphs(tmp_path, compiler):
    ran = _run(tmp_path, "graphs")
    assert ran.output.splitlines() == ["3 nodes 42 42", "host 7", "87 no error"] and not ran.end.faults
    assert [trace.kernel for trace in ran.traces] == ["add", "twice"] * 4


def test_special_registers(tmp_path, compiler):
    ran = _run(tmp_path, "registers")
    assert ran.output.splitlines() == ["5 5"] and not ran.end.faults


def test_parameters_that_are_references(tmp_path, compiler):
    ran = _run(tmp_path, "references")
    assert ran.output.splitlines() == ["20 20"] and not ran.end.faults
    assert {buffer.name.partition(".")[0] for buffer in ran.traces[0].buffers} >= {"element", "step"}


def test_half_precision(tmp_path, compiler):
    values = [np.float32(v) for v in (0.1, 65504, 65519.99, 65520, 1e-8, 3e-8, 6.1e-5, -2049, 2051, 1 / 3)]
    with np.errstate(over="ignore"):
        bits = [f"{_half(v)} {_bfloat16(v):04x}" for v in values]
    # 0.1 lies between the halves 0x2e66 (0.0999756) and 0x2e67.
    rounded = "2e66 2e67 2e66"
    x = (np.arange(64, dtype=np.float32) / np.float32(7)).astype(np.float16).astype(float)
    a = float(np.float16(np.float32(0.3)))
    y = (a * x + np.arange(64)).astype(np.float16)
    picked = [f"{y[i].view(np.uint16):04x}" for i in (1, 10, 63)]
    squares = (x * x).astype(np.float16) + y
    picked += [f"{np.float32(squares[i]):g}" for i in (1, 10, 63)]
    h = x.astype(np.float16) + np.float16(1)
    z = x.astype(np.float16) + ((h * h) / np.float16(3))
    z = np.where(z > 100, -h, z)
    roots = np.sqrt(np.abs(z.astype(float))).astype(np.float16)
    picked += [f"{np.float32(roots[i]):g}" for i in (1, 10, 63)]
    shorts = np.array([_bfloat16(np.float32(i) * np.float32(0.37)) for i in range(100)], np.uint32)
    picked.append(f"{(shorts << 16).view(np.float32).sum(dtype=float):g}")
    assert _run(tmp_path, "halves").output.splitlines() == [*bits, rounded, " ".join(picked)]


def test_thrust(tmp_path, compiler):
    values = [i * 37 % 11 for i in range(8)]
    x = np.arange(1, 5)
    y = 2 * x + 1
    z = 3 * x - y
    keys = [3, 1, 2, 1, 3]
    order = sorted(range(5), key=lambda i: keys[i])
    groups = [sum(i for i in order if keys[i] == key) for key in (1, 2, 3)]

    def line(name: str, numbers: object) -> str:
        return f"{name} {' '.join(map(str, np.asarray(numbers).tolist()))}"

    assert _run(tmp_path, "vectors").output.splitlines() == [
        line("in", values),
        line("sorted", sorted(values)),
        line("descending", sorted(values, reverse=True)),
        f"sum {2 * sum(values)} most {2 * max(values)} at 7",
        line("saxpy", y),
        line("placeholders", z),
        f"norm {x @ x} dot {x @ z}",
        line("keys", sorted(keys)),
        line("values", order),
        "groups 3: {} {} {}".format(*groups),
        line("inclusive", list(accumulate(order))),
        line("exclusive", list(accumulate([10, *order]))[:-1]),
        "even 0 2 4 6 8",
        f"count {sum(value % 2 == 0 for value in values)}",
        line("zipped", x * z - 1),
        "squares 55 constant 12",
        "14,14,18,14,14, unique 1 2 5",
        "each 2 3 6",
        "bound 1",
        "rolls 100",
    ]


def test_cub(tmp_path, compiler):
    values = np.arange(256) * 37 % 101
    before = np.concatenate([[0], values.cumsum()])
    keys = np.sort(values)
    assert _run(tmp_path, "collectives").output.splitlines() == [
        f"blocks {values[:96].sum()} {values[96:192].sum()} {values[:96].max()} {values[96:192].max()}",
        f"scan {before[0]} {before[1]} {before[127]} {before[128]}",
        "warps {0} {1} {0} {1}".format(values[:32].sum(), values[32:64].sum()),
        f"device {values.sum()} {values.max()}",
        f"inclusive {before[2]} {values.sum()}",
        f"keys {keys[0]} {keys[100]} {keys[255]}",
        "sorted {0[0]} {0[32]} {0[63]}".format(np.sort(values[:64])),
    ]


def test_curand_and_cublas(tmp_path, compiler):
    a, b = np.array([1, 2, 3, 4, 5, 6]), np.array([1, 0, 2, 1, 1, 3])
    product = 2 * a.reshape(3, 2).T @ b.reshape(2, 3).T
    transposed = 2 * a.reshape(2, 3) @ b.reshape(2, 3).T
    vector = 2 * a.reshape(3, 2).T @ b[:3]
    assert _run(tmp_path, "libraries").output.splitlines() == [
        # What cuRAND's XORWOW generator draws first for the seed 1234.
        "uniform 0.145468 0.820181 0.550399 0.294830",
        "host 0.1455 0.8202 0.5504 0.2948",
        # The known answer of Philox 4x32-10 for a counter and a key of zeros (Salmon et al., 2011).
        "philox 6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        "pi 1",
        "gemm {} {} {} {}".format(*product.T.ravel()),
        "transposed {} {} {} {}".format(*transposed.T.ravel()),
        f"gemv {vector[0]} {vector[1]} dot {a @ (2 * a + b)} norm {np.sqrt(a @ a):.4f}",
    ]


def test_textures_and_surfaces(tmp_path, compiler):
    image = (np.arange(12.0) ** 2).reshape(3, 4)

    def clamped(row: int, column: int) -> float:
        return float(image[row, min(max(column, 0), 3)])

    point = [clamped(1, x - 1) for x in range(8)]
    # y = 1 lies halfway between the rows 0 and 1, and x = 0.25, 0.75, ... between two columns.
    linear = []
    for x in range(8):
        first = int(np.floor(x * 0.5 - 0.25))
        weight = x * 0.5 - 0.25 - first
        left, right = (clamped(0, column) / 2 + clamped(1, column) / 2 for column in (first, first + 1))
        linear.append((1 - weight) * left + weight * right)
    wrapped = [float(image[0, (x - 2) % 4]) for x in range(8)]
    ran = _run(tmp_path, "textures")
    assert ran.output.splitlines() == [
        'GPU Device 0: "Hopper" with compute capability 9.0',
        "",
        *(" ".join(f"{value:g}" for value in row) for row in (point, linear, wrapped)),
        *(f"{30 * i} {i * 51 / 255:g} 1 {(4 + i) / 255:.4f}" for i in range(4)),
        f"0 {image[1, 1] + 100:g} {image[2, 3] + 200:g}",
    ]
    # Each thread loads 1, 4 and 1 texels, and stores 3 numbers.
    sample = ran.traces[0]
    assert [int((sample.op == op).sum()) for op in (Op.LOAD, Op.STORE)] == [8 * 6, 8 * 3]
    assert "array" in [buffer.name for buffer in sample.buffers]  # as the host has it


def test_pipelines_barriers_atomics_and_fragments(tmp_path, compiler):
    squares = np.arange(128) ** 2
    a = (np.arange(1024) % 7 - 3.0).reshape(32, 32)
    b = (np.arange(1024) % 5 * 0.25).reshape(32, 32).T
    product = (a @ b * 0.5).ravel()
    ran = _run(tmp_path, "pipelines")
    assert ran.output.splitlines() == [
        f"copied {squares[63]} {squares[1]}",
        f"staged {squares[31::32].sum()} {squares[0::32].sum()}",
        f"met {squares[63]} {squares[0] + 63}",
        f"counted {sum(range(64))} {max(i * 7 % 33 for i in range(64))}",
        "flagged 42 1",
        f"product {product[0]:g} {product[17 * 32 + 5]:g} {product @ np.arange(1, 1025):g}",
        "timer 1",
    ]
    for trace in ran.traces:
        findings = findings_of(trace, requests_of(trace))
        assert [finding for finding in findings if finding.severity == "error"] == []


def test_programs_in_the_style_of_the_samples(tmp_path, compiler):
    ran = _run(tmp_path, "samples")
    assert ran.output.splitlines() == [
        'GPU Device 0: "Hopper" with compute capability 9.0',
        "",
        "132 multiprocessors, 1 device, 9",
        "26 26 timed",
        "cudaErrorInvalidValue",  # as with CUDA 13 on an H200
    ]
    assert [fault.kind for fault in ran.end.faults] == ["refused"]


def test_host_code_of_pytorch_extensions(tmp_path, compiler):
    matrix = np.arange(120).reshape(10, 12)
    square = np.arange(16).reshape(4, 4) @ np.arange(16).reshape(4, 4)
    ran = _run(tmp_path, "tensors")
    assert ran.output.splitlines() == [
        f"product {matrix[0].sum()} {matrix[9].sum()} 90",
        f"squares {square[0, 0]} {square[3, 2]}",
        f"sums {matrix[:, 0].sum()} {matrix[:, 11].sum()}",
        "Size mismatch!",
        "m must be a CUDA tensor",
        "\"sum_rows\" not implemented for 'Int'",
    ]
    assert ran.end.faults == ()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("cudaGraphConditionalHandle handle;", "Tilescope does not know cudaGraphConditionalHandle."),
        ("int x = cudaGraphDebugDotPrint(0, 0);", "Tilescope does not know cudaGraphDebugDotPrint."),
        ("int x = __shfl(1, 2);", "Tilescope does not know __shfl."),
        ("texture<float, 2> image;", "Tilescope does not know texture."),
        ("#include <cusparse.h>", "Tilescope does not know the header cusparse.h."),
        ('#include "mine.h"', "there is no mine.h, which the program includes."),
        ("thrust::device_list<int> list;", "Tilescope does not know thrust::device_list."),
        ("int x = thrust::shuffle_all(1);", "Tilescope does not know thrust::shuffle_all."),
        ("typedef cub::BlockTopK<int, 32> Top;", "Tilescope does not know cub::BlockTopK."),
        ("int x = cudaDeviceProp().luidMask;", "Tilescope does not know cudaDeviceProp::luidMask."),
        (
            "__device__ void f(cg::thread_block block) { cg::tiled_partition<64>(block); }",
            "Tilescope does not know tiles of more than 32 threads.",
        ),
        ("int x = missing_of_mine;", None),
        ("int x = thrust::reduce(1, 2, 3, 4, 5, 6, 7, 8);", None),
    ],
)
def test_what_is_missing_is_one_sentence_at_its_line(tmp_path, compiler, line, sentence):
    headers = ("thrust/device_vector.h", "thrust/reduce.h", "cub/cub.cuh", "cooperative_groups.h")
    text = "".join(f"#include <{header}>\n" for header in headers)
    text += f"namespace cg = cooperative_groups;\n{line}\nint main() {{}}\n"
    path = tmp_path / "program.cu"
    path.write_text(text)
    with pytest.raises(BuildError) as caught:
        build(path)
    error = caught.value
    assert (error.file, error.line) == (str(path), 6)
    assert len(str(error)) <= 200 and "\n" not in str(error)
    if sentence is not None:
        assert str(error) == sentence


def test_vector_and_complex_arithmetic(tmp_path, compiler):
    lines = []
    for i in range(4):
        speed = np.array([i, 1.0, -i])
        position = np.full(3, float(i)) + speed / 2
        energy = speed @ speed / 2 + 1  # a normalized vector has the length 1
        lines.append(" ".join(f"{value:g}" for value in [*np.clip(position, -1, 3), energy]))
    steps = []
    for i in range(8):
        c, z, k = complex(-2 + 3 * i / 8, 0.25), 0j, 0
        while k < 50 and abs(z) < 2:
            z, k = z * z + c, k + 1
        steps.append(k)
    # The quantile of 97.5 %, the inverse of erf at 0.5, sine and cosine of 45 degrees.
    special = ["1.96", "0.47694", "0.70711", "0.70711"]
    lines.append(" ".join([*map(str, steps), *special, "3", "7"]) + " ")
    ran = _run(tmp_path, "vector_math")
    assert ran.output.splitlines() == lines
    assert ran.end.faults == ()


@needs_compiler
@pytest.mark.parametrize(
    "schedule", [Schedule("sequential"), Schedule("random", 3)], ids=lambda schedule: schedule.kind
)
def test_collectives_have_no_faults_in_any_order(tmp_path, schedule):
    for name in ("collectives", "groups"):
        ran = _run(tmp_path, name, schedule)
        for trace in ran.traces:
            findings = findings_of(trace, requests_of(trace))
            assert [finding.statement for finding in findings if finding.severity == "error"] == []
            assert {Path(site.file).name for site in trace.sites} == {f"{name}.cu"}


def test_a_pointer_without_type_cannot_be_launched(tmp_path, compiler):
    text = (
        "__global__ void k(int n) {}\nint main() {\n  void* f = (void*)k;\n  int n = 1;\n  void* a[] = {&n};\n"
        "  cudaLaunchKernel(f, 1, 1, a, 0, 0);\n}\n"
    )
    (fault,) = run_text(tmp_path, text).end.faults
    assert fault.text == "Tilescope does not know launches of a kernel by a pointer of type void*."
    assert fault.line == 6


SHARED_HALVES = """
#include <cuda_fp16.h>
#include <cstdio>
__global__ void reverse(const half* in, half* out) {
    __shared__ half tile[4][8];
    __shared__ half2 pairs[16];
    tile[threadIdx.x / 8][threadIdx.x % 8] = in[threadIdx.x];
    __syncthreads();
    half value = tile[3 - threadIdx.x / 8][7 - threadIdx.x % 8];
    value += in[threadIdx.x];
    if (threadIdx.x < 16) pairs[threadIdx.x] = __halves2half2(value, value);
    out[threadIdx.x] = value;
}
int main() {
    half *in, *out;
    cudaMallocManaged(&in, 64);
    cudaMallocManaged(&out, 64);
    for (int i = 0; i < 32; i++) in[i] = i;
    reverse<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    printf("%g %g", (float)out[0], (float)out[31]);
}
"""


def test_shared_arrays_of_halves_are_loaded_and_stored_at_their_lines(tmp_path, compiler):
    ran = run_text(tmp_path, SHARED_HALVES)
    (trace,) = ran.traces
    assert ran.output == "31 31" and trace.error is None
    lines = {
        (trace.sites[site].line, Op(op).name)
        for site, op in zip(trace.site.tolist(), trace.op.tolist(), strict=True)
    }
    assert lines == {(7, "LOAD"), (7, "STORE"), (9, "LOAD"), (10, "LOAD"), (11, "STORE"), (12, "STORE")}


VECTORS = """
#include <cstdio>
union Parts { float4 vector; float parts[4]; };
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__global__ void add(float4* out, const float4* in) {
    out[threadIdx.x] = in[threadIdx.x] + in[31 - threadIdx.x];
    float4 own = out[threadIdx.x], zero = {}, some = {1, 2, 3, 4};
    Parts parts;
    parts.vector = own;
    own.x = parts.parts[1] + zero.y + some.z;
    out[threadIdx.x] = own;
}
int main() {
    float4 *in, *out;
    cudaMallocManaged(&in, 512);
    cudaMallocManaged(&out, 512);
    for (int i = 0; i < 32; i++) in[i] = make_float4(i, 1, 2, 3);
    add<<<1, 32>>>(out, in);
    cudaDeviceSynchronize();
    printf("%g %g", out[3].x, out[3].w);
}
"""


def test_vectors_that_functions_take_and_return_are_accessed_at_their_lines(tmp_path, compiler):
    ran = run_text(tmp_path, VECTORS)
    (trace,) = ran.traces
    assert ran.output == "5 6"
    accesses = sorted(
        (trace.sites[site].line, Op(op).name, trace.buffers[buffer].name)
        for site, op, buffer in zip(
            trace.site.tolist(), trace.op.tolist(), trace.buffer.tolist(), strict=True
        )
    )
    kinds = [
        (6, "LOAD", "in"),
        (6, "LOAD", "in"),
        (6, "STORE", "out"),
        (7, "LOAD", "out"),
        (11, "STORE", "out"),
    ]
    assert accesses == [kind for kind in kinds for _ in range(32)]


def test_objects_as_arguments(tmp_path, compiler):
    ran = _run(tmp_path, "objects")
    assert ran.output.splitlines() == ["34 34", "144 144", "1177 1177", "1187 1807"]
    assert [trace.error for trace in ran.traces] == [None] * 6


def test_fourier_transforms(tmp_path, compiler):
    assert _run(tmp_path, "fourier").output.splitlines() == ["1 1 1", "4 1"]


def test_memory_that_kernels_allocate(tmp_path, compiler):
    ran = _run(tmp_path, "kernel_memory")
    assert ran.output.splitlines() == ["9 961", "28", "0 null pointers of 32, then 32", "no error"]
    assert [trace.error for trace in ran.traces] == [None] * 6
    assert "heap" in [buffer.name for buffer in ran.traces[0].buffers]
    assert not any(
        finding.kind == "bounds" for trace in ran.traces for finding in findings_of(trace, requests_of(trace))
    )
    assert not ran.end.faults

"""Programs in the style of homework: each is correct as it is, and wrong with one line changed.

The expected findings were written down before the programs ran.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cuda_cpp import needs_compiler, run_file, run_text
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Schedule

pytestmark = needs_compiler
FOLDER = Path(__file__).with_name("homework")
OUTPUTS = {
    "vector_add": "3 2997",
    "transpose": "32 33",
    "stencil": "3 4 5",
    "reduction": "523776",
    "warp_sum": "3160",
    "histogram": "150 150 0 0 150 0 0 0 0 150 0 0 0 0 0 0",
    "scan": "15 2016",
    "convolution": "6 9 6",
    "bodies": "4032 -4032",
    "queue": "20",
    "image": "60 60",
    "sparse": "7 59",
    "life": "3 1",
    "softmax": "1.000",
    "compact": "43",
    "copies": "255",
    "matmul": "2 798",
    "sort": "0 1 63",
    "dot": "500",
    "mandelbrot": "1 50",
}


class Fault(NamedTuple):
    """One change of a program that makes it wrong."""

    program: str
    old: str
    new: str
    kind: str  # of the error, or "fault" with a part of the sentence for what no trace shows
    line: str  # a part of the line that the finding names


FAULTS = (
    Fault("vector_add", "    if (i < n)\n", "    if (i <= n)\n", "bounds", "c[i] = a[i] + b[i]"),
    Fault(
        "vector_add",
        "add<<<(n + 127) / 128, 128>>>(d_a",
        "add<<<(n + 127) / 128, 128>>>(a",
        "bounds",
        "c[i] = a[i] + b[i]",
    ),
    Fault("vector_add", "<<<(n + 127) / 128, 128>>>", "<<<1, n + 100>>>", "fault: is refused", "add<<<1"),
    Fault("vector_add", "    cudaFree(d_c);\n", "", "fault: not freed", "cudaMalloc(&d_c"),
    Fault(
        "vector_add",
        "    cudaMemcpy(d_b, b, n * sizeof(float), cudaMemcpyHostToDevice);\n",
        "",
        "unwritten",
        "c[i] = a[i]",
    ),
    Fault("transpose", "    __syncthreads();\n", "", "race", "out[y * n + x] = tile"),
    Fault(
        "transpose",
        "tile[threadIdx.x][threadIdx.y]",
        "tile[threadIdx.x + 1][threadIdx.y]",
        "bounds",
        "out[y * n + x] = tile",
    ),
    Fault("stencil", "    __syncthreads();\n", "", "race", "sum += line[l + k]"),
    Fault(
        "stencil",
        "line[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;",
        "line[l + BLOCK] = in[g + BLOCK];",
        "bounds",
        "line[l + BLOCK] = in[g",
    ),
    Fault(
        "stencil",
        "        line[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;\n",
        "",
        "unwritten",
        "sum += line[l + k]",
    ),
    Fault(
        "reduction",
        "            part[t] += part[t + step];\n        __syncthreads();",
        "            part[t] += part[t + step];",
        "race",
        "part[t] += part[t + step]",
    ),
    Fault(
        "histogram",
        "        local[threadIdx.x] = 0;\n    __syncthreads();",
        "    {\n        local[threadIdx.x] = 0;\n        __syncthreads();\n    }",
        "barrier",
        "__syncthreads();",
    ),
    Fault("reduction", ", 128 * sizeof(int)>>>", ", 64 * sizeof(int)>>>", "bounds", "part[t] = in"),
    Fault(
        "warp_sum",
        "    int value = i < n ? in[i] : 0;\n",
        "    if (i >= n) return;\n    int value = in[i];\n",
        "barrier",
        "value += __shfl_down_sync",
    ),
    Fault(
        "histogram",
        "        atomicAdd(&local[data[i] % BINS], 1u);",
        "        local[data[i] % BINS] += 1;",
        "race",
        "local[data[i] % BINS] += 1",
    ),
    Fault(
        "histogram",
        "    if (threadIdx.x < BINS)\n        local[threadIdx.x] = 0;\n",
        "",
        "unwritten",
        "atomicAdd(&local",
    ),
    Fault(
        "scan",
        "    buffer[now][t] = data[t];\n    __syncthreads();",
        "    buffer[now][t] = data[t];",
        "race",
        "t >= step ?",
    ),
    Fault(
        "scan",
        "        buffer[1 - now][t] = t",
        "        buffer[2 - now][t] = t",
        "bounds",
        "buffer[2 - now][t]",
    ),
    Fault("convolution", "j >= 0 && j < n", "j < n", "bounds", "sum += filter[k] * in[j]"),
    Fault("bodies", "        __syncthreads();\n    }", "    }", "race", "tile[threadIdx.x] = bodies"),
    Fault(
        "queue",
        "        while (atomicCAS(&lock, 0, 1) != 0) {\n        }\n        __threadfence();\n",
        "",
        "race",
        "next",
    ),
    Fault("queue", "        atomicExch(&lock, 0);\n", "", "fault: does not end", "while (atomicCAS"),
    Fault("image", "x < width && y < height", "x < width || y < height", "bounds", "p = pixels"),
    Fault("sparse", "row < m.rows", "row <= m.rows", "bounds", "m.start[row + 1]"),
    Fault("life", "step<<<n, n>>>(b, a, n)", "step<<<n, n>>>(a, a, n)", "race", "next[y * n + x] ="),
    Fault(
        "softmax",
        "largest = fmaxf(largest, part[k]);\n    __syncthreads();",
        "largest = fmaxf(largest, part[k]);",
        "race",
        "part[threadIdx.x] = value",
    ),
    Fault(
        "compact",
        "    if (value % 3 == 0)\n        out[base + __popc",
        "    if (value % 3 == 0)\n        out[64 * base + __popc",
        "bounds",
        "out[64 * base",
    ),
    Fault(
        "copies",
        "4 * (blockIdx.x * blockDim.x + threadIdx.x);",
        "3 * (blockIdx.x * blockDim.x + threadIdx.x);",
        "bounds",
        "reinterpret_cast<float4*>(out",
    ),
    Fault("copies", "(out, in, n);\n", "(out, host, n);\n", "bounds", "reinterpret_cast<float4*>(out"),
    Fault("copies", "float4*>(out + i)", "float4*>(out + i + 1)", "bounds", "reinterpret_cast<float4*>(out"),
    Fault(
        "matmul",
        "        __syncthreads();  // all have read\n",
        "",
        "race",
        "left[threadIdx.y][threadIdx.x] =",
    ),
    Fault("matmul", "y < n && column < n ?", "column < n ?", "bounds", "left[threadIdx.y][threadIdx.x] ="),
    Fault("matmul", "dim3(TILE, TILE)>>>", "dim3(TILE, TILE, 65)>>>", "fault: is refused", "multiply<<<"),
    Fault("sort", "            __syncthreads();\n", "", "race", "values"),
    Fault("sort", "__shared__ int values[64]", "__shared__ int values[60]", "bounds", "values[t] = data[t]"),
    Fault("dot", "0xffffffff, sum", "0xffff, sum", "barrier", "__shfl_xor_sync"),
    Fault("dot", "atomicAdd(result, sum)", "*result += sum", "race", "*result += sum"),
    Fault("dot", "    dot<<<", "    cudaFree(a);\n    dot<<<", "bounds", "sum += a[i]"),
    Fault("dot", "    cudaMemset(result, 0, sizeof(double));\n", "", "unwritten", "atomicAdd(result"),
    Fault("mandelbrot", "        steps++;\n", "", "fault: does not end", "z"),
    Fault("mandelbrot", "x >= width || y", "x > width || y", "bounds", "pixels[y * width + x]"),
)


def errors_of(ran) -> list[tuple[str, int]]:
    """List the kind and line of each error, also of those that no trace shows."""
    errors = []
    for trace in ran.traces:
        for finding in findings_of(trace, requests_of(trace)):
            if finding.severity == "error":
                line = finding.location[1] if finding.location else trace.sites[finding.sites[0]].line
                errors.append((finding.kind, line))
    return errors + [(f"fault: {fault.text}", fault.line) for fault in ran.end.faults]


@pytest.mark.parametrize("program", sorted(OUTPUTS))
def test_a_correct_program_has_its_output_and_no_error(program):
    ran = run_file(FOLDER / f"{program}.cu")
    assert ran.output.split() == OUTPUTS[program].split()
    assert errors_of(ran) == [] and ran.end.status == 0


@pytest.mark.parametrize("kind", ["sequential", "random"])
@pytest.mark.parametrize("program", ["reduction", "compact", "queue", "bodies"])
def test_a_correct_program_is_correct_in_every_order(program, kind):
    ran = run_file(FOLDER / f"{program}.cu", schedule=Schedule(kind, 5))
    assert ran.output.split() == OUTPUTS[program].split() and errors_of(ran) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.program}-{fault.kind.split()[-1]}")
def test_a_planted_fault_is_reported_at_its_line(fault, tmp_path):
    text = (FOLDER / f"{fault.program}.cu").read_text()
    assert text.count(fault.old) == 1
    ran = run_text(tmp_path, text.replace(fault.old, fault.new))
    errors, rows = errors_of(ran), text.replace(fault.old, fault.new).splitlines()
    at_line = [kind for kind, line in errors if fault.line in rows[line - 1]]
    sentence = fault.kind.partition(": ")[2]
    assert any(kind == fault.kind or (sentence and sentence in kind) for kind in at_line), errors

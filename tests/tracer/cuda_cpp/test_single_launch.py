"""Launches of one kernel of a CUDA C++ text on NumPy arrays, against what NumPy computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cuda_cpp import needs_compiler
from tilescope.tracer.cuda_cpp.build import BuildError
from tilescope.tracer.cuda_cpp.session import SessionOptions
from tilescope.tracer.cuda_cpp.single_launch import (
    KernelCall,
    KernelLaunchError,
    LaunchedKernel,
    launch_kernel,
)
from tilescope.tracer.model.launch import Schedule

pytestmark = needs_compiler
SCALE = """
#include <cstdio>
template <typename T, int times> __global__ void scale(const T *from, T *to, int n, T factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * factor * times + OFFSET;
}
int main() { printf("never"); return 1; }
"""
NAMES = """
namespace lesson {
__constant__ float table[4];
struct Pair { int first; float second; };
__global__ void pick(float *out, Pair pair, bool doubles, const char *unused) {
    extern __shared__ float words[];
    words[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = words[(threadIdx.x + pair.first) % 4] * (doubles ? 2 : 1) + pair.second + (unused ? 1000 : 0);
}
}
"""


def _call(text: str, kernel: str, *arguments, **options) -> LaunchedKernel:
    defaults = {"grid": (2, 1, 1), "block": (32, 1, 1)}
    return launch_kernel(
        KernelCall(Path("lesson.cu"), text, kernel, arguments, **(defaults | options)),
        SessionOptions(Schedule("sequential"), patience=2.0),
    )


def test_a_template_is_launched_on_arrays_with_constants():
    source, target = np.arange(64, dtype=np.float64).reshape(8, 8), np.zeros((8, 8))
    launched = _call(
        SCALE, "scale", source, target, 60, 0.5, constants={"T": "double", "times": 3, "OFFSET": 1}
    )
    expected = np.where(np.arange(64) < 60, np.arange(64) * 1.5 + 1, 0).reshape(8, 8)
    assert np.array_equal(launched.arrays[1], expected)
    assert not target.any(), "the caller's array keeps its content"
    assert launched.names == ("from", "to", "n", "factor")
    shapes = {buffer.name: buffer.shape for buffer in launched.trace.buffers}
    assert shapes == {"from": (8, 8), "to": (8, 8)}
    assert launched.trace.kernel == "scale" and len(launched.trace) == 120
    assert launched.trace.grid == (2, 1, 1) and not launched.faults


def test_macros_of_the_text_do_not_reach_the_header():
    text = "#define T 16\n#define number 3\n__global__ void fill(int *a) { a[threadIdx.x] = T + number; }\n"
    assert _call(text, "fill", np.zeros(32, np.int32)).arrays[0].tolist() == [19] * 32


def test_structures_variables_null_and_dynamic_shared_memory():
    pair = np.array((1, 0.25), np.dtype([("first", "<i4"), ("second", "<f4")]))
    table = np.array([1, 2, 3, 4], np.float32)
    launched = _call(
        NAMES, "pick", np.zeros(4, np.float32), pair[()], True, 0,
        grid=(1, 1, 1), block=(4, 1, 1), shared_bytes=16, variables={"lesson::table": table},
    )  # fmt: skip
    assert launched.arrays[0].tolist() == [4.25, 6.25, 8.25, 2.25]
    assert {buffer.space for buffer in launched.trace.buffers} == {"global", "shared", "constant"}


def test_arrays_that_are_the_same_share_memory():
    text = "__global__ void move(const int *a, int *b) { b[threadIdx.x + 1] = a[0]; }"
    array = np.arange(8, dtype=np.int32)
    launched = _call(text, "move", array, array, grid=(1, 1, 1), block=(4, 1, 1))
    assert launched.arrays[0].tolist() == [0, 0, 0, 0, 0, 5, 6, 7]
    assert launched.trace.buffers[0].name == "a/b"


def test_only_the_chosen_blocks_run():
    text = "__global__ void mark(int *a) { a[blockIdx.x] = 1; }"
    call = KernelCall(Path("m.cu"), text, "mark", [np.zeros(8, np.int32)], (8, 1, 1), (1, 1, 1))
    launched = launch_kernel(call, SessionOptions(blocks=(2, 5)))
    assert launched.arrays[0].tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert launched.trace.blocks.tolist() == [2, 5] == np.unique(launched.trace.block).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(4, np.float32),), "k takes 2 arguments, not 1."),
        (
            (np.zeros(4), 4),
            "parameter 1 of k points to float32, but the array has float64.",
        ),
        ((4.5, 4), "parameter 1 of k is a pointer, which the argument is not."),
        (
            (np.zeros(4, np.float32), 0.5),
            "parameter 2 of k is an integer, which the argument is not.",
        ),
        ((np.zeros((4, 4), np.float32)[:, 0], 4), "argument 1 of k is not contiguous."),
        (("four", 4), "argument 1 of k is neither an array nor a number."),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, message):
    text = "\n\n__global__ void k(float *a, int n) { a[0] = n; }"
    with pytest.raises(KernelLaunchError) as caught:
        _call(text, "k", *arguments)
    assert str(caught.value) == message
    assert caught.value.line == 3


def test_a_missing_kernel_and_a_crash_end_in_a_sentence():
    with pytest.raises(KernelLaunchError, match=r"has no kernel named other"):
        _call("__global__ void k(int n) {}", "other", 4)
    with pytest.raises(KernelLaunchError, match=r"divides an integer by 0") as caught:
        _call("__global__ void k(int *a, int n)\n{\n    a[0] = 7 / n;\n}", "k", np.zeros(4, np.int32), 0)
    assert caught.value.line == 3
    error = _call(
        "__global__ void k(volatile int *a) { while (!a[0]) ; }", "k", np.zeros(4, np.int32)
    ).trace.error
    assert error is not None and (error.type, error.line) == ("Endless", 1)
    with pytest.raises(BuildError) as refused:
        _call("__global__ void k(int n)\n{\n    int x = y;\n}", "k", 4)
    assert refused.value.line == 3

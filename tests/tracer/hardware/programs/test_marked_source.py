"""Marks in CUDA C++ texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tilescope.tracer.cuda_cpp.rewrite import kernel_names, without_comments
from tilescope.tracer.hardware.programs.program_timeline import with_marks

PROGRAMS = sorted((Path(__file__).parents[3] / "data").rglob("*.cu"))


def test_each_kernel_begins_with_a_mark():
    text = "template <int N> __global__ __launch_bounds__(256, 2) void scale(float *a) {\n  if (N) return;\n}"
    marked = with_marks(text)
    assert marked.splitlines()[0].endswith("void scale(float *a) { TilescopeSpan tilescope_span;")
    assert marked.splitlines()[1:] == text.splitlines()[1:]


def test_a_declaration_and_a_device_function_are_unchanged():
    text = "__global__ void later(int);\n__device__ int f(int a) { return a; }\n"
    assert with_marks(text) == text


def test_a_launch_is_one_expression_between_two_calls():
    marked = with_marks("if (x) ns::scale<4><<<dim3(1, 2), n, 0, s>>>(a, f(b));")
    assert marked == (
        'if (x) (tilescope_clocks::recorder.begin("ns::scale<4>", __FILE__, __LINE__, dim3(1, 2), n, 0, s), '
        "ns::scale<4><<<dim3(1, 2), n, 0, s>>>(a, f(b)), tilescope_clocks::recorder.end());"
    )


def test_a_launch_in_a_macro_names_the_kernel_that_the_macro_gets():
    marked = with_marks("#define RUN(kernel) kernel<<<1, 2>>>(a)\nRUN(scale);\n")
    assert "begin(#kernel, __FILE__" in marked and marked.endswith("\nRUN(scale);\n")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_keep_their_lines_and_have_a_mark_in_each_defined_kernel(path):
    text = path.read_text("utf-8")
    marked = with_marks(text)
    assert marked.count("\n") == text.count("\n")
    plain = without_comments(text)
    defined = re.findall(r"__global__[^;{}]*\{", plain)
    assert marked.count("TilescopeSpan") == len(defined)
    assert not defined or kernel_names(text)

"""Kernels in strings of Python programs: their lines, and texts that a program has formatted."""

from __future__ import annotations

from tilescope.tracer.model import cpp_text
from tilescope.tracer.model.embedded_cpp import cpp_at, cpp_text_of, only_cpp
from tilescope.tracer.model.skipped_lines import barrier_lines, first_line

PROGRAM = '''import cupy as cp

SIZE = 8
"""A string about __global__ functions (of C++)."""
one = cp.RawKernel(r"""
extern "C" __global__ void one(int* a) {
    __shared__ int s[8];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[7 - threadIdx.x];  // don't
}
""", "one")
text = f"""\\
__global__ void two(int* a) {{
    a[threadIdx.x] = {SIZE};
}}
"""
'''


def test_a_literal_lies_at_its_lines():
    code = PROGRAM.split('r"""')[1].split('"""')[0]
    placed = cpp_at(PROGRAM, code)
    assert placed is not None
    compiled, is_exact = placed
    assert is_exact
    assert compiled.splitlines()[5] == 'extern "C" __global__ void one(int* a) {'
    assert cpp_text_of(PROGRAM, "one") == compiled
    assert cpp_text_of(PROGRAM, "missing") is None


def test_a_formatted_text_lies_at_the_lines_of_its_template():
    placed = cpp_at(PROGRAM, "__global__ void two(int* a) {\n    a[threadIdx.x] = 8;\n}\n")
    assert placed is not None
    compiled, is_exact = placed
    assert not is_exact
    assert compiled.splitlines()[13:15] == ["__global__ void two(int* a) {", "    a[threadIdx.x] = 8;"]


def test_another_text_has_no_place():
    assert cpp_at(PROGRAM, "__global__ void three() {\n}\n") is None
    assert only_cpp("print('nothing')\n") is None


def test_lines_and_positions_stay_without_the_python_text():
    blanked = only_cpp(PROGRAM)
    assert blanked is not None and len(blanked) == len(PROGRAM)
    assert "import" not in blanked and "RawKernel" not in blanked
    assert cpp_text.function_lines(PROGRAM, "one") == (6, 11)


def test_barriers_and_skipped_lines_in_a_string():
    assert barrier_lines(PROGRAM, "one") == (9,)
    assert first_line(PROGRAM, 9) == 9
    assert first_line(PROGRAM, 3) == 3  # Python

"""What the stand-ins refuse, in the words of the packages or in one sentence of ours."""

from __future__ import annotations

import json
import re

import pytest

from cuda_cpp import needs_compiler
from programs import run_tilescope

HEAD = """
import numpy as np

def attempt(action):
    try:
        print(action())
    except Exception as error:
        print(f"{type(error).__module__}.{type(error).__name__}: {error}")
"""
CUPY = (
    HEAD
    + """
import cupy as cp
a = cp.zeros(4, dtype=cp.float32)
attempt(lambda: np.asarray(a))
attempt(lambda: a + np.ones(4))
attempt(lambda: np.add(a, 1).get())
attempt(lambda: a.astype(cp.int32).get().tolist())
attempt(lambda: cp.fft.fft(a))
attempt(lambda: __import__("cupyx.jit"))
attempt(lambda: cp.cuda.Device(1))
f = cp.RawKernel('extern "C" __global__ void f(float* a) { a[threadIdx.x] = 1; }', "f")
attempt(lambda: f(1, 32, (a,)))
attempt(lambda: f((1,), (4,), (np.ones(4),)))
attempt(lambda: f((1,), (4,), (a, a)))
attempt(lambda: f((1,), (2048,), (a,)))
attempt(lambda: f((1,), (4,), (a,), shared_mem=50000))
attempt(lambda: f((1,), (4,), (np.intp(16),)))
attempt(lambda: cp.RawKernel("__global__ void g(float* a) { }", "g")((1,), (4,), (a,)))
attempt(lambda: cp.RawKernel('extern "C" __global__ void h(float* a) { a[0] = 1 }', "h").compile())
attempt(lambda: cp.RawModule(code="__global__ void g(float* a) { }").get_function("other"))
f((1,), (4,), (a,))
print(a.get().tolist())
"""
)
CUPY_ANSWERS = [
    "builtins.TypeError: Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a "
    "NumPy array explicitly.",
    "builtins.TypeError: Unsupported type <class 'numpy.ndarray'>",
    "[1. 1. 1. 1.]",
    "[0, 0, 0, 0]",
    "builtins.AttributeError: Tilescope's stand-in for CuPy has no cupy.fft",
    "builtins.ModuleNotFoundError: Tilescope's stand-in for CuPy has no module cupyx",
    "cupy.cuda.runtime.CUDARuntimeError: cudaErrorInvalidDevice: invalid device ordinal",
    "builtins.TypeError: the grid of f must be a tuple, such as (1,)",
    "builtins.TypeError: Unsupported type <class 'numpy.ndarray'>",
    "cupy.cuda.driver.CUDADriverError: CUDA_ERROR_INVALID_VALUE: invalid argument: f takes 1 arguments, not 2",
    "cupy.cuda.driver.CUDADriverError: CUDA_ERROR_INVALID_VALUE: invalid argument: the launch of f is refused: its "
    "blocks of 2,048 threads are larger than 1,024.",
    "cupy.cuda.driver.CUDADriverError: CUDA_ERROR_INVALID_VALUE: invalid argument: 50,000 bytes of shared memory; set "
    "f.max_dynamic_shared_size_bytes first",
    "cupy.cuda.runtime.CUDARuntimeError: cudaErrorIllegalAddress: an illegal memory access was encountered (f, "
    "FOLDER/program.py, line 19)",
    "cupy.cuda.driver.CUDADriverError: CUDA_ERROR_NOT_FOUND: named symbol not found: the name of g is mangled by C++; "
    'write extern "C" in front of __global__',
    "cupy.cuda.compiler.CompileException: FOLDER/program.py:27: expected ';'",
    "cupy.cuda.driver.CUDADriverError: CUDA_ERROR_NOT_FOUND: named symbol not found: there is no kernel other; the "
    "text has g",
    "[1.0, 1.0, 1.0, 1.0]",
]
PYCUDA = (
    HEAD
    + """
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
f = SourceModule("__global__ void f(float* a, int n) { a[threadIdx.x] = n; }").get_function("f")
a = np.zeros(4, np.float32)
memory = drv.mem_alloc(a.nbytes)
attempt(lambda: f(memory, 4, block=(4, 1, 1)))
attempt(lambda: f(a, np.int32(4), block=(4, 1, 1)))
attempt(lambda: f(memory, np.int32(4), block=(4, 1, 1), grid=(1, 0)))
attempt(lambda: SourceModule("__global__ void g(float* a) { x; }"))
attempt(lambda: np.asarray(gpuarray.to_gpu(a)))
attempt(lambda: __import__("pycuda.curandom"))
memory.free()
attempt(lambda: f(memory, np.int32(4), block=(4, 1, 1)))
f(drv.InOut(a), np.int32(4), block=(4, 1, 1))
print(a.tolist())
"""
)
PYCUDA_ANSWERS = [
    "builtins.TypeError: invalid type on parameter #1 (0-based)",
    "builtins.TypeError: invalid type on parameter #0 (0-based)",
    "pycuda.driver.LogicError: cuLaunchKernel failed: invalid value: the launch of f is refused: its grid or block has "
    "no threads.",
    "pycuda.driver.CompileError: nvcc compilation failed: FOLDER/program.py:20: use of undeclared identifier 'x'.",
    "builtins.TypeError: Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a "
    "NumPy array explicitly.",
    "builtins.ModuleNotFoundError: Tilescope's stand-in for PyCUDA has no module pycuda.curandom",
    "pycuda.driver.LogicError: the memory was freed",
    "[4.0, 4.0, 4.0, 4.0]",
]

TORCH = (
    HEAD
    + """
import torch
from torch.utils.cpp_extension import load_inline
CUDA = '''
__global__ void k(float* a, int n) { a[threadIdx.x] = 7 / n; }
torch::Tensor f(torch::Tensor a, int n) { k<<<1, 4>>>(a.data_ptr<float>(), n); return a; }
'''
f = load_inline("own", "torch::Tensor f(torch::Tensor a, int n);", CUDA, "f").f
a, b = torch.zeros(4), torch.zeros(4, device="cuda")
attempt(lambda: a + b)
attempt(lambda: np.asarray(b))
attempt(lambda: b.view(3))
attempt(lambda: a + 1)
attempt(lambda: f(b))
attempt(lambda: f(b, 2.5))
attempt(lambda: f(b, "2"))
attempt(lambda: f(b.double(), 1))
attempt(lambda: f(a, 1))
attempt(lambda: f(b, 0))
attempt(lambda: f(b, 1))
attempt(lambda: torch.nn)
attempt(lambda: torch.zeros(2, device="mps"))
attempt(lambda: load_inline("own", "", CUDA.replace("7 / n", "nowhere"), "f"))
attempt(lambda: load_inline("own", "void g(float* p) {}", None, "g"))
"""
)
TORCH_ANSWERS = [
    "builtins.RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
    "cpu!",
    "builtins.TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
    "memory first.",
    "builtins.RuntimeError: shape '[3]' is invalid for input of size 4",
    "tensor([1., 1., 1., 1.])",
    "builtins.TypeError: f(): it takes 2 arguments, not 1",
    "builtins.TypeError: f(): argument 2 must be an integer",
    "builtins.TypeError: f(): Tilescope passes tensors and numbers, not str",
    "builtins.RuntimeError: expected scalar type Float but found Double",
    "builtins.RuntimeError: CUDA error: an illegal memory access was encountered (k, FOLDER/program.py, line 13)",
    "builtins.RuntimeError: CUDA error: the kernel k divides an integer by 0; a GPU would go on with an undefined "
    "result.",
    "tensor([7., 7., 7., 7.], device='cuda:0')",
    "builtins.AttributeError: Tilescope's stand-in for PyTorch has no torch.nn",
    "builtins.RuntimeError: Tilescope's stand-in for PyTorch has no device mps; it has cpu and cuda",
    "builtins.RuntimeError: Error building extension 'own': FOLDER/program.py:13: use of undeclared identifier "
    "'nowhere'.",
    "builtins.RuntimeError: Error building extension 'own': FOLDER/program.py:32: static assertion failed: Tilescope "
    "passes only tensors and numbers to the functions of load_inline.",
]


def without_dialect(line: str) -> str:
    """Word an error of a compiler as clang does, as far as compilers differ."""
    line = re.sub(r"'(\w+)' was not declared in this scope", r"use of undeclared identifier '\1'", line)
    return re.sub(r"(expected ';') .*", r"\1", line)


@needs_compiler
@pytest.mark.parametrize(
    ("text", "answers"), [(CUPY, CUPY_ANSWERS), (PYCUDA, PYCUDA_ANSWERS), (TORCH, TORCH_ANSWERS)]
)
def test_refusals_are_one_sentence(text, answers, tmp_path):
    (tmp_path / "program.py").write_text(text)
    done = run_tilescope("run", "--quiet", "program.py", folder=tmp_path)
    lines = done.stdout.replace(str(tmp_path), "FOLDER").splitlines()
    assert [without_dialect(line) for line in lines] == answers, done.stderr


@needs_compiler
def test_a_failing_launch_has_a_traceback_of_the_program_only(tmp_path):
    (tmp_path / "program.py").write_text(
        "import cupy as cp\n"
        'k = cp.RawKernel(\'extern "C" __global__ void k(int* a) { a[0] = 1; }\', "k")\n'
        "k((1,), (1,), (0,))\n"
    )
    done = run_tilescope("check", "--output-format", "json", "program.py", folder=tmp_path)
    traceback = done.stderr[done.stderr.index("Traceback") :].splitlines()
    assert [line for line in traceback if "File" in line] == [
        f'  File "{tmp_path}/program.py", line 3, in <module>'
    ]
    errors = [(finding["kind"], finding["line"]) for finding in json.loads(done.stdout)["findings"]]
    assert ("bounds", 2) in errors and done.returncode == 1


def test_a_package_of_the_program_has_no_stand_in(tmp_path):
    (tmp_path / "cupy.py").write_text("name = 'own'\n")
    (tmp_path / "program.py").write_text("import cupy\nprint(cupy.name)\n")
    done = run_tilescope("run", "--quiet", "program.py", folder=tmp_path)
    assert done.stdout == "own\n", done.stderr


@needs_compiler
def test_a_kernel_in_a_notebook_is_named_with_its_cell(tmp_path):
    kernel = (
        'extern "C" __global__ void flip(int* a) {\n    __shared__ int s[64];\n    s[threadIdx.x] = a[threadIdx.x];\n'
        "    a[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
    )
    cells = [
        "import cupy as cp",
        f"flip = cp.RawKernel(r'''\n{kernel}''', 'flip')",
        "flip((1,), (64,), (cp.arange(64, dtype=cp.int32),))",
    ]
    notebook = {
        "cells": [
            {
                "cell_type": "code", "id": f"cell{i}", "source": text, "metadata": {}, "outputs": [],
                "execution_count": None,
            }
            for i, text in enumerate(cells)
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "lesson.ipynb").write_text(json.dumps(notebook))
    done = run_tilescope("check", "--output-format", "json", "lesson.ipynb", folder=tmp_path)
    errors = [f for f in json.loads(done.stdout)["findings"] if f["severity"] == "error"]
    assert [(f["kind"], f["file"], f["cell"], f["line"]) for f in errors] == [("race", "lesson.ipynb", 2, 5)]
    assert "not traced" not in done.stderr


def test_a_program_that_goes_on_without_the_package_does_so(tmp_path):
    (tmp_path / "program.py").write_text(
        "try:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp\nprint(xp.__name__)\n"
    )
    done = run_tilescope("run", "--quiet", "program.py", folder=tmp_path)
    assert done.stdout == "numpy\n", done.stderr


def test_torch_is_replaced_only_in_programs_with_load_inline(tmp_path):
    installed = tmp_path / "site-packages" / "torch.py"
    installed.parent.mkdir()
    installed.write_text("__version__ = 'installed'\n")
    head = "import sys\nsys.path.append('site-packages')\n"
    (tmp_path / "plain.py").write_text(f"{head}import torch\nprint(torch.__version__)\n")
    (tmp_path / "helper.py").write_text("import torch\nprint(torch.__version__)\n")
    (tmp_path / "inline.py").write_text(
        f"{head}import helper\nfrom torch.utils.cpp_extension import load_inline\n"
    )
    versions = [
        run_tilescope("run", "--quiet", name, folder=tmp_path).stdout for name in ("plain.py", "inline.py")
    ]
    assert versions == ["installed\n", "2.9 (a stand-in of Tilescope)\n"]


def test_a_library_does_not_get_the_stand_in(tmp_path):
    library = tmp_path / "site-packages" / "library.py"
    library.parent.mkdir()
    library.write_text("try:\n    import cupy\nexcept ImportError:\n    cupy = None\n# RawKernel\n")
    (tmp_path / "program.py").write_text(
        "import sys\nsys.path.append('site-packages')\nimport library\nprint(library.cupy)\nimport cupy\n"
        "print(cupy.zeros(2))\n"
    )
    done = run_tilescope("run", "--quiet", "program.py", folder=tmp_path)
    assert done.stdout == "None\n[0. 0.]\n", done.stderr


@needs_compiler
def test_kernels_of_numba_and_in_cpp_in_one_program_keep_their_counters_and_comments(tmp_path):
    (tmp_path / "program.py").write_text(
        "import cupy as cp\nimport numpy as np\nfrom numba import cuda\n"
        "flip = cp.RawKernel(r'''\n"
        'extern "C" __global__ void flip(int* a) {\n    __shared__ int s[64];\n    s[threadIdx.x] = a[threadIdx.x];\n'
        "    a[threadIdx.x] = s[63 - threadIdx.x];  // tilescope: ignore[TS101] shown in the lesson\n}\n"
        "''', 'flip')\n"
        "@cuda.jit\ndef add(a):\n    a[cuda.grid(1)] += 1\n"
        "flip((1,), (64,), (cp.zeros(64, cp.int32),))\nadd[1, 64](np.zeros(64, np.int32))\n"
    )
    words = ("check", "--counters", "--output-format", "json", "program.py")
    done = run_tilescope(*words, folder=tmp_path)
    report = json.loads(done.stdout)
    assert [finding["rule"] for finding in report["findings"] if finding["severity"] == "error"] == []
    compiled = [(launch["kernel"], launch["compiled"].get("reason", "")) for launch in report["launches"]]
    assert compiled[0] == ("flip", "It is CUDA C++; only Numba kernels are counted as compiled.")
    assert compiled[1][0] == "add" and compiled[1][1] != compiled[0][1]
    assert "never launched" not in done.stderr


@needs_compiler
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("while (((volatile int*)a)[0] == 0) { }", "1 launch does not end"),
        ("a[1] = 7 / a[0];", "divides an integer by 0"),
    ],
)
def test_a_kernel_that_leaves_no_trace_is_not_reported_as_never_launched(tmp_path, body, sentence):
    (tmp_path / "program.py").write_text(
        "import cupy as cp\n"
        "module = cp.RawModule(code=r'''\n"
        'extern "C" __global__ void fine(int* a) { a[threadIdx.x] = 0; }\n'
        f'extern "C" __global__ void faulty(int* a) {{ {body} }}\n'
        'extern "C" __global__ void unused(int* a) { a[threadIdx.x] = 0; }\n'
        "''')\n"
        "a = cp.zeros(32, cp.int32)\n"
        "module.get_function('fine')((1,), (32,), (a,))\n"
        "module.get_function('faulty')((1,), (32,), (a,))\n"
    )
    done = run_tilescope("check", "--patience", "1", "program.py", folder=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and errors[0].startswith("program.py:4: ") and sentence in errors[0], done.stdout
    assert "not traced: unused (program.py:5), of which no launch ran." in done.stderr

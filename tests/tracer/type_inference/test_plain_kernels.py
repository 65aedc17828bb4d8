"""Kernels about which Numba is not asked: where it is, it has nothing to say of them. All others are asked about."""

from __future__ import annotations

import importlib.util
import os
import random

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before numba is imported

import numpy as np
import pytest

from programs import HEAD, tilescope
from random_typed import TypedKernel
from tilescope.tracer.type_inference.client import TypeInference
from tilescope.tracer.type_inference.live_kernel import LaunchedKernels, question_of_call
from tilescope.tracer.type_inference.plain_kernels import is_plain
from tilescope.tracer.type_inference.question import NOTHING

TEXT = """
import math
import numba
import numpy as np
from numba import cuda, float32, float64, int16, int32

TILE, HALF, ONE, SIXTEEN = 16, 0.5, np.float32(1), np.int32(16)

@cuda.jit(device=True)
def twice(x):
    return 2 * x
"""
SINGLES, WHOLE, LONGS, DOUBLES = (np.zeros(64, kind) for kind in ("float32", "int32", "int64", "float64"))
SQUARE, BYTES, UNSIGNED, COMPLEX = (
    np.zeros((8, 8), np.float32),
    np.zeros(64, np.int8),
    np.zeros(64, np.uint8),
    np.zeros(64, np.complex64),
)
TILED = """
s = cuda.shared.array((TILE, TILE), float32)
x, y = cuda.grid(2)
tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
total = float32(0.0)
for t in range(a.shape[1] // TILE):
    s[ty, tx] = a[y, t * TILE + tx]
    cuda.syncthreads()
    for k in range(TILE):
        total += s[ty, k] * s[k, tx]
    cuda.syncthreads()
b[y, x] = total
"""
# Body of a kernel of (a, b, n), in which i is a number of the thread, and what it is called with.
PLAIN = [
    ("if i < a.size:\n    a[i] = a[i] + b[i]", SINGLES, SINGLES, 1),
    ("a[i] = a[i] * b[i] - ONE / b[i]", SINGLES, SINGLES, 1),
    (TILED, SQUARE, SQUARE, 1),
    ("cuda.atomic.add(a, b[i], 1)", WHOLE, WHOLE, 1),
    ("cuda.atomic.max(a, 0, b[i])", SINGLES, SINGLES, 1),
    ("a[i] = (a[i - 1] + a[i + 1]) // 2 % n << 1", LONGS, WHOLE, 5),
    ("a[i] = 0.0\nif a[i] > 0.5 and not i == 3:\n    a[i] = HALF", SINGLES, SINGLES, 1),
    ("a[i] = n", SINGLES, SINGLES, 2.5),
    ("a[i] = a[i] * n", SINGLES, SINGLES, np.float32(2)),
    ("a[i] = a[i] * 2 + HALF / 3 - b[i] * n", DOUBLES, SINGLES, 0.1),
    ("x = 0.0\nfor k in range(0, n, 2):\n    x += a[k] * b[k]\na[i] = x", DOUBLES, DOUBLES, 9),
    ("h, w = a.shape\na[i % h, i // w] = float32(i)", SQUARE, SINGLES, 1),
    ("while i < a.size:\n    a[i] = min(a[i], b[i])\n    i += cuda.gridsize(1)", SINGLES, SINGLES, 1),
    ("s = cuda.local.array(4, dtype=numba.int32)\ns[0] = -i\na[i] = abs(s[0])", WHOLE, SINGLES, 1),
    ("a[i] = int16(b[i]) if 0 < i < n else 3", WHOLE, SINGLES, 9),
]
# What is computed in float64, or refused, and what is only not known to be neither.
NOT_PLAIN = [
    ("a[i] = a[i] * 2 + b[i]", SINGLES, SINGLES, 1),
    ("a[i] = a[i] * HALF + b[i]", SINGLES, SINGLES, 1),
    ("a[i] = a[i] + b[i] / 3.0", SINGLES, SINGLES, 1),
    ("x = 0.0\nfor k in range(3):\n    x += a[k] * b[k]\na[i] = x", SINGLES, SINGLES, 1),
    ("x = 0\nfor k in range(3):\n    x += a[k] * b[k]\na[i] = x", SINGLES, SINGLES, 1),
    ("for k in range(3):\n    a[i] += b[i] / 2", WHOLE, WHOLE, 1),
    ("for k in range(3):\n    a[i] = a[i] * 0.5", WHOLE, WHOLE, 1),
    ("a[i] = a[i] * n + b[i]", SINGLES, SINGLES, 2.5),
    ("a[i] = math.sqrt(i) * a[i]", SINGLES, SINGLES, 1),
    ("for k in range(3):\n    a[i] = (U8[i] + U8[i]) + 1", WHOLE, WHOLE, 1),
    ("for k in range(3):\n    a[i] = (b[i] + b[i]) + 1", WHOLE, UNSIGNED, 1),
    ("x = a[i]\nif n:\n    x = 0\na[i] = x * b[i]", SINGLES, SINGLES, 1),
    ("if n:\n    if i:\n        x = 1\n    else:\n        i += 1\nx += 1", SINGLES, SINGLES, 1),
    ("s = cuda.shared.array(SIXTEEN, float32)\ns[0] = a[i]\na[i] = s[0]", SINGLES, SINGLES, 1),
    ("s = cuda.shared.array(n, float32)\ns[0] = a[i]\na[i] = s[0]", SINGLES, SINGLES, 4),
    ("a[i] = a[i, 0]", SINGLES, SINGLES, 1),
    ("a[i] = b", SINGLES, SINGLES, 1),
    ("return a[i]", SINGLES, SINGLES, 1),
    ("a[i] = 1 << 70", WHOLE, WHOLE, 1),
    ("cuda.atomic.add(a, i, 1)", BYTES, SINGLES, 1),
    ("a[i] = open(i)", WHOLE, WHOLE, 1),
    ("x = [i]\na[i] = x[0]", WHOLE, WHOLE, 1),
    ("a[i] = nothing", WHOLE, WHOLE, 1),
    ("a[i] = twice(b[i])", SINGLES, SINGLES, 1),
    ("a[i] += 1j", COMPLEX, SINGLES, 1),
    ("a[i] = a[i] ** 2", WHOLE, WHOLE, 1),
    ("import math\na[i] = 1", WHOLE, WHOLE, 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """Return the kernels of both lists, as (kernel, arguments)."""
    parts = [TEXT, "U8 = np.zeros(8, np.uint8)\n"]
    for number, (body, *_) in enumerate(PLAIN + NOT_PLAIN):
        lines = ["i = cuda.grid(1)", *body.strip().splitlines()]
        parts.append(as_kernel(f"kernel_{number}", "a, b, n", lines))
    module = imported(tmp_path_factory.mktemp("plain") / "plain_kernels_of_test.py", "".join(parts))
    return [(getattr(module, f"kernel_{n}"), given) for n, (_, *given) in enumerate(PLAIN + NOT_PLAIN)]


def as_kernel(name, parameters, lines):
    """Return the text of a kernel with these lines."""
    return f"\n@cuda.jit\ndef {name}({parameters}):\n" + "".join(f"    {line}\n" for line in lines)


def imported(path, text):
    """Return a module of this text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numba_has_nothing_to_say_of_plain_kernels(kernels):
    plain = kernels[: len(PLAIN)]
    asked = [question_of_call(kernel, arguments) for kernel, arguments in plain]
    assert [is_plain(kernel.fn, one) for (kernel, _), one in zip(plain, asked, strict=True)] == [True] * len(
        PLAIN
    )
    assert TypeInference(seconds=300).answers_to(asked) == [NOTHING] * len(PLAIN)


def test_numba_has_nothing_to_say_of_random_plain_kernels(tmp_path):
    rng = random.Random(5)
    kernels = [TypedKernel(rng) for _ in range(600)]
    parts = [as_kernel(f"kernel_{n}", "a, b, c, n", kernel.lines) for n, kernel in enumerate(kernels)]
    module, asked = imported(tmp_path / "random_kernels_of_test.py", TEXT + "".join(parts)), {}
    for number, made in enumerate(kernels):
        arguments = [*(np.zeros(64, kind) for kind in made.types), rng.choice((3, 2.5, np.float32(1)))]
        kernel = getattr(module, f"kernel_{number}")
        question = question_of_call(kernel, arguments)
        if is_plain(kernel.fn, question):
            asked["\n".join(made.lines)] = question
    assert len(asked) > 40
    answers = TypeInference(seconds=300).answers_to(list(asked.values()))
    assert {body: one for body, one in zip(asked, answers, strict=True) if one != NOTHING} == {}


@pytest.mark.parametrize(
    "number", range(len(NOT_PLAIN)), ids=[body.partition("\n")[0] for body, *_ in NOT_PLAIN]
)
def test_all_others_are_asked_about(kernels, number):
    kernel, arguments = kernels[len(PLAIN) + number]
    assert not is_plain(kernel.fn, question_of_call(kernel, arguments))
    assert LaunchedKernels().to_ask(kernel, arguments) == question_of_call(kernel, arguments)


def test_a_kernel_whose_file_has_changed_is_asked_about(tmp_path, kernels):
    kernel, arguments = kernels[0]
    path = tmp_path / "changed.py"
    path.write_text("def kernel(a, b, n):\n    i = cuda.grid(1)\n    a[i] = a[i] + b[i]\n")
    made = {"cuda": kernel.fn.__globals__["cuda"]}
    exec(compile(path.read_text().replace("+", "*"), path, "exec"), made)
    assert not is_plain(made["kernel"], question_of_call(kernel, arguments))


def test_of_a_closure_what_its_names_stand_for_counts(kernels):
    cuda = kernels[0][0].fn.__globals__["cuda"]

    def made(factor):
        @cuda.jit
        def kernel(a):
            i = cuda.grid(1)
            a[i] = a[i] * factor

        return kernel

    for factor, plain in ((np.float32(2), True), (2, False), (0.5, False)):
        kernel = made(factor)
        assert is_plain(kernel.fn, question_of_call(kernel, (SINGLES,))) == plain


def test_a_plain_program_starts_no_process_and_leaves_no_answer(tmp_path, monkeypatch, script):
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path / "home"))
    text = (
        HEAD
        + "\n@cuda.jit\ndef add(a):\n    i = cuda.grid(1)\n    a[i] = a[i] {} a[i]\n\nadd[1, 32](np.ones(32))\n"
    )
    for operator, answers in (("+", 0), ("**", 1)):
        assert tilescope("check", str(script(text.format(operator))), folder=tmp_path).returncode == 0
        assert len(list((tmp_path / "home").rglob("*.types"))) == answers

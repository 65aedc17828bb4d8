"""The simulator runs Numba's typed IR: what each form of it computes, against values known otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from launching import Array, final_contents, launch, trace
from tilescope.tracer.recording.kernel_loader import LoadError
from tilescope.tracer.simulator.numba_patch import run

THREADS = 8


def computed(folder, body, given="int64", result="int64", before="", options=""):
    """Compute `out` with a kernel of this body; `a` holds 0, 1, 2 and so on, `t` is the thread."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    heads = "".join(f"    {line}\n" for line in before.splitlines())
    source = (
        f"\n{heads}    @cuda.jit{options}\n    def kernel(a, out):\n        t = cuda.threadIdx.x\n{lines}"
    )
    arguments = (Array((THREADS,), given, "arange"), Array((THREADS,), result))
    return final_contents(trace(folder, source, arguments, block=(THREADS, 1, 1)), "out").tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for k in range(math.ceil(t / 2)):\n    out[t] += k + 1", [0, 1, 1, 3, 3, 6, 6, 10]),
        ("for k in range(t, 1, -2):\n    out[t] = out[t] * 10 + k", [0, 0, 2, 3, 42, 53, 642, 753]),
        ("k = 0\nwhile True:\n    k += 1\n    if k > t:\n        break\n    if k % 2:\n        continue\n"
         "    out[t] += k", [0, 0, 2, 2, 6, 6, 12, 12]),
        ("for k in range(t):\n    if k == 3:\n        out[t] = 7\n        break\nelse:\n    out[t] = 9",
         [9, 9, 9, 9, 7, 7, 7, 7]),
        ("for j in range(3):\n    for k in range(j):\n        out[t] += j * k if k else t",
         [2, 4, 6, 8, 10, 12, 14, 16]),
        ("if t > 5:\n    v = a[t]\nout[t] = v + 1", [1, 1, 1, 1, 1, 1, 7, 8]),
        ("x = 2**62\nout[t] = x * (t - 4) + x * 0", [0, 2**62, -(2**63), -(2**62), 0, 2**62, -(2**63), -(2**62)]),
        ("out[t] = int32(a[t] + 2**31 - 4)", [2**31 - 4 + n - (2**32 if n > 3 else 0) for n in range(8)]),
        ("out[t] = -7 // (t - 4) if t else -7 % (t + 3)", [2, 2, 3, 7, 0, -7, -4, -3]),
        ("out[t] = 1 << a[t] << 60 >> 60", [1, 2, 4, -8, 0, 0, 0, 0]),
        ("x, y = a[6:]\nout[t] = x * 10 + y", [67] * 8),
        ("for i, x in enumerate(a[t:]):\n    out[t] += i * x", [140, 112, 85, 60, 38, 20, 7, 0]),
        ("p = (a[t], 2 * a[t], 3 * a[t])\nfor x in p:\n    out[t] += x", [6 * n for n in range(8)]),
        ("p = (t, 2.5)\nout[t] = p[0] + p[1] * 2", [n + 5 for n in range(8)]),
        ("out[t] = (t > 2) + (t > 4) * 2 + (not t) * 10", [10, 0, 0, 1, 1, 3, 3, 3]),
        ("out[t] = min(t, 3) + max(t, 5, 6) + abs(t - 4) + round(2.5)", [12, 12, 12, 12, 11, 12, 13, 15]),
        ("out[t] = int(2.9) + int(-2.9) + bool(t) + divmod(t, 3)[1]", [0, 2, 3, 1, 2, 3, 1, 2]),
        ("out[t] = math.floor(t / 2) + math.sqrt(16.0)", [4, 4, 5, 5, 6, 6, 7, 7]),
        ("out[t] = np.uint64(1) - a[t]", [1 - n for n in range(8)]),
        ("f = math.floor if True else math.ceil\nout[t] = f(t / 2)", [0, 0, 1, 1, 2, 2, 3, 3]),
        ("out[t] = 1 if 2 < t <= 5 else 0", [0, 0, 0, 1, 1, 1, 0, 0]),
        ("own = cuda.local.array(3, int32)\nfor k in range(3):\n    own[k] = t + k\nout[t] = own[0] + own[1] + own[-1]",
         [3 * n + 3 for n in range(8)]),
    ],
)  # fmt: skip
def test_statements_and_operators(tmp_path, body, expected):
    assert computed(tmp_path, body) == expected


@pytest.mark.parametrize(
    ("body", "given", "expected"),
    [
        ("s = 0\nfor k in range(8):\n    s += a[k]\nout[t] = s / 3", "float32", 28 / 3),
        ("out[t] = a[1] / 3", "float32", 1 / 3),
        ("out[t] = a[1] / float32(3)", "float32", float(np.float32(1) / np.float32(3))),
        ("out[t] = a[7] + 2**53 + 1", "int64", float(2**53 + 8)),
        ("x = float32(16777216)\nout[t] = x + a[1]", "float32", 16777216.0),
        ("x = 16777216.0\nout[t] = x + a[1]", "float32", 16777217.0),
        ("out[t] = (a[2] ** 2) / 7", "int32", 4 / 7),
        ("out[t] = math.sqrt(a[2])", "float32", float(np.sqrt(np.float32(2)))),
        ("out[t] = 1.0 / (a[t] - a[t])", "float64", math.inf),
        ("out[t] = (a[2] + 1j * a[3]).imag", "float64", 3.0),
    ],
)
def test_numbers_have_the_types_of_the_ir(tmp_path, body, given, expected):
    assert computed(tmp_path, body, given, "float64") == [expected] * THREADS


def test_functions_are_called_with_the_types_that_the_ir_has_for_them(tmp_path):
    before = """
@cuda.jit(device=True)
def scaled(x, factor=3, *, plus=1):
    return x * factor + plus

@cuda.jit(device=True)
def half(x):
    return x / 2, x
""".replace(", *, plus=1", ", plus=1")
    body = """
h, w = half(a[t])
local = lambda x: x + t
out[t] = scaled(a[t]) + scaled(a[t], plus=10) + scaled(2, factor=5) + local(int32(h)) + w"""
    expected = [(3 * n + 1) + (3 * n + 10) + 11 + n // 2 + n + n for n in range(THREADS)]
    assert computed(tmp_path, body, before=before) == expected


def test_global_names_are_resolved_where_they_are_written(tmp_path):
    before = """
import enum
SIZE, SCALES, TABLE = 5, (2, 3.0), np.arange(3) * 10
class Side(enum.IntEnum):
    LEFT = 4
floor = math.floor
"""
    body = "out[t] = SIZE + SCALES[0] + TABLE[t % 3] + Side.LEFT.value + SCALES[1] + floor(math.pi) + np.int32(t)"
    assert computed(tmp_path, body, before=before) == [
        5 + 2 + 3 + n % 3 * 10 + 4 + 3 + n for n in range(THREADS)
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("sum()", 28.0), ("prod()", 0.0), ("mean()", 3.5), ("var()", 5.25), ("std()", math.sqrt(5.25)),
        ("argmax()", 7.0), ("argmin()", 0.0), ("any()", 1.0), ("all()", 0.0),
    ],
)  # fmt: skip
def test_methods_of_arrays_load_each_element(tmp_path, call, expected):
    source = f"""
    @cuda.jit
    def kernel(a, out):
        out[0] = a.{call}
    """
    traced = trace(tmp_path, source, (Array((8,), "float64", "arange"), Array((1,), "float64")))
    assert final_contents(traced, "out").tolist() == [expected]
    assert {traced.sites[s].line for s in traced.site} == {7}
    loads = traced.index[traced.op == 0].tolist()
    assert set(loads) <= set(range(8)) and loads[0] == 0


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_products_are_fused_into_sums(tmp_path, kind):
    """Random triples, whose seed is printed: each sum is rounded once, as exact arithmetic says."""
    seed = int(np.random.default_rng().integers(1 << 32))
    print("seed", seed)
    numbers = np.random.default_rng(seed).normal(size=(64, 3)).astype(kind)
    numbers[:, 2] *= -numbers[:, 0] * numbers[:, 1]  # of which most cancels
    names = [repr(float(x)) for x in numbers.ravel()]
    source = """
    @cuda.jit
    def kernel(out):
        table = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        x = table[i, 0] * table[i, 1]
        out[i, 0] = x + table[i, 2]
        out[i, 1] = table[i, 2] - table[i, 0] * table[i, 1]
    """
    table = f"np.array([{', '.join(names)}], np.{kind}).reshape(64, 3)"
    source = f"\n    TABLE = {table}\n{source}"
    traced = trace(tmp_path, source, (Array((64, 2), kind),), block=(64, 1, 1))
    exact = [(Fraction(float(a)) * Fraction(float(b)), Fraction(float(c))) for a, b, c in numbers]
    wanted = [[_rounded(p + c, kind), _rounded(c - p, kind)] for p, c in exact]
    assert final_contents(traced, "out").tolist() == wanted


def _rounded(exact, kind):
    """Return the float of a kind that is nearest to a fraction."""
    near = np.dtype(kind).type(float(exact))
    around = [near, np.nextafter(near, -np.inf, dtype=kind), np.nextafter(near, np.inf, dtype=kind)]
    return float(min(around, key=lambda first: abs(Fraction(float(first)) - exact)))


def test_a_product_that_is_kept_is_rounded_by_itself(tmp_path):
    body = "x = a[3] * float32(0.1)\nout[t] = x + float32(-0.3)\nout[0] = x"
    single = np.float32
    results = computed(tmp_path, body, "float32", "float32")
    assert results[1] == float(single(single(3) * single(0.1)) + single(-0.3))


def test_a_kernel_that_numba_refuses_does_not_run(tmp_path):
    with pytest.raises(LoadError, match=r"kernels.py:\d+: Numba can't compile kernel for a GPU: .*np\.sqrt"):
        computed(tmp_path, "out[t] = np.sqrt(a[t])", "float64", "float64")


def test_kernels_without_types_run_untyped_and_are_marked(tmp_path):
    source = """
    from numba.extending import overload

    def twice(x):
        return x * 2

    @overload(twice)
    def of_type(x):
        return lambda x: x * 2

    @cuda.jit
    def kernel(a, out):
        out[cuda.threadIdx.x] = twice(a[cuda.threadIdx.x])
    """
    arguments = (Array((4,), "int64", "arange"), Array((4,), "int64"))
    traced = run(launch(tmp_path, source, arguments, block=(4, 1, 1)), lambda done, total: None)
    assert "untyped: a function that the program registered with Numba" in traced.made_by
    assert final_contents(traced, "out").tolist() == [0, 2, 4, 6]

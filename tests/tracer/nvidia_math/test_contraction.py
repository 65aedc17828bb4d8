"""Which multiplications and additions become one instruction, and that both engines agree on random expressions."""

from __future__ import annotations

import ast
import random

import numpy as np
import pytest

from engines import run_both
from launching import Array, final_contents, launch
from tilescope.tracer.recording.fused import fma

NUMBERS = {
    dtype: tuple(Array((64,), dtype, "random") for _ in range(3))
    for dtype in ("float16", "float32", "float64")
}


def expression(rng, depth=3):
    """Return a random expression of +, -, * and fused multiply-adds of three arrays' elements."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("x[i]", "y[i]", "w[i]"))
    left, right = expression(rng, depth - 1), expression(rng, depth - 1)
    return f"({left} {rng.choice('+-**')} {right})"


def repeats_a_product(text):
    """Check whether a product occurs twice: LLVM computes that once, and may then fuse neither use of it."""
    products = [
        n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
    ]
    factors = [tuple(sorted((ast.unparse(n.left), ast.unparse(n.right)))) for n in products]
    return len(set(factors)) < len(factors)


def kernel_of(lines):
    body = "".join(f"    {line}\n" for line in lines)
    return f"@cuda.jit\ndef kernel(x, y, w, out):\n    i = cuda.grid(1)\n{body}"


def results(tmp_path, lines, dtype):
    """Compute `out` with both engines."""
    arguments = (*NUMBERS[dtype], Array((64,), dtype))
    traces = run_both(launch(tmp_path, kernel_of(lines), arguments, block=(64, 1, 1)))
    return [final_contents(trace, "out") for trace in traces]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_random_expressions_have_the_same_bits_in_both_engines(tmp_path, dtype):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(4):
        text = next(e for e in iter(lambda: expression(rng), None) if not repeats_a_product(e))
        compiled, simulated = results(tmp_path, [f"out[i] = {text}"], dtype)
        assert compiled.tobytes() == simulated.tobytes(), text


def test_a_product_that_is_only_added_is_fused(tmp_path):
    lines = ["out[i] = x[i] * y[i] - w[i]"]
    x, y, w = given(tmp_path, lines)
    expected = np.array([fma("float32", *numbers) for numbers in zip(x, y, -w, strict=True)], np.float32)
    for matches in results(tmp_path, lines, "float32"):
        assert matches.tobytes() == expected.tobytes()
    assert expected.tobytes() != (x * y - w).tobytes()


def test_a_product_that_is_stored_too_is_rounded(tmp_path):
    lines = ["p = x[i] * y[i]", "out[i] = p + w[i]", "w[i] = p"]
    x, y, w = given(tmp_path, lines)
    for matches in results(tmp_path, lines, "float32"):
        assert matches.tobytes() == (x * y + w).tobytes()


def test_a_product_before_a_loop_is_not_computed_again_in_it(tmp_path):
    lines = ["p = x[i] * y[i]", "s = w[i]", "for k in range(i):", "    s += p", "out[i] = s"]
    x, y, w = given(tmp_path, lines)
    expected = w.copy()
    for thread in range(64):
        for _ in range(thread):
            expected[thread] += x[thread] * y[thread]
    compiled, _ = results(tmp_path, lines, "float32")
    assert compiled.tobytes() == expected.tobytes()


def given(tmp_path, lines):
    """Return the contents of the three arrays before the launch."""
    arguments = (*NUMBERS["float32"], Array((64,), "float32"))
    trace = run_both(launch(tmp_path, kernel_of(lines), arguments, block=(64, 1, 1)))[0]
    return [trace.initial[number].copy() for number in range(3)]

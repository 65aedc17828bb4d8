"""What loads are used for: none counts as unused whose value may matter."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, trace
from tilescope.tracer.dataflow.load_uses import depends_on_outside, find_unused_loads, uses_of_loads
from tilescope.tracer.model.trace import Op

IN, OUT = Array((32,), "float32", fill="arange"), Array((32,), "float32", fill="zeros")
# Bodies in which thread 31 loads a[32], and whether a result may depend on that.
BODIES = {
    "it is stored": ("out[t] = a[t + 1]", True),
    "it is stored by others": ("x = a[t + 1]\nif t < 31:\n    out[t] = x", False),
    "it is loaded once more": ("x = a[t + 1]\nx = a[t]\nout[t] = x", True),  # x is not followed that far
    "it goes through a function": ("x = half(a[t + 1])\nif t < 31:\n    out[t] = x", False),
    "a function stores it": ("put(out, t, a[t + 1])", True),
    "a branch asks for it": ("if a[t + 1] > 3:\n    t += 1\nif t < 20:\n    out[t] = 1", True),
    "a loop asks for it": ("for k in range(a[t + 1] > 3):\n    t += 1", True),
    "other lanes get it": ("x = cuda.shfl_sync(-1, a[t + 1], 31)\nif t < 31:\n    out[t] = x", True),
    "it is an index": ("out[int(a[t + 1]) % 32 * 0] = 1", True),
    "it is added by an atomic": ("cuda.atomic.add(out, 0, a[t + 1])", True),
    "nobody asks what an atomic found": ("cuda.atomic.add(a, t + 1, 1)", False),
    "it is what an atomic found": ("out[t] = cuda.atomic.add(a, t + 1, 1)", True),
    "it goes through shared memory": (
        "s = cuda.shared.array(32, float32)\ns[t] = a[t + 1]\ncuda.syncthreads()\nout[t] = s[0]", True,
    ),
    "it is one of several": ("x, y = a[t], min(a[t + 1], 1)\nif t < 31:\n    out[t] = y\nout[0] = x", False),
    "it is dropped": ("a[t + 1]", False),
}  # fmt: skip
SOURCE = """
@cuda.jit(device=True)
def half(x):
    return x / 2

@cuda.jit(device=True)
def put(out, t, x):
    out[t] = x

@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
"""


@pytest.mark.parametrize("name", BODIES)
def test_results_depend_on_loads_outside(tmp_path, name):
    body, expected = BODIES[name]
    source = SOURCE + "".join(f"    {line}\n" for line in body.splitlines())
    ran = trace(tmp_path, source, (IN, OUT), block=(32, 1, 1))
    assert ran.error is None and "a[32]" in ran.outside.text
    assert depends_on_outside(ran) == expected


def test_unsupported_uses_count_as_used(tmp_path):
    source = SOURCE + "    f = lambda k: a[k]\n    x = f(t)\n    if t < 31:\n        out[t] = x\n"
    ran = trace(tmp_path, source, (IN, OUT), block=(32, 1, 1))
    loads = np.flatnonzero(ran.op == Op.LOAD)
    given = (ran.site[loads], ran.block[loads], ran.thread[loads], ran.steps_of(loads))
    assert len(loads) and not find_unused_loads(ran, *given).any()
    assert uses_of_loads("def kernel(a):\n    a[0]\n", "other") is None
    assert uses_of_loads("def kernel(a:\n", "kernel") is None

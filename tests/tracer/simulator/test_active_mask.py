"""`cuda.activemask`: the lanes of a warp go on together as far as they can, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

from engines import assert_engines_agree
from launching import Array, final_contents, launch

FULL = 0xFFFFFFFF
EVEN = 0x55555555
BODIES = {
    "all": ("out[t] = cuda.activemask()", [FULL] * 32),
    "a branch": ("if t % 2 == 0:\n    out[t] = cuda.activemask()", [EVEN, 0] * 16),
    "both branches": (
        "if t % 2:\n    out[t] = cuda.activemask()\nelse:\n    out[t] = cuda.activemask()", [EVEN, EVEN << 1] * 16,
    ),
    "after an early return": ("if t > 3:\n    return\nout[t] = cuda.activemask()", [15] * 4 + [0] * 28),
    "others wait at a barrier": (
        "if t < 8:\n    out[t] = cuda.activemask()\ncuda.syncthreads()\nout[t] += a[t]",
        [255 + t for t in range(8)] + [*range(8, 32)],
    ),
    "others wait for the warp": (
        "if t < 8:\n    out[t] = cuda.activemask()\ncuda.syncwarp()\nout[t] += cuda.shfl_sync(0xFFFFFFFF, t, 5)",
        [260] * 8 + [5] * 24,
    ),
    "fewer lanes each round": (
        "for k in range(t + 1):\n    out[t] = cuda.activemask()", [FULL >> t << t for t in range(32)],
    ),
    "accesses on the way": (
        "x = a[t]\nif x > 15:\n    x += a[31 - t]\n    out[t] = cuda.activemask()", [0] * 16 + [0xFFFF0000] * 16,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_both_engines_have_the_same_active_lanes(tmp_path, name):
    body, expected = BODIES[name]
    lines = "\n    ".join(f"t = cuda.threadIdx.x\n{body}".split("\n"))
    arrays = (Array((32,), "int64", "arange"), Array((32,), "int64"))
    trace = assert_engines_agree(
        launch(tmp_path, f"@cuda.jit\ndef kernel(a, out):\n    {lines}\n", arrays, block=(32, 1, 1))
    )
    assert final_contents(trace, "out").tolist() == expected
    assert not trace.missing


@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_active_lanes_do_not_depend_on_the_order(tmp_path, schedule):
    from launching import trace

    source = "@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n    x = a[t] + a[31 - t % 32]\n    if a[t] % 3 == 0:\n        out[t] = cuda.activemask()\n"  # noqa: E501
    arrays = (Array((64,), "int64", "arange"), Array((64,), "int64"))
    launch_trace = trace(tmp_path, source, arrays, block=(64, 1, 1), schedule=schedule, seed=5)
    chosen = np.arange(64) % 3 == 0
    masks = [sum(1 << lane for lane in range(32) if chosen[32 * w + lane]) for w in range(2)]
    assert final_contents(launch_trace, "out").tolist() == [
        masks[t // 32] * int(chosen[t]) for t in range(64)
    ]

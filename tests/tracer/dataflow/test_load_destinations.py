"""Where the elements that a launch loads go: to the store that really has their value, else nowhere."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.dataflow.load_destinations import LoadDestinations
from tilescope.tracer.model.trace import Op

IN, OUT = Array((8,), "float32", fill="arange"), Array((8,), "float32", fill="zeros")
KERNELS = {
    "to shared memory and on": (
        """
        s = cuda.shared.array(8, numba.float32)
        s[7 - t] = a[t]
        cuda.syncthreads()
        out[t] = s[t]""",
        {("a", t): ("s", 7 - t) for t in range(8)} | {("s", t): ("out", t) for t in range(8)},
    ),
    "only what follows in time": (
        """
        v = a[t]
        out[t] = 1.0""",
        {},
    ),
    "the largest alone": (
        """
        m = numba.float32(-1)
        for k in range(8):
            m = max(m, a[k])
        if t == 0:
            out[t] = m""",
        {("a", 7): ("out", 0)},
    ),
    "through two stores of one value": (
        """
        if t == 0:
            out[5] = 0
            out[6] = a[0]""",
        {("a", 0): ("out", 6)},
    ),
}


def arrows(trace):
    """Map each loaded element with a destination to it, by (name, index)."""
    to = LoadDestinations(trace).stores_of(np.arange(len(trace)))
    names = [buffer.name for buffer in trace.buffers]
    place = [(names[b], int(i)) for b, i in zip(trace.buffer, trace.index, strict=True)]
    assert (trace.op[to >= 0] == Op.LOAD).all()
    return {place[row]: place[to[row]] for row in np.flatnonzero(to >= 0)}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_an_element_goes_to_the_place_of_its_store(tmp_path, name, schedule):
    body, expected = KERNELS[name]
    source = f"import numba\n@cuda.jit\ndef kernel(a, out):\n        t = cuda.threadIdx.x{body}\n"
    launch_trace = trace(tmp_path, source, (IN, OUT), block=(8, 1, 1), schedule=schedule, seed=1)
    assert launch_trace.error is None
    assert arrows(launch_trace) == expected


def test_without_its_source_equal_values_decide(tmp_path):
    source = "@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n    out[7 - t] = a[t]\n    out[t] = a[t] + 1\n"
    launch_trace = trace(tmp_path, source, (IN, OUT), block=(8, 1, 1))
    bare = replace(launch_trace, sources={})
    assert arrows(bare) == {("a", t): ("out", 7 - t) for t in range(8)}

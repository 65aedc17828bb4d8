"""Launches and copies in streams that use the same memory: findings where nothing orders them, none where it does."""

import json

import numpy as np
import pytest

from programs import run_tilescope
from tilescope.tracer.recording.stream_order import Bytes

HEAD = """
import numpy as np
from numba import cuda


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


@cuda.jit
def count(x):
    cuda.atomic.add(x, 0, 1)


def new(stream=0):
    return cuda.to_device(np.ones(64, np.float32), stream=stream)


s, t, u = (cuda.stream() for _ in range(3))
"""
UNORDERED = {
    "write and read": "x, y = new(), new()\ndouble[2, 32, s](x)\ncopy[2, 32, t](x, y)  # unordered",
    "read and write": "x = new()\ncopy[2, 32, s](x, new())\ndouble[2, 32, t](x)  # unordered",
    "write and atomic": "x = new()\ndouble[2, 32, s](x)\ncount[1, 32, t](x)  # unordered",
    "copy and read": "x, y = new(s), cuda.device_array(64, np.float32)\ncopy[2, 32, t](x, y)  # unordered",
    "write and copy": "x = new()\ndouble[2, 32, s](x)\nx.copy_to_host(stream=t)  # unordered",
    "overlapping halves": "x = new()\ndouble[2, 32, s](x[:40])\ndouble[2, 32, t](x[24:])  # unordered",
    "event before the write": (
        "x, e = new(), cuda.event()\ne.record(s)\ndouble[2, 32, s](x)\ne.wait(t)\ndouble[2, 32, t](x)  # unordered"
    ),
    "waiting stream": (
        "x, e = new(), cuda.event()\ndouble[2, 32, s](x)\ne.record(s)\ne.wait(u)\ndouble[2, 32, t](x)  # unordered"
    ),
    "synchronised stream": "x = new()\ndouble[2, 32, s](x)\nt.synchronize()\ndouble[2, 32, t](x)  # unordered",
}
ORDERED = {
    "one stream": "x = new()\ndouble[2, 32, s](x)\ndouble[2, 32, s](x)",
    "event": "x, e = new(), cuda.event()\ndouble[2, 32, s](x)\ne.record(s)\ne.wait(t)\ndouble[2, 32, t](x)",
    "two events": (
        "x, e, f = new(), cuda.event(), cuda.event()\ndouble[2, 32, s](x)\ne.record(s)\ne.wait(t)\nf.record(t)\n"
        "f.wait(u)\ndouble[2, 32, u](x)"
    ),
    "host waits for the event": (
        "x, e = new(), cuda.event()\ndouble[2, 32, s](x)\ne.record(s)\ne.synchronize()\ndouble[2, 32, t](x)"
    ),
    "host waits for the stream": "x = new()\ndouble[2, 32, s](x)\ns.synchronize()\ndouble[2, 32, t](x)",
    "host waits for all": "x = new()\ndouble[2, 32, s](x)\ncuda.synchronize()\ndouble[2, 32, t](x)",
    "with": "x = new()\nwith s.auto_synchronize():\n    double[2, 32, s](x)\ndouble[2, 32, t](x)",
    "default stream between": "x = new()\ndouble[2, 32, s](x)\ndouble[2, 32](new())\ndouble[2, 32, t](x)",
    "copy in the default stream": "x = new()\ndouble[2, 32, s](x)\nx.copy_to_host()\ndouble[2, 32, t](x)",
    "halves": "x = new()\ndouble[2, 32, s](x[:32])\ndouble[2, 32, t](x[32:])",
    "interleaved": "x = new()\ndouble[2, 32, s](x[::2])\ndouble[2, 32, t](x[1::2])",
    "two reads": "x, y, z = new(), new(), new()\ncopy[2, 32, s](x, y)\ncopy[2, 32, t](x, z)",
    "two atomics": "x = new()\ncount[1, 32, s](x)\ncount[1, 32, t](x)",
    "arrays of the host": "x = np.ones(64, np.float32)\ndouble[2, 32, s](x)\ndouble[2, 32, t](x)",
}


def test_work_in_two_streams_that_nothing_orders_is_an_error(script, tmp_path):
    text = HEAD + "".join(
        f"{case}\ncuda.synchronize()\n" for case in [*UNORDERED.values(), *ORDERED.values()]
    )
    done = run_tilescope("check", "--output-format", "json", str(script(text)), folder=tmp_path)
    assert done.returncode == 1, done.stderr
    findings = [f for f in json.loads(done.stdout)["findings"] if f["severity"] == "error"]
    lines = text.splitlines()
    assert sorted(f["line"] for f in findings) == [
        n for n, line in enumerate(lines, 1) if "# unordered" in line
    ]
    assert {f["rule"] for f in findings} == {"TS101"}
    messages = [f["message"] for f in sorted(findings, key=lambda f: f["line"])]
    first = text.splitlines().index("double[2, 32, s](x)") + 1
    assert messages[0] == (
        f"copy reads 64 elements of x that double of line {first} writes in another stream, and nothing orders the "
        "two; record an event after the first, and let the second stream wait for it."
    )
    assert (
        "double writes 16 elements of x that double of line"
        in messages[list(UNORDERED).index("overlapping halves")]
    )


@pytest.mark.parametrize("seed", range(20))
def test_shared_bytes_are_those_of_both_sets(seed):
    numbers = np.random.default_rng(seed)
    sets, ranges = [], []
    for size in (4, int(numbers.choice([2, 4, 8]))):
        elements = numbers.integers(0, 30, numbers.integers(0, 20)) * size
        sets.append({address + k for address in elements.tolist() for k in range(size)})
        ranges.append(Bytes.of_elements(elements, size))
    assert ranges[0].shared_with(ranges[1]) == ranges[1].shared_with(ranges[0]) == len(sets[0] & sets[1])

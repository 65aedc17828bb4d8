"""Launches traced in a process that also runs them on a GPU: the same results, and the GPU stays unused."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import pytest

from notebook_shell import outputs_of

PROGRAM = """
import json
import numpy as np
import tilescope
from numba import cuda, float32

said = {}


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * factor + i


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    out[x, y] = tile[cuda.threadIdx.y, cuda.threadIdx.x]


@cuda.jit
def shift(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + 10


@cuda.jit("void(float32[:], float32)")
def declared(a, factor):
    a[cuda.grid(1)] *= factor


def both(name, run):
    '''Run something on the GPU, and traced; note what each leaves.'''
    on_gpu = run()
    with tilescope.trace_launches() as launches:
        traced = run()
    said[name] = [np.asarray(on_gpu).tolist(), np.asarray(traced).tolist(), [one.kernel for one in launches]]


def on_host():
    a = np.arange(100, dtype=np.float32)
    scale[4, 32](a, 3)
    return a


def on_device():
    d = cuda.to_device(np.arange(100, dtype=np.float32))
    scale[4, 32](d, 3)
    return d.copy_to_host()


def with_gaps():
    d = cuda.to_device(np.arange(100, dtype=np.float32))
    scale[4, 32](d[10:90:2], 3)
    return d.copy_to_host()


def overlapping():
    d = cuda.to_device(np.arange(64, dtype=np.float32))
    shift[1, 32](d[:32], d[32:])
    return d.copy_to_host()


def tiles():
    a = cuda.to_device(np.arange(32 * 32, dtype=np.float32).reshape(32, 32))
    out = cuda.device_array((32, 32), np.float32)
    transpose[(2, 2), (16, 16)](a, out)
    return out.copy_to_host()


def fortran():
    a = cuda.to_device(np.asfortranarray(np.arange(32 * 32, dtype=np.float32).reshape(32, 32)))
    out = cuda.to_device(np.zeros((32, 32), np.float32, order="F"))
    transpose[(2, 2), (16, 16)](a, out)
    return out.copy_to_host()


def in_streams():
    stream = cuda.stream()
    d = cuda.to_device(np.arange(100, dtype=np.float32), stream=stream)
    scale[4, 32, stream](d, 3)
    scale[4, 32, stream](d, 2)
    found = d.copy_to_host(stream=stream)
    stream.synchronize()
    return found


def for_all():
    a = np.arange(100, dtype=np.float32)
    scale.forall(100)(a, 3)
    return a


def managed():
    a = cuda.managed_array(100, np.float32)
    a[:] = np.arange(100)
    scale[4, 32](a, 3)
    cuda.synchronize()
    return a.copy()


def signed():
    a = np.arange(32, dtype=np.float32)
    declared[1, 32](a, 3)
    return a


for one in (on_host, on_device, with_gaps, overlapping, tiles, fortran, in_streams, for_all, managed, signed):
    both(one.__name__, one)
a = np.arange(100, dtype=np.float32)
launch = tilescope.trace(scale[4, 32], a, 3)
said["trace"] = [on_host().tolist(), a.tolist(), [launch.kernel]]
print(json.dumps(said))
"""
KERNELS = {
    "overlapping": ["shift"],
    "tiles": ["transpose"],
    "fortran": ["transpose"],
    "in_streams": ["scale", "scale"],
}
NAMES = (
    "on_host", "on_device", "with_gaps", "overlapping", "tiles", "fortran", "in_streams", "for_all", "managed",
    "signed", "trace",
)  # fmt: skip


def has_device():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


@pytest.fixture(scope="module")
def gpu_results(tmp_path_factory):
    """Run each function on the GPU and traced; return both results and the recorded kernels."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "program.py").write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-W", "ignore", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_traced_launch_leaves_the_same_as_the_gpu(gpu_results, name):
    on_gpu, traced, kernels = gpu_results[name]
    assert traced == on_gpu
    assert kernels == KERNELS.get(name, ["declared" if name == "signed" else "scale"])


CELL = """%%tilescope
import numpy as np
from numba import cuda

@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    out[i] = a[i] * 2

double[{blocks}, 64](cuda.to_device(np.arange(640, dtype=np.float32)), cuda.to_device(np.zeros(640, np.float32)))
"""


def test_a_cell_shows_the_measured_time_next_to_the_trace(monkeypatch):
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)  # a notebook with a GPU runs without it
    right, wrong = outputs_of(
        "%load_ext tilescope", "from numba import cuda", CELL.format(blocks=10), CELL.format(blocks=11)
    )[2:]
    summary = right[0]["text/plain"]
    assert summary.startswith("1 launch, 0 findings; measured ")
    assert " µs on NVIDIA " in summary
    assert summary.endswith(", with the traced results")
    assert "measured" not in wrong[0]["text/plain"]  # it has errors, and is not run

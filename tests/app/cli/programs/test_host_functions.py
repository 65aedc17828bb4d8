"""What programs use of numba.cuda on the host, as they use it: it runs, and gives what a GPU gives."""

from __future__ import annotations

import pytest

from programs import HEAD, run_tilescope

STREAMS = """
@cuda.jit(max_registers=32, lineinfo=True, fastmath=True, opt=True, cache=True, launch_bounds=128, lto=False)
def scale(a, f):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= f

s = cuda.stream()
with s.auto_synchronize():
    a = cuda.to_device(np.ones(8, np.float32), stream=s)
    scale[1, 8, s](a, 3)
    host = a.copy_to_host(np.zeros(8, np.float32), stream=s)
assert host[0] == 3
start, end = cuda.event(timing=True), cuda.event()
start.record(s)
scale[1, 8, cuda.default_stream(), 0](a, 2)
end.record(stream=s)
end.wait(s)
end.synchronize()
assert end.query() and cuda.event_elapsed_time(start, end) > 0 and start.elapsed_time(end) > 0
s.add_callback(lambda stream, status, word: print(status, word), "called")
scale.configure(1, 8)(a, 2)
scale.forall(8)(a, 2)
scale.forall(8, tpb=4, stream=s)(a, 2)
scale.forall(0)(a, 2)
scale.specialize(a, 2)[1, 8](a, 2)
small, large = scale[1, 4], scale[1, 8]
small(a, 10)
assert a.copy_to_host().tolist() == [960] * 4 + [96] * 4, a.copy_to_host()
assert len(scale.overloads) == len(scale.signatures) == 1
with cuda.defer_cleanup(), cuda.pinned(host), cuda.gpus[0]:
    cuda.current_context().deallocations.clear()
"""

ARRAYS = """
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from numba.cuda.cudadrv import devicearray, driver, nvvm

class Other:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__

@cuda.jit
def add(x, n):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += n

a = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
assert isinstance(a, DeviceNDArray) and cuda.is_cuda_array(a) and not cuda.is_cuda_array(np.ones(1))
assert (a.shape[-1], a.strides, a.nbytes, len(a), a.is_c_contiguous()) == (4, (16, 4), 48, 3, True)
assert cuda.as_cuda_array(a) is a
add[1, (4, 4)](Other(a), 1)
add[1, (4, 4)](a[1:, ::2], 10)
cuda.as_cuda_array(Other(a))[0, 0] = 7
assert a.copy_to_host().tolist() == [[7, 2, 3, 4], [15, 6, 17, 8], [19, 10, 21, 12]]
a[0] = 0
a[1:3, 0] = np.array([5, 6], np.float32)
assert a.T.shape == (4, 3) and a.reshape(2, 6).ravel().shape == (12,) and a.view(np.int32).dtype == np.int32
assert np.asarray(a)[0].tolist() == [0] * 4 and a[1, 0] == 5 and [float(x) for x in a[0]] == [0] * 4
assert [p.size for p in cuda.to_device(np.arange(5)).split(2)] == [2, 2, 1]
assert cuda.device_array_like(np.ones((2, 3), order="F")).flags["F_CONTIGUOUS"]
t = cuda.device_array(4, np.float32)
assert cuda.to_device(np.ones(4, np.float32), to=t) is t and t.copy_to_host()[3] == 1
for made in (cuda.managed_array((2, 2)), cuda.mapped_array((2, 2)), cuda.pinned_array((2, 2))):
    made[:] = 1
    add[1, (2, 2)](made, 1)
    assert isinstance(made, np.ndarray) and made.sum() == 8
host = np.zeros((2, 2))
with cuda.mapped(host) as there:
    add[1, (2, 2)](there, 4)
assert host.sum() == 16
for wrong in (lambda: a + 1, lambda: a.sum(), lambda: a[[0, 1]], lambda: cuda.device_array((2.0, 3))):
    try:
        wrong()
    except (TypeError, AttributeError) as error:
        print(error)
"""

UFUNCS = """
from numba import float32, guvectorize, vectorize

@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def axb(x, y):
    return x * y + 1

@vectorize([float32(float32, float32)], target="cuda")
def plus(x, y):
    return x + y

@guvectorize(["void(float32[:], float32[:,:], float32[:])"], "(n),(m,n)->(m)", target="cuda")
def product(x, m, out):
    for i in range(m.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total += x[j] * m[i, j]
        out[i] = total

@cuda.reduce
def added(x, y):
    return x + y

a = np.arange(4, dtype=np.float32)
assert axb(a, a).tolist() == [1, 2, 5, 10] and axb(a, a).dtype == np.float32
assert axb(np.ones((3, 1)), np.ones((1, 2))).shape == (3, 2) and axb(a, 2).tolist() == [1, 3, 5, 7]
d = cuda.to_device(a)
assert axb(d, d).copy_to_host().tolist() == [1, 2, 5, 10]
out = cuda.device_array_like(d)
axb(d, d, out=out, stream=cuda.stream())
assert out.copy_to_host()[3] == 10
assert plus.reduce(a) == 6
m = np.arange(6, dtype=np.float32).reshape(2, 3)
assert product(m[0], m).tolist() == [5, 14] and product(m, np.stack([m, m])).shape == (2, 2)
assert added(np.arange(1000.0)) == 499500 and added(np.arange(10), init=5) == 50
result = cuda.device_array(1, np.float64)
added(cuda.to_device(np.ones(300)), res=result)
assert result.copy_to_host()[0] == 300
"""

DEVICES = """
device = cuda.get_current_device()
assert (device.MAX_THREADS_PER_BLOCK, device.WARP_SIZE, device.MULTIPROCESSOR_COUNT) == (1024, 32, 132)
assert device.compute_capability == (9, 0) and device.name == cuda.gpus[0].name == "NVIDIA H200"
assert cuda.select_device(0).id == 0 and len(cuda.list_devices()) == 1 and cuda.is_available()
x = cuda.to_device(np.ones(1000))
free, total = cuda.current_context().get_memory_info()
assert total - free == 8000
cuda.close()
kernel = cuda.jit(lambda a: None)
for asked in (lambda: cuda.compile_ptx(None, ()), lambda: kernel.inspect_asm, lambda: kernel.get_regs_per_thread()):
    try:
        asked()
    except (AttributeError, NotImplementedError) as error:
        print(error)
"""

IN_KERNELS = """
from numba import float32, jit, njit, types, void
from numba.cuda import grid, libdevice, syncthreads
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

@njit
def twice(x):
    return x * 2

@jit(nopython=True)
def added(a):
    total = 0.0
    for i in range(a.size):
        total += twice(a[i])
    return total

again = cuda.jit(device=True)(twice)

@cuda.jit([void(float32[:], float32), "void(float64[:], float64)", (types.int32[:], types.int32)])
def reversed_sum(a, n):
    i, t = grid(1), cuda.threadIdx.x
    tile = cuda.shared.array(4, float32)
    tile[t] = again(a[i])
    syncthreads()
    a[i] = tile[3 - t] + libdevice.sqrtf(float32(16)) + cuda.libdevice.fabs(-1.0) + n

for kind in (np.float32, np.float64, np.int32):
    a = np.arange(4).astype(kind)
    reversed_sum[1, 4](a, 1)
    assert a.tolist() == [12, 10, 8, 6], a
try:
    reversed_sum[1, 4](np.arange(4), 1)
except TypeError as error:
    print(error)

@cuda.jit
def total(a, out):
    out[0] = added(a)

out = np.zeros(1)
total[1, 1](np.ones(3), out)
assert out[0] == added(np.ones(3)) == 6

@cuda.jit
def drawn(states, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.random.xoroshiro128p_uniform_float32(states, i)
    out[i, 1] = xoroshiro128p_normal_float32(states, i)

states = create_xoroshiro128p_states(5, seed=7, subsequence_start=3)
assert states.copy_to_host()[4].tolist() == (7849063420089748963, 7693269692229016906)
out = np.zeros((5, 2))
drawn[1, 5](states, out)
assert out[0, 0] == 0.5329803824424744
assert len(create_xoroshiro128p_states(100_000, seed=1)) == 100_000
"""

# As printed on an H200 by numba-cuda 0.30 where it says something of its own.
PRINTED = {
    STREAMS: ("0 called\n", "tilescope: times between events are those of this simulation, not of a GPU.\n"),
    ARRAYS: (
        "unsupported operand type(s) for +: 'DeviceNDArray' and 'int'\n"
        "'DeviceNDArray' object has no attribute 'sum'\n"
        "a device array takes whole numbers and slices as indices, not list; copy it to the host first.\n"
        "shape elements must be integers, got float: write // instead of /.\n",
        "",
    ),
    UFUNCS: ("", ""),
    DEVICES: (
        "Tilescope has no cuda.compile_ptx: it runs kernels on the CPU and compiles nothing for a GPU.\n"
        "Tilescope has no kernel.inspect_asm: it runs kernels on the CPU and compiles nothing for a GPU.\n"
        "Tilescope has no kernel.get_regs_per_thread: it runs kernels on the CPU and compiles nothing for a GPU, "
        "so the number is unknown.\n",
        "tilescope: queries about the device are answered as by an NVIDIA H200, which is only simulated.\n",
    ),
    IN_KERNELS: (
        "reversed_sum is declared for (float32[:], float32) and (float64[:], float64) and (int32[:], int32), "
        "but argument 1 is int64[:].\n",
        "",
    ),
}


@pytest.mark.parametrize("program", PRINTED, ids=("streams", "arrays", "ufuncs", "devices", "in kernels"))
def test_programs_run_with_what_simulators_lack(script, tmp_path, program):
    done = run_tilescope("run", "--quiet", str(script(HEAD + program)), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, *PRINTED[program])


REFUSED = {
    "k[1, 8, 128](a)": "TypeError: k[1, 8, 128]: the third parameter of a launch must be its stream, not 128; for "
    "128 bytes of dynamic shared memory write k[1, 8, 0, 128].",
    "k[1](a)": "ValueError: k[1]: a launch takes 2 to 4 parameters, k[blocks, threads, stream, bytes of shared "
    "memory], not 1.",
    "k[8 / 4, 8](a)": "TypeError: k[2.0, 8]: griddim must be a sequence of integers, got [2.0], and 2.0 is a float; "
    "write // in place of /.",
    "k[1, (2, 2, 2, 2)](a)": "ValueError: k[1, (2, 2, 2, 2)]: blockdim must be a sequence of 1, 2 or 3 integers, got "
    "[2, 2, 2, 2].",
    "k[0, 8](a)": "ValueError: k[0, 8]: 0 blocks along x of the grid, but a GPU needs at least 1, so the launch "
    "fails; skip the launch if there is nothing to do.",
    "k[1, 8]()": "TypeError: k takes 1 argument, but 0 are given.",
    "cuda.jit(lambda a, b: None)[1, 8](a)": "TypeError: <lambda> takes 2 arguments, but 1 is given.",
    "k[1, 8]([1.0])": "TypeError: argument a of k is a list, which a kernel does not take; pass np.array(...) of it.",
    "k[1, 8](None)": "TypeError: argument a of k is None, which a kernel does not take; pass numbers and arrays.",
    "k[1, 8](a=a)": "TypeError: k takes only positional arguments; leave out a=.",
    "k(a)": "ValueError: k: launch configuration was not specified; launch it as k[blocks, threads](...).",
    "k[1, 8, 0, 0.5](a)": "TypeError: k[1, 8, 0, 0.5]: the fourth parameter must be the bytes of shared memory, "
    "not 0.5.",
}
REFUSED_BY_THE_DRIVER = {
    "k[1, 2048](a)": "ValueError: k[1, 2048]: 2,048 threads in a block, but a GPU takes at most 1,024, so the launch "
    "fails.",
    "k[(1, 70000), 8](a)": "ValueError: k[(1, 70000), 8]: 70,000 along y of the grid, but a GPU takes at most 65,535, "
    "so the launch fails; use x, which has the highest limit.",
    "k[1, 8, 0, 60000](a)": "ValueError: k[1, 8]: 60,000 bytes of dynamic shared memory, but Numba can use at most "
    "49,152, so the launch fails.",
}


def refusals(calls):
    """Return a program that makes calls that are refused, and prints how."""
    kernel = "@cuda.jit\ndef k(a):\n    a[cuda.grid(1)] = 1\n\na = np.zeros(8)\n"
    tried = "try:\n    {}\nexcept Exception as error:\n    print(f'{{type(error).__name__}}: {{error}}')\n"
    return HEAD + kernel + "k[1, 8](a)\n" + "".join(map(tried.format, calls))


def test_launches_that_a_gpu_refuses_are_refused_in_one_sentence(script, tmp_path):
    expected = REFUSED | REFUSED_BY_THE_DRIVER
    done = run_tilescope("run", "--quiet", str(script(refusals(expected))), folder=tmp_path)
    assert done.stdout.splitlines() == list(expected.values())
    done = run_tilescope("check", str(script(refusals(REFUSED))), folder=tmp_path)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("tilescope: ")]
    assert lines == list(REFUSED.values())

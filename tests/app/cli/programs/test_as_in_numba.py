"""Programs behave under `run` as with Numba: they catch, choose and copy the same."""

from __future__ import annotations

import pytest

from programs import HEAD, run_tilescope

DRIVER = """
from numba.cuda.cudadrv import devices, driver

context, a = devices.get_context(), np.arange(10, dtype=np.uint32)
first, second, back = context.memalloc(40), context.memalloc(40), np.zeros(10, np.uint32)
driver.host_to_device(first, a, 40)
driver.device_to_device(second, first, 40)
driver.device_memset(second, 0xAB, 4)
driver.device_to_host(back, second, 36)
assert back.tolist() == [0xABABABAB, *range(1, 9), 0], back
there = cuda.to_device(a)
assert driver.device_memory_size(there) == driver.device_memory_size(first) == 40
driver.device_memset(there, 0, driver.device_memory_size(there))
assert not there.copy_to_host().any() and a[9] == 9
host = context.memhostalloc(32, mapped=True)
driver.device_memset(host, 7, 16)
assert np.ndarray(16, np.uint8, host).sum() == 7 * 16 and context.memallocmanaged(8, attach_global=False).size == 8
for call in (lambda: driver.device_memset(there, 0, 41), lambda: driver.host_to_device(first, a[::2], 20)):
    try:
        call()
        print("no error")
    except ValueError:
        pass
"""

SHAPES = """
a = cuda.device_array(np.array([3, 4]), np.int8)
assert a.shape == (3, 4) and cuda.pinned_array(np.array(5)).shape == (5,)
for shape in (np.array(1.5), np.array([1.0, 2.0])):
    try:
        cuda.device_array(shape)
        print("no error")
    except TypeError:
        pass
by_rows, by_columns = (np.arange(6).reshape(2, 3, order=order) for order in "CF")
for axis in (0, 1):
    shape = ((4, 2, 3), (2, 4, 3))[axis]
    c, f = (np.broadcast_to(np.expand_dims(x, axis), shape) for x in (by_rows, by_columns))
    there_c, there_f = cuda.to_device(c), cuda.to_device(f)
    there_c.copy_to_device(f)
    there_f.copy_to_device(c)
    assert (there_c.copy_to_host() == f).all() and (there_f.copy_to_host() == c).all()
"""

SIGNATURES = """
def add(r, x, y):
    r[0] = x + y

several = cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])(add)
r = np.zeros(1)
several[1, 1](r, np.float32(1), np.float32(2**-25))
assert r[0] == 1
several[1, 1](r, 1, 2**-25)
assert r[0] == 1 + 2**-25
either = cuda.jit(["(float64[::1], float32, float64)", "(float64[::1], float64, float32)"])(add)
try:
    either[1, 1](r, 1.0, 1.0)
except TypeError as error:
    print(error)

@cuda.jit("void(int32[:], float32[:])")
def signed(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
    cuda.atomic.sub(a, i, 1)

a, out = np.array([5, 2**32 - 1], np.uint32), np.zeros(2, np.float32)
for given in (a, cuda.InOut(a), cuda.to_device(a - np.uint32(2))):
    signed[1, 2](given, out)
assert a.tolist() == [3, 2**32 - 3] and given.copy_to_host().tolist() == [2, 2**32 - 4]
assert out.tolist() == [3, -3]
assert signed.specialized and not several.specialized
for call in (lambda: signed.specialize(a, out),):
    try:
        call()
    except RuntimeError as error:
        print(error)
"""

DIVISION = """
@cuda.jit(debug=True, opt=False)
def divide(r, x):
    r[0] = 1 / x[0]
    r[1] = 1

r = np.zeros(2)
for kind in (FloatingPointError, ZeroDivisionError):
    try:
        divide[1, 1](r, np.zeros(1))
    except kind as error:
        print(f"{type(error).__name__}: {error}")
assert not r.any()
"""

NAMES = """
from numba import types

kind = np.float16

@cuda.jit
def size(out):
    out[0] = cuda.shared.array((2, 3), dtype=kind).size

for kind in (np.float16, types.float16, np.int8):
    out = np.zeros(1, np.float16)
    size[1, 1](out)
    assert out[0] == 6
"""

CALL = """
import tilescope

@cuda.jit("void(int32[:])")
def signed(a):
    a[0] >>= 1

a = np.array([2**32 - 8], np.uint32)
signed[1, 1](a)
trace = tilescope.trace(signed[1, 1], a)
assert a[0] == 2**32 - 2, a
"""

WHERE = "tid=[0, 0, 0] ctaid=[0, 0, 0]: division by zero\n"
PRINTED = {
    DRIVER: "",
    SHAPES: "",
    SIGNATURES: "add is declared for (float64[::1], float32, float64) and (float64[::1], float64, float32), which "
    "match (float64[::1], float64, float64) equally well.\n"
    "Dispatcher already specialized\n",
    DIVISION: f"ZeroDivisionError: {WHERE}" * 2,
}


@pytest.mark.parametrize("program", PRINTED, ids=("driver", "shapes", "signatures", "division"))
@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_programs_run_as_with_numba(script, tmp_path, program, engine):
    done = run_tilescope("run", "--quiet", "--engine", engine, str(script(HEAD + program)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, PRINTED[program]), done.stderr


def test_a_call_of_a_kernel_of_one_signature_takes_what_its_launch_does(script, tmp_path):
    done = run_tilescope("run", "--quiet", str(script(HEAD + CALL)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_name_that_stands_for_a_type_of_numpy(script, tmp_path):
    done = run_tilescope("run", "--quiet", str(script(HEAD + NAMES)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr

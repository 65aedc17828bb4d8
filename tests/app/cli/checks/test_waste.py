"""What `check` says of programs as they are: random numbers, records, and kernels launched for all elements."""

from __future__ import annotations

import pytest

from programs import HEAD, check_program

PI = (
    HEAD
    + """
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def count(states, out):
    i, inside = cuda.grid(1), 0
    for k in range(20):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            inside += 1
    out[i] = inside

out = np.zeros(64, np.int32)
count[2, 32](create_xoroshiro128p_states(64, seed=1), out)
assert 900 < out.sum() < 1100
"""
)
RECORDS = (
    HEAD
    + """
body = np.dtype([("x", np.float32), ("mark", np.uint8), ("y", np.float32), ("z", np.float32)], align=True)

@cuda.jit
def move(bodies):
    i = cuda.grid(1)
    bodies[i].x = 1

bodies = np.zeros(128, body)
move[2, 64](bodies)
assert bodies["x"].sum() == 128
"""
)
FOR_ALL = (
    HEAD
    + """
@cuda.jit
def double(a):
    i = cuda.grid(1)
    {guard}a[i] *= 2

a = np.ones(1000, np.float32)
double.forall(a.size)(a)
double.forall(0)(a)
double.forall(a.size, tpb=128)(a)
assert (a == 4).all()
try:
    double.forall(-1)
except ValueError as error:
    assert str(error) == "Can't create ForAll with negative task count: -1"
"""
)


@pytest.mark.parametrize("engine", ["compiled", "simulator"])
def test_states_of_random_numbers_are_the_library_s_business(script, tmp_path, engine):
    assert check_program(tmp_path, script(PI), "--engine", engine) == []


def test_records_with_gaps_are_read_as_they_are(script, tmp_path):
    (finding,) = check_program(tmp_path, script(RECORDS))
    assert (finding["kind"], finding["remedy"]) == ("uncoalesced", "keep each field in its own array")


@pytest.mark.parametrize(("guard", "kinds"), [("if i < a.size: ", []), ("", ["bounds"])])
def test_for_all_takes_blocks_of_many_threads_as_a_gpu_does(script, tmp_path, guard, kinds):
    """The blocks reach beyond the last element, so a kernel without a test of its index goes outside."""
    findings = check_program(tmp_path, script(FOR_ALL.format(guard=guard)))
    assert sorted({finding["kind"] for finding in findings}) == kinds

"""Records in both engines: fields of any type, nested, packed, in arrays of every space, and what is not taken."""

from __future__ import annotations

import pytest

from engines import assert_engines_agree, assert_same
from launching import Array, launch
from programs import HEAD, run_program

LAYOUTS = """
import numba
POINT = np.dtype([
    ("x", np.float32), ("n", np.int16), ("v", np.float64, (3,)),
    ("inner", [("a", np.int8), ("z", np.complex64), ("T", np.float32)]),
], align=True)
PACKED = np.dtype([("a", np.uint8), ("b", np.float64), ("size", np.int32)], align=True)
point, packed = numba.from_dtype(POINT), numba.from_dtype(PACKED)
"""
ARRAYS = (Array((8,), fill="arange"), Array((8,), "float64"))

BODIES = {
    "a field, as attribute and as index": """
        s = cuda.shared.array(8, point)
        s[t].x = t + 0.5
        s[t]["n"] = 70000
        cuda.syncthreads()
        out[t] = s[7 - t].x + s[7 - t]["n"] + s[t][0]""",
    "an array in a record": """
        s = cuda.shared.array(8, point)
        s[t].v[2] = 8
        s[t].v[:2] = a[t]
        s[t].v[0] = s[t].v[1]
        out[t] = s[t].v[0] - s[t]["v"][1]""",
    "a record in a record": """
        s = cuda.shared.array(8, point)
        s[t].inner.a = 300 + t
        s[t]["inner"]["z"] = 3 + 2j
        out[t] = s[t].inner.a + s[t].inner.z.imag""",
    "fields called what arrays call something else": """
        s = cuda.shared.array(8, point)
        m = cuda.local.array(3, packed)
        s[t].inner.T = m[1].size = t
        m[1].size += 4
        out[t] = s[t].inner.T + m[1].size + len(m) + s.shape[0]""",
    "records assigned as a whole": """
        m = cuda.local.array(3, packed)
        m[0].a = 300
        m[0].b, m[0].size = 2.5, t
        m[1] = m[0]
        m[1]["a"] *= 2
        m[-1].b = m[1].b + 1
        out[t] = m[1].a + m[1].b + m[1].size + m[2].b""",
    "one field of all records": """
        s = cuda.shared.array(8, point)
        s["x"][t] = 3
        s.n[t] = t
        cuda.syncthreads()
        cuda.atomic.add(s.x, t // 4, s["n"][7 - t])
        cuda.syncthreads()
        out[t] = s[::-1].x[7 - t]""",
    "records of device functions": """
        s = cuda.shared.array((2, 4), point)
        p = s[t // 4, t % 4]
        p.x = t
        p.v[1] = 2
        out[t] = norm(p)""",
    "reads of what nobody wrote": """
        s = cuda.shared.array(8, point)
        out[t] = s[t].n + s[t].inner.a""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_both_engines_support_records(tmp_path, body):
    source = f"""{LAYOUTS}
@cuda.jit(device=True)
def norm(p):
    return p.x + p.v[1]

@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
{body.replace("        ", "    ")}
"""
    trace = assert_engines_agree(launch(tmp_path, source, ARRAYS, grid=(2, 1, 1), block=(8, 1, 1)))
    assert trace.accesses > 8


GIVEN = (
    HEAD
    + """
PARTICLE = np.dtype([("mass", "f4"), ("velocity", "f8"), ("force", "f8"), ("tag", "u1")], align=True)

@cuda.jit
def kernel(particles, out):
    i = cuda.grid(1)
    if i < len(particles):
        p = particles[i]
        p.velocity += p.force / p.mass
        out[i] = particles.mass[-1 - i] + p["velocity"]
        particles[i]["tag"] = i

particles, out = np.zeros(12, PARTICLE), np.zeros(12)
particles["mass"], particles["force"] = np.arange(1, 13), np.arange(12)
kernel[2, 8](particles, out)
print(particles.tobytes().hex(), out)
assert np.allclose(particles["velocity"], particles["force"] / particles["mass"])
assert particles["tag"].tolist() == list(range(12))
"""
)


SINGLE = (
    HEAD
    + """
FIELDS = [("mass", "f4"), ("velocity", "f4", (3,))]
KNOWN = np.array([(2, (1, 2, 3)), (4, (5, 6, 7))], FIELDS)

@cuda.jit
def kernel(particle, out):
    known, i = cuda.const.array_like(KNOWN), cuda.grid(1)
    out[i] = particle.mass + particle["velocity"][i] * known[i]["mass"] + known[1].velocity[i]

out = np.zeros(2)
kernel[1, 2](np.array([(1, (2, 3, 4))], FIELDS)[0], out)
assert out.tolist() == [1 + 2 * 2 + 5, 1 + 3 * 4 + 6]
"""
)


def traced_alike(tmp_path, path):
    """Assert that both engines give the same trace of a program's launch, sequentially; return ours."""
    (printed, launches, (ours,)), theirs = (
        run_program(tmp_path, ("--engine", engine, "--schedule", "sequential"), path)
        for engine in ("compiled", "simulator")
    )
    assert (printed, launches) == theirs[:2]
    assert ours.made_by.endswith("compiled")
    assert_same(ours, theirs[2][0], 0.0)
    return ours


def test_one_record_as_an_argument_and_constant_records(script, tmp_path):
    ours = traced_alike(tmp_path, script(SINGLE))
    assert {"particle.mass", "known.mass"} <= {b.name for b in ours.buffers}


def test_host_records_are_changed_in_place(script, tmp_path):
    ours = traced_alike(tmp_path, script(GIVEN))
    assert {b.name: b.unit for b in ours.buffers}["particles.velocity"] == 32


def test_a_record_outside_its_array_has_only_fields_outside(tmp_path):
    source = f"""{LAYOUTS}
@cuda.jit
def kernel(a, out):
    s = cuda.shared.array(8, point)
    s[cuda.threadIdx.x + 1].x = 1
"""
    ours = assert_engines_agree(launch(tmp_path, source, ARRAYS, block=(8, 1, 1)))
    assert ours.outside.text == ("s.x[8]",)

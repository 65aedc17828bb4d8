"""What is right but wasteful: each kind found where it is, and silent in the twin that does without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from launching import Array, Scalar, launch, trace
from tilescope.tracer.findings import KINDS, SEVERITIES, findings_of, place_of
from tilescope.tracer.requests import requests_of
from tilescope.tracer.types_findings import TypeInference
from tilescope.tracer.waste import waste_findings
from traces import programs, trace_of

ERRORS = {"race", "barrier", "bounds", "unwritten"}


def text(body, count):
    names = "".join(f"arg{i}, " for i in range(count))
    return f"@cuda.jit\ndef kernel({names}):\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )


def kernel(folder, body, *arguments, block=(64, 1, 1), grid=(1, 1, 1)):
    ended = trace(folder, text(body, len(arguments)), arguments, grid=grid, block=block)
    assert ended.error is None, ended.error
    found = findings_of(ended, requests_of(ended))
    assert not {f.kind for f in found} & ERRORS
    return ended, found


IN, OUT = Array((4096,)), Array((256,))
TILE = "s = cuda.shared.array({shape}, {dtype})\nx, y = t % 32, t // 32\n{body}"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("arg1[t] = arg0[t]", []),
        ("arg1[t] = arg0[0]", []),
        ("arg1[t] = arg0[2 * t]", [("uncoalesced", "warning", 16, "8 sectors", "8 bytes apart")]),
        ("arg1[t] = arg0[32 * t]", [("uncoalesced", "warning", 64, "32 sectors", "128 bytes apart")]),
        ("arg1[t] = arg0[t + 1]", []),  # half a sector more on each side is not worth a word
        ("arg1[t] = arg0[32 * (t // 8)]", [("uncoalesced", "note", 8, "4 sectors", "128 bytes apart")]),
    ],
)
def test_uncoalesced(tmp_path, body, said):
    _, found = kernel(tmp_path, body, IN, OUT)
    assert [(f.kind, f.severity, f.count) for f in found] == [(*s[:2], s[2]) for s in said]
    for finding, (*_, each, why) in zip(found, said, strict=True):
        assert finding.message.startswith(each) and why in finding.message


@pytest.mark.parametrize(
    ("shape", "dtype", "element", "expected"),
    [
        ("(32, 32)", "float32", "s[y, x]", []),
        ("(32, 32)", "float32", "s[x, y]", [("bank conflict", "warning", 64)]),
        ("(32, 33)", "float32", "s[x, y]", []),
        ("(32, 32)", "float32", "s[0, 0]", []),
        ("(32, 32)", "float64", "s[y, x]", []),  # two wavefronts can't be helped
        ("(32, 32)", "float64", "s[x, y]", [("bank conflict", "warning", 64)]),
    ],
)
def test_bank_conflicts(tmp_path, shape, dtype, element, expected):
    fill = f"for k in range(y, 32, 2):\n    s[k, x] = 0\ncuda.syncthreads()\narg0[t] = {element}"
    body = TILE.format(shape=shape, dtype=dtype, body=fill)
    _, found = kernel(tmp_path, body, Array((64,), dtype))
    assert [(f.kind, f.severity, f.count) for f in found] == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("t % 4 == 0", [("warning", 96)]),
        ("t % 2 == 0", [("note", 64)]),
        ("t < 32", []),  # a whole warp sits it out, which costs nothing
        ("t < 60", []),
    ],
)
def test_idle_lanes(tmp_path, condition, expected):
    _, found = kernel(tmp_path, f"if {condition}:\n    arg1[t] = arg0[t]", IN, OUT)
    assert [(f.severity, f.count) for f in found if f.kind == "idle lanes"] == expected


def test_elements_loaded_again_and_again(tmp_path):
    again = "total = float32(0)\nfor k in range(8):\n    total += arg0[{}]\narg1[t] = total"
    _, found = kernel(tmp_path, again.format("t"), IN, OUT)
    assert [f.kind for f in found] == ["reloaded"]
    assert found[0].message.startswith("8 times over") and "arg0" in found[0].message
    assert kernel(tmp_path, again.format("64 * k + t"), IN, OUT)[1] == []
    # One load of a warp brings an element to all its lanes.
    assert kernel(tmp_path, "arg1[t] = arg0[0]", IN, OUT)[1] == []


def test_blocks_that_do_not_fill_their_warps(tmp_path):
    ended, found = kernel(tmp_path, "arg1[t] = arg0[t]", IN, OUT, block=(100, 1, 1))
    size = next(f for f in found if f.kind == "block size")
    assert (size.severity, size.count) == ("warning", 28) and "take 128 threads" in size.message
    file, line = place_of(size, ended)
    assert ended.sources[file].splitlines()[line - 1].startswith("def kernel")
    assert kernel(tmp_path, "arg1[t] = arg0[t]", IN, OUT, block=(96, 1, 1))[1] == []


def fewest(made, requests, request):
    """Return the fewest sectors that hold the elements of a request, by listing them."""
    rows = requests.order[requests.start[request] : requests.start[request + 1]]
    size = made.buffers[int(requests.buffer[request])].itemsize
    return max(1, -(-len({int(made.index[row]) for row in rows}) * size // 32))


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_sectors_of_a_site_are_those_of_its_requests(made_of):
    made = trace_of(made_of, "lockstep")
    requests = requests_of(made)
    spaces = np.array([b.space for b in made.buffers])[requests.buffer]
    told = {(f.sites[0], int(made.buffer[f.example[0]])): f.count
            for f in waste_findings(made, requests) if f.kind == "uncoalesced"}  # fmt: skip
    for site in np.unique(requests.site):
        for buffer in np.unique(requests.buffer):
            chosen = np.flatnonzero(
                (requests.site == site) & (requests.buffer == buffer) & (spaces == "global")
            )
            chosen = chosen[requests.op[chosen] <= 1]
            cost = int(requests.sectors[chosen].sum())
            least = sum(fewest(made, requests, request) for request in chosen)
            if len(chosen) and cost - least >= 4 and cost >= 1.25 * least:
                assert told.pop((int(site), int(buffer))) == cost
    assert told == {}


def test_every_finding_is_whole(tmp_path):
    body = "if t % 4 == 0:\n    arg1[t] = arg0[8 * t]"
    ended, found = kernel(tmp_path, body, IN, OUT, block=(40, 1, 1))
    assert {f.kind for f in found} == {"uncoalesced", "idle lanes", "block size"}
    requests = requests_of(ended)
    for finding in found:
        assert finding.kind in KINDS and finding.severity in SEVERITIES
        assert finding.message[0].isdigit() and finding.message.endswith(f"; {finding.remedy}.")
        assert 0 <= finding.moment <= requests.end
        assert set(finding.example) <= set(finding.rows.tolist())
        assert (np.diff(finding.rows) > 0).all()
        assert all(ended.sites[site].line for site in finding.sites)


def test_a_launch_without_accesses_has_no_waste(tmp_path):
    assert kernel(tmp_path, "pass")[1] == []


# --- float64 that was meant as float32


SUM = """
total = {start}
for k in range(4):
    total += arg0[4 * t + k]
arg1[t] = total
"""


def arithmetic(folder, body, *arguments):
    return TypeInference().operations_of(
        [launch(folder, text(body, len(arguments)), arguments, block=(32, 1, 1))]
    )[0]


@pytest.mark.parametrize(
    ("body", "names", "cause"),
    [
        (SUM.format(start="0.0"), ["add"], "0.0 on line"),
        ("arg1[t] = arg0[t] * 0.1", ["mul"], "0.1 on line"),
        ("arg1[t] = arg0[t] * 2.0 + 0.5", ["add", "mul"], " on line"),
        ("x = arg0[t] * 2.0\narg1[t] = x\narg0[t] = x", ["mul"], "2.0 on line"),
        ("arg1[t] = t * arg0[t]", ["mul"], ""),
        (
            "arg1[t] = arg0[t] * 2.0",
            [],
            "",
        ),  # one operation, rounded at once: the compiler does it in float32
        ("arg1[t] += 1", [], ""),
        ("arg1[0] = arg0[t] / 3", [], ""),
        ("arg1[t] = arg0[t] * arg2", ["mul"], "the argument arg2"),
        ("arg1[t] = math.sqrt(t / 2) * arg0[t]", ["mul", "sqrt", "truediv"], "the division of whole numbers"),
        (SUM.format(start="float32(0)"), [], ""),
        ("arg1[t] = arg0[t] * float32(2.0)", [], ""),
        ("arg1[t] = math.sqrt(arg0[t])", [], ""),
        ("arg1[t] = float64(arg0[t]) * 2.0", [], ""),  # named, so it is meant
        ("arg1[t] = arg0[t // 2]", [], ""),
    ],
)
def test_float64_arithmetic(tmp_path, body, names, cause):
    found = arithmetic(tmp_path, body.strip(), IN, OUT, Scalar(0.5))
    assert sorted(o.name for o in found) == names
    assert all(cause in o.cause for o in found)


def test_float64_is_meant_where_an_array_holds_it(tmp_path):
    assert arithmetic(tmp_path, "arg1[t] = arg0[t] * 2.0", IN, Array((256,), "float64")) == ()


def test_a_device_function_is_looked_into(tmp_path):
    source = "@cuda.jit(device=True)\ndef half(x):\n    return x * 0.5\n" + text("arg1[t] = half(arg0[t])", 2)
    (found,) = TypeInference().operations_of([launch(tmp_path, source, (IN, OUT), block=(32, 1, 1))])
    assert [o.name for o in found] == ["mul"] and "0.5 on line" in found[0].cause


def test_a_kernel_that_numba_can_not_compile_has_no_operations(tmp_path):
    assert arithmetic(tmp_path, "arg1[t] = arg0.nothing(t)", IN, OUT) == ()


def test_float64_is_told_with_its_line_and_remedy(tmp_path):
    body = SUM.format(start="0.0").strip()
    ended = trace(tmp_path, text(body, 2), (IN, OUT), block=(32, 1, 1))
    found = findings_of(ended, requests_of(ended), arithmetic(tmp_path, body, IN, OUT))
    finding = next(f for f in found if f.kind == "float64")
    assert (finding.severity, finding.count, finding.remedy) == ("warning", 1, "write float32(0.0)")
    file, line = place_of(finding, ended)
    assert "total +=" in ended.sources[file].splitlines()[line - 1]
    assert finding.moment == 1 and len(finding.rows) == 128

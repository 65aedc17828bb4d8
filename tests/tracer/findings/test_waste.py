"""What is right but wasteful: each kind found where it is, and silent in the twin that does without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from finding_kernels import kernel_text
from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.waste.all_waste import waste_findings
from tilescope.tracer.model.finding import FINDING_KINDS, SEVERITIES, source_location
from traces import programs, trace_of

ERRORS = {"race", "barrier", "bounds", "unwritten"}


def kernel(folder, body, *arguments, block=(64, 1, 1), grid=(1, 1, 1)):
    ended = trace(folder, kernel_text(body, len(arguments)), arguments, grid=grid, block=block)
    assert ended.error is None, ended.error
    findings = findings_of(ended, requests_of(ended))
    assert not {f.kind for f in findings} & ERRORS
    return ended, findings


IN, OUT = Array((4096,)), Array((256,))
TILE = "s = cuda.shared.array({shape}, {dtype})\nx, y = t % 32, t // 32\n{body}"


@pytest.mark.parametrize(
    ("body", "expected_findings"),
    [
        ("arg1[t] = arg0[t]", []),
        ("arg1[t] = arg0[0]", []),
        ("arg1[t] = arg0[2 * t]", [("uncoalesced", "warning", 16, "8 sectors", "8 bytes apart")]),
        ("arg1[t] = arg0[32 * t]", [("uncoalesced", "warning", 64, "32 sectors", "128 bytes apart")]),
        ("arg1[t] = arg0[t + 1]", []),  # half a sector more on each side is not worth a word
        ("arg1[t] = arg0[32 * (t // 8)]", []),  # no more sectors than neighbours would touch
        ("arg1[t] = arg0[t * t % 61]", [("uncoalesced", "note", 16, "8 sectors", "far from each other")]),
    ],
)
def test_uncoalesced(tmp_path, body, expected_findings):
    _, findings = kernel(tmp_path, body, IN, OUT)
    assert [(f.kind, f.severity, f.count) for f in findings] == [(*s[:2], s[2]) for s in expected_findings]
    for finding, (*_, each, why) in zip(findings, expected_findings, strict=True):
        assert finding.message.startswith(each) and why in finding.message


def test_loads_of_one_line_are_distinguished_by_their_index(tmp_path):
    _, (finding,) = kernel(tmp_path, "arg1[t] = arg0[2 * t] + arg0[32 * t]", IN, OUT)
    assert finding.message.startswith(
        "32 sectors for each load of arg0[32 * t] by a warp on line 7, 64 in all"
    )


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
    _, findings = kernel(tmp_path, body, Array((64,), dtype))
    assert [(f.kind, f.severity, f.count) for f in findings] == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("t % 4 == 0", [("warning", 48, "2 requests do what 1 could", "successive numbers")]),
        ("t % 2 == 0", [("warning", 32, "2 requests do what 1 could", "successive numbers")]),
        ("t % 3 == 1 or t % 7 == 0", [("note", 36, "2 requests do what 1 could", "the same to do")]),
        ("t < 32", []),  # a whole warp sits it out, which costs nothing
        ("t < 60", []),
        ("t == 0", []),  # one request, and there are none of fewer
        ("t % 32 == 0", []),  # what the first lane of each warp does, others of the warp can't do for it
        ("t % 32 < 16", []),
    ],
)
def test_idle_lanes(tmp_path, condition, expected):
    _, findings = kernel(tmp_path, f"if {condition}:\n    arg1[t] = arg0[t]", IN, OUT)
    reported = [f for f in findings if f.kind == "idle lanes"]
    assert [(f.severity, f.count) for f in reported] == [e[:2] for e in expected]
    assert all(e[2] in f.message and e[3] in f.remedy for e, f in zip(expected, reported, strict=True))


def test_elements_loaded_again_and_again(tmp_path):
    again = "total = float32(0)\nfor k in range(8):\n    total += arg0[{}]\narg1[t] = total"
    _, findings = kernel(tmp_path, again.format("t"), IN, OUT)
    assert [f.kind for f in findings] == ["reloaded"]
    assert findings[0].message.startswith("8 times over") and "arg0" in findings[0].message
    assert kernel(tmp_path, again.format("64 * k + t"), IN, OUT)[1] == []
    # One load of a warp brings an element to all its lanes.
    assert kernel(tmp_path, "arg1[t] = arg0[0]", IN, OUT)[1] == []


def test_blocks_that_do_not_fill_their_warps(tmp_path):
    ended, findings = kernel(tmp_path, "arg1[t] = arg0[t]", IN, OUT, block=(100, 1, 1))
    size = next(f for f in findings if f.kind == "block size")
    assert (size.severity, size.count) == ("note", 28) and "use 128 threads" in size.message
    file, line = source_location(size, ended)
    assert ended.sources[file].splitlines()[line - 1].startswith("def kernel")
    assert kernel(tmp_path, "arg1[t] = arg0[t]", IN, OUT, block=(96, 1, 1))[1] == []


def bytes_of(trace, requests, request):
    """Return (first, last) byte of each element that a request touches, from its buffer's start, in order."""
    rows = requests.order[requests.start[request] : requests.start[request + 1]]
    buffer = trace.buffers[int(requests.buffer[request])]
    first = sorted({int(trace.index[row]) * buffer.unit for row in rows})
    return [(item, item + buffer.itemsize - 1) for item in first]


def is_spread(trace, requests, request, wanted):
    """Check whether a request costs too many sectors for any start of its pieces, by listing them."""
    pieces = []
    for first, last in bytes_of(trace, requests, request):
        if pieces and first - pieces[-1][1] <= 32:
            pieces[-1][1] = last
        else:
            pieces.append([first, last])
    return sum(-(-(last - first + 1) // 32) for first, last in pieces) > wanted


def wanted_of(trace, requests, request):
    """Return the sectors of a request whose lanes touch neighbouring elements."""
    lanes = min(32, trace.threads - int(requests.warp[request]) * 32)
    return max(1, -(-lanes * trace.buffers[int(requests.buffer[request])].itemsize // 32))


@settings(max_examples=100)
@given(programs())
def test_the_sectors_of_a_site_are_those_of_its_requests(made_of):
    trace = trace_of(made_of, "lockstep")
    requests = requests_of(trace)
    findings = {(f.sites[0], int(trace.buffer[f.example[0]])): f.count
            for f in waste_findings(trace, requests) if f.kind == "uncoalesced"}  # fmt: skip
    plain = [
        r for r in range(len(requests))
        if trace.buffers[requests.buffer[r]].space == "global" and requests.op[r] <= 1
    ]  # fmt: skip
    total = sum(int(requests.sectors[r]) for r in plain)
    for place in {(int(requests.site[r]), int(requests.buffer[r])) for r in plain}:
        own = [r for r in plain if (requests.site[r], requests.buffer[r]) == place]
        cost = sum(int(requests.sectors[r]) for r in own)
        over = [max(0, int(requests.sectors[r]) - wanted_of(trace, requests, r)) for r in own]
        worst, waste = own[int(np.argmax(over))], sum(over)
        much = cost >= 2 * (cost - waste) or (cost >= 1.25 * (cost - waste) and waste >= 0.1 * total)
        if waste >= 4 and much and is_spread(trace, requests, worst, wanted_of(trace, requests, worst)):
            assert findings.pop(place) == cost
        elif waste < 4 or not much:
            assert place not in findings
        assert findings.pop(place, cost) == cost
    assert findings == {}


def test_every_finding_is_complete(tmp_path):
    body = "if t % 4 == 0:\n    arg1[t] = arg0[8 * t]"
    ended, findings = kernel(tmp_path, body, IN, OUT, block=(40, 1, 1))
    assert {f.kind for f in findings} == {"uncoalesced", "idle lanes", "block size"}
    requests = requests_of(ended)
    for finding in findings:
        assert finding.kind in FINDING_KINDS and finding.severity in SEVERITIES
        assert finding.message[0].isdigit() and finding.message.endswith(f"; {finding.remedy}.")
        assert 0 <= finding.moment <= requests.end
        assert set(finding.example) <= set(finding.rows.tolist())
        assert (np.diff(finding.rows) > 0).all()
        assert all(ended.sites[site].line for site in finding.sites)


def test_a_launch_without_accesses_has_no_waste(tmp_path):
    assert kernel(tmp_path, "pass")[1] == []

"""Warp operations: shuffles, votes, matches and syncwarp, with masks, under every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from launching import Array, final_contents, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.storage.trace_file import load, save
from traces import rewrite_file

pytestmark = pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
OUT = (Array((64,), "int64"),)


def traced(folder, schedule, body, block=(64, 1, 1)):
    source = "@cuda.jit\ndef kernel(out):\n    t = cuda.threadIdx.x\n    lane = cuda.laneid\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    ended = trace(folder, source, OUT, block=block, schedule=schedule, seed=3)
    assert ended.error is None, ended.error
    return ended


def run(folder, schedule, body, block=(64, 1, 1)):
    return final_contents(traced(folder, schedule, body, block), "out")


def barrier_findings(folder, schedule, body, block=(64, 1, 1)):
    """List the findings about barriers, worst first."""
    trace = traced(folder, schedule, body, block)
    return [f for f in findings_of(trace, requests_of(trace)) if f.kind == "barrier"]


T = np.arange(64)
LANE, WARP = T % 32, T // 32 * 32


@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("shfl_sync(0xffffffff, t, 5)", WARP + 5),
        ("shfl_sync(0xffffffff, t, lane + 33)", WARP + (LANE + 1) % 32),
        ("shfl_up_sync(0xffffffff, t, 3)", np.where(LANE < 3, T, T - 3)),
        ("shfl_down_sync(0xffffffff, t, 4)", np.where(LANE > 27, T, T + 4)),
        ("shfl_xor_sync(0xffffffff, t, 1)", T ^ 1),
    ],
)
def test_shuffles(tmp_path, schedule, call, source):
    assert run(tmp_path, schedule, f"out[t] = cuda.{call}").tolist() == source.tolist()


def test_a_sum_over_the_warp(tmp_path, schedule):
    body = "v = t\nfor d in (16, 8, 4, 2, 1):\n    v += cuda.shfl_down_sync(0xffffffff, v, d)\nout[t] = v"
    got = run(tmp_path, schedule, body)
    assert got[0] == sum(range(32))
    assert got[32] == sum(range(32, 64))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("all_sync(0xffffffff, t < 32)", T < 32),
        ("any_sync(0xffffffff, t == 40)", T >= 32),
        ("eq_sync(0xffffffff, t > 40)", T < 32),
        ("ballot_sync(0xffffffff, t % 2 == 0)", np.full(64, 0x55555555)),
        ("match_any_sync(0xffffffff, lane // 16)", np.where(LANE < 16, 0xFFFF, -0x10000)),
        ("match_all_sync(0xffffffff, t // 32)[1]", np.ones(64)),
        ("match_all_sync(0xffffffff, t // 16)[0]", np.zeros(64)),
        ("lanemask_lt()", 2**LANE - 1),
    ],
)
def test_votes_and_matches(tmp_path, schedule, call, expected):
    assert run(tmp_path, schedule, f"out[t] = cuda.{call}").tolist() == expected.astype(int).tolist()


def test_masks_synchronise_half_a_warp(tmp_path, schedule):
    body = """if lane < 16:
    out[t] = cuda.ballot_sync(0xffff, lane % 2)
else:
    out[t] = cuda.shfl_sync(0xffff0000, t, 16)"""
    expected = np.where(LANE < 16, 0xAAAA, WARP + 16)
    assert run(tmp_path, schedule, body).tolist() == expected.tolist()


def test_a_last_warp_that_is_not_full(tmp_path, schedule):
    got = run(tmp_path, schedule, "out[t] = cuda.ballot_sync(0xffffffff, 1)", block=(40, 1, 1))
    assert got[:40].tolist() == [-1] * 32 + [0xFF] * 8


def test_lanes_that_returned_do_not_block_others(tmp_path, schedule):
    body = "if lane >= 8:\n    return\nout[t] = cuda.ballot_sync(0xffffffff, 1)"
    assert run(tmp_path, schedule, body).tolist() == np.where(LANE < 8, 0xFF, 0).tolist()


def test_a_lane_that_never_comes_does_not_hang_the_launch(tmp_path, schedule):
    body = "if lane != 7:\n    out[t] = cuda.ballot_sync(0xffffffff, 1)\ncuda.syncthreads()"
    got = run(tmp_path, schedule, body)
    assert got[LANE != 7].tolist() == [~(1 << 7)] * 62


def test_syncwarp_orders_the_lanes(tmp_path, schedule):
    body = """tile = cuda.shared.array(64, int64)
tile[t] = t
cuda.syncwarp()
out[t] = tile[t ^ 31]"""
    assert run(tmp_path, schedule, body).tolist() == (T ^ 31).tolist()


FULL = "0xffffffff"
SUM = "v = t\nfor d in (16, 8, 4, 2, 1):\n    v += cuda.shfl_down_sync({mask}, v, d)\nif lane == 0:\n    out[t] = v"
FAULTS = {
    "never comes": (
        f"if lane != 7:\n    out[t] = cuda.ballot_sync({FULL}, 1)\ncuda.syncthreads()", "error",
        "1 lane that the mask 0xffffffff on line 9 names never comes, first thread 7 of block 0",
        "if lane != 7:\n    out[t] = cuda.ballot_sync(0xffffff7f, 1)\ncuda.syncthreads()",
    ),
    "asks who returned": (
        f"if t >= 50:\n    return\n{SUM.format(mask=FULL)}", "error",
        "14 lanes from which cuda.shfl_down_sync on line 12 takes values have returned before, first thread 50",
        f"t = t if t < 50 else 0\n{SUM.format(mask=FULL)}".replace("out[t]", "out[cuda.threadIdx.x]"),
    ),
    "asks those next to it, who are there": (
        f"if t >= 50:\n    return\nout[t] = cuda.shfl_up_sync({FULL}, t, 1)", "warning",
        "14 lanes that the mask 0xffffffff on line 10 names had returned before, first thread 50 of block 0",
        "if t >= 50:\n    return\nout[t] = cuda.shfl_up_sync(0x3ffff if t >= 32 else 0xffffffff, t, 1)",
    ),
    "votes without who returned": (
        f"if lane >= 8:\n    return\nout[t] = cuda.ballot_sync({FULL}, 1)", "warning",
        "24 lanes that the mask 0xffffffff on line 10 names had returned before",
        f"n = cuda.ballot_sync({FULL}, lane < 8)\nif lane >= 8:\n    return\nout[t] = n",
    ),
    "syncs without who returned": (
        "if lane == 8:\n    return\ncuda.syncwarp()", "warning",
        "1 lane that the mask 0xffffffff on line 10 names had returned before, first thread 8 of block 0, which a GPU "
        "lets pass, but nothing of it comes",
        "if lane == 8:\n    return\ncuda.syncwarp(0xfffffeff)",
    ),
    "is not named": (
        "out[t] = cuda.shfl_xor_sync(0xffff, t, 1)", "error",
        "16 lanes come to cuda.shfl_xor_sync on line 8 though the mask 0x0000ffff leaves them out, first thread 16",
        "if lane < 16:\n    out[t] = cuda.shfl_xor_sync(0xffff, t, 1)",
    ),
    "is at the same call elsewhere": (
        f"if lane % 2:\n    v = cuda.shfl_xor_sync({FULL}, t, 1)\nelse:\n    v = cuda.shfl_xor_sync({FULL}, 5, 1)",
        "warning", "16 lanes come to cuda.shfl_xor_sync on line ",
        f"v = t if lane % 2 else 5\nout[t] = cuda.shfl_xor_sync({FULL}, v, 1)",
    ),
    "is at another call": (
        f"if lane % 2:\n    v = cuda.shfl_xor_sync({FULL}, t, 1)\nelse:\n    v = cuda.ballot_sync({FULL}, 1)",
        "error", "which no GPU promises to sort out",
        "if lane % 2:\n    v = cuda.shfl_xor_sync(0xaaaaaaaa, t, 2)\nelse:\n    v = cuda.ballot_sync(0x55555555, 1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_lanes_that_miss_their_mask_are_reported(tmp_path, schedule, name):
    wrong, severity, message, twin = FAULTS[name]
    (results,) = barrier_findings(tmp_path, schedule, wrong)
    assert results.severity == severity
    assert message in results.message
    assert barrier_findings(tmp_path, schedule, twin) == []


def test_lanes_of_a_block_that_is_no_multiple_of_32(tmp_path, schedule):
    block = (48, 1, 1)
    (results,) = barrier_findings(tmp_path, schedule, SUM.format(mask=FULL), block)
    assert results.severity == "error" and results.threads == ((0, 47),)
    assert "16 lanes from which cuda.shfl_down_sync on line 10 takes values are not there" in results.message
    assert "warp 1 of a block of 48 threads has 16 lanes" in results.message
    assert (
        barrier_findings(
            tmp_path, schedule, "out[t] = cuda.ballot_sync(0xffffffff, 1)\ncuda.syncwarp()", block
        )
        == []
    )


def test_a_lane_outside_the_mask_does_not_block_others(tmp_path, schedule):
    body = "v = t\nfor d in (1, 2):\n    v += cuda.shfl_xor_sync(0xffff, v, d)\nout[t] = v"
    quads = 4 * (T // 4 * 4) + 6  # the sum over four neighbours
    assert run(tmp_path, schedule, body).tolist() == np.where(LANE < 16, quads, 4 * T).tolist()


def test_half_a_warp_that_names_itself_may_ask_beyond(tmp_path, schedule):
    body = SUM.replace("16, ", "").format(mask="0xffff").replace("\n", "\n    ")
    assert barrier_findings(tmp_path, schedule, f"if t < 16:\n    {body}") == []


def test_faults_are_saved_and_older_ones_without_kinds_are_read(tmp_path, schedule):
    trace = traced(tmp_path, schedule, FAULTS["is at another call"][0])
    save(trace, tmp_path / "a.npz")
    assert load(tmp_path / "a.npz").missing == trace.missing != ()

    def older(arrays):
        for lost in arrays["meta"]["missing"]:
            del lost["why"], lost["other"]

    rewrite_file(tmp_path / "a.npz", older)
    assert load(tmp_path / "a.npz").missing == tuple(
        replace(m, why="waiting", other=-1) for m in trace.missing
    )


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("shfl_sync(0xffff, v, 16)", "error"),
        ("shfl_xor_sync(0xffff, v, 16)", "error"),
        ("shfl_down_sync(0xffff, v, 16)", "error"),  # all of them
        ("shfl_down_sync(0xfffff, v, 8)", "warning"),  # 20 lanes, of which 12 take from each other
        ("shfl_sync(0xffff, v, 15)", None),
        ("shfl_up_sync(0xffff, v, 8)", None),  # the lowest lanes keep their own
    ],
)
def test_lanes_outside_the_mask_give_undefined_values(tmp_path, schedule, call, severity):
    lanes = 20 if "0xfffff" in call else 16
    findings = barrier_findings(
        tmp_path, schedule, f"if t < {lanes}:\n        v = t\n        out[t] = cuda.{call}"
    )
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    assert all("not in its mask" in finding.message for finding in findings)

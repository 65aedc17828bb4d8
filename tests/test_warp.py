"""Warp operations: shuffles, votes, matches and syncwarp, with masks, under every schedule."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, contents, trace
from tilescope.tracer.findings import findings_of
from tilescope.tracer.requests import requests_of

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
    return contents(traced(folder, schedule, body, block), "out")


def errors(folder, schedule, body):
    made = traced(folder, schedule, body)
    return [finding for finding in findings_of(made, requests_of(made)) if finding.severity == "error"]


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
        ("match_any_sync(0xffffffff, lane // 16)", np.where(LANE < 16, 0xFFFF, 0xFFFF0000)),
        ("match_all_sync(0xffffffff, t // 32)[1]", np.ones(64)),
        ("match_all_sync(0xffffffff, t // 16)[0]", np.zeros(64)),
        ("lanemask_lt()", 2**LANE - 1),
    ],
)
def test_votes_and_matches(tmp_path, schedule, call, expected):
    assert run(tmp_path, schedule, f"out[t] = cuda.{call}").tolist() == expected.astype(int).tolist()


def test_masks_let_half_a_warp_meet(tmp_path, schedule):
    body = """if lane < 16:
    out[t] = cuda.ballot_sync(0xffff, lane % 2)
else:
    out[t] = cuda.shfl_sync(0xffff0000, t, 16)"""
    expected = np.where(LANE < 16, 0xAAAA, WARP + 16)
    assert run(tmp_path, schedule, body).tolist() == expected.tolist()


def test_a_last_warp_that_is_not_full(tmp_path, schedule):
    got = run(tmp_path, schedule, "out[t] = cuda.ballot_sync(0xffffffff, 1)", block=(40, 1, 1))
    assert got[:40].tolist() == [0xFFFFFFFF] * 32 + [0xFF] * 8


def test_lanes_that_returned_hold_nobody_up(tmp_path, schedule):
    body = "if lane >= 8:\n    return\nout[t] = cuda.ballot_sync(0xffffffff, 1)"
    assert run(tmp_path, schedule, body).tolist() == np.where(LANE < 8, 0xFF, 0).tolist()


def test_a_lane_that_never_comes_does_not_hang_the_launch(tmp_path, schedule):
    body = "if lane != 7:\n    out[t] = cuda.ballot_sync(0xffffffff, 1)\ncuda.syncthreads()"
    got = run(tmp_path, schedule, body)
    assert got[LANE != 7].tolist() == [0xFFFFFFFF ^ 1 << 7] * 62


def test_syncwarp_orders_the_lanes(tmp_path, schedule):
    body = """tile = cuda.shared.array(64, int64)
tile[t] = t
cuda.syncwarp()
out[t] = tile[t ^ 31]"""
    assert run(tmp_path, schedule, body).tolist() == (T ^ 31).tolist()


def test_a_lane_that_never_comes_is_found(tmp_path, schedule):
    body = "if lane != 7:\n    out[t] = cuda.ballot_sync(0xffffffff, 1)\ncuda.syncthreads()"
    found = errors(tmp_path, schedule, body)
    assert [f.kind for f in found] == ["barrier"]
    assert found[0].message.startswith(
        "1 lane that the mask 0xffffffff on line 9 names never comes, first thread 7"
    )
    assert errors(tmp_path, schedule, body.replace("0xffffffff", "0xffffff7f")) == []


def test_lanes_that_have_ended_are_no_fault(tmp_path, schedule):
    assert (
        errors(tmp_path, schedule, "if lane >= 8:\n    return\nout[t] = cuda.ballot_sync(0xffffffff, 1)")
        == []
    )

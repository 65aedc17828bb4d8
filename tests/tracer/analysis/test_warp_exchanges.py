"""Shuffles, votes and matches: who gives to whom, and the moment that each has."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.model.trace import Barriers
from tilescope.tracer.storage.trace_file import load, save

LANES = np.arange(32)
ARRAYS = (Array((64,), "int32", fill="arange"), Array((64,), "int32"))
SOURCE = """
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    v = a[t]
    {body}
    out[t] = v
"""


def traced(folder, body, block=(64, 1, 1), schedule="lockstep"):
    launch_trace = trace(folder, SOURCE.format(body=body), ARRAYS, block=block, schedule=schedule, seed=2)
    assert launch_trace.error is None
    return launch_trace


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
@pytest.mark.parametrize(
    ("call", "givers"),
    [("shfl_down_sync(-1, v, 16)", np.where(LANES < 16, LANES + 16, LANES)),
     ("shfl_up_sync(-1, v, 1)", np.maximum(LANES - 1, 0)),
     ("shfl_xor_sync(-1, v, 3)", LANES ^ 3),
     ("shfl_sync(-1, v, 7)", np.full(32, 7))],
)  # fmt: skip
def test_a_shuffle_has_a_moment_and_the_source_of_each_lanes_value(tmp_path, call, givers, schedule):
    requests = requests_of(traced(tmp_path, f"v = cuda.{call}", schedule=schedule))
    exchanges = requests.exchanges
    assert (
        exchanges.warp.tolist() in ([0, 1], [1, 0]) and [exchanges.kind(e) for e in (0, 1)] == ["shuffle"] * 2
    )
    for exchange in (0, 1):
        assert exchanges.givers(exchange).tolist() == givers.tolist()
        own = requests.moment[requests.warp == exchanges.warp[exchange]]
        assert own[0] < exchanges.moment[exchange] < own[1]  # after the load, before the store
    assert requests.end == max(*requests.moment, *exchanges.moment)
    assert requests.span_end.max() == requests.end


def test_the_warps_of_a_launch_exchange_at_the_same_moments_in_lockstep(tmp_path):
    body = "k = 16\n    while k > 0:\n        v += cuda.shfl_down_sync(-1, v, k)\n        k //= 2"
    requests = requests_of(traced(tmp_path, body))
    assert requests.exchanges.moment.tolist() == [2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert requests.moment.tolist() == [1, 1, 7, 7]


def test_a_vote_has_the_votes_and_a_match_only_the_participants(tmp_path):
    requests = requests_of(traced(tmp_path, "v = cuda.ballot_sync(-1, v % 3 == 0)", (40, 1, 1))).exchanges
    assert requests.kind(0) == "vote" and requests.votes(0).tolist() == (LANES % 3 == 0).astype(int).tolist()
    assert requests.votes(1).tolist() == [int((32 + lane) % 3 == 0) for lane in range(8)] + [-1] * 24
    assert (requests.givers(0) == -1).all()
    requests = requests_of(traced(tmp_path, "v = cuda.match_any_sync(-1, v)")).exchanges
    assert requests.kind(0) == "match" and (requests.votes(0) == -1).all() and len(requests.lanes(0)[0]) == 32


def test_lanes_that_leave_early_or_take_another_branch_do_not_participate(tmp_path):
    body = "if t % 32 >= 16:\n        out[t] = 0\n        return\n    v = cuda.shfl_down_sync(0xFFFF, v, 8)"
    requests = requests_of(traced(tmp_path, body))
    exchanges = requests.exchanges
    givers = [lane + 8 for lane in range(8)] + list(range(8, 16)) + [-1] * 16
    assert (
        exchanges.givers(0).tolist() == givers
    )  # lanes 16 and on have left: who asks for them keeps its own


def test_exchanges_are_saved_and_a_file_of_an_earlier_version_has_none(tmp_path):
    trace = traced(tmp_path, "v = cuda.shfl_sync(-1, v, 7)")
    save(trace, tmp_path / "new.npz")
    assert len(requests_of(load(tmp_path / "new.npz")).exchanges) == 2
    old = replace(trace, warp_barriers=replace(trace.warp_barriers, part=np.empty(0, np.uint8)))
    assert isinstance(old.warp_barriers, Barriers) and not len(requests_of(old).exchanges)
    assert requests_of(old).moment.tolist() == [1, 1, 2, 2]

"""Counting: bins, contending lanes and lost additions, against a replay access by access."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, Scalar, trace
from sessions import matmul
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.atomic_additions import (
    additions_of,
    histogram_buffer,
    private_histogram_buffer,
)
from tilescope.tracer.analysis.buffer_contents import contents_of
from tilescope.tracer.analysis.histogram_launch import counted_total, histogram_launch_of, sum_of_additions
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.hardware.times.recorded_outcomes import SEEDS, recorded_outcomes_of, seeded, seeds_for
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op
from tilescope.tracer.simulator.numba_patch import run

SCHEDULES = ("lockstep", "sequential", "random")
SIZES = {"count": 700, "num_blocks": 3, "threads": 40, "bins": 17}
# Some additions are atomic, some are a load and a store, and one block begins by clearing a bin.
MIXED = """
@cuda.jit
def kernel(values, bins):
    i = cuda.grid(1)
    if i == 0:
        bins[2] = 0
    for k in range(3):
        place = (values[i] + k) % 5
        if i % 3:
            bins[place] += 1
        else:
            cuda.atomic.add(bins, place, 1)
"""


def traced(name, schedule="lockstep", seed=3, **values):
    launch = launch_of(find(name), values, schedule=Schedule(schedule, seed))
    trace = run(launch, lambda done, total: None)
    return trace, requests_of(trace)


def mixed(folder, schedule, seed=1):
    arguments = (Array((96,), "int32", "arange"), Array((5,), "int32"))
    launch_trace = trace(
        folder, MIXED, arguments, grid=(2, 1, 1), block=(48, 1, 1), schedule=schedule, seed=seed
    )
    return launch_trace, requests_of(launch_trace)


class Replay:
    """Additions to one buffer, one access after the other in the order of the steps."""

    def __init__(self, trace, requests, buffer):
        self.made, self.requests, self.buffer = trace, requests, buffer
        self.rows = [r for r in range(len(trace)) if trace.buffer[r] == buffer]
        last, self.additions = {}, []
        for r in self.rows:
            actor = int(trace.block[r]), int(trace.thread[r]), int(trace.index[r])
            added = trace.op[r] >= Op.ATOMIC or (trace.op[r] == Op.STORE and last.get(actor) == Op.LOAD)
            last[actor] = trace.op[r]
            if added:
                self.additions.append(r)

    def moment(self, row):
        return int(self.requests.moment[self.requests.request[row]])

    def values(self, moment):
        results = {}
        for r in self.rows:
            if self.moment(r) <= moment and self.made.op[r] != Op.LOAD:
                results[self.copy(r), int(self.made.index[r])] = int(self.made.value[r])
        return results

    def copy(self, row):
        shared = self.made.buffers[self.buffer].space == "shared"
        return int(self.made.block[row]) if shared else 0

    def most(self, moment):
        """Return the most lanes of one request that met in each (copy, bin) by a moment."""
        met, most = {}, {}
        for r in self.additions:
            if self.moment(r) <= moment:
                place = self.copy(r), int(self.made.index[r])
                key = int(self.requests.request[r]), place
                met[key] = met.get(key, 0) + 1
                most[place] = max(most.get(place, 0), met[key])
        return most


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize("name", ["histogram-global", "histogram-private"])
def test_bin_counts_match_a_replay_and_end_at_numpys_counts(name, kind):
    trace, requests = traced(name, kind, **SIZES)
    contents = contents_of(trace, requests)
    number = histogram_buffer(trace, find(name).roles)
    known_names = Replay(trace, requests, number)
    for moment in (0, 1, 5, requests.end // 2, requests.end - 1, requests.end):
        values = known_names.values(moment)
        expected = [values.get((0, i), 0) for i in range(17)]
        assert contents.settled(number, moment).tolist() == expected
    samples = contents.values(0, 0).astype(np.float64)
    assert contents.values(number, requests.end).tolist() == np.histogram(samples, 17, (-4, 4))[0].tolist()


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize("name", ["histogram-global", "histogram-private", "count-racing", "count-atomic"])
def test_collisions_match_a_replay(name, kind):
    known_names = {p.name for p in find(name).parameters}
    trace, requests = traced(name, kind, **{k: v for k, v in SIZES.items() if k in known_names})
    number = histogram_buffer(trace, find(name).roles)
    private = private_histogram_buffer(trace, number)
    assert (private is None) == (name != "histogram-private")
    for buffer in (number,) if private is None else (number, private):
        additions, replay = additions_of(trace, requests, buffer), Replay(trace, requests, buffer)
        assert sorted(additions.row.tolist()) == replay.additions
        size = additions.size
        for moment in (0, 3, requests.end // 2, requests.end):
            most = replay.most(moment)
            for copy in {place[0] for place in most} | {0}:
                got = additions.contention.most_lanes(moment, copy * size, (copy + 1) * size)
                assert got.tolist() == [most.get((copy, i), 0) for i in range(size)]


@pytest.mark.parametrize(("kind", "end"), [("lockstep", 1), ("sequential", 1024)])
def test_a_racing_counter_ends_at_one_in_lockstep_and_hides_its_race_thread_by_thread(kind, end):
    trace, requests = traced("count-racing", kind)
    additions = additions_of(trace, requests, 0)
    assert counted_total(trace, 0) == end
    assert (additions.kept(requests.end), additions.lost(requests.end)) == (end, 1024 - end)
    assert additions.survives.sum() == end
    assert (additions.lost(0), additions.kept(0)) == (0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_lost_additions_are_those_missing_in_the_counter_at_every_moment(seed):
    trace, requests = traced("count-racing", "random", seed, num_blocks=4, threads=50)
    additions, contents = additions_of(trace, requests, 0), contents_of(trace, requests)
    for moment in range(requests.end + 1):
        assert additions.kept(moment) == contents.settled(0, moment)[0]
        assert additions.lost(moment) == additions.upto(moment) - contents.settled(0, moment)[0]
    assert additions.survives.sum() == counted_total(trace, 0) < 200


def survivors(trace):
    """Return the additions of MIXED that the final bins know of: followed from each bin's end back to its begin."""
    alive, writes = set(), [r for r in range(len(trace)) if trace.buffer[r] == 1]
    for place in range(5):
        own_values = [r for r in writes if trace.index[r] == place]
        last = max((r for r in own_values if trace.op[r] != Op.LOAD), default=None)
        while last is not None:
            thread = trace.block[last], trace.thread[last]
            known_names = last
            if trace.op[last] == Op.STORE:
                own = [r for r in own_values if r < last and (trace.block[r], trace.thread[r]) == thread]
                if not own or trace.op[own[-1]] != Op.LOAD:
                    break
                known_names = own[-1]
            alive.add(last)
            last = max((r for r in own_values if r < known_names and trace.op[r] != Op.LOAD), default=None)
    return alive


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_atomics_and_stores_on_the_same_bins_lose_overwritten_counts(tmp_path, kind, seed):
    trace, requests = mixed(tmp_path, kind, seed)
    assert histogram_buffer(trace, {}) == 1
    additions, contents = additions_of(trace, requests, 1), contents_of(trace, requests)
    assert len(additions) == 288
    assert set(additions.row[additions.survives].tolist()) == survivors(trace)
    for moment in range(requests.end + 1):
        assert additions.kept(moment) == contents.settled(1, moment).sum()


def test_irrelevant_accesses_are_not_counted(tmp_path):
    for name in ("vector-double", "sum-sequential", "barrier-three-threads"):
        launch_trace, _ = traced(name)
        assert histogram_buffer(launch_trace, find(name).roles) is None
    once = "@cuda.jit\ndef kernel(a):\n    a[cuda.grid(1)] += 1"
    launch_trace = trace(tmp_path, once, (Array((64,), "int32"),), block=(64, 1, 1))
    assert histogram_buffer(launch_trace, {}) is None


def test_a_launch_has_numpys_counts_and_the_edges_of_its_bins():
    counting = matmul("histogram-private", **SIZES).histogram_launch
    assert counting.edges == (-4.0, 4.0)
    assert counting.bins == 17
    assert counting.of_samples is counting.private
    assert not counting.races
    assert counting.expected.sum() == len(counting.private) == 700
    assert matmul("histogram-global", blocks=(1,), **SIZES).histogram_launch.expected is None
    assert matmul("matmul-tiled", m=8, k=8, n=8, tile=8).histogram_launch is None


def test_a_sample_is_the_value_its_thread_loaded_before_it_added():
    trace, requests = traced("histogram-global", **SIZES)
    additions = additions_of(trace, requests, 1)
    samples = trace.value[additions.sample].astype(np.float64)
    assert (np.floor((samples + 4) / (8 / 17)) == additions.cell).all()
    assert (trace.thread[additions.sample] == trace.thread[additions.row]).all()


def test_edges_are_unknown_where_the_samples_contradict_them(tmp_path):
    source = """
    @cuda.jit
    def kernel(values, low, high, bins):
        cuda.atomic.add(bins, int32(values[cuda.grid(1)]) % 7, 1)
    """
    arguments = (Array((64,), "int32", "arange"), Scalar(0.0), Scalar(7.0), Array((7,), "int32"))
    launch_trace = trace(tmp_path, source, arguments, block=(64, 1, 1))
    requests = requests_of(launch_trace)
    counting = histogram_launch_of(launch_trace, requests, contents_of(launch_trace, requests), None)
    assert counting.edges is None
    assert counting.expected is None


def test_another_seed_is_another_launch_on_the_same_input():
    launch = launch_of(find("count-racing"), {})
    other = seeded(launch, 7)
    assert other.schedule == Schedule("random", 7)
    assert other.arguments == launch.arguments
    small, _ = traced("count-racing", num_blocks=1)
    assert seeds_for(small) == SEEDS


def test_the_recorded_gpu_outcome_is_returned_only_for_its_launch():
    (launch,) = recorded_outcomes_of(launch_of(find("count-racing"), {}))
    assert "H200" in launch.device
    assert set(launch.outcomes) == {1}
    assert len(launch.outcomes) >= 100
    assert recorded_outcomes_of(launch_of(find("count-racing"), {"num_blocks": 2})) == ()


LOADS = "    t = cuda.threadIdx.x\n    own = a[t]\n"
NO_COUNTERS = {
    "the largest, by a comparison": "    if own > top[0]:\n        top[0] = own\n",
    "the largest, by an atomic": "    cuda.atomic.max(top, 0, own)\n",
    "a flag": "    if top[0] == 0:\n        top[0] = 1\n",
    "the last, by an exchange": "    cuda.atomic.exch(top, 0, own)\n",
}


@pytest.mark.parametrize("kind", NO_COUNTERS)
def test_what_replaces_an_element_is_no_counter(tmp_path, kind):
    source = f"@cuda.jit\ndef kernel(a, top):\n{LOADS}{NO_COUNTERS[kind]}"
    vectors = Array((4,), "int32", "arange"), Array((1,), "int32")
    assert histogram_buffer(trace(tmp_path, source, vectors, block=(4, 1, 1)), {}) is None


@pytest.mark.parametrize(
    "adds", ["    top[0] += own\n", "    old = top[0]\n    new = old + 1\n    top[0] = new\n"]
)
def test_what_stores_a_sum_with_the_element_is_a_counter(tmp_path, adds):
    source = f"@cuda.jit\ndef kernel(a, top):\n{LOADS}{adds}"
    vectors = Array((4,), "int32", "arange"), Array((1,), "int32")
    assert histogram_buffer(trace(tmp_path, source, vectors, block=(4, 1, 1)), {}) == 1


@pytest.mark.parametrize("adds", ["    top[0] += own\n", "    cuda.atomic.add(top, 0, own)\n"])
def test_a_counter_is_expected_to_hold_the_sum_of_what_is_added(tmp_path, adds):
    source = f"@cuda.jit\ndef kernel(a, top):\n{LOADS}{adds}"
    vectors = Array((4,), "int32", "arange"), Array((1,), "int32")
    launch_trace = trace(tmp_path, source, vectors, block=(4, 1, 1))
    additions = additions_of(launch_trace, requests_of(launch_trace), 1)
    assert sum_of_additions(launch_trace, additions) == sum(launch_trace.initial[0].tolist())

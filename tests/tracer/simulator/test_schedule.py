"""The order in which threads run: what each schedule promises."""

from __future__ import annotations

import numpy as np
import pytest

from launching import Array, Scalar, access_rows, final_contents, trace

COUNTER = """
@cuda.jit
def kernel(counter):
    counter[0] += 1
"""
ATOMIC = """
@cuda.jit
def kernel(counter):
    cuda.atomic.add(counter, 0, 1)
"""
ONE = (Array((1,), "int32"),)
THOUSAND = {"grid": (32, 1, 1), "block": (32, 1, 1)}


def test_racing_counter_ends_at_1_in_lockstep_as_on_the_gpu(tmp_path):
    assert final_contents(trace(tmp_path, COUNTER, ONE, **THOUSAND), "counter")[0] == 1


def test_racing_counter_ends_at_1024_sequentially(tmp_path):
    assert (
        final_contents(trace(tmp_path, COUNTER, ONE, schedule="sequential", **THOUSAND), "counter")[0] == 1024
    )


def test_racing_counter_loses_some_at_random(tmp_path):
    ends = {
        int(
            final_contents(trace(tmp_path, COUNTER, ONE, schedule="random", seed=s, **THOUSAND), "counter")[0]
        )
        for s in range(4)
    }
    assert len(ends) > 1
    assert all(1 <= e < 1024 for e in ends)


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
def test_atomic_counter_loses_nothing(tmp_path, schedule):
    assert final_contents(trace(tmp_path, ATOMIC, ONE, schedule=schedule, **THOUSAND), "counter")[0] == 1024


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
def test_same_launch_gives_the_same_trace_to_the_byte(tmp_path, schedule):
    first, second = (trace(tmp_path, COUNTER, ONE, schedule=schedule, seed=5, **THOUSAND) for _ in range(2))
    for column in ("block", "thread", "phase", "op", "buffer", "site", "index", "value", "step"):
        assert getattr(first, column).tobytes() == getattr(second, column).tobytes(), column


def test_lockstep_gives_each_thread_one_access_in_turn(tmp_path):
    source = """
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = a[i] + 1
    """
    traced = trace(tmp_path, source, (Array((4,)),), block=(4, 1, 1))
    assert access_rows(traced, "a") == [(t, 0, op, t) for op in "LS" for t in range(4)]


def test_sequential_runs_a_thread_up_to_its_barrier(tmp_path):
    source = """
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = 1
        a[i] = 2
        cuda.syncthreads()
        a[i] = 3
    """
    traced = trace(tmp_path, source, (Array((2,)),), block=(2, 1, 1), schedule="sequential")
    assert access_rows(traced, "a") == [(0, 0, "S", 0)] * 2 + [(1, 0, "S", 1)] * 2 + [
        (0, 1, "S", 0),
        (1, 1, "S", 1),
    ]


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
def test_nothing_passes_a_barrier(tmp_path, schedule):
    source = """
    @cuda.jit
    def kernel(out, n):
        t = cuda.threadIdx.x
        shared = cuda.shared.array(32, int32)
        for i in range(n):
            for _ in range(t % 5):
                out[cuda.grid(1)] = 0
            shared[t] = t + i
            cuda.syncthreads()
            out[cuda.grid(1)] = shared[(t + 1) % 32]
            cuda.syncthreads()
    """
    traced = trace(
        tmp_path, source, (Array((96,), "int32"), Scalar(3)), grid=(3, 1, 1), block=(32, 1, 1),
        schedule=schedule, seed=1, resident=2,
    )  # fmt: skip
    expected = np.tile((np.arange(32) + 1) % 32 + 2, 3)
    assert final_contents(traced, "out").tolist() == expected.tolist()
    for block in range(3):
        own = traced.block == block
        assert (np.diff(traced.phase[own].astype(int)) >= 0).all()
    assert len(traced.barriers.block) == 3 * 32 * 6


def test_resident_limits_the_simultaneous_blocks(tmp_path):
    for resident, expected in ((1, 4), (2, 2), (4, 1)):
        traced = trace(tmp_path, COUNTER, ONE, grid=(4, 1, 1), block=(8, 1, 1), resident=resident)
        assert final_contents(traced, "counter")[0] == expected
        assert traced.resident == resident


def test_threads_that_return_early_do_not_block_others(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t >= 3:
            return
        cuda.syncthreads()
        out[t] = 1
    """
    for schedule in ("lockstep", "sequential", "random"):
        traced = trace(tmp_path, source, (Array((8,)),), block=(8, 1, 1), schedule=schedule)
        assert final_contents(traced, "out").tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_barriers_that_count_and_vote(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t, 0] = cuda.syncthreads_count(int(t % 2 == 0))
        out[t, 1] = cuda.syncthreads_and(int(t < 8))
        out[t, 2] = cuda.syncthreads_or(int(t == 9))
        out[t, 3] = cuda.syncthreads_and(int(t < 7))
        out[t, 4] = cuda.syncthreads_or(int(t == 3))
    """
    for schedule in ("lockstep", "sequential", "random"):
        traced = trace(tmp_path, source, (Array((8, 5), "int32"),), block=(8, 1, 1), schedule=schedule)
        assert final_contents(traced, "out").tolist() == [[4, 1, 0, 0, 1]] * 8


def test_only_chosen_blocks_run(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        x, y = cuda.grid(2)
        out[y, x] = cuda.blockIdx.x + 10 * cuda.blockIdx.y
    """
    traced = trace(tmp_path, source, (Array((4, 4)),), grid=(2, 2, 1), block=(2, 2, 1), blocks=(1, 2))
    assert sorted(set(traced.block.tolist())) == [1, 2]
    assert traced.is_part
    assert final_contents(traced, "out").tolist() == [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [10, 10, 0, 0],
        [10, 10, 0, 0],
    ]


def test_three_dimensional_grids_and_blocks(tmp_path):
    source = """
    @cuda.jit
    def kernel(out):
        x, y, z = cuda.grid(3)
        nx, ny, nz = cuda.gridsize(3)
        out[x, y, z] = x + nx * (y + ny * z)
    """
    traced = trace(tmp_path, source, (Array((4, 3, 4), "int32"),), grid=(2, 1, 2), block=(2, 3, 2))
    expected = np.arange(48).reshape(4, 3, 4).transpose(2, 1, 0)
    assert final_contents(traced, "out").tolist() == expected.tolist()
    x, y, z = 1, 2, 1
    own = (traced.block == 1 + 2 * 1) & (traced.thread == x + 2 * (y + 3 * z))
    assert traced.index[own].tolist() == [np.ravel_multi_index((3, 2, 3), (4, 3, 4))]


def test_progress_counts_blocks(tmp_path):
    seen = []
    trace(
        tmp_path,
        COUNTER,
        ONE,
        grid=(3, 1, 1),
        report=lambda done, total: seen.append((done, total)),
        resident=1,
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]

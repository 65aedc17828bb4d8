"""Which accesses of a warp's lanes make one request, as its code goes: branches, loops, barriers, warp operations."""

import numpy as np
import pytest

from compiled_counts import HEAD as HEADER
from compiled_counts import count_launches, launch_of_text, nonzero_counters

HEAD = "@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n"


def counters(text, folder, *arguments, **size):
    (launch,) = count_launches(
        [launch_of_text(HEAD + text, *arguments, folder=folder, **size)], "--without-nvidia"
    )
    return nonzero_counters(launch)


def numbers(count):
    return np.arange(count, dtype=np.float32)


def test_diverged_lanes_reconverge_after_the_branch(tmp_path):
    text = (
        "    v = float32(0)\n    if i % 2:\n        v = a[i + 32] * 3\n    else:\n        v = math.sqrt(a[i])\n"
        "    out[i] = v\n"
    )
    counts = counters(text, tmp_path, numbers(64), numbers(32))
    assert counts["global_load_requests"] == 2
    assert counts["global_store_requests"] == 1


def test_lanes_wait_at_the_end_of_each_round_of_a_loop(tmp_path):
    # Lane i stores in round i alone: no two of these stores are one request.
    text = "    for k in range(a.size):\n        if a[k] == i:\n            out[k * 64] = k\n"
    counts = counters(text, tmp_path, numbers(32), np.zeros(64 * 32, np.float32))
    assert counts["global_store_requests"] == 32


def test_lanes_that_left_a_loop_wait_for_the_others(tmp_path):
    text = "    k = 0\n    while k < i:\n        k += int64(a[k]) + 1 - k\n    out[i] = k\n"
    counts = counters(text, tmp_path, numbers(64), numbers(32))
    assert counts["global_store_requests"] == 1
    assert counts["global_load_requests"] == 31


def test_inner_loops_of_several_lengths_end_together(tmp_path):
    text = (
        "    for r in range(4):\n        for k in range((i + r) % 3):\n            cuda.atomic.add(out, k, 1)\n"
        "        out[r + 8] = a[r]\n"
    )
    counts = counters(text, tmp_path, numbers(8), np.zeros(16, np.float32))
    assert counts["global_store_requests"] == 4
    assert counts["global_reduction_requests"] == 8  # two rounds of the longest, in each of four


def test_a_block_continues_after_a_barrier_when_all_have_arrived(tmp_path):
    text = (
        "    s = cuda.shared.array(64, float32)\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    cuda.syncthreads()\n"
        "    out[t] = s[63 - t]\n"
    )
    counts = counters(text, tmp_path, numbers(64), np.zeros(64, np.float32), block=64)
    assert counts == {
        "global_load_requests": 2, "global_load_sectors": 8, "global_load_bytes": 256, "global_store_requests": 2,
        "global_store_sectors": 8, "global_store_bytes": 256, "shared_load_instructions": 2,
        "shared_load_wavefronts": 2, "shared_store_instructions": 2, "shared_store_wavefronts": 2,
    }  # fmt: skip


def test_shuffles_and_votes_give_the_results_of_a_gpu(tmp_path):
    # Only where all of these are right does each lane store to its own element, side by side.
    text = (
        "    m = 0xffffffff\n    up = cuda.shfl_up_sync(m, i, 1)\n    down = cuda.shfl_down_sync(m, i, 1)\n"
        "    other = cuda.shfl_xor_sync(m, i, 1)\n    first = cuda.shfl_sync(m, i, 7)\n"
        "    odd = cuda.ballot_sync(m, i % 2 == 1)\n    some = cuda.any_sync(m, i == 3)\n"
        "    all = cuda.all_sync(m, i < 32)\n"
        "    same = cuda.match_any_sync(m, i // 4)\n"
        "    right = up == max(i - 1, 0) and down == min(i + 1, 31) and other == i ^ 1 and first == 7\n"
        "    right = right and odd & m == 0xaaaaaaaa and some and all and same & m == 15 << (i // 4 * 4)\n"
        "    out[i if right else i * 8] = 1\n"
    )
    counts = counters(text, tmp_path, numbers(32), np.zeros(256, np.float32))
    assert counts["global_store_sectors"] == 4


@pytest.mark.parametrize(("text", "reason"), [
    ("    if i < 16:\n        cuda.syncthreads()\n        cuda.syncwarp()\n    out[i] = 1\n", ""),
    ("    while cuda.atomic.cas(out, 0, 0, 0) == 0:\n        pass\n", "wait for each other for ever"),
    ("    out[i * 1_000_000_000_000] = 1\n", "can't be counted"),
])  # fmt: skip
def test_uncountable_kernels_are_refused_in_a_sentence(text, reason, tmp_path):
    from tilescope.tracer.as_compiled.client import CompiledCounting

    counting = CompiledCounting(None)
    try:
        launch = counting.count(
            launch_of_text(HEAD + text, numbers(32), np.zeros(64, np.int64), folder=tmp_path)
        )
        assert reason in launch.reason and launch.reason.endswith("." if reason else "")
        again = launch_of_text(HEAD + "    out[i] = a[i]\n", numbers(32), numbers(32), folder=tmp_path)
        assert counting.count(again).counters["global_load_requests"] == 1
    finally:
        counting.close()


def test_each_access_has_its_source_position(tmp_path):
    text = HEAD + '    "é"; out[i] = a[i] + a[i + 32]\n'
    (launch,) = count_launches(
        [launch_of_text(text, numbers(64), numbers(32), folder=tmp_path)], "--without-nvidia"
    )
    line = len(HEADER.splitlines()) + 4
    assert {(site.line, site.column) for site in launch.sites} == {(line, 9), (line, 18), (line, 25)}

"""Thread ordering without block barriers: fences with atomics, grid barriers, masks of syncwarp."""

from __future__ import annotations

import pytest

from finding_kernels import EVERY, harmful_races, racing_buffers, trace_kernel
from launching import Array, final_contents
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of

# --- the sum that the last block finishes, as in the threadFenceReduction sample

SUM = (Array((128,), "int32", "ones"), Array((4,), "int32"), Array((1,), "int32"), Array((1,), "int32"))
LAST_BLOCK = """
values = cuda.shared.array(32, int32)
last = cuda.shared.array(1, int32)
values[t] = arg0[i]
cuda.syncthreads()
if t == 0:
    total = 0
    for k in range(32):
        total += values[k]
    arg1[b] = total
    FENCE
    last[0] = TICKET == cuda.gridDim.x - 1
cuda.syncthreads()
if last[0] and t == 0:
    total = 0
    for k in range(cuda.gridDim.x):
        total += arg1[k]
    arg3[0] = total
    arg2[0] = 0
"""


def last_block(folder, schedule="lockstep", fence="cuda.threadfence()", ticket="cuda.atomic.add(arg2, 0, 1)"):
    body = LAST_BLOCK.replace("FENCE", fence).replace("TICKET", ticket)
    return trace_kernel(folder, body, *SUM, schedule=schedule)


@EVERY
@pytest.mark.parametrize("fence", ["cuda.threadfence()", "cuda.threadfence_system()"])
def test_the_last_block_comes_after_all_that_fenced_and_counted_themselves(tmp_path, schedule, fence):
    ended = last_block(tmp_path, schedule, fence)
    assert final_contents(ended, "arg3").tolist() == [128]
    assert harmful_races(ended) == []


@EVERY
@pytest.mark.parametrize("fence", ["pass", "cuda.threadfence_block()"])
def test_without_a_fence_for_the_grid_its_sums_are_raced_for(tmp_path, schedule, fence):
    assert racing_buffers(last_block(tmp_path, schedule, fence)) == {"arg1"}


def test_without_the_atomic_so_is_the_counter(tmp_path):
    body = LAST_BLOCK.replace("last[0] = TICKET", "arg2[0] += 1\n    last[0] = arg2[0]")
    ended = trace_kernel(tmp_path, body.replace("FENCE", "cuda.threadfence()"), *SUM, schedule="sequential")
    assert racing_buffers(ended) == {"arg1", "arg2"}


def test_an_atomic_without_a_used_result_does_not_acquire(tmp_path):
    body = LAST_BLOCK.replace("last[0] = TICKET ==", "cuda.atomic.add(arg2, 0, 1)\n    last[0] = b ==")
    ended = trace_kernel(tmp_path, body.replace("FENCE", "cuda.threadfence()"), *SUM, schedule="sequential")
    assert "arg1" in racing_buffers(ended)


def test_every_thread_may_fence_its_own_stores_before_one_counts_the_block(tmp_path):
    body = """
arg1[i] = arg0[i]
FENCE
cuda.syncthreads()
last = cuda.shared.array(1, int32)
if t == 0:
    last[0] = cuda.atomic.inc(arg2, 0, 99) == 3
cuda.syncthreads()
if last[0]:
    for k in range(4):
        arg0[i] += arg1[k * 32 + t]
"""
    given_ = (
        Array((128,), "int32", "ones"),
        Array((128,), "int32"),
        Array((1,), "uint32"),
    )
    assert harmful_races(trace_kernel(tmp_path, body.replace("FENCE", "cuda.threadfence()"), *given_)) == []
    assert racing_buffers(trace_kernel(tmp_path, body.replace("FENCE", "pass"), *given_)) == {"arg1"}


# --- a message, and a lock

MESSAGE = """
if t == 0 and b == 0:
    arg0[0] = 7
    RELEASE
    cuda.atomic.exch(arg1, 0, 1)
if t == 0 and b == 1:
    while POLL == 0:
        pass
    ACQUIRE
    arg2[0] = arg0[0]
"""
FENCE = "cuda.threadfence()"
POLL = "cuda.atomic.add(arg1, 0, 0)"


@EVERY
@pytest.mark.parametrize(
    ("release", "poll", "acquire", "expected"),
    [
        (FENCE, POLL, FENCE, set()),
        (FENCE, "cuda.atomic.cas(arg1, 0, 2, 2)", FENCE, set()),
        ("pass", POLL, FENCE, {"arg0"}),
        (FENCE, POLL, "pass", {"arg0"}),
        ("cuda.threadfence_block()", POLL, "cuda.threadfence_block()", {"arg0"}),
        (FENCE, "arg1[0]", FENCE, {"arg0", "arg1"}),  # a plain spin: the flag is raced for too
    ],
)
def test_a_message_between_blocks(tmp_path, schedule, release, poll, acquire, expected):
    body = MESSAGE.replace("RELEASE", release).replace("POLL", poll).replace("ACQUIRE", acquire)
    given_ = (Array((1,), "int32"), Array((1,), "int32"), Array((1,), "int32"))
    ended = trace_kernel(tmp_path, body, *given_, grid=2, schedule=schedule)
    assert final_contents(ended, "arg2").tolist() == [7]
    assert racing_buffers(ended) == expected


@pytest.mark.parametrize("fence", [FENCE, "cuda.threadfence_block()"])
def test_a_message_within_a_block(tmp_path, fence):
    body = MESSAGE.replace("b == 1", "t == 33").replace("t == 0 and t == 33", "t == 33").replace("POLL", POLL)
    given_ = (Array((1,), "int32"), Array((1,), "int32"), Array((1,), "int32"))

    def races_with(release, acquire):
        text = body.replace("RELEASE", release).replace("ACQUIRE", acquire)
        return racing_buffers(trace_kernel(tmp_path, text, *given_, block=64, grid=1))

    assert races_with(fence, fence) == set()
    assert races_with("pass", fence) == {"arg0"}


def test_a_flag_that_is_a_plain_variable_is_a_race(tmp_path):
    body = MESSAGE.replace("cuda.atomic.exch(arg1, 0, 1)", "arg1[0] = 1").replace("POLL", "arg1[0]")
    given_ = (Array((1,), "int32"), Array((1,), "int32"), Array((1,), "int32"))
    text = body.replace("RELEASE", FENCE).replace("ACQUIRE", FENCE)
    assert racing_buffers(trace_kernel(tmp_path, text, *given_, grid=2)) == {"arg0", "arg1"}


LOCK = """
done = 0
while done == 0 and t == 0:
    if cuda.atomic.cas(arg1, 0, 0, 1) == 0:
        ACQUIRE
        arg0[0] += 1
        RELEASE
        cuda.atomic.exch(arg1, 0, 0)
        done = 1
"""


@EVERY
def test_a_lock_orders_its_holders(tmp_path, schedule):
    given_ = (Array((1,), "int32"), Array((1,), "int32"))

    def ended(fence):
        text = LOCK.replace("ACQUIRE", fence).replace("RELEASE", fence)
        return trace_kernel(tmp_path, text, *given_, schedule=schedule)

    assert final_contents(ended(FENCE), "arg0").tolist() == [4]
    assert harmful_races(ended(FENCE)) == []
    assert racing_buffers(ended("pass")) == {"arg0"} or schedule == "sequential"


def test_a_lock_without_fences_is_reported_in_any_order(tmp_path):
    text = LOCK.replace("ACQUIRE", "pass").replace("RELEASE", "pass")
    given_ = (Array((1,), "int32"), Array((1,), "int32"))
    assert racing_buffers(trace_kernel(tmp_path, text, *given_, schedule="sequential")) == {"arg0"}


@pytest.mark.parametrize(
    ("release", "acquire", "remedy"),
    [
        ("pass", FENCE, "put cuda.threadfence() between line 9 and the atomic on line 11"),
        (
            FENCE,
            "pass",
            "put cuda.threadfence() after the atomic on line 13, before line 16",
        ),
    ],
)
def test_the_missing_fence_is_named(tmp_path, release, acquire, remedy):
    body = MESSAGE.replace("RELEASE", release).replace("POLL", POLL).replace("ACQUIRE", acquire)
    given_ = (Array((1,), "int32"), Array((1,), "int32"), Array((1,), "int32"))
    (race,) = harmful_races(trace_kernel(tmp_path, body, *given_, grid=2))
    assert race.remedy == remedy


# --- barriers of the grid

GRID = "arg0[i] = i\nBARRIER\narg1[i] = arg0[arg0.size - 1 - i]"


@EVERY
def test_a_barrier_of_the_grid_orders_all_blocks(tmp_path, schedule):
    given_ = (Array((128,), "int32"), Array((128,), "int32"))
    body = GRID.replace("BARRIER", "cuda.cg.this_grid().sync()")
    ended = trace_kernel(tmp_path, body, *given_, schedule=schedule, resident=2)
    assert final_contents(ended, "arg1").tolist() == list(range(127, -1, -1))
    assert harmful_races(ended) == []
    block = trace_kernel(tmp_path, GRID.replace("BARRIER", "cuda.syncthreads()"), *given_, schedule=schedule)
    assert racing_buffers(block) == {"arg0"}


@EVERY
def test_at_every_moment_a_barrier_of_the_grid_is_behind_all_blocks_or_none(tmp_path, schedule):
    given_ = (Array((128,), "int32"), Array((128,), "int32"))
    body = GRID.replace("BARRIER", "g = cuda.cg.this_grid()\ng.sync()\ng.sync()")
    ended = trace_kernel(tmp_path, body, *given_, schedule=schedule, resident=2)
    requests = requests_of(ended)
    before = requests.moment[requests.phase == 0].max()
    assert before < requests.moment[requests.phase == 2].min()


@EVERY
def test_blocks_that_never_come_to_a_barrier_of_the_grid_are_an_error(tmp_path, schedule):
    body = "arg0[i] = i\ng = cuda.cg.this_grid()\ng.sync()\nif b != 2:\n    g.sync()"
    ended = trace_kernel(tmp_path, body, Array((128,), "int32"), schedule=schedule)
    (finding,) = [f for f in findings_of(ended, requests_of(ended)) if f.severity == "error"]
    assert (finding.kind, finding.count) == ("barrier", 1)
    assert finding.message.startswith("1 block never comes to the grid's barrier on line 11, first block 2")
    complete = trace_kernel(
        tmp_path, body.replace("b != 2", "b < 4"), Array((128,), "int32"), schedule=schedule
    )
    assert not [f for f in findings_of(complete, requests_of(complete)) if f.severity == "error"]


@EVERY
def test_threads_that_miss_a_barrier_of_the_grid_are_reported(tmp_path, schedule):
    body = "if t < 8:\n    cuda.cg.this_grid().sync()\narg0[i] = 1"
    ended = trace_kernel(tmp_path, body, Array((128,), "int32"), schedule=schedule)
    (finding,) = [f for f in findings_of(ended, requests_of(ended)) if f.severity == "error"]
    assert (finding.kind, finding.count) == ("barrier", 4 * 24)
    assert finding.remedy.startswith("move the grid's sync() out of the branch")


@EVERY
def test_writes_behind_a_grid_barrier_are_not_visible_before_it(tmp_path, schedule):
    sync = "cuda.cg.this_grid().sync()"
    for body, kinds in (
        (f"x = arg0[i]\n{sync}\narg0[(i + 40) % 128] = 1 + x", ["unwritten"]),
        (f"arg0[(i + 40) % 128] = 1\n{sync}\nx = arg0[i]", []),
    ):
        ended = trace_kernel(tmp_path, body, Array((128,), "int32", "empty"), schedule=schedule)
        findings = findings_of(ended, requests_of(ended))
        assert [f.kind for f in findings if f.severity == "error"] == kinds

"""Threads that take turns, compiled: the simulator's trace in lockstep and at random, however many blocks meet."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engines import LONGS, assert_engines_agree, assert_same, ignore_progress, kernel_source, run_both
from launching import Array, Launch, Limits, final_contents, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.driver import row_recorder
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.recording import run_record
from tilescope.tracer.simulator import numba_patch

LOCKSTEP, RANDOM = Schedule("lockstep"), Schedule("random", 1)
RESIDENT = (1, 2, 5, None)
# Of all kernels here: what is read, what is written, and flags.
ARRAYS = (Array((64,), "int64", "arange"), Array((64,), "int64"), Array((4,), "int32"))
NAMES = """t, x, lane, bx, n = cuda.threadIdx.x, cuda.grid(1), cuda.laneid, cuda.blockIdx.x, cuda.gridDim.x
s = cuda.shared.array(64, int64)
"""

# Kernels that end however many blocks are resident.
MEETING = {
    "a racing counter": "f[0] += 1\nout[x % 64] = f[0]",
    "tickets": "mine = cuda.atomic.add(f, 0, 1)\nout[mine % 64] = x\nout[x % 64] += cuda.atomic.max(out, mine % 7, x)",
    "a lock by compare and swap": """
if t > 3:
    return
while cuda.atomic.cas(f, 0, 0, 1) != 0:
    pass
out[0] += a[t]
out[1] = out[0] * 3 % 101
cuda.threadfence()
cuda.atomic.exch(f, 0, 0)
""",
    "a lock that one thread of a block takes": """
if t == 0:
    while cuda.atomic.exch(f, 0, 1) == 1:
        cuda.threadfence_block()
cuda.syncthreads()
out[t] += x
cuda.syncthreads()
if t == 0:
    cuda.threadfence()
    f[0] = 0
""",
    "each block waits for the one before": """
if t == 0 and bx > 0:
    while cuda.atomic.add(f, 0, 0) < bx:
        pass
cuda.syncthreads()
out[t] = out[t] * 2 + bx
cuda.threadfence()
cuda.syncthreads()
if t == 0:
    cuda.atomic.add(f, 0, 1)
""",
    "the last block adds": """
s[t] = a[x % 64]
cuda.syncthreads()
if t == 0:
    total = 0
    for k in range(cuda.blockDim.x):
        total += s[k]
    out[bx] = total
    cuda.threadfence()
    s[63] = cuda.atomic.add(f, 0, 1)
cuda.syncthreads()
if s[63] == n - 1 and t == 0:
    for k in range(n):
        out[60] += out[k]
""",
    "warp operations in branches": """
v = a[t]
if t % 2 == 0:
    v += cuda.shfl_down_sync(0x55555555, v, 2)
    out[x % 64] = v
    v += cuda.ballot_sync(0x55555555, v > 9)
elif t % 3 == 0:
    v = cuda.any_sync(0x08208208, v == 9) + out[3]
else:
    out[5] = cuda.match_any_sync(0xffffffff, t // 4)
out[t] = cuda.shfl_xor_sync(0xffffffff, v, 1)
""",
    "lanes at the same mask that bring values and none": """
v = a[t] + 1
if t % 2 == 0:
    cuda.syncwarp(0xffff)
else:
    v = cuda.shfl_sync(0xffff, v, 2) + cuda.match_any_sync(0xffff, 0)
out[x % 64] = v
""",
    "who is active": """
v = cuda.activemask()
if a[t] > 5:
    out[t] = cuda.activemask()
    if t % 2:
        out[t] += cuda.popc(cuda.activemask())
cuda.atomic.add(out, 63, v % 97)
""",
    "lanes that never come": """
if lane != 3:
    out[x % 64] = cuda.ballot_sync(0xffffffff, lane > 4)
    out[0] += cuda.shfl_sync(0xffffffff, t, 3)
cuda.syncthreads()
""",
    "votes without those that have returned": """
if t % 5 == bx:
    return
out[t] = cuda.syncthreads_count(int32(t > 3))
if t > 6:
    return
out[t] += 100 * cuda.syncthreads_and(int32(t < 6)) + 1000 * cuda.syncthreads_or(int32(t == 1))
""",
    "barriers in loops that some leave": """
for k in range(t % 4 + 1):
    s[t] = k
    cuda.syncthreads()
    out[t] += s[(t + 1) % 32]
    if a[t] == k + bx:
        break
""",
    "accesses outside": "out[x + 50] = a[t * 9]\ncuda.atomic.add(out, x - 70, 1)\nout[0] = a[x * 7]",
    "unset memory of one block after the other": """
m = cuda.local.array(2, int64)
out[t] = s[t] + m[1]
s[t] = m[1] = x
""",
}

# Kernels whose blocks wait for each other, so that all must be resident.
FLAGS = {
    "a producer and its consumers": """
if bx == n - 1:
    out[t] = 7 * t
    cuda.threadfence()
    if t == 0:
        f[1] = 1
else:
    while f[1] == 0:
        pass
    out[32 + t] += out[t]
""",
    "blocks that hand over in turn, from the last": """
if t == 0:
    while cuda.atomic.add(f, 2, 0) != n - 1 - bx:
        cuda.threadfence()
    cuda.atomic.add(f, 2, 1)
cuda.syncthreads()
out[x % 64] += bx
""",
}


def made_of(folder: Path, body: str, grid: int = 6, block: int = 24, **options: object) -> Launch:
    """Return a launch of a kernel of (a, out, f) with the names above."""
    source = kernel_source(NAMES + body.strip(), "a, out, f")
    return launch(folder, source, ARRAYS, (grid, 1, 1), (block, 1, 1), **options)


def same_by_resident(launch: Launch) -> None:
    """Assert that both engines give the same trace, however many blocks run at once."""
    for resident in RESIDENT:
        for schedule in (LOCKSTEP, RANDOM):
            assert_same(*run_both(msgspec.structs.replace(launch, resident=resident), schedule), 0.0)


def in_turns(launch: Launch, schedule: Schedule = LOCKSTEP, **changes: object) -> Launch:
    """Return a launch with another schedule."""
    return msgspec.structs.replace(launch, schedule=schedule, **changes)


@pytest.mark.parametrize("name", MEETING)
def test_threads_interact(tmp_path, name):
    launch = made_of(tmp_path, MEETING[name])
    assert_engines_agree(launch)
    same_by_resident(launch)
    assert_engines_agree(msgspec.structs.replace(launch, grid=(3, 1, 1), block=(40, 1, 1), blocks=(0, 1)))


CASES = [
    (name, schedule) for name in FLAGS for schedule in (LOCKSTEP, *(Schedule("random", n) for n in (1, 2, 3)))
]
# At random, threads that pass barriers are seldom where they were, so that nobody sees that they do so for ever.
CASES.append(("barriers until a flag is set", LOCKSTEP))
FLAGS["barriers until a flag is set"] = """
while f[1] == 0:
    cuda.syncthreads()
    if bx == n - 1:
        f[1] = 1
    cuda.syncthreads()
out[x % 64] = t
"""


@pytest.mark.parametrize(("name", "schedule"), CASES)
def test_more_blocks_run_at_once_where_others_wait_for_them(tmp_path, monkeypatch, name, schedule):
    """On a GPU too: as long as there is room, blocks begin."""
    monkeypatch.setattr(run_record, "RESIDENT_THREADS", 16)
    ours, theirs = run_both(made_of(tmp_path, FLAGS[name], grid=5, block=8), schedule)
    assert_same(ours, theirs, 0.0)
    assert ours.resident > 2
    assert ours.error is None


@pytest.mark.parametrize(("name", "schedule"), [case for case in CASES if case[1].seed < 2])
def test_endless_waits_are_left_to_the_simulator_to_report(tmp_path, name, schedule):
    launch = in_turns(made_of(tmp_path, FLAGS[name], grid=5, block=4, resident=2), schedule)
    with pytest.raises(NotCompilableError, match="wait"):
        compiled.run_compiled(launch, ignore_progress, turns=True)
    error = numba_patch.run(launch, ignore_progress).error
    assert error is not None
    assert error.type == "LivelockError"


@pytest.mark.parametrize("line", ["while f[3] == 0:\n    pass", "while True:\n    cuda.syncthreads()"])
def test_waits_without_a_partner_are_left_to_the_simulator_to_report(tmp_path, line):
    launch = made_of(tmp_path, line, grid=2, block=3)
    with pytest.raises(NotCompilableError, match="wait"):
        compiled.run_compiled(launch, ignore_progress, turns=True)


def test_the_racing_counter_ends_at_one_in_lockstep(tmp_path):
    launch = made_of(tmp_path, "f[0] += 1", grid=8, block=128)
    assert final_contents(compiled.run_compiled(launch, ignore_progress, turns=True), "f")[0] == 1
    other = in_turns(launch, Schedule("sequential"))
    assert final_contents(compiled.run_compiled(other, ignore_progress), "f")[0] == 1024


RAISING = {
    "at once": 'if x == 29:\n    raise ValueError("no")\nout[x % 64] += a[0]',
    "after a barrier": "out[t] = x\ncuda.syncthreads()\nassert x != 29\nout[t] += 1",
    "after others have ended": "if t != 3:\n    return\nout[bx] += a[9]\nassert bx != 2",
    "after a warp operation": "v = cuda.shfl_sync(0xffffff, x, 5)\nassert v != 29\nout[x % 64] = v",
}


@pytest.mark.parametrize("name", RAISING)
def test_a_thread_raises(tmp_path, name):
    launch = made_of(tmp_path, RAISING[name])
    assert assert_engines_agree(launch).error is not None
    same_by_resident(launch)


def test_blocks_and_grids_of_three_dimensions(tmp_path):
    body = """x, y, z = cuda.grid(3)
v = cuda.atomic.add(f, cuda.threadIdx.z, cuda.blockIdx.y)
out[(x + 2 * y + 3 * z) % 64] += v + cuda.shfl_down_sync(0xffffffff, cuda.threadIdx.y, 1)
cuda.syncthreads()
out[cuda.threadIdx.x] = cuda.blockIdx.z"""
    kernel_launch = launch(tmp_path, kernel_source(body, "a, out, f"), ARRAYS, (2, 2, 3), (5, 3, 3))
    assert_engines_agree(kernel_launch)
    same_by_resident(kernel_launch)
    same_by_resident(msgspec.structs.replace(kernel_launch, blocks=(1, 6, 7, 11)))


def test_dynamic_shared_memory(tmp_path):
    body = """d = cuda.shared.array(0, int32)
t = cuda.threadIdx.x
out[t] = d[(t + 1) % 16]
cuda.atomic.add(d, t % 4, t)
cuda.syncthreads()
out[16 + t] += d[t % 4]"""
    kernel_launch = launch(
        tmp_path, kernel_source(body, "a, out, f"), ARRAYS, (3, 1, 1), (16, 1, 1), shared_bytes=64
    )
    assert_engines_agree(kernel_launch)
    same_by_resident(kernel_launch)


@pytest.mark.parametrize("limit", [0, 9_000, 20_000])
@pytest.mark.parametrize("schedule", [LOCKSTEP, RANDOM], ids=str)
def test_past_the_cap_the_same_accesses_are_kept_and_all_are_counted(tmp_path, limit, schedule):
    body = "for k in range(t % 3, 60):\n    out[(t * k) % 64] += a[t] * k\n    cuda.atomic.add(out, k, 1)"
    launch = in_turns(made_of(tmp_path, body, grid=9, block=16), schedule, resident=2)
    ours, theirs = run_both(msgspec.structs.replace(launch, limits=Limits(accesses=limit)), schedule)
    assert_same(ours, theirs, 0.0)
    assert ours.accesses == len(run_both(launch, schedule)[0])


@pytest.mark.parametrize("schedule", [LOCKSTEP, RANDOM], ids=str)
def test_an_endless_kernel_is_stopped_at_the_same_access(tmp_path, schedule):
    launch = made_of(
        tmp_path, "while True:\n    cuda.atomic.add(out, x % 64, 1)\n    out[t] += 1", grid=2, block=5
    )
    ours, theirs = run_both(msgspec.structs.replace(launch, limits=Limits(accesses=20_000)), schedule)
    assert_same(ours, theirs, 0.0)
    assert ours.notice.startswith("Stopped after ")


def test_many_phases(tmp_path):
    body = "for k in range(310):\n    cuda.syncthreads()\nout[bx % 64] += 1"
    assert_same(*run_both(made_of(tmp_path, body, grid=64, block=1), LOCKSTEP), 0.0)


def test_many_phases_without_an_access(tmp_path):
    body = "for k in range(5000):\n    cuda.syncthreads()\nout[t] = 1"
    assert_same(*run_both(made_of(tmp_path, body, grid=1, block=2), LOCKSTEP), 0.0)


def test_many_arrivals(tmp_path):
    body = "for k in range(150):\n    cuda.syncwarp()\n    cuda.threadfence()\n    cuda.syncthreads()\nout[t] += bx"
    assert_same(*run_both(made_of(tmp_path, body, grid=2, block=33), RANDOM), 0.0)


def test_blocks_of_one_thread(tmp_path):
    assert_same(
        *run_both(made_of(tmp_path, "f[0] += 1\nout[x % 64] = f[0]", grid=2800, block=1), LOCKSTEP), 0.0
    )


def test_more_resident_blocks_than_phases_are_numbered_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(row_recorder, "MAX_PHASES", 8)
    body = "cuda.syncthreads()\nf[0] += 1\ncuda.syncthreads()\ncuda.syncthreads()"
    launch = made_of(tmp_path, body, grid=300, block=1, resident=150)
    assert_same(*run_both(launch, LOCKSTEP), 0.0)


def test_past_the_cap_waits_are_still_detected_under_the_sequential_schedule(tmp_path):
    body = "cuda.atomic.min(out, 0, 7)\nwhile cuda.atomic.add(f, 2, 0) < 3:\n    cuda.atomic.max(f, 2, 0)"
    launch = in_turns(made_of(tmp_path, body, grid=1, block=4), Schedule("sequential"))
    with pytest.raises(NotCompilableError, match="wait for another"):
        compiled.run_compiled(msgspec.structs.replace(launch, limits=Limits(accesses=0)), ignore_progress)


@pytest.mark.parametrize("accesses", [0, 100])
def test_a_launch_without_an_access(accesses, tmp_path):
    source = "@cuda.jit\ndef kernel(a, out):\n    if cuda.grid(1) > 9:\n        cuda.syncthreads()\n"
    kernel_launch = launch(
        tmp_path, source, LONGS, grid=(2, 1, 1), block=(8, 1, 1), limits=Limits(accesses=accesses)
    )
    trace = assert_engines_agree(kernel_launch)
    assert (trace.accesses, bool(trace.totals)) == (0, not accesses)

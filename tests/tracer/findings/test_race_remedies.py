"""Remedies of races: a barrier where every thread comes to it, one finding for what one barrier mends, fences."""

from __future__ import annotations

import pytest

from finding_kernels import EVERY, trace_kernel
from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.race_remedies import ATOMIC

S = "s = cuda.shared.array(128, int32)\n"
FLOATS = (Array((128,), "int32", "arange"), Array((128,), "int32"))


def errors(folder, body, *arguments, block=64, grid=1, schedule="lockstep"):
    ended = trace_kernel(folder, body, *(arguments or FLOATS), block=block, grid=grid, schedule=schedule)
    return [f for f in findings_of(ended, requests_of(ended)) if f.severity == "error"]


# What is wrong, the remedy (lines count from that of `s`, 1), and the kernel after that remedy.
REMEDIES = {
    "in no branch": (
        "s[t] = arg0[t]\narg1[t] = s[63 - t]",
        "put cuda.syncthreads() between line {2} and line {3}",
        "s[t] = arg0[t]\ncuda.syncthreads()\narg1[t] = s[63 - t]",
    ),
    "in a branch that all take": (
        "if b == 0:\n    s[t] = arg0[t]\n    arg1[t] = s[63 - t]",
        "put cuda.syncthreads() between line {3} and line {4}",
        "if b == 0:\n    s[t] = arg0[t]\n    cuda.syncthreads()\n    arg1[t] = s[63 - t]",
    ),
    "in a branch that some take": (
        "if t < 48:\n    s[t] = arg0[t]\n    arg1[t] = s[47 - t]",
        "put cuda.syncthreads() between line {3} and line {4}, outside the branch of line {2}, split in two there, so "
        "that all threads come to it",
        "if t < 48:\n    s[t] = arg0[t]\ncuda.syncthreads()\nif t < 48:\n    arg1[t] = s[47 - t]",
    ),
    "in a branch that some lanes take": (
        "if t < 24:\n    s[t] = arg0[t]\n    arg1[t] = s[23 - t]",
        "put cuda.syncwarp() between line {3} and line {4}, outside the branch of line {2}, split in two there, so "
        "that all lanes of the warp come to it",
        "if t < 24:\n    s[t] = arg0[t]\ncuda.syncwarp()\nif t < 24:\n    arg1[t] = s[23 - t]",
    ),
    "after some have returned": (
        "if t >= 48:\n    return\ns[t] = arg0[t]\nif b == 0:\n    arg1[t] = s[47 - t]",
        "put cuda.syncthreads() between line {4} and line {6}",
        "s[t] = arg0[t]\ncuda.syncthreads()\nif t < 48:\n    arg1[t] = s[47 - t]",
    ),
    "round a loop, in a branch": (
        "s[t] = 0\ncuda.syncthreads()\nfor k in range(3):\n    if t < 48:\n        s[t] = s[47 - t]",
        "put cuda.syncthreads() between the two accesses of line {6} and after line {6}, before line {6} comes again, "
        "outside the branch of line {5}, split in two there, so that all threads come to it",
        "s[t] = 0\nfor k in range(3):\n    cuda.syncthreads()\n    if t < 48:\n        v = s[47 - t]\n"
        "    cuda.syncthreads()\n    if t < 48:\n        s[t] = v",
    ),
    "in the two arms": (
        "if t < 32:\n    s[t] = arg0[t]\nelse:\n    arg1[t] = s[63 - t]",
        "put line {3} and line {5}, in two branches of line {2}, under an `if` each, and cuda.syncthreads() between "
        "these",
        "if t < 32:\n    s[t] = arg0[t]\ncuda.syncthreads()\nif t >= 32:\n    arg1[t] = s[63 - t]",
    ),
    "in the condition": (
        "s[t] = arg0[t]\ncuda.syncthreads()\nif s[63 - t] > 9:\n    s[t] = 0",
        "keep what line {4} reads in a variable, and put cuda.syncthreads() after it, before the branch",
        "s[t] = arg0[t]\ncuda.syncthreads()\nv = s[63 - t]\ncuda.syncthreads()\nif v > 9:\n    s[t] = 0",
    ),
    "in a loop of some": (
        "s[t] = arg0[t]\ncuda.syncthreads()\nif t < 48:\n    for k in range(3):\n        v = s[t + 1]\n"
        "        s[t] = k",
        "let another array be written than is read, since a barrier can't stand in the branch of line {4}, to which "
        "only some threads come",
        "s[t] = arg0[t]\ncuda.syncthreads()\nif t < 48:\n    for k in range(3):\n        v = s[t + 1]\n"
        "        arg1[t] = k",
    ),
}


@EVERY
@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_can_be_followed(tmp_path, schedule, name):
    wrong, remedy, mended = REMEDIES[name]
    findings = errors(tmp_path, S + wrong, schedule=schedule)
    lines = [f"line {number + 6}" for number in range(12)]
    expected = remedy.replace("line {", "{").format(*lines)
    assert expected in [f.remedy for f in findings if f.kind == "race"]
    assert errors(tmp_path, S + mended, schedule=schedule) == []


def test_adjacent_lines_are_reported_of_many_pairs(tmp_path):
    body = S + "".join(f"s[t] = arg0[t]\nx = s[t ^ {k}]\n" for k in (1, 2, 4, 8))
    (finding,) = errors(tmp_path, body, block=64)
    assert finding.remedy == "put cuda.syncwarp() between line 8 and line 9"
    assert [place.line for place in finding.also] == list(range(10, 16))
    assert finding.message.endswith("(also at 6 more places, first s on line 10).")


def test_merged_races_are_counted_with_the_reported_one(tmp_path):
    body = S + "s[t] = arg0[t]\nx = s[63 - t]\nif t > 0:\n    y = s[t - 1]"
    (finding,) = errors(tmp_path, body)
    assert finding.remedy == "put cuda.syncthreads() between line 8 and line 9"
    assert finding.count == 64 and len(finding.rows) == 64 + 64 + 63


def test_a_barrier_in_a_branch_does_not_replace_one_outside(tmp_path):
    body = S + "s[t] = arg0[t]\nif b == 0:\n    x = s[63 - t]\n    s[t] = 1\ny = s[t ^ 32]"
    assert [f.remedy for f in errors(tmp_path, body)] == [
        "put cuda.syncthreads() between line 8 and line 10",
        "put cuda.syncthreads() between line 10 and line 11",
        "put cuda.syncthreads() between line 11 and line 12",
    ]


LOCK = """
if t == 0:
    while cuda.atomic.cas(arg0, 0, 0, 1) != 0:
        pass
    ACQUIRE
    arg1[0] += 1
    RELEASE
    cuda.atomic.exch(arg0, 0, 0)
"""


def test_a_lock_without_fences_has_one_remedy(tmp_path):
    given = (Array((1,), "int32"), Array((1,), "int32"))
    bare = LOCK.replace("ACQUIRE", "pass").replace("RELEASE", "pass")
    (finding,) = errors(tmp_path, bare, *given, grid=4)
    assert finding.remedy == "put cuda.threadfence() between line 12 and the atomic on line 14"
    fenced = bare.replace("pass\n    cuda.atomic", "cuda.threadfence()\n    cuda.atomic")
    finding = errors(tmp_path, fenced, *given, grid=4)
    assert {f.remedy for f in finding} == {
        "put cuda.threadfence() after the atomic on line 9, before line 12"
    }
    complete = LOCK.replace("ACQUIRE", "cuda.threadfence()").replace("RELEASE", "cuda.threadfence()")
    assert errors(tmp_path, complete, *given, grid=4) == []


FLAG = """
flag = cuda.shared.array(1, int32)
if t == 0:
    flag[0] = 0
cuda.syncthreads()
if t < 32:
    s[t] = arg0[t]
    cuda.syncwarp()
    if t == 0:
        RELEASE
        cuda.atomic.exch(flag, 0, 1)
else:
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    ACQUIRE
    arg1[t] = s[63 - t]
"""


@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_a_message_within_a_block_needs_a_fence_and_no_barrier(tmp_path, schedule):
    fence = "cuda.threadfence_block()"
    (finding,) = errors(
        tmp_path, S + FLAG.replace("RELEASE", "pass").replace("ACQUIRE", fence), schedule=schedule
    )
    assert finding.remedy == f"put {fence} between line 14 and the atomic on line 18"
    assert (
        errors(tmp_path, S + FLAG.replace("RELEASE", fence).replace("ACQUIRE", fence), schedule=schedule)
        == []
    )


def test_lanes_represented_by_another_meet_it_first(tmp_path):
    fence = "cuda.threadfence_block()"
    single = (S + FLAG).replace("ACQUIRE", fence).replace("    cuda.syncwarp()\n", "")
    (finding,) = errors(tmp_path, single.replace("RELEASE", fence))
    assert finding.remedy == f"put cuda.syncwarp(), then {fence}, between line 14 and the atomic on line 17"


def test_a_slot_taken_by_an_atomic_still_needs_the_barrier(tmp_path):
    body = (
        "n = cuda.shared.array(1, int32)\nif t == 0:\n    n[0] = 0\ncuda.syncthreads()\n{}arg1[t] = s[63 - t]"
    )
    slots = "k = cuda.atomic.add(n, 0, 1)\ns[k] = arg0[t]\n"
    (finding,) = errors(tmp_path, S + body.format(slots))
    assert finding.remedy == "put cuda.syncthreads() between line 13 and line 14"
    assert errors(tmp_path, S + body.format(slots + "cuda.syncthreads()\n")) == []


def test_elements_of_several_blocks_are_reported_as_such(tmp_path):
    body = S + "s[t] = arg0[t]\narg1[t + 64 * b] = s[63 - t]"
    (finding,) = errors(tmp_path, body, grid=2)
    assert finding.message.startswith("128 elements of s in 2 blocks are written on line 8")
    assert "in 2 blocks" not in errors(tmp_path, body)[0].message


def test_updates_of_one_array_on_two_lines_need_atomics_on_both(tmp_path):
    body = "arg1[t // 4] += arg0[t]\narg1[t // 4 + 1] += 2 * arg0[t]"
    assert [f.remedy for f in errors(tmp_path, body)] == [ATOMIC, ATOMIC]


def test_a_barrier_orders_updates_on_two_lines_of_which_one_has_no_race(tmp_path):
    body = "arg1[t] += arg0[t]\narg1[63 - t] += 2 * arg0[t]"
    assert all("cuda.syncthreads() between line 7 and line 8" in f.remedy for f in errors(tmp_path, body))


BRANCH = """if t % 4 != 1:
            for r in range(2):
                tile[t] = a[t] + r
                out[t] += look(tile, t)"""


def test_no_barrier_is_advised_in_a_branch_that_a_function_is_called_in(tmp_path):
    source = """
    @cuda.jit(device=True)
    def look(tile, t):
        return tile[(t + 1) % 64]

    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        tile[t] = 0
        cuda.syncthreads()
        {}
    """
    after = "\n        out[t] = look(tile, t)"
    remedies = {
        f"tile[t] = a[t]{after}": "put cuda.syncthreads() between line 15 and line 7 of look",
        f"if t % 4 != 1: tile[t] = a[t]{after}": "put cuda.syncthreads() between line 15 and line 7 of look",
        BRANCH: "let another array be written",
    }
    for line, remedy in remedies.items():
        ended = trace(tmp_path, source.format(line), FLOATS, block=(64, 1, 1))
        findings = [f.remedy for f in findings_of(ended, requests_of(ended)) if f.kind == "race"]
        assert any(text.startswith(remedy) for text in findings), (line, findings)


def test_one_finding_counts_the_elements_and_names_the_lines_of_all_races_that_its_barrier_mends(tmp_path):
    body = f"{S}s[t + 1] = arg0[t]\nif t < 1:\n    s[65] = 7\narg1[t] = s[t + 2]"
    ended = trace_kernel(tmp_path, body, *FLOATS, block=64, grid=1)
    (race,) = (f for f in findings_of(ended, requests_of(ended)) if f.kind == "race")
    assert len({int(index) for index in ended.index[race.rows]}) == race.count
    lines = sorted({ended.sites[int(site)].line for site in ended.site[race.rows]})
    assert len(lines) == 3
    written, read = f"written on lines {lines[0]} and {lines[1]}", f"read on line {lines[2]}"
    assert race.message.startswith(
        f"{race.count} elements of s are {written} and {read} by threads of one block"
    )

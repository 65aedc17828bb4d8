"""Races: found when and only when two threads can meet, in kernels and in made-up traces."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from launching import Array, trace
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.races import race_findings
from tilescope.tracer.model.trace import Op
from tilescope.tracer.races import detect as finder
from tilescope.tracer.races.detect import races_of
from tilescope.tracer.races.missed_barriers import MissedBarriers, missed_barriers_of
from traces import BUFFERS, programs, trace_of

THREADS = 40
NONE, WARP_BARRIER, BARRIER = "pass", "cuda.syncwarp()", "cuda.syncthreads()"
QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def races(ended):
    return [f for f in findings_of(ended, requests_of(ended)) if f.kind == "race"]


def kernel(folder, body, *arguments, block=THREADS, grid=1, schedule="lockstep"):
    names = "".join(f"arg{i}, " for i in range(len(arguments)))
    source = f"@cuda.jit\ndef kernel({names}):\n    t = cuda.threadIdx.x\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    ended = trace(folder, source, arguments, grid=(grid, 1, 1), block=(block, 1, 1), schedule=schedule)
    assert ended.error is None, ended.error
    return ended


# --- a kernel with barriers removed: statements that store or load s[some function of t], barriers between


@st.composite
def statements(draw):
    """Draw (what is done, index as a + b * t modulo the array, the barrier after it), a few times."""
    step = st.tuples(
        st.booleans(), st.integers(0, 80), st.sampled_from([0, 1, 1, 2, -1]),
        st.sampled_from([NONE, NONE, WARP_BARRIER, BARRIER]),
    )  # fmt: skip
    return draw(st.lists(step, min_size=2, max_size=5))


def can_meet(steps):
    """Return the pairs of statements on which two threads can meet, thread by thread."""
    findings = set()
    for i, (writes, shift, factor, _) in enumerate(steps):
        for j, (also_writes, other_shift, other_factor, _) in enumerate(steps[i:], i):
            between = {barrier for *_, barrier in steps[i:j]}
            if BARRIER in between or not (writes or also_writes):
                continue
            for item in range(THREADS):
                for other in range(THREADS):
                    ordered = item == other or (WARP_BARRIER in between and item // 32 == other // 32)
                    same = (shift + factor * item) % 81 == (other_shift + other_factor * other) % 81
                    if same and not ordered:
                        findings.add((i, j))
    return findings


@QUICK
@given(statements(), st.sampled_from(["lockstep", "sequential", "random"]))
def test_a_kernel_without_some_barriers_races_where_two_threads_interact(tmp_path, steps, schedule):
    lines = ["s = cuda.shared.array(81, float32)"]
    for writes, shift, factor, barrier in steps:
        element = f"s[({shift} + {factor} * t) % 81]"
        lines += [f"{element} = {len(lines)} * 1000 + t" if writes else f"x = {element}", barrier]
    ended = kernel(tmp_path, "\n".join(lines), schedule=schedule)
    first = min(site.line for site in ended.sites)

    def pair(sites):
        return tuple(sorted((ended.sites[site].line - first) // 2 for site in (sites * 2)[:2]))

    findings = races_of(ended, missed_barriers_of(ended))
    reported = race_findings(ended, requests_of(ended), findings)
    all_findings = {pair(f.sites) for f in reported}
    assert {pair(race.sites) for race in findings} == can_meet(steps)
    assert all(race.harmful for race in findings)
    assert all_findings <= can_meet(steps)
    for i, j in can_meet(steps) - all_findings:  # what orders one that is told orders this one too
        assert any(i <= p < q <= j for p, q in all_findings)
    assert sorted({row for f in reported for row in f.rows.tolist()}) == sorted(
        {row for race in findings for row in race.rows.tolist()}
    )


# --- made-up traces of several blocks, atomics and buffers that overlap, against every two accesses


NO_MISSED_BARRIERS = MissedBarriers(*[np.empty(0, np.int64)] * 4, np.empty(0, bool))


def overlapping(built):
    """Return the trace with "bytes" over the end of "tile" and "wide", and "columns" over "plain"."""
    buffers = list(BUFFERS)
    buffers[6] = replace(buffers[6], address=250)
    buffers[1] = replace(buffers[1], address=32)
    return replace(built, buffers=tuple(buffers))


def with_steps(trace):
    """Return the trace with barriers at the steps at which the last access of their block's phase was made."""
    arrivals = trace.barriers
    last = [
        int(np.flatnonzero((trace.block == block) & (trace.phase <= phase)).max(initial=-1)) + 1
        for block, phase in zip(arrivals.block, arrivals.phase, strict=True)
    ]
    return replace(trace, barriers=replace(arrivals, step=np.array(last, np.int64)))


def taken_in(trace, start, a, q, b):
    """Check whether an atomic (q) acquires an earlier one (a) for the thread of a later access (b)."""
    same = (
        start[q] == start[a] and trace.buffers[trace.buffer[q]].space == trace.buffers[trace.buffer[a]].space
    )
    if trace.buffers[trace.buffer[a]].space == "shared":
        same &= trace.block[q] == trace.block[a]
    own = trace.block[q] == trace.block[b]
    own &= trace.thread[q] == trace.thread[b] or trace.phase[q] < trace.phase[b]
    return bool(trace.op[q] == Op.ATOMIC and same and own)


def meetings(trace):
    """Return ({(sites, whether it does harm)}) of every two accesses that nothing orders."""
    findings = set()
    rows = range(len(trace))
    start = [
        trace.buffers[trace.buffer[r]].address + int(trace.index[r]) * trace.buffers[trace.buffer[r]].unit
        for r in rows
    ]
    end = [s + trace.buffers[trace.buffer[r]].itemsize for s, r in zip(start, rows, strict=True)]
    space = [trace.buffers[trace.buffer[r]].space for r in rows]
    for a, b in combinations(rows, 2):
        if space[a] != space[b] or space[a] not in ("global", "shared"):
            continue
        if start[a] >= end[b] or start[b] >= end[a]:
            continue
        same_block = trace.block[a] == trace.block[b]
        if not same_block and space[a] == "shared":
            continue
        if same_block and (trace.thread[a] == trace.thread[b] or trace.phase[a] != trace.phase[b]):
            continue
        ops = {int(trace.op[a]), int(trace.op[b])}
        if ops <= {Op.LOAD} or ops <= {Op.ATOMIC, Op.REDUCTION}:
            continue
        if trace.op[a] >= Op.ATOMIC and any(taken_in(trace, start, a, q, b) for q in rows[a + 1 : b]):
            continue
        harmless = (
            ops == {Op.STORE} and trace.buffer[a] == trace.buffer[b] and trace.value[a] == trace.value[b]
        )
        findings.add((tuple(sorted((int(trace.site[a]), int(trace.site[b])))), not harmless))
    return findings


@settings(max_examples=150)
@given(programs(), st.sampled_from(["lockstep", "sequential", "random"]), st.booleans(), st.integers(0, 5))
def test_races_match_a_search_over_all_pairs(made_of, kind, overlap, seed):
    trace = with_steps(trace_of(made_of, kind, resident=2, seed=seed))
    trace = overlapping(trace) if overlap else trace
    findings = races_of(trace, NO_MISSED_BARRIERS)
    expected = meetings(trace)
    harmful = {sites for sites, harm in expected if harm}
    assert {r.sites for r in findings if r.harmful} >= harmful
    assert {r.sites for r in findings} <= {sites for sites, _ in expected}
    assert bool(harmful) == any(r.harmful for r in findings)
    for race in findings:
        row, other = race.first, race.second
        assert tuple(sorted((int(trace.site[row]), int(trace.site[other])))) == race.sites
        assert (trace.block[row], trace.thread[row]) != (trace.block[other], trace.thread[other])
        assert {row, other} <= set(race.rows.tolist())


# --- single cases, each with its correct twin


@pytest.mark.parametrize(
    ("racing", "twin"),
    [
        ("s[t] = t\nx = s[(t + 1) % 32]", "s[t] = t\ncuda.syncwarp()\nx = s[(t + 1) % 32]"),
        ("s[t] = t\nx = cuda.shfl_sync(0xffffffff, t, 1)\ny = s[(t + 1) % 32]", "s[t] = t\nx = s[t]"),
        ("s[0] = t", "s[t] = 0"),
        ("s[0] += 1", "cuda.atomic.add(s, 0, 1)"),
        ("if t == 0:\n    s[0] = 0\ncuda.atomic.add(s, 0, 1)",
         "if t == 0:\n    s[0] = 0\ncuda.syncthreads()\ncuda.atomic.add(s, 0, 1)"),
        ("cuda.atomic.add(s, 0, 1)\nif t == 31:\n    x = s[0]", "cuda.atomic.add(s, t, 1)\nif t == 31:\n    x = s[31]"),
        ("cuda.atomic.add(s, 0, 1)\nif t == 0:\n    x = s[0]", "cuda.atomic.add(s, t, 1)\nif t == 0:\n    x = s[0]"),
        ("cuda.atomic.add(s, 0, 1)\nx = s[0]", "cuda.atomic.add(s, 0, 1)\ncuda.syncthreads()\nx = s[0]"),
    ],
)  # fmt: skip
def test_races_in_a_warp(tmp_path, racing, twin):
    declared = "s = cuda.shared.array(32, int32)\n"
    findings = races(kernel(tmp_path, declared + racing, block=32))
    assert findings and all(f.severity == "error" for f in findings)
    assert races(kernel(tmp_path, declared + twin, block=32)) == []


def test_a_race_in_one_warp_needs_no_more_than_a_warp_barrier(tmp_path):
    body = "s = cuda.shared.array({n}, int32)\ns[t] = t\nx = s[t ^ {other}]"
    item = races(kernel(tmp_path, body.format(n=64, other=1), block=64))
    two = races(kernel(tmp_path, body.format(n=64, other=32), block=64))
    assert "cuda.syncwarp()" in item[0].remedy
    (single,) = races(kernel(tmp_path, body.format(n=32, other=1), block=32))
    assert single.remedy == (
        "put cuda.syncthreads() between line 8 and line 9, where cuda.syncwarp() suffices as long as a block is one "
        "warp"
    )
    assert "cuda.syncthreads()" in two[0].remedy


def test_blocks_interact_in_global_memory_at_any_time(tmp_path):
    body = "if cuda.blockIdx.x == 0:\n    arg0[t] = 1\ncuda.syncthreads()\nif cuda.blockIdx.x == 1:\n    x = arg0[t]"
    findings = races(kernel(tmp_path, body, Array((32,)), block=32, grid=2))
    assert [f.severity for f in findings] == ["error"] and findings[0].count == 32
    assert "blocks run in any order" in findings[0].remedy
    assert races(kernel(tmp_path, body.replace("== 1", "== 0"), Array((32,)), block=32, grid=2)) == []


def test_an_atomic_is_suggested_for_an_update(tmp_path):
    findings = races(kernel(tmp_path, "arg0[0] += 1", Array((1,), "int32"), block=32, grid=2))
    assert [f.severity for f in findings] == ["error"]
    assert "cuda.atomic" in findings[0].remedy
    assert (
        races(kernel(tmp_path, "cuda.atomic.add(arg0, 0, 1)", Array((1,), "int32"), block=32, grid=2)) == []
    )


def test_views_of_the_same_bytes_race(tmp_path):
    body = (
        "whole = cuda.shared.array(0, float32)\nbytes = cuda.shared.array(0, uint8)\n"
        "whole[t] = 1.5\n{barrier}\nx = bytes[{index}]"
    )
    given = {"shared_bytes": 128}
    source = "@cuda.jit\ndef kernel():\n    t = cuda.threadIdx.x\n"

    def races_with(barrier, index):
        text = source + "".join(
            f"    {line}\n" for line in body.format(barrier=barrier, index=index).splitlines()
        )
        return races(trace(tmp_path, text, (), block=(32, 1, 1), **given))

    assert [f.severity for f in races_with("pass", "t")] == ["error"]
    assert races_with("cuda.syncthreads()", "t") == []
    assert races_with("pass", "4 * t + 3") == []


def test_fields_of_a_record_do_not_race(tmp_path):
    record = Array((2,), "i4, f4")
    body = "if t == 0:\n    arg0[0]['f0'] = 1\nelse:\n    arg0[0]['f1'] = 2"
    assert races(kernel(tmp_path, body, record, block=2)) == []
    assert races(kernel(tmp_path, body.replace("f1", "f0"), record, block=2)) != []


def test_the_example_shows_both_threads_lines_element_and_values(tmp_path):
    ended = kernel(tmp_path, "s = cuda.shared.array(32, int32)\ns[t] = 10 * t\nx = s[(t + 3) % 32]", block=32)
    race = races(ended)[0]
    write, read = race.example
    assert race.threads == ((0, int(ended.thread[write])), (0, int(ended.thread[read])))
    assert int(ended.value[read]) == int(ended.value[write]) == 10 * int(ended.thread[write])
    element = f"s[{ended.thread[write]}]"
    assert f"thread {ended.thread[write]} writes {element} = {ended.value[write]}" in race.message
    assert f"thread {ended.thread[read]} reads {element} = {ended.value[read]}" in race.message
    assert race.count == 32 and len(race.rows) == 64
    assert race.moment == max(requests_of(ended).moment[requests_of(ended).request[[write, read]]])


def test_nan_written_by_all_is_one_value(tmp_path):
    findings = races(kernel(tmp_path, "arg0[0] = math.nan", Array((1,)), block=64))
    assert [f.severity for f in findings] == ["note"]
    assert np.isnan(kernel(tmp_path, "arg0[0] = math.nan", Array((1,)), block=64).value).all()


@settings(max_examples=150)
@given(programs(), st.booleans(), st.integers(0, 5))
def test_following_every_access_gives_the_same_races_as_phases(made_of, overlap, seed):
    """Where nothing but barriers orders threads; atomics whose results are used order more, and are left out."""
    launch_trace = with_steps(trace_of(made_of, "random", resident=2, seed=seed))
    launch_trace = overlapping(launch_trace) if overlap else launch_trace
    assume(not (launch_trace.op == Op.ATOMIC).any())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder, "needs_happens_before", lambda trace, group: True)
        followed = races_of(launch_trace, NO_MISSED_BARRIERS)
    findings = races_of(launch_trace, NO_MISSED_BARRIERS)
    assert {r.sites for r in followed if r.harmful} == {r.sites for r in findings if r.harmful}
    assert {(r.buffer, r.sites, r.scope, r.harmful) for r in followed} == {
        (r.buffer, r.sites, r.scope, r.harmful) for r in findings
    }

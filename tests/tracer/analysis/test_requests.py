"""Requests: grouping, order, moments and cost, against brute force and against what no trace may break."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import force_setattr

import bank_passes
from tilescope.tracer.analysis import request_cost, request_order, request_order_fast
from tilescope.tracer.analysis.requests import REQUEST_KINDS, Requests, kinds_of, requests_of
from tilescope.tracer.model.trace import Op, Trace
from traces import BUFFERS, Programs, programs, run, trace_of

L, S, A, R = (int(op) for op in Op)
KIND = st.sampled_from(["lockstep", "sequential", "random"])
examples = settings(max_examples=150, print_blob=True)


def groups_in_order(trace: Trace) -> list[list[list[int]]]:
    """Return per (block, warp, phase) its requests in order, each a list of rows: the rules, read literally."""
    lanes = defaultdict(lambda: defaultdict(list))
    for row in range(len(trace)):
        lanes[trace.block[row], trace.thread[row] // 32, trace.phase[row]][
            int(trace.thread[row]) % 32
        ].append(row)
    return [_ordered(trace, dict(sorted(lanes[key].items()))) for key in sorted(lanes)]


def _ordered(trace: Trace, queues: dict[int, list[int]]) -> list[list[int]]:
    results = defaultdict(list)
    for rows in queues.values():
        visits = Counter()
        for row in rows:
            site = trace.site[row]
            results[site, visits[site], trace.buffer[row], trace.op[row]].append(row)
            visits[site] += 1
    position = {row: place for rows in queues.values() for place, row in enumerate(rows)}
    time = (lambda row: int(trace.step[row])) if trace.schedule == "random" else position.get
    key = {
        tuple(rows): (max(map(time, rows)), trace.thread[rows[0]], position[rows[0]])
        for rows in results.values()
    }
    wanted = sorted(key, key=key.get)
    place = {row: i for i, rows in enumerate(wanted) for row in rows}
    if all(place[a] < place[b] for rows in queues.values() for a, b in pairwise(rows)):
        return [list(rows) for rows in wanted]
    return _issued(queues, wanted)


def _issued(queues: dict[int, list[int]], wanted: list[tuple[int, ...]]) -> list[list[int]]:
    left = [list(rows) for rows in wanted]
    queues = {lane: list(rows) for lane, rows in queues.items()}
    issued = []
    while any(queues.values()):
        heads = {rows[0] for rows in queues.values() if rows}
        ready = [rows for rows in left if rows and set(rows) <= heads]
        rows = ready[0] if ready else next(rows for rows in left if set(rows) & heads)
        issued.append([row for row in rows if row in heads])
        rows[:] = [row for row in rows if row not in heads]
        queues = {lane: [r for r in rows if r not in issued[-1]] for lane, rows in queues.items()}
    return issued


def rows_of(requests: Requests) -> list[list[int]]:
    return [requests.order[a:b].tolist() for a, b in pairwise(requests.start)]


def by_warp(trace: Trace, requests: Requests) -> list[list[list[int]]]:
    keys = (requests.moment, requests.phase, requests.warp, requests.block)
    results = defaultdict(list)
    for request in np.lexsort(keys):
        results[tuple(int(k[request]) for k in keys[:0:-1])].append(rows_of(requests)[request])
    return list(results.values())


@examples
@given(programs(), KIND, st.integers(1, 3), st.integers(0, 9))
def test_requests_match_brute_force(programs: Programs, kind: str, resident: int, seed: int):
    trace = trace_of(programs, kind, resident, seed)
    requests = requests_of(trace)
    assert by_warp(trace, requests) == groups_in_order(trace)
    assert np.array_equal(kinds_of(trace, np.arange(len(trace))), requests.kind[requests.request])


@examples
@given(programs(), KIND, st.integers(1, 3))
def test_requests_computed_in_small_pieces_are_the_same(programs: Programs, kind: str, resident: int):
    trace = trace_of(programs, kind, resident)
    at_once = requests_of(trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_order, "BATCH", 3)
        patch.setattr(request_cost, "CHUNK", 2)
        patch.setattr(request_order_fast, "PART", 4)
        patch.setattr(request_order_fast, "QUEUES", 2)
        patch.setattr("tilescope.tracer.analysis.requests.MANY", 2)
        in_pieces = requests_of(trace)
        in_pieces.order, in_pieces.request  # noqa: B018  # in pieces, too
    columns = set(Requests.__struct_fields__) - {"exchanges", "accesses"}  # they make no exchanges
    for name in (*sorted(columns), "order", "request", "start"):
        np.testing.assert_array_equal(getattr(in_pieces, name), getattr(at_once, name))


@examples
@given(programs(), st.sampled_from(["lockstep", "sequential"]), st.integers(1, 3))
def test_moments_follow_the_sweeps_of_lockstep(programs: Programs, kind: str, resident: int):
    launch_trace = run(programs, "lockstep", resident)
    sweep = _by_thread([(b, t) for b, t, *_ in launch_trace.rows], launch_trace.sweeps)
    trace = trace_of(programs, kind, resident)
    requests = requests_of(trace)
    rows = _by_thread(list(zip(trace.block.tolist(), trace.thread.tolist(), strict=True)), range(len(trace)))
    swept = {row: s for thread in rows for row, s in zip(rows[thread], sweep[thread], strict=True)}
    turns = defaultdict(list)
    for group in groups_in_order(trace):
        latest = 0
        for members in group:
            latest = max(latest, *(swept[row] for row in members))
            warp = trace.block[members[0]], trace.thread[members[0]] // 32
            turns[latest].append((warp, members))
    expected, before = {}, 0
    for _, made_then in sorted(turns.items()):
        count = Counter()
        for warp, members in made_then:
            count[warp] += 1
            expected |= dict.fromkeys(members, before + count[warp])
        before += max(count.values())
    assert requests.moment[requests.request].tolist() == [expected[row] for row in range(len(trace))]
    assert requests.end == before


def _by_thread(threads: list[tuple[int, int]], entries) -> dict[tuple[int, int], list[int]]:
    results = defaultdict(list)
    for thread, entry in zip(threads, entries, strict=True):
        results[thread].append(entry)
    return results


@examples
@given(programs(), KIND, st.integers(1, 3), st.integers(0, 9))
def test_no_trace_breaks_the_rules_of_moments(programs: Programs, kind: str, resident: int, seed: int):
    trace = trace_of(programs, kind, resident, seed)
    requests = requests_of(trace)
    moment = requests.moment[requests.request]
    for own in _by_thread(list(zip(trace.block, trace.thread, strict=True)), moment).values():
        assert all(a < b for a, b in pairwise(own))
    warps = list(zip(requests.moment, requests.block, requests.warp, strict=True))
    assert warps == sorted(set(warps))
    assert sorted(set(requests.moment.tolist())) == list(range(1, requests.end + 1))
    for place, block in enumerate(trace.blocks):
        begin, end = requests.span_start[place], requests.span_end[place]
        assert (begin[1:] == end[:-1]).all()
        assert (begin <= end).all()
        own_values = trace.block == block
        assert (begin[trace.phase[own_values]] < moment[own_values]).all()
        assert (moment[own_values] <= end[trace.phase[own_values]]).all()
        if own_values.any():
            assert (begin[0] + 1, end[-1]) == (moment[own_values].min(), moment[own_values].max())


@examples
@given(programs(), st.integers(0, 9))
def test_random_moments_follow_the_steps_and_are_as_few_as_they_can(programs: Programs, seed: int):
    trace = trace_of(programs, "random", 2, seed)
    requests = requests_of(trace)
    latest = [max(trace.step[rows]) for rows in rows_of(requests)]
    for warp in set(zip(requests.block, requests.warp, strict=True)):
        own = [s for s, *w in zip(latest, requests.block, requests.warp, strict=True) if tuple(w) == warp]
        latest_so_far = np.maximum.accumulate(own).tolist()
        places = [i for i, w in enumerate(zip(requests.block, requests.warp, strict=True)) if w == warp]
        for place, step in zip(places, latest_so_far, strict=True):
            latest[place] = step
    last = [
        max(s for s, m in zip(latest, requests.moment, strict=True) if m == now)
        for now in range(1, requests.end + 1)
    ]
    first = [
        min(s for s, m in zip(latest, requests.moment, strict=True) if m == now)
        for now in range(1, requests.end + 1)
    ]
    assert all(a <= b for a, b in zip(last[:-1], first[1:], strict=True))
    for now in range(2, requests.end + 1):
        opener = min(np.flatnonzero(requests.moment == now), key=lambda r: latest[r])
        before = np.flatnonzero(requests.moment == now - 1)
        same_block = before[requests.block[before] == requests.block[opener]]
        assert any(
            requests.warp[r] == requests.warp[opener] or requests.phase[r] < requests.phase[opener]
            for r in same_block
        )


@examples
@given(programs(), KIND)
def test_every_column_describes_its_accesses(programs: Programs, kind: str):
    trace = trace_of(programs, kind)
    requests = requests_of(trace)
    assert sorted(requests.order.tolist()) == list(range(len(trace)))
    assert len(requests.start) == len(requests) + 1
    for number, rows in enumerate(rows_of(requests)):
        assert (requests.request[rows] == number).all()
        assert (np.diff(trace.thread[rows].astype(int)) > 0).all()
        assert requests.lanes[number] == len(rows)
        for name in ("block", "phase", "site", "buffer", "op"):
            assert (getattr(trace, name)[rows] == getattr(requests, name)[number]).all()
        assert (trace.thread[rows] // 32 == requests.warp[number]).all()
        space, op = BUFFERS[requests.buffer[number]].space, Op(requests.op[number])
        name = "atomic" if op >= Op.ATOMIC else f"{space} {op.name.lower()}"
        assert REQUEST_KINDS[requests.kind[number]] == name
        assert requests.sectors[number] == (sectors(trace, rows) if space == "global" else 0)
        assert requests.wavefronts[number] == (wavefronts(trace, rows) if space == "shared" else 0)


def touched(trace: Trace, rows: list[int], unit: int) -> list[tuple[int, range]]:
    buffer = BUFFERS[trace.buffer[rows[0]]]
    first = [buffer.address + int(i) * buffer.unit for i in trace.index[rows]]
    return [(a, range(a // unit, (a + buffer.itemsize - 1) // unit + 1)) for a in first]


def sectors(trace: Trace, rows: list[int]) -> int:
    pieces = touched(trace, rows, 32)
    if trace.op[rows[0]] < Op.ATOMIC:
        return len({p for _, each in pieces for p in each})
    return sum(
        max(Counter(a for a, each in pieces if each[0] == p).values())
        for p in {each[0] for _, each in pieces}
    )


def wavefronts(trace: Trace, rows: list[int]) -> int:
    first = {int(t) % 32: a for t, (a, _) in zip(trace.thread[rows], touched(trace, rows, 4), strict=True)}
    return bank_passes.count_wavefronts(first, BUFFERS[trace.buffer[rows[0]]].itemsize)


def test_lanes_that_diverge_in_a_cycle_are_split_in_two():
    p, q = (0, L, 0, 0), (1, L, 0, 1)
    trace = trace_of({(0, 0): [[p, q]], (0, 1): [[q, p]]})
    requests = requests_of(trace)
    results = [
        (int(s), trace.thread[rows].tolist())
        for s, rows in zip(requests.site, rows_of(requests), strict=True)
    ]
    assert results == [(0, [0]), (1, [0, 1]), (0, [1])]
    assert requests.moment.tolist() == [1, 2, 3]


def test_lanes_that_skip_an_access_still_make_the_next_one_together():
    p, q = (0, L, 0, 0), (1, L, 0, 1)
    trace = trace_of({(0, 0): [[p, q]], (0, 1): [[q]]})
    requests = requests_of(trace)
    assert requests.site.tolist() == [0, 1]
    assert requests.lanes.tolist() == [1, 2]


def test_one_site_that_touches_two_buffers_makes_two_requests():
    requests = requests_of(trace_of({(0, 0): [[(0, L, 0, 0)]], (0, 1): [[(0, L, 1, 0)]]}))
    assert requests.buffer.tolist() == [0, 1]
    assert requests.moment.tolist() == [1, 2]


@pytest.mark.parametrize(("resident", "moments"), [(1, [1, 2, 3, 4]), (2, [1, 1, 2, 2])])
def test_resident_blocks_share_moments(resident: int, moments: list[int]):
    program = [[(0, L, 0, 0), (1, L, 0, 1)]]
    requests = requests_of(trace_of({(0, 0): program, (1, 0): program}, resident=resident))
    assert requests.moment.tolist() == moments


def test_moments_skip_neither_an_empty_phase_nor_the_wait_at_a_barrier():
    access = (0, L, 0, 0)
    requests = requests_of(trace_of({(0, 0): [[], [access], [], [access], []]}))
    assert requests.moment.tolist() == [1, 2]
    assert requests.span_start.tolist() == [[0, 0, 1, 1, 2]]
    assert requests.span_end.tolist() == [[0, 1, 1, 2, 2]]


def test_warps_of_a_block_that_are_in_different_phases_share_no_moment():
    access = (0, L, 0, 0)
    programs = {(0, 0): [[access], []], (0, 32): [[], [access]]}
    requests = requests_of(trace_of(programs, "random"))
    assert requests.moment.tolist() == [1, 2]
    assert requests.span_end.tolist() == [[1, 2]]


def test_a_launch_without_accesses_has_no_moments():
    requests = requests_of(trace_of({(0, 0): [[], []], (3, 0): [[]]}))
    assert (len(requests), requests.end) == (0, 0)
    assert requests.span_end.tolist() == [[0, 0], [0, 0]]


def test_a_random_schedule_with_its_seed_in_the_name_is_random_too():
    programs = {(0, t): [[(0, L, 0, 0), (1, L, 0, 1)]] for t in (0, 32)}
    plain = trace_of(programs, "random", seed=1)
    named = trace_of(programs, "random", seed=1)
    force_setattr(named, "schedule", "random 1")
    assert requests_of(named).moment.tolist() == requests_of(plain).moment.tolist()

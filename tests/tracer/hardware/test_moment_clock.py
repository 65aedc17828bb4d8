"""When moments were on a GPU: the order of measured segments is kept, and nothing is said of what was not recorded."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from gpu_timelines import synthetic_timeline
from sessions import matmul
from tilescope.app.views.common.activity import block_activity
from tilescope.tracer.hardware.moment_clock import moment_clock, phase_cycles, segments_of
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS

VALUES = {"m": 20, "k": 12, "n": 28, "tile": 8}


@pytest.fixture(scope="module")
def session():
    return matmul(**VALUES)


@pytest.fixture(scope="module")
def timeline(session):
    return synthetic_timeline(session.trace, VALUES)


def clock_of(timeline, session, block):
    span = block_activity(session, block).span
    return moment_clock(timeline, session.trace, session.requests, block, span)


@pytest.mark.parametrize("block", [0, 7])
def test_phases_begin_when_their_first_segments_do_and_the_block_ends_with_its_last(session, timeline, block):
    clock, activity = clock_of(timeline, session, block), block_activity(session, block)
    own = segments_of(timeline.segments, block)
    for phase in range(activity.phases):
        begun = [own.start[(own.phase == phase) & (own.warp == w)].min() for w in range(session.trace.warps)]
        assert clock.cycles(float(activity.start[phase] + 1)) == pytest.approx(np.median(begun), abs=1)
    assert clock.cycles(float(activity.span[1] + 1)) == pytest.approx(own.end.max(), abs=1)
    assert clock.cycles(float(activity.span[0])) == pytest.approx(0, abs=1)


def test_moments_never_go_back_and_a_cycle_leads_to_the_moment_it_came_from(session, timeline):
    clock = clock_of(timeline, session, 3)
    first, last = block_activity(session, 3).span
    moments = np.linspace(first - 5, last + 5, 997)
    cycles = clock.cycles(moments)
    assert (np.diff(cycles) > 0).all()
    assert clock.moment(cycles) == pytest.approx(moments, abs=1e-3)


def test_a_slower_warp_of_two_draws_a_moment_to_the_middle(session, timeline):
    late = (timeline.segments.block == 0) & (timeline.segments.warp == 1)
    slower = replace(
        timeline,
        segments=replace(
            timeline.segments,
            start=timeline.segments.start + 500 * late,
            end=timeline.segments.end + 500 * late,
        ),
    )
    assert session.trace.warps == 2
    before, after = (clock_of(t, session, 0).cycles(1.0) for t in (timeline, slower))
    assert after - before == pytest.approx(250)


def test_requests_of_one_line_in_several_segments_follow_these_in_order(session, timeline):
    """As where a loop loads and computes in turns: here each phase's lines are those of all its segments."""
    clock = clock_of(timeline, session, 0)
    loads = SEGMENT_KINDS.index("load")
    own = segments_of(timeline.segments, 0)
    first_load = own.end[(own.kind == loads) & (own.phase == 0)].max()
    moments = session.requests.moment[(session.requests.block == 0) & (session.requests.phase == 0)]
    assert clock.cycles(float(moments.max())) < first_load


def test_waits_are_those_of_the_segments_and_last_until_the_phase_is_over(session, timeline):
    clock, activity = clock_of(timeline, session, 5), block_activity(session, 5)
    own = segments_of(timeline.segments, 5)
    waits = np.flatnonzero(own.kind == SEGMENT_KINDS.index("wait"))
    assert [(warp, start) for warp, start, _ in clock.waits] == list(
        zip(own.warp[waits], own.start[waits], strict=True)
    )
    over = clock.cycles((activity.end[own.phase[waits]] + 1).astype(float))
    assert all(stop >= edge for (_, _, stop), edge in zip(clock.waits, over, strict=True))


def test_phases_last_from_their_first_warp_to_their_last(session, timeline):
    own = segments_of(timeline.segments, 2)
    for phase, cycles in phase_cycles(timeline, 2).items():
        total = own.phase == phase
        assert cycles == own.end[total].max() - own.start[total].min()
    assert set(phase_cycles(timeline, 2)) == set(own.phase.tolist())


def test_blocks_without_recorded_warps_have_no_times(session, timeline):
    kept = timeline.segments.block != 4
    columns = (getattr(timeline.segments, name)[kept] for name in type(timeline.segments).__struct_fields__)
    partly = replace(timeline, segments=type(timeline.segments)(*columns))
    assert clock_of(partly, session, 4) is None and phase_cycles(partly, 4) == {}
    assert clock_of(partly, session, 5) is not None

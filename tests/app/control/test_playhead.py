"""The playhead, how panes are linked to it, and where phases and blocks begin."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.control.playhead import Playhead
from tilescope.app.model import phase_steps
from tilescope.app.model.pane_moments import pane_moments, playhead_moment
from tilescope.app.model.session import Selection
from tilescope.tracer.analysis.requests import REQUEST_KINDS


def playing(end=100.0, speed=10.0, moment=0.0):
    head = Playhead()
    head.set_end(end)
    head.set_speed(speed)
    head.seek(moment)
    head.play()
    return head


def test_position_follows_the_clock_however_irregular_the_frames_are():
    smooth, rough = playing(), playing()
    for i in range(301):
        smooth.advance(5 + i / 60)
    for now in (5.0, 5.01, 5.02, 8.9, 10.0):
        rough.advance(now)
    assert smooth.moment == pytest.approx(50)
    assert rough.moment == pytest.approx(50)


def test_a_pause_costs_no_moment_and_skips_none():
    head = playing()
    head.advance(1.0)
    head.advance(2.0)
    head.pause()
    head.advance(50.0)
    assert head.moment == pytest.approx(10)
    head.play()
    head.advance(100.0)
    head.advance(101.0)
    assert head.moment == pytest.approx(20)


def test_it_stops_at_the_end_and_starts_over_from_there():
    head = playing(end=20)
    head.advance(0.0)
    head.advance(3.0)
    assert (head.moment, head.playing) == (20, False)
    head.play()
    assert (head.moment, head.playing) == (0, True)


def test_it_stands_where_it_was_to_stop_at_a_pace_of_its_own_also_after_a_pause():
    head = playing(end=100, speed=10, moment=20)
    head.play_to(40, 2.0)
    head.advance(0.0)
    head.advance(5.0)
    assert head.moment == pytest.approx(30)
    head.pause()
    head.toggle()
    head.advance(100.0)
    head.advance(150.0)
    assert (head.moment, head.playing, head.stop) == (40, False, None)
    assert head.speed == 10  # which nobody changed
    head.play()
    head.advance(0.0)
    head.advance(1.0)
    assert head.moment == pytest.approx(50)


def test_who_goes_beyond_the_stop_plays_on_as_usual():
    head = playing(end=100, speed=10)
    head.play_to(40, 2.0)
    head.seek(60)
    head.advance(0.0)
    head.advance(1.0)
    assert (head.moment, head.playing) == (pytest.approx(70), True)
    head.play_to(90)
    head.halt()
    assert (head.playing, head.stop) == (False, None)
    head.play_to(head.moment)
    assert not head.playing  # it is there


def test_a_loop_begins_again_without_losing_time():
    head = playing(end=20)
    head.set_loop(True)
    head.advance(0.0)
    head.advance(2.5)
    assert head.moment == pytest.approx(5)
    assert head.playing


def test_another_speed_and_a_jump_go_on_from_where_it_is():
    head = playing()
    head.advance(0.0)
    head.advance(1.0)
    head.set_speed(100)
    head.advance(1.1)
    head.advance(1.2)
    assert head.moment == pytest.approx(20)
    head.seek(70)
    head.advance(1.3)
    head.advance(1.4)
    assert head.moment == pytest.approx(80)


@pytest.mark.parametrize(("asked", "given"), [(-3, 0), (7.5, 7.5), (99, 20)])
def test_seeking_stays_between_start_and_end(asked, given):
    head = Playhead()
    head.set_end(20)
    head.seek(asked)
    assert head.moment == given


def test_nothing_to_play_does_not_play_even_in_a_loop():
    head = Playhead()
    head.set_loop(True)
    head.play()
    head.advance(0.0)
    head.advance(9.0)
    assert (head.moment, head.playing) == (0, False)
    head = playing()
    head.set_loop(True)
    head.set_end(0)
    head.advance(1.0)
    assert (head.moment, head.playing) == (0, False)


def test_every_change_is_reported():
    head, moments = Playhead(), []
    head.changed.connect(lambda: moments.append(head.moment))
    head.set_end(10)
    head.seek(4)
    head.play()
    head.advance(0.0)
    head.advance(0.25)
    assert moments[-1] == pytest.approx(6)
    assert len(moments) == 5


def test_by_moment_every_pane_shows_the_moment_or_its_end():
    assert pane_moments(7.5, (5, 10), "moment") == (5, 7.5)


def test_by_progress_blocks_of_the_same_share_begin_together():
    # 4 blocks of 130 moments beside 4 of 153
    for block in range(4):
        assert pane_moments(153 * block + 1, (520, 612), "progress") == (130 * block + 1, 153 * block + 1)
    assert pane_moments(612, (520, 612), "progress") == (520, 612)
    assert pane_moments(0, (520, 612), "progress") == (0, 0)


def test_a_pane_without_a_session_stays_at_zero():
    assert pane_moments(3, (0, 10), "progress") == (0, 3)
    assert pane_moments(3, (0, 0), "progress") == (0, 0)


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=2), st.data())
def test_a_step_to_a_moment_arrives_at_that_moment(ends, data):
    pane = data.draw(st.integers(0, len(ends) - 1))
    mode = data.draw(st.sampled_from(["moment", "progress"]))
    moment = data.draw(st.integers(0, ends[pane]))
    position = playhead_moment(moment, pane, ends, mode)
    assert 0 <= position <= max(ends)
    assert pane_moments(position, ends, mode)[pane] == moment


@given(st.tuples(st.integers(1, 5000), st.integers(1, 5000)), st.floats(0, 5000), st.floats(0, 5000))
def test_time_never_runs_back_in_any_pane(ends, first, other):
    earlier, later = sorted((first, other))
    pairs = zip(pane_moments(earlier, ends, "progress"), pane_moments(later, ends, "progress"), strict=True)
    assert all(before <= after + 1e-6 for before, after in pairs)


def session(starts, ends, blocks=(0, 1, 2), loads=()):
    """A session whose blocks have these phases: row per block, moments start < m <= end."""
    start, end = np.array(starts), np.array(ends)
    spans = {"span_start": start, "span_end": end, "block_spans": (start.min(1), end.max(1))}
    kinds = np.full(len(loads), REQUEST_KINDS.index("global load"))
    requests = SimpleNamespace(**spans, moment=np.array(loads, int), kind=kinds)
    trace = SimpleNamespace(blocks=np.array(blocks), grid=(max(blocks, default=0) + 1, 1, 1), threads=64)
    return SimpleNamespace(requests=requests, trace=trace, end=int(np.max(ends)))


ONE_BY_ONE = session([[0, 5], [20, 25], [40, 45]], [[5, 20], [25, 40], [45, 60]])
TOGETHER = session([[0, 5], [0, 5], [0, 7]], [[5, 20], [5, 20], [7, 21]])


def test_the_phase_of_a_moment():
    assert [phase_steps.phase_at(ONE_BY_ONE, 1, m) for m in (0, 21, 25, 25.9, 26, 60)] == [0, 0, 0, 0, 1, 1]


def test_phases_follow_each_other_through_all_blocks_and_end_at_both_ends():
    forward, moment = [], 0
    while moment < ONE_BY_ONE.end:
        block = phase_steps.follow_running_block(ONE_BY_ONE, Selection(), moment).block
        moment = phase_steps.next_phase(ONE_BY_ONE, block, moment, 1)
        forward.append(moment)
    assert forward == [1, 6, 21, 26, 41, 46, 60]
    assert phase_steps.next_phase(ONE_BY_ONE, 1, 30, -1) == 26
    assert phase_steps.next_phase(ONE_BY_ONE, 1, 26, -1) == 21
    assert phase_steps.next_phase(ONE_BY_ONE, 0, 1, -1) == 0


def test_a_phase_beyond_the_last_is_the_end():
    assert phase_steps.phase_span(ONE_BY_ONE, 1, 1) == (25, 40)
    assert phase_steps.phase_span(ONE_BY_ONE, 1, 9) == (60, 60)


def test_the_selection_follows_to_the_block_that_runs_and_stays_where_several_do():
    assert [
        phase_steps.follow_running_block(ONE_BY_ONE, Selection(0, 3), m).block
        for m in (0, 20, 21, 40.9, 41, 60)
    ] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]
    assert phase_steps.follow_running_block(TOGETHER, Selection(1, 3), 12) == Selection(1, 3)
    assert phase_steps.follow_running_block(TOGETHER, Selection(0, 3), 21) == Selection(2, 3)


def test_a_selection_from_elsewhere_becomes_one_of_this_session():
    part = session([[0, 5]], [[5, 20]], blocks=(7,))
    assert phase_steps.follow_running_block(part, Selection(3, 9999), 2) == Selection(7, 63)


def test_next_block_is_the_next_that_ran():
    part = session([[0], [9]], [[9], [20]], blocks=(3, 8))
    assert [phase_steps.next_block(part, *ask) for ask in ((3, 1), (8, 1), (8, -1), (3, -1))] == [8, 8, 3, 3]


def test_the_first_load_is_chosen_or_the_first_moment():
    assert phase_steps.first_load(session([[0]], [[9]], blocks=(0,), loads=(4, 6))) == 4
    assert phase_steps.first_load(session([[0]], [[9]], blocks=(0,))) == 1


@pytest.mark.parametrize(
    ("end", "speed"), [(0, 8), (480, 8), (481, 16), (59_999, 1000), (60_001, 2000), (7e6, 200_000)]
)
def test_a_long_launch_plays_within_a_minute_at_the_default_speed(end, speed):
    head = Playhead()
    head.set_end(end)
    assert head.speed == speed
    assert end / head.speed <= 60
    head.set_speed(3)
    head.set_end(2 * end)
    assert head.speed == 3
    head.set_speed(None)
    assert 2 * end / head.speed <= 60

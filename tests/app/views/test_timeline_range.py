"""Which moments the timeline shows: what the wheel and drags do, and that it shows nothing empty for long."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.common.activity import block_activity
from views import LEFT, NO_KEYS, record_calls, row_point, show_timeline, turn_wheel


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


def test_the_wheel_zooms_around_the_pointer(tiled):
    view = show_timeline(tiled)
    ranges, point = record_calls(view, "x_range_changed"), row_point(view, 12)
    before, under = view.x_range(), view.places.moment(point.x())
    turn_wheel(view, point, 240)
    first, last = view.x_range()
    assert last - first == pytest.approx(0.64 * (before[1] - before[0]))
    assert view.places.moment(point.x()) == pytest.approx(under)
    assert ranges == [view.x_range()]


def test_zooming_ends_at_four_moments_and_at_the_launch(tiled):
    view = show_timeline(tiled)
    for _ in range(40):
        turn_wheel(view, row_point(view, 12), 120)
    first, last = view.x_range()
    assert last - first == pytest.approx(4) and first < 12.5 < last
    for _ in range(80):
        turn_wheel(view, QPoint(700, 60), -120)
    first, last = view.x_range()
    assert first <= 0 and tiled.end < last < 1.1 * tiled.end + 2


def test_shift_and_the_wheel_pan_and_so_does_the_axis(tiled):
    view = show_timeline(tiled)
    full_range = view.x_range()
    view.set_x_range(12, 32)
    start = view.x_range()
    turn_wheel(view, row_point(view, 20), -120, Qt.KeyboardModifier.ShiftModifier)
    moved = view.x_range()
    assert moved[0] - start[0] == pytest.approx((start[1] - start[0]) / 10)
    axis = view.places.axis.center().toPoint()
    QTest.mousePress(view, LEFT, NO_KEYS, axis)
    QTest.mouseMove(view, axis + QPoint(90, 0))
    QTest.mouseRelease(view, LEFT, NO_KEYS, axis + QPoint(90, 0))
    dragged = 90 / view.places.rows.width() * (moved[1] - moved[0])
    assert view.x_range()[0] == pytest.approx(moved[0] - dragged)
    QTest.mouseDClick(view, LEFT, NO_KEYS, axis)
    assert view.x_range() == full_range


def test_setting_a_range_emits_nothing_and_it_moves_with_the_block(tiled):
    view = show_timeline(tiled)
    ranges = record_calls(view, "x_range_changed")
    view.set_x_range(5, 15)
    assert view.x_range() == pytest.approx((5, 15)) and ranges == []
    offset = int(tiled.requests.span_start[4, 0] - tiled.requests.span_start[0, 0])
    view.render_moment(3, Selection(4, 0))
    assert view.x_range() == pytest.approx((5 + offset, 15 + offset))
    assert grab_image(view) == grab_image(view)


def test_a_zoomed_range_turns_its_page_when_the_playhead_leaves_it(tiled):
    view = show_timeline(tiled, 9)
    view.set_x_range(5, 15)
    ranges = record_calls(view, "x_range_changed")
    view.render_moment(16, Selection())
    assert ranges == [view.x_range()] and view.x_range() == pytest.approx((15, 25))
    view.render_moment(44, Selection())
    assert view.x_range()[0] <= 44 < view.x_range()[1]


@pytest.mark.parametrize("moments", [(5, 15, 60), (5, 40, 200)])
def test_a_zoomed_range_never_leaves_the_block_for_what_is_empty(tiled, moments):
    view = show_timeline(tiled, 9)
    begin, finish = view.x_range()
    first, last, later = moments
    view.set_x_range(first, last)
    view.render_moment(later, Selection())  # it plays on past the block's end
    assert begin <= view.x_range()[0] and view.x_range()[1] <= finish + 1e-9
    view.set_x_range(later, later + 10)
    assert view.x_range() == pytest.approx((finish - 10, finish))


def test_a_range_zoomed_in_a_long_block_is_full_in_a_short_one():
    session = matmul("transpose-tile")
    view = show_timeline(session, 1, Selection(0, 0))
    finish = view.x_range()[1]
    view.set_x_range(finish - 4, finish)
    for block in range(4):
        view.render_moment(1, Selection(block, 0))
        span = block_activity(session, block).span
        assert view.x_range()[1] <= span[1] + 1.3


@pytest.mark.parametrize("block", [0, 5, 11])
def test_the_complete_block_is_in_sight_at_first(tiled, block):
    view = show_timeline(tiled, 0, Selection(block, 0))
    moments = tiled.requests.moment[tiled.requests.block == block]
    first, last = view.x_range()
    assert first <= moments.min() - 1 and moments.max() + 1 <= last
    assert last - first < 1.2 * (moments.max() - moments.min() + 1)

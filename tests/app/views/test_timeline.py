"""The timeline: what it draws of real traces, and what it asks for when it is clicked, dragged and turned."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from PySide6.QtTest import QTest

from sessions import application, grab_image, matmul, uneven_session
from tilescope.app.model.session import Selection
from tilescope.app.views.common.activity import block_activity
from tilescope.app.views.common.geometry import integer_step
from tilescope.app.views.timeline.image import assign_lanes, strip_pixels
from tilescope.app.views.timeline.paint import band_label
from tilescope.app.widgets.patterns import LOOKS, cell, swatch
from tilescope.app.widgets.theme import KIND_COLOURS, Theme
from tilescope.tracer.analysis.requests import REQUEST_KINDS
from views import LEFT, LIGHT, NO_KEYS, cell_colours, record_requests, row_point, show_timeline, turn_wheel


@pytest.fixture(scope="module")
def tiled():
    return matmul(m=20, k=12, n=28, tile=8)


@pytest.mark.parametrize("theme", [Theme.named("light"), Theme.named("dark", 1.6)])
def test_a_moment_looks_the_same_from_wherever_it_is_reached(tiled, theme):
    again = show_timeline(tiled, 9, Selection(2, 40), theme=theme)
    again.render_moment(3.4, Selection(0, 1))
    assert grab_image(again) == grab_image(show_timeline(tiled, 3.4, Selection(0, 1), theme=theme))


def test_a_changed_theme_leaves_nothing_of_the_one_before(tiled):
    view = show_timeline(tiled)
    view.set_theme(Theme.named("dark", 1.3))
    assert grab_image(view) == grab_image(show_timeline(tiled, theme=Theme.named("dark", 1.3)))


def test_moving_the_playhead_repaints_all_that_changes(tiled):
    view = show_timeline(tiled, 0)
    view.show()
    for moment in (4.0, 4.5, 30.2, 5.9, tiled.end, 0):
        view.render_moment(moment, Selection())
        application().processEvents()
        on_screen = view.screen().grabWindow(view.winId()).toImage()
        assert on_screen.convertToFormat(QImage.Format.Format_RGB32) == grab_image(view), moment
    view.close()


def what_each_warp_does(session, block):
    """Return (moment, warp) -> look, read from the trace row by row."""
    trace, requests = session.trace, session.requests
    looks, last = {}, {}
    for r in np.flatnonzero(requests.block == block):
        moment, warp = int(requests.moment[r]), int(requests.warp[r])
        looks[moment, warp] = REQUEST_KINDS[requests.kind[r]]
        last[warp, int(requests.phase[r])] = moment
    barriers = trace.barriers
    for row in np.flatnonzero(barriers.block == block):
        warp, phase = int(barriers.thread[row]) // 32, int(barriers.phase[row])
        start, end = requests.span_start[block, phase], requests.span_end[block, phase]
        for moment in range(last.get((warp, phase), int(start)) + 1, int(end) + 1):
            looks[moment, warp] = "waiting"
    return looks


def test_every_cell_has_the_colour_of_its_request_and_waiting_is_hatched(tmp_path):
    session = uneven_session(tmp_path)
    view = show_timeline(session, 0, Selection(1, 0), size=(1400, 90))
    image, expected = grab_image(view), what_each_warp_does(session, 1)
    first, last = block_activity(session, 1).span
    assert "waiting" in expected.values() and "atomic" in expected.values()
    for moment, warp in itertools.product(range(first, last + 1), range(2)):
        colours = cell_colours(image, view, moment, warp)
        most = max(set(colours), key=colours.count)
        look = expected.get((moment, warp))
        if look == "waiting":
            assert KIND_COLOURS["waiting"] in colours and "#FFFFFF" in colours, (moment, warp)
        else:
            assert most == (KIND_COLOURS[look] if look else "#FFFFFF"), (moment, warp, look)


def test_many_moments_in_a_pixel_keep_pure_colours():
    session = matmul(m=8, k=200, n=8, tile=8)
    view = show_timeline(session, 0, size=(360, 112))
    image, rows = grab_image(view), view.places.rows
    box = rows.toRect().adjusted(4, 0, 0, 0)
    places = itertools.product(range(box.left(), box.right()), range(box.top(), box.bottom()))
    colours = {image.pixelColor(x, y).name().upper() for x, y in places}
    assert view.places.x(2) - view.places.x(1) < 1
    drawn_kinds = {KIND_COLOURS[REQUEST_KINDS[k]] for k in np.unique(session.requests.kind)}
    assert drawn_kinds <= colours
    kinds = {c for c in colours if QColor(c).hslSaturation() > 100}
    assert kinds <= drawn_kinds


def test_kinds_differ_without_their_colour():
    theme = Theme.named("light")
    for size in (8, 14):
        looks = [cell(look, size, size, theme) for look in LOOKS if look]
        marks = [(p == np.bincount(np.unique(p, return_inverse=True)[1].ravel()).argmax()) for p in looks]
        shapes = [tuple(np.unique(p, return_inverse=True)[1].ravel()) for p in looks]
        assert len(marks) == len(set(shapes)), size


def test_a_swatch_is_sharp_on_a_fine_screen():
    application()
    pixmap = swatch("shared store", 14, Theme.named("dark"), 2.0)
    assert (pixmap.width(), pixmap.deviceIndependentSize().width()) == (28, 14)


def test_dragging_in_the_rows_scrubs(tiled):
    view = show_timeline(tiled)
    asked = record_requests(view, "seek")
    QTest.mousePress(view, LEFT, NO_KEYS, row_point(view, 10.5))
    QTest.mouseMove(view, row_point(view, 20.5))
    QTest.mouseMove(view, row_point(view, 600))
    QTest.mouseRelease(view, LEFT, NO_KEYS, row_point(view, 600))
    assert asked[0] == pytest.approx(10.5, abs=0.1) and asked[1] == pytest.approx(20.5, abs=0.1)
    assert asked[2] == tiled.end and len(asked) == 3


def test_dragging_the_handle_scrubs_and_a_click_on_it_jumps_nowhere_else(tiled):
    view = show_timeline(tiled, 30)
    asked = record_requests(view, "seek")
    top = round(view.places.bands.center().y())
    QTest.mouseClick(view, LEFT, NO_KEYS, QPoint(round(view.places.x(30)) + 2, top))
    assert [int(moment) for moment in asked] == [30]


def test_a_click_on_a_band_jumps_to_its_first_access(tiled):
    view = show_timeline(tiled, 0)
    asked = record_requests(view, "seek")
    requests, bands = tiled.requests, view.places.bands
    for phase in (1, 2, 4):
        own_moments = requests.moment[(requests.block == 0) & (requests.phase == phase)]
        middle = (int(own_moments.min()) + int(own_moments.max()) + 1) / 2
        QTest.mouseClick(view, LEFT, NO_KEYS, QPoint(round(view.places.x(middle)), round(bands.center().y())))
        assert asked[-1] == own_moments.min()


def test_a_click_on_the_strip_selects_the_block(tiled):
    view = show_timeline(tiled, 0, Selection(0, 5))
    asked = record_requests(view, "select")
    strip = view.places.strip
    for block in (4, 11, 0):
        moments = tiled.requests.moment[tiled.requests.block == block]
        x = strip.left() + strip.width() * (moments.min() + moments.max()) / 2 / tiled.end
        QTest.mouseClick(view, LEFT, NO_KEYS, QPoint(round(x), round(strip.center().y())))
    assert asked == [Selection(4, 5), Selection(11, 5), Selection(0, 5)]


def test_a_click_on_a_warps_name_selects_its_first_thread(tiled):
    view = show_timeline(tiled, 0, Selection(3, 5))
    asked = record_requests(view, "select")
    QTest.mouseClick(view, LEFT, NO_KEYS, QPoint(20, row_point(view, 1, warp=1).y()))
    assert asked == [Selection(3, 32)]


@pytest.mark.parametrize("width", [320, 500, 900, 1800])
@pytest.mark.parametrize("scale", [1.0, 1.6])
def test_labels_of_bands_stay_in_their_bands(tiled, width, scale):
    theme = Theme.named("light", scale)
    view = show_timeline(tiled, size=(width, round(112 * scale)), theme=theme)
    block, metrics = block_activity(tiled, 0), QFontMetricsF(theme.font(10.5, bold=True))
    labels = []
    for phase in range(block.phases):
        left, right = view.places.x(float(block.start[phase] + 1)), view.places.x(float(block.end[phase] + 1))
        labels.append(band_label(tiled, block, phase, left, right, metrics))
        assert metrics.horizontalAdvance(labels[-1]) <= right - left
    assert width < 900 or "compute tile 0" in labels


def test_a_kernel_without_barriers_reports_it(tmp_path):
    naive = matmul("matmul-naive-col-on-x", m=8, k=4, n=8, tile=8)
    metrics = QFontMetricsF(Theme.named("light").font(10.5))
    assert band_label(naive, block_activity(naive, 0), 0, 0, 500, metrics) == "one phase: no barrier"
    session = uneven_session(tmp_path)
    block = block_activity(session, 0)
    assert [band_label(session, block, p, 0, 500, metrics) for p in range(2)] == ["phase 0", "phase 1"]


def test_eight_and_thirty_two_warps_fit_in_the_same_room():
    for tile, least in ((16, 7.0), (32, 2.0)):
        session = matmul(m=tile, k=4, n=tile, tile=tile)
        rows = show_timeline(session).places.rows
        assert rows.height() <= 70 and rows.height() / session.trace.warps >= least


def test_the_tooltip_describes_the_item_under_the_pointer(tmp_path):
    session = uneven_session(tmp_path)
    view = show_timeline(session, 0, size=(1200, 90))
    requests = session.requests
    atomic = next(r for r in range(len(requests)) if REQUEST_KINDS[requests.kind[r]] == "atomic")
    words = view.text_at(QPointF(row_point(view, requests.moment[atomic] + 0.5, int(requests.warp[atomic]))))
    line = session.trace.sites[requests.site[atomic]].line
    assert (
        words
        == f"warp {requests.warp[atomic]}, moment {requests.moment[atomic]}: atomic of out by 16 lanes, line {line}"
    )
    assert "waits at a barrier" in view.text_at(QPointF(row_point(view, 2.5, 1)))
    assert "ended by a barrier" in view.text_at(QPointF(view.places.x(3), view.places.bands.center().y()))
    assert "block 1, moments" in view.text_at(view.places.strip.center())


def test_a_block_that_did_not_run_is_reported_as_missing():
    part = matmul(m=20, k=12, n=28, tile=8, blocks=(5,))
    assert grab_image(show_timeline(part, 3, Selection(6, 0))) != grab_image(
        show_timeline(part, 3, Selection(5, 0))
    )
    view = show_timeline(part, 3, Selection(6, 0))
    assert "not in the trace" in view.text_at(QPointF(row_point(view, 3)))


def test_an_empty_view_draws_and_ignores_the_pointer():
    view = show_timeline(None)
    turn_wheel(view, QPoint(300, 50), 120)
    QTest.mouseClick(view, LEFT, NO_KEYS, QPoint(300, 50))
    assert grab_image(view).pixelColor(300, 50) == QColor(Theme.named("light").palette.panel)


spans = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=30)


@given(spans)
def test_lanes_hold_blocks_one_after_the_other_and_are_as_few_as_can_be(lanes):
    start = np.array([s for s, _ in lanes], np.int64)
    end = start + np.array([n for _, n in lanes], np.int64)
    lane = assign_lanes(start, end)
    for a, b in itertools.combinations(range(len(lanes)), 2):
        assert lane[a] != lane[b] or end[a] <= start[b] or end[b] <= start[a]
    running = [int(((start <= m) & (m < end)).sum()) for m in range(90)]
    assert lane.max() + 1 == max(running)


def test_thousands_of_blocks_are_drawn_as_a_density():
    count = 5000
    start = np.repeat(np.arange(count // 500), 500) * 10
    theme = Theme.named("light")
    pixels = strip_pixels(start, start + 8, assign_lanes(start, start + 8), 100, (400, 9), theme, 1.0)
    panel = theme.colour("panel").rgb()
    assert (pixels[:, 0] != panel).any() and (pixels[:, 39] == panel).all()


@given(st.floats(1, 1e7), st.floats(1, 40))
def test_ticks_are_round_numbers_and_not_too_many(span, wanted):
    step = integer_step(span, wanted)
    assert str(step).rstrip("0") in ("1", "2", "5") and span / step <= wanted * (1 + 1e-9)


def test_a_timeline_is_as_high_as_its_warps_need():
    heights = []
    for tile in (2, 8, 16, 32):  # 1, 2, 8 and 32 warps
        view = show_timeline(matmul("matmul-tiled", m=32, k=16, n=32, tile=tile))
        heights.append(view.sizeHint().height())
        assert view.minimumSizeHint().height() <= view.sizeHint().height() <= view.largest_height()
        view.resize(900, view.sizeHint().height())
        assert view.places.rows.height() / view.session.trace.warps >= 3
        assert view.places.axis.bottom() <= view.height() + 1
    assert heights == sorted(set(heights))
    assert heights[2] - heights[1] >= 40
    view.set_slim(True)
    assert view.sizeHint().height() < heights[-1]


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@given(st.integers(2, 40), st.integers(200, 1900))
def test_blocks_that_follow_one_another_have_a_gap_between_them(ratio, blocks, width):
    start = np.arange(blocks) * 153
    end = start + 153
    row = strip_pixels(start, end, np.zeros(blocks, np.int64), 153 * blocks, (width, 8), LIGHT, ratio)[4]
    gap = max(1, round(ratio))
    if width // blocks >= 4 * gap + 1:
        ground = row == LIGHT.colour("panel").rgb()
        gaps = [len(list(run)) for is_ground, run in itertools.groupby(ground) if is_ground]
        assert gaps == [gap] * blocks  # one after each, the last at the edge

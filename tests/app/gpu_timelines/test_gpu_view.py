"""The chart of a launch on a GPU: what is under the pointer, what wheel, drag and keys ask for, and what is said."""

from itertools import cycle

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpu_charts import derived_data, small_timeline, sparse_data, view_of
from sessions import grab_image
from tilescope.app.gpu_timelines.hit_test import describe_hit
from tilescope.app.gpu_timelines.legend import legend_of
from tilescope.app.gpu_timelines.model.data import gpu_data
from tilescope.app.gpu_timelines.model.place import PanePlace
from tilescope.app.gpu_timelines.paint import box_of_item
from tilescope.app.gpu_timelines.shown import chart_view_at
from tilescope.app.gpu_timelines.text import NO_DETAILS, ordinal
from tilescope.app.gpu_timelines.view import GpuRequests, common_range
from tilescope.app.widgets.theme import KIND_COLOURS, Theme
from tilescope.tracer.hardware.timeline import SEGMENT_KINDS
from windows import wait_until

NO_KEYS, LEFT = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton


def place(level, data=None, **numbers):
    return chart_view_at(data or derived_data(), level, PanePlace(**numbers))


def wheel(view, x, y, turn, keys=NO_KEYS):
    point = QPointF(x, y)
    event = QWheelEvent(
        point,
        point,
        QPoint(),
        QPoint(0, turn),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def asked(view):
    """Return the list that gets all that a view asks for."""
    requests = []
    view.ask = GpuRequests(
        lambda level, number: requests.append((level, number)),
        lambda: requests.append(("left",)),
        lambda span: requests.append(("range", span)),
    )
    return requests


def tip(view, position):
    return describe_hit(view.shown, view.hit(position))


# What is where.


def test_every_row_of_the_gpu_is_a_multiprocessor_that_a_click_goes_into():
    view = view_of(place("gpu"))
    requests = asked(view)
    assert view.chart_layout.count == 4
    for machine in range(4):
        point = view.chart_layout.box(machine).center()
        assert f"multiprocessor {machine}" in tip(view, point)
        QTest.mouseClick(view.viewport(), LEFT, pos=point.toPoint())
    assert requests == [("multiprocessor", machine) for machine in range(4)]


@pytest.mark.parametrize("level", ["gpu", "multiprocessor"])
def test_every_block_is_hit_at_its_position(level):
    for block in range(16):
        shown = place(level, multiprocessor=derived_data().machine(block))
        view = view_of(shown)
        box = box_of_item(shown, view.chart_layout, block)
        assert view.hit(box.center()).item == block
        tooltip = tip(view, box.center())
        assert tooltip.startswith(f"block ({block % 4}, {block // 4}) on multiprocessor {shown.machine}")
        assert "· measured" in tooltip
        assert grab_image(view).pixelColor(box.center().toPoint()) != view.theme.colour("panel")


def test_a_click_on_a_block_goes_into_it():
    shown = place("multiprocessor", multiprocessor=2)
    view = view_of(shown)
    requests = asked(view)
    block = int(shown.data.blocks_on(2)[-1])
    QTest.mouseClick(
        view.viewport(), LEFT, pos=box_of_item(shown, view.chart_layout, block).center().toPoint()
    )
    assert requests == [("block", block)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("level", "warp"), [("block", None), ("warp", 1)])
def test_every_segment_is_hit_at_its_position_in_its_colour(level, warp, theme):
    shown = place(level, block=6, warp=warp)
    view = view_of(shown, size=(1400, 420), theme=theme)
    image, segments = grab_image(view), shown.data.timeline.segments
    rows = shown.data.rows(6)
    own_segments = [i for i in range(rows.start, rows.stop) if warp is None or segments.warp[i] == warp]
    assert len(own_segments) == (30 if warp is None else 15)  # five phases, three segments in each
    for segment in own_segments:
        box = box_of_item(shown, view.chart_layout, segment)
        assert view.hit(box.center()).item == segment
        kind = SEGMENT_KINDS[segments.kind[segment]]
        corner = QColor(image.pixelColor(round(box.left()) + 3, round(box.top()) + 1))
        grounds = {"load": KIND_COLOURS["global load"], "compute": KIND_COLOURS["shared load"]}
        waits = {view.theme.colour("panel").name(), KIND_COLOURS["waiting"].lower()}
        assert corner.name() in ({grounds[kind].lower()} if kind in grounds else waits)


def test_a_segment_names_phase_cycles_mark_warp_and_the_line_of_the_source():
    data = derived_data()
    view = view_of(place("block", block=3))
    segments = data.timeline.segments
    load = data.rows(3).start
    view.choose(0, load)
    first, last = int(segments.first_line[load]), int(segments.last_line[load])
    source = data.timeline.head.source.splitlines()[first - 1].strip()
    assert view.chosen_text() == (
        f"load tile 0: 900 cycles · measured, 0.90 µs; warp 0; lines {first} to {last}: {source}"
    )
    view.choose(0, load + 2)
    assert view.chosen_text().startswith("load tile 0, wait: 150 cycles · measured")


def test_phases_stand_above_the_warps_with_their_cycles():
    shown = place("block", block=0)
    view = view_of(shown)
    layout = view.chart_layout
    segments = shown.data.timeline.segments
    own_segments = (segments.block == 0) & (segments.phase == 1)
    start, end = int(segments.start[own_segments].min()), int(segments.end[own_segments].max())
    cycles, middle = end - start, (start + end) / 2 * 1000 / shown.data.timeline.head.mhz
    assert (
        tip(view, QPointF(layout.x(middle), layout.bands.center().y()))
        == f"compute tile 0: {cycles:,} cycles · measured"
    )


def test_a_block_without_recorded_warps_reports_it():
    data = gpu_data(small_timeline(detailed=(5,)))
    shown = chart_view_at(data, "block", PanePlace(block=2))
    view = view_of(shown)
    assert not shown.has_details and view.chart_layout.count == 1
    assert NO_DETAILS in view.chosen_text()
    assert tip(view, view.chart_layout.rows.center()) == NO_DETAILS
    requests = asked(view)
    QTest.keyClick(view, Qt.Key.Key_D)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert requests == [("block", 5)]


def test_a_multiprocessor_without_a_block_reports_it():
    timeline = small_timeline()
    data = gpu_data(timeline)
    assert data.machines == 4
    empty = view_of(chart_view_at(data, "gpu", PanePlace()))
    assert "16 blocks" not in empty.chosen_text()
    assert "4 blocks, up to 2 at once" in empty.chosen_text()


def test_a_sparse_launch_has_rows_of_used_multiprocessors_and_one_for_the_rest():
    view = view_of(chart_view_at(sparse_data(), "gpu", PanePlace()))
    assert [view.shown.name(row) for row in range(view.chart_layout.count)] == ["0", "2", "4", "131", ""]
    assert tip(view, view.chart_layout.box(4).center()) == "128 other multiprocessors ran no block · measured"


def test_clicks_on_a_sparse_launch_go_into_the_multiprocessor_that_is_drawn_there():
    view = view_of(chart_view_at(sparse_data(), "gpu", PanePlace()))
    requests = asked(view)
    for row in range(5):
        QTest.mouseClick(view.viewport(), LEFT, pos=view.chart_layout.box(row).center().toPoint())
    assert requests == [("multiprocessor", machine) for machine in (0, 2, 4, 131)]
    assert view.chosen_text().startswith("128 other multiprocessors")


def test_blocks_of_a_sparse_launch_are_hit_at_their_positions():
    data_of = sparse_data()
    shown = chart_view_at(data_of, "gpu", PanePlace())
    view = view_of(shown)
    for block in range(16):
        box = box_of_item(shown, view.chart_layout, block)
        assert view.hit(box.center()).item == block
        assert f"on multiprocessor {data_of.machine(block)}:" in tip(view, box.center())


def test_keys_move_over_the_rows_of_a_sparse_launch():
    view = view_of(chart_view_at(sparse_data(), "gpu", PanePlace(multiprocessor=2)))
    assert view.chosen_text().startswith("multiprocessor 2:")
    requests = asked(view)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert requests == [("multiprocessor", 131)]
    assert view.chosen_text() == "128 other multiprocessors ran no block · measured"


def test_the_legend_names_what_the_rows_of_a_sparse_launch_show():
    shown = chart_view_at(sparse_data(), "gpu", PanePlace())
    assert {"load", "compute", "wait"} <= {entry.sign for entry in legend_of([shown])}


# Time.


def test_the_wheel_keeps_the_time_under_the_pointer():
    view = view_of(place("gpu"))
    requests = asked(view)
    x, y = view.chart_layout.rows.center().x() + 100, view.chart_layout.rows.center().y()
    before = view.chart_layout.time(x)
    wheel(view, x, y, 120)
    span = requests[-1][1]
    assert span[1] - span[0] == pytest.approx(0.8 * (view.span[1] - view.span[0]))
    view.show_place(view.shown, span, common_range([view.shown.duration]))
    assert view.chart_layout.time(x) == pytest.approx(before)


def test_all_is_as_far_as_one_gets_and_a_few_nanoseconds_as_near():
    view = view_of(place("gpu"))
    requests = asked(view)
    wheel(view, 500, 100, -1200)
    assert requests[-1][1] == pytest.approx(view.span)
    view.zoom(1e9)
    assert requests[-1][1][1] - requests[-1][1][0] == pytest.approx(20)
    view.show_place(view.shown, (0.0, 1000.0), common_range([view.shown.duration]))
    wheel(view, 500, 100, 120 * 1000, Qt.KeyboardModifier.ShiftModifier)
    assert requests[-1][1][0] == pytest.approx(common_range([view.shown.duration])[0])


def test_a_drag_moves_what_is_shown_and_is_no_click():
    view = view_of(place("gpu"), span=(1000.0, 2000.0))
    requests = asked(view)
    grab_image(view)
    start = view.chart_layout.rows.center().toPoint()
    wide = view.chart_layout.rows.width()
    QTest.mousePress(view.viewport(), LEFT, pos=start)
    QTest.mouseMove(view.viewport(), start + QPoint(50, 0))
    QTest.mouseRelease(view.viewport(), LEFT, pos=start + QPoint(50, 0))
    assert requests[-1] == ("range", pytest.approx((1000 - 50000 / wide, 2000 - 50000 / wide)))
    assert {kind for kind, _ in requests} == {"range"}


def test_a_rectangle_is_zoomed_to_in_time_only():
    view = view_of(place("gpu"), span=(1000.0, 2000.0))
    requests = asked(view)
    grab_image(view)
    QTest.keyClick(view, Qt.Key.Key_R)
    rows = view.chart_layout.rows
    start, end = (
        QPointF(view.chart_layout.x(1200), rows.top() + 20),
        QPointF(view.chart_layout.x(1600), rows.top() + 60),
    )
    QTest.mousePress(view.viewport(), LEFT, pos=start.toPoint())
    QTest.mouseMove(view.viewport(), end.toPoint())
    QTest.mouseRelease(view.viewport(), LEFT, pos=end.toPoint())
    assert requests[-1] == ("range", pytest.approx((1200, 1600), abs=2))
    box = view.plots[0].vb.viewRect()
    assert box.height() == view.chart_layout.count


def test_the_pointer_shows_its_time():
    view = view_of(place("gpu"))
    view.show()
    readout = view.plots[0].readout
    middle = view.chart_layout.rows.center().toPoint()
    time = f"{view.chart_layout.time(middle.x()) / 1000:.3f} µs"
    steps = cycle([QPoint(3, 3), QPoint()])  # pyqtgraph ignores moves that come too fast

    def shows() -> bool:
        QTest.mouseMove(view.viewport(), middle - next(steps))
        return readout.isVisible() and readout.toPlainText() == time

    wait_until(shows)
    shown = grab_image(view)
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert not readout.isVisible() and grab_image(view) != shown


# Keys.


def test_keys_choose_a_row_and_go_in_and_out():
    view = view_of(place("gpu", multiprocessor=0))
    requests = asked(view)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return, Qt.Key.Key_Backspace):
        QTest.keyClick(view, key)
    assert requests == [("multiprocessor", 1), ("left",)]
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert requests[-1] == ("range", None)


def test_keys_go_from_block_to_block_and_from_segment_to_segment():
    shown = place("multiprocessor", multiprocessor=1)
    view = view_of(shown)
    requests = asked(view)
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Right)
    lane = shown.data.blocks_on(1)[shown.data.lanes.lane[shown.data.blocks_on(1)] == 0]
    assert view.item == lane[1]
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert requests == [("block", lane[1])]
    inside = view_of(place("block", block=int(lane[1])))
    QTest.keyClick(inside, Qt.Key.Key_Down)
    QTest.keyClick(inside, Qt.Key.Key_Left)  # the last of warp 1
    assert "warp 1" in inside.chosen_text()
    assert inside.item == inside.shown.data.rows(int(lane[1])).stop - 1


def test_what_is_chosen_by_keys_is_brought_in_sight():
    view = view_of(place("block", block=0), span=(0.0, 500.0))
    requests = asked(view)
    QTest.keyClick(view, Qt.Key.Key_Left)
    span = requests[-1][1]
    end = view.shown.data.timeline.segments.end[view.item] * 1000 / view.shown.data.timeline.head.mhz
    assert span[0] < end <= span[1]


def test_plus_and_minus_zoom_around_the_middle():
    view = view_of(place("gpu"), span=(1000.0, 2000.0))
    requests = asked(view)
    QTest.keyClick(view, Qt.Key.Key_Plus)
    assert requests[-1][1] == pytest.approx((1100, 1900))
    QTest.keyClick(view, Qt.Key.Key_Minus)
    assert requests[-1][1] == pytest.approx((1000, 2000))


# Pictures.


def test_the_same_place_gives_the_same_picture_from_wherever_one_comes():
    straight = view_of(place("multiprocessor", multiprocessor=2))
    full_range = common_range([straight.shown.duration])
    other = view_of(place("block", block=5))
    other.choose(1, None)
    other.show_place(place("multiprocessor", multiprocessor=2), straight.span, full_range)
    assert grab_image(other) == grab_image(straight)
    before = grab_image(straight)
    straight.show_place(straight.shown, (500.0, 900.0), full_range)
    assert grab_image(straight) != before
    straight.show_place(straight.shown, other.span, full_range)
    assert grab_image(straight) == before


def test_the_colours_follow_the_theme():
    view = view_of(place("gpu"))
    assert grab_image(view).pixelColor(2, 2) == Theme.named("light").colour("panel")
    view.set_theme(Theme.named("dark"))
    assert grab_image(view).pixelColor(2, 2) == Theme.named("dark").colour("panel")


def test_numbers_that_a_launch_has_not_are_chosen_by_the_chart():
    data = derived_data()
    shown = chart_view_at(data, "warp", PanePlace(block=10**6, warp=99))
    assert shown.block in data.detailed and shown.warp == 0
    assert chart_view_at(data, "gpu", PanePlace(multiprocessor=500)).machine == data.machine(
        data.chosen_block()
    )


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 102, 113)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd", "113th",
    ]  # fmt: skip


def test_omissions_are_listed_also_if_rows_are_too_low_for_words():
    view = view_of(chart_view_at(sparse_data(), "gpu", PanePlace()), size=(900, 80))
    layout, panel = view.chart_layout, view.theme.colour("panel")
    assert layout.box(4).height() < 11
    image = grab_image(view)
    right = range(round(layout.curve.right()) - 60, round(layout.curve.right()))
    assert any(image.pixelColor(x, y) != panel for x in right for y in range(round(layout.curve.top()) + 12))

"""What was measured, in the heads of the panes: the words, what comes first, the chart behind it, and its room."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from measured import case, measurement
from recorded_charts import raw, samples
from tilescope.app.charts.sources import own_folder
from tilescope.app.timings.window import TimingsWindow
from tilescope.app.window.panels.pane_heading import PaneHeading
from tilescope.tracer.measure.cases import row_of
from tilescope.tracer.measure.measurement import Timing, median, save
from windows import opened, press, reset, settle, until

LEFT = Qt.MouseButton.LeftButton


def lines(window):
    return [pane.heading.measured.text() for pane in window.central.panes]


def timings_of(window):
    return window.findChild(TimingsWindow)


@pytest.fixture
def window(shared):
    reset(shared)
    yield shared
    if timings_of(shared):
        timings_of(shared).close()


def test_each_pane_says_what_it_took_and_the_faster_one_how_many_times_as_fast_it_was(window):
    sides = {"m": 64, "k": 64, "n": 64}
    slow, fast = (
        median(tuple(samples(raw(name, **sides), "kernel-warm")))
        for name in ("matmul-naive-col-on-x", "matmul-tiled")
    )
    assert lines(window) == [
        f"NVIDIA H200, 64: {slow:.2f} µs · measured",
        f"NVIDIA H200, 64: {fast:.2f} µs, {slow / fast:.1f} times as fast · measured",
    ]
    tip = window.central.panes[1].heading.measured.toolTip()
    assert "M = K = N = 64, blocks of 16 × 16" in tip
    assert "this pane runs: M = K = N = 16, blocks of 8 × 8" in tip


def test_it_opens_the_bars_of_both_kernels_at_that_size(window):
    QTest.mouseClick(window.central.panes[0].heading.measured, LEFT)
    timings = timings_of(window)
    assert timings.isVisible()
    drawn = {bar.datum.subject: bar for bar in timings.figure.panels[0].bars}
    assert list(drawn) == ["matmul-naive-col-on-x", "matmul-tiled"]
    assert "M = K = N = 64" in timings.figure.subtitle
    assert drawn["matmul-naive-col-on-x"].text in lines(window)[0]


def test_the_keyboard_reaches_it(window):
    line = window.central.panes[1].heading.measured
    assert line.focusPolicy() & Qt.FocusPolicy.TabFocus
    line.setFocus()
    press(window, "Return")
    assert timings_of(window).isVisible()


@pytest.mark.parametrize(("width", "beside"), [(170, False), (300, False), (460, False), (900, True)])
def test_a_narrow_pane_says_less_and_a_wide_one_says_it_beside_the_title(window, width, beside):
    around = QWidget()
    heading = PaneHeading(window.theme, around)
    heading.load(window.stage.sessions[1])
    heading.set_theme(window.theme)
    heading.set_lines(0)
    heading.keep_time_room(True)
    left, right = window.central.measured.of_panes(window.stage.setups, window.stage.sessions)
    heading.show_times(right, left)
    heading.resize(width, heading.sizeHint().height())
    around.show()
    QApplication.processEvents()
    line = heading.measured
    assert line.fontMetrics().horizontalAdvance(line.text()) <= line.width() <= width
    assert line.text().startswith("NVIDIA H200, ") == (width > 300)
    assert line.text().endswith("· measured")
    assert (line.y() < heading.title.geometry().bottom()) == beside
    assert not line.geometry().intersects(heading.title.geometry())
    around.close()


def test_what_was_measured_here_comes_first(window):
    rows = []
    for name, taken in (("matmul-naive-col-on-x", 30.0), ("matmul-tiled", 10.0)):
        row = row_of(case(name, m=16, k=16, n=16, tile=8))
        rows.append(msgspec.structs.replace(row, timings=(Timing("kernel-warm", (taken,), True),)))
    own = measurement(1.0)
    device = msgspec.structs.replace(own.device, name="Mine <b>& 1</b>")
    path = own_folder() / "2026-11-22.json"
    own_folder().mkdir(parents=True, exist_ok=True)
    save(msgspec.structs.replace(own, device=device, rows=tuple(rows)), path)
    try:
        window.central.measured.renew()
        settle(window)
        assert lines(window) == [
            "Mine <b>&& 1</b>, 16: 30.0 µs · measured",
            "Mine <b>&& 1</b>, 16: 10.0 µs, 3.0 times as fast · measured",
        ]
        assert "measured here on 2026-11-20" in window.central.panes[0].heading.measured.toolTip()
    finally:
        path.unlink()
        window.central.measured.renew()
        settle(window)


def test_its_room_is_there_before_it_is_known():
    with opened(("count-racing", "count-atomic"), wait=False) as window:
        measured = window.central.measured
        measured.want = lambda: None
        until(window.stage.is_settled)
        QApplication.processEvents()
        assert measured.sources is None
        heights = [pane.heading.height() for pane in window.central.panes]
        assert lines(window) == ["", ""]
        measured.read_now()
        QApplication.processEvents()
        assert lines(window)[0] == "Not measured"
        assert lines(window)[1].startswith("NVIDIA H200, 1,024 threads: 1.9")
        assert [pane.heading.height() for pane in window.central.panes] == heights

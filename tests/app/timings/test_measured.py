"""What was measured, in the heads of the panes: the words, what comes first, the chart behind it, and its room."""

from __future__ import annotations

import re

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from measured import case, measurement
from recorded_charts import raw_row, samples_of
from tilescope.app.model.nothing import nothing
from tilescope.app.panels.pane_heading import HeadingView, PaneHeading
from tilescope.app.state.actions import Focus
from tilescope.app.timings.measured_job import MeasuredTimes
from tilescope.app.timings.model.sources import own_folder
from tilescope.app.timings.window import TimingsWindow
from tilescope.tracer.hardware.times.cases import row_of
from tilescope.tracer.hardware.times.measurement import Timing, median, save
from windows import act, enter, open_window, press, reset, settle, wait_until

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


MEASURED = "m=64,k=64,n=64,tile=16"  # a size at which both kernels were measured


@pytest.fixture(scope="module")
def measured_window():
    with open_window((f"matmul-naive-col-on-x:{MEASURED}", f"matmul-tiled:{MEASURED}")) as window:
        yield window


@pytest.fixture
def measured_panes(measured_window):
    yield measured_window
    if timings_of(measured_window):
        timings_of(measured_window).close()
    measured_window.activateWindow()
    QTest.qWaitForWindowActive(measured_window)


def test_each_pane_shows_its_time_and_the_faster_one_its_speed_up(measured_panes):
    sides = {"m": 64, "k": 64, "n": 64}
    slow, fast = (
        median(tuple(samples_of(raw_row(name, **sides), "kernel-warm")))
        for name in ("matmul-naive-col-on-x", "matmul-tiled")
    )
    assert lines(measured_panes) == [
        f"NVIDIA H200, 64: {slow:.2f} µs · measured",
        f"NVIDIA H200, 64: {fast:.2f} µs, {slow / fast:.1f} times as fast · measured",
    ]
    tip = measured_panes.central.panes[1].heading.measured.toolTip()
    assert "M = K = N = 64, blocks of 16 × 16" in tip
    assert "nearest" not in tip


def test_it_opens_the_bars_of_both_kernels_at_that_size(measured_panes):
    QTest.mouseClick(measured_panes.central.panes[0].heading.measured, LEFT)
    timings = timings_of(measured_panes)
    assert timings.isVisible()
    drawn = {bar.datum.subject: bar for bar in timings.figure.panels[0].bars}
    assert list(drawn) == ["matmul-naive-col-on-x", "matmul-tiled"]
    assert "M = K = N = 64" in timings.figure.subtitle
    assert drawn["matmul-naive-col-on-x"].text in lines(measured_panes)[0]


def test_a_size_that_was_not_measured_has_no_time_but_leads_to_the_nearest(window):
    texts = [pane.heading.measured.texts[0] for pane in window.central.panes]
    assert all(text.startswith("not measured at 16 × 16 × 16") for text in texts)
    assert "tile 8 · nearest: 64 × 64 × 64, tile 16" in texts[1]
    words = " ".join(word for pane in window.central.panes for word in pane.heading.measured.texts)
    assert not re.search(r"µs|ms|times as fast|· measured", words)
    greys = [pane.heading.measured.palette().buttonText().color() for pane in window.central.panes]
    assert {grey.name() for grey in greys} == {window.theme.colour("muted").name()}
    tip = window.central.panes[1].heading.measured.toolTip()
    assert "launch to that of this pane: M = K = N = 16, blocks of 8 × 8" in tip
    QTest.mouseClick(window.central.panes[1].heading.measured, LEFT)
    assert timings_of(window).isVisible()


def test_typing_a_measured_size_shows_its_time_and_a_size_between_shows_none(measured_panes):
    enter(measured_panes, "m", "65")
    press(measured_panes, "Return")
    wait_until(lambda: all(line.startswith("not measured") for line in lines(measured_panes)))
    settle(measured_panes)
    enter(measured_panes, "m", "64")
    press(measured_panes, "Return")
    wait_until(lambda: all(line.endswith("· measured") for line in lines(measured_panes)))


LECTURE = """# Times

## Not measured

```tilescope
show: matmul-tiled:m=8,k=8,n=8,tile=4
```

## Asked for

`nearest: shown`

## Measured

```tilescope
show: matmul-tiled:m=64,k=64,n=64
nearest: hidden
```
"""


def test_a_lecture_names_the_nearest_size_only_where_a_step_asks(tmp_path):
    path = tmp_path / "times.md"
    path.write_text(LECTURE)
    with open_window() as window:
        window.lectures.open(path)
        for number, shown in enumerate(("", "not measured at 8 × 8 × 8", "· measured")):
            wait_until(lambda number=number: shows_step(window, number))
            settle(window)
            (line,) = window.central.panes
            text = line.heading.measured.texts[0]
            assert (shown in text) if shown else not text
            press(window, "PageDown")
        press(window, "Escape")
        settle(window)
        assert all("not measured" in pane.heading.measured.texts[0] for pane in window.central.panes)


def shows_step(window, number):
    player = window.lectures.player
    return player.lecture is not None and player.awaited is None and player.number == number


def test_the_keyboard_reaches_it(window):
    line = window.central.panes[1].heading.measured
    assert line.focusPolicy() & Qt.FocusPolicy.TabFocus
    line.setFocus()
    press(window, "Return")
    assert timings_of(window).isVisible()


@pytest.mark.parametrize(("width", "next_to_title"), [(170, False), (300, False), (460, False), (900, True)])
def test_a_narrow_pane_shows_less_and_a_wide_one_shows_it_next_to_the_title(
    measured_panes, width, next_to_title
):
    window = measured_panes
    around = QWidget()
    heading = PaneHeading(window.theme, nothing, nothing, nothing, around)
    heading.render_view(HeadingView(window.stage.sessions[1]))
    heading.set_theme(window.theme)
    heading.set_lines(0)
    heading.reserve_time(True)
    left, right = window.central.results.measured.of_panes(window.stage.setups, window.stage.sessions)
    heading.show_times(right, left)
    heading.resize(width, heading.sizeHint().height())
    around.show()
    QApplication.processEvents()
    line = heading.measured
    assert line.fontMetrics().horizontalAdvance(line.text()) <= line.width() <= width
    assert line.text().startswith("NVIDIA H200, ") == (width > 300)
    assert line.text().endswith("· measured")
    assert (line.y() < heading.title.geometry().bottom()) == next_to_title
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
        window.central.results.measured.renew()
        settle(window)
        assert lines(window) == [
            "Mine <b>&& 1</b>, 16: 30.0 µs · measured",
            "Mine <b>&& 1</b>, 16: 10.0 µs, 3.0 times as fast · measured",
        ]
        assert "measured here on 2026-11-20" in window.central.panes[0].heading.measured.toolTip()
    finally:
        path.unlink()
        window.central.results.measured.renew()
        settle(window)


def test_its_room_is_there_before_it_is_known(monkeypatch):
    monkeypatch.setattr(MeasuredTimes, "want", lambda _: None)  # the window wants them when it opens
    with open_window(("count-racing", "count-atomic"), wait=False) as window:
        measured = window.central.results.measured
        wait_until(lambda: window.stage.is_settled() and not window.central.results.is_behind)
        QApplication.processEvents()
        assert measured.sources is None
        heights = [pane.heading.height() for pane in window.central.panes]
        assert lines(window) == ["", ""]
        measured.read_now()
        QApplication.processEvents()
        assert lines(window)[0] == "not measured"
        assert lines(window)[1].startswith("NVIDIA H200, 1,024 threads: 1.9")
        assert [pane.heading.height() for pane in window.central.panes] == heights


def test_the_timings_begin_with_what_the_panes_show():
    with open_window(("histogram-global", "histogram-private")) as window:
        QTest.mouseClick(window.toolbar.timings, LEFT)
        timings = timings_of(window)
        drawn = {bar.datum.subject for bar in timings.figure.panels[0].bars}
        assert drawn == {"histogram-global", "histogram-private"}
        timings.show_choice(replace(timings.choice, subjects=timings.choice.subjects[:1]))
        chosen = timings.choice
        timings.close()
        window.commands["Timings"].trigger()
        assert timings.isVisible() and timings.choice == chosen  # as the user left it
        timings.close()
        window.toolbar.pick(0, "transpose-naive")
        settle(window)
        act(window, Focus(0))
        window.commands["Timings"].trigger()
        assert "transpose-naive" in {subject.scenario for subject in timings_of(window).choice.subjects}
        timings_of(window).close()

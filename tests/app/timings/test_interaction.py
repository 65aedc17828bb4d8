"""Charts under the pointer and under keys: zoom, pan, read a value, hide, lock, open a kernel, files after zooming."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from recorded_charts import H200, choice_of
from tilescope.app.timings.drawing.view import ChartView
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import CHARTS, Choice, Sight, with_chart
from tilescope.app.timings.model.choice_text import choice_text, parse_choice
from tilescope.app.timings.window import TimingsWindow
from tilescope.app.widgets.theme import Theme
from tilescope.app.window.start import application
from windows import open_window, settle, wait_until

LEFT, NONE, SHIFT = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
Key = Qt.Key


@pytest.fixture
def opened():
    """List the values whose kernels were to be shown."""
    return []


@pytest.fixture
def timings(opened):
    application()
    window = TimingsWindow(Theme(), open_kernel=opened.append)
    window.resize(1280, 800)
    window.show()
    QTest.qWaitForWindowActive(window)
    yield window
    window.close()
    window.deleteLater()


def place(chart, number):
    """Compute the position of a value, in pixels of the chart."""
    plot, mark = chart.marks[number]
    return plot.pixel_of(mark).toPoint()


def wheel(chart, where, steps):
    """Turn the wheel over a point of the chart."""
    viewport = chart.viewport()
    event = QWheelEvent(
        QPointF(where), QPointF(viewport.mapToGlobal(where)), QPoint(), QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton, NONE, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(viewport, event)
    QApplication.processEvents()


def drag(chart, start, end):
    """Drag with the left button."""
    viewport = chart.viewport()
    QTest.mouseMove(viewport, start)
    QTest.mousePress(viewport, LEFT, NONE, start)
    for part in (0.3, 0.6, 1.0):
        QTest.mouseMove(viewport, start + (end - start) * part)
        QTest.qWait(20)  # slower than the rate at which a drag is followed
    QTest.mouseRelease(viewport, LEFT, NONE, end)
    QApplication.processEvents()


def hover(chart, where):
    viewport = chart.viewport()
    QTest.mouseMove(viewport, where - QPoint(3, 3))
    QTest.mouseMove(viewport, where)
    wait_until(lambda: chart.cursor >= 0)


def x_range(timings):
    return timings.chart.plots[0].vb.viewRange()[0]


# --- zoom and pan


def test_the_wheel_zooms_around_the_pointer_and_home_resets(timings):
    before = x_range(timings)
    wheel(timings.chart, place(timings.chart, 2), 3)
    after = x_range(timings)
    assert after[1] - after[0] < 0.9 * (before[1] - before[0])
    assert timings.choice.sight.x == pytest.approx(tuple(after))
    QTest.keyClick(timings.chart, Key.Key_Home)
    assert x_range(timings) == pytest.approx(before)
    assert timings.choice.sight.x is None


def test_dragging_pans_and_a_double_click_resets(timings):
    timings.show_choice(replace(timings.choice, chart="roofline"))
    chart, (before_x, before_y) = timings.chart, timings.chart.plots[0].vb.viewRange()
    centre = chart.plots[0].vb.sceneBoundingRect().center().toPoint() + QPoint(20, 40)
    drag(chart, centre, centre + QPoint(-80, 30))
    after_x, after_y = chart.plots[0].vb.viewRange()
    assert after_x[0] > before_x[0]
    assert after_y[0] > before_y[0]
    assert after_x[1] - after_x[0] == pytest.approx(before_x[1] - before_x[0])
    empty = chart.plots[0].vb.sceneBoundingRect().topLeft().toPoint() + QPoint(30, 30)
    QTest.mouseClick(chart.viewport(), LEFT, NONE, empty)
    QTest.mouseDClick(chart.viewport(), LEFT, NONE, empty)
    QTest.mouseRelease(chart.viewport(), LEFT, NONE, empty)  # Qt's double click lacks it
    assert chart.plots[0].vb.viewRange() == [pytest.approx(before_x), pytest.approx(before_y)]


def test_a_rectangle_is_zoomed_to(timings):
    timings.show_choice(replace(timings.choice, chart="roofline"))
    chart, view = timings.chart, timings.chart.plots[0].vb
    QTest.keyClick(chart, Key.Key_R)
    assert chart.draws_rectangle
    area = view.sceneBoundingRect()
    start, end = (
        QPointF(area.left() + area.width() * s, area.top() + area.height() * s) for s in (0.25, 0.75)
    )
    corners = [view.mapSceneToView(point) for point in (start, end)]
    drag(chart, start.toPoint(), end.toPoint())
    (left, right), _ = view.viewRange()
    assert left == pytest.approx(corners[0].x(), abs=0.05)
    assert right == pytest.approx(corners[1].x(), abs=0.05)
    QTest.keyClick(chart, Key.Key_R)
    assert not chart.draws_rectangle


def test_keys_zoom_pan_and_lock(timings):
    chart = timings.chart
    width = float(np.diff(x_range(timings))[0])
    QTest.keyClick(chart, Key.Key_Plus)
    assert float(np.diff(x_range(timings))[0]) == pytest.approx(width / 1.25)
    low = x_range(timings)[0]
    QTest.keyClick(chart, Key.Key_Right, SHIFT)
    assert x_range(timings)[0] == pytest.approx(low + 0.1 * width / 1.25)
    locked = x_range(timings)
    QTest.keyClick(chart, Key.Key_X)
    assert timings.choice.sight.locked == "x"
    QTest.keyClick(chart, Key.Key_Plus)
    wheel(chart, place(chart, 2), 2)
    assert x_range(timings) == locked
    QTest.keyClick(chart, Key.Key_X)
    assert timings.choice.sight.locked == ""


def test_plots_of_one_size_zoom_together(timings):
    timings.show_choice(replace(timings.choice, chart="scaling"))
    first, second = timings.chart.plots
    wheel(timings.chart, place(timings.chart, 3), 3)
    assert first.vb.viewRange()[0] == pytest.approx(second.vb.viewRange()[0])


def test_l_switches_between_logarithmic_and_linear(timings):
    for chart in CHARTS:
        timings.show_choice(with_chart(Choice(), chart))
        before = timings.figure.is_log
        QTest.keyClick(timings.chart, Key.Key_L)
        assert timings.figure.is_log is not before
        assert timings.fields.combos["axis"].currentText() == ("linear" if before else "logarithmic")
        timings.grab()


# --- values


def test_the_crosshair_reads_value_interval_samples_and_date(timings):
    chart = timings.chart
    hover(chart, place(chart, 2) - QPoint(20, 0))
    plot, _ = chart.marks[chart.cursor]
    text = plot.readout.toPlainText()
    assert plot.readout.isVisible()
    assert text.startswith("Tiled, shared memory: 297 µs\n95 % interval 297 µs to 298 µs, ")
    assert "samples\nNVIDIA H200, recorded on 2026-11-21" in text
    assert plot.across.value() == pytest.approx(timings.figure.panels[0].bars[2].value)
    assert chart.rect().contains(plot.readout.sceneBoundingRect().toRect())


def test_arrow_keys_read_one_value_after_the_other(timings):
    chart = timings.chart
    texts = []
    for _ in range(3):
        QTest.keyClick(chart, Key.Key_Down)
        texts.append(chart.marks[chart.cursor][1].text.partition(":")[0])
    assert texts == ["Naive, row on x", "Naive, column on x", "Tiled, shared memory"]
    QTest.keyClick(chart, Key.Key_Up)
    assert timings.choice.sight.cursor == 1
    timings.show_choice(replace(timings.choice, chart="scaling", sight=Sight()))
    QTest.keyClick(chart, Key.Key_Right)
    first = chart.marks[chart.cursor][1]
    QTest.keyClick(chart, Key.Key_Right)
    assert chart.marks[chart.cursor][1].x > first.x


# --- series


def test_a_click_on_a_name_in_the_legend_hides_its_line(timings):
    timings.show_choice(replace(timings.choice, chart="scaling"))
    chart = timings.chart
    legend = next(item for item in chart.page.childItems() if hasattr(item, "toggled"))
    label = legend.items[2][1]
    where = label.mapToScene(label.rect().center()).toPoint()
    QTest.mouseClick(chart.viewport(), LEFT, NONE, where)
    QApplication.processEvents()
    assert timings.choice.sight.hidden == ("matmul-tiled",)
    assert len({mark.text.partition(",")[0] for _, mark in chart.marks}) == 1  # both naive ones
    assert [item.isVisible() for item in chart.plots[0].items_of] == [True, True, False]
    assert chart.plots[0].vb.viewRange()[1][0] > -1000
    QTest.keyClick(chart, Key.Key_3)
    assert timings.choice.sight.hidden == ()
    assert all(item.isVisible() for item in chart.plots[0].items_of)


def test_a_digit_hides_a_bar_and_the_others_use_the_room(timings):
    chart = timings.chart
    QTest.keyClick(chart, Key.Key_1)
    assert timings.choice.sight.hidden == ("matmul-naive-row-on-x",)
    assert len(chart.marks) == 2
    assert x_range(timings)[1] < 1800
    QTest.keyClick(chart, Key.Key_1)
    assert len(chart.marks) == 3


# --- kernels


def test_a_click_on_a_bar_opens_its_kernel_with_its_parameters(timings, opened):
    QTest.mouseClick(timings.chart.viewport(), LEFT, NONE, place(timings.chart, 2) - QPoint(30, 0))
    wait_until(lambda: opened)
    assert opened[0].subject == "matmul-tiled"
    assert opened[0].parameters["m"] == 1024
    QTest.keyClick(timings.chart, Key.Key_Up)
    QTest.keyClick(timings.chart, Key.Key_Return)
    assert opened[-1].subject == "matmul-naive-col-on-x"


def test_the_main_window_shows_a_kernel_that_was_clicked():
    with open_window() as window:
        window.central.charts.show("scaling matmul-tiled vector-double")
        window.store.render()
        panel = window.central.charts.times_panel
        chart = panel.view
        number = next(n for n, (_, mark) in enumerate(chart.marks) if "matmul-tiled" in mark.content.subject)
        QTest.mouseClick(chart.viewport(), LEFT, NONE, place(chart, number))
        wait_until(lambda: not window.store.state.chart)
        settle(window)
        setup = window.stage.setups[window.stage.focus]
        assert setup.scenario == "matmul-tiled"
        assert setup.values["m"] == 64


def test_zooming_is_part_of_the_bookmark_and_comes_back():
    with open_window(wait=False) as window:
        window.central.charts.show("roofline")
        window.store.render()
        chart = window.central.charts.times_panel.view
        chart.setFocus()
        QTest.keyClick(chart, Key.Key_Plus)
        QTest.keyClick(chart, Key.Key_2)
        QTest.keyClick(chart, Key.Key_Down)
        window.store.render()
        mark = window.bookmark()
        assert " x=" in mark.chart
        assert " hide=matmul-naive-col-on-x" in mark.chart
        assert " at=1" in mark.chart
        seen = chart.plots[0].vb.viewRange()
        window.central.charts.show("")
        window.store.render()
        window.show_bookmark(mark)
        window.store.render()
        assert chart.plots[0].vb.viewRange() == [pytest.approx(span, rel=1e-4) for span in seen]
        assert chart.cursor == 0


def test_the_sight_of_a_chart_is_a_part_of_its_text():
    sight = Sight((100.0, 2500.0), (None, (1.0, 8.5)), ("matmul-tiled",), "x", 4)
    choice = choice_of("matmul-tiled", chart="scaling", sight=sight)
    text = choice_text(choice)
    assert text == "scaling matmul-tiled x=100:2500 y=auto,1:8.5 hide=matmul-tiled lock=x at=5"
    assert parse_choice(text, [H200]) == choice


@pytest.mark.parametrize("word", ["x=5", "x=5:1", "x=nan:1", "y=1:2,z", "lock=z", "at=0", "at=-1", "x=1:inf"])
def test_a_wrong_sight_is_refused_in_one_sentence(word):
    with pytest.raises(ValueError, match=r"^[^.]*(\.\d+[^.]*)*\.$"):
        parse_choice(f"bars matmul-tiled {word}", [H200])


# --- files


def rasterised_svg(path, size):
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(*size, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    QSvgRenderer(str(path)).render(painter, QRectF(0, 0, *size))
    painter.end()
    return image


def grey(image):
    image = image.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width()].astype(int)


def test_files_show_what_was_zoomed_to(timings, tmp_path):
    timings.show_choice(replace(timings.choice, chart="roofline"))
    wheel(timings.chart, place(timings.chart, 2), 2)
    for ending in ("png", "svg", "pdf", "csv", "json", "py"):
        timings.save(tmp_path / f"chart.{ending}")
    png = QImage(str(tmp_path / "chart.png"))
    assert np.mean(abs(grey(png) - grey(rasterised_svg(tmp_path / "chart.svg", (1600, 900)))) > 60) < 0.01
    texts = {e.text for e in ElementTree.parse(tmp_path / "chart.svg").iter() if e.tag.endswith("text")}
    assert {"Tiled, shared memory", "rate, GFLOP/s (log)"} <= {str(text).strip() for text in texts}
    assert (tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF")
    timings.chart.reset()
    timings.save(tmp_path / "reset.png")
    assert np.mean(abs(grey(png) - grey(QImage(str(tmp_path / "reset.png")))) > 60) > 0.002


def test_the_script_runs_and_has_every_number(timings):
    for chart in CHARTS:
        timings.show_choice(with_chart(Choice(), chart))
        timings.copy_script()
        script = QGuiApplication.clipboard().text()
        compile(script, "chart.py", "exec")
        assert script.count("plot = axes[0]") == len(timings.figure.panels)
        numbers = {}
        plots = [Recorder(numbers) for _ in timings.figure.panels]
        lines = [line for line in script.splitlines() if not line.startswith(("import", "figure", "plt"))]
        exec("\n".join(lines), {"axes": [plots]})  # our own text
        assert numbers["barh" if chart not in ("scaling", "over", "roofline") else "errorbar"]


class Recorder:
    """Stands for axes of matplotlib and notes which methods are called."""

    def __init__(self, calls):
        self.calls = calls

    def __getattr__(self, name):
        def call(*arguments, **options):
            self.calls[name] = self.calls.get(name, 0) + 1

        return call


# --- large and odd measurements


def with_samples(count):
    """Return the recorded measurement with so many samples of one kernel."""
    rows = []
    times = tuple(np.random.default_rng(1).lognormal(5.7, 0.2, count).tolist())
    for row in H200.measurement.rows:
        if row.scenario == "matmul-tiled" and row.parameters["m"] == 1024 and not row.baseline:
            row = replace(row, timings=(replace(row.timing("kernel-warm"), microseconds=times),))
        rows.append(row)
    return replace(H200, measurement=replace(H200.measurement, rows=tuple(rows)))


def test_a_million_samples_are_drawn_as_the_pixels_that_they_cover():
    application()
    view = ChartView(Theme())
    view.resize(1200, 600)
    view.show_figure(build([with_samples(1_000_000)], choice_of("matmul-tiled", "matmul-naive-row-on-x")))
    plot = view.plots[0]
    (tiled,) = [dots for dots in plot.dots.values() if len(dots.getData()[0]) > 1000]
    assert len(tiled.getData()[0]) <= 13 * (plot.vb.width() + 2)
    for _ in range(20):
        view.zoom(1.25)
    xs, _ = tiled.getData()
    low, high = plot.vb.viewRange()[0]
    assert all(low <= x <= high for x in xs)
    view.close()


def test_one_sample_and_one_point_are_drawn():
    application()
    for chart in CHARTS:
        view = ChartView(Theme())
        view.resize(900, 600)
        view.show_figure(build([with_samples(1)], choice_of("matmul-tiled", chart=chart, over="tile")))
        view.grab()
        view.close()


def test_too_many_series_are_refused_in_one_sentence():
    rows = [
        row for row in H200.measurement.rows if row.scenario == "matmul-tiled" and row.parameters["m"] == 1024
    ]
    changed_rows = tuple(replace(rows[0], block=(n + 1, 1, 1)) for n in range(1000))
    source = replace(H200, measurement=replace(H200.measurement, rows=changed_rows))
    figure = build([source], choice_of("matmul-tiled", shape="all"))
    assert figure.is_empty
    assert (
        figure.notes[0] == "The chart has 1,000 series, but at most 400 can be drawn; choose fewer kernels."
    )


def test_a_chart_grows_while_the_measurement_runs(timings):
    measurement = replace(H200.measurement, date="2026-11-26T00:00:00+00:00", device=None)
    before = len(timings.figure.panels[0].bars)
    timings.job.report.grown(measurement)
    assert len(timings.figure.panels[0].bars) > before
    timings.job.report.failed("")
    assert len(timings.figure.panels[0].bars) == before

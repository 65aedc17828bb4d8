"""Drawn charts: nothing is clipped or struck through, values are next to their bars, and space is used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from xml.etree import ElementTree

import pyqtgraph as pg
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPolygonF, QTransform

from recorded_charts import H200, choice_of
from tilescope.app.timings.drawing.points import PointPlot
from tilescope.app.timings.drawing.view import ChartView, wanted_height
from tilescope.app.timings.export import Page
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import CHARTS, Choice, with_chart
from tilescope.app.widgets.theme import Theme
from tilescope.app.widgets.vector_files import svg_of
from tilescope.app.window.start import application

LAPTOP = replace(
    H200,
    measurement=replace(
        H200.measurement,
        device=replace(H200.measurement.device, name="GeForce RTX 4060 Laptop"),
        ceilings=replace(H200.measurement.ceilings, copy_gb_per_s=240.0),
    ),
)
ALL = (*choice_of("matmul-naive-row-on-x", "matmul-tiled", "cuda-c-naive", "vector-increment").subjects,)


@pytest.fixture(autouse=True)
def qt():
    return application()


@dataclass
class Drawn:
    """What a figure's SVG shows, in pixels: texts with their places, lines of points, and the ends of bars."""

    texts: list[tuple[str, QPolygonF]] = field(default_factory=list)
    lines: list[QPolygonF] = field(default_factory=list)
    bars: list[QPointF] = field(default_factory=list)

    def place(self, text):
        """Find the box of a text, or of the first text that begins with it."""
        return next(place.boundingRect() for other, place in self.texts if other.startswith(text))


def drawn(figure, size=(960, 540), theme=None):
    """Draw a figure; return what its SVG shows."""
    view = ChartView(theme or Theme())
    view.setMinimumSize(*size)
    view.resize(*size)
    view.show_figure(figure)
    seen = Drawn()
    svg = ElementTree.fromstring(svg_of(size, view.draw, "", ""))
    collect(svg, QTransform(), seen)
    for plot in view.plots:
        if isinstance(plot, PointPlot):
            lines = [series.points for series in plot.panel.series]
            seen.lines += [
                QPolygonF([plot.vb.mapViewToScene(plot.place(p.x, p.y)) for p in points])
                for points in lines
                if len(points) > 1 and all(b.x <= plot.panel.joined * a.x for a, b in pairwise(points))
            ]
        else:
            seen.bars += [plot.pixel_of(mark) for mark in plot.marks]
    view.close()
    return seen


def collect(element, outer, seen):
    """Collect the texts below an SVG element."""
    numbers = [float(n) for n in re.findall(r"[-\d.e]+", element.get("transform", "").partition("(")[2])]
    transform = QTransform(*numbers) * outer if len(numbers) == 6 else outer
    if element.tag.endswith("}text"):
        size, text = float(element.get("font-size")), (element.text or "").strip("\n")
        x, y, width = (float(element.get(name)) for name in ("x", "y", "textLength"))
        box = QRectF(x, y - 0.8 * size, width, size)
        if text.strip():
            seen.texts.append((text, transform.map(QPolygonF(box))))
    for child in element:
        collect(child, transform, seen)


def struck(line, place):
    """Whether a line goes through a place."""
    return any(
        place.containsPoint(start + (end - start) * (n / 200), Qt.FillRule.OddEvenFill)
        for start, end in pairwise(line.toList())
        for n in range(201)
    )


# --- nothing cut, nothing on top of another


@pytest.mark.parametrize("scale", [1.0, 1.6])
@pytest.mark.parametrize("width", [400, 640, 960, 1600])
@pytest.mark.parametrize("sources", [[H200], [H200, LAPTOP]], ids=["one", "two"])
def test_no_label_of_a_roofline_is_cut_or_lies_on_a_roof(sources, width, scale):
    theme = Theme.named("light", scale)
    figure = build(sources, Choice("roofline"))
    size = round(width * scale), max(wanted_height(figure, width * scale, theme), 400)
    seen = drawn(figure, size, theme)
    page_rect = QRectF(0, 0, *size)
    assert [
        text for text, place in seen.texts if "…" in text or not page_rect.contains(place.boundingRect())
    ] == []
    names = [(text, place) for text, place in seen.texts if "GFLOP/s" in text or "GB/s" in text][:-1]
    assert [text for text, place in names if any(struck(line, place) for line in seen.lines)] == []
    assert {"bytes: exact", "FLOP: modelled"} <= {text for text, _ in seen.texts}


@pytest.mark.parametrize("width", [640, 960])
def test_values_of_points_are_next_to_them_and_cover_no_line_and_no_other_value(width):
    names = "matmul-tiled", "matmul-naive-row-on-x", "matmul-tiled-dynamic"
    figure = build([H200], choice_of(*names, chart="over", over="tile"))
    seen = drawn(figure, (width, max(wanted_height(figure, width, Theme()), 540)))
    labels = {point.label for panel in figure.panels for s in panel.series for point in s.points}
    places = [(text, place) for text, place in seen.texts if text in labels]
    assert len(places) >= 8 if width > 800 else places
    assert [text for text, place in places if any(struck(line, place) for line in seen.lines)] == []
    boxes = [place.boundingRect() for _, place in places]
    assert not any(a.intersects(b) for n, a in enumerate(boxes) for b in boxes[:n])
    assert {"8", "16", "32"} <= {text for text, _ in seen.texts}  # the values themselves along the axis


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("width", [400, 920])
def test_no_number_of_an_axis_touches_another_and_all_are_decimal(chart, width):
    figure = build([H200], with_chart(replace(Choice(), subjects=ALL), chart))
    seen = drawn(figure, (width, wanted_height(figure, width, Theme())))
    numbers = [(t, p.boundingRect()) for t, p in seen.texts if t.replace(",", "").replace(".", "").isdigit()]
    assert len(numbers) >= 2
    for n, (_, place) in enumerate(numbers):
        assert not any(place.intersects(other) for _, other in numbers[:n])
    assert not any("e+" in text or "e-0" in text for text, _ in seen.texts)


def test_the_name_of_what_a_roof_was_reached_in_is_plain():
    texts = {text for text, _ in drawn(build([H200], Choice("roofline"))).texts}
    assert {"float32 large product: 51,306 GFLOP/s", "float32 multiply-adds: 57,038 GFLOP/s"} <= texts
    ceilings = H200.measurement.ceilings
    registers = tuple(peak for peak in ceilings.peaks if peak.by == "registers")
    measurement = replace(H200.measurement, ceilings=replace(ceilings, peaks=registers))
    figure = build([replace(H200, measurement=measurement)], Choice("roofline"))
    texts = {text for text, _ in drawn(figure).texts}
    assert not any("large product" in text for text in texts)


# --- bars


@pytest.mark.parametrize("names", [["matmul-tiled"], ["matmul-tiled", "cuda-c-naive"]], ids=["one", "two"])
def test_few_bars_use_the_height_and_have_their_values_next_to_them(names):
    figure = build([H200], choice_of(*names))
    seen = drawn(figure)
    assert seen.place("CUDA events").top() - seen.place("time, ").bottom() < 30
    for bar, box in zip(figure.panels[0].bars, seen.bars, strict=True):
        value = seen.place(bar.text)
        assert 0 < value.left() - box.x() < 25
        assert abs(value.center().y() - box.y()) < 1.5
        assert abs(seen.place(bar.datum.name).center().y() - box.y()) < 1.5


def test_one_late_sample_takes_no_value_away_from_its_bar():
    rows = [
        row for row in H200.measurement.rows if row.scenario == "matmul-tiled" and row.parameters["m"] == 1024
    ]
    timing = replace(rows[0].timing("kernel-warm"), microseconds=(300.0,) * 40 + (3000.0,) * 2)
    row = replace(rows[0], timings=(timing,))
    late = replace(H200, measurement=replace(H200.measurement, rows=(row,)))
    seen = drawn(build([late], choice_of("matmul-tiled")))
    assert seen.place("300 µs").left() - seen.bars[0].x() < 25


def test_no_value_is_next_to_the_diamond_of_a_published_time():
    figure = build([H200], choice_of("vector-increment", "vector-multiply", chart="calls"))
    for height in (540, 240):
        seen = drawn(figure, (960, height))
        for bar in (bar for bar in figure.panels[0].bars if bar.published):
            names = [p.boundingRect() for t, p in seen.texts if t.startswith(bar.published[0].text)]
            value = seen.place(bar.text)
            assert names or value.left() > 860
            assert not any(value.intersects(name) for name in names)


# --- lines


def test_sizes_that_are_far_apart_are_not_joined():
    figure = build([H200], choice_of("vector-double", chart="scaling"))
    assert [point.x for point in figure.panels[0].series[0].points] == [256, 1_000_000]
    assert drawn(figure).lines == []
    assert len(drawn(build([H200], Choice("scaling"))).lines) == 6


def test_points_of_two_devices_look_different():
    figure = build([H200, LAPTOP], choice_of("matmul-tiled", chart="roofline"))
    assert [series.full_name for series in figure.panels[0].series] == [
        "Tiled, shared memory, NVIDIA H200",
        "Tiled, shared memory, GeForce RTX 4060 Laptop",
    ]
    view = ChartView(Theme())
    view.show_figure(figure)
    scatters = [
        item for item in view.plots[0].vb.childGroup.childItems() if isinstance(item, pg.ScatterPlotItem)
    ]
    rings = [
        item
        for item in scatters
        if item.opts["symbol"] == "o" and item.opts["brush"].style() == Qt.BrushStyle.NoBrush
    ]
    assert len(rings) == 1  # around the second device's


# --- pages


def test_a_figure_that_needs_the_room_has_smaller_text_on_a_page():
    page = Page((1600, 900))
    few = build([H200], Choice())
    three_kernels = build([H200], Choice("copies", subjects=ALL[:3], problem="M = K = N = 1,024"))
    mixed = build([H200], Choice("scaling", subjects=ALL))
    assert page.theme_for(few).scale == pytest.approx(1600 / 960)
    assert 0.7 * 1600 / 960 <= page.theme_for(mixed).scale < page.theme_for(few).scale
    assert wanted_height(three_kernels, 1600, page.theme_for(three_kernels)) <= 900
    assert wanted_height(few, 1600, replace(page, text_size=2.0).theme_for(few)) <= 900
    assert replace(page, text_size=0.5).theme_for(few).scale == pytest.approx(0.5 * 1600 / 960)


def test_names_of_many_bars_are_not_cut():
    figure = build([H200], Choice("copies", shape="all"))
    assert len(figure.panels[0].bars) == 27
    assert not any("…" in text for text, _ in drawn(figure, (1600, 900)).texts)

"""Drawn charts: nothing is clipped or struck through, values are next to their bars, and space is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPolygonF

from recorded_charts import H200, choice_of
from tilescope.app.charts.build import build
from tilescope.app.charts.choice import CHARTS, Choice, with_chart
from tilescope.app.timings.export import Page
from tilescope.app.views.charts.ink import Ink
from tilescope.app.views.charts.paint import draw_figure, wanted_height
from tilescope.app.widgets.theme import Theme
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
    """What was painted, in pixels of the picture: texts with their places, lines, and the bars."""

    texts: list[tuple[str, QPolygonF]] = field(default_factory=list)
    lines: list[QPolygonF] = field(default_factory=list)
    bars: list[QRectF] = field(default_factory=list)

    def place(self, text):
        """Find the box of a text, or of the first text that begins with it."""
        return next(place.boundingRect() for other, place in self.texts if other.startswith(text))


def drawn(figure, monkeypatch, size=(960, 540), theme=None):
    """Paint a figure and return what was painted."""
    seen, write, join, fill = Drawn(), Ink.text, QPainter.drawPolyline, QPainter.drawRect

    def text(pen, box, words, size=13, **given):
        shown = pen.elided(words, box.width() + 1, size, bold=given.get("bold", False))
        seen.texts.append((shown, pen.painter.worldTransform().map(QPolygonF(box))))
        write(pen, box, words, size, **given)

    def polyline(painter, points):
        seen.lines.append(points)
        join(painter, points)

    def rectangle(painter, box):
        seen.bars.append(box)
        fill(painter, box)

    image = QImage(*size, QImage.Format.Format_RGB32)
    with monkeypatch.context() as patch:
        patch.setattr(Ink, "text", text)
        patch.setattr(QPainter, "drawPolyline", polyline)
        patch.setattr(QPainter, "drawRect", rectangle)
        painter = QPainter(image)
        try:
            draw_figure(painter, figure, QRectF(0, 0, *size), theme or Theme())
        finally:
            painter.end()  # else a failure ends in a crash
    return seen


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
def test_no_label_of_a_roofline_is_cut_or_lies_on_a_roof(sources, width, scale, monkeypatch):
    theme = Theme.named("light", scale)
    figure = build(sources, Choice("roofline"))
    size = round(width * scale), max(wanted_height(figure, width * scale, theme), 400)
    seen = drawn(figure, monkeypatch, size, theme)
    page_rect = QRectF(0, 0, *size)
    assert [
        text for text, place in seen.texts if "…" in text or not page_rect.contains(place.boundingRect())
    ] == []
    names = [(text, place) for text, place in seen.texts if "GFLOP/s" in text or "GB/s" in text][:-1]
    assert [text for text, place in names if any(struck(line, place) for line in seen.lines)] == []
    assert {"bytes: exact", "FLOP: modelled"} <= {text for text, _ in seen.texts}


@pytest.mark.parametrize("width", [640, 960])
def test_values_of_points_are_next_to_them_and_cover_no_line_and_no_other_value(width, monkeypatch):
    names = "matmul-tiled", "matmul-naive-row-on-x", "matmul-tiled-dynamic"
    figure = build([H200], choice_of(*names, chart="over", over="tile"))
    seen = drawn(figure, monkeypatch, (width, max(wanted_height(figure, width, Theme()), 540)))
    labels = {point.label for panel in figure.panels for s in panel.series for point in s.points}
    places = [(text, place) for text, place in seen.texts if text in labels]
    assert len(places) >= 8 if width > 800 else places
    assert [text for text, place in places if any(struck(line, place) for line in seen.lines)] == []
    boxes = [place.boundingRect() for _, place in places]
    assert not any(a.intersects(b) for n, a in enumerate(boxes) for b in boxes[:n])
    assert {"8", "16", "32"} <= {text for text, _ in seen.texts}  # the values themselves along the axis


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("width", [400, 920])
def test_no_number_of_an_axis_touches_another_and_all_are_decimal(chart, width, monkeypatch):
    figure = build([H200], with_chart(replace(Choice(), subjects=ALL), chart))
    seen = drawn(figure, monkeypatch, (width, wanted_height(figure, width, Theme())))
    numbers = [(t, p.boundingRect()) for t, p in seen.texts if t.replace(",", "").replace(".", "").isdigit()]
    assert len(numbers) >= 2
    for n, (_, place) in enumerate(numbers):
        assert not any(place.intersects(other) for _, other in numbers[:n])
    assert not any("e+" in text or "e-0" in text for text, _ in seen.texts)


def test_the_name_of_what_a_roof_was_reached_in_is_plain(monkeypatch):
    texts = {text for text, _ in drawn(build([H200], Choice("roofline")), monkeypatch).texts}
    assert {"float32 large product: 51,306 GFLOP/s", "float32 multiply-adds: 57,038 GFLOP/s"} <= texts
    ceilings = H200.measurement.ceilings
    registers = tuple(peak for peak in ceilings.peaks if peak.by == "registers")
    measurement = replace(H200.measurement, ceilings=replace(ceilings, peaks=registers))
    figure = build([replace(H200, measurement=measurement)], Choice("roofline"))
    texts = {text for text, _ in drawn(figure, monkeypatch).texts}
    assert not any("large product" in text for text in texts)


# --- bars


@pytest.mark.parametrize("names", [["matmul-tiled"], ["matmul-tiled", "cuda-c-naive"]], ids=["one", "two"])
def test_few_bars_use_the_height_and_have_their_values_next_to_them(names, monkeypatch):
    figure = build([H200], choice_of(*names))
    seen = drawn(figure, monkeypatch)
    assert seen.place("CUDA events").top() - seen.place("time, ").bottom() < 30
    for bar, box in zip(figure.panels[0].bars, seen.bars, strict=True):
        value = seen.place(bar.text)
        assert 0 < value.left() - box.right() < 25
        assert abs(value.center().y() - box.center().y()) < 1
        assert abs(seen.place(bar.datum.name).center().y() - box.center().y()) < 1


def test_one_late_sample_takes_no_value_away_from_its_bar(monkeypatch):
    rows = [
        row for row in H200.measurement.rows if row.scenario == "matmul-tiled" and row.parameters["m"] == 1024
    ]
    timing = replace(rows[0].timing("kernel-warm"), microseconds=(300.0,) * 40 + (3000.0,) * 2)
    row = replace(rows[0], timings=(timing,))
    late = replace(H200, measurement=replace(H200.measurement, rows=(row,)))
    seen = drawn(build([late], choice_of("matmul-tiled")), monkeypatch)
    assert seen.place("300 µs").left() - seen.bars[0].right() < 25


def test_no_value_is_next_to_the_diamond_of_a_published_time(monkeypatch):
    figure = build([H200], choice_of("vector-increment", "vector-multiply", chart="calls"))
    for height in (540, 240):
        seen = drawn(figure, monkeypatch, (960, height))
        for bar in (bar for bar in figure.panels[0].bars if bar.published):
            names = [p.boundingRect() for t, p in seen.texts if t.startswith(bar.published[0].text)]
            value = seen.place(bar.text)
            assert names or value.left() > 860
            assert not any(value.intersects(name) for name in names)


# --- lines


def test_sizes_that_are_far_apart_are_not_joined(monkeypatch):
    figure = build([H200], choice_of("vector-double", chart="scaling"))
    assert [point.x for point in figure.panels[0].series[0].points] == [256, 1_000_000]
    assert drawn(figure, monkeypatch).lines == []
    assert len(drawn(build([H200], Choice("scaling")), monkeypatch).lines) == 6


def test_points_of_two_devices_look_different(monkeypatch):
    figure = build([H200, LAPTOP], choice_of("matmul-tiled", chart="roofline"))
    assert [series.full_name for series in figure.panels[0].series] == [
        "Tiled, shared memory, NVIDIA H200",
        "Tiled, shared memory, GeForce RTX 4060 Laptop",
    ]
    signs = []
    with monkeypatch.context() as patch:
        patch.setattr(Ink, "sign", lambda ink, place, slot, **given: signs.append((slot, given["style"])))
        drawn(figure, monkeypatch)
    assert len(set(signs)) == 2


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


def test_names_of_many_bars_are_not_cut(monkeypatch):
    figure = build([H200], Choice("copies", shape="all"))
    assert len(figure.panels[0].bars) == 27
    assert not any("…" in text for text, _ in drawn(figure, monkeypatch, (1600, 900)).texts)

"""A plot of points: lines over a size, or points below the roofs of a device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, degrees, hypot

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt

from ...model.axis import Axis
from ...views.common.geometry import log_range
from ...views.plotting.axis import AxisLabel, UnitAxis, coordinate_of, coordinate_value
from ...views.plotting.labels import PlotLabel, crosses, place_labels
from ...views.plotting.legend import Legend
from ...views.plotting.library import pg
from ...views.plotting.plot import Plot, PlotMark, Span
from ...views.plotting.style import DASHES, SIZE, colour_of, pen_of, symbol_of
from ...widgets.theme import Theme
from ..model.figure import Point, PointPanel, Roof, Series
from ..model.wording import mark_text, number_text, time_text

RING = 8  # pixels: the diameter of a ring
ROOF_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DashDotLine)
MOST_BEYOND = 64  # how many times farther right than everything else a ring may be; then an arrow replaces it
MANY = 1000  # points from which on a line is drawn with fewer
WHERE = (0.5, 0.38, 0.62, 0.28, 0.72)  # shares of a slope where its name may be, the best first


class PointPlot(Plot):
    """Draws a panel of points. hidden: whether each series is hidden."""

    def __init__(self, panel: PointPanel, hidden: Sequence[bool], theme: Theme) -> None:
        self.upright_axis = UnitAxis("left", panel.y, theme)
        super().__init__(panel.x, self.upright_axis, theme, panel.y)
        self.panel = panel
        shown = [series for series, is_hidden in zip(panel.series, hidden, strict=True) if not is_hidden]
        self.set_home(*(_coordinates(axis, span) for axis, span in
                        ((panel.x, _width(panel, shown)), (panel.y, _height(panel, shown)))))  # fmt: skip
        self.label = AxisLabel(panel.y, theme)
        self.roofs = Legend(theme, right_aligned=True)
        self.label.setParentItem(self)
        self.roofs.setParentItem(self)
        self.slopes = [(roof, self._slope_name(roof)) for roof in _slopes(panel.roofs)]
        self.curves: list[tuple[Roof, float, pg.PlotCurveItem]] = []  # with the rate of the flat part
        self._add_roofs()
        for level in panel.levels:
            options = {"position": 1, "anchors": [(1, 1), (1, 1)], "color": theme.colour("muted"),
                       "fill": theme.colour("panel")}  # fmt: skip
            pen = pen_of(theme, "muted", 1.5, Qt.PenStyle.DashLine)
            place = coordinate_of(panel.y, level.value)
            line = pg.InfiniteLine(place, 0, pen, label=level.text, labelOpts=options)
            line.label.setFont(theme.font(12))
            self.add(line)
        self.items_of = [self._series_item(series) for series in panel.series]
        self.texts: list[tuple[PlotLabel, QPointF]] = []
        for item, series, is_hidden in zip(self.items_of, panel.series, hidden, strict=True):
            item.setVisible(not is_hidden)
            self.add(item)
            if not is_hidden:
                self._add_points(series)
        self.lines = [[self.place(p.x, p.y) for p in series.points] for series in shown]
        self.texts = [text for _, text in sorted(self._labels(shown), key=lambda entry: entry[0])]
        for text, _ in self.texts:
            self.add(text)

    def place(self, x: float, y: float) -> QPointF:
        """Return the coordinates of values."""
        return QPointF(coordinate_of(self.panel.x, x), coordinate_of(self.panel.y, y))

    def fit(self, width: float, height: float) -> None:
        """Fill a box of this size: the label of the vertical axis and the names of roofs are above the plot."""
        theme = self.theme
        label_height = self.label.height_for(width) + theme.px(4)
        roofs = self.roofs.fit(width, columns=1) if self.roofs.items else 0.0
        self.label.setGeometry(QRectF(0, 0, width, label_height))
        self.roofs.setPos(width - self.roofs.geometry().width() - theme.px(8), label_height)
        above = label_height + roofs
        self.layout.setContentsMargins(0, above, theme.px(14), 0)
        low, high = self.vb.viewRange()[1]
        self.upright_axis.fit_width(low, high, height - above - self.bottom.height())

    # Series.

    def _series_item(self, series: Series) -> pg.PlotDataItem:
        """Return the line and the symbols of a series; no line crosses a wide gap in x."""
        theme, colour = self.theme, colour_of(self.theme, series.slot)
        xs, ys = ([getattr(self.place(p.x, p.y), name)() for p in series.points] for name in "xy")
        joins = [b.x <= self.panel.joined * a.x for a, b in pairwise(series.points)]
        return pg.PlotDataItem(
            xs, ys,
            connect=np.asarray([*joins, False], np.int32),
            pen=pen_of(theme, colour, 2, DASHES[series.style % len(DASHES)]),
            symbol=symbol_of(series.slot),
            symbolSize=SIZE * theme.scale,
            symbolPen=pen_of(theme, colour, 1.4),
            symbolBrush=theme.colour("panel") if series.hollow else colour,
            name=series.full_name,
            useCache=len(xs) > MANY,  # a cached symbol is less sharp
            autoDownsample=len(xs) > MANY, downsampleMethod="peak", clipToView=len(xs) > MANY,
        )  # fmt: skip

    def _add_points(self, series: Series) -> None:
        """Draw intervals, rings around the symbols of other measurements, and measured x."""
        theme, places = self.theme, [self.place(p.x, p.y) for p in series.points]
        xs, ys = (np.asarray([getattr(place, name)() for place in places]) for name in "xy")
        lows = np.asarray([self.place(p.x, p.low).y() for p in series.points])
        highs = np.asarray([self.place(p.x, p.high).y() for p in series.points])
        ends = {"top": highs - ys, "bottom": ys - lows}
        intervals = pg.ErrorBarItem(x=xs, y=ys, beam=0, pen=pen_of(theme, "text", 1.2), **ends)
        self.add(intervals)
        intervals.setZValue(-1)  # below the symbols
        thin = pen_of(theme, colour_of(theme, series.slot), 1.2)
        for ring in range(series.style):
            size = (SIZE + 7 + 5 * ring) * theme.scale
            self.add(pg.ScatterPlotItem(xs, ys, symbol="o", size=size, pen=thin, brush=None, useCache=False))
        for point, place in zip(series.points, places, strict=True):
            self.marks.append(PlotMark(place.x(), place.y(), self._mark_text(point), point.datum))
            if point.measured_x is not None:
                self._add_offset(series.slot, point, point.measured_x)

    def _mark_text(self, point: Point) -> str:
        def text_of(value: float) -> str:
            return (
                time_text(value)
                if self.panel.y.label == "time"
                else f"{number_text(value)} {self.panel.y.unit}"
            )

        return mark_text(point.text, point.datum, (text_of(point.low), text_of(point.high)))

    def _add_offset(self, slot: int, point: Point, measured_x: float) -> None:
        """Draw a line from a point to its measured x: a ring, or an arrow if it is beyond the first view."""
        theme, colour = self.theme, colour_of(self.theme, slot)
        low, high = self.home[0]
        is_inside = 0 < measured_x < float("inf") and low <= coordinate_of(self.panel.x, measured_x) <= high
        x = coordinate_of(self.panel.x, measured_x) if is_inside else high
        place = self.place(point.x, point.y)
        self.add(pg.PlotCurveItem([place.x(), x], [place.y()] * 2, pen=pen_of(theme, colour, 1.5, DASHES[2])))
        symbol, size = ("o", RING) if is_inside else ("arrow_right", 2 * RING)
        brush = theme.colour("panel") if is_inside else colour
        self.add(pg.ScatterPlotItem(
            [x], [place.y()], symbol=symbol, size=size * theme.scale, pen=pen_of(theme, colour, 1.6), brush=brush,
            useCache=False,
        ))  # fmt: skip

    def _labels(self, shown: Sequence[Series]) -> list[tuple[bool, tuple[PlotLabel, QPointF]]]:
        """List the labels with their points; those at the ends of lines come first."""
        return [
            (0 < n < len(series.points) - 1, (PlotLabel(p.label, self.theme), self.place(p.x, p.y)))
            for series in shown
            for n, p in enumerate(series.points)
            if p.label
        ]

    def arrange_labels(self) -> None:
        """Put values next to their points and names on slopes, where they cover nothing."""
        self._show_roofs()
        place_labels(self.texts, self.lines, [], self.vb, self.theme.scale)
        for roof, name in self.slopes:
            self._place_slope_name(roof, name)

    # Roofs.

    def _add_roofs(self) -> None:
        """Draw min(bandwidth * intensity, peak), and other rates as dotted lines, with their names above the plot."""
        several = len({roof.name for roof in self.panel.roofs}) > 1
        for roof in self.panel.roofs:
            device = f", {roof.name}" if several else ""
            pen = pen_of(self.theme, "text", 2, ROOF_DASHES[roof.style % len(ROOF_DASHES)])
            text = f"{roof.dtype} {roof.brief}: {number_text(roof.gflop_per_s)} GFLOP/s{device}"
            self.roofs.add(self._curve(roof, roof.gflop_per_s, pen), text, has_line=True)
            for _, rate in roof.other_rates:
                pen = pen_of(self.theme, "muted", 1.5, Qt.PenStyle.DotLine)
                text = f"{roof.dtype} multiply-adds: {number_text(rate)} GFLOP/s{device}"
                self.roofs.add(self._curve(roof, rate, pen), text, has_line=True)

    def _curve(self, roof: Roof, rate: float, pen: object) -> pg.PlotCurveItem:
        curve = pg.PlotCurveItem(pen=pen)
        self.curves.append((roof, rate, curve))
        self.add(curve)
        return curve

    def _show_roofs(self) -> None:
        """Draw the visible part of each roof: not every reader of SVG clips."""
        (left, right), (bottom, _) = self.vb.viewRange()
        start = max(coordinate_value(self.panel.x, left), 1e-12)
        end = coordinate_value(self.panel.x, right)
        lowest = coordinate_value(self.panel.y, bottom)
        for roof, rate, curve in self.curves:
            ridge = rate / roof.gb_per_s
            slope = max(start, lowest / roof.gb_per_s) if rate == roof.gflop_per_s else ridge
            xs = [x for x in (slope, max(ridge, start), end) if x <= end] if lowest <= rate else []
            places = [self.place(x, min(x * roof.gb_per_s, rate)) for x in xs]
            curve.setData([p.x() for p in places], [p.y() for p in places])

    def _slope_name(self, roof: Roof) -> PlotLabel:
        label = PlotLabel(f"copy: {number_text(roof.gb_per_s)} GB/s, {roof.name}", self.theme)
        label.fill = pg.mkBrush(None)
        self.add(label)
        return label

    def _place_slope_name(self, roof: Roof, label: PlotLabel) -> None:
        """Put a name above the visible part of its slope, where it covers no symbol; else hide it."""
        area = self.vb.rect()
        ridge = roof.gflop_per_s / roof.gb_per_s
        end = self.vb.mapFromView(self.place(ridge, roof.gflop_per_s))
        before = self.vb.mapFromView(self.place(ridge / 2, roof.gflop_per_s / 2))
        direction = before - end
        length = hypot(direction.x(), direction.y())
        label.setVisible(False)
        if length == 0 or direction.x() >= 0:
            return
        unit = direction / length
        reach = min(
            -end.x() / unit.x() if unit.x() else 0, (area.height() - end.y()) / unit.y() if unit.y() else 0
        )
        start = end + unit * max(reach, 0)
        width, height = label.size_in_pixels()
        distance = hypot(end.x() - start.x(), end.y() - start.y())
        symbols = [self.vb.mapFromView(QPointF(mark.x, mark.y)) for mark in self.marks]
        for share in WHERE:
            middle = start + (end - start) * share
            lift = QPointF(unit.y(), -unit.x()) * (height / 2 + self.theme.px(3))
            lift = lift if lift.y() < 0 else -lift
            half = unit * (width / 2)
            line = QLineF(middle + lift - half, middle + lift + half)
            boxes = [QRectF(p.x() - height, p.y() - height, 2 * height, 2 * height) for p in symbols]
            if width / 2 <= min(share, 1 - share) * distance and not any(crosses(line, box) for box in boxes):
                label.setAnchor((0.5, 0.5 + (height / 2 + self.theme.px(3)) / height))
                label.setPos(self.vb.mapToView(middle))
                label.setVisible(area.contains(middle))
                label.setAngle(
                    degrees(atan2(-(end - start).y(), (end - start).x()))
                )  # no-op for a hidden label
                return


def _slopes(roofs: Sequence[Roof]) -> list[Roof]:
    """Return one roof per slope: the dtypes of a device share it."""
    return list({(roof.name, roof.gb_per_s): roof for roof in reversed(roofs)}.values())[::-1]


def _coordinates(axis: Axis, span: Span) -> Span:
    return coordinate_of(axis, span[0]), coordinate_of(axis, span[1])


def _height(panel: PointPanel, shown: Sequence[Series]) -> Span:
    """Return the range of y: the intervals, and the top of every roof and level; linear axes begin at 0."""
    ys = [v for s in shown for p in s.points for v in (p.low, p.high)] or [1.0]
    ys += [
        rate for roof in panel.roofs for rate in (roof.gflop_per_s, *(rate for _, rate in roof.other_rates))
    ]
    ys += [level.value for level in panel.levels]
    return log_range(ys) if panel.y.log else (0.0, 1.12 * max(ys))


def _width(panel: PointPanel, shown: Sequence[Series]) -> Span:
    """Return the range of x: the points, and the ridge of every roof."""
    xs = [point.x for series in shown for point in series.points] or [1.0]
    if not panel.x.log:
        margin = 0.04 * (max(xs) - min(xs)) or 1.0
        return min(xs) - margin, max(xs) + margin
    ridges = [roof.gflop_per_s / roof.gb_per_s for roof in panel.roofs]
    most = MOST_BEYOND * max([*xs, *ridges])
    rings = [p.measured_x for s in shown for p in s.points if p.measured_x and p.measured_x <= most]
    return log_range([*xs, *rings, *(4 * ridge for ridge in ridges)], 1.6 if ridges else 1.15)

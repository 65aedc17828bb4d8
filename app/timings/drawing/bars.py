"""A plot of bars: names at the left, bars with samples and intervals, values at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from ...model.visible_text import escape_controls
from ...views.common.geometry import log_range
from ...views.plotting.axis import coordinate_of, coordinate_value
from ...views.plotting.labels import PlotLabel
from ...views.plotting.library import pg
from ...views.plotting.plot import Plot, PlotMark, Span
from ...views.plotting.style import TINT, colour_of, pen_of
from ...widgets.theme import Theme
from ..model.figure import Bar, BarPanel
from ..model.wording import mark_text, number_text, time_text

# Pixels: a normal bar, the thickest bar, the preferred row of a bar, and the row below which names shrink.
BAR, THICK, ROW, SMALLEST_TEXT_ROW, ROOMY = 40, 110, 44, 15, 36
SHARE = 0.46  # the largest share of a plot's width for names
LEVELS = 13  # heights of the samples of a bar
FAR = 0.98  # the share of a bar's samples that the first view must contain
GAP = 8  # pixels between a bar and its value
MANY = 3000  # samples from which on they are drawn from a picture of one
Values = NDArray[np.float64]


class NameLine(Struct, frozen=True):
    """A line of a bar's name; kernels' names are bold."""

    text: str
    size: float
    bold: bool = True


class BarNames(pg.AxisItem):
    """The axis with the names of bars, in one or two lines each. A kernel is only named at its first bar."""

    def __init__(self, panel: BarPanel, hidden: Sequence[bool], theme: Theme) -> None:
        super().__init__("left")
        self.panel, self.theme, self.hidden, self.pitch = panel, theme, hidden, 0.0
        self.setStyle(showValues=False)

    def _metrics(self, line: NameLine) -> QFontMetricsF:
        return QFontMetricsF(self.theme.font(line.size, bold=line.bold))

    def fit(self, pitch: float, width: float) -> None:
        """Take the width of the longest name, for rows of this height in a plot of this width."""
        self.pitch = pitch
        widths = [
            self._metrics(line).horizontalAdvance(line.text) for lines in self._names() for line in lines
        ]
        self.setWidth(min(max(widths, default=0.0) + self.theme.px(15), SHARE * width))

    def _names(self) -> list[list[NameLine]]:
        before = ["", *(bar.datum.name for bar in self.panel.bars)]
        bars = zip(self.panel.bars, before, strict=False)
        return [self._lines(bar, is_first=bar.datum.name != last) for bar, last in bars]

    def _lines(self, bar: Bar, *, is_first: bool) -> list[NameLine]:
        size = text_size(self.theme, self.pitch)
        heights = [QFontMetricsF(self.theme.font(s)).height() for s in (size, size - 1)]
        if not is_first:
            return [NameLine(bar.part or bar.datum.name, size - 1, bold=False)]
        if bar.part and self.pitch >= sum(heights):
            return [NameLine(bar.datum.name, size), NameLine(bar.part, size - 1, bold=False)]
        return [NameLine(", ".join(filter(None, (bar.datum.name, bar.part))), size)]

    def paint(self, painter: QPainter, option: object, widget: object) -> None:
        """Write the names next to their bars; those of hidden bars are struck out."""
        view, box = self.linkedView(), self.rect()
        for row, lines in enumerate(self._names()):
            y = self.mapFromItem(view, view.mapFromView(QPointF(0, row))).y()
            if not box.top() <= y <= box.bottom():
                continue
            lines = self._broken(lines)
            step = max(self._metrics(line).height() for line in lines) - self.theme.px(1)
            for number, line in enumerate(lines):
                font = self.theme.font(line.size, bold=line.bold)
                if self.hidden[row]:
                    font = type(font)(font)
                    font.setStrikeOut(True)
                painter.setFont(font)
                painter.setPen(self.theme.colour("text" if line.bold and not self.hidden[row] else "muted"))
                middle = y + (number - (len(lines) - 1) / 2) * step
                line_box = QRectF(0, middle - step, box.width() - self.theme.px(14), 2 * step)
                text = escape_controls(line.text)
                text = self._metrics(line).elidedText(text, Qt.TextElideMode.ElideRight, line_box.width() + 1)
                painter.drawText(line_box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _broken(self, lines: list[NameLine]) -> list[NameLine]:
        """Break a single line that is too long into two, if there is room."""
        line, room = lines[0], self.rect().width() - self.theme.px(14)
        metrics = self._metrics(line)
        if (
            len(lines) > 1
            or metrics.horizontalAdvance(line.text) <= room
            or self.pitch < 2 * metrics.height()
        ):
            return lines
        words = line.text.split()
        fitting = [n for n in range(1, len(words)) if metrics.horizontalAdvance(" ".join(words[:n])) <= room]
        cut = max(fitting, default=1)
        parts = filter(None, (" ".join(words[:cut]), " ".join(words[cut:])))
        return [NameLine(text, line.size, line.bold) for text in parts]


def text_size(theme: Theme, pitch: float) -> float:
    """Return the text size of a row: smaller if there are many rows."""
    return 13 * min(1.0, pitch / (SMALLEST_TEXT_ROW * theme.scale))


class Samples(pg.ScatterPlotItem):
    """The samples of bars, spread over their heights; those in one pixel are drawn once.

    So a frame costs the same for a million samples as for a thousand.
    """

    data: NDArray[np.void]  # pyqtgraph's spots

    def __init__(self, theme: Theme, slot: int) -> None:
        colour = colour_of(theme, slot, 0.55)
        super().__init__(size=3 * theme.scale, pen=None, brush=pg.mkBrush(colour), pxMode=True)
        self.rows: list[tuple[float, list[Values]]] = []  # the row, and the sorted samples of each level
        self._spots = self.data  # room for the most that are drawn, so that frames allocate nothing

    def add_bar(self, row: float, samples: Values) -> None:
        """Add the samples of a bar, in coordinates of the view."""
        levels = 1 + np.arange(len(samples)) * 5 % LEVELS
        self.rows.append((row, [np.sort(samples[levels == level]) for level in range(1, LEVELS + 1)]))

    def show_view(self, low: float, high: float, pixels: float, thickness: float) -> None:
        """Draw what is visible between two coordinates of the view."""
        edges = np.linspace(low, high, max(2, int(pixels)) + 1)
        most = sum(min(len(samples), len(edges)) for _, levels in self.rows for samples in levels)
        if most > len(self._spots):
            self.setData(np.zeros(most), np.zeros(most))
            self._spots = self.data
        total = 0
        for row, levels in self.rows:
            for level, samples in enumerate(levels):
                start, end = np.searchsorted(samples, (low, high))
                shown = samples[start:end]
                if len(shown) > len(edges):
                    shown = edges[np.flatnonzero(np.diff(np.searchsorted(shown, edges)))]
                spots = self._spots[total : total + len(shown)]
                spots["x"], spots["y"] = shown, row + thickness * ((level + 1) / (LEVELS + 1) - 0.5)
                total += len(shown)
        self.data, self.bounds = self._spots[:total], [None, None]
        self.opts["useCache"] = total > MANY
        self.prepareGeometryChange()
        self.updateSpots()
        self.invalidate()

    def updateSpots(self, dataSet: Any = None) -> None:
        """Look up the picture of one sample, since all have the same one: pyqtgraph looks up each."""
        data = self.data if dataSet is None else dataSet
        super().updateSpots(data[:1])
        if len(data):
            data["sourceRect"] = data["sourceRect"][0]


class BarPlot(Plot):
    """Draws a panel of bars. hidden: whether each bar is hidden."""

    def __init__(self, panel: BarPanel, hidden: Sequence[bool], theme: Theme) -> None:
        self.names = BarNames(panel, hidden, theme)
        super().__init__(panel.axis, self.names, theme)
        self.panel, self.hidden = panel, hidden
        self.free = (True, False)
        self.vb.invertY(True)
        shown = [bar for bar, is_hidden in zip(panel.bars, hidden, strict=True) if not is_hidden]
        self.set_home(first_view(panel, shown), (-0.5, len(panel.bars) - 0.5), y_is_fixed=True)
        self.bars = [(row, bar) for row, bar in enumerate(panel.bars) if not hidden[row]]
        self.marks = [
            PlotMark(self.place(bar.value), row, bar_text(bar, panel), bar.datum) for row, bar in self.bars
        ]
        self.values = [PlotLabel(bar.text, theme, bold=True) for _, bar in self.bars]
        # The first samples of each bar after its interval.
        self.behind = [
            np.sort([d for d in map(self.place, b.dots[:2000]) if d > self.place(b.high)])
            for _, b in self.bars
        ]
        self.dots: dict[int, Samples] = {}
        self.published = pg.ScatterPlotItem(
            symbol="rhombus",
            size=theme.px(10),
            pen=pen_of(theme, "panel"),
            brush=theme.colour("text"),
            useCache=False,
        )
        self.rectangles = pg.BarGraphItem(x0=[0], x1=[0], y=[0], height=[0], pen=None, brushes=[])
        self.add(self.rectangles)
        for row, bar in self.bars:
            dots = self.dots.setdefault(bar.slot, Samples(theme, bar.slot))
            values = np.asarray(bar.dots, np.float64)
            dots.add_bar(row, np.log10(values) if panel.axis.log else values)
        # Filled when the height of a row is known.
        self.medians = [
            pg.ErrorBarItem(beam=0, pen=pen_of(theme, colour_of(theme, b.slot), 2.5)) for _, b in self.bars
        ]
        self.intervals = pg.ErrorBarItem(pen=pen_of(theme, "text", 1.4))
        self.notes = [
            (row, mark, PlotLabel(mark.text, theme)) for row, bar in self.bars for mark in bar.published
        ]
        if panel.reference is not None:
            self.add(pg.InfiniteLine(self.place(panel.reference), 90, pen_of(theme, "text", 1.5)))
        labels = (label for _, _, label in self.notes)
        for item in (*self.dots.values(), *self.medians, self.intervals, self.published, *labels):
            self.add(item)
        for label in self.values:  # they may stand right of the view, where it would clip them
            label.setParentItem(self)

    def place(self, value: float) -> float:
        """Return the coordinate of a value."""
        return coordinate_of(self.panel.axis, value)

    def fit(self, width: float, height: float) -> None:
        """Fill a box of this size: the names, and the thickness of bars."""
        theme, count = self.theme, max(len(self.panel.bars), 1)
        pitch = (height - self.bottom.height()) / count
        self.names.fit(pitch, width)
        is_roomy = pitch > ROOMY * theme.scale
        line = QFontMetricsF(theme.font(12)).height()
        below = [line if bar.published and is_roomy else 0.0 for _, bar in self.bars]
        usual = min(0.62 * pitch, max(theme.px(BAR), 0.4 * pitch), theme.px(THICK))
        self._show_bars(
            [min(usual, pitch - b - theme.px(GAP)) / pitch for b in below], [b / pitch for b in below]
        )
        self._is_roomy, self._line = is_roomy, line / pitch
        for label in self.values:
            label.setFont(theme.font(text_size(theme, pitch), bold=True))

    def _show_bars(self, thickness: list[float], below: list[float]) -> None:
        """Draw bars of these thicknesses in rows, shifted up by half of what is below them."""
        self.thickness, theme = dict(zip((row for row, _ in self.bars), thickness, strict=True)), self.theme
        self.middles = {row: row - b / 2 for (row, _), b in zip(self.bars, below, strict=True)}
        ends = np.asarray([self.place(bar.value) for _, bar in self.bars])
        middles = np.asarray(list(self.middles.values()))
        base = self.home[0][0] - 2 * (self.home[0][1] - self.home[0][0]) if self.panel.axis.log else 0.0
        self.rectangles.setOpts(
            x0=np.full(len(ends), base), x1=ends, y=middles, height=np.asarray(thickness),
            brushes=[pg.mkBrush(colour_of(theme, bar.slot, TINT)) for _, bar in self.bars],
        )  # fmt: skip
        for end, middle, thick, median in zip(ends, middles, thickness, self.medians, strict=True):
            half = np.asarray([thick / 2])
            median.setData(x=np.asarray([end]), y=np.asarray([middle]), top=half, bottom=half)
        low = np.asarray(
            [self.place(max(bar.low, coordinate_value(self.panel.axis, base))) for _, bar in self.bars]
        )
        high = np.asarray([self.place(bar.high) for _, bar in self.bars])
        beam = 0.44 * min(thickness, default=0.0)
        self.intervals.setData(x=ends, y=middles, left=ends - low, right=high - ends, beam=beam)
        self.marks = [
            PlotMark(mark.x, middle, mark.text, mark.content)
            for mark, middle in zip(self.marks, middles.tolist(), strict=True)
        ]

    def arrange_labels(self) -> None:
        """Place the values, and draw the samples of the visible part."""
        low, high = self.vb.viewRange()[0]
        pixels = self.vb.width()
        for dots in self.dots.values():
            dots.show_view(low, high, pixels, min(self.thickness.values(), default=0.5))
        points = [(self.place(mark.microseconds), self._note_row(row)) for row, mark, _ in self.notes]
        self.published.setData(*zip(*points, strict=True) if points else ([], []))
        for (x, y), (_, mark, label) in zip(points, self.notes, strict=True):
            self._name_published(label, QPointF(x, y), (f"{mark.text}, {mark.document}", mark.text))
        per_pixel = (high - low) / max(pixels, 1)
        for (row, bar), label, behind in zip(self.bars, self.values, self.behind, strict=True):
            width, _ = label.size_in_pixels()
            is_next = self._is_roomy or not bar.published
            ends = np.append(self.place(bar.high), behind[: np.searchsorted(behind, high, "right")])
            is_wide = np.append(np.diff(ends) >= (width + 2 * GAP) * per_pixel, True)
            end = float(ends[is_wide.argmax()]) if is_next else self.home[0][1]
            point = self.vb.mapFromView(QPointF(end, self.middles[row]))
            label.put(self.mapFromItem(self.vb, point), width / 2 + self.theme.px(GAP), 0)
            label.setVisible(-1 <= point.x() <= pixels + 1 and 0 <= point.y() <= self.vb.height())

    def _note_row(self, row: int) -> float:
        """Return the vertical coordinate of a published time."""
        if not self._is_roomy:
            return float(row)
        return float(self.middles[row] + self.thickness[row] / 2 + self._line / 2)

    def _name_published(self, label: PlotLabel, point: QPointF, texts: Sequence[str]) -> None:
        """Write the GPU next to a diamond, with the document if that fits too."""
        place, room = self.vb.mapFromView(point).x(), self.vb.width()
        away = self.theme.px(10)
        label.setVisible(False)
        for text in texts if self._is_roomy else ():
            label.setText(escape_controls(text))
            width, _ = label.size_in_pixels()
            for offset in (away + width / 2, -away - width / 2):
                if place + offset - width / 2 >= 0 and place + offset + width / 2 <= room:
                    label.put(point, offset, 0)
                    label.setVisible(0 <= place <= room)
                    return


def first_view(panel: BarPanel, bars: Sequence[Bar]) -> Span:
    """Return the coordinates that contain intervals, nearly all samples and published times."""
    ends = [1.0] if panel.reference else []
    for bar in bars:
        ordered = np.sort(bar.dots)
        limits = (
            [float(ordered[int(share * (len(ordered) - 1))]) for share in (1 - FAR, FAR)]
            if len(ordered)
            else []
        )
        ends += [bar.low, bar.high, *limits, *(mark.microseconds for mark in bar.published)]
    if panel.axis.log:
        low, high = log_range(ends or [1.0], 1.4)
        return coordinate_of(panel.axis, low), coordinate_of(panel.axis, high)
    return 0.0, 1.04 * max(ends, default=1.0)


def samples_beyond(panel: BarPanel) -> int:
    """Count the samples outside the first view."""
    low, high = (coordinate_value(panel.axis, place) for place in first_view(panel, panel.bars))
    return sum(not low <= sample <= high for bar in panel.bars for sample in bar.dots)


def bar_text(bar: Bar, panel: BarPanel) -> str:
    """Describe a bar: its value, its interval, its samples and its origin."""
    name = ", ".join(filter(None, (bar.datum.name, bar.part)))
    text_of = time_text if panel.axis.label == "time" else number_text
    marks = [f"published: {mark.text} ({mark.document})" for mark in bar.published]
    return mark_text(f"{name}: {bar.text}", bar.datum, (text_of(bar.low), text_of(bar.high)), marks)

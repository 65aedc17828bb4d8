"""The histogram view: growing bins, current additions, lanes that meet in a bin, and lost additions."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ....tracer.hardware.times.recorded_outcomes import Spread
from ....tracer.model.trace import WARP
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.descriptions import selection_at
from ..common.dimming import dim_theme, draw_frame
from ..common.drawing import MIDDLE, RIGHT, clipped, draw_text, rect, text_width
from ..common.view import View
from ..common.wording import block_text, mark_of
from . import paint as paint
from .bins import BinArray, CurrentAdditions, HistogramViewData
from .counter import CounterViewData
from .counter_paint import CounterPicture
from .layout import HistogramLayout, bin_at, histogram_layout
from .spotlight import highlight_boxes

NOTHING = "This launch counts nothing."


class HistogramView(View):
    """The bins of a launch that counts, with NumPy's counts as a line over them; a single bin is drawn as a counter.

    A click on a bin selects the first thread that added to it; a click on a lane selects its thread.
    """

    dims_itself = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._data: HistogramViewData | None = None
        self._counter: CounterPicture | None = None
        self._spread: Spread | None = None
        self._hides_reasons = False
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Histogram")
        self._describe()

    def sizeHint(self) -> QSize:
        """Return the preferred size of the memory view, which this view replaces."""
        return QSize(self.theme.px(550), self.theme.px(450))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(self.theme.px(200), self.theme.px(160))

    @property
    def spread(self) -> Spread | None:
        """The results of a racing counter under other schedules and on GPUs, None while unknown."""
        return self._spread

    @spread.setter
    def spread(self, spread: Spread | None) -> None:
        self._spread = spread
        self._describe()
        self.update()

    def hide_reasons(self, hidden: bool) -> None:
        """Hide or show why a counter ends as it does, which can answer a question."""
        if hidden != self._hides_reasons:
            self._hides_reasons = hidden
            self._describe()
            self.update()

    def load(self, session: Session | None) -> None:
        """Take a session with a histogram or a counter."""
        super().load(session)
        counting = session.histogram_launch if session else None
        self._data = (
            HistogramViewData(session, counting) if session and counting and counting.bins > 1 else None
        )
        is_counter = session and counting and counting.bins == 1
        self._counter = (
            CounterPicture(CounterViewData(session, counting))
            if is_counter and session and counting
            else None
        )
        self.spread = None

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Draw this moment; its fraction is the progress of samples on their way to their bins."""
        super().render_moment(moment, selection)
        self._describe()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Apply other colours or another text size."""
        super().set_theme(theme)
        self.updateGeometry()
        self.update()

    def bars(self) -> list[BinArray]:
        """Collect the arrays of bars; none for a counter."""
        return self._data.bars(int(self.moment), self.selection) if self._data else []

    def places(self) -> HistogramLayout:
        """Compute the layout."""
        line = QFontMetricsF(self.theme.font(12)).height() + 1
        charts = 2 if self._data and self._data.counting.private else 1
        lanes = self.session.lanes if self.session else WARP
        return histogram_layout(self.width(), self.height(), self.theme.px(100) / 100, line, charts, 3, lanes)

    def _describe(self) -> None:
        """Describe the picture for screen readers."""
        words = [NOTHING]
        if self._data:
            verdict = self._data.verdict(int(self.moment))[0]
            words = [*self._description_words(self._data), verdict]
        elif self._counter:
            words = self._counter.data.words(int(self.moment), self._spread, explains=not self._hides_reasons)
        self.setAccessibleDescription(self.reword(". ".join(word for word in words if word)))

    def _description_words(self, data: HistogramViewData) -> list[str]:
        moment = int(self.moment)
        return [data.caption(moment, self.selection), data.progress(moment), data.contention(moment)]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the histogram, the counter or a message."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.colour("panel"))
        if self._data and self.session:
            self._paint_highlighted(painter, self._data)
        elif self._counter:
            is_highlighted = self.highlight is None or self.shows_highlight(self.highlight)
            theme = self.theme if is_highlighted else dim_theme(self.theme, self.keep)
            box, explains = QRectF(self.rect()), not self._hides_reasons
            self._counter.paint(painter, box, int(self.moment), self._spread, theme, explains=explains)
        else:
            draw_text(
                painter, QRectF(self.rect()), NOTHING, self.theme.font(15), self.theme.colour("muted"), MIDDLE
            )
        painter.end()

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Check whether its arrays, their bins or the adding threads are highlighted."""
        counting = self.session.histogram_launch if self.session else None
        if counting is None:
            return False
        arrays = {part.buffer for part in (counting.private, counting.result) if part is not None}
        named = highlight.buffers | {number for number, _ in highlight.elements}
        return bool(
            arrays & named or highlight.threads or highlight.warps or self.selection.block in highlight.blocks
        )

    def _paint_highlighted(self, painter: QPainter, data: HistogramViewData) -> None:
        """Draw the histogram, with all parts dimmed that are not highlighted."""
        if self.highlight is None:
            self._paint_bins(painter, data, self.theme)
            return
        self._paint_bins(painter, data, dim_theme(self.theme, self.keep))
        layout, bars = self.places(), self.bars()
        for box in highlight_boxes(data, self.highlight, self.selection, layout, bars):
            with clipped(painter, box):
                painter.fillRect(box, self.theme.colour("panel"))
                self._paint_bins(painter, data, self.theme)
            draw_frame(painter, box.adjusted(-2, -2, 2, 2), self.theme)

    def _paint_bins(self, painter: QPainter, data: HistogramViewData, theme: Theme) -> None:
        layout, all_bars = self.places(), self.bars()
        self._write_caption(painter, layout, data, theme)
        all_axes = [
            paint.BarAxes(plot, data.counting.bins, bars.top)
            for plot, bars in zip(layout.plots, all_bars, strict=True)
        ]
        look = "global store" if data.counting.races else "atomic"
        active = next((i for i, bars in enumerate(all_bars) if len(bars.adding.bin)), None)
        for i, (axes, bars) in enumerate(zip(all_axes, all_bars, strict=True)):
            is_last = i == len(all_axes) - 1
            paint.draw_axes(painter, axes, data.counting.edges, is_last, theme)
            paint.draw_bars(
                painter,
                axes,
                bars,
                bars.before if i == active else bars.values,
                data.largest_contention,
                theme,
            )
            if is_last and data.counting.expected is not None:
                paint.draw_outline(painter, axes, data.counting.expected, theme)
                if self.moment >= data.session.end:
                    paint.draw_differing(painter, axes, data.differing(), theme)
        self._paint_lanes(painter, layout, data, all_axes, all_bars, active, look, theme)
        for axes, bars in zip(all_axes, all_bars, strict=True):
            paint.draw_title(painter, axes, bars, theme)
        self._write_foot(painter, layout, data, look, theme)

    def _paint_lanes(
        self,
        painter: QPainter,
        layout: HistogramLayout,
        data: HistogramViewData,
        all_axes: list[paint.BarAxes],
        all_bars: list[BinArray],
        active: int | None,
        look: str,
        theme: Theme,
    ) -> None:
        """Draw the lanes of the selected warp, and every addition on its way to its bin."""
        chosen = self.selection.thread % WARP
        adding = (
            data.incoming_additions(int(self.moment), self.selection)
            if active is None
            else all_bars[active].adding
        )
        kind = look if active is not None else "global load"
        if layout.lanes.height:
            paint.draw_lanes(painter, layout, adding, kind, data.largest_contention, chosen, theme)
        axes = all_axes[active or 0]
        towers = paint.towers_of(axes, all_bars[active or 0]._replace(adding=adding), theme)
        start = self._start_points(layout, axes, adding, towers)
        fraction = self.moment % 1
        is_still = theme.reduced_motion or not fraction
        if layout.lanes.height:
            paint.draw_lane_lines(painter, layout, adding, towers.middle, kind, theme)
        if active is not None:
            progress = 1.0 if is_still else fraction
            paint.draw_towers(painter, towers, adding, start, progress, kind, theme)

    def _start_points(
        self, layout: HistogramLayout, axes: paint.BarAxes, adding: CurrentAdditions, towers: paint.Towers
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Compute the starting points of additions: the selected warp's lanes, or the top for other warps."""
        start = towers.middle.copy()
        start[:, 1] = axes.plot.field.y
        if layout.lanes.height:
            width = layout.lane(0).width
            own = adding.own
            start[own, 0] = layout.lanes.x + (adding.lane[own] + 0.5) * width
            start[own, 1] = layout.lanes.bottom
        return start

    def _write_caption(
        self, painter: QPainter, layout: HistogramLayout, data: HistogramViewData, theme: Theme
    ) -> None:
        box = rect(layout.caption)
        trace, thread = data.session.trace, self.selection.thread
        name = self.reword(f"Warp {thread // WARP} of {block_text(trace, self.selection.block)} now")
        text = self.reword(data.caption(int(self.moment), self.selection))
        verdict, is_good = data.verdict(int(self.moment))
        bold, half = theme.font(14, bold=True), box.height() / 2
        above = QRectF(box.left(), box.top(), box.width(), half)
        draw_text(painter, above, name, bold, theme.colour("text"), MIDDLE)
        fits = box.width() - text_width(name, bold) >= text_width(verdict, bold)
        below = above.translated(0, half)
        if fits or not verdict:
            draw_text(painter, below, text, theme.font(12), theme.colour("muted"), MIDDLE)
        if verdict:
            colour, alignment = theme.colour("good" if is_good else "bad"), RIGHT | MIDDLE if fits else MIDDLE
            draw_text(
                painter, above if fits else below, verdict, theme.font(12, bold=True), colour, alignment
            )

    def _write_foot(
        self, painter: QPainter, layout: HistogramLayout, data: HistogramViewData, look: str, theme: Theme
    ) -> None:
        box = rect(layout.foot)
        line = box.height() / 3
        texts = (data.progress(int(self.moment)), data.contention(int(self.moment)))
        for i, text in enumerate(texts):
            row = QRectF(box.left(), box.top() + i * line, box.width(), line)
            draw_text(painter, row, self.reword(text), theme.font(12), theme.colour("text"), MIDDLE)
        row = QRectF(box.left(), box.top() + 2 * line, box.width(), line)
        mark = mark_of(data.session.trace)
        has_expected = data.counting.expected is not None
        paint.draw_legend(painter, row, data.largest_contention, look, has_expected, mark, theme)

    def hover_text(self, position: QPointF) -> str:
        """Describe the bin at a position; "" if there is none."""
        chart_and_bin = self.bin_at(position)
        if self._data is None or chart_and_bin is None:
            return ""
        return self.reword(self._data.bin_text(*chart_and_bin, int(self.moment), self.selection))

    def bin_at(self, position: QPointF) -> tuple[int, int] | None:
        """Find the number of the chart and the bin in it at a position; None if there is none."""
        if self._data is None:
            return None
        for i, plot in enumerate(self.places().plots):
            if plot.title.y <= position.y() <= plot.field.bottom:
                index = bin_at(plot, self._data.counting.bins, position.x())
                return None if index is None else (i, index)
        return None

    def lane_at(self, position: QPointF) -> int | None:
        """Find the lane of the selected warp at a position; None if there is none."""
        layout = self.places()
        lanes = layout.lanes
        if self._data is None or not lanes.height or not lanes.y <= position.y() <= lanes.bottom:
            return None
        lane = int((position.x() - lanes.x) // layout.lane(0).width)
        return lane if 0 <= lane < layout.drawn else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a tooltip for the bin under the pointer."""
        QToolTip.showText(
            event.globalPosition().toPoint(), plain_tip(self.hover_text(event.position())), self
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select the clicked thread, or the first thread that added to the clicked bin."""
        selection = self._selection_at(event.position())
        if selection is not None:
            self.ask.select(selection)

    def _selection_at(self, position: QPointF) -> Selection | None:
        lane, chart_and_bin = self.lane_at(position), self.bin_at(position)
        if self.session is None or self._data is None:
            return None
        if lane is not None:
            thread = self.selection.thread // WARP * WARP + lane
            return Selection(self.selection.block, thread) if thread < self.session.trace.threads else None
        if chart_and_bin is None:
            return None
        parts = [
            part for part in (self._data.counting.private, self._data.counting.result) if part is not None
        ]
        return selection_at(self.session, parts[chart_and_bin[0]].buffer, chart_and_bin[1], self.selection)

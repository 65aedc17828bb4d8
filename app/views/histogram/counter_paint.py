"""The picture of a counter: its value, the additions kept and lost, and each addition from load to store."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from ....tracer.hardware.times.recorded_outcomes import Spread
from ...widgets.theme import Theme
from ..common.drawing import CENTRE, MIDDLE, RIGHT, draw_text, panel_line_colour, pen, text_width
from ..common.wording import count_text, mark_of
from .counter import CounterViewData
from .seed_spread_paint import SMALL, draw_spread, spread_height, text_line, write_bold, write_wrapped

ROOM_FOR_LINES = 78  # the smallest height of the picture of all additions, at the normal text size
KEY = (("kept", "good"), ("lost", "bad"), ("loaded, not yet stored", "global load"))
ORDER = "the order of the accesses →"
EACH = "Each addition, from its load to its store", "of those that overlap, one at most is kept"
EACH_ATOMIC = "Each addition", "one ends before the next begins"


class CounterPicture:
    """The painter of a counter, from top to bottom of a rectangle; parts that do not fit are left out."""

    def __init__(self, data: CounterViewData) -> None:
        self.data = data

    def paint(
        self,
        painter: QPainter,
        box: QRectF,
        moment: int,
        spread: Spread | None,
        theme: Theme,
        *,
        explains: bool,
    ) -> None:
        """Draw the counter at a moment. explains: with the reason for the result and its spread."""
        pad = theme.px(10)
        room = box.adjusted(pad, theme.px(2), -pad, -theme.px(4))
        room.setTop(self._draw_head(painter, room, moment, theme))
        if explains:
            room.setTop(write_wrapped(painter, room, self.data.why(), theme, "text") + theme.px(6))
        if explains and spread is not None and self.data.counting.races:
            room.setBottom(self._draw_spread(painter, room, spread, theme))
        if room.height() >= theme.px(ROOM_FOR_LINES):
            self._draw_lines(painter, room, moment, theme)

    def _draw_spread(self, painter: QPainter, room: QRectF, spread: Spread, theme: Theme) -> float:
        """Draw the spread at the bottom of the room, and return its upper edge.

        The picture of all additions keeps its room; if little is left, the spread is drawn without its reason.
        """
        gap, minimum = theme.px(6), theme.px(ROOM_FOR_LINES)
        full, short = (
            spread_height(spread, room.width(), theme, with_reason=is_full) for is_full in (True, False)
        )
        if room.height() < short:
            return room.bottom()
        with_reason = room.height() >= full + gap + minimum or short + gap + minimum > room.height() >= full
        height = min(max(full if with_reason else short, 0.45 * room.height()), room.height() - gap - minimum)
        if height < short:
            height = room.height()
        bottom_box = QRectF(room.left(), room.bottom() - height, room.width(), height)
        draw_spread(painter, bottom_box, spread, self.data.expected, theme, with_reason=with_reason)
        return bottom_box.top() - gap

    def _draw_head(self, painter: QPainter, box: QRectF, moment: int, theme: Theme) -> float:
        """Draw the value, the additions made and lost, and their bar; return the lower edge."""
        data, big = self.data, theme.font(26, bold=True)
        value, line = count_text(data.value(moment)), text_line(theme)
        value_width = text_width(value, big) + theme.px(10)
        row = QRectF(box.left(), box.top(), box.width(), 2.1 * line)
        is_plausible = moment < data.session.end or data.value(moment) == data.expected
        draw_text(painter, row, value, big, theme.colour("text" if is_plausible else "bad"), MIDDLE)
        label_box = row.adjusted(value_width, 0, 0, 0)
        write_bold(painter, label_box, f"{data.name}, expected {count_text(data.expected)}", theme)
        mark = mark_of(data.session.trace)
        progress, progress_box = f"{data.additions_text(moment)} ({mark})", label_box.adjusted(0, line, 0, 0)
        draw_text(painter, progress_box, progress, theme.font(12), theme.colour("muted"), MIDDLE)
        bar = QRectF(box.left(), row.bottom() + theme.px(4), box.width(), theme.px(12))
        self._draw_bar(painter, bar, moment, theme)
        return bar.bottom() + theme.px(6)

    def _draw_bar(self, painter: QPainter, bar: QRectF, moment: int, theme: Theme) -> None:
        """Draw the additions kept, lost and still to come as parts of one bar."""
        additions = self.data.counting.result
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(bar, theme.colour("cell_unread"))
        left = bar.left()
        for count, colour in ((additions.kept(moment), "good"), (additions.lost(moment), "bad")):
            width = max(bar.width() * count / max(1, len(additions)), 2.0 if count else 0.0)
            part = QRectF(left, bar.top(), min(width, bar.right() - left), bar.height())
            painter.fillRect(part, theme.colour(colour))
            left += width

    def _draw_lines(self, painter: QPainter, box: QRectF, moment: int, theme: Theme) -> None:
        """Draw every addition as a line from its load to its store, in the order of the accesses."""
        line, bold = text_line(theme), theme.font(12, bold=True)
        title, meaning = EACH if self.data.counting.races else EACH_ATOMIC
        fits = text_width(f"{title}: {meaning}", bold) <= box.width()
        write_bold(painter, box, f"{title}: {meaning}" if fits else title, theme)
        scale = self._draw_scale(painter, box.adjusted(0, line + 2, 0, -line), theme)
        field = box.adjusted(scale, line + 2, 0, -line)
        painter.fillRect(field, theme.colour("window"))
        self._draw_additions(painter, field, moment, theme)
        below = QRectF(field.left(), field.bottom(), field.width(), line)
        key_end = self._draw_key(painter, below, theme)
        if below.right() - key_end >= text_width(ORDER, theme.font(SMALL)):
            draw_text(painter, below, ORDER, theme.font(SMALL), theme.colour("muted"), RIGHT | MIDDLE)

    def _draw_scale(self, painter: QPainter, box: QRectF, theme: Theme) -> float:
        """Number the first and the last addition at the left of the lines; return the width."""
        small, muted, line = theme.font(SMALL), theme.colour("muted"), text_line(theme)
        last = count_text(len(self.data.counting.result))
        width = max(text_width(last, small), line) + theme.px(6)
        top = QRectF(box.left(), box.top(), width - theme.px(5), line)
        draw_text(painter, top, "1", small, muted, RIGHT | MIDDLE)
        draw_text(painter, top.translated(0, box.height() - line), last, small, muted, RIGHT | MIDDLE)
        between = QRectF(0, 0, box.height() - 2 * line, line)
        if between.width() >= text_width("additions", small):
            painter.save()
            painter.translate(top.right() - line, box.bottom() - line)
            painter.rotate(-90)
            draw_text(painter, between, "additions", small, muted, CENTRE)
            painter.restore()
        return width

    def _draw_additions(self, painter: QPainter, field: QRectF, moment: int, theme: Theme) -> None:
        lines = self.data.lines
        thickness = max(1.0, field.height() / max(1, len(self.data.counting.result)))
        x0, x1 = (field.left() + part * field.width() for part in (lines.first, lines.last))
        x1 = np.maximum(x1, x0 + theme.px(2))
        y = field.top() + lines.height * (field.height() - thickness) + thickness / 2
        final_state = np.where(lines.survives, 3, 2)
        state = np.where(lines.stored <= moment, final_state, np.where(lines.loaded <= moment, 1, 0))
        colours = (
            QColor(theme.palette.border),
            panel_line_colour("global load", theme),
            *map(theme.colour, ("bad", "good")),
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for code, colour in enumerate(colours):
            stroke = pen(colour, max(min(thickness * 0.8, theme.px(6)), 2.5 if code == 3 else 1.0))
            stroke.setCapStyle(Qt.PenCapStyle.FlatCap)  # the first addition starts at the edge of the field
            painter.setPen(stroke)
            chosen = np.flatnonzero(state == code).tolist()
            painter.drawLines([QLineF(x0[i], y[i], x1[i], y[i]) for i in chosen])

    def _draw_key(self, painter: QPainter, box: QRectF, theme: Theme) -> float:
        """Write the legend of the lines' colours, and return its right edge."""
        x, font, middle = box.left(), theme.font(SMALL), box.center().y()
        for text, colour in KEY if self.data.counting.races else KEY[:1]:
            dash = QRectF(x, middle - theme.px(2), theme.px(14), theme.px(3))
            painter.fillRect(dash, theme.colour(colour))
            x += theme.px(18)
            width = QFontMetricsF(font).horizontalAdvance(text)
            draw_text(
                painter,
                QRectF(x, box.top(), width + 1, box.height()),
                text,
                font,
                theme.colour("muted"),
                MIDDLE,
            )
            x += width + theme.px(10)
        return x

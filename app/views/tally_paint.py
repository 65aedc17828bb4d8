"""A counter as a picture: its value, the additions kept and lost, each from load to store, and the spread of seeds."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF

from ...tracer.outcomes import Spread
from ...tracer.runs import places_in_run, run_starts
from ..theme import Theme
from .memory_paint import on_panel, pen
from .memory_text import LEFT, MIDDLE, RIGHT, WRAP, write
from .tally import Tally, measured_text, seeds_text
from .timeline_paint import tick_step
from .wording import EXACT, PART, count_text

HARDWARE = (
    "A GPU starts these threads faster than one load comes back from memory: all have loaded before the first "
    "store arrives. That is likely, not promised."
)
ROOM_FOR_LINES, ROOM_FOR_SPREAD = (
    210,
    330,
)  # heights, at the normal text size, from which these parts are drawn


class TallyPicture:
    """Paints a counter from top to bottom into a rectangle."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def words(self, moment: int, spread: Spread | None) -> list[str]:
        """Return what the picture says."""
        return self.tally.words(moment, spread)

    def paint(
        self, painter: QPainter, box: QRectF, moment: float, spread: Spread | None, theme: Theme
    ) -> None:
        """Draw the counter at a moment."""
        now, pad, races = int(moment), theme.px(10), self.tally.counting.races
        tall = box.height() / theme.scale
        inside = box.adjusted(pad, theme.px(2), -pad, -theme.px(4))
        inside.setTop(self._draw_head(painter, inside, now, theme))
        inside.setTop(_write_wrapped(painter, inside, self.tally.why(), theme, "text") + theme.px(4))
        if races and tall >= ROOM_FOR_SPREAD:
            high = max(theme.px(120), 0.42 * inside.height())
            below = QRectF(inside.left(), inside.bottom() - high, inside.width(), high)
            self._draw_spread(painter, below, spread or Spread(wanted=0, problem="…"), now, theme)
            inside.setBottom(below.top() - theme.px(4))
        if tall >= ROOM_FOR_LINES:
            self._draw_lines(painter, inside, now, theme)

    def _draw_head(self, painter: QPainter, box: QRectF, moment: int, theme: Theme) -> float:
        """Draw the value, what was made and lost, and the bar of it; return where it ends."""
        tally, big = self.tally, theme.font(26, bold=True)
        value = count_text(tally.value(moment))
        wide = QFontMetricsF(big).horizontalAdvance(value) + theme.px(10)
        row = QRectF(box.left(), box.top(), box.width(), theme.px(36))
        right = moment < tally.session.end or tally.value(moment) == tally.expected
        write(painter, row, value, big, theme.colour("text" if right else "bad"), MIDDLE)
        aside = row.adjusted(wide, 0, 0, 0)
        upper, lower = QRectF(aside), QRectF(aside)
        upper.setBottom(aside.center().y())
        lower.setTop(aside.center().y())
        title = f"{tally.name}, expected {count_text(tally.expected)}"
        write(painter, upper, title, theme.font(13, bold=True), theme.colour("text"), MIDDLE)
        mark = PART if tally.session.trace.is_part else EXACT
        made = f"{tally.made_text(moment)}   ({mark})"
        write(painter, lower, made, theme.font(12), theme.colour("muted"), MIDDLE)
        bar = QRectF(box.left(), row.bottom() + theme.px(4), box.width(), theme.px(12))
        self._draw_bar(painter, bar, moment, theme)
        return bar.bottom() + theme.px(6)

    def _draw_bar(self, painter: QPainter, bar: QRectF, moment: int, theme: Theme) -> None:
        """Draw the additions kept, lost and to come as parts of one bar."""
        additions = self.tally.counting.result
        kept, lost, total = additions.kept(moment), additions.lost(moment), max(1, len(additions))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(bar, theme.colour("cell_unread"))
        left = bar.left()
        for count, colour in ((kept, "good"), (lost, "bad")):
            wide = max(bar.width() * count / total, 2.0 if count else 0.0)
            painter.fillRect(
                QRectF(left, bar.top(), min(wide, bar.right() - left), bar.height()), theme.colour(colour)
            )
            left += wide

    def _draw_lines(self, painter: QPainter, box: QRectF, moment: int, theme: Theme) -> None:
        """Draw every addition as a line from its load to its store, in the order in which the accesses ran."""
        lines, small, muted = self.tally.lines, theme.font(10.5), theme.colour("muted")
        line = QFontMetricsF(small).height() + 2
        title = "Each addition, from its load to its store" if self.tally.counting.races else "Each addition"
        write(
            painter,
            QRectF(box.left(), box.top(), box.width(), line),
            title,
            theme.font(12, bold=True),
            theme.colour("text"),
            MIDDLE,
        )
        field = box.adjusted(0, line + 2, 0, -line)
        if field.height() < theme.px(24):
            return
        painter.fillRect(field, theme.colour("window"))
        state = np.where(
            lines.stored <= moment, np.where(lines.survives, 3, 2), np.where(lines.loaded <= moment, 1, 0)
        )
        looks = {0: (QColor(theme.palette.border), 1.0), 1: (on_panel("global load", theme), 1.0)}
        looks |= {2: (theme.colour("bad"), 1.0), 3: (theme.colour("good"), 2.5)}
        thick = max(1.0, field.height() / max(1, len(self.tally.counting.result)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        x0, x1 = (field.left() + part * field.width() for part in (lines.first, lines.last))
        x1 = np.maximum(x1, x0 + theme.px(2))
        y = field.top() + (lines.height * (field.height() - thick)) + thick / 2
        for code, (colour, least) in looks.items():
            painter.setPen(pen(colour, max(min(thick * 0.8, theme.px(6)), least)))
            chosen = np.flatnonzero(state == code)
            painter.drawLines([QLineF(x0[i], y[i], x1[i], y[i]) for i in chosen.tolist()])
        below = QRectF(box.left(), field.bottom(), box.width(), line)
        write(painter, below, "the order in which the accesses ran →", small, muted, RIGHT | MIDDLE)
        self._draw_key(painter, below, theme)

    def _draw_key(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Write what the colours of the lines mean."""
        x, font = box.left(), theme.font(10.5)
        words = [("kept", "good"), ("lost", "bad"), ("loaded, not yet stored", "global load")]
        for text, colour in words if self.tally.counting.races else words[:1]:
            painter.fillRect(
                QRectF(x, box.center().y() - theme.px(1.5), theme.px(14), theme.px(3)), theme.colour(colour)
            )
            x += theme.px(18)
            wide = QFontMetricsF(font).horizontalAdvance(text)
            write(
                painter,
                QRectF(x, box.top(), wide + 1, box.height()),
                text,
                font,
                theme.colour("muted"),
                MIDDLE,
            )
            x += wide + theme.px(10)

    def _draw_spread(self, painter: QPainter, box: QRectF, spread: Spread, moment: int, theme: Theme) -> None:
        """Draw what random schedules end with, a dot for each, and below what GPUs end with."""
        small = theme.font(12)
        line = QFontMetricsF(small).height() + 1
        write(
            painter,
            QRectF(box.left(), box.top(), box.width(), line),
            seeds_text(spread),
            theme.font(12, bold=True),
            theme.colour("text"),
            MIDDLE,
        )
        foot = box.bottom()
        if spread.measured:
            room = QRectF(box.left(), box.bottom() - 3 * line, box.width(), 3 * line)
            high = QFontMetricsF(small).boundingRect(room, int(WRAP), HARDWARE).height()
            write(
                painter,
                QRectF(box.left(), foot - high, box.width(), high + 1),
                HARDWARE,
                small,
                theme.colour("muted"),
                WRAP,
            )
            foot -= high + 2
            for measured in reversed(spread.measured):
                text = f"▲ {measured_text(measured)}"
                row = QRectF(box.left(), foot - line, box.width(), line)
                write(painter, row, text, theme.font(12, bold=True), theme.colour("accent"), MIDDLE)
                _write_mark(painter, row, text, theme)
                foot -= line
        field = QRectF(
            box.left() + theme.px(6),
            box.top() + line + 2,
            box.width() - theme.px(12),
            foot - box.top() - 2 * line - theme.px(6),
        )
        if field.height() >= theme.px(16) and (spread.totals or spread.measured):
            self._draw_dots(painter, field, spread, theme)

    def _draw_dots(self, painter: QPainter, field: QRectF, spread: Spread, theme: Theme) -> None:
        """Draw a dot for each seed over the number that it ended at; this launch's own is filled with the accent."""
        found = np.sort(np.array(spread.totals, np.int64))
        outcomes = [n for measured in spread.measured for n in measured.outcomes]
        top = max([1, *found.tolist(), *outcomes])
        room = QFontMetricsF(theme.font(10.5)).horizontalAdvance(
            f"expected {count_text(self.tally.expected)} →"
        )
        unit = (field.width() - room - theme.px(16)) / top
        height = places_in_run(run_starts(found), len(found)) if len(found) else found
        side = min(theme.px(9), max(unit * 0.9, 3.0), field.height() / (int(height.max(initial=0)) + 1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("number"))
        for total, level in zip(found.tolist(), height.tolist(), strict=True):
            painter.drawEllipse(
                QRectF(
                    field.left() + total * unit - side / 2,
                    field.bottom() - (level + 1) * side,
                    side - 1,
                    side - 1,
                )
            )
        self._draw_axis(painter, field, top, unit, theme)
        for total in sorted(set(outcomes)):
            x, half = field.left() + total * unit, theme.px(5)
            points = [
                QPointF(x, field.bottom() + 1),
                QPointF(x - half, field.bottom() + 2 * half),
                QPointF(x + half, field.bottom() + 2 * half),
            ]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("accent"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawPolygon(QPolygonF(points))

    def _draw_axis(self, painter: QPainter, field: QRectF, top: int, unit: float, theme: Theme) -> None:
        """Draw the numbers that a launch can end at, and where the expected one lies."""
        small, muted = theme.font(10.5), theme.colour("muted")
        line = QFontMetricsF(small).height()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(QRectF(field.left(), field.bottom(), field.width(), 1), muted)
        step = tick_step(top, max(2.0, top * unit / theme.px(36)))
        for total in range(0, top + 1, step):
            wide = QFontMetricsF(small).horizontalAdvance(count_text(total)) + 2
            box = QRectF(field.left() + total * unit - wide / 2, field.bottom() + theme.px(3), wide, line)
            write(painter, box, count_text(total), small, muted, Qt.AlignmentFlag.AlignHCenter)
        box = QRectF(field.left(), field.bottom() + theme.px(3), field.width(), line)
        write(painter, box, f"expected {count_text(self.tally.expected)} →", small, muted, RIGHT)


def _write_wrapped(painter: QPainter, box: QRectF, text: str, theme: Theme, colour: str) -> float:
    """Write a text over as many lines as it takes and return where it ends."""
    font = theme.font(12)
    high = QFontMetricsF(font).boundingRect(box, int(WRAP), text).height()
    write(
        painter, QRectF(box.left(), box.top(), box.width(), high + 1), text, font, theme.colour(colour), WRAP
    )
    return box.top() + high


def _write_mark(painter: QPainter, row: QRectF, text: str, theme: Theme) -> None:
    """Write the mark of a measured number after it, if there is room."""
    x = row.left() + QFontMetricsF(theme.font(12, bold=True)).horizontalAdvance(text) + theme.px(8)
    if x + theme.px(60) <= row.right():
        write(
            painter,
            QRectF(x, row.top(), row.right() - x, row.height()),
            "measured",
            theme.font(10.5),
            theme.colour("muted"),
            LEFT | MIDDLE,
        )

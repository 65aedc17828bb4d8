"""The gutter beside a page of source: handles that take lines out, line numbers, counts, and signs of problems."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from ...widgets.patterns import WAITING
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import dimmed
from ..common.severity import draw_sign
from ..common.wording import count_text
from .page import Page

TAKEN_OUT = "taken out; click to put it back"
BARRIER = "click takes this barrier out"
TAKE_OUT = "click takes this line out"


class Gutter(QWidget):
    """The gutter of a page: line numbers, requests so far, and a bar at the marked line.

    Where lines may be taken out, a click beside one asks for that; barriers have a handle that is always seen.
    """

    def __init__(self, editor: Page) -> None:
        super().__init__(editor)
        self._editor = editor
        self._under = 0  # the line under the pointer
        self._can = False  # whether it may be taken out or put back
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        self.setFocusPolicy(
            Qt.FocusPolicy.ClickFocus
        )  # else the text would have it, and what is pressed next
        self.setAccessibleName("Line numbers and requests so far")

    def sizeHint(self) -> QSize:
        """Return the width that the editor reserves."""
        return QSize(self._editor.columns()[2], 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines in sight."""
        editor, theme = self._editor, self._editor.theme
        painter = QPainter(self)
        painter.setClipRect(self.rect())  # on paper nothing else does
        painter.fillRect(event.rect(), theme.colour("panel"))
        painter.setFont(editor.gutter_font())
        numbers, counts, _ = editor.columns()
        seen, region = event.rect(), event.region()
        handle, spacing = editor.handle(), editor.fontMetrics().lineSpacing()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for line, top, height in editor.lines_in_sight():
            row = QRectF(0, top, self.width(), height)
            if not region.intersects(row.toAlignedRect()):
                continue
            marked, bright = line == editor.line, not editor.lit or line in editor.lit
            ink = theme if bright else dimmed(theme)
            self._draw_ground(painter, line, row, bright)
            first = min(height, spacing)  # of the rows that a long line takes
            if seen.left() <= numbers:
                painter.setPen(ink.colour("text" if marked or editor.lit else "muted"))
                painter.drawText(QRectF(0, top, numbers, first), right, str(line))
            if editor.counts.get(line) and counts > numbers:
                painter.setPen(ink.colour("text"))
                painter.drawText(QRectF(0, top, counts, first), right, count_text(editor.counts[line]))
            if line in editor.changed:
                bar = QRectF(self.width() - theme.px(4), top, theme.px(2), height)
                painter.fillRect(bar, theme.colour("accent"))
            if handle and seen.left() < handle:
                size = min(theme.px(12), first)
                box = QRectF(handle - size + theme.px(1), top + (first - size) / 2, size, size)
                self._draw_handle(painter, box, line, ink)

    def _draw_ground(self, painter: QPainter, line: int, box: QRectF, bright: bool) -> None:
        """Draw what a line stands on, where that is not the panel alone."""
        editor, theme, marked = self._editor, self._editor.theme, line == self._editor.line
        ink = theme if bright else dimmed(theme)
        if marked or editor.tinted or not bright:
            ground = editor.line_colour() if marked else editor.tint(line)
            painter.fillRect(box, ground if bright else editor.dimmed(ground))
        if marked:
            if editor.tinted:
                numbers = editor.columns()[0]
                painter.fillRect(box.adjusted(numbers, 0, 0, 0), editor.tint(line))
            painter.fillRect(QRectF(0, box.top(), theme.px(3), box.height()), ink.colour(editor.look))
        if line == editor.pointed:
            edge = theme.px(3)
            painter.fillRect(box.adjusted(box.width() - edge, 0, 0, 0), theme.colour("accent"))

    def _draw_handle(self, painter: QPainter, box: QRectF, line: int, ink: Theme) -> None:
        """Draw what is wrong at a line, that it is taken out, or that it can be."""
        editor, under = self._editor, line == self._under
        if under and line in editor.struck_rows:
            draw_arrow(painter, box, ink)
        elif line in editor.struck:
            draw_minus(painter, box, ink, "text")
        elif under and self._can:
            draw_minus(painter, box, ink, "accent")
        elif found := editor.problems_at(line):
            draw_sign(painter, box, found[0].severity, ink)
        elif line in editor.barriers:
            draw_barrier(painter, box, ink)

    def _line_at(self, y: float) -> int:
        """Return the line at a height, 0 for none."""
        lines = self._editor.lines_in_sight()
        return next((line for line, top, height in lines if top <= y < top + height), 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show what a click would do."""
        self._point_at(self._line_at(event.position().y()))

    def leaveEvent(self, event: QEvent) -> None:
        """Show it no more."""
        self._point_at(0)

    def _point_at(self, line: int) -> None:
        line = line if self._editor.has_handles else 0
        if line != self._under:
            self._under = line
            self._can = line in self._editor.struck_rows or bool(line and not self._editor.may_strike(line))
            self.setCursor(Qt.CursorShape.PointingHandCursor if self._can else Qt.CursorShape.ArrowCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the line out, or put it back; say why that can't be."""
        line = self._line_at(event.position().y())
        if event.button() != Qt.MouseButton.LeftButton or not line or not self._editor.has_handles:
            return
        if reason := self._editor.toggle(line):
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(reason), self)

    def event(self, event: QEvent) -> bool:
        """Say what the numbers are, where the pointer rests; everything else as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self._tip(self._line_at(event.pos().y()))), self)
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep the end of a click from the text below."""
        event.accept()

    def _tip(self, line: int) -> str:
        """Return what is said of a line: its figure, what is wrong there, and what a click does."""
        editor = self._editor
        if line in editor.changed:
            told = [f"line {line}: changed since it was traced"]
        else:
            told = [f"line {line}: {count_text(editor.counts.get(line, 0))} {editor.noun} so far (exact)"]
        if line and line == editor.pointed:
            told.append("the line of the chosen finding")
        told += editor.fates[line].sentences if line in editor.fates else ()
        told += [problem.sentence for problem in editor.problems_at(line)]
        if editor.has_handles and line:
            doing = BARRIER if line in editor.barriers else TAKE_OUT
            told.append(TAKEN_OUT if line in editor.struck_rows else editor.may_strike(line) or doing)
        return "\n".join(told)


def draw_barrier(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw a hollow bar into a square: a barrier that can be taken out."""
    wide = box.height() / 6
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour(WAITING), theme.px(1.4)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(0.5, 2 * wide, -0.5, -2 * wide), wide / 2, wide / 2)
    painter.restore()


def _pen(theme: Theme, colour: str) -> QPen:
    return QPen(
        theme.colour(colour), 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    )


def _begin(painter: QPainter, box: QRectF, theme: Theme, colour: str) -> None:
    """Let a square be 16 by 16, and draw lines."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 16, box.height() / 16)
    painter.setPen(_pen(theme, colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_minus(painter: QPainter, box: QRectF, theme: Theme, colour: str) -> None:
    """Draw a minus in a ring into a square: taken out, or to be taken out."""
    _begin(painter, box, theme, colour)
    painter.drawEllipse(QRectF(1, 1, 14, 14))
    painter.drawLine(QPointF(4.8, 8), QPointF(11.2, 8))
    painter.restore()


def draw_arrow(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw an arrow that turns back into a square: to be put back."""
    _begin(painter, box, theme, "accent")
    painter.drawArc(QRectF(3, 4.5, 11, 9.5), -100 * 16, 190 * 16)
    painter.drawLine(QPointF(3, 4.5), QPointF(8.5, 4.5))
    painter.drawPolyline(QPolygonF([QPointF(5.8, 1.5), QPointF(2.6, 4.5), QPointF(5.8, 7.5)]))
    painter.restore()

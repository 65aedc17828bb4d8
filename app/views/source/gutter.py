"""The gutter of a page of source: handles that skip lines, line numbers, counts, and signs of problems."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from ...widgets.patterns import WAITING
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from ..common.dimming import dim_theme
from ..common.severity import draw_sign
from ..common.wording import count_text
from .page import Page

TAKEN_OUT = "skipped; click to restore it"
BARRIER = "click to skip this barrier"
TAKE_OUT = "click to skip this line"


class Gutter(QWidget):
    """The gutter of a page: line numbers, requests so far, and a bar at the marked line.

    Where lines can be skipped, a click next to a line asks for it. The handles of barriers are always visible.
    """

    def __init__(self, editor: Page) -> None:
        super().__init__(editor)
        self._editor = editor
        self._under = 0  # the line below the pointer
        self._can = False  # it can be skipped or restored
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # nothing is painted below it
        # Without a focus of its own, a click would move the focus to the text.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName("Line numbers and requests so far")

    def sizeHint(self) -> QSize:
        """Return the width that the page reserves."""
        return QSize(self._editor.columns()[2], 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the visible lines."""
        editor, theme = self._editor, self._editor.theme
        painter = QPainter(self)
        painter.setClipRect(self.rect())  # printing does not clip
        painter.fillRect(event.rect(), theme.colour("panel"))
        painter.setFont(editor.gutter_font())
        numbers, counts, _ = editor.columns()
        dirty, region = event.rect(), event.region()
        handle, spacing = editor.handle(), editor.fontMetrics().lineSpacing()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for line, top, height in editor.lines_in_sight():
            row = QRectF(0, top, self.width(), height)
            if not region.intersects(row.toAlignedRect()):
                continue
            marked, is_bright = (
                line == editor.line,
                not editor.highlighted_lines or line in editor.highlighted_lines,
            )
            ink = theme if is_bright else dim_theme(theme)
            self._draw_ground(painter, line, row, is_bright)
            first = min(height, spacing)  # a long line takes several rows
            if dirty.left() <= numbers:
                painter.setPen(ink.colour("text" if marked or editor.highlighted_lines else "muted"))
                painter.drawText(QRectF(0, top, numbers, first), right, str(line))
            if editor.counts.get(line) and counts > numbers:
                painter.setPen(ink.colour("text"))
                painter.drawText(QRectF(0, top, counts, first), right, count_text(editor.counts[line]))
            if line in editor.changed:
                bar = QRectF(self.width() - theme.px(4), top, theme.px(2), height)
                painter.fillRect(bar, theme.colour("accent"))
            if handle and dirty.left() < handle:
                size = min(theme.px(12), first)
                box = QRectF(handle - size + theme.px(1), top + (first - size) / 2, size, size)
                self._draw_handle(painter, box, line, ink)

    def _draw_ground(self, painter: QPainter, line: int, box: QRectF, is_bright: bool) -> None:
        """Draw the background of a line if it differs from the panel."""
        editor, theme, marked = self._editor, self._editor.theme, line == self._editor.line
        ink = theme if is_bright else dim_theme(theme)
        if marked or editor.tinted or not is_bright:
            ground = editor.line_colour() if marked else editor.tint(line)
            painter.fillRect(box, ground if is_bright else editor.dimmed(ground))
        if marked:
            if editor.tinted:
                numbers = editor.columns()[0]
                painter.fillRect(box.adjusted(numbers, 0, 0, 0), editor.tint(line))
            painter.fillRect(QRectF(0, box.top(), theme.px(3), box.height()), ink.colour(editor.look))
        if line == editor.pointed:
            edge = theme.px(3)
            painter.fillRect(box.adjusted(box.width() - edge, 0, 0, 0), theme.colour("accent"))

    def _draw_handle(self, painter: QPainter, box: QRectF, line: int, ink: Theme) -> None:
        """Draw the sign of a problem, or the handle that skips or restores a line."""
        editor, under = self._editor, line == self._under
        if under and line in editor.struck_rows:
            draw_arrow(painter, box, ink)
        elif line in editor.struck:
            draw_minus(painter, box, ink, "text")
        elif under and self._can:
            draw_minus(painter, box, ink, "accent")
        elif problems := editor.problems_at(line):
            draw_sign(painter, box, problems[0].severity, ink)
        elif line in editor.barriers:
            draw_barrier(painter, box, ink)

    def _line_at(self, y: float) -> int:
        """Return the line at a height, or 0."""
        lines = self._editor.lines_in_sight()
        return next((line for line, top, height in lines if top <= y < top + height), 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show what a click does here."""
        self._point_at(self._line_at(event.position().y()))

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the handle of the line."""
        self._point_at(0)

    def _point_at(self, line: int) -> None:
        line = line if self._editor.has_handles else 0
        if line != self._under:
            self._under = line
            self._can = line in self._editor.struck_rows or bool(line and not self._editor.may_strike(line))
            self.setCursor(Qt.CursorShape.PointingHandCursor if self._can else Qt.CursorShape.ArrowCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Skip or restore the line; show the reason if that is impossible."""
        line = self._line_at(event.position().y())
        if event.button() != Qt.MouseButton.LeftButton or not line or not self._editor.has_handles:
            return
        if reason := self._editor.toggle(line):
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(reason), self)

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of a line; handle all other events as usual."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self._tip(self._line_at(event.pos().y()))), self)
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop the release event from reaching the text below."""
        event.accept()

    def _tip(self, line: int) -> str:
        """Compose the tooltip of a line: its figure, its problems, and what a click does."""
        editor = self._editor
        if line in editor.changed:
            sentences = [f"line {line}: changed since it was traced"]
        else:
            sentences = [
                f"line {line}: {count_text(editor.counts.get(line, 0))} {editor.noun} so far (exact)"
            ]
        if line and line == editor.pointed:
            sentences.append("the line of the selected finding")
        sentences += editor.fates[line].sentences if line in editor.fates else ()
        sentences += [problem.sentence for problem in editor.problems_at(line)]
        if editor.has_handles and line:
            action = BARRIER if line in editor.barriers else TAKE_OUT
            sentences.append(TAKEN_OUT if line in editor.struck_rows else editor.may_strike(line) or action)
        return "\n".join(sentences)


def draw_barrier(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw a hollow bar in a square: a barrier that can be skipped."""
    thickness = box.height() / 6
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour(WAITING), theme.px(1.4)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(
        box.adjusted(0.5, 2 * thickness, -0.5, -2 * thickness), thickness / 2, thickness / 2
    )
    painter.restore()


def _pen(theme: Theme, colour: str) -> QPen:
    return QPen(
        theme.colour(colour), 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    )


def _begin(painter: QPainter, box: QRectF, theme: Theme, colour: str) -> None:
    """Scale a square to 16 by 16 units, and set the pen."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 16, box.height() / 16)
    painter.setPen(_pen(theme, colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_minus(painter: QPainter, box: QRectF, theme: Theme, colour: str) -> None:
    """Draw a minus in a ring: a skipped line, or one that can be skipped."""
    _begin(painter, box, theme, colour)
    painter.drawEllipse(QRectF(1, 1, 14, 14))
    painter.drawLine(QPointF(4.8, 8), QPointF(11.2, 8))
    painter.restore()


def draw_arrow(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw an arrow that turns back: a line that can be restored."""
    _begin(painter, box, theme, "accent")
    painter.drawArc(QRectF(3, 4.5, 11, 9.5), -100 * 16, 190 * 16)
    painter.drawLine(QPointF(3, 4.5), QPointF(8.5, 4.5))
    painter.drawPolyline(QPolygonF([QPointF(5.8, 1.5), QPointF(2.6, 4.5), QPointF(5.8, 7.5)]))
    painter.restore()

"""What a colour means: a square as in the timeline, and the name of the kind of request."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from .theme import Theme
from .views.patterns import swatch


class LegendItem(QWidget):
    """One kind's square and name."""

    def __init__(self, kind: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.theme = kind, theme
        self._name()

    def _name(self) -> None:
        self.setAccessibleName(f"Colour of {self.theme.say(self.kind)}")

    def set_theme(self, theme: Theme) -> None:
        """Take colours, text size and words."""
        self.theme = theme
        self._name()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room for square and name."""
        text = QFontMetrics(self.theme.font()).horizontalAdvance(self.theme.say(self.kind))
        return QSize(self.theme.px(20) + text + self.theme.px(6), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the same: a cut name says nothing."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw square and name, as sharp as what is drawn on."""
        painter = QPainter(self)
        side, ratio = self.theme.px(14), painter.deviceTransform().m11()
        picture = swatch(self.kind, side, self.theme, ratio)
        painter.drawPixmap(QPointF(0, (self.height() - side) / 2), picture)
        painter.setFont(self.theme.font())
        painter.setPen(self.theme.colour("text"))
        room = QRectF(self.rect()).adjusted(self.theme.px(20), 0, 0, 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self.theme.say(self.kind))
        painter.end()

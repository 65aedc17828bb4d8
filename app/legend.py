"""What the colours mean: the kinds of request that occur, each with its name."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from .theme import Theme
from .views.patterns import swatch


class Legend(QWidget):
    """A coloured square and a name for each kind, patterned as in the timeline."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.kinds: tuple[str, ...] = ()

    def show_kinds(self, kinds: Iterable[str]) -> None:
        """Show these kinds, in this order."""
        self.kinds = tuple(kinds)
        self.setAccessibleName("Colours: " + ", ".join(self.kinds))
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self.setFont(theme.font(13))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room that all names need in one row."""
        widths = [self.fontMetrics().horizontalAdvance(kind) + self.theme.px(34) for kind in self.kinds]
        return QSize(sum(widths), self.theme.px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw squares and names from left to right."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side, x = self.theme.px(14), 0.0
        for kind in self.kinds:
            corner = QPointF(x, (self.height() - side) / 2)
            painter.drawPixmap(corner, swatch(kind, side, self.theme, self.devicePixelRatioF()))
            x += side + self.theme.px(6)
            width = self.fontMetrics().horizontalAdvance(kind)
            painter.setPen(self.theme.colour("text"))
            painter.drawText(QRectF(x, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, kind)
            x += width + self.theme.px(14)
        painter.end()

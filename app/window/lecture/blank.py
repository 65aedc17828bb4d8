"""The blank screen: nothing but black over the whole window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

BLACK = QColor("#000000")


class BlankScreen(QWidget):
    """Covers all of a widget, while it is shown, and takes the pointer away."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.over = over
        self.setCursor(Qt.CursorShape.BlankCursor)
        over.installEventFilter(self)
        self.hide()

    def show_blank(self, blank: bool) -> None:
        """Cover all, or nothing."""
        if blank:
            self.setGeometry(self.over.rect())
            self.raise_()
        self.setVisible(blank)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as what is covered."""
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self.over.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it black."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), BLACK)
        painter.end()

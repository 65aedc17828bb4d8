"""The blank screen: a black cover over the window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

BLACK = QColor("#000000")


class BlankScreen(QWidget):
    """Covers a widget with black and hides the pointer."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.over = over
        self.setCursor(Qt.CursorShape.BlankCursor)
        over.installEventFilter(self)
        self.hide()

    def show_blank(self, blank: bool) -> None:
        """Show or hide the cover."""
        if blank:
            self.setGeometry(self.over.rect())
            self.raise_()
        self.setVisible(blank)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Resize with the covered widget."""
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self.over.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cover black."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), BLACK)
        painter.end()

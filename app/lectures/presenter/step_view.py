"""A step's picture in the presenter's window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...model.nothing import nothing
from ...widgets.theme import Theme


class StepView(QWidget):
    """A step's picture, scaled to the room, with a text over it if the audience sees something else."""

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clicked: Callable[[], object] = nothing
        self.setAccessibleName(name)
        self.theme, self.image, self.text, self.over = theme, QImage(), "", ""
        self._scaled = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """Return a size at which the picture is readable."""
        return QSize(self.theme.px(320), self.theme.px(180))

    def show_image(self, image: QImage | None, text: str = "", over: str = "") -> None:
        """Show a picture, or this text without one; `over` is written across it."""
        self.image, self.text, self.over = image or QImage(), text, over
        self._scaled = QImage()
        self.setAccessibleDescription(text or over)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Emit `clicked`."""
        self.clicked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Drop the scaled picture."""
        self._scaled = QImage()

    def _fitted(self) -> QImage:
        if self._scaled.isNull() and not self.image.isNull():
            ratio = self.devicePixelRatioF()
            modes = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            self._scaled = self.image.scaled(self.size() * ratio, *modes)
            self._scaled.setDevicePixelRatio(ratio)
        return self._scaled

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture at the top centre."""
        painter, theme, image = QPainter(self), self.theme, self._fitted()
        if image.isNull():
            painter.fillRect(self.rect(), theme.colour("panel"))
            self._write(painter, self.rect(), self.text, theme.font(14), "muted")
            return
        size = image.deviceIndependentSize().toSize()
        box = QRect(QPoint((self.width() - size.width()) // 2, 0), size)
        painter.drawImage(box.topLeft(), image)
        if self.over:
            painter.setOpacity(0.75)
            painter.fillRect(box, theme.colour("window"))
            painter.setOpacity(1.0)
            self._write(painter, box, self.over, theme.font(22, bold=True), "text")
        painter.setPen(theme.colour("border"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))

    def _write(self, painter: QPainter, box: QRect, text: str, font: QFont, colour: str) -> None:
        painter.setFont(font)
        painter.setPen(self.theme.colour(colour))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), text)

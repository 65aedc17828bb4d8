"""Where we are, in words: drawn at every frame, so it keeps its room and never moves what stands beside it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from .theme import Theme


class Position(QWidget):
    """A strong text and a quiet one behind it, or a hint while there is nothing to say."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.strong = self.quiet = ""
        self.widest = ("", "")

    def keep_room_for(self, strong: str, quiet: str) -> None:
        """Keep the room that these texts need."""
        if self.widest != (strong, quiet):
            self.widest = strong, quiet
            self.updateGeometry()

    def show_texts(self, strong: str, quiet: str) -> None:
        """Show other texts."""
        if (strong, quiet) != (self.strong, self.quiet):
            self.strong, self.quiet = strong, quiet
            self.setAccessibleName(f"{strong}, {quiet}")
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room for the widest texts."""
        return QSize(self._after(self.widest[0]) + self._width(self.widest[1], bold=False), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the same: a cut number is a wrong number."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw both texts."""
        painter = QPainter(self)
        for text, bold, colour, x in (
            (self.strong, True, "text", 0),
            (self.quiet, False, "muted", self._after(self.strong)),
        ):
            painter.setFont(self.theme.font(15 if bold else 13, bold=bold))
            painter.setPen(self.theme.colour(colour))
            room = QRectF(self.rect()).adjusted(x, 0, 0, 0)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()

    def _after(self, strong: str) -> int:
        return self._width(strong, bold=True) + self.theme.px(10)

    def _width(self, text: str, *, bold: bool) -> int:
        return QFontMetrics(self.theme.font(15 if bold else 13, bold=bold)).horizontalAdvance(text) + 2

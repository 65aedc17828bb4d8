"""The colours and signs of kernels in charts, and the painter of figures.

The colours differ from those of Okabe and Ito, which stand for kinds of access everywhere else. Each kernel also
has its own sign.
"""

from __future__ import annotations

import math

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from ...model.visible_text import escape_controls
from ...widgets.theme import Theme

COLOURS = {
    "light": ("#3D348B", "#8C1C43", "#6B6B1A", "#7A4B24", "#3E5C73", "#8B3FB5", "#23512F", "#A1456B"),
    "dark": ("#A79BFF", "#FF9DA8", "#CFCF74", "#DDB083", "#A5BED1", "#D3A4F5", "#8FD1A0", "#F2C4DC"),
}
SIGNS = ("circle", "square", "diamond", "up", "down", "pentagon", "plus", "cross")
DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


class Ink(Struct, frozen=True):
    """A painter with the theme of its texts. Lengths are in pixels at the theme's text scale."""

    painter: QPainter
    theme: Theme

    def px(self, size: float) -> float:
        """Scale a length, without rounding, so that figures of any size look alike."""
        return size * self.theme.scale

    def font(self, size: float = 13, *, bold: bool = False) -> QFont:
        """Return a font."""
        return self.theme.font(size, bold=bold)

    def width(self, text: str, size: float = 13, *, bold: bool = False) -> float:
        """Return the width of a text."""
        return QFontMetricsF(self.font(size, bold=bold)).horizontalAdvance(escape_controls(text))

    def height(self, size: float = 13) -> float:
        """Return the height of a line of text."""
        return QFontMetricsF(self.font(size)).height()

    def elided(self, text: str, width: float, size: float = 13, *, bold: bool = False) -> str:
        """Shorten a text to a width."""
        metrics = QFontMetricsF(self.font(size, bold=bold))
        return metrics.elidedText(escape_controls(text), Qt.TextElideMode.ElideRight, width)

    def text(
        self,
        box: QRectF,
        text: str,
        size: float = 13,
        *,
        ink: str = "text",
        bold: bool = False,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        """Write one line, vertically centred in a box, and shorten it if it is too long."""
        self.painter.setFont(self.font(size, bold=bold))
        self.painter.setPen(self.theme.colour(ink))
        shown = self.elided(text, box.width() + 1, size, bold=bold)
        self.painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)

    def line(self, x0: float, y0: float, x1: float, y1: float, ink: str = "border", width: float = 1) -> None:
        """Draw a straight line."""
        self.painter.setPen(QPen(self.theme.colour(ink), self.px(width)))
        self.painter.drawLine(QPointF(x0, y0), QPointF(x1, y1))

    def colour(self, slot: int) -> QColor:
        """Return the colour of a kernel by its slot."""
        colours = COLOURS["dark" if self.theme.name == "dark" else "light"]
        return QColor(colours[slot % len(colours)])

    def sign(
        self, place: QPointF, slot: int, size: float = 5, *, hollow: bool = False, style: int = 0
    ) -> None:
        """Draw a kernel's sign; after the last one, signs and colours are combined differently.

        style: the number of the measurement, which is the number of rings around the sign.
        """
        self.painter.setPen(QPen(self.colour(slot), self.px(1.2)))
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        for ring in range(style):
            self.painter.drawEllipse(
                place, self.px(size + 3.5 + 2.5 * ring), self.px(size + 3.5 + 2.5 * ring)
            )
        self.painter.setPen(QPen(self.colour(slot), self.px(1.6)))
        self.painter.setBrush(QBrush(self.theme.colour("panel") if hollow else self.colour(slot)))
        draw_sign(self.painter, SIGNS[(slot + slot // len(SIGNS)) % len(SIGNS)], place, self.px(size))

    def badge(self, place: QPointF, text: str, size: float = 11) -> float:
        """Draw a mark such as "measured" to the right of a point; return its width."""
        width, height = self.width(text, size) + self.px(10), self.height(size) + self.px(2)
        box = QRectF(place.x(), place.y() - height / 2, width, height)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(self.theme.colour("badge"))
        self.painter.drawRoundedRect(box, self.px(4), self.px(4))
        self.text(box, text, size, ink="muted", align=Qt.AlignmentFlag.AlignHCenter)
        return width


def draw_sign(painter: QPainter, name: str, place: QPointF, size: float) -> None:
    """Draw a sign around a point with the painter's pen and brush."""
    if name == "circle":
        painter.drawEllipse(place, size, size)
    elif name in ("plus", "cross"):
        for turn in (0, 2):
            angle = math.pi / 4 * (turn + (name == "cross"))
            arm = QPointF(math.cos(angle), math.sin(angle)) * size * 1.15
            painter.drawLine(place - arm, place + arm)
    else:
        corners, turn = {
            "square": (4, 1),
            "diamond": (4, 0),
            "up": (3, 0),
            "down": (3, 3),
            "pentagon": (5, 0),
        }[name]
        steps = [
            2 * math.pi * n / corners + math.pi * turn / (4 if corners == 4 else 3) for n in range(corners)
        ]
        points = [place + QPointF(math.sin(step), -math.cos(step)) * size * 1.2 for step in steps]
        painter.drawPolygon(QPolygonF(points))


def wrapped(ink: Ink, text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Wrap a text into lines of this width."""
    lines: list[str] = []
    for word in text.split():
        if lines and ink.width(f"{lines[-1]} {word}", size, bold=bold) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

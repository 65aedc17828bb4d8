"""The theme as pens, brushes and symbols of pyqtgraph.

The colours of kernels differ from those of Okabe and Ito, which stand for kinds of access everywhere else. Each
kernel also has its own symbol.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from ...widgets.theme import Theme
from .library import Symbols, drawSymbol, pg

# A limited rate would lose the last place of the pointer.
pg.setConfigOptions(antialias=True, exitCleanup=False, mouseRateLimit=0)
COLOURS = {
    "light": ("#3D348B", "#8C1C43", "#6B6B1A", "#7A4B24", "#3E5C73", "#8B3FB5", "#23512F", "#A1456B"),
    "dark": ("#A79BFF", "#FF9DA8", "#CFCF74", "#DDB083", "#A5BED1", "#D3A4F5", "#8FD1A0", "#F2C4DC"),
}
# Names of pyqtgraph; its "d" is narrower and its "s" is larger than the others, so ours replace them.
SYMBOLS = ("o", "square", "rhombus", "t1", "t", "p", "+", "x")
DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
SIZE = 10.5  # pixels: of a symbol
TINT = 0.28  # opacity of bars


def _register(name: str, corners: tuple[tuple[float, float], ...]) -> None:
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
    path.closeSubpath()
    Symbols[name] = path


_register("rhombus", ((0, -0.6), (0.6, 0), (0, 0.6), (-0.6, 0)))
_register("square", ((-0.43, -0.43), (0.43, -0.43), (0.43, 0.43), (-0.43, 0.43)))


def colour_of(theme: Theme, slot: int, opacity: float = 1.0) -> QColor:
    """Return the colour of a kernel by its slot."""
    colours = COLOURS["dark" if theme.name == "dark" else "light"]
    colour = QColor(colours[slot % len(colours)])
    colour.setAlphaF(opacity)
    return colour


def symbol_of(slot: int) -> str:
    """Return the symbol of a kernel; after the last one, symbols and colours are combined differently."""
    return SYMBOLS[(slot + slot // len(SYMBOLS)) % len(SYMBOLS)]


def pen_of(
    theme: Theme, colour: str | QColor, width: float = 1.0, dash: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> QPen:
    """Return a pen whose width in pixels follows the text size; colour: of the palette, or a QColor."""
    ink = theme.colour(colour) if isinstance(colour, str) else colour
    pen: QPen = pg.mkPen(ink, width=width * theme.scale * theme.pixel_ratio, style=dash)
    return pen


def draw_symbol(painter: QPainter, theme: Theme, slot: int, place: QPointF, size: float = SIZE) -> None:
    """Draw the symbol of a kernel around a point."""
    painter.save()
    painter.translate(place)
    colour = colour_of(theme, slot)
    drawSymbol(painter, symbol_of(slot), size, pg.mkPen(colour, width=1), pg.mkBrush(colour))
    painter.restore()

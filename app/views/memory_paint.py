"""Brushes for the memory view: sheets of cells, outlines, frames, arcs, texts, colour scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from ..theme import Theme
from . import cells
from .flights import Arcs
from .frames import Part
from .layout import Box, Place
from .marks import Path

VALUES = pg.colormap.get("cividis").getLookupTable(nPts=256, alpha=False)
# Light to dark on paper, dark to light on black: more reads always stand out more from the unread cells.
READS = {
    "light": np.array([(183, 216, 240), (84, 160, 212), (0, 92, 148), (0, 46, 82)], np.uint8),
    "dark": np.array([(27, 88, 132), (64, 148, 205), (140, 205, 243), (226, 244, 255)], np.uint8),
}


def colour_table(theme: Theme, by_reads: bool) -> NDArray[np.uint32]:
    """Return the pixels of all codes of a cell."""
    scale = READS[theme.name] if by_reads else VALUES
    outside, unread = theme.colour("panel").getRgb()[:3], theme.colour("cell_unread").getRgb()[:3]
    return cells.table(scale, outside, unread)


def rect(box: Box) -> QRectF:
    """Return a box as Qt's."""
    return QRectF(box.x, box.y, box.width, box.height)


def seen(place: Place, window: Box) -> Part:
    """Return the cells that lie in the window, at least in part."""
    row0, row1 = ((edge - place.y) / place.cell for edge in (window.y, window.bottom))
    col0, col1 = ((edge - place.x) / place.cell for edge in (window.x, window.right))
    rows, cols = place.sheet.rows, place.sheet.cols
    low = [min(max(math.floor(v), 0), n) for v, n in ((row0, rows), (col0, cols))]
    high = [min(max(math.ceil(v), 0), n) for v, n in ((row1, rows), (col1, cols))]
    return Part(low[0], low[1], max(low[0], high[0]), max(low[1], high[1]))


def part_rect(place: Place, part: Part) -> QRectF:
    """Return where a part of a sheet stands."""
    return QRectF(
        place.x + part.col0 * place.cell,
        place.y + part.row0 * place.cell,
        (part.col1 - part.col0) * place.cell,
        (part.row1 - part.row0) * place.cell,
    )


def draw_cells(
    painter: QPainter, place: Place, codes: cells.Codes, table: NDArray[np.uint32], theme: Theme, window: Box
) -> None:
    """Draw a sheet's cells in the window; hatched where nothing was written, with lines between large cells."""
    part = seen(place, window)
    if part.row0 >= part.row1 or part.col0 >= part.col1:
        return
    target, ratio = part_rect(place, part), painter.device().devicePixelRatioF()
    codes = codes[part.row0 : part.row1, part.col0 : part.col1]
    if (codes == cells.POISON).any():
        _draw_hatch(painter, target, theme)
    size = place.cell * ratio
    small = cells.shrunk(codes, math.floor(1 / size) if size < 1 else 1)
    dots = cells.pixels(small, table)
    image = QImage(dots.data, dots.shape[1], dots.shape[0], dots.strides[0], QImage.Format.Format_ARGB32_Premultiplied)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, size < 2)
    painter.drawImage(target, image, QRectF(0, 0, dots.shape[1] * codes.shape[1] / (small.shape[1] * max(1, -(-codes.shape[1] // small.shape[1]))), dots.shape[0]))
    if size >= 4:
        _draw_grid(painter, place, part, theme, ratio)


def _draw_hatch(painter: QPainter, target: QRectF, theme: Theme) -> None:
    """Fill with the colour of poison and thin diagonals."""
    painter.fillRect(target, theme.colour("cell_poison"))
    painter.save()
    painter.setClipRect(target)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    colour = theme.colour("muted")
    colour.setAlpha(90)
    painter.setPen(QPen(colour, 1.0))
    step, height = float(theme.px(6)), target.height()
    count = int((target.width() + height) / step) + 1
    starts = [target.left() - height + i * step for i in range(count + 1)]
    painter.drawLines([QLineF(x, target.bottom(), x + height, target.top()) for x in starts])
    painter.restore()


def _draw_grid(painter: QPainter, place: Place, part: Part, theme: Theme, ratio: float) -> None:
    """Draw thin lines between the cells, fainter where cells are small."""
    colour = theme.colour("grid")
    colour.setAlphaF(min(0.9, 0.10 * place.cell * min(1.0, ratio)))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(colour, 1 / ratio))
    box = part_rect(place, part)
    xs = [place.x + c * place.cell for c in range(part.col0, part.col1 + 1)]
    ys = [place.y + r * place.cell for r in range(part.row0, part.row1 + 1)]
    painter.drawLines([QLineF(x, box.top(), x, box.bottom()) for x in xs])
    painter.drawLines([QLineF(box.left(), y, box.right(), y) for y in ys])

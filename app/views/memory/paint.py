"""Brushes for the memory view: cells, outlines, footprints, loads on their way."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPolygonF

from ....tracer.model.array_types import Floats, Ints
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, contrasting
from ..common import cell_colours
from ..common.colour_scales import HEAT, READS, VALUES
from ..common.dimming import draw_partly, faintly
from ..common.drawing import draw_hatch, is_vector, on_panel, pen
from ..common.geometry import Box
from . import outlines
from .footprints import CellRect, Footprint
from .layout.buffer_place import BufferPlace
from .lit_cells import LitCells
from .view_data import AccessMark, LoadsInFlight

# A point of a path as Qt streams it: whether a line leads to it from the one before, and where it lies.
ELEMENT = np.dtype([("joined", ">i4"), ("x", ">f8"), ("y", ">f8")])
GRID_FROM, SHAPES_FROM = 4.0, 8.0  # sides of a cell from which these are drawn, in pixels
IMAGE_GRID_FROM = 16.0  # of an image, which lines between its pixels would grey
MOST_RECTANGLES = 2048  # pixels of a sheet that are drawn one by one on paper
SHARP = 256  # pixels along an image on paper, from which on a reader that smooths it does no harm
MOST_SIGNS = 3  # exclamation marks at the elements of a race
BEND = 0.14  # how far an arc leaves the straight line, as a share of its length


def colour_table(theme: Theme, measure: str) -> NDArray[np.uint32]:
    """Return the pixels of all codes of a cell."""
    dark = "dark" if theme.name == "dark" else "light"
    scale = {"value": VALUES, "reads": READS[dark]}.get(measure, HEAT[dark])
    return cell_colours.table(scale, _rgb(theme, "panel"), _rgb(theme, "cell_unread"))


def _rgb(theme: Theme, name: str) -> tuple[float, float, float]:
    colour = theme.colour(name)
    return colour.red(), colour.green(), colour.blue()


def seen(place: BufferPlace, window: Box) -> CellRect:
    """Return the cells that lie in the window, at least in part."""
    rows = [(edge - place.y) / place.row for edge in (window.y, window.bottom)]
    cols = [(edge - place.x) / place.cell for edge in (window.x, window.right)]
    row0, row1 = (min(max(v, 0), place.sheet.rows) for v in (math.floor(rows[0]), math.ceil(rows[1])))
    col0, col1 = (min(max(v, 0), place.sheet.cols) for v in (math.floor(cols[0]), math.ceil(cols[1])))
    return CellRect(row0, col0, max(row0, row1), max(col0, col1))


def part_rect(place: BufferPlace, part: CellRect) -> QRectF:
    """Return where a part of a sheet stands."""
    x, y = place.x + part.col0 * place.cell, place.y + part.row0 * place.row
    return QRectF(x, y, (part.col1 - part.col0) * place.cell, (part.row1 - part.row0) * place.row)


class Dots(NamedTuple):
    """Part of a sheet as pixels."""

    part: CellRect  # the cells
    step: int  # each pixel stands for step x step cells
    codes: cell_colours.Codes  # (rows, columns) of pixels; none of an image
    pixels: NDArray[np.uint32]  # (rows, columns), 0xAARRGGBB
    hatched: bool  # whether some cells show what is below


def cells_per_dot(place: BufferPlace, ratio: float) -> int:
    """Return how many cells, in a row, share a pixel of the picture of a sheet."""
    return max(1, math.floor(1 / (place.cell * ratio)))


def dots_of(codes: cell_colours.Codes, part: CellRect, step: int, table: NDArray[np.uint32]) -> Dots:
    """Return the pixels of a part of a sheet."""
    codes = codes[part.row0 : part.row1, part.col0 : part.col1]
    shown = cell_colours.shrunk(codes, step)
    return Dots(
        part, step, shown, cell_colours.pixels(shown, table), bool((codes == cell_colours.POISON).any())
    )


def image_dots(image: NDArray[np.uint32], part: CellRect, step: int) -> Dots:
    """Return the pixels of a part of an image; of those that share a dot, the first."""
    shown = np.ascontiguousarray(image[part.row0 : part.row1 : step, part.col0 : part.col1 : step])
    none = np.empty((0, 0), np.uint8)
    return Dots(part, step, none, shown, not shown.all())


def draw_cells(painter: QPainter, place: BufferPlace, dots: Dots, theme: Theme) -> None:
    """Draw cells, hatched where nothing was written, with lines between large ones."""
    if not dots.pixels.size:
        return
    target, side = part_rect(place, dots.part), min(place.cell, place.row) * painter.deviceTransform().m11()
    if dots.hatched:
        draw_hatch(painter, target, theme)
    height, width = dots.pixels.shape
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, side < 2)
    wide, tall = dots.step * place.cell, dots.step * place.row
    shown = QRectF(target.x(), target.y(), width * wide, height * tall)
    if dots.step == 1:
        _draw_dots(painter, shown, dots.pixels)
    else:  # the last dots may stand for fewer cells than the others
        painter.save()
        painter.setClipRect(target, Qt.ClipOperation.IntersectClip)
        _draw_dots(painter, shown, dots.pixels)
        painter.restore()
    fine = GRID_FROM if dots.codes.size else IMAGE_GRID_FROM
    if min(place.cell, place.row) >= fine:  # on a sharper screen too, so that all show the same picture
        _draw_grid(painter, place, dots.part, theme)


def _draw_dots(painter: QPainter, box: QRectF, pixels: NDArray[np.uint32]) -> None:
    """Draw the pixels of cells over a box; on paper as rectangles, and many as an image that no reader blurs."""
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    if not is_vector(painter):
        painter.drawImage(box, image)
    elif pixels.size > MOST_RECTANGLES:
        times = max(1, SHARP // max(width, height))
        painter.drawImage(box, image.scaled(times * width, times * height))
    else:
        wide, tall = box.width() / width, box.height() / height
        for row, cells in enumerate(pixels):
            edges = [0, *(np.flatnonzero(np.diff(cells)) + 1).tolist(), width]
            for first, end in pairwise(edges):
                place = QRectF(box.x() + first * wide, box.y() + row * tall, (end - first) * wide, tall)
                painter.fillRect(place, QColor.fromRgba(int(cells[first])))


def _draw_grid(painter: QPainter, place: BufferPlace, part: CellRect, theme: Theme) -> None:
    """Draw thin lines between cells, fainter where cells are small."""
    box, ratio = part_rect(place, part), painter.deviceTransform().m11()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(pen(theme.palette.grid, 1 / ratio, round(255 * min(0.9, 0.07 * place.cell))))
    xs = [place.x + c * place.cell for c in range(part.col0, part.col1 + 1)]
    ys = [place.y + r * place.row for r in range(part.row0, part.row1 + 1)]
    painter.drawLines([QLineF(x, box.top(), x, box.bottom()) for x in xs])
    painter.drawLines([QLineF(box.left(), y, box.right(), y) for y in ys])


def path_of(place: BufferPlace, path: outlines.CellPath) -> QPainterPath:
    """Return a path in cells as one in pixels.

    It is read from a stream, as Qt writes paths: a call from Python for every point takes four times as long.
    """
    points = np.empty(len(path.x), ELEMENT)
    points["x"] = place.x + path.x * place.cell
    points["y"] = place.y + path.y * place.row
    points["joined"][:1], points["joined"][1:] = 0, path.joined[:-1]
    found = QPainterPath()
    stream = QDataStream(
        QByteArray(struct.pack(">i", len(points)) + points.tobytes() + struct.pack(">ii", 0, 0))
    )
    stream >> found
    return found


def draw_mark(
    painter: QPainter, place: BufferPlace, mark: AccessMark, theme: Theme, strength: float = 1.0
) -> None:
    """Draw accessed cells: a load as an outline, a store as a filled corner, an atomic as a diamond.

    strength: below 1 they are drawn that faintly.
    """
    edge, colour = path_of(place, outlines.outline(mark.rows, mark.cols)), theme.colour(mark.kind)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(strength)
    if mark.own:
        painter.strokePath(edge, pen("#FFFFFF", 4.0))
    if not mark.kind.endswith("load"):
        painter.setOpacity(strength if mark.own else 0.4 * strength)
        painter.fillPath(path_of(place, _filled(place, mark)), colour)
        painter.setOpacity(strength)
    painter.strokePath(edge, pen(colour, 2.0 if mark.own else 1.0, 255 if mark.own else 150))
    painter.setOpacity(1.0)


def draw_race_frame(painter: QPainter, place: BufferPlace, rows: Ints, cols: Ints, theme: Theme) -> None:
    """Draw a frame around cells that are raced for, wider than that of an access, which stands on it."""
    edge = path_of(place, outlines.outline(rows, cols))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 9.0))
    painter.strokePath(edge, pen(theme.palette.bad, 7.0))


def draw_race_signs(painter: QPainter, place: BufferPlace, rows: Ints, cols: Ints, theme: Theme) -> None:
    """Draw exclamation marks on some cells that are raced for."""
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_SIGNS)).round().astype(int))
    for row, col in zip(rows[some].tolist(), cols[some].tolist(), strict=True):
        draw_race_sign(painter, place.x + (col + 1) * place.cell, place.y + row * place.row, theme)


def draw_race_sign(painter: QPainter, x: float, y: float, theme: Theme) -> None:
    """Draw an exclamation mark in a disc around a point."""
    side = float(theme.px(13))
    box = QRectF(x - side / 2, y - side / 2, side, side)
    painter.setPen(pen(theme.palette.panel, 1.5))
    painter.setBrush(theme.colour("bad"))
    painter.drawEllipse(box)
    painter.setFont(theme.font(10, bold=True))
    painter.setPen(contrasting(theme.colour("bad")))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "!")
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _filled(place: BufferPlace, mark: AccessMark) -> outlines.CellPath:
    """Return the part of the cells that is filled; all of it where cells are too small for a shape."""
    shape = outlines.DIAMOND if mark.kind == "atomic" else outlines.TRIANGLE
    return outlines.shapes(mark.rows, mark.cols, shape if place.cell >= SHAPES_FROM else outlines.SQUARE)


def draw_footprint(
    painter: QPainter,
    place: BufferPlace,
    footprint: Footprint,
    theme: Theme,
    keep: float = 1.0,
    *,
    strong: bool,
) -> None:
    """Draw the outline of cells of a sheet: strong for the phase, thin for the block.

    keep: how much is left of it; a colour that is mixed takes Qt a tenth of the time of a faint line.
    """
    width = 2.0 if strong else 1.0
    ink = mixed(theme.colour("panel"), theme.palette.text, keep)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for style in (*([pen(theme.palette.panel, width + 2.0)] if keep == 1 else []), pen(ink, width)):
        painter.setPen(style)
        if footprint.outline is None:
            painter.drawRect(part_rect(place, footprint.part))  # much faster than a path
        else:
            painter.drawPath(path_of(place, footprint.outline))


def draw_lit(
    painter: QPainter,
    place: BufferPlace,
    cells: LitCells | None,
    keep: float,
    draw: Callable[[], None],
) -> None:
    """Draw a buffer so that so much is left of all but the cells that stand out."""
    if cells is not None and cells.elements is not None:
        draw_partly(painter, _shape_of(place, cells.shape), keep, draw)
    else:
        with faintly(painter, keep if cells is None else 1.0):
            draw()


def _shape_of(place: BufferPlace, shape: Footprint) -> QPainterPath:
    """Return the outline of cells in pixels."""
    if shape.outline is not None:
        return path_of(place, shape.outline)
    found = QPainterPath()
    found.addRect(part_rect(place, shape.part))
    return found


def _frame_width(place: BufferPlace) -> float:
    """Return how wide a frame around cells that stand out is, in pixels: thin where it would hide their neighbours."""
    return 2.0 if min(place.cell, place.row) < 12 else min(max(3.0, place.cell / 14), 6.0)


def draw_lit_frame(painter: QPainter, place: BufferPlace, shape: Footprint, theme: Theme) -> None:
    """Draw the frame of cells that stand out: around them, so that all of each cell is seen."""
    edge, around, wide = _shape_of(place, shape), QPainterPath(), _frame_width(place)
    around.addRect(
        part_rect(place, CellRect(0, 0, place.sheet.rows, place.sheet.cols)).adjusted(-9, -9, 9, 9)
    )
    around.addPath(edge)  # odd and even: all but the cells
    painter.save()
    painter.setClipPath(around, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 2 * wide + 4))  # of which half is seen
    painter.strokePath(edge, pen(theme.palette.text, 2 * wide))
    painter.restore()


def draw_written(painter: QPainter, place: BufferPlace, elements: NDArray[np.int64], theme: Theme) -> None:
    """Draw a small frame around the elements that the selected thread writes."""
    edge = path_of(place, outlines.outline(*outlines.distinct(*place.sheet.cells(elements))))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 4.0))
    painter.strokePath(edge, pen(theme.palette.text, 2.0))


class Arcs(NamedTuple):
    """Quadratic Bezier curves: start, control and end points, each of shape (n, 2), in pixels."""

    start: Floats
    control: Floats
    end: Floats

    def at(self, fraction: float) -> Floats:
        """Return the points that are this far (0 to 1) on their way, slow at both ends."""
        t = fraction * fraction * (3 - 2 * fraction)
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t * t * self.end


def arcs(start: Floats, end: Floats) -> Arcs:
    """Return gentle arcs between points (n, 2): all bend to the same side of their direction."""
    way = end - start
    aside = np.stack([-way[:, 1], way[:, 0]], axis=1) * BEND
    # Upwards on the page, whichever way the element goes: arcs side by side then do not cross.
    aside[aside[:, 1] > 0] *= -1
    return Arcs(start, (start + end) / 2 + aside, end)


def merged(start: Floats, end: Floats, most: int = 12) -> tuple[Floats, Floats]:
    """Return each (start, end) once; if there are more than `most`, that many of them, evenly picked."""
    pairs = np.unique(np.concatenate([start, end], axis=1).round(1), axis=0)
    if len(pairs) > most:
        pairs = pairs[np.linspace(0, len(pairs) - 1, most).round().astype(int)]
    return pairs[:, :2], pairs[:, 2:]


def draw_load_arcs(painter: QPainter, loads: LoadsInFlight, theme: Theme) -> None:
    """Draw where the loads of the selected warp go: thin dashed arcs, a stronger one for the selected thread."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for chosen, width, alpha in ((False, 1.0, 150), (True, 2.0, 255)):
        wanted = loads.own & (loads.chosen == chosen)
        style = pen(on_panel(loads.kind, theme), width, alpha)
        style.setDashPattern([4, 3])
        painter.strokePath(_curves(*merged(loads.start[wanted], loads.end[wanted])), style)


def _curves(start: NDArray[np.float64], end: NDArray[np.float64]) -> QPainterPath:
    path, curves = QPainterPath(), arcs(start, end)
    for begin, middle, stop in zip(
        curves.start.tolist(), curves.control.tolist(), curves.end.tolist(), strict=True
    ):
        path.moveTo(*begin)
        path.quadTo(*middle, *stop)
    return path


def draw_moving_loads(painter: QPainter, loads: LoadsInFlight, fraction: float, theme: Theme) -> None:
    """Draw the loads of a moment as small, translucent squares on their way: those of the selected warp larger."""
    points, unit = arcs(loads.start, loads.end).at(fraction), theme.px(10) / 10
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    colour, strength = on_panel(loads.kind, theme), painter.opacity()
    for own, size, opacity in ((False, 2.0, 0.3), (True, 4.0, 0.6)):
        # of all of them together: where many pass, what is below stays in sight
        painter.setOpacity(opacity * strength)
        _draw_squares(painter, points[loads.own == own], pen(colour, size * unit))
    painter.setOpacity(strength)


def _polygon(points: NDArray[np.float64]) -> QPolygonF:
    """Return points (n, 2) as Qt's, read from a stream too."""
    found = QPolygonF()
    stream = QDataStream(QByteArray(struct.pack(">i", len(points)) + points.astype(">f8").tobytes()))
    stream >> found
    return found


def _draw_squares(painter: QPainter, points: NDArray[np.float64], style: QPen) -> None:
    if len(points):
        painter.setPen(style)
        painter.drawPoints(_polygon(points))


def draw_ring(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the ring of the keyboard's focus just inside a box."""
    painter.setPen(pen(theme.palette.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(1, 1, -1, -1))

"""Brushes for the memory view: cells, outlines, footprints."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QDataStream, QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from ....tracer.model.array_types import Ints
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, contrasting
from ..common import cell_colours
from ..common.colour_scales import HEAT, READS, VALUES
from ..common.dimming import draw_partly, faintly
from ..common.drawing import clipped, draw_hatch, is_vector, is_written_down, pen
from ..common.geometry import Box
from . import outlines
from .footprints import Footprint
from .layout.buffer_place import BufferPlace
from .layout.ghosts import Ghost
from .lit_cells import LitCells
from .outlines import CellRect
from .view_data import AccessMark

# A point of a path as Qt streams it: whether a line leads to it from the one before, and where it lies.
ELEMENT = np.dtype([("joined", ">i4"), ("x", ">f8"), ("y", ">f8")])
SHORT = 24  # points of a path, up to which it is made point by point
GRID_FROM, SHAPES_FROM = 4.0, 8.0  # sides of a cell from which these are drawn, in pixels
IMAGE_GRID_FROM = 16.0  # of an image, which lines between its pixels would grey
MOST_RECTANGLES = 2048  # pixels of a sheet that are drawn one by one on paper
SHARP = 256  # pixels along an image on paper, from which on a reader that smooths it does no harm
GHOST_TEXT = 10  # the size of the index of a cell outside an array
MOST_SIGNS = 3  # exclamation marks at the elements of a race
SIGN, FRAME = 13, 9.0  # pixels: an exclamation mark, and the most that a frame reaches beyond its cells


@lru_cache(maxsize=16)
def colour_table(theme: Theme, measure: str) -> NDArray[np.uint32]:
    """Return the pixels of all codes of a cell; nobody may change them."""
    dark = "dark" if theme.name == "dark" else "light"
    scale = {"value": VALUES[dark], "reads": READS[dark]}.get(measure, HEAT[dark])
    table = cell_colours.table(scale, _rgb(theme, "panel"), _rgb(theme, "cell_unread"))
    table.flags.writeable = False
    return table


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


class Hatch(NamedTuple):
    """The hatch of memory that nobody has written, as a picture."""

    corner: QPointF
    picture: QPixmap


def hatch_of(target: QRectF, size: tuple[int, int], ratio: float, theme: Theme) -> Hatch:
    """Return the hatch that fills a box of a view of this size, at so many device pixels to a logical one."""
    # On the grid of logical pixels and, at the usual ratios, of those of the device.
    left, top = (max(0.0, 4.0 * math.floor(edge / 4)) for edge in (target.left(), target.top()))
    whole = QPixmap(*(max(1, round(length * ratio)) for length in size))
    whole.setDevicePixelRatio(ratio)
    whole.fill(theme.colour("panel"))
    painter = QPainter(whole)
    draw_hatch(painter, target, theme)  # where it stands: elsewhere it would be rounded otherwise
    painter.end()
    edges = (target.right() - left + 1, target.bottom() - top + 1)
    part = QRect(round(left * ratio), round(top * ratio), *(math.ceil(edge * ratio) for edge in edges))
    return Hatch(QPointF(left, top), whole.copy(part.intersected(whole.rect())))


def draw_cells(
    painter: QPainter, place: BufferPlace, dots: Dots, theme: Theme, hatch: Hatch | None = None
) -> None:
    """Draw cells, hatched where nothing was written, with lines between large ones.

    hatch: what is below them, where there is a picture of it, drawn on the panel.
    """
    if not dots.pixels.size:
        return
    target, side = part_rect(place, dots.part), min(place.cell, place.row) * painter.deviceTransform().m11()
    if hatch is not None:
        painter.drawPixmap(hatch.corner, hatch.picture)
    elif dots.hatched:
        draw_hatch(painter, target, theme)
    height, width = dots.pixels.shape
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, side < 2)
    wide, tall = dots.step * place.cell, dots.step * place.row
    shown = QRectF(target.x(), target.y(), width * wide, height * tall)
    if dots.step == 1:
        _draw_dots(painter, shown, dots.pixels)
    else:  # the last dots may stand for fewer cells than the others
        with clipped(painter, target):
            _draw_dots(painter, shown, dots.pixels)
    fine = GRID_FROM if dots.codes.size else IMAGE_GRID_FROM
    if min(place.cell, place.row) >= fine:  # on a sharper screen too, so that all show the same picture
        _draw_grid(painter, place, dots.part, theme)


def changed_part(place: BufferPlace, before: Dots, now: Dots, ratio: float) -> QRectF:
    """Return where the cells of a buffer look otherwise than before, at so many device pixels to a logical one."""
    if before[:2] != now[:2] or before.hatched != now.hatched or before.pixels.shape != now.pixels.shape:
        return part_rect(place, now.part).united(part_rect(place, before.part))
    other = before.pixels != now.pixels
    rows, cols = other.any(axis=1).nonzero()[0], other.any(axis=0).nonzero()[0]
    if not len(rows):
        return QRectF()
    wide, tall, whole = now.step * place.cell, now.step * place.row, part_rect(place, now.part)
    around = (
        max(wide, tall) if min(place.cell, place.row) * ratio < 2 else 0.0
    )  # where dots run into each other
    left, top = whole.x() + int(cols[0]) * wide, whole.y() + int(rows[0]) * tall
    width, height = (int(cols[-1]) + 1 - int(cols[0])) * wide, (int(rows[-1]) + 1 - int(rows[0])) * tall
    return QRectF(left, top, width, height).adjusted(-around, -around, around, around)


def _draw_dots(painter: QPainter, box: QRectF, pixels: NDArray[np.uint32]) -> None:
    """Draw the pixels of cells over a box; on paper as rectangles, and many as an image that no reader blurs."""
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    if not is_vector(painter) or is_written_down(painter):
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
    ratio = painter.deviceTransform().m11()
    line = pen(theme.palette.grid, 1 / ratio, round(255 * min(0.9, 0.07 * place.cell)))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if is_vector(painter):
        xs, ys = lines_of(place, part)
        painter.setPen(line)
        painter.drawLines([QLineF(x, ys[0], x, ys[-1]) for x in xs])
        painter.drawLines([QLineF(xs[0], y, xs[-1], y) for y in ys])
    else:
        draw_grid_pixels(painter, grid_pixels(place, part, ratio, line.color().rgba()), ratio)


def lines_of(place: BufferPlace, part: CellRect) -> tuple[list[float], list[float]]:
    """Return where the lines between the cells of a part of a sheet stand, upright ones and level ones."""
    xs = [place.x + c * place.cell for c in range(part.col0, part.col1 + 1)]
    return xs, [place.y + r * place.row for r in range(part.row0, part.row1 + 1)]


class GridPixels(NamedTuple):
    """The pixels that the lines of a grid have, on the grid of the device."""

    box: QRect  # around all of them
    upright: QPixmap  # one row of those of the upright lines, which is repeated from top to bottom
    level: list[QRect]  # the level lines
    colour: QColor


@lru_cache(maxsize=64)
def grid_pixels(place: BufferPlace, part: CellRect, ratio: float, colour: int) -> GridPixels:
    """Return the pixels of the lines between cells, at so many device pixels to a logical one."""
    columns, rows = ([math.floor(at * ratio) for at in ends] for ends in lines_of(place, part))
    wide, tall, ink = columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1, QColor.fromRgba(colour)
    upright = QPixmap(wide, 1)
    upright.fill(Qt.GlobalColor.transparent)
    painter = QPainter(upright)
    for x in columns:
        painter.fillRect(x - columns[0], 0, 1, 1, ink)
    painter.end()
    level = [QRect(columns[0], y, wide, 1) for y in rows]
    return GridPixels(QRect(columns[0], rows[0], wide, tall), upright, level, ink)


def draw_grid_pixels(painter: QPainter, grid: GridPixels, ratio: float) -> None:
    """Fill the pixels of a grid: lines would fill the same, but Qt fills upright ones pixel by pixel."""
    painter.save()
    painter.scale(1 / ratio, 1 / ratio)
    painter.drawTiledPixmap(grid.box, grid.upright)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(grid.colour)
    painter.drawRects(grid.level)
    painter.restore()


def _short_path(place: BufferPlace, path: outlines.CellPath) -> QPainterPath:
    found, joined = QPainterPath(), False
    xs, ys = (place.x + path.x * place.cell).tolist(), (place.y + path.y * place.row).tolist()
    for x, y, goes_on in zip(xs, ys, path.joined.tolist(), strict=True):
        found.lineTo(x, y) if joined else found.moveTo(x, y)
        joined = bool(goes_on)
    return found


def path_of(place: BufferPlace, path: outlines.CellPath) -> QPainterPath:
    """Return a path in cells as one in pixels.

    It is read from a stream, as Qt writes paths: a call from Python for every point takes four times as long.
    """
    if len(path.x) <= SHORT:
        return _short_path(place, path)
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


class DrawnMark(NamedTuple):
    """Accessed cells as they are drawn."""

    kind: str  # of the requests
    own: bool  # whether by the selected warp
    edge: QPainterPath
    filled: QPainterPath | None  # None for loads
    strength: float  # below 1 they are drawn that faintly
    box: QRectF  # around all of it


def drawn_mark(place: BufferPlace, mark: AccessMark, strength: float = 1.0) -> DrawnMark:
    """Return how accessed cells are drawn."""
    part = outlines.extent(mark.rows, mark.cols)
    edge = path_of(place, outlines.outline_in(part, mark.rows, mark.cols))
    filled = None if mark.kind.endswith("load") else path_of(place, _filled(place, mark))
    box = part_rect(place, part).adjusted(-3, -3, 3, 3)
    return DrawnMark(mark.kind, mark.own, edge, filled, strength, box)


def cells_rect(place: BufferPlace, rows: Ints, cols: Ints, around: float) -> QRectF:
    """Return the rectangle of some cells, of which there is one at least, and so many pixels around it."""
    return part_rect(place, outlines.extent(rows, cols)).adjusted(-around, -around, around, around)


def draw_mark(painter: QPainter, mark: DrawnMark, theme: Theme) -> None:
    """Draw accessed cells: a load as an outline, a store as a filled corner, an atomic as a diamond."""
    colour, strength = theme.colour(mark.kind), mark.strength
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(strength)
    if mark.own:
        painter.strokePath(mark.edge, pen("#FFFFFF", 4.0))
    if mark.filled is not None:
        painter.setOpacity(strength if mark.own else 0.4 * strength)
        painter.fillPath(mark.filled, colour)
        painter.setOpacity(strength)
    painter.strokePath(mark.edge, pen(colour, 2.0 if mark.own else 1.0, 255 if mark.own else 150))
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
    side = float(theme.px(SIGN))
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
    with clipped(painter, around):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(edge, pen(theme.palette.panel, 2 * wide + 4))  # of which half is seen
        painter.strokePath(edge, pen(theme.palette.text, 2 * wide))


def edge_of(place: BufferPlace, elements: NDArray[np.int64]) -> QPainterPath:
    """Return the outline of some elements."""
    return path_of(place, outlines.outline(*place.sheet.distinct_cells(elements)))


def draw_written(painter: QPainter, edge: QPainterPath, theme: Theme) -> None:
    """Draw a small frame around the elements that the selected thread writes."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 4.0))
    painter.strokePath(edge, pen(theme.palette.text, 2.0))


def draw_differing(painter: QPainter, place: BufferPlace, elements: Ints, theme: Theme) -> None:
    """Frame the cells that differ from NumPy, with a red corner; small ones are filled."""
    rows, cols = place.sheet.distinct_cells(elements)
    is_large = min(place.cell, place.row) >= SHAPES_FROM
    corner = min(place.cell, place.row) * 0.42
    fill, frames = QPainterPath(), QPainterPath()
    for row, col in zip(rows.tolist(), cols.tolist(), strict=True):
        x, y = place.x + col * place.cell, place.y + row * place.row
        if is_large:
            frames.addRect(QRectF(x + 1, y + 1, place.cell - 2, place.row - 2))
            fill.addPolygon(
                QPolygonF([QPointF(x, y), QPointF(x + corner, y), QPointF(x, y + corner), QPointF(x, y)])
            )
        else:
            fill.addRect(QRectF(x, y, place.cell, place.row))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_large)
    if is_large:
        painter.strokePath(frames, pen(theme.palette.bad, 1.2))
    painter.fillPath(fill, theme.colour("bad"))


def ghosts_area(ghosts: Sequence[Ghost]) -> QRectF:
    """Return the room that cells outside arrays take, with their labels."""
    box = QRectF()
    for ghost in ghosts:
        x, y, width, height = ghost.box
        box = box.united(QRectF(x, y, width, height).adjusted(-70, -18, 70, 18))
    return box


def draw_ghosts(painter: QPainter, ghosts: Sequence[Ghost], theme: Theme) -> None:
    """Draw the cells, dashed and crossed out, and the labels of those that lie farther away."""
    red = theme.colour("bad")
    painter.save()
    painter.setBrush(theme.colour("panel"))
    for ghost in ghosts:
        box = QRectF(*ghost.box).adjusted(1, 1, -1, -1)
        dashed = QPen(pen(red, 1.4))
        dashed.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(dashed)
        painter.drawRect(box)
        inset = math.floor(min(box.width(), box.height()) / 5)
        cross = box.adjusted(inset, inset, -inset, -inset)
        painter.setPen(pen(red, 2.0))
        painter.drawLine(cross.topLeft(), cross.bottomRight())
        painter.drawLine(QPointF(cross.right(), cross.top()), QPointF(cross.left(), cross.bottom()))
        if ghost.label:
            painter.setFont(theme.font(GHOST_TEXT, bold=True))
            wide = painter.fontMetrics().horizontalAdvance(ghost.label) + 4
            left = min(box.center().x() - wide / 2, box.right() + 1 - wide)
            room = QRectF(left, box.bottom() + 1, wide, theme.px(14))
            painter.fillRect(room, theme.colour("panel"))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, ghost.label)
    painter.restore()


def draw_ring(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the ring of the keyboard's focus just inside a box."""
    painter.setPen(pen(theme.palette.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(1, 1, -1, -1))

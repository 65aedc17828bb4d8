"""Drawing functions of the memory view: cells, outlines, footprints."""

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
from ..common.dimming import draw_highlighted_part, reduced_opacity
from ..common.drawing import clipped, draw_hatch, is_recording_painter, is_vector, pen
from ..common.geometry import Box
from . import outlines
from .footprints import Footprint
from .highlighted_cells import HighlightedCells
from .layout.buffer_position import BufferPosition
from .layout.ghosts import Ghost
from .outlines import CellRect
from .view_data import AccessMark

# A point of a path as Qt streams it: whether a line joins it to the previous point, and its coordinates.
ELEMENT = np.dtype([("joined", ">i4"), ("x", ">f8"), ("y", ">f8")])
SHORT = 24  # a path of at most this many points is built point by point
GRID_FROM, SHAPES_FROM = 4.0, 8.0  # pixels: the smallest sides of cells with these
IMAGE_GRID_FROM = 16.0  # the same for images, whose colours a dense grid would distort
MOST_RECTANGLES = 2048  # sheets of at most this many pixels are drawn as rectangles in vector pictures
SHARP = 256  # pixels: images in vector pictures are scaled to this size, against smoothing by viewers
GHOST_TEXT = 10  # the size of the index of a cell outside an array
MOST_SIGNS = 3  # the largest number of exclamation marks on the elements of a race
SIGN, FRAME = 13, 9.0  # pixels: the size of an exclamation mark, and the margin of a frame around its cells


@lru_cache(maxsize=16)
def colour_table(theme: Theme, measure: str) -> NDArray[np.uint32]:
    """Return the pixels of all codes of a cell as a read-only array."""
    theme_name = "dark" if theme.name == "dark" else "light"
    scale = {"value": VALUES[theme_name], "reads": READS[theme_name]}.get(measure, HEAT[theme_name])
    table = cell_colours.make_pixel_table(scale, _rgb(theme, "panel"), _rgb(theme, "cell_unread"))
    table.flags.writeable = False
    return table


def _rgb(theme: Theme, name: str) -> tuple[float, float, float]:
    colour = theme.colour(name)
    return colour.red(), colour.green(), colour.blue()


def visible_cells(place: BufferPosition, window: Box) -> CellRect:
    """Find the cells that are in the window, at least partly."""
    rows = [(edge - place.y) / place.row for edge in (window.y, window.bottom)]
    cols = [(edge - place.x) / place.cell for edge in (window.x, window.right)]
    row0, row1 = (min(max(v, 0), place.sheet.rows) for v in (math.floor(rows[0]), math.ceil(rows[1])))
    col0, col1 = (min(max(v, 0), place.sheet.cols) for v in (math.floor(cols[0]), math.ceil(cols[1])))
    return CellRect(row0, col0, max(row0, row1), max(col0, col1))


def part_rect(place: BufferPosition, part: CellRect) -> QRectF:
    """Compute the rectangle of a part of a sheet."""
    x, y = place.x + part.col0 * place.cell, place.y + part.row0 * place.row
    return QRectF(x, y, (part.col1 - part.col0) * place.cell, (part.row1 - part.row0) * place.row)


class Dots(NamedTuple):
    """Part of a sheet as pixels."""

    part: CellRect  # the cells
    step: int  # each pixel represents step x step cells
    codes: cell_colours.Codes  # (rows, columns) of pixels; empty for an image
    pixels: NDArray[np.uint32]  # (rows, columns), 0xAARRGGBB
    hatched: bool  # whether the hatch is visible through some cells


def cells_per_dot(place: BufferPosition, ratio: float) -> int:
    """Compute the number of cells in a row that share a pixel of a sheet's picture."""
    return max(1, math.floor(1 / (place.cell * ratio)))


def dots_of(codes: cell_colours.Codes, part: CellRect, step: int, table: NDArray[np.uint32]) -> Dots:
    """Compute the pixels of a part of a sheet."""
    codes = codes[part.row0 : part.row1, part.col0 : part.col1]
    shown = cell_colours.downsample_codes(codes, step)
    return Dots(
        part,
        step,
        shown,
        cell_colours.look_up_pixels(shown, table),
        bool((codes == cell_colours.POISON).any()),
    )


def image_dots(image: NDArray[np.uint32], part: CellRect, step: int) -> Dots:
    """Compute the pixels of a part of an image; the first of several that share a dot."""
    pixels = np.ascontiguousarray(image[part.row0 : part.row1 : step, part.col0 : part.col1 : step])
    no_codes = np.empty((0, 0), np.uint8)
    return Dots(part, step, no_codes, pixels, not pixels.all())


class Hatch(NamedTuple):
    """The hatch of unwritten memory, as a picture."""

    corner: QPointF
    picture: QPixmap


def hatch_of(target: QRectF, size: tuple[int, int], ratio: float, theme: Theme) -> Hatch:
    """Draw the hatch of a box in a view of this size, with `ratio` device pixels per logical pixel."""
    # Aligned to logical pixels and, at the usual ratios, to device pixels.
    left, top = (max(0.0, 4.0 * math.floor(edge / 4)) for edge in (target.left(), target.top()))
    picture = QPixmap(*(max(1, round(length * ratio)) for length in size))
    picture.setDevicePixelRatio(ratio)
    picture.fill(theme.colour("panel"))
    painter = QPainter(picture)
    draw_hatch(painter, target, theme)  # at its true position: elsewhere it would be rounded differently
    painter.end()
    edges = (target.right() - left + 1, target.bottom() - top + 1)
    part = QRect(round(left * ratio), round(top * ratio), *(math.ceil(edge * ratio) for edge in edges))
    return Hatch(QPointF(left, top), picture.copy(part.intersected(picture.rect())))


def draw_cells(
    painter: QPainter, place: BufferPosition, dots: Dots, theme: Theme, hatch: Hatch | None = None
) -> None:
    """Draw cells, hatched if unwritten, with lines between large ones.

    hatch: a picture of the hatch below them, if one is available.
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
    dot_width, dot_height = dots.step * place.cell, dots.step * place.row
    box = QRectF(target.x(), target.y(), width * dot_width, height * dot_height)
    if dots.step == 1:
        _draw_dots(painter, box, dots.pixels)
    else:  # the last dots may represent fewer cells than the others
        with clipped(painter, target):
            _draw_dots(painter, box, dots.pixels)
    grid_from = GRID_FROM if dots.codes.size else IMAGE_GRID_FROM
    if (
        min(place.cell, place.row) >= grid_from
    ):  # in logical pixels, so that all screens show the same picture
        _draw_grid(painter, place, dots.part, theme)


def changed_part(place: BufferPosition, before: Dots, now: Dots, ratio: float) -> QRectF:
    """Compute the changed rectangle of a buffer's cells, with `ratio` device pixels per logical pixel."""
    if before[:2] != now[:2] or before.hatched != now.hatched or before.pixels.shape != now.pixels.shape:
        return part_rect(place, now.part).united(part_rect(place, before.part))
    differs = before.pixels != now.pixels
    rows, cols = differs.any(axis=1).nonzero()[0], differs.any(axis=0).nonzero()[0]
    if not len(rows):
        return QRectF()
    dot_width, dot_height, part_box = now.step * place.cell, now.step * place.row, part_rect(place, now.part)
    # Smoothing blends adjacent dots.
    margin = max(dot_width, dot_height) if min(place.cell, place.row) * ratio < 2 else 0.0
    left, top = part_box.x() + int(cols[0]) * dot_width, part_box.y() + int(rows[0]) * dot_height
    width, height = (
        (int(cols[-1]) + 1 - int(cols[0])) * dot_width,
        (int(rows[-1]) + 1 - int(rows[0])) * dot_height,
    )
    return QRectF(left, top, width, height).adjusted(-margin, -margin, margin, margin)


def _draw_dots(painter: QPainter, box: QRectF, pixels: NDArray[np.uint32]) -> None:
    """Draw the pixels of cells; in vector pictures as rectangles, or many as an enlarged image, against blur."""
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    if not is_vector(painter) or is_recording_painter(painter):
        painter.drawImage(box, image)
    elif pixels.size > MOST_RECTANGLES:
        times = max(1, SHARP // max(width, height))
        painter.drawImage(box, image.scaled(times * width, times * height))
    else:
        dot_width, dot_height = box.width() / width, box.height() / height
        for row, cells in enumerate(pixels):
            edges = [0, *(np.flatnonzero(np.diff(cells)) + 1).tolist(), width]
            for first, end in pairwise(edges):
                run = QRectF(
                    box.x() + first * dot_width,
                    box.y() + row * dot_height,
                    (end - first) * dot_width,
                    dot_height,
                )
                painter.fillRect(run, QColor.fromRgba(int(cells[first])))


def _draw_grid(painter: QPainter, place: BufferPosition, part: CellRect, theme: Theme) -> None:
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


def lines_of(place: BufferPosition, part: CellRect) -> tuple[list[float], list[float]]:
    """Compute the x of vertical and the y of horizontal lines between the cells of a part of a sheet."""
    xs = [place.x + c * place.cell for c in range(part.col0, part.col1 + 1)]
    return xs, [place.y + r * place.row for r in range(part.row0, part.row1 + 1)]


class GridPixels(NamedTuple):
    """The device pixels of the lines of a grid."""

    box: QRect  # around all of them
    upright: QPixmap  # one row of pixels of the vertical lines, which is tiled
    level: list[QRect]  # the horizontal lines
    colour: QColor


@lru_cache(maxsize=64)
def grid_pixels(place: BufferPosition, part: CellRect, ratio: float, colour: int) -> GridPixels:
    """Compute the pixels of the lines between cells, with `ratio` device pixels per logical pixel."""
    columns, rows = ([math.floor(position * ratio) for position in ends] for ends in lines_of(place, part))
    width, height, ink = columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1, QColor.fromRgba(colour)
    upright = QPixmap(width, 1)
    upright.fill(Qt.GlobalColor.transparent)
    painter = QPainter(upright)
    for x in columns:
        painter.fillRect(x - columns[0], 0, 1, 1, ink)
    painter.end()
    level = [QRect(columns[0], y, width, 1) for y in rows]
    return GridPixels(QRect(columns[0], rows[0], width, height), upright, level, ink)


def draw_grid_pixels(painter: QPainter, grid: GridPixels, ratio: float) -> None:
    """Fill the pixels of a grid, which is faster than lines: Qt fills vertical lines pixel by pixel."""
    painter.save()
    painter.scale(1 / ratio, 1 / ratio)
    painter.drawTiledPixmap(grid.box, grid.upright)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(grid.colour)
    painter.drawRects(grid.level)
    painter.restore()


def _short_path(place: BufferPosition, path: outlines.CellPath) -> QPainterPath:
    pixel_path, joined = QPainterPath(), False
    xs, ys = (place.x + path.x * place.cell).tolist(), (place.y + path.y * place.row).tolist()
    for x, y, joins_next in zip(xs, ys, path.joined.tolist(), strict=True):
        pixel_path.lineTo(x, y) if joined else pixel_path.moveTo(x, y)
        joined = bool(joins_next)
    return pixel_path


def path_of(place: BufferPosition, path: outlines.CellPath) -> QPainterPath:
    """Convert a path from cells to pixels.

    The path is read from a QDataStream: a call from Python for every point takes four times as long.
    """
    if len(path.x) <= SHORT:
        return _short_path(place, path)
    points = np.empty(len(path.x), ELEMENT)
    points["x"] = place.x + path.x * place.cell
    points["y"] = place.y + path.y * place.row
    points["joined"][:1], points["joined"][1:] = 0, path.joined[:-1]
    pixel_path = QPainterPath()
    stream = QDataStream(
        QByteArray(struct.pack(">i", len(points)) + points.tobytes() + struct.pack(">ii", 0, 0))
    )
    stream >> pixel_path
    return pixel_path


class MarkShapes(NamedTuple):
    """The shapes of a mark on accessed cells."""

    kind: str  # of the requests
    own: bool  # whether the selected warp makes them
    edge: QPainterPath
    filled: QPainterPath | None  # None for loads
    strength: float  # the opacity
    box: QRectF  # around all shapes


def shape_mark(place: BufferPosition, mark: AccessMark, strength: float = 1.0) -> MarkShapes:
    """Compute the shapes of a mark on accessed cells."""
    part = outlines.extent(mark.rows, mark.cols)
    edge = path_of(place, outlines.outline_in(part, mark.rows, mark.cols))
    filled = None if mark.kind.endswith("load") else path_of(place, _filled_shapes(place, mark))
    box = part_rect(place, part).adjusted(-3, -3, 3, 3)
    return MarkShapes(mark.kind, mark.own, edge, filled, strength, box)


def cells_rect(place: BufferPosition, rows: Ints, cols: Ints, margin: float) -> QRectF:
    """Compute the rectangle of one or more cells, with a margin in pixels."""
    return part_rect(place, outlines.extent(rows, cols)).adjusted(-margin, -margin, margin, margin)


def draw_mark(painter: QPainter, mark: MarkShapes, theme: Theme) -> None:
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


def draw_race_frame(painter: QPainter, place: BufferPosition, rows: Ints, cols: Ints, theme: Theme) -> None:
    """Draw a frame around cells in a race, wider than the frame of an access, which is drawn over it."""
    edge = path_of(place, outlines.outline(rows, cols))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 9.0))
    painter.strokePath(edge, pen(theme.palette.bad, 7.0))


def draw_race_signs(painter: QPainter, place: BufferPosition, rows: Ints, cols: Ints, theme: Theme) -> None:
    """Draw exclamation marks on some cells in a race."""
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_SIGNS)).round().astype(int))
    for row, col in zip(rows[chosen].tolist(), cols[chosen].tolist(), strict=True):
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


def _filled_shapes(place: BufferPosition, mark: AccessMark) -> outlines.CellPath:
    """Compute the filled shapes of the cells; squares if the cells are too small for other shapes."""
    shape = outlines.DIAMOND if mark.kind == "atomic" else outlines.TRIANGLE
    return outlines.shapes(mark.rows, mark.cols, shape if place.cell >= SHAPES_FROM else outlines.SQUARE)


def draw_footprint(
    painter: QPainter,
    place: BufferPosition,
    footprint: Footprint,
    theme: Theme,
    keep: float = 1.0,
    *,
    strong: bool,
) -> None:
    """Draw the outline of cells of a sheet: strong for the phase, thin for the block.

    keep: the opacity, by a mixed colour: Qt takes ten times as long for a translucent line.
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


def draw_highlighted_buffer(
    painter: QPainter,
    place: BufferPosition,
    cells: HighlightedCells | None,
    keep: float,
    draw: Callable[[], None],
) -> None:
    """Draw a buffer with opacity `keep`, except for its highlighted cells."""
    if cells is not None and cells.elements is not None:
        draw_highlighted_part(painter, _area_path(place, cells), keep, draw)
    else:
        with reduced_opacity(painter, keep if cells is None else 1.0):
            draw()


def _outline_path(place: BufferPosition, shape: Footprint) -> QPainterPath:
    """Compute the outline of cells in pixels."""
    if shape.outline is not None:
        return path_of(place, shape.outline)
    path = QPainterPath()
    path.addRect(part_rect(place, shape.part))
    return path


def _area_path(place: BufferPosition, cells: HighlightedCells) -> QPainterPath:
    """Compute the area of highlighted cells in pixels; lines of an outline enclose nothing that can clip."""
    if cells.shape.outline is None or cells.elements is None:
        return _outline_path(place, cells.shape)
    rows, cols = place.sheet.distinct_cells(cells.elements)
    path, begins = (
        QPainterPath(),
        np.flatnonzero(np.diff(rows, prepend=-1) | (np.diff(cols, prepend=-1) != 1)),
    )
    for first, last in zip(begins.tolist(), [*(begins[1:] - 1).tolist(), len(rows) - 1], strict=True):
        row = int(rows[first])
        path.addRect(part_rect(place, CellRect(row, int(cols[first]), row + 1, int(cols[last]) + 1)))
    return path.simplified()


def _frame_width(place: BufferPosition) -> float:
    """Compute the width of a frame around highlighted cells, in pixels: thin for small cells."""
    return 2.0 if min(place.cell, place.row) < 12 else min(max(3.0, place.cell / 14), 6.0)


def draw_highlight_frame(
    painter: QPainter, place: BufferPosition, cells: HighlightedCells, theme: Theme
) -> None:
    """Draw the frame of highlighted cells, outside them, so that they stay completely visible."""
    edge, around, width = _outline_path(place, cells.shape), QPainterPath(), _frame_width(place)
    around.addRect(
        part_rect(place, CellRect(0, 0, place.sheet.rows, place.sheet.cols)).adjusted(-9, -9, 9, 9)
    )
    around.addPath(_area_path(place, cells))  # by the odd-even rule, everything except the cells
    with clipped(painter, around):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(edge, pen(theme.palette.panel, 2 * width + 4))  # half of it is visible
        painter.strokePath(edge, pen(theme.palette.text, 2 * width))


def elements_outline(place: BufferPosition, elements: NDArray[np.int64]) -> QPainterPath:
    """Compute the outline of some elements."""
    return path_of(place, outlines.outline(*place.sheet.distinct_cells(elements)))


def draw_store_frame(painter: QPainter, edge: QPainterPath, theme: Theme) -> None:
    """Draw a thin frame around the elements that the selected thread writes."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(edge, pen(theme.palette.panel, 4.0))
    painter.strokePath(edge, pen(theme.palette.text, 2.0))


def draw_differing(painter: QPainter, place: BufferPosition, elements: Ints, theme: Theme) -> None:
    """Mark the cells that differ from NumPy."""
    rows, cols = place.sheet.distinct_cells(elements)
    cells = [
        QRectF(place.x + col * place.cell, place.y + row * place.row, place.cell, place.row)
        for row, col in zip(rows.tolist(), cols.tolist(), strict=True)
    ]
    draw_differing_cells(painter, cells, theme)


def draw_differing_cells(painter: QPainter, cells: Sequence[QRectF], theme: Theme) -> None:
    """Frame cells of one size, with a red corner; small ones are filled."""
    side = min((min(cell.width(), cell.height()) for cell in cells), default=0.0)
    is_large, corner = side >= SHAPES_FROM, side * 0.42
    fill, frames = QPainterPath(), QPainterPath()
    for cell in cells:
        x, y = cell.x(), cell.y()
        if is_large:
            frames.addRect(cell.adjusted(1, 1, -1, -1))
            fill.addPolygon(
                QPolygonF([QPointF(x, y), QPointF(x + corner, y), QPointF(x, y + corner), QPointF(x, y)])
            )
        else:
            fill.addRect(cell)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_large)
    if is_large:
        painter.strokePath(frames, pen(theme.palette.bad, 1.2))
    painter.fillPath(fill, theme.colour("bad"))


def ghosts_area(ghosts: Sequence[Ghost]) -> QRectF:
    """Compute the bounding box of ghosts and their labels."""
    box = QRectF()
    for ghost in ghosts:
        x, y, width, height = ghost.box
        box = box.united(QRectF(x, y, width, height).adjusted(-70, -18, 70, 18))
    return box


def draw_ghosts(painter: QPainter, ghosts: Sequence[Ghost], theme: Theme) -> None:
    """Draw ghosts, dashed and crossed out, with the labels of the distant ones."""
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
            width = painter.fontMetrics().horizontalAdvance(ghost.label) + 4
            left = min(box.center().x() - width / 2, box.right() + 1 - width)
            room = QRectF(left, box.bottom() + 1, width, theme.px(14))
            painter.fillRect(room, theme.colour("panel"))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, ghost.label)
    painter.restore()


def draw_focus_ring(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the keyboard's focus ring just inside a box."""
    painter.setPen(pen(theme.palette.accent, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(1, 1, -1, -1))

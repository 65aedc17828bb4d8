"""The values in the cells of a buffer as a picture of their own, of which only what has changed is drawn anew."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from ....tracer.model.array_types import Ints, Mask
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, contrasting
from ..common.dimming import fainter
from ..common.drawing import is_vector, width_of
from .descriptions import short_text
from .layout.buffer_place import BufferPlace
from .layout.sheet import Sheet
from .outlines import CellRect
from .paint import part_rect

TEXT_FROM = 16.0  # pixels: the side of a cell from which values are written into it
READABLE = 11.0  # letters of values, for which they are told with fewer digits
LARGEST, SMALLEST = 36.0, 8.0  # letters of values at the normal text size; pixels, below which there are none
NARROW = 30.0  # pixels: what a value may take of its cell, more than which it takes only with space around it
MOST_TEXTS = 6000  # values that are written into the cells of a buffer; of more, none are
Inks = NDArray[np.uint32]  # 0xAARRGGBB


class ValueText(NamedTuple):
    """How the values of a buffer are written into its cells."""

    size: int  # of the letters, in pixels
    letters: int  # the most
    digits: int  # the most


def value_text_of(
    place: BufferPlace, usual: Callable[[int], Collection[str]], digits: Sequence[int], theme: Theme
) -> ValueText | None:
    """Return how values are written into cells, with as many digits as can be read; None where there is no room.

    usual: from a number of digits to how the values are written then; digits: those to be tried, descending.
    """
    for most in digits if min(place.cell, place.row) >= TEXT_FROM else ():
        texts = usual(most)
        shapes = {re.sub(r"\d", "0", text) for text in texts}  # digits are about equally wide
        widest = max((width_of(shape, theme.font()) for shape in shapes), default=0.0)
        inside = min(0.94 * place.cell - 2, max(0.85 * place.cell, NARROW))
        across = inside / max(widest, 1.0) * theme.font().pixelSize()
        size = min(across, 0.55 * place.row, theme.px(LARGEST))
        if widest and size >= (SMALLEST if most == digits[-1] else max(SMALLEST, theme.px(READABLE))):
            return ValueText(math.floor(size), max(map(len, texts)), most)
    return None


class CellValues(NamedTuple):
    """What the cells of a part of a sheet hold, each of shape (rows, columns)."""

    values: NDArray[Any]  # what stands in each
    known: Mask  # where something does
    inks: Inks  # the colour that it is written in

    def differing(self, before: CellValues | None) -> Mask:
        """Return the cells that look otherwise than they did."""
        if before is None:
            return self.known
        other = (self.values != before.values) | (self.inks != before.inks)
        changed: Mask = (self.known != before.known) | (self.known & other)
        return changed


class ValueLayer:
    """What is written into the cells of one buffer: `texts` by row and column of its sheet.

    The picture of a cell follows from its value and colour alone, whatever stood there before.
    """

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        self._key: Hashable = None
        self._image = QImage()
        self._elements: Ints = np.empty((0, 0), np.int64)
        self._shown: CellValues | None = None

    def draw(
        self,
        painter: QPainter,
        place: BufferPlace,
        part: CellRect,
        inks: Inks,
        how: ValueText,
        values: NDArray[Any],
        known: Mask,
        theme: Theme,
    ) -> None:
        """Draw the values in the cells of a part, where these are not too many; on paper as letters.

        inks: (rows, columns) of the part; values and known: of the buffer's elements, in C order.
        """
        if inks.size > MOST_TEXTS:
            return
        ratio, origin = painter.deviceTransform().m11(), part_rect(place, part).topLeft()
        key = (place, part, how, ratio, values.dtype, theme)
        if key != self._key:
            self._key, self._elements = key, _elements(place.sheet, part)
            self._image = _empty(part_rect(place, part), ratio)
            self.texts, self._shown = {}, None
        there = np.where(self._elements >= 0, self._elements, 0)
        now = CellValues(values[there], known[there] & (self._elements >= 0), inks)
        changed = now.differing(self._shown)
        self._note(now, changed, part, how)
        if is_vector(painter):
            self._write(painter, origin, now, now.known, part, place, how, theme)
            self._key = None
            return
        if changed.any():
            self._redraw(now, changed, part, place, how, theme)
        self._shown = now
        painter.drawImage(origin, self._image)

    def _note(self, now: CellValues, changed: Mask, part: CellRect, how: ValueText) -> None:
        """Say in words what stands in some cells now."""
        for row, col in np.argwhere(changed).tolist():
            spot = row + part.row0, col + part.col0
            if now.known[row, col]:
                self.texts[spot] = short_text(now.values[row, col], how.letters, how.digits)
            else:
                self.texts.pop(spot, None)

    def _redraw(
        self, now: CellValues, changed: Mask, part: CellRect, place: BufferPlace, how: ValueText, theme: Theme
    ) -> None:
        """Draw some cells of the picture anew."""
        painter = QPainter(self._image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        for row, col in np.argwhere(changed).tolist():
            painter.fillRect(_cell(QPointF(), place, row, col), Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self._write(painter, QPointF(), now, changed & now.known, part, place, how, theme)
        painter.end()

    def _write(
        self,
        painter: QPainter,
        origin: QPointF,
        now: CellValues,
        chosen: Mask,
        part: CellRect,
        place: BufferPlace,
        how: ValueText,
        theme: Theme,
    ) -> None:
        """Write into some cells; origin: where the part begins."""
        font = QFont(theme.font())
        font.setPixelSize(how.size)
        painter.setFont(font)
        for ink in np.unique(now.inks[chosen]).tolist():
            painter.setPen(QColor.fromRgba(ink))
            for row, col in np.argwhere(chosen & (now.inks == ink)).tolist():
                text = self.texts[row + part.row0, col + part.col0]
                painter.drawText(_cell(origin, place, row, col), Qt.AlignmentFlag.AlignCenter, text)


def _cell(origin: QPointF, place: BufferPlace, row: int, col: int) -> QRectF:
    return QRectF(origin.x() + col * place.cell, origin.y() + row * place.row, place.cell, place.row)


def _elements(sheet: Sheet, part: CellRect) -> Ints:
    """Return the number of the element in each cell of a part, -1 where there is none."""
    grid = sheet.spread(np.arange(sheet.count), -1)
    return grid[part.row0 : part.row1, part.col0 : part.col1]


def _empty(box: QRectF, ratio: float) -> QImage:
    """Return a transparent picture for a box, sharp at `ratio`."""
    width, height = (max(1, math.ceil(length * ratio)) for length in (box.width(), box.height()))
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    return image


def inks_on(table: NDArray[np.uint32], keep: float, theme: Theme) -> Inks:
    """Return the colour that reads best on each code of a cell: black or white.

    table: the pixels of the codes; where one is transparent, the colour of memory that nobody has written shows.
    keep: how much is left of the cells' colours; where that is less than all, words are as faint as can be read.
    """
    grounds = [QColor.fromRgba(p) if p >> 24 else theme.colour("cell_poison") for p in table.tolist()]
    inks = [contrasting(ground) if keep >= 1 else _faint_ink(ground, keep, theme) for ground in grounds]
    return np.array([ink.rgba() for ink in inks], np.uint32)


def _faint_ink(ground: QColor, keep: float, theme: Theme) -> QColor:
    """Return the colour of words on a cell of this colour of which so much is left."""
    dim = mixed(theme.colour("panel"), ground.name(), keep)
    return fainter(contrasting(dim).name(), dim.name())

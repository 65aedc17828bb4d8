"""The values in the cells of a buffer as a separate picture, in which only changed values are redrawn."""

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
from ..common.dimming import fade_text_colour
from ..common.drawing import is_vector, text_width
from .descriptions import short_text
from .layout.buffer_position import BufferPosition
from .layout.sheet import Sheet
from .outlines import CellRect
from .paint import part_rect

TEXT_FROM = 16.0  # pixels: the smallest side of a cell with a value
READABLE = 11.0  # smaller letters are avoided by fewer digits
LARGEST, SMALLEST = 36.0, 8.0  # the largest letters at the normal text size; the smallest in pixels
NARROW = 30.0  # pixels: a value wider than this keeps a margin in its cell
MOST_TEXTS = 6000  # a buffer with more visible cells shows no values
Inks = NDArray[np.uint32]  # 0xAARRGGBB


class ValueText(NamedTuple):
    """The size and precision of the values in a buffer's cells."""

    size: int  # the height of the letters, in pixels
    letters: int  # the largest number of letters
    digits: int  # the largest number of digits
    decimals: int | None = None  # of values from 1 on; None for any


def choose_value_text(
    place: BufferPosition,
    usual_texts: Callable[[int], tuple[Collection[str], int | None]],
    digits: Sequence[int],
    theme: Theme,
) -> ValueText | None:
    """Choose the size of values in cells, with as many digits as are legible; None if they do not fit.

    usual_texts: formats typical values with a number of digits, and returns their common decimals.
    digits: the numbers to try, descending.
    """
    for count in digits if min(place.cell, place.row) >= TEXT_FROM else ():
        texts, decimals = usual_texts(count)
        shapes = {re.sub(r"\d", "0", text) for text in texts}  # digits are about equally wide
        widest = max((text_width(shape, theme.font()) for shape in shapes), default=0.0)
        available = min(0.94 * place.cell - 2, max(0.85 * place.cell, NARROW))
        fitting = available / max(widest, 1.0) * theme.font().pixelSize()
        size = min(fitting, 0.55 * place.row, theme.px(LARGEST))
        if widest and size >= (SMALLEST if count == digits[-1] else max(SMALLEST, theme.px(READABLE))):
            return ValueText(math.floor(size), max(map(len, texts)), count, decimals)
    return None


class CellValues(NamedTuple):
    """The values in the cells of a part of a sheet, each of shape (rows, columns)."""

    values: NDArray[Any]  # the value of each
    has_values: Mask  # whether each has a value
    inks: Inks  # the text colour of each

    def differing(self, before: CellValues | None) -> Mask:
        """Mark the cells that look different than before."""
        if before is None:
            return self.has_values
        differs = (self.values != before.values) | (self.inks != before.inks)
        changed: Mask = (self.has_values != before.has_values) | (self.has_values & differs)
        return changed


class ValueLayer:
    """The texts in the cells of one buffer: `texts` by row and column of its sheet.

    The picture of a cell depends only on its value and colour, not on its earlier content.
    """

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        self._key: Hashable = None
        self._image = QImage()
        self._elements: Ints = np.empty((0, 0), np.int64)
        self._latest: CellValues | None = None

    def draw(
        self,
        painter: QPainter,
        place: BufferPosition,
        part: CellRect,
        inks: Inks,
        value_text: ValueText,
        values: NDArray[Any],
        is_defined: Mask,
        theme: Theme,
    ) -> None:
        """Draw the values in the cells of a part unless they are too many; in vector pictures as text.

        inks: (rows, columns) of the part; values and is_defined: of the buffer's elements, in C order.
        """
        if inks.size > MOST_TEXTS:
            return
        ratio, origin = painter.deviceTransform().m11(), part_rect(place, part).topLeft()
        key = (place, part, value_text, ratio, values.dtype, theme)
        if key != self._key:
            self._key, self._elements = key, _element_numbers(place.sheet, part)
            self._image = _transparent_image(part_rect(place, part), ratio)
            self.texts, self._latest = {}, None
        elements = np.where(self._elements >= 0, self._elements, 0)
        now = CellValues(values[elements], is_defined[elements] & (self._elements >= 0), inks)
        changed = now.differing(self._latest)
        self._update_texts(now, changed, part, value_text)
        if is_vector(painter):
            self._write_values(painter, origin, now, now.has_values, part, place, value_text, theme)
            self._key = None
            return
        if changed.any():
            self._redraw(now, changed, part, place, value_text, theme)
        self._latest = now
        painter.drawImage(origin, self._image)

    def _update_texts(self, now: CellValues, changed: Mask, part: CellRect, value_text: ValueText) -> None:
        """Update the texts of the changed cells."""
        for row, col in np.argwhere(changed).tolist():
            cell = row + part.row0, col + part.col0
            if now.has_values[row, col]:
                self.texts[cell] = short_text(
                    now.values[row, col], value_text.letters, value_text.digits, value_text.decimals
                )
            else:
                self.texts.pop(cell, None)

    def _redraw(
        self,
        now: CellValues,
        changed: Mask,
        part: CellRect,
        place: BufferPosition,
        value_text: ValueText,
        theme: Theme,
    ) -> None:
        """Redraw the changed cells of the picture."""
        painter = QPainter(self._image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        for row, col in np.argwhere(changed).tolist():
            painter.fillRect(_cell_box(QPointF(), place, row, col), Qt.GlobalColor.transparent)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self._write_values(painter, QPointF(), now, changed & now.has_values, part, place, value_text, theme)
        painter.end()

    def _write_values(
        self,
        painter: QPainter,
        origin: QPointF,
        now: CellValues,
        chosen: Mask,
        part: CellRect,
        place: BufferPosition,
        value_text: ValueText,
        theme: Theme,
    ) -> None:
        """Write the values into the chosen cells; origin: the corner of the part."""
        font = QFont(theme.font())
        font.setPixelSize(value_text.size)
        painter.setFont(font)
        for ink in np.unique(now.inks[chosen]).tolist():
            painter.setPen(QColor.fromRgba(ink))
            for row, col in np.argwhere(chosen & (now.inks == ink)).tolist():
                text = self.texts[row + part.row0, col + part.col0]
                painter.drawText(_cell_box(origin, place, row, col), Qt.AlignmentFlag.AlignCenter, text)


def _cell_box(origin: QPointF, place: BufferPosition, row: int, col: int) -> QRectF:
    return QRectF(origin.x() + col * place.cell, origin.y() + row * place.row, place.cell, place.row)


def _element_numbers(sheet: Sheet, part: CellRect) -> Ints:
    """Return the number of the element in each cell of a part, -1 for none."""
    grid = sheet.spread(np.arange(sheet.count), -1)
    return grid[part.row0 : part.row1, part.col0 : part.col1]


def _transparent_image(box: QRectF, ratio: float) -> QImage:
    """Create a transparent picture for a box, sharp at `ratio`."""
    width, height = (max(1, math.ceil(length * ratio)) for length in (box.width(), box.height()))
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    return image


def choose_inks(table: NDArray[np.uint32], keep: float, theme: Theme) -> Inks:
    """Choose the text colour with the best contrast on each code of a cell: black or white.

    table: the pixels of the codes; a transparent one shows the colour of unwritten memory.
    keep: the opacity of the cells' colours; below 1, texts are as faint as legible.
    """
    grounds = [QColor.fromRgba(p) if p >> 24 else theme.colour("cell_poison") for p in table.tolist()]
    inks = [contrasting(ground) if keep >= 1 else _faint_ink(ground, keep, theme) for ground in grounds]
    return np.array([ink.rgba() for ink in inks], np.uint32)


def _faint_ink(ground: QColor, keep: float, theme: Theme) -> QColor:
    """Compute the text colour on a cell of this colour at opacity `keep`."""
    dimmed_ground = mixed(theme.colour("panel"), ground.name(), keep)
    return fade_text_colour(contrasting(dimmed_ground).name(), dimmed_ground.name())

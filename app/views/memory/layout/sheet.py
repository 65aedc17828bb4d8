"""A buffer as a sheet of cells: a matrix as it is, one dimension wrapped into rows, more as slices. No Qt.

An element is meant by its number in the buffer's shape, in C order, as in `tracer.memory`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .....tracer.model.array_types import Ints
from .....tracer.model.grouping import group_starts
from .....tracer.model.trace import Buffer

SMALLEST_IMAGE = 4  # pixels, of height and width
GAP = 1  # empty cells between two slices beside each other


class Sheet(Struct, frozen=True):
    """Pieces of cells beside each other, then the next row of pieces."""

    count: int  # elements
    slices: int  # pieces
    height: int  # rows of cells of a piece
    width: int  # columns of cells of a piece
    across: int = 1  # pieces beside each other
    above: int = 0  # empty rows above each row of pieces, for what they are called; 0 for a single one
    channels: int = 1  # elements in a cell: those of one pixel of an image

    @property
    def down(self) -> int:
        """Rows of pieces."""
        return -(-self.slices // self.across)

    @property
    def rows(self) -> int:
        """Rows of cells, empty ones among them."""
        return self.down * (self.above + self.height)

    @property
    def cols(self) -> int:
        """Columns of cells, gaps among them."""
        return self.across * (self.width + GAP) - GAP

    @property
    def is_full(self) -> bool:
        """Whether every cell has its elements."""
        return self.count == self.rows * self.cols * self.channels

    def cells(self, elements: Ints | int) -> tuple[Ints, Ints]:
        """Return row and column of these elements."""
        if self.slices == 1:
            return np.divmod(elements if self.channels == 1 else elements // self.channels, self.width)
        piece, inside = np.divmod(elements, self.height * self.width)
        row, col = np.divmod(inside, self.width)
        down, across = np.divmod(piece, self.across)
        return down * (self.above + self.height) + self.above + row, across * (self.width + GAP) + col

    def distinct_cells(self, elements: Ints) -> tuple[Ints, Ints]:
        """Return row and column of the cells of these elements, each cell once, by row and then column."""
        rows, cols = self.cells(elements)
        places = np.sort(rows * self.cols + cols)
        return np.divmod(places[group_starts(places)], self.cols)

    def element(self, row: int, col: int) -> int | None:
        """Return the first element in this cell, None beside the sheet, between slices and past the end."""
        down, row = divmod(row, self.above + self.height)
        across, col = divmod(col, self.width + GAP)
        row -= self.above
        number = (((down * self.across + across) * self.height + row) * self.width + col) * self.channels
        inside = down >= 0 and row >= 0 and 0 <= across < self.across and col < self.width
        return number if inside and number < self.count else None

    def spread(self, values: NDArray[Any], fill: float | bool) -> NDArray[Any]:
        """Return values in the buffer's shape as rows x cols cells, with `fill` where there is no element.

        Of the elements in one cell it is the largest.
        """
        if self.channels > 1:
            largest: NDArray[Any] = values.reshape(self.height, self.width, self.channels).max(axis=2)
            return largest
        if self.slices == 1 and self.count == self.height * self.width:
            return values.reshape(self.height, self.width)
        pieces = np.full(self.down * self.across * self.height * self.width, fill, values.dtype)
        pieces[: self.count] = values.ravel()
        tall, wide = self.above + self.height, self.width + GAP
        cells = np.full((self.down, tall, self.across, wide), fill, values.dtype)
        shape = (self.down, self.across, self.height, self.width)
        cells[:, self.above :, :, : self.width] = pieces.reshape(shape).swapaxes(1, 2)
        return cells.reshape(self.rows, self.cols + GAP)[:, : self.cols]

    def corners(self) -> list[tuple[int, int]]:
        """Return row and column of the first cell of every piece."""
        rows, cols = self.cells(np.arange(self.slices) * (self.height * self.width))
        return list(zip(rows.tolist(), cols.tolist(), strict=True))


def sheet_of(buffer: Buffer, aspect: float = 1.5, above: int = GAP) -> Sheet:
    """Return a buffer's sheet; where there is a choice, the one whose width / height is nearest to `aspect`.

    above: empty rows above slices.
    """
    shape, count = buffer.shape, math.prod(buffer.shape)
    if len(shape) < 2:
        return wrapped(buffer, _wrapped(max(1, count), aspect))
    if is_image(buffer):
        return Sheet(count, 1, shape[0], shape[1], channels=shape[2])
    slices, height, width = max(1, math.prod(shape[:-2])), max(1, shape[-2]), max(1, shape[-1])
    if slices == 1:
        return Sheet(count, 1, height, width)
    across = round(math.sqrt(slices * aspect * (height + above) / (width + GAP)))
    return Sheet(count, slices, height, width, min(slices, max(1, across)), above)


def wrapped(buffer: Buffer, width: int) -> Sheet:
    """Return the sheet of a buffer of one dimension in rows of so many elements."""
    count = math.prod(buffer.shape)
    return Sheet(count, 1, max(1, -(-count // width)), max(1, min(width, count)))


def is_image(buffer: Buffer) -> bool:
    """Return whether a buffer is an image: height x width x channels, three (RGB) or four (RGBA) of bytes or floats."""
    shape, dtype = buffer.shape, np.dtype(buffer.dtype)
    large = len(shape) == 3 and min(shape[:2]) >= SMALLEST_IMAGE and shape[2] in (3, 4)
    return large and (dtype == np.uint8 or dtype.kind == "f")


def _wrapped(length: int, aspect: float) -> int:
    """Return how many elements stand in a row: a power of two from 8, as warps are, or all where they are few."""
    widths = [1 << p for p in range(3, 24) if 1 << p < length]
    if length <= 32:
        widths.append(length)
    return min(widths, key=lambda w: abs(math.log(w / -(-length // w) / aspect)))


def slice_text(buffer: Buffer, piece: int) -> str:
    """Return how a slice of a buffer is called by its leading indices: [2], or [2, 0] of four dimensions."""
    return f"[{', '.join(map(str, np.unravel_index(piece, buffer.shape[:-2])))}]"

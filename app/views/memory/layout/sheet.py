"""A buffer as a sheet of cells: matrices unchanged, one dimension wrapped into rows, more dimensions as slices. No Qt.

An element is identified by its number in the buffer's shape, in C order, as in `tracer.memory`.
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
GAP = 1  # empty cells between two adjacent slices


class Sheet(Struct, frozen=True):
    """Pieces of cells, arranged in rows of pieces."""

    count: int  # the number of elements
    slices: int  # the number of pieces
    height: int  # rows of cells of a piece
    width: int  # columns of cells of a piece
    across: int = 1  # pieces in a row of pieces
    above: int = 0  # empty rows above each row of pieces, for their names; 0 for a single piece
    channels: int = 1  # elements in a cell: the channels of an image's pixel

    @property
    def down(self) -> int:
        """The number of rows of pieces."""
        return -(-self.slices // self.across)

    @property
    def rows(self) -> int:
        """The number of rows of cells, with empty rows."""
        return self.down * (self.above + self.height)

    @property
    def cols(self) -> int:
        """The number of columns of cells, with gaps."""
        return self.across * (self.width + GAP) - GAP

    @property
    def is_full(self) -> bool:
        """Whether every cell has its elements."""
        return self.count == self.rows * self.cols * self.channels

    def cells(self, elements: Ints | int) -> tuple[Ints, Ints]:
        """Compute the row and column of these elements."""
        if self.slices == 1:
            return np.divmod(elements if self.channels == 1 else elements // self.channels, self.width)
        piece, inside = np.divmod(elements, self.height * self.width)
        row, col = np.divmod(inside, self.width)
        down, across = np.divmod(piece, self.across)
        return down * (self.above + self.height) + self.above + row, across * (self.width + GAP) + col

    def distinct_cells(self, elements: Ints) -> tuple[Ints, Ints]:
        """Compute the row and column of the distinct cells of these elements, by row and then column."""
        rows, cols = self.cells(elements)
        positions = np.sort(rows * self.cols + cols)
        return np.divmod(positions[group_starts(positions)], self.cols)

    def element(self, row: int, col: int) -> int | None:
        """Find the first element in this cell; None outside the sheet, between slices and past the end."""
        down, row = divmod(row, self.above + self.height)
        across, col = divmod(col, self.width + GAP)
        row -= self.above
        number = (((down * self.across + across) * self.height + row) * self.width + col) * self.channels
        is_inside = down >= 0 and row >= 0 and 0 <= across < self.across and col < self.width
        return number if is_inside and number < self.count else None

    def spread(self, values: NDArray[Any], fill: float | bool) -> NDArray[Any]:
        """Arrange values in the buffer's shape as rows x cols cells, with `fill` in cells without element.

        A cell of several elements gets the largest value.
        """
        if self.channels > 1:
            largest: NDArray[Any] = values.reshape(self.height, self.width, self.channels).max(axis=2)
            return largest
        if self.slices == 1 and self.count == self.height * self.width:
            return values.reshape(self.height, self.width)
        pieces = np.full(self.down * self.across * self.height * self.width, fill, values.dtype)
        pieces[: self.count] = values.ravel()
        slot_height, slot_width = self.above + self.height, self.width + GAP
        cells = np.full((self.down, slot_height, self.across, slot_width), fill, values.dtype)
        shape = (self.down, self.across, self.height, self.width)
        cells[:, self.above :, :, : self.width] = pieces.reshape(shape).swapaxes(1, 2)
        return cells.reshape(self.rows, self.cols + GAP)[:, : self.cols]

    def corners(self) -> list[tuple[int, int]]:
        """List the row and column of the first cell of every piece."""
        rows, cols = self.cells(np.arange(self.slices) * (self.height * self.width))
        return list(zip(rows.tolist(), cols.tolist(), strict=True))


def sheet_of(buffer: Buffer, aspect: float = 1.5, above: int = GAP) -> Sheet:
    """Choose a buffer's sheet, with a width / height as near to `aspect` as possible.

    above: empty rows above slices.
    """
    shape, count = buffer.shape, math.prod(buffer.shape)
    if len(shape) < 2:
        return wrap_buffer(buffer, _row_length(max(1, count), aspect))
    if is_image(buffer):
        return Sheet(count, 1, shape[0], shape[1], channels=shape[2])
    slices, height, width = max(1, math.prod(shape[:-2])), max(1, shape[-2]), max(1, shape[-1])
    if slices == 1:
        return Sheet(count, 1, height, width)
    across = round(math.sqrt(slices * aspect * (height + above) / (width + GAP)))
    return Sheet(count, slices, height, width, min(slices, max(1, across)), above)


def wrap_buffer(buffer: Buffer, width: int) -> Sheet:
    """Compute the sheet of a one-dimensional buffer in rows of `width` elements."""
    count = math.prod(buffer.shape)
    return Sheet(count, 1, max(1, -(-count // width)), max(1, min(width, count)))


def is_image(buffer: Buffer) -> bool:
    """Check whether a buffer is an image: height x width x 3 (RGB) or 4 (RGBA) bytes or floats."""
    shape, dtype = buffer.shape, np.dtype(buffer.dtype)
    has_image_shape = len(shape) == 3 and min(shape[:2]) >= SMALLEST_IMAGE and shape[2] in (3, 4)
    return has_image_shape and (dtype == np.uint8 or dtype.kind == "f")


def _row_length(length: int, aspect: float) -> int:
    """Choose the number of elements in a row: a power of two from 8, or all of up to 32 elements."""
    widths = [1 << p for p in range(3, 24) if 1 << p < length]
    if length <= 32:
        widths.append(length)
    return min(widths, key=lambda w: abs(math.log(w / -(-length // w) / aspect)))


def slice_text(buffer: Buffer, piece: int) -> str:
    """Name a slice of a buffer by its leading indices: [2], or [2, 0] for four dimensions."""
    return f"[{', '.join(map(str, np.unravel_index(piece, buffer.shape[:-2])))}]"

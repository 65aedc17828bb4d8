"""The position of a buffer in the memory view, and the layout of all buffers. All lengths are pixels. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from .....tracer.model.array_types import Ints
from ...common.geometry import Box
from .sheet import Sheet

LARGEST_CELL, LARGEST_IN_LECTURE = 64.0, 144.0
FLAT = 3.5  # lines of text: few rows (or columns) are enlarged up to this total, so that they are easy to distinguish


class BufferPosition(Struct, frozen=True):
    """The position of a buffer's sheet, in pixels."""

    sheet: Sheet  # its cells
    x: float  # the left edge of its first cell
    y: float  # the upper edge of its first cell
    cell: float  # pixels, the width of a cell
    label: str = "above"  # the side of its name: above, left or right
    room: float = 0.0  # pixels, the available width of a name above it
    tall: float = 1.0  # the height of a cell divided by its width

    @property
    def row(self) -> float:
        """The height of a cell."""
        return self.cell * self.tall

    @property
    def box(self) -> Box:
        """The rectangle of all cells."""
        return Box(self.x, self.y, self.sheet.cols * self.cell, self.sheet.rows * self.row)

    def middle(self, elements: Ints | int) -> NDArray[np.float64]:
        """Compute the centres of the cells of these elements, shape (n, 2); (2,) for a single one."""
        rows, cols = self.sheet.cells(elements)
        middles = np.empty((*np.shape(elements), 2))
        middles[..., 0], middles[..., 1] = self.x + (cols + 0.5) * self.cell, self.y + (rows + 0.5) * self.row
        return middles

    def element_at(self, x: float, y: float) -> int | None:
        """Find the element whose cell holds this point; None if there is none."""
        return self.sheet.element(math.floor((y - self.y) / self.row), math.floor((x - self.x) / self.cell))


class Metrics(Struct, frozen=True):
    """Sizes that depend on the text, in pixels."""

    line: float = 16.0  # the height of a line
    left: float = 40.0  # the width of the names left of matrices
    right: float = 40.0  # the width of the names right of matrices
    name: float = 40.0  # the width of the widest name above a tile
    tiles: bool = False  # whether a product keeps a corner for its tiles or the other pane's

    lanes: float = 0.0  # lines below the caption, for lanes that exchange values
    large: bool = (
        False  # whether cells are as large as possible: in a lecture, or if only some buffers are shown
    )
    strip: bool = False  # whether a strip below is kept for local buffers, its own or the other pane's

    @property
    def gap(self) -> float:
        """The free space between two buffers."""
        return round((0.4 if self.large else 0.8) * self.line)

    @property
    def largest(self) -> float:
        """The largest side of a cell."""
        return LARGEST_IN_LECTURE if self.large else LARGEST_CELL


class MemoryLayout(Struct, frozen=True, eq=False):
    """The positions by buffer number; `caption` is free for text; `tiles` is the box of the shared buffers."""

    places: dict[int, BufferPosition]
    caption: Box
    tiles: Box | None = None

    def zoomed(self, scale: float, dx: float, dy: float) -> MemoryLayout:
        """Magnify the layout, then move it by dx and dy; the caption is only moved."""
        places = {
            n: replace(p, x=p.x * scale + dx, y=p.y * scale + dy, cell=p.cell * scale)
            for n, p in self.places.items()
        }
        text = self.caption._replace(x=self.caption.x * scale + dx, y=self.caption.y * scale + dy)
        return MemoryLayout(places, text, self.tiles)


def bounding_box(places: Iterable[BufferPosition], metrics: Metrics) -> Box:
    """Compute the box around buffers with their names above."""
    boxes = [p.box for p in places]
    x, y = min(b.x for b in boxes), min(b.y for b in boxes) - 1.3 * metrics.line
    return Box(x, y, max(b.right for b in boxes) - x, max(b.bottom for b in boxes) - y)


def snap_cell(cell: float) -> float:
    """Round a cell's side down to an integer, so that all cells look alike, unless it shrinks too much."""
    rounded = float(math.floor(cell + 1e-9))
    return rounded if rounded >= (0.78 if cell >= 4 else 0.88) * cell else cell

"""A buffer's place in the memory view, and a layout of all: plain values, all lengths in pixels. No Qt."""

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
FLAT = 3.5  # lines of text: what has few rows (or columns) gets higher ones up to this, so that they can be told apart


class BufferPlace(Struct, frozen=True):
    """Where a buffer's sheet stands, in pixels."""

    sheet: Sheet  # its cells
    x: float  # the left edge of its first cell
    y: float  # the upper edge of its first cell
    cell: float  # pixels, the width of a cell
    label: str = "above"  # the side of its name: above, left or right
    room: float = 0.0  # pixels, what a name above it may take
    tall: float = 1.0  # the height of a cell, in its widths

    @property
    def row(self) -> float:
        """The height of a cell."""
        return self.cell * self.tall

    @property
    def box(self) -> Box:
        """The rectangle of all cells."""
        return Box(self.x, self.y, self.sheet.cols * self.cell, self.sheet.rows * self.row)

    def middle(self, elements: Ints | int) -> NDArray[np.float64]:
        """Return the middle of the cells of these elements, shape (n, 2); (2,) of a single one."""
        rows, cols = self.sheet.cells(elements)
        found = np.empty((*np.shape(elements), 2))
        found[..., 0], found[..., 1] = self.x + (cols + 0.5) * self.cell, self.y + (rows + 0.5) * self.row
        return found

    def element_at(self, x: float, y: float) -> int | None:
        """Return the element whose cell holds this point, None where there is none."""
        return self.sheet.element(math.floor((y - self.y) / self.row), math.floor((x - self.x) / self.cell))


class Metrics(Struct, frozen=True):
    """Sizes that follow the text, in pixels."""

    line: float = 16.0  # the height of a line
    left: float = 40.0  # the width of the names left of matrices
    right: float = 40.0  # the width of those right of them
    name: float = 40.0  # the width of the widest name above a tile
    tiles: bool = False  # whether a product keeps a corner for tiles: it has some, or the other pane has

    lanes: float = 0.0  # lines below the caption, for the lanes of a warp that exchange values
    large: bool = False  # whether cells are as large as they go: in a lecture, or of some of the buffers
    strip: bool = False  # whether a strip below is kept for local buffers: it has some, or the other pane has

    @property
    def gap(self) -> float:
        """The free space between two buffers."""
        return round((0.4 if self.large else 0.8) * self.line)

    @property
    def largest(self) -> float:
        """The largest side of a cell."""
        return LARGEST_IN_LECTURE if self.large else LARGEST_CELL


class MemoryLayout(Struct, frozen=True, eq=False):
    """The places by buffer number; `caption` is free for text; `tiles` is the box of the shared buffers."""

    places: dict[int, BufferPlace]
    caption: Box
    tiles: Box | None = None

    def zoomed(self, scale: float, dx: float, dy: float) -> MemoryLayout:
        """Return the layout magnified, then moved by dx and dy; the room for the caption only moves with it."""
        places = {
            n: replace(p, x=p.x * scale + dx, y=p.y * scale + dy, cell=p.cell * scale)
            for n, p in self.places.items()
        }
        text = self.caption._replace(x=self.caption.x * scale + dx, y=self.caption.y * scale + dy)
        return MemoryLayout(places, text, self.tiles)


def around(places: Iterable[BufferPlace], metrics: Metrics) -> Box:
    """Return the box around buffers with their names above."""
    boxes = [p.box for p in places]
    x, y = min(b.x for b in boxes), min(b.y for b in boxes) - 1.3 * metrics.line
    return Box(x, y, max(b.right for b in boxes) - x, max(b.bottom for b in boxes) - y)


def snapped(cell: float) -> float:
    """Return the cell's side as whole pixels, so that all cells look alike, where that costs little."""
    whole = float(math.floor(cell + 1e-9))
    return whole if whole >= (0.78 if cell >= 4 else 0.88) * cell else cell

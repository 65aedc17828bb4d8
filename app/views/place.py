"""A buffer's place in the memory view, and a layout of all: plain values, all lengths in pixels. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .box import Box
from .sheet import Ints, Sheet

LARGEST_CELL = 64.0
FLAT = 3.5  # lines of text: what has few rows (or columns) gets higher ones up to this, so that they can be told apart


@dataclass(frozen=True)
class BufferPlace:
    """A buffer's sheet, where it stands, the width of a cell, the side of its name, and the name's room above.

    tall: the height of a cell, in its widths.
    """

    sheet: Sheet
    x: float
    y: float
    cell: float
    label: str = "above"
    room: float = 0.0
    tall: float = 1.0

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
        return np.stack([self.x + (cols + 0.5) * self.cell, self.y + (rows + 0.5) * self.row], axis=-1)

    def element_at(self, x: float, y: float) -> int | None:
        """Return the element whose cell holds this point, None where there is none."""
        return self.sheet.element(math.floor((y - self.y) / self.row), math.floor((x - self.x) / self.cell))


@dataclass(frozen=True)
class Metrics:
    """Sizes that follow the text: height of a line; widths of the names left, right, and of the widest above a tile.

    tiles: whether the corner of a product is kept for tiles, also where it has none: beside a pane that has some.
    """

    line: float = 16.0
    left: float = 40.0
    right: float = 40.0
    name: float = 40.0
    tiles: bool = False

    @property
    def gap(self) -> float:
        """The free space between two buffers."""
        return round(0.8 * self.line)


@dataclass(frozen=True, eq=False)
class Layout:
    """The places by buffer number; `caption` is free for text; `tiles` is the box of the shared buffers."""

    places: dict[int, BufferPlace]
    caption: Box
    tiles: Box | None = None

    def zoomed(self, scale: float, dx: float, dy: float) -> Layout:
        """Return the layout magnified, then moved by dx and dy; the room for the caption only moves with it."""
        places = {
            n: replace(p, x=p.x * scale + dx, y=p.y * scale + dy, cell=p.cell * scale)
            for n, p in self.places.items()
        }
        text = self.caption._replace(x=self.caption.x * scale + dx, y=self.caption.y * scale + dy)
        return Layout(places, text, self.tiles)


def around(places: Iterable[BufferPlace], metrics: Metrics) -> Box:
    """Return the box around buffers with their names above."""
    boxes = [p.box for p in places]
    x, y = min(b.x for b in boxes), min(b.y for b in boxes) - 1.3 * metrics.line
    return Box(x, y, max(b.right for b in boxes) - x, max(b.bottom for b in boxes) - y)


def snapped(cell: float) -> float:
    """Return the cell's side as whole pixels, so that all cells look alike, where that costs little."""
    whole = float(math.floor(cell + 1e-9))
    return whole if whole >= (0.78 if cell >= 4 else 0.88) * cell else cell

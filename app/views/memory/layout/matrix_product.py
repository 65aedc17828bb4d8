"""The layout of a matrix product: left factor left of the result, right factor above it, tiles in the corner.

Pure functions of buffers and a room. No Qt; all lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_position import FLAT, BufferPosition, MemoryLayout, Metrics, bounding_box, snap_cell
from .grid import place_in_flow
from .sheet import Sheet, sheet_of

SHARES = (1.0, 0.7, 0.4)  # shares of the preferred height of few rows, tried in turn
SMALLEST = 0.01  # pixels: the smallest cell
BELOW = 1 - 1e-12  # factor below the exact fit, because of rounding
LOW = 11  # lines: a lower corner has no room for both tiles and text


class _Product(Struct, frozen=True):
    """The sheets of a product, and the smallest size of its free corner."""

    left: Sheet  # of the left factor
    above: Sheet  # of the right factor
    result: Sheet  # of the product
    corner: tuple[float, float]  # pixels: width, without the names, and height
    flat: tuple[float, float] = (0.0, 0.0)  # pixels: the smallest width of a column and height of a row

    @property
    def rows(self) -> int:
        """The number of rows of cells in left factor and result."""
        return max(self.left.rows, self.result.rows)

    @property
    def cols(self) -> int:
        """The number of columns of cells in right factor and result."""
        return max(self.above.cols, self.result.cols)

    def wide(self, cell: float) -> float:
        """Compute the width of a column of the result: a cell's width, or more for few columns."""
        return max(cell, self.flat[0])

    def high(self, cell: float) -> float:
        """Compute the height of a row of the result."""
        return max(cell, self.flat[1])

    def size(self, cell: float) -> tuple[float, float]:
        """Compute the total width and height, without gaps and names."""
        width = max(self.left.cols * cell, self.corner[0]) + self.cols * self.wide(cell)
        return width, max(self.above.rows * cell, self.corner[1]) + self.rows * self.high(cell)


def place_product(
    buffers: Sequence[Buffer], roles: Mapping[str, int], shared: list[int], room: Box, metrics: Metrics
) -> MemoryLayout:
    """Place the factors and the result with one size of cell, and the shared buffers in the corner.

    The text goes into the corner too. If the corner is low and has tiles, the text gets one line below everything.
    """
    places, corner, spare = _place_matrices(buffers, roles, room, metrics, bool(shared) or metrics.tiles)
    if corner.height >= LOW * metrics.line or not (shared or metrics.tiles):
        return _fill_corner(buffers, places, shared, corner, spare, metrics)
    line = 1.3 * metrics.line
    places, corner, spare = _place_matrices(buffers, roles, room.inset(bottom=line), metrics, True)
    tiles = _align_tiles(place_in_flow(buffers, shared, corner, metrics), corner.bottom, spare)
    return MemoryLayout(places | tiles, Box(room.x, room.bottom - line, room.width, line), corner)


def _place_matrices(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, tiles: bool
) -> tuple[dict[int, BufferPosition], Box, float]:
    """Place the matrices; return their positions, the free corner, and its height above the matrices."""
    left, above, result = (sheet_of(buffers[roles[r]]) for r in ("left", "above", "result"))
    inner, gap = room.inset(left=metrics.left, right=metrics.right), metrics.gap
    corner_w, corner_h = _least_corner(tiles, room, metrics)
    limits = inner.width - gap, inner.height - gap
    free = _Product(left, above, result, (max(0.0, corner_w - metrics.left), corner_h))
    shape, cell = _fit_product(free, limits, metrics)
    width, height = shape.size(cell)
    above_height, column_width, row_height = (
        max(shape.above.rows * cell, corner_h),
        shape.wide(cell),
        shape.high(cell),
    )
    # Spare room goes around the picture, which centres it.
    dx, dy = max(0.0, limits[0] - width) / 2, max(0.0, limits[1] - height) / 2
    x = math.floor(inner.x + width - shape.cols * column_width + gap + dx)
    y = math.floor(inner.y + above_height + gap + dy)
    places = {
        roles["left"]: BufferPosition(
            left, x - gap - left.cols * cell, y, cell, "left", tall=row_height / cell
        ),
        roles["above"]: BufferPosition(
            above, x, y - gap - above.rows * cell, column_width, "right", tall=cell / column_width
        ),
        roles["result"]: BufferPosition(result, x, y, column_width, "right", tall=row_height / column_width),
    }
    corner_x = min(room.x + dx, x - gap - left.cols * cell)
    corner = Box(corner_x, room.y, max(0.0, x - gap - metrics.line - corner_x), y - gap - room.y)
    return places, corner, dy


def _fit_product(product: _Product, limits: tuple[float, float], metrics: Metrics) -> tuple[_Product, float]:
    """Find the largest cell that fits, with few columns or rows widened; return product and cell."""
    line, unstretched = metrics.line, _largest_cell(product, limits, metrics.largest)
    for share in SHARES:
        minimum = (share * min(line, FLAT * line / n) for n in (product.cols, product.rows))
        stretched = replace(product, flat=(next(minimum), next(minimum)))
        cell = _largest_cell(stretched, limits, metrics.largest)
        if cell >= unstretched / 2:
            return stretched, snap_cell(cell)
    return product, snap_cell(unstretched)


def _largest_cell(product: _Product, limits: tuple[float, float], limit: float) -> float:
    """Compute the largest cell, up to `limit`, with which a product fits these limits."""
    (width, height), (corner_w, corner_h), (flat_w, flat_h) = limits, product.corner, product.flat
    across = _largest(product.left.cols, corner_w, product.cols, flat_w, width)
    down = _largest(product.above.rows, corner_h, product.rows, flat_h, height)
    return max(SMALLEST, min(across, down, limit))


def _largest(n: int, minimum: float, m: int, flat: float, limit: float) -> float:
    """Compute the largest cell with max(n * cell, minimum) + m * max(cell, flat) <= limit; 0 if none."""
    if minimum + m * flat > limit:
        return 0.0
    return min(limit / (n + m), (limit - m * flat) / n, (limit - minimum) / m) * BELOW


def _least_corner(tiles: bool, room: Box, metrics: Metrics) -> tuple[float, float]:
    """Compute the smallest width and height of the corner, for thin factors."""
    if tiles:
        return 0.42 * room.width, min(max(0.36 * room.height, 11 * metrics.line), 0.46 * room.height)
    return min(11 * metrics.line, 0.4 * room.width), min(5 * metrics.line, 0.3 * room.height)


def _fill_corner(
    buffers: Sequence[Buffer],
    places: dict[int, BufferPosition],
    shared: list[int],
    corner: Box,
    spare: float,
    metrics: Metrics,
) -> MemoryLayout:
    """Place the shared buffers in the corner above some lines of text; without them the text gets the corner.

    spare: the height of the corner above the other buffers; used only if it makes the cells larger.
    """
    if not shared:
        return MemoryLayout(places, corner.inset(top=spare))
    lines = min(4.4 * metrics.line, 0.4 * corner.height)
    tiles = _align_tiles(
        place_in_flow(buffers, shared, corner.inset(bottom=lines), metrics), corner.bottom - lines, spare
    )
    top = bounding_box(tiles.values(), metrics).bottom + 0.4 * metrics.line
    caption = Box(corner.x, top, corner.width, corner.bottom - top)
    return MemoryLayout(places | tiles, caption, corner.inset(bottom=corner.bottom - top))


def _align_tiles(tiles: dict[int, BufferPosition], bottom: float, spare: float) -> dict[int, BufferPosition]:
    """Move the tiles down to the top of the matrices if they leave that much room below."""
    if not tiles:
        return {}
    offset = math.floor(min(max(0.0, bottom - max(p.box.bottom for p in tiles.values())), spare))
    return {n: replace(p, y=p.y + offset) for n, p in tiles.items()}

"""A matrix product as in a textbook: the left factor left of the result, the right one above it, tiles in the corner.

Pure functions from buffers and a room to places. No Qt; all lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_place import FLAT, BufferPlace, MemoryLayout, Metrics, around, snapped
from .grid import flow
from .sheet import Sheet, sheet_of

SHARES = (1.0, 0.7, 0.4)  # of the height that few rows are to get, tried in turn
SMALLEST = 0.01  # pixels of a cell
BELOW = 1 - 1e-12  # of what fits exactly, so that rounding makes it no larger
LOW = 11  # lines: a corner that is lower than this has no room for tiles and text


class _Product(Struct, frozen=True):
    """The sheets of a product, and what its free corner needs at least."""

    left: Sheet  # of the left factor
    above: Sheet  # of the right factor
    result: Sheet  # of the product
    corner: tuple[float, float]  # pixels: width, without the names, and height
    flat: tuple[float, float] = (0.0, 0.0)  # pixels: the least width of a column, the least height of a row

    @property
    def rows(self) -> int:
        """Rows of cells beside each other, of left factor and result."""
        return max(self.left.rows, self.result.rows)

    @property
    def cols(self) -> int:
        """Columns of cells below each other, of right factor and result."""
        return max(self.above.cols, self.result.cols)

    def wide(self, cell: float) -> float:
        """Return the width of a column of the result: a cell's, or more where there are few."""
        return max(cell, self.flat[0])

    def high(self, cell: float) -> float:
        """Return the height of a row of the result."""
        return max(cell, self.flat[1])

    def size(self, cell: float) -> tuple[float, float]:
        """Return width and height of all, without gaps and names."""
        width = max(self.left.cols * cell, self.corner[0]) + self.cols * self.wide(cell)
        return width, max(self.above.rows * cell, self.corner[1]) + self.rows * self.high(cell)


def product(
    buffers: Sequence[Buffer], roles: Mapping[str, int], shared: list[int], room: Box, metrics: Metrics
) -> MemoryLayout:
    """Place the factors and the result with one size of cell, and the shared buffers in the corner.

    The text stands in the corner too or, where that is low and has tiles, in one line below everything.
    """
    found, corner, spare = _placed(buffers, roles, room, metrics, bool(shared) or metrics.tiles)
    if corner.height >= LOW * metrics.line or not (shared or metrics.tiles):
        return _corner(buffers, found, shared, corner, spare, metrics)
    line = 1.3 * metrics.line
    found, corner, spare = _placed(buffers, roles, room.inset(bottom=line), metrics, True)
    tiles = _raised(flow(buffers, shared, corner, metrics), corner.bottom, spare)
    return MemoryLayout(found | tiles, Box(room.x, room.bottom - line, room.width, line), corner)


def _placed(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, tiles: bool
) -> tuple[dict[int, BufferPlace], Box, float]:
    """Return the places of the matrices, the free corner, and how far that reaches above them."""
    left, above, result = (sheet_of(buffers[roles[r]]) for r in ("left", "above", "result"))
    inner, gap = room.inset(left=metrics.left, right=metrics.right), metrics.gap
    corner_w, corner_h = _least_corner(tiles, room, metrics)
    limits = inner.width - gap, inner.height - gap
    free = _Product(left, above, result, (max(0.0, corner_w - metrics.left), corner_h))
    shape, cell = _fitted(free, limits, metrics)
    width, height = shape.size(cell)
    high, wide, tall = max(shape.above.rows * cell, corner_h), shape.wide(cell), shape.high(cell)
    # Spare room goes around the picture, so that it stands in the middle.
    dx, dy = max(0.0, limits[0] - width) / 2, max(0.0, limits[1] - height) / 2
    x = math.floor(inner.x + width - shape.cols * wide + gap + dx)
    y = math.floor(inner.y + high + gap + dy)
    places = {
        roles["left"]: BufferPlace(left, x - gap - left.cols * cell, y, cell, "left", tall=tall / cell),
        roles["above"]: BufferPlace(above, x, y - gap - above.rows * cell, wide, "right", tall=cell / wide),
        roles["result"]: BufferPlace(result, x, y, wide, "right", tall=tall / wide),
    }
    corner_x = min(room.x + dx, x - gap - left.cols * cell)
    corner = Box(corner_x, room.y, max(0.0, x - gap - metrics.line - corner_x), y - gap - room.y)
    return places, corner, dy


def _fitted(product: _Product, limits: tuple[float, float], metrics: Metrics) -> tuple[_Product, float]:
    """Return the product with the largest cell that fits, and with wider columns or rows where they are few."""
    line, plain = metrics.line, _cell(product, limits, metrics.largest)
    for share in SHARES:
        flat = (share * min(line, FLAT * line / n) for n in (product.cols, product.rows))
        stretched = replace(product, flat=(next(flat), next(flat)))
        cell = _cell(stretched, limits, metrics.largest)
        if cell >= plain / 2:
            return stretched, snapped(cell)
    return product, snapped(plain)


def _cell(product: _Product, limits: tuple[float, float], most: float) -> float:
    """Return the largest cell, up to `most`, with which a product is within these limits."""
    (width, height), (corner_w, corner_h), (flat_w, flat_h) = limits, product.corner, product.flat
    across = _largest(product.left.cols, corner_w, product.cols, flat_w, width)
    down = _largest(product.above.rows, corner_h, product.rows, flat_h, height)
    return max(SMALLEST, min(across, down, most))


def _largest(n: int, least: float, m: int, flat: float, limit: float) -> float:
    """Return the largest cell for which max(n * cell, least) + m * max(cell, flat) <= limit, 0 where none is."""
    if least + m * flat > limit:
        return 0.0
    return min(limit / (n + m), (limit - m * flat) / n, (limit - least) / m) * BELOW


def _least_corner(tiles: bool, room: Box, metrics: Metrics) -> tuple[float, float]:
    """Return the width and height that the corner gets even if the factors are thin."""
    if tiles:
        return 0.42 * room.width, min(max(0.36 * room.height, 11 * metrics.line), 0.46 * room.height)
    return min(11 * metrics.line, 0.4 * room.width), min(5 * metrics.line, 0.3 * room.height)


def _corner(
    buffers: Sequence[Buffer],
    places: dict[int, BufferPlace],
    shared: list[int],
    corner: Box,
    spare: float,
    metrics: Metrics,
) -> MemoryLayout:
    """Place the shared buffers in the corner with some lines of text below, or leave it all to the text.

    spare: how far the corner reaches above the other buffers; used only where it makes the cells larger.
    """
    if not shared:
        return MemoryLayout(places, corner.inset(top=spare))
    lines = min(4.4 * metrics.line, 0.4 * corner.height)
    tiles = _raised(flow(buffers, shared, corner.inset(bottom=lines), metrics), corner.bottom - lines, spare)
    top = around(tiles.values(), metrics).bottom + 0.4 * metrics.line
    caption = Box(corner.x, top, corner.width, corner.bottom - top)
    return MemoryLayout(places | tiles, caption, corner.inset(bottom=corner.bottom - top))


def _raised(tiles: dict[int, BufferPlace], bottom: float, spare: float) -> dict[int, BufferPlace]:
    """Return the tiles beginning as high as the matrices do, where they leave that much room below."""
    if not tiles:
        return {}
    down = math.floor(min(max(0.0, bottom - max(p.box.bottom for p in tiles.values())), spare))
    return {n: replace(p, y=p.y + down) for n, p in tiles.items()}

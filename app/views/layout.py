"""Where each buffer stands in the memory view: pure functions from buffers and a size to places. No Qt.

A matrix product is drawn as in a textbook: the left factor left of the result, the right factor above it,
shared memory enlarged in the free corner. Anything else flows in a grid. All lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...tracer.trace import Buffer
from .box import Box
from .sheet import Ints, Sheet, sheet_of

LARGEST_CELL = 64.0


@dataclass(frozen=True)
class Place:
    """A buffer's sheet, where it stands, the side of a cell, the side of its name, and the name's room above."""

    sheet: Sheet
    x: float
    y: float
    cell: float
    label: str = "above"
    room: float = 0.0

    @property
    def box(self) -> Box:
        """The rectangle of all cells."""
        return Box(self.x, self.y, self.sheet.cols * self.cell, self.sheet.rows * self.cell)

    def middle(self, elements: Ints | int) -> NDArray[np.float64]:
        """Return the middle of the cells of these elements, shape (n, 2); (2,) of a single one."""
        rows, cols = self.sheet.cells(elements)
        return np.stack([self.x + (cols + 0.5) * self.cell, self.y + (rows + 0.5) * self.cell], axis=-1)

    def element_at(self, x: float, y: float) -> int | None:
        """Return the element whose cell holds this point, None where there is none."""
        return self.sheet.element(math.floor((y - self.y) / self.cell), math.floor((x - self.x) / self.cell))


@dataclass(frozen=True)
class Metrics:
    """Sizes that follow the text: height of a line, widths of the names left and right, device pixels per pixel."""

    line: float = 16.0
    left: float = 40.0
    right: float = 40.0
    ratio: float = 1.0

    @property
    def gap(self) -> float:
        """The free space between two buffers."""
        return round(0.8 * self.line)


@dataclass(frozen=True, eq=False)
class Layout:
    """The places by buffer number; `caption` is free for text; `tiles` is the box of the shared buffers."""

    places: dict[int, Place]
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


def roles_of(buffers: Sequence[Buffer], stored: Iterable[int], named: Mapping[str, str]) -> dict[str, int]:
    """Return the buffer number for "left", "above" and "result"; empty where the launch is no product.

    named: buffer name -> role, as a scenario gives them. Without names: three two-dimensional global
    buffers (M, K), (K, N), (M, N), of which the last is among the `stored` ones.
    """
    roles = {named[b.name]: n for n, b in enumerate(buffers) if b.space == "global" and b.name in named}
    if {"left", "above", "result"} <= roles.keys() and all(
        len(buffers[n].shape) == 2 for n in roles.values()
    ):
        return roles
    flat = [n for n, b in enumerate(buffers) if b.space == "global" and len(b.shape) == 2]
    for result in (n for n in flat if n in set(stored)):
        for left in (n for n in flat if n != result):
            for above in (n for n in flat if n not in (result, left)):
                if _is_product(buffers[left].shape, buffers[above].shape, buffers[result].shape):
                    return {"left": left, "above": above, "result": result}
    return {}


def _is_product(left: tuple[int, ...], above: tuple[int, ...], result: tuple[int, ...]) -> bool:
    return left[1] == above[0] and result == (left[0], above[1])


def arrange(buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics) -> Layout:
    """Return where every buffer stands in `room`; `roles` is what `roles_of` returned.

    Local buffers get a strip below; global ones without a role a strip on the right of a product.
    """
    spaces = {
        s: [n for n, b in enumerate(buffers) if b.space == s]
        for s in ("global", "constant", "shared", "local")
    }
    rest = [n for n in spaces["global"] + spaces["constant"] if n not in roles.values()]
    places: dict[int, Place] = {}
    if spaces["local"]:
        strip = 0.22 * room.height
        below = Box(room.x, room.bottom - strip, room.width, strip)
        places |= flow(buffers, spaces["local"], below, metrics)
        room = room.inset(bottom=strip + metrics.gap)
    if not roles:
        return _flowing(buffers, rest, spaces["shared"], room, metrics, places)
    if rest:
        strip = 0.26 * room.width
        beside = Box(room.right - strip, room.y, strip, room.height)
        places |= flow(buffers, rest, beside, metrics)
        room = room.inset(right=strip + metrics.gap)
    product = _product(buffers, roles, spaces["shared"], room, metrics)
    return Layout(places | product.places, product.caption, product.tiles)


def _flowing(
    buffers: Sequence[Buffer],
    rest: list[int],
    shared: list[int],
    room: Box,
    metrics: Metrics,
    places: dict[int, Place],
) -> Layout:
    """Place global buffers on the left, shared ones on the right, and leave three lines of text at the foot."""
    lines = min(3.8 * metrics.line, 0.3 * room.height)
    caption = Box(room.x, room.bottom - lines, room.width, lines)
    room = room.inset(bottom=caption.height)
    if not shared or not rest:
        return Layout(
            places | flow(buffers, rest or shared, room, metrics), caption, room if shared else None
        )
    strip = 0.4 * room.width
    tiles = Box(room.right - strip, room.y, strip, room.height)
    places |= flow(buffers, rest, room.inset(right=strip + 2 * metrics.gap), metrics)
    return Layout(places | flow(buffers, shared, tiles, metrics), caption, tiles)


def _product(
    buffers: Sequence[Buffer], roles: Mapping[str, int], shared: list[int], room: Box, metrics: Metrics
) -> Layout:
    """Place the factors and the result with one size of cell, and the shared buffers in the corner."""
    left, above, result = (sheet_of(buffers[roles[r]]) for r in ("left", "above", "result"))
    rows, cols = max(left.rows, result.rows), max(above.cols, result.cols)
    inner = room.inset(left=metrics.left, right=metrics.right)
    wide, high = inner.width - metrics.gap, inner.height - metrics.gap
    corner_w, corner_h = _least_corner(bool(shared), room, metrics)
    corner_w = max(0.0, corner_w - metrics.left)
    cell = snapped(
        _common_cell((left.cols, cols, wide, corner_w), (above.rows, rows, high, corner_h)), metrics.ratio
    )
    x = inner.x + max(left.cols * cell, corner_w) + metrics.gap
    y = inner.y + max(above.rows * cell, corner_h) + metrics.gap
    # Spare room goes around the picture, so that it stands in the middle.
    dx = max(0.0, (inner.right - x - cols * cell) / 2)
    dy = max(0.0, (inner.bottom - y - rows * cell) / 2)
    x, y = _on_pixel(x + dx, metrics.ratio), _on_pixel(y + dy, metrics.ratio)
    places = {
        roles["left"]: Place(left, x - metrics.gap - left.cols * cell, y, cell, "left"),
        roles["above"]: Place(above, x, y - metrics.gap - above.rows * cell, cell, "right"),
        roles["result"]: Place(result, x, y, cell, "right"),
    }
    corner_x = min(room.x + dx, x - metrics.gap - left.cols * cell)
    corner = Box(
        corner_x, room.y, max(0.0, x - metrics.gap - metrics.line - corner_x), y - metrics.gap - room.y
    )
    return _corner(buffers, places, shared, corner, dy, metrics)


def _least_corner(tiles: bool, room: Box, metrics: Metrics) -> tuple[float, float]:
    """Return the width and height that the corner gets even if the factors are thin."""
    if tiles:
        return 0.42 * room.width, min(max(0.36 * room.height, 11 * metrics.line), 0.46 * room.height)
    return min(11 * metrics.line, 0.4 * room.width), min(5 * metrics.line, 0.3 * room.height)


def _common_cell(*axes: tuple[int, int, float, float]) -> float:
    """Return the largest cell with max(factor * cell, corner) + result * cell <= length on every axis."""
    fits = [
        min(length / (factor + result), (length - corner) / result) for factor, result, length, corner in axes
    ]
    return min(LARGEST_CELL, max(0.01, min(fits)))


def _corner(
    buffers: Sequence[Buffer],
    places: dict[int, Place],
    shared: list[int],
    corner: Box,
    spare: float,
    metrics: Metrics,
) -> Layout:
    """Place the shared buffers in the corner with some lines of text below, or leave it all to the text.

    spare: how far the corner reaches above the other buffers; used only where it makes the cells larger.
    """
    if not shared:
        return Layout(places, corner.inset(top=spare))
    lines = min(4.4 * metrics.line, 0.4 * corner.height)
    tiles = flow(buffers, shared, corner.inset(bottom=lines), metrics)
    unused = corner.bottom - lines - max(p.box.bottom for p in tiles.values())
    down = _on_pixel(min(max(0.0, unused), spare), metrics.ratio)
    tiles = {n: replace(p, y=p.y + down) for n, p in tiles.items()}
    top = max(p.box.bottom for p in tiles.values()) + 0.4 * metrics.line
    caption = Box(corner.x, top, corner.width, corner.bottom - top + 0.6 * metrics.gap)
    return Layout(places | tiles, caption, corner.inset(bottom=corner.bottom - top))


def flow(buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics) -> dict[int, Place]:
    """Place buffers in a grid of equal slots, each with its name above; the grid that gives the largest cells."""
    if not numbers:
        return {}
    grids = [_grid(buffers, numbers, room, metrics, columns) for columns in range(1, len(numbers) + 1)]
    return max(grids, key=lambda places: sum(math.log(p.cell) for p in places.values()))


def _grid(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics, columns: int
) -> dict[int, Place]:
    """Place buffers in `columns` columns; cells of about the same size are made the same."""
    gap, head = metrics.gap, 1.3 * metrics.line
    down = -(-len(numbers) // columns)
    width = max(1.0, (room.width - gap * (columns - 1)) / columns)
    height = max(1.0, (room.height - gap * (down - 1)) / down - head)
    sheets = [sheet_of(buffers[n], width / height) for n in numbers]
    cells = [min(LARGEST_CELL, width / s.cols, height / s.rows) for s in sheets]
    if min(cells) > 0.5 * max(cells):
        cells = [min(cells)] * len(cells)
    cells = [snapped(c, metrics.ratio) for c in cells]
    step_x = min(width, max(s.cols * c for s, c in zip(sheets, cells, strict=True)) + metrics.line) + gap
    step_y = min(height, max(s.rows * c for s, c in zip(sheets, cells, strict=True))) + head + gap
    spots = [
        (
            _on_pixel(room.x + i % columns * step_x, metrics.ratio),
            _on_pixel(room.y + i // columns * step_y + head, metrics.ratio),
        )
        for i in range(len(numbers))
    ]
    name = step_x - gap
    return {
        n: Place(s, x, y, c, room=name) for n, s, c, (x, y) in zip(numbers, sheets, cells, spots, strict=True)
    }


def snapped(cell: float, ratio: float) -> float:
    """Return the cell's side as whole device pixels, so that all cells look alike, where that costs little."""
    whole = math.floor(cell * ratio + 1e-9) / ratio
    return whole if whole >= (0.78 if cell * ratio >= 4 else 0.88) * cell else cell


def _on_pixel(length: float, ratio: float) -> float:
    return math.floor(length * ratio) / ratio

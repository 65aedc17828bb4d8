"""The layout of a chart of one launch: names, the curve of concurrent blocks, phases, and rows over time."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QRectF, QSizeF

from ...tracer.model.array_types import Ints
from ..widgets.theme import Theme
from .model.place import Level

NAMES = 96  # pixels: the width of the row names
FREE = 14  # pixels that stay free at the right
CURVE, BANDS, GAP = 26, 18, 4  # pixels: the curve, the names of phases, and the gap below them
AXIS = 20  # pixels: the numbers below the rows
TALLEST = {"gpu": 96, "multiprocessor": 96, "block": 96, "warp": 110}  # pixels: the largest height of a row

TimeRange = tuple[float, float]  # nanoseconds at the left and the right edge, from the origin of the axis


class GpuLayout(Struct, frozen=True):
    """Rectangles of a chart, in logical pixels."""

    names: QRectF  # of the rows
    curve: QRectF  # concurrent blocks over time; empty where warps are shown
    bands: QRectF  # names of phases; empty where blocks are shown
    rows: QRectF  # one for each multiprocessor, lane, warp or kind
    count: int  # of rows
    span: TimeRange

    def x(self, nanoseconds: float) -> float:
        """Convert nanoseconds to an x coordinate."""
        first, last = self.span
        return self.rows.left() + (nanoseconds - first) / (last - first) * self.rows.width()

    def time(self, x: float) -> float:
        """Convert an x coordinate to nanoseconds."""
        first, last = self.span
        return first + (x - self.rows.left()) / self.rows.width() * (last - first)

    def row(self, y: float) -> int:
        """Find the row at a height, or the nearest one."""
        share = (y - self.rows.top()) / max(self.rows.height(), 1.0)
        return min(max(int(share * self.count), 0), self.count - 1)

    def box(self, row: int) -> QRectF:
        """Return the rectangle of a row."""
        row_height = self.rows.height() / self.count
        return QRectF(self.rows.left(), self.rows.top() + row * row_height, self.rows.width(), row_height)


def gpu_layout(
    size: QSizeF, level: Level, count: int, span: TimeRange, theme: Theme, ratio: float
) -> GpuLayout:
    """Compute the layout of a view of this size; the rows fill it up to their largest height.

    count: of rows. ratio: device pixels per logical pixel; the rows together cover an integral number of device pixels.
    """
    left, gap = theme.px(NAMES), theme.px(GAP)
    width = max(1.0, size.width() - left - theme.px(FREE))
    shows_blocks = level in ("gpu", "multiprocessor")
    header = theme.px(CURVE if shows_blocks else BANDS)
    top = header + gap
    room = max(1.0, size.height() - top - theme.px(AXIS))
    rows_height = min(room, count * theme.px(TALLEST[level]))
    rows_height = max(1, int(rows_height * ratio)) / ratio
    above = QRectF(left, 0, width, header)
    rows = QRectF(left, top, width, rows_height)
    empty = QRectF(left, 0, width, 0)
    return GpuLayout(
        QRectF(0, top, left, rows_height), above if shows_blocks else empty, empty if shows_blocks else above, rows,
        count, span,
    )  # fmt: skip


def wanted_height(level: Level, count: int, theme: Theme) -> int:
    """Return the largest useful height of a chart with so many rows."""
    return theme.px(max(CURVE, BANDS)) + theme.px(GAP) + count * theme.px(TALLEST[level]) + theme.px(AXIS)


def edges_of(count: int, height: int) -> Ints:
    """Return the edges of all rows, in device pixels: (count + 1,)."""
    return np.round(np.arange(count + 1) * (height / count)).astype(np.int64)

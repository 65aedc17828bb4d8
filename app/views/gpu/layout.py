"""Where things stand in a chart of one launch: names, the curve of blocks at once, phases, and rows over time."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QRectF, QSizeF

from ....tracer.model.array_types import Ints
from ...gpu.place import Level
from ...widgets.theme import Theme

NAMES = 96  # pixels: the room for the names of the rows
FREE = 14  # pixels that are free at the right
CURVE, BANDS, GAP = 26, 18, 4  # pixels: the curve of blocks at once, the names of phases, what is between
TALLEST = {"gpu": 96, "multiprocessor": 96, "block": 96, "warp": 110}  # pixels: the largest height of a row

TimeRange = tuple[float, float]  # nanoseconds at the left and the right edge, from the origin of the axis


class GpuLayout(Struct, frozen=True):
    """Where things stand, in logical pixels."""

    names: QRectF  # of the rows
    curve: QRectF  # blocks at once over time; empty where warps are shown
    bands: QRectF  # names of phases; empty where blocks are shown
    rows: QRectF  # one for each multiprocessor, lane, warp or kind
    count: int  # of rows
    span: TimeRange

    def x(self, nanoseconds: float) -> float:
        """Return where a time stands."""
        first, last = self.span
        return self.rows.left() + (nanoseconds - first) / (last - first) * self.rows.width()

    def time(self, x: float) -> float:
        """Return the time that stands at a place, in nanoseconds."""
        first, last = self.span
        return first + (x - self.rows.left()) / self.rows.width() * (last - first)

    def row(self, y: float) -> int:
        """Return the row at a height, the nearest one outside the rows."""
        share = (y - self.rows.top()) / max(self.rows.height(), 1.0)
        return min(max(int(share * self.count), 0), self.count - 1)

    def box(self, row: int) -> QRectF:
        """Return where a row stands."""
        tall = self.rows.height() / self.count
        return QRectF(self.rows.left(), self.rows.top() + row * tall, self.rows.width(), tall)


def gpu_layout(
    size: QSizeF, level: Level, count: int, span: TimeRange, theme: Theme, ratio: float
) -> GpuLayout:
    """Return the places in a view of this size; the rows fill it, as far as they may be so high.

    count: of rows; ratio: device pixels to a logical one, of which the rows take a whole number together.
    """
    left, gap = theme.px(NAMES), theme.px(GAP)
    width = max(1.0, size.width() - left - theme.px(FREE))
    of_blocks = level in ("gpu", "multiprocessor")
    high = theme.px(CURVE if of_blocks else BANDS)
    top = high + gap
    room = max(1.0, size.height() - top - 1)
    tall = min(room, count * theme.px(TALLEST[level]))
    tall = max(1, int(tall * ratio)) / ratio
    above = QRectF(left, 0, width, high)
    rows = QRectF(left, top, width, tall)
    nothing = QRectF(left, 0, width, 0)
    return GpuLayout(
        QRectF(0, top, left, tall), above if of_blocks else nothing, nothing if of_blocks else above, rows,
        count, span,
    )  # fmt: skip


def wanted_height(level: Level, count: int, theme: Theme) -> int:
    """Return the largest height that a chart of so many rows can use."""
    return theme.px(max(CURVE, BANDS)) + theme.px(GAP) + count * theme.px(TALLEST[level]) + 1


def edges_of(count: int, height: int) -> Ints:
    """Return where rows begin and the last one ends, in device pixels of so many: (count + 1,)."""
    return np.round(np.arange(count + 1) * (height / count)).astype(np.int64)

"""A timeline with highlighted warps or blocks: their rows keep their colours, the rest is dimmed."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from ....tracer.model.trace import WARP
from ...model.spotlight import Lit
from ...widgets.theme import Theme
from ..common.dimming import dimmed
from ..common.drawing import clipped, pen
from .paint import TimelineViewData, bar_of, draw_still
from .places import TimelineLayout

FRAME = 2.0  # pixels


def draw_lit(
    painter: QPainter,
    data: TimelineViewData,
    layout: TimelineLayout,
    theme: Theme,
    ratio: float,
    highlight: Lit,
    keep: float,
) -> None:
    """Draw the static part of a timeline with highlighted things; keep: the opacity of all other shapes."""
    draw_still(painter, data, layout, dimmed(theme, keep), ratio)
    for rows in _merge_adjacent(
        [row_of(layout, warp, len(data.codes)) for warp in lit_warps(data, highlight)]
    ):
        with clipped(painter, rows):
            draw_still(painter, data, layout, theme, ratio)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.palette.text, FRAME))
        painter.drawRect(rows.adjusted(-FRAME / 2, -FRAME / 2, FRAME / 2, FRAME / 2))
    for block in sorted(highlight.blocks):
        painter.fillRect(bar_of(data, layout.strip, block), theme.colour("text"))


def lit_warps(data: TimelineViewData, highlight: Lit) -> list[int]:
    """List the highlighted warps of the selected block, ascending: all of them if the block is highlighted."""
    named = highlight.warps | {thread // WARP for thread in highlight.threads}
    return [warp for warp in range(len(data.codes)) if warp in named or data.block.block in highlight.blocks]


def row_of(layout: TimelineLayout, warp: int, warps: int) -> QRectF:
    """Compute the rectangle of a warp's row."""
    height = layout.rows.height() / warps
    return QRectF(layout.rows.left(), layout.rows.top() + warp * height, layout.rows.width(), height)


def _merge_adjacent(rows: list[QRectF]) -> list[QRectF]:
    """Merge adjacent rows, which are given from the top."""
    merged = rows[:1]
    for row in rows[1:]:
        if row.top() - merged[-1].bottom() < 0.5:
            merged[-1] = merged[-1].united(row)
        else:
            merged.append(row)
    return merged

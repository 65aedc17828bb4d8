"""A timeline with highlighted warps or blocks: their rows keep their colours, the rest is dimmed."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from ....tracer.model.trace import WARP
from ...model.spotlight import Highlight
from ...widgets.theme import Theme
from ..common.dimming import dim_theme
from ..common.drawing import clipped, pen
from .paint import TimelineViewData, block_bar, draw_static
from .timeline_layout import TimelineLayout

FRAME = 2.0  # pixels


def draw_highlighted_timeline(
    painter: QPainter,
    data: TimelineViewData,
    layout: TimelineLayout,
    theme: Theme,
    ratio: float,
    highlight: Highlight,
    keep: float,
) -> None:
    """Draw the static part of a timeline with highlighted things; keep: the opacity of all other shapes."""
    draw_static(painter, data, layout, dim_theme(theme, keep), ratio)
    for rows in _merge_adjacent(
        [row_rect(layout, warp, len(data.codes)) for warp in highlighted_warps(data, highlight)]
    ):
        with clipped(painter, rows):
            draw_static(painter, data, layout, theme, ratio)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.palette.text, FRAME))
        painter.drawRect(rows.adjusted(-FRAME / 2, -FRAME / 2, FRAME / 2, FRAME / 2))
    for block in sorted(highlight.blocks):
        painter.fillRect(block_bar(data, layout.strip, block), theme.colour("text"))


def highlighted_warps(data: TimelineViewData, highlight: Highlight) -> list[int]:
    """List the highlighted warps of the selected block, ascending: all of them if the block is highlighted."""
    named = highlight.warps | {thread // WARP for thread in highlight.threads}
    return [warp for warp in range(len(data.codes)) if warp in named or data.block.block in highlight.blocks]


def row_rect(layout: TimelineLayout, warp: int, warps: int) -> QRectF:
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

"""A timeline in which some warps, or blocks, stand out: their rows as they are, all else dimmed."""

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
    at: TimelineLayout,
    theme: Theme,
    ratio: float,
    lit: Lit,
    keep: float,
) -> None:
    """Draw the still part of a timeline with this in the spotlight; keep: how much is left of all other shapes."""
    draw_still(painter, data, at, dimmed(theme, keep), ratio)
    for rows in _together([row_of(at, warp, len(data.codes)) for warp in lit_warps(data, lit)]):
        with clipped(painter, rows):
            draw_still(painter, data, at, theme, ratio)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.palette.text, FRAME))
        painter.drawRect(rows.adjusted(-FRAME / 2, -FRAME / 2, FRAME / 2, FRAME / 2))
    for block in sorted(lit.blocks):
        painter.fillRect(bar_of(data, at.strip, block), theme.colour("text"))


def lit_warps(data: TimelineViewData, lit: Lit) -> list[int]:
    """Return the warps of the selected block that stand out, ascending: all of them where the block does."""
    named = lit.warps | {thread // WARP for thread in lit.threads}
    return [warp for warp in range(len(data.codes)) if warp in named or data.block.block in lit.blocks]


def row_of(at: TimelineLayout, warp: int, warps: int) -> QRectF:
    """Return where a warp's row stands."""
    tall = at.rows.height() / warps
    return QRectF(at.rows.left(), at.rows.top() + warp * tall, at.rows.width(), tall)


def _together(rows: list[QRectF]) -> list[QRectF]:
    """Return rows, given from the top, with those in one that follow one another."""
    found = rows[:1]
    for row in rows[1:]:
        if row.top() - found[-1].bottom() < 0.5:
            found[-1] = found[-1].united(row)
        else:
            found.append(row)
    return found

"""The legend of the charts: kinds of segments, alternating blocks, and recorded warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...tracer.hardware.timeline import SEGMENT_KINDS
from ..views.common.drawing import LEFT, MIDDLE, RASTER_PIXELS_PER_POINT, draw_text, is_vector
from ..views.common.view import guard_handler
from ..widgets.patterns import mixed, swatch
from ..widgets.theme import Theme
from .image import DARK, KIND_LOOKS, PALE
from .layout import FREE, NAMES
from .shown import ChartView

SIDE, GAP, TEXT = 11, 14, 10.5  # pixels: side of a square, gap between entries; text size
HEIGHT = 18  # pixels
BLOCKS, DETAILS = "blocks, one after the other", "warps recorded"


class LegendEntry(NamedTuple):
    """A colour sample and its meaning."""

    sign: str  # a kind of segment, or one of BLOCKS and DETAILS
    text: str


def legend_of(shown: Sequence[ChartView]) -> list[LegendEntry]:
    """List the legend entries of some charts."""
    signs = {BLOCKS for chart in shown if chart.shows_blocks}
    signs |= {DETAILS for chart in shown if chart.level == "gpu" and len(chart.data.detailed)}
    signs |= {kind for chart in shown if chart.shows_kinds for kind in chart.data.kinds}
    return [LegendEntry(sign, sign) for sign in (BLOCKS, DETAILS, *SEGMENT_KINDS) if sign in signs]


def legend_width(entries: Sequence[LegendEntry], theme: Theme) -> float:
    """Return the width of the entries."""
    metrics = QFontMetricsF(theme.font(TEXT))
    return sum(metrics.horizontalAdvance(theme.translate(e.text)) + theme.px(SIDE + 5 + GAP) for e in entries)


def draw_legend(painter: QPainter, entries: Sequence[LegendEntry], box: QRectF, theme: Theme) -> None:
    """Draw entries at the right end of a box."""
    metrics, side = QFontMetricsF(theme.font(TEXT)), theme.px(SIDE)
    x = max(box.left(), box.right() - legend_width(entries, theme) + theme.px(GAP))
    for sign, text in entries:
        sample = QRectF(x, box.center().y() - side / 2, side, side)
        _draw_sign(painter, sign, sample, theme)
        x += side + theme.px(5)
        text_width = metrics.horizontalAdvance(theme.translate(text)) + 2
        painter.setFont(theme.font(TEXT))
        painter.setPen(theme.colour("text"))
        painter.drawText(QRectF(x, box.top(), text_width, box.height()), LEFT | MIDDLE, theme.translate(text))
        x += text_width - 2 + theme.px(GAP)


class GpuLegend(QWidget):
    """The origin of the axes at the left, and the legend of all charts at the right."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.origin, self.entries = theme, "", list[LegendEntry]()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_texts(self, origin: str, entries: list[LegendEntry]) -> None:
        """Show the origin of the axes and these entries."""
        self.origin, self.entries = origin, entries
        self.setAccessibleName(origin)
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(self.theme.px(300), self.theme.px(HEIGHT))

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the origin and the entries."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(self.rect(), theme.colour("panel"))
        box = QRectF(self.rect()).adjusted(theme.px(NAMES), 0, -theme.px(FREE), 0)
        room = box.adjusted(0, 0, -legend_width(self.entries, theme), 0)
        draw_text(painter, room, self.origin, theme.font(TEXT), theme.colour("muted"), LEFT | MIDDLE)
        draw_legend(painter, self.entries, box, theme)
        painter.end()


def _draw_sign(painter: QPainter, sign: str, box: QRectF, theme: Theme) -> None:
    panel = theme.colour("panel")
    if sign == BLOCKS:
        for i, (name, share) in enumerate((DARK, PALE)):
            half = QRectF(box.left() + i * box.width() / 2, box.top(), box.width() / 2, box.height())
            painter.fillRect(half, mixed(panel, theme.colour(name).name(), share))
    elif sign == DETAILS:
        painter.fillRect(box.adjusted(box.width() / 4, 0, -box.width() / 4, 0), theme.colour("accent"))
    elif KIND_LOOKS[sign]:
        ratio = RASTER_PIXELS_PER_POINT if is_vector(painter) else painter.deviceTransform().m11()
        painter.drawPixmap(QPointF(box.topLeft()), swatch(KIND_LOOKS[sign], round(box.width()), theme, ratio))
    else:
        painter.fillRect(box, theme.colour("cell_unread"))

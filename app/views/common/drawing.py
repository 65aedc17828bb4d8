"""Drawing functions of several views: pens, text in a box, veils, badges, the hatch of unwritten memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPen,
)

from ...widgets.patterns import mixed
from ...widgets.theme import Theme
from ...widgets.vector_files import CLIP_BEGIN, CLIP_END, ClipMark
from .geometry import Box

LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
MIDDLE, CENTRE = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignCenter
WRAP = Qt.TextFlag.TextWordWrap
VECTORS = (
    QPaintEngine.Type.Pdf,
    QPaintEngine.Type.SVG,
    QPaintEngine.Type.Picture,
    QPaintEngine.Type.User,  # see `is_recording_painter`
)
RASTER_PIXELS_PER_POINT = 3.0  # pixels per point of the raster parts of a vector picture: 288 dpi


def rect(box: Box, inset: float = 0.0) -> QRectF:
    """Convert a box to a QRectF, with its edges moved inwards by `inset` pixels."""
    return QRectF(box.x, box.y, box.width, box.height).adjusted(inset, inset, -inset, -inset)


def is_vector(painter: QPainter) -> bool:
    """Check whether a painter draws vector graphics, as into a PDF, where cached pixmaps would lose sharpness."""
    return painter.paintEngine().type() in VECTORS


def is_recording_painter(painter: QPainter) -> bool:
    """Check whether a painter records operations that a player draws later at any size: see `replay`."""
    return painter.paintEngine().type() == QPaintEngine.Type.User


@contextmanager
def clipped(painter: QPainter, region: QRectF | QPainterPath) -> Iterator[None]:
    """Clip a painter to a rectangle or a path inside the context, in addition to its earlier clips.

    Qt's SVG generator ignores clips. There a shape in a reserved colour marks the clip, and `svg_of` converts it.
    """
    painter.save()
    is_svg = painter.paintEngine().type() == QPaintEngine.Type.SVG
    if is_svg:
        _draw_clip_mark(painter, region, CLIP_BEGIN)
    elif isinstance(region, QRectF):
        painter.setClipRect(region, Qt.ClipOperation.IntersectClip)
    else:
        painter.setClipPath(region, Qt.ClipOperation.IntersectClip)
    try:
        yield
    finally:
        painter.restore()
        if is_svg:
            _draw_clip_mark(painter, region, CLIP_END)


def _draw_clip_mark(painter: QPainter, region: QRectF | QPainterPath, colour: ClipMark) -> None:
    path = region if isinstance(region, QPainterPath) else QPainterPath()
    if isinstance(region, QRectF):
        path.addRect(region)
    painter.save()
    painter.setOpacity(1)
    painter.fillPath(path, QColor(*colour))
    painter.restore()


def pen(colour: QColor | str, width: float, alpha: int = 255) -> QPen:
    """Return a pen with square joints. The pen is cached: do not modify it."""
    return _pen(colour if isinstance(colour, str) else colour.rgb(), width, alpha)


@lru_cache(maxsize=256)
def _pen(colour: str | int, width: float, alpha: int) -> QPen:
    shade = QColor(colour)
    shade.setAlpha(alpha)
    return QPen(shade, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap, Qt.PenJoinStyle.MiterJoin)


def panel_line_colour(kind: str, theme: Theme) -> QColor:
    """Return the colour of a kind for thin lines, slightly lighter on a dark panel."""
    return mixed(theme.colour(kind), "#FFFFFF", 0.35 if theme.name == "dark" else 0.0)


@lru_cache(maxsize=1024)
def text_width(text: str, font: QFont) -> float:
    """Compute the width of a text."""
    return QFontMetricsF(font).horizontalAdvance(text)


@lru_cache(maxsize=256)
def text_pixels(text: str, font: QFont) -> int:
    """Compute the width of a text, rounded to pixels."""
    return QFontMetrics(font).horizontalAdvance(text)


def draw_text(
    painter: QPainter,
    box: QRectF,
    text: str,
    font: QFont,
    colour: QColor,
    flags: Qt.AlignmentFlag | Qt.TextFlag,
) -> None:
    """Write a text into a box; a line that is too long ends in an ellipsis."""
    words = fit_text(box, text, font, colour, flags)
    painter.setFont(words.font)
    painter.setPen(words.colour)
    painter.drawText(words.box, words.flags, words.text)


class PlacedText(NamedTuple):
    """A text with its position, elided to fit."""

    box: QRectF
    text: str
    font: QFont
    colour: QColor
    flags: int  # flags of alignment and wrapping
    veil: QRectF | None = None  # the veil below the text


def fit_text(
    box: QRectF,
    text: str,
    font: QFont,
    colour: QColor,
    flags: Qt.AlignmentFlag | Qt.TextFlag,
    veil: QRectF | None = None,
) -> PlacedText:
    """Fit a text into a box; a line that is too long ends in an ellipsis."""
    if flags != WRAP and text_width(text, font) > box.width():
        text = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width() + 1)
    return PlacedText(box, text, font, colour, int(flags), veil)


def draw_placed_texts(painter: QPainter, texts: Iterable[PlacedText], theme: Theme) -> None:
    """Draw texts with their veils."""
    for text in texts:
        if text.veil is not None:
            draw_veil(painter, text.veil, theme)
        painter.setFont(text.font)
        painter.setPen(text.colour)
        painter.drawText(text.box, text.flags, text.text)


def bounding_box_of_texts(texts: Iterable[PlacedText]) -> QRectF:
    """Compute the bounding box of texts and their veils."""
    bounds = QRectF()
    for text in texts:
        bounds = bounds.united(text.box if text.veil is None else text.box.united(text.veil))
    return bounds


def draw_veil(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw a veil below a text that other things may pass behind; without antialiasing, which is much faster."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(box, _veil_colour(theme.palette.panel))


@lru_cache(maxsize=8)
def _veil_colour(panel: str) -> QColor:
    veil = QColor(panel)
    veil.setAlpha(225)
    return veil


def draw_badge(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the background of a mark such as "exact"."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("badge"))
    painter.drawRoundedRect(box, theme.px(4), theme.px(4))


def draw_hatch(painter: QPainter, target: QRectF, theme: Theme) -> None:
    """Fill a rectangle with the colour of poison and thin diagonals."""
    painter.fillRect(target, theme.colour("cell_poison"))
    step, height = float(theme.px(6)), target.height()
    starts = [target.left() - height + i * step for i in range(int((target.width() + height) / step) + 2)]
    with clipped(painter, target):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.palette.muted, 1.0, 100))
        painter.drawLines([QLineF(x, target.bottom(), x + height, target.top()) for x in starts])

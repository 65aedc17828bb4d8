"""What several views draw alike: pens, words in a box and what they stand on, badges, the hatch of unwritten memory."""

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
from ...widgets.vector_picture import CLIP_BEGIN, CLIP_END, ClipMark
from .geometry import Box

LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
MIDDLE, CENTRE = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignCenter
WRAP = Qt.TextFlag.TextWordWrap
VECTORS = (
    QPaintEngine.Type.Pdf,
    QPaintEngine.Type.SVG,
    QPaintEngine.Type.Picture,
    QPaintEngine.Type.User,  # what `is_written_down`
)
ON_PAPER = 3.0  # pixels a point of the parts of a vector picture that are made of pixels: 288 to the inch

ANYWHERE = QPainterPath()  # a clip that clips nothing
ANYWHERE.addRect(QRectF(-1e6, -1e6, 2e6, 2e6))
_clips: list[
    QPainterPath
] = []  # of what is drawn into SVG now, each inside the one before, in pixels of the device


def rect(box: Box, inset: float = 0.0) -> QRectF:
    """Return a box as Qt's rectangle, its edges moved inwards by so many pixels."""
    return QRectF(box.x, box.y, box.width, box.height).adjusted(inset, inset, -inset, -inset)


def is_vector(painter: QPainter) -> bool:
    """Return whether a painter draws lines and letters, as into a PDF, where a picture kept as pixels would not do."""
    return painter.paintEngine().type() in VECTORS


def is_written_down(painter: QPainter) -> bool:
    """Return whether what a painter does is drawn again elsewhere, at any size and as sharp as there: see `replay`."""
    return painter.paintEngine().type() == QPaintEngine.Type.User


@contextmanager
def clipped(painter: QPainter, to: QRectF | QPainterPath) -> Iterator[None]:
    """Draw meanwhile inside a rectangle or a path alone, and inside what the painter was clipped to before.

    Qt's SVG leaves clips out: there a shape of a colour of its own, which `svg_of` makes a clip of, says where it is.
    """
    painter.save()
    is_svg = painter.paintEngine().type() == QPaintEngine.Type.SVG
    if is_svg:
        _mark(painter, to, CLIP_BEGIN)
    elif isinstance(to, QRectF):
        painter.setClipRect(to, Qt.ClipOperation.IntersectClip)
    else:
        painter.setClipPath(to, Qt.ClipOperation.IntersectClip)
    try:
        yield
    finally:
        painter.restore()
        if is_svg:
            _mark(painter, to, CLIP_END)


def _mark(painter: QPainter, to: QRectF | QPainterPath, colour: ClipMark) -> None:
    path = to if isinstance(to, QPainterPath) else QPainterPath()
    if isinstance(to, QRectF):
        path.addRect(to)
    painter.save()
    painter.setOpacity(1)
    painter.fillPath(path, QColor(*colour))
    painter.restore()


def pen(colour: QColor | str, width: float, alpha: int = 255) -> QPen:
    """Return a pen with square joints, which nobody may change."""
    return _pen(colour if isinstance(colour, str) else colour.rgb(), width, alpha)


@lru_cache(maxsize=256)
def _pen(colour: str | int, width: float, alpha: int) -> QPen:
    shade = QColor(colour)
    shade.setAlpha(alpha)
    return QPen(shade, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap, Qt.PenJoinStyle.MiterJoin)


def on_panel(kind: str, theme: Theme) -> QColor:
    """Return the colour of a kind for thin lines: a little lighter on a dark panel."""
    return mixed(theme.colour(kind), "#FFFFFF", 0.35 if theme.name == "dark" else 0.0)


@lru_cache(maxsize=1024)
def width_of(text: str, font: QFont) -> float:
    """Return the width of a text."""
    return QFontMetricsF(font).horizontalAdvance(text)


@lru_cache(maxsize=256)
def pixels_of(text: str, font: QFont) -> int:
    """Return the width of a text in whole pixels."""
    return QFontMetrics(font).horizontalAdvance(text)


def write(
    painter: QPainter,
    box: QRectF,
    text: str,
    font: QFont,
    colour: QColor,
    how: Qt.AlignmentFlag | Qt.TextFlag,
) -> None:
    """Write a text into a box; what does not fit a line ends in an ellipsis."""
    found = words_in(box, text, font, colour, how)
    painter.setFont(found.font)
    painter.setPen(found.colour)
    painter.drawText(found.box, found.how, found.text)


class Words(NamedTuple):
    """A text where it is written, as it fits there."""

    box: QRectF
    text: str
    font: QFont
    colour: QColor
    how: int  # flags of alignment and wrapping
    veil: QRectF | None = None  # what is veiled before


def words_in(
    box: QRectF,
    text: str,
    font: QFont,
    colour: QColor,
    how: Qt.AlignmentFlag | Qt.TextFlag,
    veil: QRectF | None = None,
) -> Words:
    """Return a text in a box; what does not fit a line ends in an ellipsis."""
    if how != WRAP and width_of(text, font) > box.width():
        text = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width() + 1)
    return Words(box, text, font, colour, int(how), veil)


def draw_words(painter: QPainter, written: Iterable[Words], theme: Theme) -> None:
    """Write texts."""
    for one in written:
        if one.veil is not None:
            draw_veil(painter, one.veil, theme)
        painter.setFont(one.font)
        painter.setPen(one.colour)
        painter.drawText(one.box, one.how, one.text)


def box_of(written: Iterable[Words]) -> QRectF:
    """Return a box around texts."""
    found = QRectF()
    for one in written:
        found = found.united(one.box if one.veil is None else one.box.united(one.veil))
    return found


def draw_veil(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw what words stand on that something may pass behind; with whole pixels, which is much faster."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(box, _veil(theme.palette.panel))


@lru_cache(maxsize=8)
def _veil(panel: str) -> QColor:
    veil = QColor(panel)
    veil.setAlpha(225)
    return veil


def draw_badge(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the ground of a mark, as "exact"."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("badge"))
    painter.drawRoundedRect(box, theme.px(4), theme.px(4))


def draw_hatch(painter: QPainter, target: QRectF, theme: Theme) -> None:
    """Fill with the colour of poison and thin diagonals."""
    painter.fillRect(target, theme.colour("cell_poison"))
    step, height = float(theme.px(6)), target.height()
    starts = [target.left() - height + i * step for i in range(int((target.width() + height) / step) + 2)]
    with clipped(painter, target):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(theme.palette.muted, 1.0, 100))
        painter.drawLines([QLineF(x, target.bottom(), x + height, target.top()) for x in starts])

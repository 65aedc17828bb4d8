"""How what a spotlight leaves out is drawn: cells and bars mostly the ground, words as faint as can still be read.

In a picture that has some of what stands out, all else in it dims: shapes keep FAINT of their colours. So they do in a
pane that has nothing of it beside one that has. In any other picture they keep about HALF, so that the eye goes
elsewhere and the context stays. Dimmed words keep 3 to 1 against their ground, as WCAG 2.2 asks of large text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from msgspec.structs import asdict, replace
from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ...widgets.patterns import mixed
from ...widgets.theme import KIND_COLOURS, Theme
from .drawing import clipped

FAINT, HALF = 0.28, 0.42  # how much is left of shapes that dim
VEIL = 0.3  # how much a veil hides: small words keep 3 to 1
LEAST = 3.2  # the contrast that words keep: 3 to 1 of WCAG 2.2, 1.4.3, with a little to spare
WORDS = ("text", "muted", "accent", "good", "bad", "keyword", "string", "number")
SHAPES = ("cell_unread", "cell_poison")


class DimTheme(Theme, frozen=True):
    """A theme whose colours have dimmed."""

    keep: float = FAINT  # how much is left of shapes

    def shade(self, colour: QColor) -> QColor:
        """Return a colour of a shape, dimmed."""
        return mixed(QColor(self.palette.panel), colour.name(), self.keep)

    def colour(self, name: str) -> QColor:
        """Return the colour of a palette field or of a kind of request, dimmed."""
        found = super().colour(name)
        return self.shade(found) if name in KIND_COLOURS else found


@lru_cache(maxsize=8)
def dimmed(theme: Theme, keep: float = FAINT) -> Theme:
    """Return a theme in which everything has dimmed; keep: how much is left of shapes, 1 for the theme as it is."""
    if keep >= 1:
        return theme
    palette, ground = theme.palette, theme.palette.panel
    words = {name: fainter(getattr(palette, name), ground).name() for name in WORDS}
    shapes = {name: mixed(QColor(ground), getattr(palette, name), keep).name() for name in SHAPES}
    return DimTheme(**asdict(theme) | {"palette": replace(palette, **words, **shapes)}, keep=keep)


def shade(colour: QColor, theme: Theme) -> QColor:
    """Return a colour of a shape that is not the theme's own, dimmed where the theme is."""
    return theme.shade(colour) if isinstance(theme, DimTheme) else colour


@lru_cache(maxsize=1024)
def fainter(ink: str, ground: str, least: float = LEAST) -> QColor:
    """Return a colour of words mixed with their ground (both #rrggbb), as far as leaves this contrast."""
    low, high = 0.0, 1.0  # shares of the ink that leave too little, and enough
    if contrast(QColor(ink), QColor(ground)) <= least:
        return QColor(ink)
    for _ in range(7):
        middle = (low + high) / 2
        enough = contrast(mixed(QColor(ground), ink, middle), QColor(ground)) >= least
        low, high = (low, middle) if enough else (middle, high)
    return mixed(QColor(ground), ink, high)


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio of two colours, as WCAG 2.2 defines it."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@contextmanager
def faintly(painter: QPainter, keep: float) -> Iterator[None]:
    """Draw shapes so that this much is left of them meanwhile, 1 for all."""
    before = painter.opacity()
    painter.setOpacity(before * keep)
    yield
    painter.setOpacity(before)


def draw_partly(painter: QPainter, lit: QPainterPath, keep: float, draw: Callable[[], None]) -> None:
    """Draw shapes faintly, and as they are inside a path."""
    with faintly(painter, keep):
        draw()
    with clipped(painter, lit):
        draw()


def draw_frame(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the frame of what stands out, with its outer edge on the edge of a box."""
    wide = max(2.0, theme.px(2))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.colour("text"), wide))
    half = wide / 2
    painter.drawRoundedRect(box.adjusted(half, half, -half, -half), theme.px(3), theme.px(3))


class Veil(QWidget):
    """A thin veil over all of a widget; the pointer passes through it."""

    def __init__(self, parent: QWidget, theme: Callable[[], Theme]) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(parent.rect())
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as what it covers, and above it."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        elif event.type() == QEvent.Type.ChildAdded:
            self.raise_()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the veil."""
        painter, shade = QPainter(self), QColor(self._theme().colour("panel"))
        shade.setAlphaF(VEIL)
        painter.fillRect(event.rect(), shade)
        painter.end()

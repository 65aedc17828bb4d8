"""The drawing of shapes and words outside a spotlight: shapes fade into the background, words stay readable.

In a picture that contains highlighted things, all other shapes keep FAINT of their colours. The same holds for a pane
that contains none next to a pane that contains some. In other pictures shapes keep HALF, so that the context stays.
Dimmed words keep a contrast of 3 to 1 with their background, as WCAG 2.2 requires of large text.
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

FAINT, HALF = 0.28, 0.42  # opacity of dimmed shapes
VEIL = 0.3  # opacity of a veil: small words keep a contrast of 3 to 1
LEAST = 3.2  # the contrast of dimmed words: 3 to 1 of WCAG 2.2, 1.4.3, with a margin
WORDS = ("text", "muted", "accent", "good", "bad", "keyword", "string", "number")
SHAPES = ("cell_unread", "cell_poison")


class DimTheme(Theme, frozen=True):
    """A theme with dimmed colours."""

    keep: float = FAINT  # opacity of shapes

    def shade(self, colour: QColor) -> QColor:
        """Return the dimmed colour of a shape."""
        return mixed(QColor(self.palette.panel), colour.name(), self.keep)

    def colour(self, name: str) -> QColor:
        """Return the dimmed colour of a palette field or of a kind of request."""
        colour = super().colour(name)
        return self.shade(colour) if name in KIND_COLOURS else colour


@lru_cache(maxsize=8)
def dim_theme(theme: Theme, keep: float = FAINT) -> Theme:
    """Return a theme with dimmed colours; keep: the opacity of shapes, 1 for the unchanged theme."""
    if keep >= 1:
        return theme
    palette, ground = theme.palette, theme.palette.panel
    words = {name: fade_text_colour(getattr(palette, name), ground).name() for name in WORDS}
    shapes = {name: mixed(QColor(ground), getattr(palette, name), keep).name() for name in SHAPES}
    return DimTheme(**asdict(theme) | {"palette": replace(palette, **words, **shapes)}, keep=keep)


def shade(colour: QColor, theme: Theme) -> QColor:
    """Dim the colour of a shape, which need not be one of the theme's, if the theme is dimmed."""
    return theme.shade(colour) if isinstance(theme, DimTheme) else colour


@lru_cache(maxsize=1024)
def fade_text_colour(ink: str, ground: str, least: float = LEAST) -> QColor:
    """Mix a text colour with its background (both #rrggbb) as far as this contrast allows."""
    low, high = 0.0, 1.0  # shares of the ink with too little and with enough contrast
    if contrast(QColor(ink), QColor(ground)) <= least:
        return QColor(ink)
    for _ in range(7):
        middle = (low + high) / 2
        enough = contrast(mixed(QColor(ground), ink, middle), QColor(ground)) >= least
        low, high = (low, middle) if enough else (middle, high)
    return mixed(QColor(ground), ink, high)


def contrast(first: QColor, second: QColor) -> float:
    """Compute the contrast ratio of two colours, as WCAG 2.2 defines it."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@contextmanager
def reduced_opacity(painter: QPainter, keep: float) -> Iterator[None]:
    """Multiply the painter's opacity by `keep` inside the context."""
    before = painter.opacity()
    painter.setOpacity(before * keep)
    yield
    painter.setOpacity(before)


def draw_highlighted_part(
    painter: QPainter, highlighted: QPainterPath, keep: float, draw: Callable[[], None]
) -> None:
    """Draw shapes faintly, but at full opacity inside a path."""
    with reduced_opacity(painter, keep):
        draw()
    with clipped(painter, highlighted):
        draw()


def draw_frame(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draw the frame of a highlighted thing, with its outer edge on the edge of a box."""
    width = max(2.0, theme.px(2))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.colour("text"), width))
    half = width / 2
    painter.drawRoundedRect(box.adjusted(half, half, -half, -half), theme.px(3), theme.px(3))


class Veil(QWidget):
    """A translucent veil over a complete widget; it is transparent to the mouse."""

    def __init__(self, parent: QWidget, theme: Callable[[], Theme]) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(parent.rect())
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the size of the covered widget, and stay on top."""
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

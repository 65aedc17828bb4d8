"""The look of each kind of request: its colour, and a pattern that identifies it without the colour.

A store has a dark bar along its foot, shared memory a light dot, an atomic a light cross, a local access
a light edge, a constant a dark edge, a warp operation two crossing ways; waiting is hatched. The timeline and the
legend draw the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage, QPixmap

from ...tracer.analysis.requests import REQUEST_KINDS
from ...tracer.model.array_types import Mask
from .theme import Theme

Pixels = NDArray[np.uint32]
WAITING, EXCHANGE = "waiting", "warp operation"
# The looks in the order of their codes in a picture: 0 is empty, then the kinds, warp operations, waiting.
LOOKS = ("", *REQUEST_KINDS, EXCHANGE, WAITING)


def cell(
    look: str, width: int, height: int, theme: Theme, *, patterned: bool = True, pitch: int = 6
) -> Pixels:
    """Draw one cell of a kind (or "waiting", or ""): 0xffRRGGBB, shape (height, width)."""
    base = theme.colour(look) if look and look != WAITING else theme.colour("panel")
    pixels = np.full((height, width), base.rgb(), np.uint32)
    if look == WAITING:
        pixels[hatch(width, height, pitch)] = theme.colour(WAITING).rgb()
    if look not in ("", WAITING) and patterned:
        _mark(pixels, base, look, theme)
    return pixels


def hatch(width: int, height: int, pitch: int = 6) -> Mask:
    """Compute a mask of diagonal lines, `pitch` pixels apart, shape (height, width)."""
    line = np.arange(width + pitch) % pitch < max(1, pitch // 3)
    lines = np.lib.stride_tricks.sliding_window_view(line, width)  # one for each row of a pitch
    return lines[np.arange(height) % pitch]


def swatch(look: str, size: int, theme: Theme, ratio: float = 1.0) -> QPixmap:
    """Draw a square of a kind (or "waiting") for a legend, `size` logical pixels wide, sharp at `ratio`."""
    side = round(size * ratio)
    picture = QPixmap.fromImage(image(cell(look, side, side, theme, pitch=round(6 * ratio))))
    picture.setDevicePixelRatio(ratio)
    return picture


def image(pixels: Pixels) -> QImage:
    """Copy pixels into an image that owns its memory."""
    packed = np.ascontiguousarray(pixels)
    height, width = packed.shape
    return QImage(packed.data, width, height, width * 4, QImage.Format.Format_RGB32).copy()


def _mark(pixels: Pixels, base: QColor, kind: str, theme: Theme) -> None:
    height, width = pixels.shape
    y, x = np.mgrid[:height, :width]
    space, _, verb = kind.partition(" ")
    light, dark = mixed(base, "#FFFFFF", 0.62).rgb(), mixed(base, "#000000", 0.42).rgb()
    if kind == EXCHANGE:
        light = theme.colour("panel").rgb()
    if space in SHAPES:
        pixels[SHAPES[space](x, y, width, height)] = light
    if space == "constant":
        pixels[x < max(1, width // 5)] = dark
    if verb == "store":
        pixels[y >= height - max(1, round(height * 0.3))] = dark


def mixed(base: QColor, other: str, share: float) -> QColor:
    """Mix `base` with a share (0 to 1) of another colour."""
    return QColor(_mixed(base.rgb(), other, share))


@lru_cache(maxsize=256)
def _mixed(base: int, other: str, share: float) -> QColor:
    source, target = QColor(base), QColor(other)
    pairs = ((source.red(), target.red()), (source.green(), target.green()), (source.blue(), target.blue()))
    return QColor(*(round(a + (b - a) * share) for a, b in pairs))


def _dot(x: NDArray[np.int64], y: NDArray[np.int64], width: int, height: int) -> Mask:
    side = max(1, round(min(width, height) * 0.3))
    left, top = (width - side) // 2, max(0, round(height * 0.5) - side // 2 - side // 3)
    return (x >= left) & (x < left + side) & (y >= top) & (y < top + side)


def _cross(x: NDArray[np.int64], y: NDArray[np.int64], width: int, height: int) -> Mask:
    arm, thick = min(width, height) * 0.36, max(0.5, min(width, height) * 0.09)
    dx, dy = np.abs(x - (width - 1) / 2), np.abs(y - (height - 1) / 2)
    return np.asarray(((dx <= arm) & (dy <= thick)) | ((dy <= arm) & (dx <= thick)))


def _crossing(x: NDArray[np.int64], y: NDArray[np.int64], width: int, height: int) -> Mask:
    arm, thick = min(width, height) * 0.32, max(0.7, min(width, height) * 0.08)
    dx, dy = np.abs(x - (width - 1) / 2), np.abs(y - (height - 1) / 2)
    return np.asarray((np.abs(dx - dy) <= thick) & (dx <= arm))


def _edge(x: NDArray[np.int64], y: NDArray[np.int64], width: int, height: int) -> Mask:
    return x < max(1, width // 5)


SHAPES: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64], int, int], Mask]] = {
    "shared": _dot,
    "atomic": _cross,
    "local": _edge,
    "warp": _crossing,
}

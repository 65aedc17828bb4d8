"""Images as they look: the colour of each pixel, from the elements of a buffer height x width x channels. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints, Mask
from ..common.cell_colours import ValueRange, is_poison

Pixels = NDArray[np.uint32]  # 0xAARRGGBB


def brightness_range(dtype: np.dtype[Any], low: float, high: float) -> ValueRange:
    """Return the values that are dark and bright: those of bytes, 0 to 1, 0 to 255, or all that a buffer holds."""
    if dtype.kind != "f":
        return ValueRange(0, 255)
    if low >= 0 and high <= 255:
        return ValueRange(0, 1 if high <= 1 else 255)
    return ValueRange(low, high)


def levels(values: NDArray[Any], span: ValueRange) -> NDArray[np.uint8]:
    """Return how bright each value is, 0 to 255."""
    if values.dtype == np.uint8:
        return values
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (values.astype(np.float64) - span.low) * (255 / ((span.high - span.low) or 1))
    found: NDArray[np.uint8] = np.clip(np.nan_to_num(scaled), 0, 255).round().astype(np.uint8)
    return found


def packed(channels: NDArray[np.uint8], unknown: Mask, blank: Mask, unread: int) -> Pixels:
    """Return the pixels of levels (n, channels): transparent where unknown, of the colour `unread` where blank."""
    red, green, blue = (channels[:, n].astype(np.uint32) for n in range(3))
    found: Pixels = (0xFF000000 | red << 16 | green << 8 | blue).astype(np.uint32, copy=False)
    found[unknown] = 0
    found[blank] = unread
    return found


@dataclass(frozen=True, eq=False)
class ImagePixels:
    """An image before anything is written to it, from which the later ones are made."""

    levels: NDArray[np.uint8]  # (pixels, channels)
    poison: NDArray[np.bool_]  # (pixels, channels), which hold what nobody wrote
    pixels: Pixels  # (pixels,)
    span: ValueRange  # the values that are dark and bright
    unread: int  # the pixel of an element that a kernel will write and has not yet

    @classmethod
    def of(cls, values: NDArray[Any], span: ValueRange, unread: int, is_result: bool) -> ImagePixels:
        """Return an image of these values, of shape (height, width, channels); is_result: it is only written."""
        flat = values.reshape(-1, values.shape[-1])
        poison, bright = is_poison(flat), levels(flat, span)
        if (
            flat.dtype.kind != "f" and not poison.all()
        ):  # a byte that looks like poison is a colour like any other
            poison = np.zeros(flat.shape, bool)
        unknown: Mask = np.asarray(poison.any(axis=1))
        blank: Mask = np.asarray(~unknown & is_result)
        return cls(bright, poison, packed(bright, unknown, blank, unread), span, unread)

    def with_written(self, elements: Ints, values: NDArray[Any], written: Mask) -> Pixels:
        """Return the pixels once these elements, numbers in C order, hold these values."""
        elements, values = elements[written], values[written]
        width = self.levels.shape[1]
        changed, at = np.unique(elements // width, return_inverse=True)
        bright, unknown = self.levels[changed], self.poison[changed]
        bright[at, elements % width] = levels(values, self.span)
        unknown[at, elements % width] = is_poison(values) if values.dtype.kind == "f" else False
        pixels = self.pixels.copy()
        none = np.zeros(len(changed), bool)
        pixels[changed] = packed(bright, np.asarray(unknown.all(axis=1)), none, self.unread)
        return pixels

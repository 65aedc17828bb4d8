"""Images as they look: the colour of each pixel, from the elements of a buffer height x width x channels. No Qt."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints, Mask
from ....tracer.model.grouping import group_numbers, group_starts
from ....tracer.model.trace import is_poison
from ..common.cell_colours import ValueRange

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
    if unknown.any():
        found[unknown] = 0
    if blank.any():
        found[blank] = unread
    return found


class ImagePixels(Struct, frozen=True, eq=False, dict=True):
    """An image before anything is written to it, from which the later ones are made."""

    levels: NDArray[np.uint8]  # (pixels, channels)
    pixels: Pixels  # (pixels,)
    span: ValueRange  # the values that are dark and bright
    unread: int  # the pixel of an element that a kernel will write and has not yet
    is_result: bool  # whether it is only written
    _changing: list[tuple[Ints, Ints, Ints]] = field(
        default_factory=list
    )  # elements; pixels of theirs; of each

    @classmethod
    def of(cls, values: NDArray[Any], span: ValueRange, unread: int, is_result: bool) -> ImagePixels:
        """Return an image of these values, of shape (height, width, channels); is_result: it is only written."""
        flat = values.reshape(-1, values.shape[-1])
        poison = is_poison(flat)
        # A byte that looks like what nobody wrote is a colour like any other, but where all of them do.
        is_known = flat.dtype.kind != "f" and not poison.all()
        unknown: Mask = np.asarray(poison.any(axis=1) & (not is_known))
        bright = levels(flat, span)
        pixels = packed(bright, unknown, np.asarray(~unknown & is_result), unread)
        return cls(bright, pixels, span, unread, is_result)

    @cached_property
    def all_elements(self) -> Ints:
        """The numbers of all elements."""
        return np.arange(self.levels.size)

    def with_written(self, elements: Ints, values: NDArray[Any], written: Mask) -> Pixels:
        """Return the pixels when these elements, ascending numbers in C order, hold these values.

        written: which of them the launch has written; the others hold what they began with.
        """
        changed, at = self._pixels_of(elements)
        width = self.levels.shape[1]
        if len(elements) == len(changed) * width:  # whole pixels
            bright = levels(values, self.span).reshape(-1, width)
            known = np.asarray(written.reshape(-1, width).any(axis=1))
        else:
            bright, known = self.levels[changed], np.zeros(len(changed), bool)
            bright[at, elements % width] = levels(values, self.span)
            known[at[written]] = True
        unknown = ~known & (self.pixels[changed] == 0)
        if values.dtype.kind == "f":
            unknown[at[np.isnan(values) & written]] = True
        pixels = self.pixels.copy()
        pixels[changed] = packed(bright, unknown, np.asarray(~known & ~unknown & self.is_result), self.unread)
        return pixels

    def _pixels_of(self, elements: Ints) -> tuple[Ints, Ints]:
        """Return the pixels that have some of these elements, and which of them each is in; kept, as they stay."""
        if not self._changing or self._changing[0][0] is not elements:
            pixel = elements // self.levels.shape[1]
            starts = group_starts(pixel)
            self._changing[:] = [(elements, pixel[starts], group_numbers(starts, len(pixel)))]
        return self._changing[0][1:]

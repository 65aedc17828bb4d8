"""Buffers of height x width x channels as images: the colour of each pixel. No Qt."""

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
    """Choose the values of black and white: 0 and 255 for bytes, else 0 and 1, 0 and 255, or `low` and `high`."""
    if dtype.kind != "f":
        return ValueRange(0, 255)
    if low >= 0 and high <= 255:
        return ValueRange(0, 1 if high <= 1 else 255)
    return ValueRange(low, high)


def scale_to_levels(values: NDArray[Any], span: ValueRange) -> NDArray[np.uint8]:
    """Scale each value to a brightness from 0 to 255."""
    if values.dtype == np.uint8:
        return values
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (values.astype(np.float64) - span.low) * (255 / ((span.high - span.low) or 1))
    scaled_levels: NDArray[np.uint8] = np.clip(np.nan_to_num(scaled), 0, 255).round().astype(np.uint8)
    return scaled_levels


def pack_pixels(channels: NDArray[np.uint8], is_unknown: Mask, is_unread: Mask, unread: int) -> Pixels:
    """Pack levels (n, channels) into pixels: transparent if unknown, of the colour `unread` if unread."""
    red, green, blue = (channels[:, n].astype(np.uint32) for n in range(3))
    packed_pixels: Pixels = (0xFF000000 | red << 16 | green << 8 | blue).astype(np.uint32, copy=False)
    if is_unknown.any():
        packed_pixels[is_unknown] = 0
    if is_unread.any():
        packed_pixels[is_unread] = unread
    return packed_pixels


class ImagePixels(Struct, frozen=True, eq=False, dict=True):
    """An image before the launch, the base of later images."""

    levels: NDArray[np.uint8]  # (pixels, channels)
    pixels: Pixels  # (pixels,)
    span: ValueRange  # the values of black and white
    unread: int  # the pixel of an element that the kernel has not written yet
    is_result: bool  # whether it is only written
    # Cached: elements, their distinct pixels, and the index of each element's pixel among these.
    _cached_pixels: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)

    @classmethod
    def from_values(cls, values: NDArray[Any], span: ValueRange, unread: int, is_result: bool) -> ImagePixels:
        """Create an image of these values, of shape (height, width, channels); is_result: it is only written."""
        flat = values.reshape(-1, values.shape[-1])
        undefined = is_poison(flat)
        # A byte with the value of poison is a normal colour, unless all bytes have it.
        is_defined = flat.dtype.kind != "f" and not undefined.all()
        is_unknown: Mask = np.asarray(undefined.any(axis=1) & (not is_defined))
        bright = scale_to_levels(flat, span)
        pixels = pack_pixels(bright, is_unknown, np.asarray(~is_unknown & is_result), unread)
        return cls(bright, pixels, span, unread, is_result)

    @cached_property
    def all_elements(self) -> Ints:
        """The numbers of all elements."""
        return np.arange(self.levels.size)

    def with_written(self, elements: Ints, values: NDArray[Any], written: Mask) -> Pixels:
        """Compute the pixels when these elements, ascending numbers in C order, have these values.

        written: whether the launch has written each of them; the others keep their initial values.
        """
        changed_pixels, pixel_of = self._find_pixels(elements)
        width = self.levels.shape[1]
        if len(elements) == len(changed_pixels) * width:  # all channels of each pixel
            bright = scale_to_levels(values, self.span).reshape(-1, width)
            is_defined = np.asarray(written.reshape(-1, width).any(axis=1))
        else:
            bright, is_defined = self.levels[changed_pixels], np.zeros(len(changed_pixels), bool)
            bright[pixel_of, elements % width] = scale_to_levels(values, self.span)
            is_defined[pixel_of[written]] = True
        is_unknown = ~is_defined & (self.pixels[changed_pixels] == 0)
        if values.dtype.kind == "f":
            is_unknown[pixel_of[np.isnan(values) & written]] = True
        pixels = self.pixels.copy()
        pixels[changed_pixels] = pack_pixels(
            bright, is_unknown, np.asarray(~is_defined & ~is_unknown & self.is_result), self.unread
        )
        return pixels

    def _find_pixels(self, elements: Ints) -> tuple[Ints, Ints]:
        """Find the distinct pixels of these elements, and the index of each element's pixel. Memoised."""
        if not self._cached_pixels or self._cached_pixels[0][0] is not elements:
            pixel = elements // self.levels.shape[1]
            starts = group_starts(pixel)
            self._cached_pixels[:] = [(elements, pixel[starts], group_numbers(starts, len(pixel)))]
        return self._cached_pixels[0][1:]

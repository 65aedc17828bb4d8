"""The colour of every cell: pure functions from a buffer's state to pixels (0xAARRGGBB). No Qt."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

# Codes of a cell. Where several cells share a pixel, the largest code is shown.
OUTSIDE, POISON, UNREAD, FIRST, LAST = 0, 1, 2, 3, 255
Codes = NDArray[np.uint8]
Colour = tuple[float, float, float]


class ValueRange(Struct, frozen=True):
    """The values at the first and the last colour of a scale."""

    low: float
    high: float


def as_real_numbers(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Convert values to real numbers; complex numbers become their magnitude."""
    return np.abs(values).astype(np.float64) if values.dtype.kind == "c" else values.astype(np.float64)


def value_codes(
    values: NDArray[np.generic], is_defined: NDArray[np.bool_], is_unread: NDArray[np.bool_], span: ValueRange
) -> Codes:
    """Compute codes for values: POISON where unknown, UNREAD where unread, else a position on the scale of `span`."""
    codes = np.full(values.shape, POISON, np.uint8)
    codes[is_defined & is_unread] = UNREAD
    has_value = is_defined & ~is_unread
    codes[has_value] = scale_codes(values[has_value], span)
    return codes


def scale_codes(values: NDArray[np.generic], span: ValueRange) -> Codes:
    """Compute codes for known values: a position on the scale of `span`, POISON for nan."""
    numbers = as_real_numbers(values)
    unknown = np.isnan(numbers)
    if span.high > span.low:
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (numbers - span.low) * ((LAST - FIRST) / (span.high - span.low))
    else:
        scaled = np.full(numbers.shape, (LAST - FIRST) / 2)
    scaled[unknown] = 0
    np.minimum(np.maximum(scaled, 0, out=scaled), LAST - FIRST, out=scaled)
    codes: Codes = (scaled + FIRST).astype(np.uint8)
    codes[unknown] = POISON
    return codes


def read_codes(reads: NDArray[np.integer], top: int) -> Codes:
    """Compute codes for numbers of reads: UNREAD for 0, FIRST for 1, LAST for `top` and more."""
    top = max(1, top)
    table = _read_table(top)
    if np.count_nonzero(reads) > reads.size // 4:
        return table.take(reads, mode="clip")
    codes: Codes = np.full(reads.shape, UNREAD, np.uint8)
    read = np.flatnonzero(reads)  # of millions of cells in a matrix a block reads only a few
    codes.ravel()[read] = table[np.minimum(reads.ravel()[read], top)]
    return codes


@lru_cache(maxsize=16)
def _read_table(top: int) -> Codes:
    """Return the code of each number of reads from 0 to `top`. The array is cached: do not modify it."""
    counts = np.arange(top + 1)
    steps = (np.maximum(counts, 1) - 1) * (LAST - FIRST) // max(1, top - 1)
    return np.where(counts > 0, FIRST + steps, UNREAD).astype(np.uint8)


def downsample_codes(codes: Codes, factor: int) -> Codes:
    """Return the largest code of each factor x factor square, so that reads and writes stay visible when zoomed out."""
    if factor <= 1:
        return codes
    # Rows first: SIMD instructions compare many neighbours in memory at once.
    return np.ascontiguousarray(_largest(_largest(codes, factor).T, factor).T)


def _largest(codes: Codes, factor: int) -> Codes:
    """Return the largest code of each column in each `factor` rows."""
    rows, cols = len(codes) // factor, codes.shape[1]
    largest = codes[: rows * factor].reshape(rows, factor, cols).max(axis=1)
    rest = codes[rows * factor :]
    return np.vstack([largest, rest.max(axis=0)]) if len(rest) else largest


def look_up_pixels(codes: Codes, table: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Look up the pixel of every code; the result is contiguous in memory, as QImage requires."""
    return table.take(
        codes, mode="wrap"
    )  # no code is outside the table, and mode="raise" takes four times as long


def make_pixel_table(scale: NDArray[np.uint8], outside: Colour, unread: Colour) -> NDArray[np.uint32]:
    """Compute the pixels of all 256 codes for a scale of colours (n, 3).

    POISON is transparent: the hatch painted below the cells shows through.
    """
    positions = np.linspace(0, len(scale) - 1, LAST - FIRST + 1)
    ramp = np.stack([np.interp(positions, np.arange(len(scale)), scale[:, c]) for c in range(3)], axis=1)
    rgb = np.vstack([outside, (0, 0, 0), unread, ramp]).round().astype(np.uint32)
    packed = 0xFF000000 | rgb[:, 0] << 16 | rgb[:, 1] << 8 | rgb[:, 2]
    packed[POISON] = 0
    return packed.astype(np.uint32)

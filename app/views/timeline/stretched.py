"""The rows of a block's warps as pixels, each moment as long as a GPU took for it, waits at barriers as they were."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from ....tracer.hardware.moment_clock import MomentClock
from ....tracer.model.array_types import Ints
from ...widgets.patterns import WAITING, Pixels, image
from ...widgets.theme import Theme
from .image import GAP, PATTERN, WAIT, Codes, atlas, waiting_lines
from .places import MomentRange

LENGTH = 2  # times its height after which the pattern of a cell comes again


def stretched_image(
    what: Codes,
    first: int,
    x_range: MomentRange,
    clock: MomentClock,
    size: tuple[int, int],
    theme: Theme,
    ratio: float,
) -> QImage:
    """Return the rows of a block's warps from one moment to another, in (width, height) device pixels.

    what: as `codes` returns it, its first column being moment `first`. The height is a multiple of the warps. Where a
    pixel holds many moments, its rows of pixels show them in turn.
    """
    tall = size[1] // len(what)
    begin, end = clock.cycles(np.array(x_range)).tolist()
    per_pixel = (end - begin) / size[0]
    cycle = begin + (np.arange(size[0]) + _inner(begin, per_pixel, size[0], tall, clock)) * per_pixel
    moment = np.floor(clock.moment(cycle)).astype(np.int64)  # (tall, width)
    inside = (moment >= first) & (moment < first + what.shape[1])
    column = np.clip(moment - first, 0, what.shape[1] - 1)
    code = np.where(inside, what[:, column], np.uint8(0))  # (warps, tall, width)
    for warp, start, stop in clock.waits:
        code[warp][(cycle >= start) & (cycle < stop) & inside] = WAIT
    left = clock.cycles(moment.astype(np.float64)) - begin
    u = np.arange(size[0]) - np.ceil(left / per_pixel - 0.5).astype(np.int64)
    wide = (clock.cycles(moment + 1.0) - begin - left) / per_pixel >= GAP * ratio
    return image(_painted(code, u, wide, tall, theme, ratio))


def _inner(begin: float, per_pixel: float, width: int, tall: int, clock: MomentClock) -> NDArray[np.float64]:
    """Return which part of its pixel each row of pixels shows, shape (tall, width): its middle but in crowded ones."""
    edges = np.floor(clock.moment(begin + np.arange(width + 1) * per_pixel))
    crowded = edges[1:] - edges[:-1] > 1
    return np.where(crowded, (np.arange(tall)[:, None] + 0.5) / tall, 0.5)


def _painted(code: Codes, u: Ints, wide: NDArray[np.bool_], tall: int, theme: Theme, ratio: float) -> Pixels:
    """Return the pixels of cells, shape (warps x tall, width).

    code: what each shows, (warps, tall, width); u: how far each pixel is from the left edge of its cell, (tall, width);
    wide: where a cell has room for a gap at its left.
    """
    gap = max(1, round(ratio)) if tall >= GAP * ratio else 0
    across = max(1, round(ratio))
    cells = atlas(LENGTH * tall + across, tall, gap, tall >= PATTERN * ratio, theme, ratio)
    v = np.arange(tall)[:, None]
    out: Pixels = cells[code, v, across + np.maximum(u - across, 0) % (cells.shape[2] - across)]
    edge = (u < across) & wide
    np.copyto(out, np.uint32(theme.colour("grid").rgb()), where=edge & (code > 0) & (code != WAIT))
    waits = code == WAIT
    if waits.any():
        lines = waiting_lines(code.shape[2], len(code) * tall, round(6 * ratio)).reshape(out.shape)
        np.copyto(out, np.uint32(theme.colour(WAITING).rgb()), where=waits & lines & (v < tall - 1))
    return out.reshape(-1, code.shape[2])

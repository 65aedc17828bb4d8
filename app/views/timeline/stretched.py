"""The rows of a block's warps as pixels, with the lengths of moments and barrier waits that a GPU measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from ....tracer.hardware.moment_clock import MomentClock
from ....tracer.model.array_types import Ints
from ...widgets.patterns import WAITING, Pixels, image
from ...widgets.theme import Theme
from .image import GAP, PATTERN, WAIT, Codes, draw_cell_atlas, waiting_lines
from .timeline_layout import MomentRange

LENGTH = 2  # the pattern of a cell repeats after this multiple of its height


def stretched_image(
    codes: Codes,
    first: int,
    x_range: MomentRange,
    clock: MomentClock,
    size: tuple[int, int],
    theme: Theme,
    ratio: float,
) -> QImage:
    """Draw the rows of a block's warps from one moment to another, in (width, height) device pixels.

    codes: from `image.codes`, with moment `first` in the first column. The height is a multiple of the number of
    warps. If a pixel covers many moments, its rows of pixels show them in turn.
    """
    row_height = size[1] // len(codes)
    begin, end = clock.cycles(np.array(x_range)).tolist()
    per_pixel = (end - begin) / size[0]
    cycle = (
        begin
        + (np.arange(size[0]) + _offsets_in_pixels(begin, per_pixel, size[0], row_height, clock)) * per_pixel
    )
    moment = np.floor(clock.moment(cycle)).astype(np.int64)  # (row_height, width)
    inside = (moment >= first) & (moment < first + codes.shape[1])
    column = np.clip(moment - first, 0, codes.shape[1] - 1)
    code = np.where(inside, codes[:, column], np.uint8(0))  # (warps, row_height, width)
    for warp, start, stop in clock.waits:
        code[warp][(cycle >= start) & (cycle < stop) & inside] = WAIT
    left = clock.cycles(moment.astype(np.float64)) - begin
    u = np.arange(size[0]) - np.ceil(left / per_pixel - 0.5).astype(np.int64)
    has_gap = (clock.cycles(moment + 1.0) - begin - left) / per_pixel >= GAP * ratio
    return image(_draw_cells(code, u, has_gap, row_height, theme, ratio))


def _offsets_in_pixels(
    begin: float, per_pixel: float, width: int, row_height: int, clock: MomentClock
) -> NDArray[np.float64]:
    """Compute each pixel row's x within its pixel, (row_height, width): 0.5 unless the pixel covers many moments."""
    edges = np.floor(clock.moment(begin + np.arange(width + 1) * per_pixel))
    crowded = edges[1:] - edges[:-1] > 1
    return np.where(crowded, (np.arange(row_height)[:, None] + 0.5) / row_height, 0.5)


def _draw_cells(
    code: Codes, u: Ints, has_gap: NDArray[np.bool_], row_height: int, theme: Theme, ratio: float
) -> Pixels:
    """Draw the pixels of cells, shape (warps x row_height, width).

    code: (warps, row_height, width); u: the distance of each pixel from the left edge of its cell, (row_height, width);
    has_gap: whether a pixel's cell has room for a gap at its left, (row_height, width).
    """
    gap = max(1, round(ratio)) if row_height >= GAP * ratio else 0
    gap_width = max(1, round(ratio))
    cells = draw_cell_atlas(
        LENGTH * row_height + gap_width, row_height, gap, row_height >= PATTERN * ratio, theme, ratio
    )
    v = np.arange(row_height)[:, None]
    painted: Pixels = cells[code, v, gap_width + np.maximum(u - gap_width, 0) % (cells.shape[2] - gap_width)]
    edge = (u < gap_width) & has_gap
    np.copyto(painted, np.uint32(theme.colour("grid").rgb()), where=edge & (code > 0) & (code != WAIT))
    waits = code == WAIT
    if waits.any():
        lines = waiting_lines(code.shape[2], len(code) * row_height, round(6 * ratio)).reshape(painted.shape)
        np.copyto(painted, np.uint32(theme.colour(WAITING).rgb()), where=waits & lines & (v < row_height - 1))
    return painted.reshape(-1, code.shape[2])

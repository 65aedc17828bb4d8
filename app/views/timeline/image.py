"""The timeline's images, computed with NumPy: a block's warps moment by moment, and all blocks of the grid."""

from __future__ import annotations

import heapq
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from ....tracer.analysis.requests import Requests
from ....tracer.model.array_types import Ints
from ...model.session import Session
from ...widgets.patterns import EXCHANGE, LOOKS, WAITING, Pixels, cell, hatch, image, mixed
from ...widgets.theme import Theme
from ..common.activity import BlockActivity

Codes = NDArray[np.uint8]
WAIT, EXCHANGES = LOOKS.index(WAITING), LOOKS.index(EXCHANGE)
GAP, PATTERN = 3, 5  # the smallest cell, in logical pixels, with a gap and with a pattern
LOW = 4  # logical pixels: lower rows are separated by a darker line instead of the background
REPEAT = 5  # a pattern is drawn once per this multiple of its cell's height
GROUP = 8  # logical pixels: the least height of a group of low rows that share a pattern


def activity_codes(session: Session, block: BlockActivity) -> Codes:
    """Compute each warp's activity at each moment of the block's span: indices into LOOKS, (warps, moments)."""
    first, last = block.span
    requests = session.requests
    codes = np.zeros((session.trace.warps, last - first + 1), np.uint8)
    request_rows, exchanges = np.flatnonzero(requests.block == block.block), requests.exchanges
    exchange_rows = np.flatnonzero(exchanges.block == block.block)
    if block.present:
        codes[_find_waiting(block, requests, request_rows, exchange_rows)] = WAIT
    codes[exchanges.warp[exchange_rows], exchanges.moment[exchange_rows] - first] = EXCHANGES
    codes[requests.warp[request_rows], requests.moment[request_rows] - first] = (
        requests.kind[request_rows] + 1
    )
    return codes


def _find_waiting(
    block: BlockActivity, requests: Requests, request_rows: Ints, exchange_rows: Ints
) -> NDArray[np.bool_]:
    """Mark the moments between a warp's last access of a phase and the barrier that it reached: (warps, moments)."""
    last, exchanges = np.zeros(block.arrived.shape, np.int64), requests.exchanges
    # Requests are ascending by moment: the last assignment wins.
    inside = request_rows[requests.phase[request_rows] < block.phases]
    last[requests.warp[inside], requests.phase[inside]] = requests.moment[inside]
    swapped = exchange_rows[exchanges.phase[exchange_rows] < block.phases]
    np.maximum.at(
        last,
        (exchanges.warp[swapped], exchanges.phase[swapped]),
        exchanges.moment[swapped],
    )
    last = np.maximum(last, block.start)
    first, final = block.span
    moments = np.arange(first, final + 1)
    phase = np.searchsorted(block.end, moments)
    return (moments > last[:, phase]) & block.arrived[:, phase]


def rows_pixels(
    codes: Codes, first: int, x_range: tuple[float, float], size: tuple[int, int], theme: Theme, ratio: float
) -> Pixels:
    """Draw the rows of a block's warps as pixels.

    codes: from the function `codes`, with moment `first` in the first column. size: width and height in device
    pixels; the height is a multiple of the number of warps. A moment m covers m <= x < m + 1. If a pixel covers
    many moments, its rows of pixels show them in turn, so that colours are never mixed. Rows that are too low for
    a pattern share one with neighbours of the same kind.
    """
    (width, height), warps = size, len(codes)
    row_height = height // warps
    per_pixel = (x_range[1] - x_range[0]) / width
    x = np.arange(width)
    inner = (np.arange(row_height)[:, None] + 0.5) / row_height if per_pixel > 1 else np.full((1, 1), 0.5)
    # The same for all warps: (row_height or 1, width).
    moment = np.floor(x_range[0] + (x + inner) * per_pixel).astype(np.int64)
    inside = (moment >= first) & (moment < first + codes.shape[1])
    column = np.clip(moment - first, 0, codes.shape[1] - 1)
    code = np.where(inside, codes[:, column], np.uint8(0))  # (warps, row_height or 1, width)
    u = x - np.ceil((moment - x_range[0]) / per_pixel - 0.5).astype(np.int64)
    gap = max(1, round(ratio)) if row_height >= GAP * ratio else 0
    pixels = _draw_cells(code, u, np.arange(row_height), (1 / per_pixel, row_height), gap, theme, ratio)
    group = 1 if row_height >= PATTERN * ratio else math.ceil(GROUP * ratio / row_height)
    if group > 1 and 1 / per_pixel >= PATTERN * ratio:  # a moment covers several pixels
        y = np.arange(height)
        shared = np.repeat((inside & _uniform_groups(codes, group)[:, column])[:, 0], row_height, axis=0)
        shared &= (y % row_height < row_height - gap)[:, None]
        rows, group_height = np.repeat(code[:, 0], row_height, axis=0)[None], row_height * group
        pixels[shared] = _draw_cells(
            rows, u, y % group_height, (1 / per_pixel, group_height), 0, theme, ratio
        )[shared]
    return pixels


@lru_cache(maxsize=8)  # many blocks of a launch look the same
def rows_image(
    codes: bytes, warps: int, begin: float, moments: float, size: tuple[int, int], theme: Theme, ratio: float
) -> QImage:
    """Draw `rows_pixels` as an image; codes: their bytes; begin: relative to their first moment; moments: a number."""
    rows = np.frombuffer(codes, np.uint8).reshape(warps, -1)
    return image(rows_pixels(rows, 0, (begin, begin + moments), size, theme, ratio))


def _uniform_groups(codes: Codes, group: int) -> NDArray[np.bool_]:
    """Mark groups of `group` warps that all make requests of one kind, in the shape of `codes`."""
    grouped = len(codes) // group * group
    groups = codes[:grouped].reshape(-1, group, codes.shape[1])
    same = (groups == groups[:, :1]).all(axis=1) & (groups[:, 0] > 0) & (groups[:, 0] != WAIT)
    is_same = np.zeros(codes.shape, bool)
    is_same[:grouped] = np.repeat(same, group, axis=0)
    return is_same


def _draw_cells(
    code: Codes, u: Ints, v: Ints, cell_size: tuple[float, int], gap: int, theme: Theme, ratio: float
) -> Pixels:
    """Draw the pixels of cells from their codes and their position (u, v) in their cell.

    The result is (rows x height, width); code: (rows, height or 1, width); u: (height or 1, width); v: (height,).
    cell_size: width and height; gap: the height of the empty part at the bottom of a cell.
    """
    cell_width, cell_height = (
        (int(np.ceil(cell_size[0])) + 1 if cell_size[0] >= GAP * ratio else 1),
        cell_size[1],
    )
    cells = draw_cell_atlas(cell_width, cell_height, gap, min(cell_size) >= PATTERN * ratio, theme, ratio)
    corner = code * np.int32(cell_height * cell_width) + np.clip(u, 0, cell_width - 1).astype(np.int32)
    index = corner + (v * cell_width).astype(np.int32)[:, None]
    painted: Pixels = np.take(cells.ravel(), index)  # one index takes half the time of three
    waits = code == WAIT
    if waits.any():
        lines = waiting_lines(code.shape[2], len(code) * len(v), round(6 * ratio)).reshape(painted.shape)
        waits = waits & lines & (v < cell_height - 1)[:, None]
        np.copyto(painted, np.uint32(theme.colour(WAITING).rgb()), where=waits)
    return painted.reshape(-1, code.shape[2])


@lru_cache(maxsize=4)
def waiting_lines(width: int, height: int, pitch: int) -> NDArray[np.bool_]:
    """Mark the pixels of the diagonal lines for waiting, shape (height, width)."""
    return hatch(width, height, pitch)


@lru_cache(maxsize=8)  # all blocks share it
def draw_cell_atlas(
    width: int, height: int, gap: int, has_pattern: bool, theme: Theme, ratio: float
) -> Pixels:
    """Draw a cell of each look, (looks, height, width), with gaps at the left and the bottom; gap: the lower one."""
    left_gap = max(1, round(ratio)) if width > 1 else 0
    cells = np.full((len(LOOKS), height, width), theme.colour("grid").rgb(), np.uint32)
    for code, look in enumerate(LOOKS[:WAIT]):
        cells[code, : height - gap, left_gap:] = _draw_cell(
            look, width - left_gap, height - gap, has_pattern, theme
        )
        if look and height < LOW * ratio:
            cells[code, height - gap :, left_gap:] = mixed(theme.colour(look), "#000000", 0.3).rgb()
    cells[0] = theme.colour("panel").rgb()
    cells[WAIT] = theme.colour("panel").rgb()
    return cells


def _draw_cell(look: str, width: int, height: int, has_pattern: bool, theme: Theme) -> Pixels:
    """Draw a cell; in a long one the pattern is repeated, about as large as in the legend."""
    times = max(1, width // (REPEAT * height))
    edges = np.linspace(0, width, times + 1).astype(int)
    widths = np.diff(edges).tolist()
    return np.concatenate([cell(look, w, height, theme, patterned=has_pattern) for w in widths], axis=1)


def assign_lanes(start: Ints, end: Ints) -> Ints:
    """Assign each block the lowest lane that is free at its start; blocks in a lane do not overlap."""
    lane = np.zeros(len(start), np.int64)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for block in np.argsort(start, kind="stable").tolist():
        while busy and busy[0][0] <= start[block]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane[block] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (int(end[block]), int(lane[block])))
    return lane


def strip_pixels(
    start: Ints, end: Ints, lane: Ints, moments: int, size: tuple[int, int], theme: Theme, ratio: float
) -> Pixels:
    """Draw all blocks along a launch of `moments` as pixels: a bar for each, or a density for too many.

    Block i runs start[i] < m <= end[i] in a lane. size: width and height in device pixels.
    """
    width, height = size
    rows = int(lane.max(initial=0)) + 1
    drawn = min(rows, max(1, height // max(1, round(3 * ratio))))
    row = lane * drawn // rows
    left = np.clip(start * width // moments, 0, width - 1)
    right = np.clip(-(-end * width // moments), left + 1, width)
    gap = max(1, round(ratio))
    # The next block's bar begins at the end of this one's last moment, rounded down. The gap lies before it.
    right = np.where(right - left >= 4 * gap, end * width // moments - gap, right)
    density = np.zeros((drawn, width + 1), np.int64)
    np.add.at(density, (row, left), 1)
    np.add.at(density, (row, right), -1)
    return _shade_density(np.cumsum(density, 1)[:, :width], height, theme, gap)


def _shade_density(density: Ints, height: int, theme: Theme, gap: int) -> Pixels:
    """Draw a density, one row per row of blocks, as pixels: more blocks are darker."""
    row_height = height // len(density)
    ramp = [
        mixed(theme.colour("panel"), theme.palette.muted, share).rgb() for share in np.linspace(0.3, 0.6, 8)
    ]
    shades = np.array([theme.colour("panel").rgb(), *ramp], np.uint32)
    level = -(-density * (len(ramp)) // max(1, int(density.max(initial=1))))
    shaded = np.repeat(shades[level], row_height, axis=0)
    if len(density) > 1 and row_height > 2 * gap:
        shaded[np.arange(len(shaded)) % row_height >= row_height - gap] = shades[0]
    return shaded

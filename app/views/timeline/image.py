"""The timeline's pictures, made with NumPy: a block's warps moment by moment, and all blocks of the grid."""

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
GAP, PATTERN = 3, 5  # the smallest cell, in logical pixels, with a gap around it, and with a pattern in it
LOW = (
    4  # the height, in logical pixels, from which rows are parted by the ground; lower ones by a darker line
)
REPEAT = 5  # times its height that a cell is long when its pattern is drawn once
GROUP = (
    8  # the least height, in logical pixels, of rows of one kind that share a pattern where each is too low
)


def codes(session: Session, block: BlockActivity) -> Codes:
    """Return what each warp does at each moment of the block's span: places in LOOKS, (warps, moments)."""
    first, last = block.span
    requests = session.requests
    out = np.zeros((session.trace.warps, last - first + 1), np.uint8)
    mine, swaps = np.flatnonzero(requests.block == block.block), requests.exchanges
    theirs = np.flatnonzero(swaps.block == block.block)
    if block.present:
        out[_waiting(block, requests, mine, theirs)] = WAIT
    out[swaps.warp[theirs], swaps.moment[theirs] - first] = EXCHANGES
    out[requests.warp[mine], requests.moment[mine] - first] = requests.kind[mine] + 1
    return out


def _waiting(block: BlockActivity, requests: Requests, mine: Ints, theirs: Ints) -> NDArray[np.bool_]:
    """Return where a warp that reached a phase's barrier has made its last request, or exchange, of the phase."""
    last, swaps = np.zeros(block.arrived.shape, np.int64), requests.exchanges
    inside = mine[requests.phase[mine] < block.phases]  # ascending by moment: of several the last one stays
    last[requests.warp[inside], requests.phase[inside]] = requests.moment[inside]
    swapped = theirs[swaps.phase[theirs] < block.phases]
    np.maximum.at(last, (swaps.warp[swapped], swaps.phase[swapped]), swaps.moment[swapped])
    last = np.maximum(last, block.start)
    first, final = block.span
    moments = np.arange(first, final + 1)
    of = np.searchsorted(block.end, moments)
    return (moments > last[:, of]) & block.arrived[:, of]


def rows_pixels(
    what: Codes, first: int, x_range: tuple[float, float], size: tuple[int, int], theme: Theme, ratio: float
) -> Pixels:
    """Return the rows of a block's warps as pixels.

    what: as `codes` returns it, its first column being moment `first`. size: width and height in device
    pixels; the height is a multiple of the warps. A moment m stands at m <= x < m + 1. Where a
    pixel holds many moments, its rows of pixels show them in turn, so that no colour is ever mixed.
    Rows too low for a pattern share one with their neighbours, where these do the same.
    """
    (width, height), warps = size, len(what)
    tall = height // warps
    per_pixel = (x_range[1] - x_range[0]) / width
    x = np.arange(width)
    inner = (np.arange(tall)[:, None] + 0.5) / tall if per_pixel > 1 else np.full((1, 1), 0.5)
    # All warps alike, these are (tall or 1, width).
    moment = np.floor(x_range[0] + (x + inner) * per_pixel).astype(np.int64)
    inside = (moment >= first) & (moment < first + what.shape[1])
    column = np.clip(moment - first, 0, what.shape[1] - 1)
    code = np.where(inside, what[:, column], np.uint8(0))  # (warps, tall or 1, width)
    u = x - np.ceil((moment - x_range[0]) / per_pixel - 0.5).astype(np.int64)
    gap = max(1, round(ratio)) if tall >= GAP * ratio else 0
    pixels = _painted(code, u, np.arange(tall), (1 / per_pixel, tall), gap, theme, ratio)
    many = 1 if tall >= PATTERN * ratio else math.ceil(GROUP * ratio / tall)
    if many > 1 and 1 / per_pixel >= PATTERN * ratio:  # a moment has pixels of its own
        y = np.arange(height)
        shared = np.repeat((inside & _alike(what, many)[:, column])[:, 0], tall, axis=0)
        shared &= (y % tall < tall - gap)[:, None]
        rows, high = np.repeat(code[:, 0], tall, axis=0)[None], tall * many
        pixels[shared] = _painted(rows, u, y % high, (1 / per_pixel, high), 0, theme, ratio)[shared]
    return pixels


@lru_cache(maxsize=8)  # many blocks of a launch do the same
def rows_image(
    what: bytes, warps: int, begin: float, moments: float, size: tuple[int, int], theme: Theme, ratio: float
) -> QImage:
    """Return `rows_pixels` as an image: the bytes of `what`, from so far after its first moment on, so many moments."""
    rows = np.frombuffer(what, np.uint8).reshape(warps, -1)
    return image(rows_pixels(rows, 0, (begin, begin + moments), size, theme, ratio))


def _alike(what: Codes, many: int) -> NDArray[np.bool_]:
    """Return where so many warps, from a multiple of that number on, make requests of one kind, shape of `what`."""
    whole = len(what) // many * many
    groups = what[:whole].reshape(-1, many, what.shape[1])
    same = (groups == groups[:, :1]).all(axis=1) & (groups[:, 0] > 0) & (groups[:, 0] != WAIT)
    out = np.zeros(what.shape, bool)
    out[:whole] = np.repeat(same, many, axis=0)
    return out


def _painted(
    code: Codes, u: Ints, v: Ints, cell_size: tuple[float, int], gap: int, theme: Theme, ratio: float
) -> Pixels:
    """Return the pixels of cells, from what each shows and its place (u, v) in its cell.

    They are (rows x tall, width); code: (rows, tall or 1, width); u: (tall or 1, width); v: (tall,). cell_size:
    width and height; gap: the height of what is empty at the foot of a cell.
    """
    wide, tall = (int(np.ceil(cell_size[0])) + 1 if cell_size[0] >= GAP * ratio else 1), cell_size[1]
    cells = atlas(wide, tall, gap, min(cell_size) >= PATTERN * ratio, theme, ratio)
    corner = code * np.int32(tall * wide) + np.clip(u, 0, wide - 1).astype(np.int32)
    place = corner + (v * wide).astype(np.int32)[:, None]
    out: Pixels = np.take(cells.ravel(), place)  # one index is looked up in half the time of three
    waits = code == WAIT
    if waits.any():
        lines = waiting_lines(code.shape[2], len(code) * len(v), round(6 * ratio)).reshape(out.shape)
        waits = waits & lines & (v < tall - 1)[:, None]
        np.copyto(out, np.uint32(theme.colour(WAITING).rgb()), where=waits)
    return out.reshape(-1, code.shape[2])


@lru_cache(maxsize=4)
def waiting_lines(width: int, height: int, pitch: int) -> NDArray[np.bool_]:
    """Return where the diagonal lines of waiting run, shape (height, width)."""
    return hatch(width, height, pitch)


@lru_cache(maxsize=8)  # made for a block, it serves the others
def atlas(wide: int, tall: int, gap: int, patterned: bool, theme: Theme, ratio: float) -> Pixels:
    """Return a cell of each look, shape (looks, tall, wide), with a gap at its left and one, so high, at its foot."""
    across = max(1, round(ratio)) if wide > 1 else 0
    out = np.full((len(LOOKS), tall, wide), theme.colour("grid").rgb(), np.uint32)
    for code, look in enumerate(LOOKS[:WAIT]):
        out[code, : tall - gap, across:] = _body(look, wide - across, tall - gap, patterned, theme)
        if look and tall < LOW * ratio:
            out[code, tall - gap :, across:] = mixed(theme.colour(look), "#000000", 0.3).rgb()
    out[0] = theme.colour("panel").rgb()
    out[WAIT] = theme.colour("panel").rgb()
    return out


def _body(look: str, wide: int, tall: int, patterned: bool, theme: Theme) -> Pixels:
    """Return a cell; in a long one its pattern comes again and again, about as large as in the legend."""
    times = max(1, wide // (REPEAT * tall))
    edges = np.linspace(0, wide, times + 1).astype(int)
    widths = np.diff(edges).tolist()
    return np.concatenate([cell(look, w, tall, theme, patterned=patterned) for w in widths], axis=1)


def lanes(start: Ints, end: Ints) -> Ints:
    """Return for each block the lowest lane free at its start; blocks in a lane follow one another."""
    out = np.zeros(len(start), np.int64)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for block in np.argsort(start, kind="stable").tolist():
        while busy and busy[0][0] <= start[block]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        out[block] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (int(end[block]), int(out[block])))
    return out


def strip_pixels(
    start: Ints, end: Ints, lane: Ints, moments: int, size: tuple[int, int], theme: Theme, ratio: float
) -> Pixels:
    """Return all blocks along a launch of `moments` as pixels: a bar each, a density where they are too many.

    Block i runs start[i] < m <= end[i] in a lane. size: width and height in device pixels.
    """
    width, height = size
    rows = int(lane.max(initial=0)) + 1
    drawn = min(rows, max(1, height // max(1, round(3 * ratio))))
    row = lane * drawn // rows
    a = np.clip(start * width // moments, 0, width - 1)
    b = np.clip(-(-end * width // moments), a + 1, width)
    gap = max(1, round(ratio))
    # The next block's bar begins where this one's last moment ends, rounded down: the gap is before that.
    b = np.where(b - a >= 4 * gap, end * width // moments - gap, b)
    density = np.zeros((drawn, width + 1), np.int64)
    np.add.at(density, (row, a), 1)
    np.add.at(density, (row, b), -1)
    return _shaded(np.cumsum(density, 1)[:, :width], height, theme, gap)


def _shaded(density: Ints, height: int, theme: Theme, gap: int) -> Pixels:
    """Return a density, one row per row of blocks, as pixels: the more blocks, the stronger."""
    tall = height // len(density)
    ramp = [
        mixed(theme.colour("panel"), theme.palette.muted, share).rgb() for share in np.linspace(0.3, 0.6, 8)
    ]
    shades = np.array([theme.colour("panel").rgb(), *ramp], np.uint32)
    level = -(-density * (len(ramp)) // max(1, int(density.max(initial=1))))
    out = np.repeat(shades[level], tall, axis=0)
    if len(density) > 1 and tall > 2 * gap:
        out[np.arange(len(out)) % tall >= tall - gap] = shades[0]
    return out

"""Turns columns into pixels, with NumPy: blocks per row over time, and the activity of warps."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tracer.hardware.timeline import SEGMENT_KINDS
from ...tracer.model.array_types import Floats, Ints
from ..widgets.patterns import WAITING, Pixels, cell, hatch, mixed
from ..widgets.theme import Theme
from .layout import TimeRange, edges_of
from .model.data import GpuData

# The pattern of each kind of segment is that of its main activity in the timeline. Arithmetic reads shared memory.
KIND_LOOKS: dict[str, str] = {
    "load": "global load",
    "compute": "shared load",
    "wait": WAITING,
    "atomic": "atomic",
    "store": "global store",
    "other": "",
}
LANE = 3  # device pixels at a ratio of 1: lower lanes of a multiprocessor are summed
SHADES = 24  # steps of a shade
LEAST = 0.3  # the strength of the weakest shade
PATTERN = 5  # pixels: lower rows have no pattern
# Pixels of a median segment. Below it, so many rows of pixels show the segments in turn.
NARROW, TURNS = 2.0, 4
CELL = 14  # pixels: the approximate height of a pattern
MINI = 6  # pixels at a ratio of 1: lower lanes do not show warps
DARK, PALE = ("muted", 0.95), ("muted", 0.55)  # of alternating waves: a colour and its share


def coverage(row: Ints, start: Floats, end: Floats, rows: int, width: int) -> Floats:
    """Compute the mean number of spans that cover each pixel: shape (rows, width).

    start, end: in pixels from the left edge. A span adds a rising ramp at its start and a falling one at its end, so
    that sums along a row are exact means at any number of spans per pixel.
    """
    a, b = np.clip(start, 0, width), np.clip(end, 0, width)
    inside = b > a
    span_row, edges = row[inside], np.concatenate([a[inside], b[inside]])
    pixel = np.floor(edges)
    share, sign = edges - pixel, np.repeat([1.0, -1.0], len(span_row))
    flat = np.tile(span_row, 2) * (width + 2) + pixel.astype(np.int64)
    weights = np.concatenate([sign * (1 - share), sign * share])
    ramps = np.bincount(np.concatenate([flat, flat + 1]), weights, minlength=rows * (width + 2))
    return np.maximum(np.cumsum(ramps.reshape(rows, width + 2), axis=1)[:, :width], 0.0, dtype=np.float64)


def block_rows(data: GpuData, machine: int | None, tall: float) -> tuple[Ints, Ints, int]:
    """Return the visible blocks, the row of each, and the number of rows of a multiprocessor.

    The lanes of one multiprocessor are rows. If all are shown, each has one row, or one per lane if there is room.
    tall: height of a multiprocessor in device pixels at a ratio of 1.
    """
    lane, at_once = data.lanes.lane, max(1, data.lanes.concurrent_blocks)
    if machine is not None:
        blocks = data.blocks_on(machine)
        return blocks, lane[blocks], at_once
    shown = np.arange(data.timeline.blocks)
    parts = at_once if tall >= LANE * at_once else 1
    first_row = data.row_of[data.timeline.spans.multiprocessor] * parts
    return shown, first_row + (lane if parts > 1 else 0), parts


def bars(
    data: GpuData,
    machine: int | None,
    span: TimeRange,
    size: tuple[int, int],
    rows: int,
    theme: Theme,
    ratio: float,
) -> tuple[Pixels, Floats]:
    """Draw the rows of all multiprocessors, or the lanes of one; also return the number of concurrent blocks.

    size: width and height in device pixels. rows: number of multiprocessors or lanes. Consecutive blocks of a
    lane have alternating shades. If lanes are summed, the shade grows with the number of occupied lanes.
    The second result has shape (width,): the mean number of running blocks at each pixel.
    """
    width, height = size
    block, row, parts = block_rows(data, machine, height / ratio / rows)
    count = rows * parts if machine is None else rows
    group = -(-count // height)  # rows per pixel, if there are more rows than pixels
    row, count = row // group, -(-count // group)
    a, b = _pixels_of(data, block, span, width)
    wave = data.lanes.wave[block] % 2
    both = coverage(row + wave * count, a, b, 2 * count, width).reshape(2, count, width)
    most = group * (1 if machine is not None or parts > 1 else max(1, data.lanes.concurrent_blocks))
    levels = np.minimum(np.round(both * (SHADES / most)), SHADES).astype(np.int64)
    colours = _tones(theme).take(levels[0] * (SHADES + 1) + levels[1])
    return _rows_to_pixels(colours, height, count, parts if machine is None else 1, theme), both.sum(
        axis=(0, 1)
    )


def _pixels_of(data: GpuData, block: Ints, span: TimeRange, width: int) -> tuple[Floats, Floats]:
    spans, (first, last) = data.timeline.spans, span
    scale = width / (last - first)
    begin, end = (column[block].astype(np.float64) for column in (spans.start, spans.end))
    return (begin - first) * scale, (end - first) * scale


@lru_cache(maxsize=8)
def _tones(theme: Theme) -> NDArray[np.uint32]:
    """Return the colour of a row by its share of blocks of even and of odd waves."""
    panel = theme.colour("panel")
    tones = [mixed(panel, theme.colour(name).name(), share) for name, share in (DARK, PALE)]
    table = np.empty((SHADES + 1, SHADES + 1), np.uint32)
    for even in range(SHADES + 1):
        for odd in range(SHADES + 1):
            occupied = min(1.0, (even + odd) / SHADES)
            tone = mixed(tones[0], tones[1].name(), odd / max(1, even + odd))
            strength = LEAST + (1 - LEAST) * occupied if even + odd else 0.0
            table[even, odd] = mixed(panel, tone.name(), strength).rgb()
    return table.ravel()


def _rows_to_pixels(colours: Pixels, height: int, count: int, parts: int, theme: Theme) -> Pixels:
    """Stretch rows of one pixel to the given height, with a line between groups of `parts` rows."""
    edges = edges_of(count, height)
    stretched = np.repeat(colours, np.diff(edges), axis=0)
    group_height = height / count * parts
    if group_height >= 5:
        stretched[edges[parts:-1:parts] - 1] = theme.colour("panel").rgb()
    return stretched


class Strip(NamedTuple):
    """Segments in rows: columns of shape (segments,), sorted by time within a row."""

    row: Ints
    kind: Ints  # index in SEGMENT_KINDS
    begin: Floats  # nanoseconds from the chart's origin
    end: Floats
    segment: Ints  # its index in the timeline's columns
    usual: float  # median length in nanoseconds, 0 without segments


@lru_cache(maxsize=16)
def block_strip(data: GpuData, block: int, warp: int | None) -> Strip:
    """Return a block's segments, a row per warp, or one warp's, a row per kind; times from the block's start."""
    segments, part = data.timeline.segments, data.rows(block)
    segment_rows = np.arange(part.start, part.stop)
    row = segments.warp[segment_rows].astype(np.int64)
    if warp is not None:
        segment_rows = segment_rows[row == warp]
        row = np.searchsorted(kind_rows(data), segments.kind[segment_rows])
    return _strip(data, segment_rows, row, 0.0)


def lanes_of(data: GpuData, machine: int | None, block: Ints) -> Ints:
    """Return the lane of each block, of one multiprocessor or (None) numbered through all."""
    lane = data.lanes.lane[block]
    if machine is not None:
        return lane
    return data.row_of[data.timeline.spans.multiprocessor[block]] * data.lanes.concurrent_blocks + lane


@lru_cache(maxsize=8)
def machine_strip(data: GpuData, machine: int | None) -> tuple[Strip, int]:
    """Return the segments of all blocks on a multiprocessor, with a row per warp of a lane, and the rows per lane.

    machine: None stands for all multiprocessors, one after the other.
    """
    segments, spans = data.timeline.segments, data.timeline.spans
    is_shown = np.isin(segments.block, data.blocks_on(machine)) if machine is not None else slice(None)
    segment_rows = np.arange(len(segments))[is_shown]
    warps = int(segments.warp[segment_rows].max()) + 1 if len(segment_rows) else 1
    row = (
        lanes_of(data, machine, segments.block[segment_rows].astype(np.int64)) * warps
        + segments.warp[segment_rows]
    )
    in_order = np.argsort(spans.start[segments.block[segment_rows]], kind="stable")
    segment_rows, row = segment_rows[in_order], row[in_order]
    return _strip(
        data, segment_rows, row, spans.start[segments.block[segment_rows]].astype(np.float64)
    ), warps


def _strip(data: GpuData, segment_rows: Ints, row: Ints, origin: Floats | float) -> Strip:
    segments = data.timeline.segments
    begin, end = (
        data.nanoseconds(column[segment_rows]) + origin for column in (segments.start, segments.end)
    )
    usual = float(np.median(end - begin)) if len(segment_rows) else 0.0
    return Strip(row, segments.kind[segment_rows].astype(np.int64), begin, end, segment_rows, usual)


def codes(strip: Strip, span: TimeRange, rows: int, width: int) -> tuple[Ints, Ints]:
    """Return the kind at each pixel's middle (-1 for none) and the pixels since its segment began: (rows, width)."""
    scale = width / (span[1] - span[0])
    first = np.ceil((strip.begin - span[0]) * scale - 0.5).astype(np.int64)
    last = np.ceil((strip.end - span[0]) * scale - 0.5).astype(np.int64)  # one past its last pixel
    visible = np.flatnonzero((last > 0) & (first < width) & (last > first))
    latest = np.full((rows, width), -1)
    latest[strip.row[visible], np.maximum(first[visible], 0)] = visible  # the later of two stays
    # Segment numbers rise along a row.
    np.maximum.accumulate(latest, axis=1, out=latest)
    segment, x = np.maximum(latest, 0), np.arange(width)
    inside = (latest >= 0) & (x < last[segment]) if len(first) else np.zeros(latest.shape, bool)
    if not len(first):
        return latest, np.zeros_like(latest)
    return np.where(inside, strip.kind[segment], -1), np.where(inside, x - first[segment], 0)


def segment_pixels(
    strip: Strip, span: TimeRange, size: tuple[int, int], rows: int, theme: Theme, ratio: float
) -> Pixels:
    """Draw segments; `size` is width and height in device pixels.

    If segments are narrower than pixels, adjacent pixel rows show them in turn, so that no colours mix.
    """
    width, height = size
    usual_width = _usual_width(strip, span, width)
    turns = TURNS if usual_width < NARROW else 1
    code, since = codes(strip, span, rows, width * turns)
    edges = edges_of(rows, height)
    pixels = np.empty((height, width), np.uint32)
    for row_height in np.unique(np.diff(edges)).tolist():  # at most two heights
        same_height = np.flatnonzero(np.diff(edges) == row_height)
        if min(usual_width, row_height) >= PATTERN * ratio:
            painted = _patterned(code[same_height], since[same_height], row_height, theme, ratio)
        elif row_height:
            painted = _plain(code[same_height], turns, row_height, theme, ratio)
        else:
            continue
        y = edges[same_height][:, None] + np.arange(row_height)
        pixels[y.ravel()] = painted.reshape(-1, width)
    return pixels


def _usual_width(strip: Strip, span: TimeRange, width: float) -> float:
    """Return the width in pixels of a median segment."""
    return strip.usual * width / (span[1] - span[0])


def shows_warps(data: GpuData, machine: int | None, span: TimeRange, width: float, tall: float) -> bool:
    """Return True if lanes of this height, in logical pixels, show warps at this width.

    machine: the multiprocessor of the lanes. None stands for all, which show warps only if they have few lanes.
    """
    if tall < MINI or (machine is None and not data.has_few_lanes):
        return False
    return _usual_width(machine_strip(data, machine)[0], span, width) >= NARROW


def add_warps(
    pixels: Pixels,
    data: GpuData,
    machine: int | None,
    span: TimeRange,
    lanes: int,
    theme: Theme,
    ratio: float,
) -> None:
    """Paint the activity of warps into the lanes of one or all multiprocessors, where it was recorded.

    If segments are too narrow, the blocks stay. lanes: the number of lanes in the picture.
    """
    height, width = pixels.shape
    if not shows_warps(data, machine, span, width / ratio, height / ratio / lanes):
        return
    strip, warps = machine_strip(data, machine)
    code, _ = codes(strip, span, lanes * warps, width)
    edges = edges_of(lanes, height)
    inner_height = np.diff(edges) - _gaps(data, machine, lanes, ratio)
    lane = np.repeat(np.arange(lanes), np.diff(edges))
    y = np.arange(height) - edges[lane]
    warp = np.minimum(y * warps // np.maximum(inner_height[lane], 1), warps - 1)
    shown = code[lane * warps + warp]
    shown[y >= inner_height[lane]] = -1
    pixels[y >= inner_height[lane]] = theme.colour("panel").rgb()
    np.copyto(pixels, _flat(theme).take(shown, mode="wrap"), where=shown >= 0)
    waits = (shown == SEGMENT_KINDS.index("wait")) & hatch(width, height, round(6 * ratio))
    np.copyto(pixels, np.uint32(theme.colour(WAITING).rgb()), where=waits)
    _separate_blocks(pixels, data, machine, span, edges, theme, ratio)


def _gaps(data: GpuData, machine: int | None, lanes: int, ratio: float) -> Ints:
    """Return the gap in pixels below each lane; it is larger between multiprocessors."""
    gaps, at_once = np.full(lanes, max(1, round(ratio))), data.lanes.concurrent_blocks
    if machine is None and at_once > 1:
        gaps[at_once - 1 :: at_once] *= 3
    return gaps


def _separate_blocks(
    pixels: Pixels,
    data: GpuData,
    machine: int | None,
    span: TimeRange,
    edges: Ints,
    theme: Theme,
    ratio: float,
) -> None:
    """Clear a gap between consecutive blocks of a lane."""
    width, blocks = pixels.shape[1], data.order if machine is None else data.blocks_on(machine)
    start = data.timeline.spans.start[blocks]
    x = np.round((start - span[0]) * (width / (span[1] - span[0]))).astype(np.int64)
    visible = (x > 0) & (x < width)
    background, lanes = theme.colour("panel").rgb(), lanes_of(data, machine, blocks)
    for column, lane in zip(x[visible].tolist(), lanes[visible].tolist(), strict=True):
        pixels[edges[lane] : edges[lane + 1], max(0, column - round(2 * ratio)) : column] = background


@lru_cache(maxsize=8)
def _flat(theme: Theme) -> Pixels:
    """Return the plain colour of each kind, and the background at the end."""
    looks = [*(KIND_LOOKS[kind] or "cell_unread" for kind in SEGMENT_KINDS), "panel"]
    colours = [theme.colour(look) for look in looks]
    colours[SEGMENT_KINDS.index("wait")] = mixed(theme.colour("panel"), theme.colour(WAITING).name(), 0.4)
    return np.array([colour.rgb() for colour in colours], np.uint32)


def kind_rows(data: GpuData) -> list[int]:
    """Return the kinds that were recorded, as indices in SEGMENT_KINDS: the rows of a single warp."""
    return [SEGMENT_KINDS.index(kind) for kind in data.kinds]


def _gap(tall: int, ratio: float) -> int:
    """Return the gap in pixels below a row of this height."""
    return max(1, round(ratio)) if tall >= 4 * ratio else 0


def _plain(code: Ints, turns: int, tall: int, theme: Theme, ratio: float) -> Pixels:
    """Draw rows without patterns, (rows, tall, width), from `turns` codes per pixel."""
    colours = _flat(theme).take(code, mode="wrap").reshape(len(code), -1, turns).transpose(0, 2, 1)
    pixels: Pixels = colours[:, np.arange(tall) % turns]
    pixels[:, tall - _gap(tall, ratio) :] = theme.colour("panel").rgb()
    return pixels


def _patterned(code: Ints, since: Ints, tall: int, theme: Theme, ratio: float) -> Pixels:
    """Draw rows with patterns, (rows, tall, width), each repeated from the start of its segment."""
    gap, cell_height = _gap(tall, ratio), round(CELL * ratio)
    cell_width = max(PATTERN, 3 * min(tall - gap, cell_height))
    atlas = _atlas(cell_width, tall, gap, cell_height, theme, round(6 * ratio))
    index = ((code % len(atlas)) * (tall * cell_width) + since % cell_width).astype(np.int32)
    pixels: Pixels = atlas.ravel().take(
        index[:, None, :] + (np.arange(tall, dtype=np.int32) * cell_width)[:, None]
    )
    if gap:
        starts = (since == 0) & (code >= 0)
        # Between narrow segments a gap would hide everything else.
        starts[:, 1:] &= since[:, :-1] >= 3 * ratio
        np.copyto(pixels, np.uint32(theme.colour("panel").rgb()), where=starts[:, None, :])
    waits = code == SEGMENT_KINDS.index("wait")
    if waits.any():
        stripes = hatch(code.shape[1], tall, round(6 * ratio)) & (np.arange(tall) < tall - gap)[:, None]
        np.copyto(pixels, np.uint32(theme.colour(WAITING).rgb()), where=waits[:, None, :] & stripes)
    return pixels


@lru_cache(maxsize=16)
def _atlas(wide: int, tall: int, gap: int, high: int, theme: Theme, pitch: int) -> Pixels:
    """Draw a cell of each kind of segment, with an empty one at the end: shape (kinds + 1, tall, wide).

    high: the approximate height of a pattern; a higher row repeats it.
    """
    background = theme.colour("panel").rgb()
    cells = np.full((len(SEGMENT_KINDS) + 1, tall, wide), background, np.uint32)
    for code, kind in enumerate(SEGMENT_KINDS):
        look = KIND_LOOKS[kind]
        if kind == "other":
            cells[code, : tall - gap] = theme.colour("cell_unread").rgb()
        elif look != WAITING:
            times = max(1, round((tall - gap) / high))
            edges = np.linspace(0, tall - gap, times + 1).astype(int)
            parts = [cell(look, wide, int(part), theme, pitch=pitch) for part in np.diff(edges)]
            cells[code, : tall - gap] = np.concatenate(parts)
    return cells

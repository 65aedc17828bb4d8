"""Columns to pixels, with NumPy: how many blocks were in each row at each time, and what warps did."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....tracer.hardware.timeline import SEGMENT_KINDS
from ....tracer.model.array_types import Floats, Ints
from ...gpu.data import GpuData
from ...widgets.patterns import WAITING, Pixels, cell, hatch, mixed
from ...widgets.theme import Theme
from .layout import TimeRange, edges_of

# How a kind of segment looks: as what it mostly does in the timeline of requests. Arithmetic reads what is shared.
KIND_LOOKS: dict[str, str] = {
    "load": "global load",
    "compute": "shared load",
    "wait": WAITING,
    "atomic": "atomic",
    "store": "global store",
    "other": "",
}
LANE = 3  # device pixels at a ratio of 1: lower lanes of a multiprocessor are added up
SHADES = 24  # steps of a tone
LEAST = 0.3  # the strength of a tone where hardly any of a row is taken
PATTERN = 5  # pixels: lower rows have no pattern
NARROW, TURNS = (
    2.0,
    4,
)  # pixels of a usual segment, below which so many rows of pixels show in turn what there is
CELL = 14  # pixels: the height of a pattern, about
MINI = 6  # pixels at a ratio of 1: lower lanes do not show what warps did
DARK, PALE = ("muted", 0.95), ("muted", 0.55)  # of waves in turn: a colour, and how much of it


def coverage(row: Ints, start: Floats, end: Floats, rows: int, width: int) -> Floats:
    """Return how many of some spans cover each pixel, in the mean over it: shape (rows, width).

    start, end: in pixels, from the left edge. A span adds a ramp that rises where it begins and one that falls where
    it ends, so that sums along a row give exact means at any number of spans a pixel.
    """
    a, b = np.clip(start, 0, width), np.clip(end, 0, width)
    inside = b > a
    place, at = row[inside], np.concatenate([a[inside], b[inside]])
    whole = np.floor(at)
    share, sign = at - whole, np.repeat([1.0, -1.0], len(place))
    flat = np.tile(place, 2) * (width + 2) + whole.astype(np.int64)
    weights = np.concatenate([sign * (1 - share), sign * share])
    ramps = np.bincount(np.concatenate([flat, flat + 1]), weights, minlength=rows * (width + 2))
    return np.maximum(np.cumsum(ramps.reshape(rows, width + 2), axis=1)[:, :width], 0.0, dtype=np.float64)


def block_rows(data: GpuData, machine: int | None, tall: float) -> tuple[Ints, Ints, int]:
    """Return the blocks that are shown, the row of each, and how many rows a multiprocessor has.

    Of one multiprocessor every lane is a row; of all of them each has as many as there is room for: one, or all.
    tall: device pixels of a multiprocessor, at a ratio of 1.
    """
    lane, at_once = data.lanes.lane, max(1, data.lanes.at_once)
    if machine is not None:
        mine = data.on(machine)
        return mine, lane[mine], at_once
    shown = np.arange(data.timeline.blocks)
    parts = at_once if tall >= LANE * at_once else 1
    where = data.row_of[data.timeline.spans.multiprocessor] * parts
    return shown, where + (lane if parts > 1 else 0), parts


def bars(
    data: GpuData,
    machine: int | None,
    span: TimeRange,
    size: tuple[int, int],
    rows: int,
    theme: Theme,
    ratio: float,
) -> tuple[Pixels, Floats]:
    """Return the rows of all multiprocessors, or the lanes of one, as pixels, and how many blocks there were at once.

    size: width and height in device pixels; rows: in it, of multiprocessors or lanes. Blocks that follow each other
    in a lane have two tones in turn; where lanes are added up, a row is the stronger the more of them are taken.
    The second is (width,): blocks that ran at the time of each pixel, in the mean.
    """
    width, height = size
    block, row, parts = block_rows(data, machine, height / ratio / rows)
    count = rows * parts if machine is None else rows
    group = -(-count // height)  # where there are fewer pixels than rows
    row, count = row // group, -(-count // group)
    a, b = _pixels_of(data, block, span, width)
    wave = data.lanes.wave[block] % 2
    both = coverage(row + wave * count, a, b, 2 * count, width).reshape(2, count, width)
    most = group * (1 if machine is not None or parts > 1 else max(1, data.lanes.at_once))
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
    """Return the colour of a row by how much of it is taken by blocks of even and of odd waves."""
    panel = theme.colour("panel")
    tones = [mixed(panel, theme.colour(name).name(), share) for name, share in (DARK, PALE)]
    out = np.empty((SHADES + 1, SHADES + 1), np.uint32)
    for even in range(SHADES + 1):
        for odd in range(SHADES + 1):
            whole = min(1.0, (even + odd) / SHADES)
            tone = mixed(tones[0], tones[1].name(), odd / max(1, even + odd))
            strength = LEAST + (1 - LEAST) * whole if even + odd else 0.0
            out[even, odd] = mixed(panel, tone.name(), strength).rgb()
    return out.ravel()


def _rows_to_pixels(colours: Pixels, height: int, count: int, parts: int, theme: Theme) -> Pixels:
    """Return rows of one pixel each as high as they are; rows, in groups of `parts`, have a line between them."""
    edges = edges_of(count, height)
    out = np.repeat(colours, np.diff(edges), axis=0)
    tall = height / count * parts
    if tall >= 5:
        out[edges[parts:-1:parts] - 1] = theme.colour("panel").rgb()
    return out


class Strip(NamedTuple):
    """Segments in rows: columns of shape (segments,), those of a row in the order of time."""

    row: Ints
    kind: Ints  # index in SEGMENT_KINDS
    begin: Floats  # nanoseconds from the origin of what is shown
    end: Floats
    segment: Ints  # its place in the timeline's columns
    usual: float  # nanoseconds that half of them are shorter than; 0 where there are none


@lru_cache(maxsize=16)
def block_strip(data: GpuData, block: int, warp: int | None) -> Strip:
    """Return what the warps of a block did, a row each, or one of them, a row for each kind; times from its start."""
    segments, part = data.timeline.segments, data.rows(block)
    mine = np.arange(part.start, part.stop)
    row = segments.warp[mine].astype(np.int64)
    if warp is not None:
        mine = mine[row == warp]
        row = np.searchsorted(kind_rows(data), segments.kind[mine])
    return _strip(data, mine, row, 0.0)


def lanes_of(data: GpuData, machine: int | None, block: Ints) -> Ints:
    """Return the lane of each block, of one multiprocessor's or, for None, of those of all."""
    lane = data.lanes.lane[block]
    if machine is not None:
        return lane
    return data.row_of[data.timeline.spans.multiprocessor[block]] * data.lanes.at_once + lane


@lru_cache(maxsize=8)
def machine_strip(data: GpuData, machine: int | None) -> tuple[Strip, int]:
    """Return what the warps of all blocks on a multiprocessor did, a row for each warp of a lane, and rows a lane.

    Of all multiprocessors, for None, it has the lanes of each in turn.
    """
    segments, spans = data.timeline.segments, data.timeline.spans
    is_shown = np.isin(segments.block, data.on(machine)) if machine is not None else slice(None)
    mine = np.arange(len(segments))[is_shown]
    warps = int(segments.warp[mine].max()) + 1 if len(mine) else 1
    row = lanes_of(data, machine, segments.block[mine].astype(np.int64)) * warps + segments.warp[mine]
    in_order = np.argsort(spans.start[segments.block[mine]], kind="stable")
    mine, row = mine[in_order], row[in_order]
    return _strip(data, mine, row, spans.start[segments.block[mine]].astype(np.float64)), warps


def _strip(data: GpuData, mine: Ints, row: Ints, origin: Floats | float) -> Strip:
    segments = data.timeline.segments
    begin, end = (data.nanoseconds(column[mine]) + origin for column in (segments.start, segments.end))
    usual = float(np.median(end - begin)) if len(mine) else 0.0
    return Strip(row, segments.kind[mine].astype(np.int64), begin, end, mine, usual)


def codes(strip: Strip, span: TimeRange, rows: int, width: int) -> tuple[Ints, Ints]:
    """Return the kind in the middle of each pixel, -1 for none, and pixels since its segment began: (rows, width)."""
    scale = width / (span[1] - span[0])
    first = np.ceil((strip.begin - span[0]) * scale - 0.5).astype(np.int64)
    last = np.ceil((strip.end - span[0]) * scale - 0.5).astype(np.int64)  # the first pixel behind it
    seen = np.flatnonzero((last > 0) & (first < width) & (last > first))
    latest = np.full((rows, width), -1)
    latest[strip.row[seen], np.maximum(first[seen], 0)] = seen  # of two, the later one stays
    # Of what a row holds the segments' numbers rise along it.
    np.maximum.accumulate(latest, axis=1, out=latest)
    found, x = np.maximum(latest, 0), np.arange(width)
    inside = (latest >= 0) & (x < last[found]) if len(first) else np.zeros(latest.shape, bool)
    if not len(first):
        return latest, np.zeros_like(latest)
    return np.where(inside, strip.kind[found], -1), np.where(inside, x - first[found], 0)


def segment_pixels(
    strip: Strip, span: TimeRange, size: tuple[int, int], rows: int, theme: Theme, ratio: float
) -> Pixels:
    """Return segments as pixels; size: width and height in device pixels; rows: in it.

    Where segments are narrower than pixels, the pixels of a row show in turn what there is, so that no colours mix.
    """
    width, height = size
    usual = _usual_width(strip, span, width)
    turns = TURNS if usual < NARROW else 1
    code, since = codes(strip, span, rows, width * turns)
    edges = edges_of(rows, height)
    out = np.empty((height, width), np.uint32)
    for tall in np.unique(np.diff(edges)).tolist():  # two heights at most
        mine = np.flatnonzero(np.diff(edges) == tall)
        if min(usual, tall) >= PATTERN * ratio:
            painted = _patterned(code[mine], since[mine], tall, theme, ratio)
        elif tall:
            painted = _plain(code[mine], turns, tall, theme, ratio)
        else:
            continue
        y = edges[mine][:, None] + np.arange(tall)
        out[y.ravel()] = painted.reshape(-1, width)
    return out


def _usual_width(strip: Strip, span: TimeRange, width: float) -> float:
    """Return how many pixels a usual segment is wide; 0 where there are none."""
    return strip.usual * width / (span[1] - span[0])


def shows_warps(data: GpuData, machine: int | None, span: TimeRange, width: float, tall: float) -> bool:
    """Return whether lanes so high, in logical pixels, show what warps did, in a picture so wide.

    machine: the multiprocessor whose lanes they are, None for all of them, which have to be few.
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
    """Paint into the lanes of a multiprocessor, or of all, what the warps of blocks did, where that was recorded.

    Where segments are too narrow to be told apart, the blocks stay as they are. lanes: in the picture.
    """
    height, width = pixels.shape
    if not shows_warps(data, machine, span, width / ratio, height / ratio / lanes):
        return
    strip, warps = machine_strip(data, machine)
    code, _ = codes(strip, span, lanes * warps, width)
    edges = edges_of(lanes, height)
    tall = np.diff(edges) - _gaps(data, machine, lanes, ratio)
    lane = np.repeat(np.arange(lanes), np.diff(edges))
    y = np.arange(height) - edges[lane]
    warp = np.minimum(y * warps // np.maximum(tall[lane], 1), warps - 1)
    shown = code[lane * warps + warp]
    shown[y >= tall[lane]] = -1
    pixels[y >= tall[lane]] = theme.colour("panel").rgb()
    np.copyto(pixels, _flat(theme).take(shown, mode="wrap"), where=shown >= 0)
    waits = (shown == SEGMENT_KINDS.index("wait")) & hatch(width, height, round(6 * ratio))
    np.copyto(pixels, np.uint32(theme.colour(WAITING).rgb()), where=waits)
    _part_blocks(pixels, data, machine, span, edges, theme, ratio)


def _gaps(data: GpuData, machine: int | None, lanes: int, ratio: float) -> Ints:
    """Return how many pixels at the foot of each lane part it from the next one; more between multiprocessors."""
    gaps, at_once = np.full(lanes, max(1, round(ratio))), data.lanes.at_once
    if machine is None and at_once > 1:
        gaps[at_once - 1 :: at_once] *= 3
    return gaps


def _part_blocks(
    pixels: Pixels,
    data: GpuData,
    machine: int | None,
    span: TimeRange,
    edges: Ints,
    theme: Theme,
    ratio: float,
) -> None:
    """Leave a gap between blocks that follow each other in a lane."""
    width, blocks = pixels.shape[1], data.order if machine is None else data.on(machine)
    end = data.timeline.spans.start[blocks]
    x = np.round((end - span[0]) * (width / (span[1] - span[0]))).astype(np.int64)
    seen = (x > 0) & (x < width)
    ground, lanes = theme.colour("panel").rgb(), lanes_of(data, machine, blocks)
    for place, lane in zip(x[seen].tolist(), lanes[seen].tolist(), strict=True):
        pixels[edges[lane] : edges[lane + 1], max(0, place - round(2 * ratio)) : place] = ground


@lru_cache(maxsize=8)
def _flat(theme: Theme) -> Pixels:
    """Return the colour of each kind where there is no room for patterns, and at the end that of none."""
    looks = [*(KIND_LOOKS[kind] or "cell_unread" for kind in SEGMENT_KINDS), "panel"]
    colours = [theme.colour(look) for look in looks]
    colours[SEGMENT_KINDS.index("wait")] = mixed(theme.colour("panel"), theme.colour(WAITING).name(), 0.4)
    return np.array([colour.rgb() for colour in colours], np.uint32)


def kind_rows(data: GpuData) -> list[int]:
    """Return the kinds, as indices in SEGMENT_KINDS, that recorded warps had: a row each where a warp is shown."""
    return [SEGMENT_KINDS.index(kind) for kind in data.kinds]


def _gap(tall: int, ratio: float) -> int:
    """Return how many pixels at the foot of a row so high part it from the next one."""
    return max(1, round(ratio)) if tall >= 4 * ratio else 0


def _plain(code: Ints, turns: int, tall: int, theme: Theme, ratio: float) -> Pixels:
    """Return rows so high without patterns, (rows, tall, width), from `turns` codes a pixel."""
    colours = _flat(theme).take(code, mode="wrap").reshape(len(code), -1, turns).transpose(0, 2, 1)
    out: Pixels = colours[:, np.arange(tall) % turns]
    out[:, tall - _gap(tall, ratio) :] = theme.colour("panel").rgb()
    return out


def _patterned(code: Ints, since: Ints, tall: int, theme: Theme, ratio: float) -> Pixels:
    """Return rows so high, (rows, tall, width), each pattern repeated from its segment's start on."""
    gap, high = _gap(tall, ratio), round(CELL * ratio)
    wide = max(PATTERN, 3 * min(tall - gap, high))
    atlas = _atlas(wide, tall, gap, high, theme, round(6 * ratio))
    place = ((code % len(atlas)) * (tall * wide) + since % wide).astype(np.int32)
    out: Pixels = atlas.ravel().take(place[:, None, :] + (np.arange(tall, dtype=np.int32) * wide)[:, None])
    if gap:
        starts = (since == 0) & (code >= 0)
        starts[:, 1:] &= (
            since[:, :-1] >= 3 * ratio
        )  # where segments are narrow, a gap would be all that is seen
        np.copyto(out, np.uint32(theme.colour("panel").rgb()), where=starts[:, None, :])
    waits = code == SEGMENT_KINDS.index("wait")
    if waits.any():
        lines = hatch(code.shape[1], tall, round(6 * ratio)) & (np.arange(tall) < tall - gap)[:, None]
        np.copyto(out, np.uint32(theme.colour(WAITING).rgb()), where=waits[:, None, :] & lines)
    return out


@lru_cache(maxsize=16)
def _atlas(wide: int, tall: int, gap: int, high: int, theme: Theme, pitch: int) -> Pixels:
    """Return a cell of each kind of segment, and of none at the end: shape (kinds + 1, tall, wide).

    high: the height of a pattern, about, which a higher row has several times.
    """
    ground = theme.colour("panel").rgb()
    out = np.full((len(SEGMENT_KINDS) + 1, tall, wide), ground, np.uint32)
    for code, kind in enumerate(SEGMENT_KINDS):
        look = KIND_LOOKS[kind]
        if kind == "other":
            out[code, : tall - gap] = theme.colour("cell_unread").rgb()
        elif look != WAITING:
            times = max(1, round((tall - gap) / high))
            edges = np.linspace(0, tall - gap, times + 1).astype(int)
            parts = [cell(look, wide, int(part), theme, pitch=pitch) for part in np.diff(edges)]
            out[code, : tall - gap] = np.concatenate(parts)
    return out

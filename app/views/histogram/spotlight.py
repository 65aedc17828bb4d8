"""Where a spotlight falls on a histogram: whole arrays, some of their bins, lanes and the bins that they add to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF

from ....tracer.model.array_types import Ints
from ....tracer.model.grouping import group_starts
from ....tracer.model.trace import WARP
from ...model.session import Selection
from ...model.spotlight import Lit
from ..common.drawing import rect
from .bins import BinArray, HistogramViewData
from .layout import HistogramLayout, Plot

MARGIN = 4.0  # pixels beside a chart


def lit_boxes(
    data: HistogramViewData, lit: Lit, selection: Selection, at: HistogramLayout, bars: Sequence[BinArray]
) -> list[QRectF]:
    """Return the boxes of what stands out, in pixels; `bars` are the arrays as they are drawn in `at`."""
    counting = data.counting
    parts = [part for part in (counting.private, counting.result) if part is not None]
    found = lane_boxes(lit, selection, at)
    for i, (part, array, plot) in enumerate(zip(parts, bars, at.plots, strict=True)):
        own = part is counting.private and selection.block in lit.blocks
        if own or part.buffer in lit.buffers:
            found.append(_chart_box(plot, at.foot.y if i == len(parts) - 1 else plot.field.bottom + MARGIN))
            continue
        bins = [_bins_named(lit, part.buffer, counting.bins), _bins_added_to(lit, array, selection)]
        found += [_column(plot, counting.bins, *run) for run in _runs(np.unique(np.concatenate(bins)))]
    return found


def lane_boxes(lit: Lit, selection: Selection, at: HistogramLayout) -> list[QRectF]:
    """Return the boxes of lanes of the selected warp: all of them as one, or that of each thread."""
    warp = selection.thread // WARP
    if not at.lanes.height or not lit.has_warp_of(selection):
        return []
    if warp in lit.warps or selection.block in lit.blocks:
        return [rect(at.lanes)]
    return [rect(at.lane(n % WARP)) for n in sorted(lit.threads) if n // WARP == warp]


def _chart_box(plot: Plot, bottom: float) -> QRectF:
    """Return the box of a chart with its title and its axes."""
    return QRectF(MARGIN, plot.title.y, plot.field.right, bottom - plot.title.y)


def _column(plot: Plot, bins: int, first: int, end: int) -> QRectF:
    """Return the box of the bins first <= i < end."""
    wide = plot.field.width / bins
    x = plot.field.x + first * wide
    return QRectF(x, plot.field.y, (end - first) * wide, plot.field.height)


def _bins_named(lit: Lit, buffer: int, bins: int) -> Ints:
    """Return the bins that stand out by their own name."""
    ranges = [part[-1] for number, part in lit.elements if number == buffer and part]
    return np.concatenate([np.arange(0), *(np.arange(first, min(end, bins)) for first, end in ranges)])


def _bins_added_to(lit: Lit, array: BinArray, selection: Selection) -> Ints:
    """Return the bins to which threads of the selected block that stand out add now."""
    adding = array.adding
    named = np.isin(adding.thread, sorted(lit.threads)) | np.isin(adding.thread // WARP, sorted(lit.warps))
    found: Ints = adding.bin[named & (adding.block == selection.block)]
    return found


def _runs(places: Ints) -> list[tuple[int, int]]:
    """Return ascending numbers as (first, end) of those that follow one another."""
    starts = group_starts(places - np.arange(len(places)))
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(places, starts[1:]) if len(run)]

"""The spotlight of a histogram: on complete arrays, on some bins, and on lanes with the bins that they add to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF

from ....tracer.model.array_types import Ints
from ....tracer.model.grouping import group_starts
from ....tracer.model.trace import WARP
from ...model.session import Selection
from ...model.spotlight import Highlight
from ..common.drawing import rect
from .bins import BinArray, HistogramViewData
from .layout import HistogramLayout, Plot

MARGIN = 4.0  # pixels around a chart


def highlight_boxes(
    data: HistogramViewData,
    highlight: Highlight,
    selection: Selection,
    layout: HistogramLayout,
    bars: Sequence[BinArray],
) -> list[QRectF]:
    """Compute the boxes of highlighted things, in pixels; `bars` are the arrays in the charts of `layout`."""
    counting = data.counting
    parts = [part for part in (counting.private, counting.result) if part is not None]
    boxes = highlighted_lane_boxes(highlight, selection, layout)
    for i, (part, array, plot) in enumerate(zip(parts, bars, layout.plots, strict=True)):
        is_own_block = part is counting.private and selection.block in highlight.blocks
        if is_own_block or part.buffer in highlight.buffers:
            boxes.append(
                _chart_box(plot, layout.foot.y if i == len(parts) - 1 else plot.field.bottom + MARGIN)
            )
            continue
        bins = [_named_bins(highlight, part.buffer, counting.bins), _target_bins(highlight, array, selection)]
        boxes += [
            _bins_box(plot, counting.bins, *run) for run in _consecutive_runs(np.unique(np.concatenate(bins)))
        ]
    return boxes


def highlighted_lane_boxes(
    highlight: Highlight, selection: Selection, layout: HistogramLayout
) -> list[QRectF]:
    """Compute the boxes of highlighted lanes of the selected warp: one box for all, or one for each thread."""
    warp = selection.thread // WARP
    if not layout.lanes.height or not highlight.has_warp_of(selection):
        return []
    if warp in highlight.warps or selection.block in highlight.blocks:
        return [rect(layout.lanes)]
    return [rect(layout.lane(n % WARP)) for n in sorted(highlight.threads) if n // WARP == warp]


def _chart_box(plot: Plot, bottom: float) -> QRectF:
    """Compute the box of a chart with its title and its axes."""
    return QRectF(MARGIN, plot.title.y, plot.field.right, bottom - plot.title.y)


def _bins_box(plot: Plot, bins: int, first: int, end: int) -> QRectF:
    """Compute the box of the bins first <= i < end."""
    bin_width = plot.field.width / bins
    x = plot.field.x + first * bin_width
    return QRectF(x, plot.field.y, (end - first) * bin_width, plot.field.height)


def _named_bins(highlight: Highlight, buffer: int, bins: int) -> Ints:
    """List the bins that are highlighted by their numbers."""
    ranges = [part[-1] for number, part in highlight.elements if number == buffer and part]
    return np.concatenate([np.arange(0), *(np.arange(first, min(end, bins)) for first, end in ranges)])


def _target_bins(highlight: Highlight, array: BinArray, selection: Selection) -> Ints:
    """List the bins to which highlighted threads of the selected block add now."""
    adding = array.adding
    is_highlighted = np.isin(adding.thread, sorted(highlight.threads)) | np.isin(
        adding.thread // WARP, sorted(highlight.warps)
    )
    bins: Ints = adding.bin[is_highlighted & (adding.block == selection.block)]
    return bins


def _consecutive_runs(numbers: Ints) -> list[tuple[int, int]]:
    """Group ascending numbers into runs of consecutive ones, as (first, end)."""
    starts = group_starts(numbers - np.arange(len(numbers)))
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(numbers, starts[1:]) if len(run)]

"""The layout of the histogram view: pure functions of its size. No Qt; all lengths are pixels."""

from __future__ import annotations

from typing import NamedTuple

from ..common.geometry import Box


class Plot(NamedTuple):
    """The layout of a chart: the line of its title, and the field of its bars."""

    title: Box
    field: Box


class HistogramLayout(NamedTuple):
    """The layout of the histogram view."""

    caption: Box  # two lines of text
    lanes: Box  # of the selected warp; without height if they do not fit
    plots: tuple[Plot, ...]  # the charts, from top to bottom
    foot: Box  # lines of text
    drawn: int = 32  # the number of lanes in a warp

    def lane(self, lane: int) -> Box:
        """Compute the box of a lane of the selected warp."""
        width = self.lanes.width / self.drawn
        return Box(self.lanes.x + lane * width, self.lanes.y, width, self.lanes.height)


def histogram_layout(
    width: float, height: float, unit: float, line: float, charts: int, lines: int, drawn: int = 32
) -> HistogramLayout:
    """Compute the layout; `unit` is a pixel at the normal text size, `line` the height of a line of text.

    lines: the number of lines at the bottom; drawn: the number of lanes in a warp. The caption has two lines. If
    there is little room, the lanes are left out first.
    """
    pad, axis = 8 * unit, 38 * unit
    inside = width - 2 * pad
    caption = Box(pad, 2 * unit, inside, 2.1 * line)
    foot = Box(pad, height - lines * line - 3 * unit, inside, lines * line)
    room = foot.y - caption.bottom
    is_low = room <= (150 + 60 * charts) * unit
    shows_lanes = room > max(210, 110 + 50 * charts) * unit
    lanes = Box(pad + axis, caption.bottom + 4 * unit, inside - axis, (15 if shows_lanes else 0) * unit)
    top = lanes.bottom + ((22 if is_low else 34) * unit if shows_lanes else 0)
    chart_height = max(1.0, (foot.y - top) / charts)
    plots = []
    for i in range(charts):
        y, below = top + i * chart_height, line if i == charts - 1 else 4 * unit
        title = Box(pad + axis, y, inside - axis, line)
        field_height = max(1.0, chart_height - line - below - 8 * unit)
        plots.append(Plot(title, Box(pad + axis, y + line + 2 * unit, inside - axis, field_height)))
    return HistogramLayout(caption, lanes, tuple(plots), foot, drawn)


def bin_at(plot: Plot, bins: int, x: float) -> int | None:
    """Find the bin at an x of a chart; None outside."""
    index = int((x - plot.field.x) / plot.field.width * bins) if plot.field.width else -1
    return index if 0 <= index < bins and x >= plot.field.x else None


def bin_middle(field: Box, bins: int, index: float) -> float:
    """Compute the x of the middle of a bin."""
    return field.x + (index + 0.5) * field.width / bins

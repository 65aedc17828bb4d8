"""Where the parts of the histogram view stand: pure functions of its size. No Qt; all lengths are pixels."""

from __future__ import annotations

from typing import NamedTuple

from ..common.geometry import Box


class Plot(NamedTuple):
    """A chart: the line of its title, and the field of its bars."""

    title: Box
    field: Box


class HistogramLayout(NamedTuple):
    """Where the parts of the histogram view stand."""

    caption: Box  # two lines of text
    lanes: Box  # of the selected warp; no height where there is no room
    plots: tuple[Plot, ...]  # the charts, from top to bottom
    foot: Box  # lines of text
    drawn: int = 32  # lanes of a warp

    def lane(self, lane: int) -> Box:
        """Return where a lane of the selected warp stands."""
        width = self.lanes.width / self.drawn
        return Box(self.lanes.x + lane * width, self.lanes.y, width, self.lanes.height)


def histogram_layout(
    width: float, height: float, unit: float, line: float, charts: int, lines: int, drawn: int = 32
) -> HistogramLayout:
    """Return where everything stands; `unit` is a pixel at the normal text size, `line` a line of text.

    lines: of the foot; drawn: lanes of a warp. The caption has two lines; the lanes are left out first where there
    is little room.
    """
    pad, axis = 8 * unit, 38 * unit
    inside = width - 2 * pad
    caption = Box(pad, 2 * unit, inside, 2.1 * line)
    foot = Box(pad, height - lines * line - 3 * unit, inside, lines * line)
    room = foot.y - caption.bottom
    roomy = room > (150 + 60 * charts) * unit
    lanes = Box(pad + axis, caption.bottom + 4 * unit, inside - axis, (15 if roomy else 0) * unit)
    top = lanes.bottom + (34 * unit if roomy else 0)
    each = max(1.0, (foot.y - top) / charts)
    plots = []
    for i in range(charts):
        y, below = top + i * each, line if i == charts - 1 else 4 * unit
        title = Box(pad + axis, y, inside - axis, line)
        tall = max(1.0, each - line - below - 8 * unit)
        plots.append(Plot(title, Box(pad + axis, y + line + 2 * unit, inside - axis, tall)))
    return HistogramLayout(caption, lanes, tuple(plots), foot, drawn)


def bin_at(plot: Plot, bins: int, x: float) -> int | None:
    """Return the bin at a place across a chart."""
    place = int((x - plot.field.x) / plot.field.width * bins) if plot.field.width else -1
    return place if 0 <= place < bins and x >= plot.field.x else None


def bin_middle(field: Box, bins: int, place: float) -> float:
    """Return the x of the middle of a bin."""
    return field.x + (place + 0.5) * field.width / bins

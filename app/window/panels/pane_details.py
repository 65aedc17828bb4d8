"""What a pane leaves out where there is little room for the size of the text: a pure function of its size."""

from __future__ import annotations

from typing import NamedTuple

from ...views.counters.view import Form

WIDE = 900  # from here on a lesson is one line


class Details(NamedTuple):
    """Lines of the lesson, rows of the legend of cells, and how the counters stand."""

    lesson: int
    legend: int
    counters: Form


def details_of(width: float, height: float) -> Details:
    """Return what a pane of this size shows beside its picture, in pixels at the normal text size.

    The lesson goes first (then the tip of the title), then the legend; the counters become a line, and go last.
    """
    lesson = 0 if height < 480 else 1 if width >= WIDE else 2
    legend = 0 if height < 330 else 1 if height < 400 or width >= 560 else 2
    return Details(lesson, legend, "tall" if height >= 360 else "line" if height >= 210 else "none")

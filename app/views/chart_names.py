"""The names at the left of bars: a kernel's, and below it what tells a bar from the others of that kernel."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt

from ..charts.figure import Bar
from .chart_ink import Ink, wrapped


@dataclass(frozen=True)
class Line:
    """A line of a name. A kernel's is bold."""

    text: str
    size: float
    bold: bool = True

    def width(self, ink: Ink) -> float:
        """Return how wide it is."""
        return ink.width(self.text, self.size, bold=self.bold)


def name_of(ink: Ink, bar: Bar, first: bool, size: float, pitch: float) -> list[Line]:
    """Return the lines of a bar's name. first: it is the first bar of its kernel; pitch: the height that there is."""
    small, both = size - 1, pitch >= ink.height(size) + ink.height(size - 1)
    if not first:
        return [Line(bar.part or bar.datum.name, small, bold=False)]
    if both and bar.part:
        return [Line(bar.datum.name, size), Line(bar.part, small, bold=False)]
    return [Line(", ".join(filter(None, (bar.datum.name, bar.part))), size)]


def draw_name(ink: Ink, lines: list[Line], box: QRectF) -> None:
    """Write lines at the right of a box, in the middle of its height."""
    lines = _broken(ink, lines, box)
    high = max(ink.height(line.size) for line in lines) - ink.px(1)
    for number, line in enumerate(lines):
        place = box.translated(0, (number - (len(lines) - 1) / 2) * high)
        colour, right = "text" if line.bold else "muted", Qt.AlignmentFlag.AlignRight
        ink.text(place, line.text, line.size, ink=colour, bold=line.bold, align=right)


def _broken(ink: Ink, lines: list[Line], box: QRectF) -> list[Line]:
    """Return a single line that is too long as two, where there is room for both."""
    (first, *more) = lines
    parts = wrapped(ink, first.text, box.width(), first.size, bold=first.bold)
    if more or len(parts) < 2 or box.height() < 2 * ink.height(first.size):
        return lines
    return [Line(text, first.size, first.bold) for text in (parts[0], " ".join(parts[1:]))]

"""A panel of bars: names at the left, bars with samples and intervals, values at the right."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen

from ...charts.figure import Bar, BarPanel, Published
from ...charts.wording import number_text, time_text
from ..common.geometry import Scale, log_range
from .axis import axis_height, draw_axis
from .ink import Ink, draw_sign, wrapped

# Pixels: a normal bar, the thickest bar, and the smallest pitch.
BAR, THICK, SMALLEST_TEXT_ROW = 40, 110, 15
ROW = 44  # the preferred pixels of a bar with its name
SHARE = 0.46  # the largest share of a panel's width for names
LEVELS = 13  # heights of the dots of a bar
FAR = 0.98  # the share of a bar's samples that its axis must contain
Hits = list[tuple[QRectF, str]]


class BarRows(Struct, frozen=True):
    """The layout of a panel: the boxes of names and plot, and the height of a bar's row."""

    names: QRectF
    plot: QRectF
    pitch: float


class NameLine(Struct, frozen=True):
    """A line of a name; kernels' names are bold."""

    text: str
    size: float
    bold: bool = True

    def width(self, ink: Ink) -> float:
        """Return the width."""
        return ink.width(self.text, self.size, bold=self.bold)


def preferred_height(panel: BarPanel, ink: Ink, width: float) -> float:
    """Return the preferred height of a panel of this width."""
    row = ink.px(ROW) + any(bar.published for bar in panel.bars) * ink.height(12) / 2
    return len(panel.bars) * row + axis_height(ink, panel.axis, width)


def draw_bars(ink: Ink, panel: BarPanel, box: QRectF) -> Hits:
    """Draw a panel in a box; return the tooltips and their boxes."""
    names = _names(ink, panel, (box.height() - axis_height(ink, panel.axis, box.width())) / len(panel.bars))
    rows = _rows(ink, panel, names, box)
    scale = _scale(panel, rows.plot)
    draw_axis(ink, panel.axis, scale, rows.plot, QRectF(box.left(), rows.plot.bottom(), box.width(), 0))
    if panel.reference is not None:
        x = scale.to_pixel(panel.reference)
        ink.line(x, rows.plot.top(), x, rows.plot.bottom(), "text", 1.5)
    hits: Hits = []
    for number, bar in enumerate(panel.bars):
        top = rows.plot.top() + number * rows.pitch
        row = QRectF(rows.plot.left(), top, rows.plot.width(), rows.pitch)
        body = _draw_bar(ink, bar, scale, row)
        _draw_value(ink, bar, scale, row, body)
        name_box = QRectF(rows.names.left(), top, rows.names.width(), rows.pitch)
        _draw_name(ink, names[number], name_box.translated(0, body.center().y() - row.center().y()))
        hits.append((QRectF(box.left(), top, box.width(), rows.pitch), bar_text(bar, panel)))
    return hits


def bar_text(bar: Bar, panel: BarPanel) -> str:
    """Describe a bar."""
    name = ", ".join(filter(None, (bar.datum.name, bar.part)))
    if panel.axis.label != "time":
        ends = f"95 % interval {number_text(bar.low)} to {number_text(bar.high)}"
        return f"{name}: {bar.text} ({ends})\n{bar.datum.origin}, measured"
    ends = f"95 % interval {time_text(bar.low)} to {time_text(bar.high)}, {len(bar.datum.samples):,} samples"
    lines = [f"{name}: {bar.text}", ends, f"{bar.datum.origin}, measured"]
    return "\n".join([*lines, *(f"published: {mark.text} ({mark.document})" for mark in bar.published)])


def _size(ink: Ink, pitch: float) -> float:
    """Return the text size of a row: smaller if there are many rows."""
    return 13 * min(1.0, pitch / ink.px(SMALLEST_TEXT_ROW))


def _names(ink: Ink, panel: BarPanel, pitch: float) -> list[list[NameLine]]:
    """Return the lines of all names; a kernel is only named at its first bar."""
    before = ["", *(bar.datum.name for bar in panel.bars)]
    size = _size(ink, pitch)
    return [
        _name_lines(ink, b, b.datum.name != last, size, pitch)
        for b, last in zip(panel.bars, before, strict=False)
    ]


def _name_lines(ink: Ink, bar: Bar, first: bool, size: float, pitch: float) -> list[NameLine]:
    """Return the lines of a bar's name. first: it is the kernel's first bar. pitch: the available height."""
    small, has_two_lines = size - 1, pitch >= ink.height(size) + ink.height(size - 1)
    if not first:
        return [NameLine(bar.part or bar.datum.name, small, bold=False)]
    if has_two_lines and bar.part:
        return [NameLine(bar.datum.name, size), NameLine(bar.part, small, bold=False)]
    return [NameLine(", ".join(filter(None, (bar.datum.name, bar.part))), size)]


def _draw_name(ink: Ink, lines: list[NameLine], box: QRectF) -> None:
    """Write lines right-aligned and vertically centred in a box."""
    lines = _broken(ink, lines, box)
    line_height = max(ink.height(line.size) for line in lines) - ink.px(1)
    for number, line in enumerate(lines):
        line_box = box.translated(0, (number - (len(lines) - 1) / 2) * line_height)
        colour, right = "text" if line.bold else "muted", Qt.AlignmentFlag.AlignRight
        ink.text(line_box, line.text, line.size, ink=colour, bold=line.bold, align=right)


def _broken(ink: Ink, lines: list[NameLine], box: QRectF) -> list[NameLine]:
    """Break a single line that is too long into two, if there is room."""
    (first, *more) = lines
    parts = wrapped(ink, first.text, box.width(), first.size, bold=first.bold)
    if more or len(parts) < 2 or box.height() < 2 * ink.height(first.size):
        return lines
    return [NameLine(text, first.size, first.bold) for text in (parts[0], " ".join(parts[1:]))]


def _rows(ink: Ink, panel: BarPanel, names: list[list[NameLine]], box: QRectF) -> BarRows:
    bars = panel.bars
    longest = max((line.width(ink) for lines in names for line in lines), default=0)
    left = min(longest + ink.px(15), SHARE * box.width())
    right = max((ink.width(bar.text, bold=True) for bar in bars), default=0) + ink.px(14)
    below = axis_height(ink, panel.axis, box.width())
    plot = QRectF(box.left() + left, box.top(), box.width() - left - right, box.height() - below)
    names_box = QRectF(box.left(), box.top(), left - ink.px(14), plot.height())
    return BarRows(names_box, plot, plot.height() / max(len(bars), 1))


def _scale(panel: BarPanel, plot: QRectF) -> Scale:
    """Return a scale that contains the intervals, nearly all samples and published times."""
    ends = [1.0] if panel.reference else []
    for bar in panel.bars:
        ordered = sorted(bar.dots)
        limits = [ordered[int(share * (len(ordered) - 1))] for share in (1 - FAR, FAR)] if ordered else []
        ends += [bar.low, bar.high, *limits, *(mark.microseconds for mark in bar.published)]
    if panel.axis.log:
        return Scale(*log_range(ends or [1.0], 1.4), plot.left(), plot.right(), True)
    return Scale(0.0, 1.04 * max(ends, default=1.0), plot.left(), plot.right())


def samples_beyond(panel: BarPanel) -> int:
    """Count the samples outside the axis."""
    scale = _scale(panel, QRectF(0, 0, 1, 1))
    return sum(not scale.low <= sample <= scale.high for bar in panel.bars for sample in bar.dots)


def _draw_bar(ink: Ink, bar: Bar, scale: Scale, row: QRectF) -> QRectF:
    """Draw a bar with its samples and published times; return its rectangle."""
    colour, painter = ink.colour(bar.slot), ink.painter
    below = ink.height(12) if bar.published and _is_roomy(ink, row) else 0.0
    usual = min(0.62 * row.height(), max(ink.px(BAR), 0.4 * row.height()), ink.px(THICK))
    thickness = min(usual, row.height() - below - ink.px(8))
    top = row.center().y() - (thickness + below) / 2
    body = QRectF(scale.start, top, scale.to_pixel(bar.value) - scale.start, thickness)
    tint = QColor(colour)
    tint.setAlphaF(0.28)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    painter.drawRect(body)
    _draw_dots(ink, bar, scale, body, colour)
    _draw_median(ink, bar, scale, body, colour)
    for mark in bar.published:
        _draw_published(ink, mark, scale, row, body)
    return body


def _draw_value(ink: Ink, bar: Bar, scale: Scale, row: QRectF, body: QRectF) -> None:
    """Write the value after the bar, in the first gap between its samples, without crossing grid lines.

    If a diamond is at the same height, the value is right of the plot: next to the diamond it would seem to be its
    value.
    """
    size, gap = _size(ink, row.height()), ink.px(8)
    width, height = ink.width(bar.text, size, bold=True) + 2, ink.height(size)
    is_next_to_bar = _is_roomy(ink, row) or not bar.published
    end = _room_behind(bar, scale, width + 2 * gap) if is_next_to_bar else scale.end
    value_box = QRectF(end + gap, body.center().y() - height / 2, width, height)
    ink.painter.fillRect(value_box, ink.theme.colour("panel"))
    ink.text(value_box, bar.text, size, bold=True)


def _room_behind(bar: Bar, scale: Scale, width: float) -> float:
    """Find the end of a bar, or of samples after it, that has this much room behind it."""
    end = scale.to_pixel(bar.high)
    for dot_x in sorted(scale.to_pixel(dot) for dot in bar.dots if bar.high < dot <= scale.high):
        if dot_x - end >= width:
            break
        end = dot_x
    return end


def _draw_dots(ink: Ink, bar: Bar, scale: Scale, body: QRectF, colour: QColor) -> None:
    """Draw every sample at its value, spread over the bar's height; equal dots are drawn once."""
    inside = [(n, value) for n, value in enumerate(bar.dots) if scale.low <= value <= scale.high]
    step = body.height() / (LEVELS + 1)
    dots = {
        (round(2 * scale.to_pixel(value)) / 2, body.top() + step * (1 + n * 5 % LEVELS)): None
        for n, value in inside
    }
    tint = QColor(colour)
    tint.setAlphaF(0.55)
    ink.painter.setPen(Qt.PenStyle.NoPen)
    ink.painter.setBrush(tint)
    for dot in dots:
        ink.painter.drawEllipse(QPointF(*dot), ink.px(1.5), ink.px(1.5))


def _draw_median(ink: Ink, bar: Bar, scale: Scale, body: QRectF, colour: QColor) -> None:
    x, y, reach = body.right(), body.center().y(), body.height() * 0.22
    ink.painter.setPen(QPen(colour, ink.px(2.5)))
    ink.painter.drawLine(QLineF(x, body.top(), x, body.bottom()))
    low, high = scale.to_pixel(max(bar.low, scale.low)), scale.to_pixel(bar.high)
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(1.4)))
    for line in (QLineF(low, y, high, y), *(QLineF(e, y - reach, e, y + reach) for e in (low, high))):
        ink.painter.drawLine(line)


def _draw_published(ink: Ink, mark: Published, scale: Scale, row: QRectF, body: QRectF) -> None:
    """Draw a diamond at a published time, with its GPU next to it if there is room."""
    roomy, x = _is_roomy(ink, row), scale.to_pixel(mark.microseconds)
    y = body.bottom() + ink.height(12) / 2 + ink.px(2) if roomy else row.center().y()
    ink.painter.setPen(QPen(ink.theme.colour("panel"), ink.px(1)))
    ink.painter.setBrush(ink.theme.colour("text"))
    draw_sign(ink.painter, "diamond", QPointF(x, y), ink.px(5))
    if roomy:
        _name_published(ink, mark, QPointF(x, y), scale)


def _name_published(ink: Ink, mark: Published, place: QPointF, scale: Scale) -> None:
    """Write the GPU next to a diamond, with the document if that fits too."""
    away, height = ink.px(10), ink.height(12)
    for text in (f"{mark.text}, {mark.document}", mark.text):
        width = ink.width(text, 12) + 2
        for left in (place.x() + away, place.x() - away - width):
            if scale.start <= left and left + width <= scale.end:
                box = QRectF(left, place.y() - height / 2, width, height)
                ink.painter.fillRect(box, ink.theme.colour("panel"))
                ink.text(box, text, 12)
                return


def _is_roomy(ink: Ink, row: QRectF) -> bool:
    """Return True if a line of text fits below a bar."""
    return row.height() > ink.px(36)

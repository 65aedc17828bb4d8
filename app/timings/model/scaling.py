"""Time and rate over the size, on logarithmic axes: over N of matrices, and over the elements of vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...model.axis import Axis
from .bars import MEASURED, RATE, ChartRows, datum_of
from .choice import LAUNCHED, Choice, slots_of, timing_of
from .figure import Point, PointPanel, Series
from .sources import MeasuredRow, origin_among, sources_of
from .wording import number_text, real_of, shape_of, side_of, size_name, time_text, unit_of

JOINED = 16  # the largest ratio of two sizes that a line joins: nothing was measured between them


class Line(Struct, frozen=True):
    """The rows of a kernel in one measurement."""

    slot: int  # the number of its colour
    style: int  # the number of its measurement
    measured_rows: tuple[MeasuredRow, ...]  # the rows
    origin: str  # distinguishes the measurement from others, "" without others
    part: str = ""  # distinguishes it from other kernels


def scaling_panels(rows: ChartRows, choice: Choice) -> tuple[tuple[PointPanel, ...], tuple[str, ...]]:
    """Build panels of times in microseconds and of GFLOP/s, for matrices and for vectors."""
    lines, usual = named_lines(rows, choice)
    panels: list[PointPanel] = []
    for name in dict.fromkeys(size_name(line.measured_rows[0].row) for line in lines):
        panels += _panels(
            [line for line in lines if size_name(line.measured_rows[0].row) == name], name, choice
        )
    panels = [panel for panel in panels if choice.show in ("", panel.y.label)]
    return tuple(panels), ((f"{usual.capitalize()} unless a name has others.",) if usual else ())


def named_lines(rows: ChartRows, choice: Choice) -> tuple[list[Line], str]:
    """Return the lines of a chart, and the launch shape of lines without one in their name; "" if all share it."""
    lines = _lines(rows, choice)
    usual = "" if choice.over in LAUNCHED else _usual_shape(lines)
    return [replace(line, part=_part(line, usual)) for line in lines], usual


def _lines(rows: ChartRows, choice: Choice) -> list[Line]:
    slots, sources = (
        slots_of(choice.subjects),
        sources_of(m for _, measured_rows in rows for m in measured_rows),
    )
    groups = [
        (slots[subject.key], style, tuple(m for m in measured_rows if m.source is source))
        for subject, measured_rows in rows
        for style, source in enumerate(sources)
    ]
    return [Line(slot, style, own, origin_among(own[0], sources)) for slot, style, own in groups if own]


def _usual_shape(lines: Sequence[Line]) -> str:
    """Return the most frequent launch shape if there are several, else ""."""
    counted = Counter(shape_of(line.measured_rows[0].row) for line in lines)
    del counted[""]
    return max(counted, key=lambda shape: counted[shape]) if len(counted) > 1 else ""


def _part(line: Line, usual: str) -> str:
    """Return the text that distinguishes a line: an unusual launch shape, float64, another measurement."""
    first = line.measured_rows[0]
    shape = shape_of(first.row)
    parts = [shape if usual and shape != usual else "", "float64" if real_of(first.row) == "float64" else ""]
    return ", ".join(filter(None, [*parts, line.origin]))


def _panels(lines: Sequence[Line], name: str, choice: Choice) -> list[PointPanel]:
    """Build the panels of lines over the same kind of size."""
    x = Axis(name, "", True, (), doubles=name.startswith("N"))
    times = tuple(_series(line, choice, rate=False) for line in lines)
    unit, size = unit_of(max((point.high for line in times for point in line.points), default=1.0))
    panels = [PointPanel(x, Axis("time", unit, True, MEASURED, size), times, joined=JOINED)]
    counted = [line for line in lines if all(m.row.flop for m in line.measured_rows)]
    if counted:
        rates = tuple(_series(line, choice, rate=True) for line in counted)
        panels.append(PointPanel(x, Axis("rate", "GFLOP/s", True, RATE), rates, joined=JOINED))
    return panels


def _series(line: Line, choice: Choice, *, rate: bool) -> Series:
    points = [(_rate if rate else _time)(m, choice) for m in line.measured_rows]
    ordered = tuple(sorted(points, key=lambda point: point.x))
    return Series(line.measured_rows[0].row.title, line.slot, line.style, ordered, line.part)


def _time(measured: MeasuredRow, choice: Choice) -> Point:
    timing = timing_of(measured.row, choice.kind)
    side = side_of(measured.row)
    assert timing is not None and side is not None  # only rows with both are chosen
    text = f"{_point_name(measured, side)}: {'~' * (not timing.settled)}{time_text(timing.median)}"
    return Point(datum_of(measured, choice.kind), side, timing.median, *timing.interval(), text)


def _point_name(measured: MeasuredRow, side: int) -> str:
    is_vector = size_name(measured.row) == "elements"
    return f"{measured.row.title}, {f'{side:,} elements' if is_vector else f'N {side:,}'}"


def _rate(measured: MeasuredRow, choice: Choice) -> Point:
    """Build the point of a rate: FLOP / µs / 1000 is GFLOP/s."""
    time, flop = _time(measured, choice), measured.row.flop / 1000
    rate = flop / time.y
    text = f"{_point_name(measured, round(time.x))}: {number_text(rate)} GFLOP/s"
    return Point(time.datum, time.x, rate, flop / time.high, flop / time.low, text)

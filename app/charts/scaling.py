"""Time and rate over the size N, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Sequence

from .bars import MEASURED, Rows, datum_of
from .choose import Choice, slots_of, timing_of
from .figure import Axis, Mark, Plane, Point, Series
from .sources import Measured
from .wording import number_text, shape_of, side_of, time_text, unit_of

RATE: tuple[tuple[Mark, str], ...] = (("measured", "time"), ("modelled", "FLOP"))


def scaling(rows: Rows, choice: Choice) -> tuple[tuple[Plane, ...], tuple[str, ...]]:
    """Return a panel of times in microseconds and, where there is arithmetic, one of GFLOP/s, over N."""
    slots = slots_of(choice.subjects)
    lines = [
        (slots[subject.key], style, mine)
        for subject, found in rows
        for style, mine in enumerate(_by_source(found))
    ]
    x = Axis(_label(rows), "", True, ())
    same = len({shape_of(m.row) for _, found in rows for m in found} - {""}) == 1
    time_lines = tuple(_line(slot, style, mine, choice, same=same, rate=False) for slot, style, mine in lines)
    unit, size = unit_of(max((p.high for line in time_lines for p in line.points), default=1.0))
    panels = [Plane(x, Axis("time", unit, True, MEASURED, size), time_lines)]
    counted = [(slot, style, mine) for slot, style, mine in lines if all(m.row.flop for m in mine)]
    if counted:
        rates = tuple(_line(slot, style, mine, choice, same=same, rate=True) for slot, style, mine in counted)
        panels.append(Plane(x, Axis("rate", "GFLOP/s", True, RATE), rates))
    return tuple(panels), ()


def _by_source(found: Sequence[Measured]) -> list[list[Measured]]:
    sources = dict.fromkeys(id(m.source) for m in found)
    return [[m for m in found if id(m.source) == source] for source in sources]


def _label(rows: Rows) -> str:
    names = {"elements" if "count" in m.row.parameters else "N" for _, found in rows for m in found}
    return "N, the side of the matrices" if names == {"N"} else "elements" if names == {"elements"} else "N"


def _line(
    slot: int, style: int, mine: Sequence[Measured], choice: Choice, *, same: bool, rate: bool
) -> Series:
    points = [(_rate if rate else _time)(m, choice) for m in mine]
    return Series(
        _name(mine, style, same=same), slot, style, tuple(sorted(points, key=lambda point: point.x))
    )


def _name(mine: Sequence[Measured], style: int, *, same: bool) -> str:
    first = mine[0]
    shapes = {shape_of(m.row) for m in mine}
    parts = [first.row.title, *([shapes.pop()] if len(shapes) == 1 and not same else [])]
    parts += [first.source.origin] if style else []
    return ", ".join(filter(None, parts))


def _time(measured: Measured, choice: Choice) -> Point:
    timing = timing_of(measured.row, choice.kind)
    side = side_of(measured.row)
    assert timing is not None and side is not None  # the rows were chosen for having both
    told = f"{measured.row.title}, N {side:,}: {'~' * (not timing.settled)}{time_text(timing.median)}"
    return Point(datum_of(measured, choice.kind), side, timing.median, *timing.interval(), told)


def _rate(measured: Measured, choice: Choice) -> Point:
    """Return modelled operations by measured time: FLOP / us / 1000 is GFLOP/s."""
    time, flop = _time(measured, choice), measured.row.flop / 1000
    rate = flop / time.y
    told = f"{measured.row.title}, N {time.x:,.0f}: {number_text(rate)} GFLOP/s"
    return Point(time.datum, time.x, rate, flop / time.high, flop / time.low, told)

"""Time and bandwidth, or rate, over a parameter: rows that differ only in it, joined by lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....kernels.scenarios.catalogue import find
from ...model.axis import Axis, Mark
from .bars import MEASURED, RATE, WIDE, ChartRows, datum_of
from .choice import Choice, timing_of
from .figure import Level, Point, PointPanel, Series
from .scaling import Line, named_lines
from .sources import MeasuredRow, sources_of
from .wording import number_text, time_text, unit_of, used_bytes

BANDWIDTH: tuple[tuple[Mark, str], ...] = (("measured", "time"), ("modelled", "bytes"))
BYTES = "Bytes: each element that the kernel uses, once. Other bytes of the sectors are not counted."
FAR = (
    8  # ratio of the largest to the smallest value from which on an axis is logarithmic; 4 for powers of two
)
AtTime = Callable[[MeasuredRow, float], float]  # converts a row and microseconds to a drawn value


def over_parameter(rows: ChartRows, choice: Choice) -> tuple[tuple[PointPanel, ...], tuple[str, ...]]:
    """Build a panel of times in microseconds and one of GFLOP/s or, without arithmetic, of GB/s.

    choice: names the parameter. Bytes are modelled: those that the kernel uses, each element once.
    """
    lines, usual = named_lines(rows, choice)
    if not lines:
        return (), ()
    x = _axis_of(
        choice.over,
        [_value(m, choice.over) for line in lines for m in line.measured_rows],
        lines[0].measured_rows[0],
    )
    counted = all(m.row.flop for line in lines for m in line.measured_rows)
    shown = [choice.show] if choice.show else ["time", "rate" if counted else "bandwidth"]
    if choice.show == "rate" and not counted:
        return (), ("These kernels do no arithmetic: choose time or bandwidth.",)
    builders = {"time": _times, "rate": _rates, "bandwidth": _bandwidths}
    notes = [f"{usual.capitalize()} unless a name has others."] if usual else []
    notes += [BYTES] if "bandwidth" in shown else []
    return tuple(builders[quantity](lines, choice, x) for quantity in shown), tuple(notes)


def _axis_of(name: str, values: Sequence[int], first: MeasuredRow) -> Axis:
    """Build the axis of a parameter, logarithmic if its values lie far apart and none is 0."""
    label = next((p.label for p in find(first.row.scenario).parameters if p.name == name), name)
    doubled = all(value > 0 and value & (value - 1) == 0 for value in values)
    is_log = min(values) > 0 and max(values) >= (FAR / 2 if doubled else FAR) * min(values)
    label = label[:1].lower() + label[1:] if len(label) > 1 else label
    return Axis(label, "", is_log, (), values=tuple(sorted(set(values))))


def _value(measured: MeasuredRow, name: str) -> int:
    return int(measured.row.parameters[name])


def _times(lines: Sequence[Line], choice: Choice, x: Axis) -> PointPanel:
    series = _series(lines, choice, lambda measured, time: time, time_text)
    unit, size = unit_of(max(point.high for line in series for point in line.points))
    return PointPanel(x, Axis("time", unit, _is_log(series), MEASURED, size), series)


def _rates(lines: Sequence[Line], choice: Choice, x: Axis) -> PointPanel:
    """Build the panel of rates: FLOP / µs / 1000 is GFLOP/s."""

    def rate(measured: MeasuredRow, time: float) -> float:
        return measured.row.flop / time / 1000

    series = _series(lines, choice, rate, lambda value: f"{number_text(value)} GFLOP/s")
    return PointPanel(x, Axis("rate", "GFLOP/s", _is_log(series), RATE), series)


def _bandwidths(lines: Sequence[Line], choice: Choice, x: Axis) -> PointPanel:
    """Build the panel of bandwidths: bytes / µs / 1000 is GB/s. A line marks the rate of copies."""

    def bandwidth(measured: MeasuredRow, time: float) -> float:
        return used_bytes(measured.row) / time / 1000

    series = _series(lines, choice, bandwidth, lambda value: f"{number_text(value)} GB/s")
    return PointPanel(x, Axis("bandwidth", "GB/s", _is_log(series), BANDWIDTH), series, levels=_copies(lines))


def _series(
    lines: Sequence[Line], choice: Choice, value_of: AtTime, text_of: Callable[[float], str]
) -> tuple[Series, ...]:
    return tuple(
        Series(
            line.measured_rows[0].row.title,
            line.slot,
            line.style,
            tuple(
                sorted(
                    (_point(m, choice, value_of, text_of) for m in line.measured_rows),
                    key=lambda point: point.x,
                )
            ),
            line.part,
        )
        for line in lines
    )


def _point(measured: MeasuredRow, choice: Choice, value_of: AtTime, text_of: Callable[[float], str]) -> Point:
    timing, x = timing_of(measured.row, choice.kind), _value(measured, choice.over)
    assert timing is not None  # only rows with this time are chosen
    ends = [value_of(measured, time) for time in timing.interval()]
    value = value_of(measured, timing.median)
    text = f"{measured.row.title}, {choice.over} {x:,}: {'~' * (not timing.settled)}{text_of(value)}"
    label = "~" * (not timing.settled) + text_of(value).removesuffix(" GFLOP/s").removesuffix(" GB/s")
    return Point(datum_of(measured, choice.kind), x, value, min(ends), max(ends), text, label)


def _is_log(series: Sequence[Series]) -> bool:
    """Return True if the values lie so far apart that a linear axis would hide the small ones."""
    values = [point.y for line in series for point in line.points]
    return max(values) > WIDE * min(values)


def _copies(lines: Sequence[Line]) -> tuple[Level, ...]:
    """List the rates of copies within the memory of each device."""
    levels = []
    for source in sources_of(m for line in lines for m in line.measured_rows):
        if ceilings := source.measurement.ceilings:
            rate = ceilings.copy_gb_per_s
            levels.append(Level(rate, f"{source.device}, copying its memory: {number_text(rate)} GB/s"))
    return tuple(levels)

"""The content of a chart, without drawing: panels of bars or points, with marks, origins and method."""

from __future__ import annotations

import math

from msgspec import Struct

from ...model.axis import Axis, Mark


class Published(Struct, frozen=True):
    """A published figure for the quantity of a bar."""

    microseconds: float
    text: str  # the time as text, with the GPU
    document: str  # its title


class Datum(Struct, frozen=True):
    """The row that a drawn number comes from, for texts and tables."""

    subject: str  # `scenario` or `scenario/baseline`
    name: str  # the title of the row
    origin: str  # of its measurement, as text
    kind: str  # of the time
    parameters: dict[str, int | str]  # of the measured row, by name
    samples: tuple[float, ...]  # microseconds, in the order of measurement
    settled: bool  # the median is known to the method's precision


class Bar(Struct, frozen=True):
    """A value with its interval, in the values of the axis."""

    datum: Datum
    part: str  # distinguishes it from other bars of its name
    value: float  # its length
    low: float  # the lower end of the interval
    high: float  # the upper end of the interval
    text: str  # the value as text
    slot: int  # the number of its colour
    dots: tuple[float, ...] = ()  # samples
    published: tuple[Published, ...] = ()  # published values of it


class Fact(Struct, frozen=True):
    """A number that explains a drawn number, for tables."""

    label: str
    unit: str
    value: float
    mark: Mark  # its source


class Point(Struct, frozen=True):
    """A value y with its interval, at x."""

    datum: Datum
    x: float  # in the values of the horizontal axis
    y: float  # in the values of the vertical axis
    low: float  # the lower end of y's interval
    high: float  # the upper end of y's interval
    text: str  # x and y as text
    label: str = ""  # shown next to the point if there is room: y, with its unit if it is not the axis's
    measured_x: float | None = None  # x by measured instead of counted bytes; may be infinite
    facts: tuple[Fact, ...] = ()  # its explanation


class Series(Struct, frozen=True):
    """Points of one kernel on one device, by x."""

    name: str  # the kernel's title
    slot: int  # the number of its colour and sign
    style: int  # the number of its measurement, which determines the dashes of its line
    points: tuple[Point, ...]  # ascending by x
    part: str = ""  # distinguishes it from other series
    hollow: bool = False  # x is only a lower bound

    @property
    def full_name(self) -> str:
        """The name with the part."""
        return ", ".join(filter(None, (self.name, self.part)))


class Roof(Struct, frozen=True):
    """The measured limits of a device."""

    name: str  # of the device
    style: int  # its number in the figure
    gb_per_s: float  # GB/s, bytes read and written by a copy
    gflop_per_s: float
    dtype: str  # of the operations
    reached_by: str  # the program that reached the operations, as text
    brief: str  # a short form of it
    other_rates: tuple[tuple[str, float], ...] = ()  # other rates in that dtype: as text, and in GFLOP/s


class Level(Struct, frozen=True):
    """A measured limit of y: a line across a panel of points."""

    value: float  # in the values of the vertical axis
    text: str  # its meaning and its value


class BarPanel(Struct, frozen=True):
    """A panel of horizontal bars, from the top. reference: a value that is marked by a line."""

    axis: Axis
    bars: tuple[Bar, ...]
    reference: float | None = None


class PointPanel(Struct, frozen=True):
    """A panel of points and lines."""

    x: Axis  # horizontal
    y: Axis  # vertical
    series: tuple[Series, ...]  # the points
    roofs: tuple[Roof, ...] = ()  # drawn above the points
    levels: tuple[Level, ...] = ()  # drawn across the panel
    joined: float = math.inf  # points are joined while x grows at most by this factor


class Figure(Struct, frozen=True):
    """A complete chart."""

    chart: str  # its kind, one of CHARTS
    title: str
    subtitle: str  # what all drawn rows share
    panels: tuple[BarPanel | PointPanel, ...]  # from the top
    origins: tuple[str, ...]  # a line for each measurement
    method: str  # how the times were measured
    notes: tuple[str, ...] = ()  # further remarks

    @property
    def is_log(self) -> bool:
        """The axis of the values is logarithmic."""
        return any((p.axis if isinstance(p, BarPanel) else p.y).log for p in self.panels[:1])

    @property
    def is_empty(self) -> bool:
        """There is nothing to draw."""
        return not any(panel.bars if isinstance(panel, BarPanel) else panel.series for panel in self.panels)


def number_texts(figure: Figure) -> list[str]:
    """List every drawn number as text, for screen readers."""
    texts = []
    for panel in figure.panels:
        if isinstance(panel, BarPanel):
            texts += [f"{', '.join(filter(None, (b.datum.name, b.part)))}: {b.text}" for b in panel.bars]
        else:
            texts += [point.text for series in panel.series for point in series.points]
    return texts

"""What a chart says, before anyone draws it: panels of bars or points, with their marks, origins and method."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

Mark = Literal["measured", "exact", "modelled", "published"]


class Axis(Struct, frozen=True):
    """An axis of a panel."""

    label: str  # what stands along it
    unit: str  # of its numbers, "" where they have none
    log: bool  # whether it is logarithmic
    marks: tuple[
        tuple[Mark, str], ...
    ]  # where its numbers come from, each with what it holds for ("" for all)
    per_unit: float = 1.0  # values in a `unit`: for microseconds on an axis in ms it is 1000
    doubles: bool = False  # whether its numbers are powers of two, as sizes of matrices are
    values: tuple[float, ...] = ()  # the numbers that may stand along it, ascending; () for round ones


class Published(Struct, frozen=True):
    """Somebody else's figure for what a bar shows."""

    microseconds: float
    text: str  # it in words, with the GPU
    document: str  # its title


class Datum(Struct, frozen=True):
    """What every drawn number brings along: the row it comes from, in words and for a table."""

    subject: str  # `scenario` or `scenario/baseline`
    name: str  # the title of the row
    origin: str  # of its measurement, in words
    kind: str  # of the time
    parameters: dict[str, int | str]  # what it was measured with, by name
    samples: tuple[float, ...]  # microseconds, in the order in which they were taken
    settled: bool  # whether the median is known to the method's precision


class Bar(Struct, frozen=True):
    """A value with its interval; all of its numbers are in the axis's values."""

    datum: Datum  # what it is of
    part: str  # what tells it from other bars of its name
    value: float  # its length
    low: float  # the lower end of the interval
    high: float  # the upper end of the interval
    text: str  # the value in words
    slot: int  # the number of its colour
    dots: tuple[float, ...] = ()  # samples
    published: tuple[Published, ...] = ()  # what documents say of it


class Fact(Struct, frozen=True):
    """A number that explains a drawn one, for a table."""

    label: str  # what it is
    unit: str
    value: float
    mark: Mark  # where it comes from


class Point(Struct, frozen=True):
    """A value y with its interval at x."""

    datum: Datum  # what it is of
    x: float  # in the values of the horizontal axis
    y: float  # in the values of the vertical axis
    low: float  # the lower end of y's interval
    high: float  # the upper end of y's interval
    text: str  # x and y in words
    label: str = ""  # what stands beside the point where there is room: y, with its unit if not the axis's
    measured_x: float | None = (
        None  # where it would be by what was measured in place of counted; may be infinite
    )
    facts: tuple[Fact, ...] = ()  # what explains it


class Series(Struct, frozen=True):
    """Points of one kernel on one device, by x."""

    name: str  # the kernel's title
    slot: int  # the number of its colour and sign
    style: int  # the number of its measurement: how its line is dashed
    points: tuple[Point, ...]  # ascending by x
    part: str = ""  # what tells it from other kernels and from its own others
    hollow: bool = False  # whether x is the minimum that it can be

    @property
    def full_name(self) -> str:
        """The name with the part."""
        return ", ".join(filter(None, (self.name, self.part)))


class Roof(Struct, frozen=True):
    """What a device reached, measured."""

    name: str  # the device's
    style: int  # its number in the figure
    gb_per_s: float  # GB/s, bytes read and written by a copy
    gflop_per_s: float  # GFLOP/s
    dtype: str  # of the operations
    reached_by: str  # what reached the operations, in words
    brief: str  # that in two words
    beside: tuple[tuple[str, float], ...] = ()  # what else it reached in that dtype: in words, and in GFLOP/s


class Level(Struct, frozen=True):
    """A value of y that a device reached, measured: a line across a panel of points."""

    value: float  # in the values of the vertical axis
    text: str  # what it is, with its value


class BarPanel(Struct, frozen=True):
    """A panel of horizontal bars, from the top. reference: a value worth a line of its own."""

    axis: Axis
    bars: tuple[Bar, ...]
    reference: float | None = None


class PointPanel(Struct, frozen=True):
    """A panel of points and lines."""

    x: Axis  # horizontal
    y: Axis  # vertical
    series: tuple[Series, ...]  # the points
    roofs: tuple[Roof, ...] = ()  # drawn above them
    levels: tuple[Level, ...] = ()  # lines across it
    joined: float = math.inf  # how many times the x of a point the next may have to be joined with it


class Figure(Struct, frozen=True):
    """A complete chart."""

    chart: str  # its kind, one of CHARTS
    title: str  # what it shows
    subtitle: str  # what all that is drawn has in common
    panels: tuple[BarPanel | PointPanel, ...]  # from the top
    origins: tuple[str, ...]  # a line for each measurement
    method: str  # how the times were taken
    notes: tuple[str, ...] = ()  # what else a reader must know

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(panel.bars if isinstance(panel, BarPanel) else panel.series for panel in self.panels)


def number_texts(figure: Figure) -> list[str]:
    """Return every drawn number in words, for those who can't see the chart."""
    texts = []
    for panel in figure.panels:
        if isinstance(panel, BarPanel):
            texts += [f"{', '.join(filter(None, (b.datum.name, b.part)))}: {b.text}" for b in panel.bars]
        else:
            texts += [point.text for series in panel.series for point in series.points]
    return texts

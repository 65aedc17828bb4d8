"""What a chart says, before anyone draws it: panels of bars or points, with their marks, origins and method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Mark = Literal["measured", "exact", "modelled", "published"]


@dataclass(frozen=True)
class Axis:
    """An axis. Values are in `unit` times `per_unit` (microseconds with per_unit 1000 are told in ms).

    marks: where its numbers come from, each with what it holds for ("" for all).
    """

    label: str
    unit: str
    log: bool
    marks: tuple[tuple[Mark, str], ...]
    per_unit: float = 1.0


@dataclass(frozen=True)
class Published:
    """Somebody else's figure for what a bar shows, in microseconds. told: it, with the GPU; document: its title."""

    microseconds: float
    told: str
    document: str


@dataclass(frozen=True)
class Datum:
    """What every drawn number brings along: the row it comes from, in words and for a table.

    subject: `scenario` or `scenario/baseline`. samples: in microseconds, in the order in which they were taken.
    settled: the median is known to the method's precision.
    """

    subject: str
    name: str
    origin: str
    kind: str
    parameters: dict[str, int | str]
    samples: tuple[float, ...]
    settled: bool


@dataclass(frozen=True)
class Bar:
    """A value with its interval. part: what tells it from other bars of its name. dots: samples, as values.

    slot: the number of its colour.
    """

    datum: Datum
    part: str
    value: float
    low: float
    high: float
    text: str
    slot: int
    dots: tuple[float, ...] = ()
    published: tuple[Published, ...] = ()


@dataclass(frozen=True)
class Point:
    """A value y with its interval at x. told: both in words."""

    datum: Datum
    x: float
    y: float
    low: float
    high: float
    told: str


@dataclass(frozen=True)
class Series:
    """Points of one kernel on one device, by x. part: what tells it from other kernels and from its own others.

    hollow: x is the least that it can be.
    """

    name: str
    slot: int
    style: int
    points: tuple[Point, ...]
    part: str = ""
    hollow: bool = False

    @property
    def told(self) -> str:
        """The name with the part."""
        return ", ".join(filter(None, (self.name, self.part)))


@dataclass(frozen=True)
class Roof:
    """What a device reached: bytes a second for copying, operations a second; GB/s and GFLOP/s, measured.

    style: its number in the figure. told: in what it reached the operations; brief: that in two words. beside: what
    else it reached in that dtype, in words and in GFLOP/s.
    """

    name: str
    style: int
    gb_per_s: float
    gflop_per_s: float
    dtype: str
    told: str
    brief: str
    beside: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Bars:
    """A panel of horizontal bars, from the top. reference: a value worth a line of its own."""

    axis: Axis
    bars: tuple[Bar, ...]
    reference: float | None = None


@dataclass(frozen=True)
class Plane:
    """A panel of points and lines. joined: how many times the x of a point the next may have to be joined with it."""

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    roofs: tuple[Roof, ...] = ()
    joined: float = math.inf


@dataclass(frozen=True)
class Figure:
    """A whole chart. origins: a line for each measurement. notes: what else a reader must know."""

    chart: str
    title: str
    subtitle: str
    panels: tuple[Bars | Plane, ...]
    origins: tuple[str, ...]
    method: str
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(panel.bars if isinstance(panel, Bars) else panel.series for panel in self.panels)


def numbers_told(figure: Figure) -> list[str]:
    """Return every drawn number in words, for those who can't see the chart."""
    told = []
    for panel in figure.panels:
        if isinstance(panel, Bars):
            told += [f"{', '.join(filter(None, (b.datum.name, b.part)))}: {b.text}" for b in panel.bars]
        else:
            told += [point.told for series in panel.series for point in series.points]
    return told

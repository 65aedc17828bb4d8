"""An axis of a chart, without widgets: its quantity, unit, scale and sources."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Mark = Literal["measured", "exact", "modelled", "published"]


class Axis(Struct, frozen=True):
    """An axis of a panel."""

    label: str  # the quantity
    unit: str  # of its numbers, "" if they have none
    log: bool  # it is logarithmic
    marks: tuple[
        tuple[Mark, str], ...
    ]  # sources of its numbers, each with the part it applies to ("" for all)
    per_unit: float = 1.0  # values per `unit`: 1000 for microseconds on an axis in ms
    doubles: bool = False  # its numbers are powers of two, like sizes of matrices
    values: tuple[float, ...] = ()  # the possible tick numbers, ascending; () for round ones

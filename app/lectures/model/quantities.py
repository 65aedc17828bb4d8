"""Numbers with their origin and format."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Mark = Literal["", "exact", "part", "measured", "compiled", "estimated", "modelled"]
Unit = Literal["", "us", "bytes", "GB/s", "GFLOP/s"]
MARKS: tuple[Mark, ...] = (
    "",
    "exact",
    "part",
    "measured",
    "compiled",
    "estimated",
    "modelled",
)  # the most certain first
MARK_TEXTS: dict[Mark, str] = {
    "exact": "exact from the trace",
    "part": "of a part of the launch",
    "measured": "measured",
    "compiled": "counted from the compiled kernel",
    "estimated": "estimated from a trace without the rounds of loops",
    "modelled": "modelled",
}
SPEC = re.compile(r",?(\.\d)?[dfge%]?")  # the subset of Python's formats for captions


class Quantity(Struct, frozen=True):
    """A number, word or verdict with its mark."""

    value: float | int | str | bool
    mark: Mark = ""  # "" for a number that the lecture's author wrote
    unit: Unit = ""
    origin: str = ""  # of a measurement: the device

    @property
    def is_number(self) -> bool:
        """Whether it is a number, and no word or truth value."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


def least_certain(marks: Iterable[Mark]) -> Mark:
    """Return the mark of a result computed from numbers with these marks: the least certain."""
    return max(marks, key=MARKS.index, default="")


def is_format(spec: str) -> bool:
    """Check whether `quantity_text` supports a format."""
    return SPEC.fullmatch(spec) is not None


def quantity_text(quantity: Quantity, spec: str = "") -> str:
    """Format a quantity for a caption; raises ValueError and OverflowError.

    Both are raised for a format, or a unit, that does not suit the number.
    """
    value = quantity.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if spec:
        return format(int(value) if spec.endswith("d") and value == int(value) else value, spec)
    if quantity.unit:
        return _with_unit(float(value), quantity.unit)
    return f"{value:,}" if isinstance(value, int) else _plain(value)


def _plain(value: float) -> str:
    """Format a number with three significant digits, and all digits before its point."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _with_unit(value: float, unit: Unit) -> str:
    scales: dict[Unit, tuple[tuple[float, str], ...]] = {
        "us": ((1e6, "s"), (1e3, "ms"), (1, "µs")),
        "bytes": ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes")),
        "GB/s": ((1, "GB/s"),),
        "GFLOP/s": ((1e3, "TFLOP/s"), (1, "GFLOP/s")),
    }
    scale, name = next((pair for pair in scales[unit] if abs(value) >= pair[0]), scales[unit][-1])
    return f"{_plain(value / scale)} {name}"

"""Times, sizes and launch shapes as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, prod

import numpy as np

from ....tracer.hardware.times.measurement import TIMING_KINDS, Real, Row, TimingKind
from .figure import Datum

SHORT: dict[TimingKind, str] = {
    "first-call": "first call",
    "call": "later call",
    "kernel-cold": "kernel, L2 cold",
    "kernel-warm": "kernel, L2 warm",
    "with-copies": "with copies",
    "launch": "only the launch",
    "cpu": "CPU",
}
EVENTS = (
    "CUDA events before and after the kernel, minus the time that two events measure around nothing; everything is "
    "queued first, so that no host time is included"
)
METHODS: dict[TimingKind, str] = {
    "first-call": "Host clock around the first call, which compiles.",
    "call": "Host clock around a call on device data, until the device is done.",
    "kernel-cold": f"{EVENTS}; L2 cache flushed before.",
    "kernel-warm": f"{EVENTS}; L2 cache warm.",
    "with-copies": "Host clock around copies to the device, the call and the copies back.",
    "launch": "Host clock around a launch, which does not wait for the device.",
    "cpu": "Host clock around the program on the CPU.",
}
UNITS = (("s", 1e6), ("ms", 1e3), ("µs", 1.0), ("ns", 1e-3))


def kind_text(kind: TimingKind) -> str:
    """Return the description of a kind of time."""
    return TIMING_KINDS[kind]


def unit_of(microseconds: float) -> tuple[str, float]:
    """Return the most suitable unit of a time, and its microseconds."""
    return next((pair for pair in UNITS if microseconds >= pair[1]), UNITS[-1])


def number_text(value: float) -> str:
    """Return at least three significant digits, never an exponent: 0.0123, 4.00, 66.6, 12,346."""
    if value == 0:
        return "0"
    power = floor(log10(abs(float(f"{value:.2e}"))))  # of the rounded number: 99.96 is 100
    return f"{value:,.{max(2 - power, 0)}f}"


def time_text(microseconds: float) -> str:
    """Return a time with three digits and its unit."""
    unit, size = unit_of(microseconds)
    return f"{number_text(microseconds / size)} {unit}"


def mark_text(text: str, datum: Datum, interval: tuple[str, str], more: Sequence[str] = ()) -> str:
    """Describe a value at the crosshair: its interval, its sample count, its device and its date."""
    ends = f"95 % interval {interval[0]} to {interval[1]}, {len(datum.samples):,} samples"
    return "\n".join((text, ends, f"{datum.origin}, measured", *more))


def problem_of(row: Row) -> str:
    """Return the size of a row's problem as text; rows with equal texts can be compared."""
    parameters = row.parameters
    if "k" in parameters:
        sides = [f"{name.upper()} = {parameters[name]:,}" for name in ("m", "k", "n")]
        equal = len({parameters[name] for name in ("m", "k", "n")}) == 1
        text = f"M = K = N = {parameters['m']:,}" if equal else ", ".join(sides)
    elif "rows" in parameters:
        text = f"{parameters['rows']:,} × {parameters['cols']:,}"
    elif "count" in parameters:
        text = f"{parameters['count']:,} elements"
    else:
        grid, block = row.grid, row.block
        text = f"{grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]:,} threads"
    return text + (", float64" if real_of(row) == "float64" else "")


def used_bytes(row: Row) -> int:
    """Compute the bytes of its arrays that a kernel uses, each element once, by formula.

    If an array has more elements than the problem, as in a copy with a stride, only so many count.
    """
    count = row.parameters.get("count")
    if not isinstance(count, int):
        return row.bytes
    return sum(min(prod(shape), count) * np.dtype(dtype).itemsize for shape, dtype in row.arrays.values())


def real_of(row: Row) -> Real:
    """Return the dtype of a row's arithmetic."""
    return "float64" if "float64" in {dtype for _, dtype in row.arrays.values()} else "float32"


def shape_of(row: Row) -> str:
    """Return a kernel's blocks, which distinguish launches of one problem; "" on the CPU."""
    if row.timing("cpu") is not None or row.engine in ("python", "numpy", "numba"):
        return ""
    sides = 3 if row.block[2] > 1 else 2 if row.block[1] > 1 else 1
    threads = " × ".join(f"{side:,}" for side in row.block[:sides])
    if "num_blocks" in row.parameters:
        return f"{row.parameters['num_blocks']:,} blocks of {threads}"
    return f"blocks of {threads}"


def size_name(row: Row) -> str:
    """Name the size that `side_of` returns; sizes of different names need different axes."""
    return "elements" if "count" in row.parameters else "N, the side of the matrices"


def side_of(row: Row) -> int | None:
    """Return the size if it is one number: N of square matrices, elements of a vector; else None."""
    parameters = row.parameters
    sides = [parameters[name] for name in ("m", "k", "n", "rows", "cols") if name in parameters]
    sides = sides or [parameters[name] for name in ("count",) if name in parameters]
    return int(sides[0]) if sides and len(set(sides)) == 1 else None

"""Times, sizes and launch shapes in words."""

from __future__ import annotations

from math import floor, log10, prod

import numpy as np

from ...tracer.measure.measurement import TIMING_KINDS, Real, Row, TimingKind

SHORT: dict[TimingKind, str] = {
    "first-call": "first call",
    "call": "later call",
    "kernel-cold": "kernel, L2 cold",
    "kernel-warm": "kernel, L2 warm",
    "with-copies": "with copies",
    "launch": "launch alone",
    "cpu": "CPU",
}
EVENTS = (
    "CUDA events before and after the kernel, less what two of them alone read; all is queued before it "
    "begins, so that no time of the host is in it"
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
    """Return what a kind of time is."""
    return TIMING_KINDS[kind]


def unit_of(microseconds: float) -> tuple[str, float]:
    """Return the unit in which a time is best told, and its microseconds."""
    return next((pair for pair in UNITS if microseconds >= pair[1]), UNITS[-1])


def number_text(value: float) -> str:
    """Return three significant digits and all before the point: 0.0123, 4.00, 66.6, 12,346; never a power of ten."""
    if value == 0:
        return "0"
    power = floor(log10(abs(float(f"{value:.2e}"))))  # of the rounded number: 99.96 is 100
    return f"{value:,.{max(2 - power, 0)}f}"


def time_text(microseconds: float) -> str:
    """Return a time with three digits and its unit."""
    unit, size = unit_of(microseconds)
    return f"{number_text(microseconds / size)} {unit}"


def problem_of(row: Row) -> str:
    """Return the size of what a row works on; rows with equal texts can be compared."""
    given = row.parameters
    if "k" in given:
        sides = [f"{name.upper()} = {given[name]:,}" for name in ("m", "k", "n")]
        equal = len({given[name] for name in ("m", "k", "n")}) == 1
        text = f"M = K = N = {given['m']:,}" if equal else ", ".join(sides)
    elif "rows" in given:
        text = f"{given['rows']:,} × {given['cols']:,}"
    elif "count" in given:
        text = f"{given['count']:,} elements"
    else:
        grid, block = row.grid, row.block
        text = f"{grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]:,} threads"
    return text + (", float64" if real_of(row) == "float64" else "")


def used_bytes(row: Row) -> int:
    """Return the bytes that a kernel uses of its arrays, each element once, by formula.

    Of an array that holds more elements than there are to work on, as what is copied with a stride, it is so many.
    """
    count = row.parameters.get("count")
    if not isinstance(count, int):
        return row.bytes
    return sum(min(prod(shape), count) * np.dtype(dtype).itemsize for shape, dtype in row.arrays.values())


def real_of(row: Row) -> Real:
    """Return the dtype whose arithmetic bounds a row."""
    return "float64" if "float64" in {dtype for _, dtype in row.arrays.values()} else "float32"


def shape_of(row: Row) -> str:
    """Return a kernel's blocks: what differs between launches of one problem; "" on the CPU."""
    if row.timing("cpu") is not None or row.engine in ("python", "numpy", "numba"):
        return ""
    sides = 3 if row.block[2] > 1 else 2 if row.block[1] > 1 else 1
    threads = " × ".join(f"{side:,}" for side in row.block[:sides])
    if "num_blocks" in row.parameters:
        return f"{row.parameters['num_blocks']:,} blocks of {threads}"
    return f"blocks of {threads}"


def size_name(row: Row) -> str:
    """Return what `side_of` counts; sizes of different names have no place on one axis."""
    return "elements" if "count" in row.parameters else "N, the side of the matrices"


def side_of(row: Row) -> int | None:
    """Return N where a row's size is one number: square matrices, elements of a vector; None elsewhere."""
    given = row.parameters
    sides = [given[name] for name in ("m", "k", "n", "rows", "cols") if name in given]
    sides = sides or [given[name] for name in ("count",) if name in given]
    return int(sides[0]) if sides and len(set(sides)) == 1 else None

"""Times, sizes and launch shapes in words."""

from __future__ import annotations

from ...tracer.measurement import KINDS, Kind, Row

SHORT: dict[Kind, str] = {
    "first-call": "first call",
    "call": "later call",
    "kernel-cold": "kernel, L2 cold",
    "kernel-warm": "kernel, L2 warm",
    "with-copies": "with copies",
    "launch": "launch alone",
    "cpu": "CPU",
}
METHODS: dict[Kind, str] = {
    "first-call": "Host clock around the first call, which compiles.",
    "call": "Host clock around a call on device data, until the device is done.",
    "kernel-cold": "Two CUDA events around the kernel on a held stream, less their own time; L2 flushed before.",
    "kernel-warm": "Two CUDA events around the kernel on a held stream, less their own time; L2 warm.",
    "with-copies": "Host clock around copies to the device, the call and the copies back.",
    "launch": "Host clock around a launch, which does not wait for the device.",
    "cpu": "Host clock around the program on the CPU.",
}
UNITS = (("s", 1e6), ("ms", 1e3), ("µs", 1.0), ("ns", 1e-3))


def kind_text(kind: Kind) -> str:
    """Return what a kind of time is."""
    return KINDS[kind]


def unit_of(microseconds: float) -> tuple[str, float]:
    """Return the unit in which a time is best told, and its microseconds."""
    return next((pair for pair in UNITS if microseconds >= pair[1]), UNITS[-1])


def number_text(value: float) -> str:
    """Return three significant digits, all of them before the point."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


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
    return text + (", float64" if "float64" in {dtype for _, dtype in row.arrays.values()} else "")


def shape_of(row: Row) -> str:
    """Return a kernel's blocks: what differs between launches of one problem; "" on the CPU."""
    if row.timing("cpu") is not None or row.engine in ("python", "numpy", "numba"):
        return ""
    threads = " × ".join(f"{side:,}" for side in row.block[: 2 if row.block[1] > 1 else 1])
    if "num_blocks" in row.parameters:
        return f"{row.parameters['num_blocks']:,} blocks of {threads}"
    return f"blocks of {threads}"


def side_of(row: Row) -> int | None:
    """Return N where a row's size is one number: square matrices, elements of a vector; None elsewhere."""
    given = row.parameters
    sides = [given[name] for name in ("m", "k", "n", "rows", "cols") if name in given]
    sides = sides or [given[name] for name in ("count",) if name in given]
    return int(sides[0]) if sides and len(set(sides)) == 1 else None

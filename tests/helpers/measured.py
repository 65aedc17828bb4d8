"""What the tests of measuring share: cases, a device, a small measurement."""

from __future__ import annotations

import msgspec

from tilescope.kernels.scenarios.catalogue import find, settle
from tilescope.tracer.hardware.times.cases import Case, row_of
from tilescope.tracer.hardware.times.measurement import (
    Ceilings,
    Device,
    Host,
    Measurement,
    Method,
    Peak,
    Timing,
)

DEVICE = Device("NVIDIA H200", (9, 0), 132, 150 << 30, 60 << 20, "580.1", (13, 0), None)

CEILINGS = Ceilings(4000.0, (Peak("float32", "registers", "registers", 50_000.0),), 1.5, 1.2)


def case(scenario, baseline="", first=False, **values):
    """Return a case; other parameters have their defaults."""
    return Case(scenario, settle(find(scenario), values), baseline, first)


def measurement(*samples):
    """Return a measurement of one kernel with these samples, in microseconds."""
    row = msgspec.structs.replace(
        row_of(case("matmul-tiled")), timings=(Timing("kernel-warm", samples, True),)
    )
    method, host = Method(0.01, 1.0, ("note",)), Host("cpu", 2, "Linux")
    return Measurement(
        "2026-11-20T10:00:00+00:00", "abc", DEVICE, host, {"numpy": "2"}, method, CEILINGS, (row,)
    )

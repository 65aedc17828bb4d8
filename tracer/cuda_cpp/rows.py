"""The records that the runtime writes (`runtime/runtime.cpp`), as NumPy dtypes."""

from __future__ import annotations

from typing import Literal

import numpy as np

ROW = np.dtype(
    [
        ("address", "<u8"), ("value", "<u8"), ("block", "<u4"), ("site", "<u4"), ("thread", "<u2"), ("phase", "<u2"),
        ("operation", "u1"), ("size", "u1"), ("allocation", "<u2"),
    ]
)  # fmt: skip
ARRIVAL = np.dtype(
    [
        ("reach", "<u8"), ("row", "<u4"), ("block", "<u4"), ("site", "<u4"), ("thread", "<u2"), ("phase", "<u2"),
        ("part", "<u4"), ("kind", "<u4"),
    ]
)  # fmt: skip
MISALIGNED = (
    16  # a bit of `operation`: a copy of 8 or 16 bytes begins here at an address that is no multiple of that
)
OUTSIDE = 8  # a bit of `operation`: an index is outside the declared dimensions of its array
WARP_ARRIVAL = 1  # the `kind` of arrivals at warp operations and fences
WHY: tuple[Literal["waiting", "ended", "read", "unnamed", "apart", "outside"], ...] = (
    "waiting", "ended", "read", "unnamed", "apart", "outside",
)  # fmt: skip
SCHEDULES = ("lockstep", "sequential", "random")
END_OF_LAUNCH, MORE_ROWS = "ended", "rows"
EXIT_ENDLESS, EXIT_MISSING, EXIT_LOST = 113, 114, (111, 112)  # statuses with which the runtime ends a program

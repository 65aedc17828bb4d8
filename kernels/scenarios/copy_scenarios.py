"""Copies as lessons: how a warp's addresses determine its number of sectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .program_scenarios import zero_tolerance
from .scenario import Argument, Arrays, CatalogueError, Parameter, PhaseText, Plan, Scenario, Values
from .vector_scenarios import line_plan, threads_parameter

LARGEST = 1 << 26  # elements copied
LARGEST_BYTES = 1 << 33  # of A
WIDEST = 32  # stride and offset
DTYPES = ("float32", "float64", "int16", "uint8")  # elements of 4, 8, 2 bytes and 1
FILLING = 1 << 24  # elements copied, enough to keep every GPU busy and to exceed its caches


def _plan(values: Values, length: int, distance: str) -> Plan:
    """Plan a copy of `count` elements out of an A of `length`; `distance` names the last argument."""
    count, dtype = int(values["count"]), str(values["dtype"])
    size = length * np.dtype(dtype).itemsize
    if size > LARGEST_BYTES:
        holds = f"A would hold {length:,} elements of {dtype}, {size / 2**30:.3g} GiB"
        raise CatalogueError(f"{holds}; at most {LARGEST_BYTES >> 30} GiB are allowed.")
    a = Argument("a", (length,), dtype, str(values["input"]))
    out = Argument("out", (count,), dtype, "empty")
    return line_plan(values, a, out, Argument(distance, value=int(values[distance])))


def _stride_plan(values: Values) -> Plan:
    return _plan(values, int(values["count"]) * int(values["stride"]), "stride")


def _offset_plan(values: Values) -> Plan:
    return _plan(values, int(values["count"]) + int(values["offset"]), "offset")


def _strided(arguments: Arrays) -> dict[str, NDArray[Any]]:
    stride = len(arguments["a"]) // len(arguments["out"])
    return {"out": arguments["a"][::stride]}


def _last(arguments: Arrays) -> dict[str, NDArray[Any]]:
    return {"out": arguments["a"][-len(arguments["out"]) :]}


def _parameters(distance: Parameter) -> tuple[Parameter, ...]:
    return (
        Parameter("count", "Elements", 128, 1, LARGEST, step=0),
        distance,
        threads_parameter(64),
        Parameter("dtype", "Type", "float32", choices=DTYPES),
        Parameter("input", "Input", "arange", choices=("arange", "random")),
    )


_copy = partial(
    Scenario,
    group="Copy",
    tolerance=zero_tolerance,
    roles={"a": "above", "out": "result"},
)

COPIES = (
    _copy(
        name="copy-stride",
        title="Copy with a stride",
        lesson="The further apart the elements of a warp are, the more sectors it needs, until each element "
        "needs a sector.",
        kernel="tilescope.kernels.copies:with_stride",
        parameters=_parameters(Parameter("stride", "Stride", 8, 1, WIDEST)),
        plan=_stride_plan,
        reference=_strided,
        phases=(
            PhaseText(
                "one phase: no barrier",
                "Every thread loads the element at its number times the stride, and stores it at its number.",
            ),
        ),
        timed=tuple(
            {"count": FILLING, "stride": stride, "threads": 256} for stride in (1, 2, 3, 4, 8, 16, 32)
        ),
    ),
    _copy(
        name="copy-offset",
        title="Copy with an offset",
        lesson="If a warp's first element is not at the start of a sector, the warp touches one sector more, which "
        "its neighbour needs too.",
        kernel="tilescope.kernels.copies:with_offset",
        parameters=_parameters(Parameter("offset", "Offset", 1, 0, WIDEST)),
        plan=_offset_plan,
        reference=_last,
        phases=(
            PhaseText(
                "one phase: no barrier",
                "Every thread loads the element at its number plus the offset, and stores it at its number.",
            ),
        ),
        timed=tuple(
            {"count": FILLING, "offset": offset, "threads": 256}
            for offset in (0, 1, 2, 4, 8, 12, 16, 24, 31, 32)
        ),
    ),
)

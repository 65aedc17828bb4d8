"""Transposes as lessons: out = A mirrored along its diagonal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from .matmul_scenarios import padding_parameter
from .matmul_variant_scenarios import ceil_div
from .program_scenarios import zero_tolerance
from .scenario import Argument, Arrays, Baseline, Parameter, PhaseText, Plan, Scenario, Values

TILE = 32  # of kernels/transpose.py
LARGEST = 8192


def _plan(values: Values, *, shared: bool = True) -> Plan:
    rows, cols, dtype = int(values["rows"]), int(values["cols"]), str(values["dtype"])
    a, out = Argument("a", (rows, cols), dtype, "random"), Argument("out", (cols, rows), dtype, "empty")
    grid = (ceil_div(cols, TILE), ceil_div(rows, TILE), 1)
    return Plan((a, out), grid, (TILE, TILE, 1), {"DTYPE": dtype} if shared else {})


def _tile_plan(values: Values) -> Plan:
    plan = _plan(values)
    return replace(plan, constants={**plan.constants, "PITCH": TILE + int(values["padding"])})


def _transposed(arguments: Arrays) -> dict[str, NDArray[Any]]:
    return {"out": np.ascontiguousarray(arguments["a"].T)}


PARAMETERS = (
    Parameter("rows", "Rows", 64, 1, LARGEST, step=TILE),
    Parameter("cols", "Columns", 64, 1, LARGEST, step=TILE),
    Parameter("dtype", "Type", "float32", choices=("float32", "float64")),
)

_transpose = partial(
    Scenario,
    group="Transpose",
    parameters=PARAMETERS,
    plan=_plan,
    reference=_transposed,
    tolerance=zero_tolerance,
    roles={"a": "left", "out": "result"},
    timed=tuple({"rows": n, "cols": n} for n in (64, 256, 1024, 4096)),
    phases=(PhaseText("load", "The block copies its piece of A into the tile, row by row, and waits."),),
    last=PhaseText("store", "It stores the tile's columns as rows of the result."),
    resident=1,
)

TRANSPOSES = (
    _transpose(
        name="transpose-naive",
        title="Transpose, naive",
        lesson="A warp loads along a row and stores down a column, where every element costs a separate sector.",
        kernel="tilescope.kernels.transpose:naive",
        plan=partial(_plan, shared=False),
        phases=(
            PhaseText(
                "one phase: no barrier",
                "Every thread loads an element and stores it transposed.",
            ),
        ),
        last=None,
        baselines=(Baseline("numpy", "NumPy", "tilescope.kernels.baselines:transpose_numpy"),),
    ),
    _transpose(
        name="transpose-tile",
        title="Transpose, tile",
        lesson="With a shared tile, loads and stores go along rows, but the tile's columns are in a single bank.",
        kernel="tilescope.kernels.transpose:tile",
        parameters=(*PARAMETERS[:2], padding_parameter(), *PARAMETERS[2:]),
        plan=_tile_plan,
    ),
    _transpose(
        name="transpose-padded",
        title="Transpose, padded tile",
        lesson="One unused column more shifts every row by a bank, and the conflicts are gone.",
        kernel="tilescope.kernels.transpose:padded_tile",
    ),
)

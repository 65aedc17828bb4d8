"""Compilers' effects on loads and stores, as lessons: each kernel makes other requests than its source suggests."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .matmul_variant_scenarios import ceil_div
from .scenario import Argument, Arrays, Parameter, PhaseText, Plan, Scenario, Values
from .vector_scenarios import count_parameter, line_plan, threads_parameter

LARGEST = 4096
SIDE = 32  # of the tile in kernels/optimised.py
Result = dict[str, NDArray[Any]]

ROWS = Parameter("rows", "Rows", 256, 1, LARGEST, step=32)
COLUMNS = Parameter("cols", "Columns", 12, 1, LARGEST, step=4)


def _vector_plan(values: Values, *, names: tuple[str, ...]) -> Plan:
    """Plan vectors of `count` elements: inputs of these names, and the result."""
    size = (int(values["count"]),)
    return line_plan(values, *(Argument(name, size, fill="random") for name in names), Argument("out", size))


def _rows_plan(values: Values, *, scaled: bool = False, matrix: bool = False) -> Plan:
    """Plan a thread for each row of A; scaled: with a factor for each row; matrix: the result is a matrix."""
    rows, cols, threads = int(values["rows"]), int(values["cols"]), int(values["threads"])
    factors = (Argument("b", (rows,), fill="random"),) if scaled else ()
    out = Argument("out", (rows, cols) if matrix else (rows,))
    arguments = (Argument("a", (rows, cols), fill="random"), *factors, out)
    return Plan(arguments, (ceil_div(rows, threads), 1, 1), (threads, 1, 1), {})


def _step_plan(values: Values) -> Plan:
    shape, tile = (int(values["rows"]), int(values["cols"])), int(values["tile"])
    grid = (ceil_div(shape[0], tile), ceil_div(shape[1], tile), 1)
    return Plan((Argument("a", shape, fill="random"), Argument("out", shape)), grid, (tile, tile, 1), {})


def _tile_plan(values: Values) -> Plan:
    shape = (SIDE, SIDE)
    arguments = Argument("a", shape, fill="random"), Argument("out", shape, fill="empty")
    return Plan(arguments, (1, 1, 1), (SIDE, SIDE, 1), {})


def _wide(arguments: Arrays, name: str) -> NDArray[np.float64]:
    return arguments[name].astype(np.float64)


def _square_and_itself(arguments: Arrays) -> Result:
    a = _wide(arguments, "a")
    return {"out": a * a + a}


def _copy(arguments: Arrays) -> Result:
    return {"out": arguments["a"].copy()}


def _jacobi(arguments: Arrays) -> Result:
    a = _wide(arguments, "a")
    out = np.zeros_like(a)
    inner = a[1:-1, 1:-1]
    out[1:-1, 1:-1] = inner + 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * inner)
    return {"out": out}


def _row_sums(arguments: Arrays) -> Result:
    factors = _wide(arguments, "b") if "b" in arguments else 1.0
    return {"out": _wide(arguments, "a").sum(axis=1) * factors}


def _scaled(arguments: Arrays) -> Result:
    return {"out": _wide(arguments, "a") * _wide(arguments, "b")[:, None]}


def _tile_sums(arguments: Arrays) -> Result:
    sums = _wide(arguments, "a").sum(axis=1, keepdims=True)
    return {"out": np.broadcast_to(sums, (SIDE, SIDE)).copy()}


def _rounding(arguments: Arrays) -> float:
    """Bound the error of one rounding for each column, and a few more; the inputs are below 1."""
    terms = arguments["a"].shape[-1] if arguments["a"].ndim == 2 else 1
    return float(np.finfo(np.float32).eps) * (terms + 4) * (terms + 4)


_compiled = partial(
    Scenario,
    group="The compiler",
    tolerance=_rounding,
    roles={"a": "left", "out": "result"},
    phases=(
        PhaseText("one phase: no barrier", "Every thread loads its own elements and stores the result."),
    ),
)
_vector = partial(_compiled, parameters=(count_parameter(1000), threads_parameter(256)))
_rows = partial(_compiled, parameters=(ROWS, COLUMNS, threads_parameter(128)))
WITH_B = {"a": "left", "b": "above", "out": "result"}

COMPILER = (
    _vector(
        name="load-repeated",
        title="One element, three times",
        lesson="The source names an element three times, and the compiler loads it once.",
        kernel="tilescope.kernels.optimised:twice",
        plan=partial(_vector_plan, names=("a",)),
        reference=_square_and_itself,
    ),
    _compiled(
        name="jacobi-step",
        title="Jacobi step",
        lesson="Each element becomes the mean of its neighbours: six loads in the source, five after the compiler.",
        kernel="tilescope.kernels.optimised:jacobi",
        parameters=(
            Parameter("rows", "Rows", 60, 3, LARGEST, step="tile"),
            Parameter("cols", "Columns", 60, 3, LARGEST, step="tile"),
            Parameter("tile", "Block", 16, choices=(2, 4, 8, 16, 32)),
        ),
        plan=_step_plan,
        reference=_jacobi,
    ),
    _vector(
        name="load-unused",
        title="A load without use",
        lesson="Nothing uses the result of one load, so the compiler removes the load.",
        kernel="tilescope.kernels.optimised:dead_load",
        plan=partial(_vector_plan, names=("a", "b")),
        reference=_copy,
        roles=WITH_B,
    ),
    _rows(
        name="load-hoisted",
        title="Row sums with a factor",
        lesson="The factor is the same in every iteration, so the compiler loads it once, before the loop.",
        kernel="tilescope.kernels.optimised:scaled_sum",
        plan=partial(_rows_plan, scaled=True),
        reference=_row_sums,
        roles=WITH_B,
    ),
    _rows(
        name="load-aliased",
        title="Rows times a factor",
        lesson="Each iteration stores to an array that may alias the factor, so each one loads the factor again.",
        kernel="tilescope.kernels.optimised:scaled_rows",
        plan=partial(_rows_plan, scaled=True, matrix=True),
        reference=_scaled,
        roles=WITH_B,
    ),
    _rows(
        name="sum-in-global",
        title="Row sums in global memory",
        lesson="The sum lives in global memory: the compiler removes its loads but must keep its stores.",
        kernel="tilescope.kernels.optimised:sum_in_global",
        plan=_rows_plan,
        reference=_row_sums,
    ),
    _rows(
        name="sum-in-register",
        title="Row sums in a register",
        lesson="The sum is a local variable, so it stays in a register and is stored once.",
        kernel="tilescope.kernels.optimised:sum_in_register",
        plan=_rows_plan,
        reference=_row_sums,
    ),
    _compiled(
        name="load-joined",
        title="Sums along rows of a tile",
        lesson="Each thread reads a row of the tile from left to right, four elements at once after ptxas.",
        kernel="tilescope.kernels.optimised:row_of_tile",
        parameters=(),
        plan=_tile_plan,
        reference=_tile_sums,
        phases=(PhaseText("load", "Every thread copies one element into the tile, and waits."),),
        last=PhaseText("add up", "Every thread adds up its row of the tile, and stores the sum."),
    ),
)

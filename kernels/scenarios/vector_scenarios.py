"""Vectors as lessons: one thread per element or for many, and sums."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .matmul_variant_scenarios import ceil_div
from .scenario import Argument, Arrays, Baseline, Parameter, PhaseText, Plan, Scenario, Values

MAX_ELEMENTS = 1 << 24
MILLION = 1_000_000
WARP = 32
Result = dict[str, NDArray[Any]]


def count_parameter(default: int, label: str = "Elements") -> Parameter:
    """Return the parameter for the number of elements."""
    return Parameter("count", label, default, 1, MAX_ELEMENTS, step=0)


def threads_parameter(default: int, *, choices: tuple[int, ...] = ()) -> Parameter:
    """Return the parameter for the threads of a block."""
    return Parameter("threads", "Threads a block", default, 1, 1024, choices, step=WARP)


def blocks_parameter(default: int) -> Parameter:
    """Return the parameter for the blocks of the grid."""
    return Parameter("num_blocks", "Blocks", default, 1, 65535, step=0)


def line_plan(
    values: Values, *arguments: Argument, blocks: int | None = None, **constants: int | str
) -> Plan:
    """Plan a launch in one dimension: with `blocks`, or by default as many as cover `count`."""
    threads = int(values["threads"])
    block_count = ceil_div(int(values["count"]), threads) if blocks is None else blocks
    return Plan(arguments, (block_count, 1, 1), (threads, 1, 1), constants)


def _data_plan(values: Values, *, dtype: str) -> Plan:
    blocks = int(values["num_blocks"]) if "num_blocks" in values else None
    data = Argument("data", (int(values["count"]),), dtype, str(values["input"]))
    return line_plan(values, data, blocks=blocks)


def _pair_plan(values: Values) -> Plan:
    size, (first, second) = (int(values["count"]),), PAIRS[str(values["input"])]
    a, b = Argument("a", size, fill=first), Argument("b", size, fill=second)
    return line_plan(values, a, b, Argument("out", size, fill="empty"), blocks=int(values["num_blocks"]))


PAIRS = {"random": ("random", "random"), "twos-threes": ("twos", "threes")}


def _operations(plan: Plan) -> int:
    """Count one operation for each element of the first argument."""
    return plan.arguments[0].shape[0]


def _doubled(arguments: Arrays) -> Result:
    return {"data": 2 * arguments["data"]}


def _incremented(arguments: Arrays) -> Result:
    return {"data": arguments["data"] + 1}


def _products(arguments: Arrays) -> Result:
    return {"out": arguments["a"].astype(np.float64) * arguments["b"]}


def _rounding(arguments: Arrays) -> float:
    """Bound the error of one rounding of the largest result."""
    arrays = [array for name, array in arguments.items() if "Dim" not in name]
    largest = max(abs(float(edge)) for array in arrays for edge in (array.min(), array.max()))
    return float(np.finfo(np.float32).eps) * (1 + largest) ** 2


def _input(default: str, *others: str) -> Parameter:
    return Parameter("input", "Input", default, choices=(default, *others))


ELEMENTS = PhaseText("one phase: no barrier", "Every thread loads its own elements and stores the result.")
_vector = partial(
    Scenario,
    group="Vectors",
    tolerance=_rounding,
    phases=(ELEMENTS,),
    flop=_operations,
    timed=({"count": MILLION},),
)
_INCREMENTS = tuple(
    Baseline(name, title, f"tilescope.kernels.baselines:increment_{name}")
    for name, title in (("python", "Plain Python"), ("numba", "Numba on the CPU"), ("numpy", "NumPy"))
)

VECTORS = (
    _vector(
        name="vector-double",
        title="Double in place",
        lesson="Each thread computes its element from its block and its index in it, and checks that it exists.",
        kernel="tilescope.kernels.elementwise:double_in_place",
        parameters=(count_parameter(256), threads_parameter(256), _input("ones", "random", "arange")),
        plan=partial(_data_plan, dtype="float64"),
        reference=_doubled,
        roles={"data": "result"},
        timed=({}, {"count": MILLION}),
        baselines=(Baseline("numpy", "NumPy", "tilescope.kernels.baselines:double_numpy"),),
    ),
    _vector(
        name="vector-increment",
        title="Increment",
        lesson="A thread for each element: as many blocks as needed, the last one not full.",
        kernel="tilescope.kernels.elementwise:increment",
        parameters=(count_parameter(1000), threads_parameter(256), _input("zeros", "random", "arange")),
        plan=partial(_data_plan, dtype="float32"),
        reference=_incremented,
        roles={"data": "result"},
        baselines=_INCREMENTS,
    ),
    _vector(
        name="vector-multiply",
        title="Multiply, grid-stride loop",
        lesson="Each thread steps by the number of threads in the grid, so that any grid fits any length.",
        kernel="tilescope.kernels.elementwise:multiply_grid_stride",
        parameters=(
            count_parameter(2048),
            blocks_parameter(4),
            threads_parameter(128),
            _input("random", "twos-threes"),
        ),
        plan=_pair_plan,
        reference=_products,
        roles={"a": "left", "b": "above", "out": "result"},
        timed=(
            {"count": MILLION, "num_blocks": 1024, "threads": 1024},
            {"count": MILLION, "num_blocks": 32, "threads": 256},
        ),
        baselines=(Baseline("numpy", "NumPy", "tilescope.kernels.baselines:multiply_numpy"),),
    ),
)

TOO_FEW = _vector(
    name="vector-too-few-threads",
    title="Increment, too few threads",
    lesson="One element a thread and fewer threads than elements: the rest is never touched.",
    pitfall="Without a loop, the grid must have a thread for every element.",
    group="Pitfalls",
    kernel="tilescope.kernels.elementwise:increment",
    parameters=(
        count_parameter(1000),
        blocks_parameter(10),
        threads_parameter(64),
        _input("zeros", "random", "arange"),
    ),
    plan=partial(_data_plan, dtype="float32"),
    reference=_incremented,
    roles={"data": "result"},
    works=({"num_blocks": 16}, {"count": 640}),
    breaks=({}, {"num_blocks": 15}),
    timed=({"count": MILLION, "num_blocks": 100, "threads": 64},),
)


def _sum_plan(values: Values) -> Plan:
    numbers = Argument("values", (int(values["count"]),), fill="random")
    return line_plan(values, numbers, Argument("total", (1,)), THREADS=int(values["threads"]))


def _sum(arguments: Arrays) -> Result:
    return {"total": arguments["values"].sum(dtype=np.float64, keepdims=True)}


def _sum_tolerance(arguments: Arrays) -> float:
    """Bound the rounding error with a probability of 1 - 1e-7: 6 sqrt(h) eps/2 sum|x|.

    h is the longest chain of additions: a block's rounds and then one for each block (Higham and Mary, "A new approach
    to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019).
    """
    total = float(np.abs(arguments["values"].astype(np.float64)).sum())
    chain = np.log2(arguments["blockDim"][0]) + arguments["gridDim"][0]
    return float(6 * np.sqrt(chain) * np.finfo(np.float32).eps / 2 * total)


_summed = partial(
    Scenario,
    group="Sum",
    parameters=(count_parameter(4096), threads_parameter(128, choices=(32, 64, 128, 256, 512, 1024))),
    plan=_sum_plan,
    reference=_sum,
    tolerance=_sum_tolerance,
    roles={"values": "left", "total": "result"},
    flop=_operations,
    timed=tuple({"count": MILLION, "threads": threads} for threads in (128, 1024)),
    last=PhaseText("add up", "Thread 0 adds the block's sum to the total with an atomic addition."),
)

SUMS = (
    _summed(
        name="sum-interleaved",
        title="Sum, interleaved",
        lesson="The active threads are further and further apart: all warps stay busy with few threads each.",
        kernel="tilescope.kernels.reduction:interleaved",
        phases=(
            PhaseText(
                "round {step}", "Round 0 fills shared memory; each later one adds pairs twice as far apart."
            ),
        ),
        baselines=(Baseline("numpy", "NumPy", "tilescope.kernels.baselines:sum_numpy"),),
    ),
    _summed(
        name="sum-sequential",
        title="Sum, sequential",
        lesson="The active threads are adjacent: complete warps retire, and the banks stay free of "
        "conflicts.",
        kernel="tilescope.kernels.reduction:sequential",
        phases=(
            PhaseText(
                "round {step}", "Round 0 fills shared memory; each later one adds pairs half as far apart."
            ),
        ),
    ),
)

"""More matrix multiplications as lessons: slower variants, the terms of HSA, and the pitfalls."""

from __future__ import annotations

from functools import partial

import numpy as np
from msgspec.structs import replace

from .matmul_scenarios import MATMUL_TIMED, NUMPY, matmul, matmul_parameters, matmul_plan
from .scenario import WORK_ITEM_WORDS, Argument, Parameter, PhaseText, Plan, Values

STEP = (
    PhaseText(
        "load tile {step}",
        "Every thread copies one element of A and one of B from global memory into the shared tiles. "
        "The barrier waits until both tiles are full.",
    ),
    PhaseText(
        "compute tile {step}",
        "Every thread multiplies a row of one tile by a column of the other, reading only shared "
        "memory. The barrier keeps the tiles unchanged until all threads are done.",
    ),
)
STORE = PhaseText("store C", "Every thread stores its finished sum in its element of C.")
LARGE = 8192  # the largest size of the kernels that a published timing ran at 5120
PUBLISHED: Values = {"m": 5120, "k": 256, "n": 5120}
STEPS, SIZE = 16, 16  # of kernels/workitem.py


def ceil_div(length: int, part: int) -> int:
    """Divide and round up: the number of parts that cover a length."""
    return -(-length // part)


def _adding_plan(values: Values) -> Plan:
    plan = matmul_plan(values, rows_on_x=True)
    a, b, c = plan.arguments
    return replace(plan, arguments=(a, b, replace(c, fill="zeros")), constants={})


def dynamic_plan(values: Values) -> Plan:
    """Plan two tiles in dynamic shared memory, with their width as the last argument."""
    plan = matmul_plan(values)
    tile, dtype = int(values["tile"]), plan.arguments[2].dtype
    size = 2 * tile * tile * np.dtype(dtype).itemsize
    arguments = (*plan.arguments, Argument("tile", value=tile))
    return replace(plan, arguments=arguments, constants={"DTYPE": dtype}, shared_bytes=size)


def _by_gridsize_plan(values: Values) -> Plan:
    """Plan a grid that covers C, or the larger of the inputs in each direction."""
    plan = matmul_plan(values)
    if values["grid"] == "c":
        return plan
    (m, k), (_, n) = (argument.shape for argument in plan.arguments[:2])
    tile = plan.block[0]
    return replace(plan, grid=(ceil_div(max(k, n), tile), ceil_div(max(m, k), tile), 1))


def _early_return_plan(values: Values) -> Plan:
    """Plan a square grid, wide enough for the longest side."""
    plan = matmul_plan(values)
    (m, k), (_, n) = (argument.shape for argument in plan.arguments[:2])
    steps = ceil_div(max(m, k, n), plan.block[0])
    return replace(plan, grid=(steps, steps, 1))


def _workitem_plan(values: Values) -> Plan:
    plan = matmul_plan(values, rows_on_x=True)
    return replace(plan, constants={"DTYPE": plan.constants["DTYPE"]})


def _fixed_steps_plan(values: Values) -> Plan:
    return _workitem_plan({**values, "tile": SIZE})


VARIANTS = (
    matmul(
        name="matmul-add-into-global",
        title="Naive, adding into global memory",
        lesson="The sum is kept in C, so each of the K steps loads and stores it in global memory.",
        kernel="tilescope.kernels.matmul_variants:add_into_global",
        parameters=matmul_parameters(32, 32, 32, label="Block"),
        plan=_adding_plan,
        timed=({"m": 256, "k": 512, "n": 256, "tile": 32}, *MATMUL_TIMED),
    ),
    matmul(
        name="matmul-tiled-dynamic",
        title="Tiled, dynamic shared memory",
        lesson="The width of the tiles is known only at the launch: one shared array is cut in two, and the "
        "compiler can't unroll the loop.",
        kernel="tilescope.kernels.matmul_variants:tiled_dynamic",
        parameters=matmul_parameters(largest=LARGE),
        plan=dynamic_plan,
        phases=STEP,
        last=STORE,
        timed=(PUBLISHED, *MATMUL_TIMED),
    ),
    matmul(
        name="matmul-tiled-ceil",
        title="Tiled, steps by math.ceil",
        lesson="range(math.ceil(k / tile)) counts the tiles in float64; the last one may reach past the edge.",
        kernel="tilescope.kernels.rounding:tiled_by_ceil",
        parameters=matmul_parameters(60, 50, 60),
        plan=dynamic_plan,
        phases=STEP,
        last=STORE,
        timed=({},),
    ),
)

WORK_ITEMS = (
    matmul(
        name="workitem-naive",
        title="Naive, in work-item words",
        lesson="HSA and OpenCL say work-item and work-group where CUDA says thread and block, and mean the same.",
        group="Work-items (HSA, OpenCL)",
        kernel="tilescope.kernels.workitem:naive",
        parameters=matmul_parameters(32, 32, 32, label="Group"),
        plan=_workitem_plan,
        words=WORK_ITEM_WORDS,
        timed=({"m": 256, "k": 256, "n": 256},),
        baselines=(NUMPY,),
    ),
)

_pitfall = partial(matmul, group="Pitfalls", phases=STEP, last=STORE)

PITFALLS = (
    _pitfall(
        name="matmul-tiled-by-gridsize",
        title="Tiled, steps from the grid",
        lesson="The number of tiles along K is taken from the width of the grid, which is made for C.",
        pitfall="On a grid made only for C, a K larger than N loses its last tiles.",
        kernel="tilescope.kernels.matmul_pitfalls:tiled_by_gridsize",
        parameters=(
            *matmul_parameters(32, 80, 32),
            Parameter("grid", "Grid for", "c", choices=("c", "inputs")),
        ),
        plan=_by_gridsize_plan,
        works=({"grid": "inputs"}, {"m": 4, "k": 4, "n": 4}, {"m": 5, "k": 23, "n": 7, "grid": "inputs"}),
        breaks=({}, {"m": 5, "k": 23, "n": 7}),
        timed=(
            {"m": 4, "k": 4, "n": 4, "dtype": "float64", "input": "arange-ones"},
            {"m": 5, "k": 23, "n": 7, "grid": "inputs", "dtype": "float64", "input": "arange-ones"},
            {"m": 256, "k": 512, "n": 256, "grid": "inputs"},
            {"m": 1024, "k": 1024, "n": 1024},
        ),
    ),
    _pitfall(
        name="matmul-tiled-row-on-x",
        title="Tiled, older form",
        lesson="The tiles are indexed [tx, ty] with the row on x: a warp's elements are far apart.",
        pitfall="Only complete tiles of K are added, and a thread returns only if it is outside in both directions.",
        kernel="tilescope.kernels.matmul_pitfalls:tiled_row_on_x",
        parameters=matmul_parameters(32, 40, 32),
        plan=partial(matmul_plan, rows_on_x=True),
        works=({"k": 48}, {"m": 32, "k": 48, "n": 16, "dtype": "float64", "input": "threes-fours"}),
        breaks=({}, {"k": 8}, {"m": 24, "k": 48}),
        timed=(
            {"m": 32, "k": 48, "n": 16, "dtype": "float64", "input": "threes-fours"},
            {"m": 256, "k": 512, "n": 256},
            {"m": 1024, "k": 1024, "n": 1024},
        ),
    ),
    _pitfall(
        name="matmul-tiled-early-return",
        title="Tiled, early return",
        lesson="Threads outside C return and those past the end of K skip a step, both before barriers at which "
        "the others wait.",
        pitfall="Cells of the tiles stay empty or old unless M, K and N are multiples of the tile.",
        kernel="tilescope.kernels.matmul_pitfalls:tiled_early_return",
        parameters=matmul_parameters(40, 48, 32),
        plan=_early_return_plan,
        works=({"m": 32}, {"m": 16, "k": 32, "n": 16}),
        breaks=({}, {"m": 32, "k": 40}),
        timed=(
            {"m": 256, "k": 512, "n": 256, "tile": 32},
            {"m": 256, "k": 512, "n": 256},
            {"m": 1024, "k": 1024, "n": 1024},
        ),
    ),
    _pitfall(
        name="matmul-tiled-one-barrier",
        title="Tiled, a barrier too few",
        lesson="The barrier after the products is missing, so a warp that is ahead refills the tiles while "
        "another one still reads them.",
        pitfall="The result depends on the order of the warps: run it with another schedule.",
        kernel="tilescope.kernels.matmul_pitfalls:tiled_one_barrier",
        parameters=matmul_parameters(),
        plan=matmul_plan,
        phases=(
            PhaseText(
                "load tile {step}",
                "A thread that is done with the last tile fills its cells of the next one at once. The barrier waits "
                "until both tiles are full, but not until all have read the last ones.",
            ),
        ),
        last=PhaseText(
            "compute, store C",
            "Every thread adds the products of the last tile, and stores its sum in its element of C.",
        ),
        works=({"k": 16},),
        timed=({},),
    ),
    _pitfall(
        name="workitem-tiled",
        title="Tiled, in work-item words",
        lesson="The barrier of a work-group and its local memory are those of a block; the loop always makes "
        "16 steps of 16.",
        pitfall="There are no bounds checks, so only K = 256 and multiples of 16 give correct results.",
        kernel="tilescope.kernels.workitem:tiled",
        parameters=tuple(
            replace(p, step=SIZE if p.step == "tile" else p.step)
            for p in matmul_parameters(32, 320, 32)
            if p.name != "tile"
        ),
        plan=_fixed_steps_plan,
        words=WORK_ITEM_WORDS,
        works=({"k": 256}, {"m": 16, "k": 256, "n": 48}),
        breaks=({}, {"k": 200}, {"m": 24, "k": 256}),
        timed=({"m": 256, "k": 256, "n": 256},),
    ),
)

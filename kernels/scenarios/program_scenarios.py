"""Matrix multiplication outside Numba as lessons: CUDA C, and CUDA's model in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from .matmul_scenarios import MATMUL_TIMED, matmul, matmul_plan, matmul_sizes
from .matmul_variant_scenarios import LARGE, PUBLISHED, STEP, STORE, dynamic_plan
from .scenario import Argument, Arrays, CudaC, PhaseText, Plan, Scenario, Values

FOLDER = "tilescope.kernels.cuda_c"  # of the files in CUDA C


def _in_cuda_c(*, cuda_c: CudaC, **options: Any) -> Scenario:
    """Make the scenario of a kernel in CUDA C with its Numba twin, which has the other options."""
    twin = matmul(cuda_c=cuda_c, **options)
    kernel = f"{FOLDER}.{cuda_c.file}:{cuda_c.function.partition('<')[0]}"
    return replace(twin, kernel=kernel, plan=partial(_cuda_c_plan, twin.plan, cuda_c), twin=twin)


def _cuda_c_plan(plan_of_twin: Callable[[Values], Plan], cuda_c: CudaC, values: Values) -> Plan:
    """Plan a kernel in CUDA C: the arrays of its twin, and then numbers."""
    plan = plan_of_twin(values)
    arrays = tuple(argument for argument in plan.arguments if argument.value is None)
    numbers = tuple(Argument(name, value=int(values[name])) for name in cuda_c.numbers)
    return replace(
        plan,
        arguments=arrays + numbers,
        constants={name: values[parameter] for name, parameter in cuda_c.constants.items()},
        shared_bytes=plan.shared_bytes if cuda_c.dynamic else 0,
    )


_cuda_c = partial(
    _in_cuda_c,
    group="CUDA C",
    kernel="tilescope.kernels.matmul_variants:tiled_dynamic",
    parameters=matmul_sizes(largest=LARGE),
    plan=dynamic_plan,
    phases=STEP,
    last=STORE,
    timed=(PUBLISHED, *MATMUL_TIMED),
)

CUDA_C = (
    _cuda_c(
        name="cuda-c-naive",
        title="CUDA C, naive",
        lesson="The same kernel in CUDA C: another compiler's code, the same accesses.",
        cuda_c=CudaC("matmul_naive.cu", "matmul_naive"),
        kernel="tilescope.kernels.matmul:naive_col_on_x",
        plan=matmul_plan,
        parameters=matmul_sizes(label="Block", largest=LARGE),
        phases=(PhaseText("one phase: no barrier", "Every thread adds up its products and stores the sum."),),
        last=None,
    ),
    _cuda_c(
        name="cuda-c-tiled-dynamic",
        title="CUDA C, tiled, width at run time",
        lesson="If the width of the tiles is an argument, the inner loop can't be unrolled, which can cost more "
        "than the tiles gain.",
        cuda_c=CudaC("matmul_tiled_dynamic.cu", "matmul_tiled_dynamic", ("m", "k", "n", "tile"), True),
    ),
    _cuda_c(
        name="cuda-c-tiled-static",
        title="CUDA C, tiled, static",
        lesson="If the width of the tiles is a constant, the compiler unrolls the inner loop and reads in wide "
        "pieces.",
        cuda_c=CudaC("matmul_tiled_static.cu", "matmul_tiled_static", constants={"TILE": "tile"}),
    ),
    _cuda_c(
        name="cuda-c-tiled-template",
        title="CUDA C, tiled, width a template",
        lesson="Dynamic shared memory costs nothing by itself: if the width is a template parameter, it is as "
        "fast as static.",
        cuda_c=CudaC(
            "matmul_tiled_template.cu",
            "matmul_tiled_template<{tile}>",
            dynamic=True,
            constants={"tile": "tile"},
        ),
    ),
)


def _program_plan(values: Values, *, threads: bool = False) -> Plan:
    """Plan a program: the blocks that it runs, and one thread, or as many as it starts."""
    plan = matmul_plan(values)
    a, b, c = plan.arguments
    arguments = (a, b, replace(c, fill="zeros"), Argument("tile", value=int(values["tile"])))
    return replace(plan, arguments=arguments, block=plan.block if threads else (1, 1, 1), constants={})


_python = partial(
    matmul,
    group="Plain Python",
    engine="python",
    parameters=matmul_sizes(4, 256, 4),
    plan=_program_plan,
    phases=(
        PhaseText(
            "fill tile {step}", "One thread's part after the other, the two tiles of the block are filled."
        ),
        PhaseText("use tile {step}", "Now that the tiles are full, every thread's products are added to C."),
    ),
    timed=({},),
)

PYTHON = (
    _python(
        name="python-loops",
        title="Python, a launch as loops",
        lesson="A launch means four loops: over the blocks of the grid and the threads of each block, in any "
        "order.",
        kernel="tilescope.kernels.emulation:matmul_loops",
        phases=(PhaseText("all threads in turn", "The threads of the block run one after the other."),),
        baselines=(),
    ),
    _python(
        name="python-block-at-a-time",
        title="Python, a block at a time",
        lesson="Shared memory needs phases: first every thread fills its cells of the tiles, then every thread "
        "uses them.",
        kernel="tilescope.kernels.emulation:matmul_block_at_a_time",
    ),
    _python(
        name="python-run-threads",
        title="Python, run_threads",
        lesson="Without the loop over the threads, the rest of each phase is the code of a kernel.",
        kernel="tilescope.kernels.emulation:matmul_run_threads",
    ),
    _python(
        name="python-threads",
        title="Python, threads and a barrier",
        lesson="With a Python thread for each thread, the phases have no loop any more: a barrier must separate them.",
        kernel="tilescope.kernels.emulation:matmul_python_threads",
        plan=partial(_program_plan, threads=True),
        phases=STEP,
        last=STORE,
    ),
)

PHASES = (
    PhaseText("1 2 3", "Each thread stores its number, in any order."),
    PhaseText("-1 -2 -3", "All have stored their number before any thread stores its negative."),
    PhaseText("10 20 30", "All have stored the negative before any thread stores ten times its number."),
)


def _three_threads(values: Values) -> Plan:
    return Plan((Argument("said", (3, 3), "int32", "empty"),), (1, 1, 1), (3, 1, 1), {})


def _three_rows(arguments: Arrays) -> dict[str, NDArray[Any]]:
    return {"said": np.outer([1, -1, 10], [1, 2, 3]).astype(np.int32)}


def zero_tolerance(arguments: Arrays) -> float:
    """Return 0: nothing is rounded."""
    return 0.0


_barrier = partial(
    Scenario,
    parameters=(),
    plan=_three_threads,
    reference=_three_rows,
    tolerance=zero_tolerance,
    roles={"said": "result"},
    phases=PHASES,
)

BARRIERS = (
    _barrier(
        name="barrier-three-threads",
        title="Three threads, two barriers",
        lesson="Within a phase the order of the threads is free, across a barrier it is not.",
        group="Barriers",
        kernel="tilescope.kernels.barrier:three_phases",
    ),
    _barrier(
        name="python-barrier",
        title="Python, three threads and a barrier",
        lesson="A barrier of Python threads works like one of a block: no thread passes it before all have "
        "arrived.",
        group="Plain Python",
        kernel="tilescope.kernels.emulation:three_threads",
        engine="python",
    ),
)

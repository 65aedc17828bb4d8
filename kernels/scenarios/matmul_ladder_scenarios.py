"""The upper rungs of the ladder from the naive matrix product to NVIDIA's library, as lessons."""

from __future__ import annotations

from functools import partial

from .matmul_scenarios import INPUTS, LARGEST, matmul
from .scenario import CUBLAS, Argument, Baseline, CatalogueError, Parameter, PhaseText, Plan, Values

DEPTH = 8  # columns of A and rows of B in shared memory at once
WARP = (8, 4)  # lanes of a warp along x and y
PADDING = 4  # unused elements of a row of the transposed tile of A
MOST_THREADS = 1024  # of a block

LOAD = PhaseText(
    "load tile {step}",
    "The block copies a tile of A and one of B from global memory into shared memory. The barrier waits until both "
    "are full.",
)
COMPUTE_COLUMN = PhaseText(
    "compute tile {step}",
    "Every thread multiplies each element of its column of B's tile by one element of each of its rows of A's tile: "
    "it reads the element of B once for all of its results.",
)
COMPUTE_SQUARE = PhaseText(
    "compute tile {step}",
    "Every thread takes a piece of a column of A's tile and a piece of a row of B's tile into registers and adds all "
    "products of the two to its square of results.",
)
STORE = PhaseText("store C", "Every thread stores its finished results in its patch of C.")
BUFFERED = PhaseText(
    "load tile {step}",
    "The next tiles are on their way from global memory into registers while the products of those in shared memory "
    "are added; then they are stored in the buffer that no thread reads, and one barrier waits for all threads.",
)
BUFFERED_LAST = PhaseText(
    "compute, store C",
    "Every thread adds the products of the last tiles, and stores its finished results in its patch of C.",
)


def ladder_parameters(tile: int, side: int) -> tuple[Parameter, ...]:
    """Return the parameters of a rung, with these defaults of tile and results a thread."""
    return (
        Parameter("m", "M", 64, 1, LARGEST, step="tile"),
        Parameter("k", "K", 32, 1, LARGEST, step=DEPTH),
        Parameter("n", "N", 64, 1, LARGEST, step="tile"),
        Parameter("tile", "Tile", tile, choices=(16, 32, 64, 128)),
        Parameter("side", "Results", side, choices=(2, 4, 8)),
        Parameter("input", "Input", "random", choices=tuple(INPUTS)),
    )


def _plan(values: Values, depth: int, block: tuple[int, int, int], **constants: int) -> Plan:
    """Plan a rung whose blocks compute tile x tile elements of C; raises CatalogueError."""
    m, k, n, tile = (int(values[name]) for name in ("m", "k", "n", "tile"))
    if m % tile or n % tile or k % depth:
        raise CatalogueError(
            f"This kernel has no bounds checks: M and N must be multiples of {tile}, K a multiple of {depth}, "
            f"not {m}, {n} and {k}."
        )
    fill_a, fill_b = INPUTS[str(values["input"])]
    arguments = Argument("a", (m, k), fill=fill_a), Argument("b", (k, n), fill=fill_b)
    constants = {"TILE": tile, "DEPTH": depth, "SIDE": int(values["side"]), **constants}
    return Plan(
        (*arguments, Argument("c", (m, n), fill="empty")), (n // tile, m // tile, 1), block, constants
    )


def column_plan(values: Values) -> Plan:
    """Plan threads that each load an element of each tile and compute `side` rows of a column of C."""
    tile, side = int(values["tile"]), int(values["side"])
    if tile * (tile // side) > MOST_THREADS:
        raise _shape_error(
            tile,
            f"{side} results",
            f"{tile * (tile // side):,} threads, and a block has at most {MOST_THREADS:,}",
        )
    return _plan(values, tile // side, (tile, tile // side, 1))


def square_plan(values: Values) -> Plan:
    """Plan threads that each compute side x side adjacent elements of C."""
    tile, side, loads = _square(values)
    return _plan(values, DEPTH, (tile // side, tile // side, 1), LOADS=loads)


def warps_plan(values: Values) -> Plan:
    """Plan warps of 4 rows of 8 threads, each of which computes side x side elements of C."""
    tile, side, loads = _square(values)
    if tile < WARP[0] * side:
        raise _shape_error(
            tile, f"{side} x {side} results", f"{tile // side} threads in a row, and a warp has {WARP[0]}"
        )
    warps = (tile // side) ** 2 // (WARP[0] * WARP[1])
    return _plan(values, DEPTH, (*WARP, warps), LOADS=loads, PITCH=tile + PADDING)


def _square(values: Values) -> tuple[int, int, int]:
    """Return tile, side, and the elements of each tile that a thread loads; raises CatalogueError."""
    tile, side = int(values["tile"]), int(values["side"])
    threads, elements = (tile // side) ** 2, tile * DEPTH
    if threads > min(elements, MOST_THREADS):
        limit = min(elements, MOST_THREADS)
        raise _shape_error(
            tile, f"{side} x {side} results", f"{threads:,} threads, and at most {limit:,} can load its tiles"
        )
    if threads < tile:
        raise _shape_error(
            tile, f"{side} x {side} results", f"{threads} threads, fewer than a row of B's tile has elements"
        )
    return tile, side, elements // threads


def _shape_error(tile: int, results: str, reason: str) -> CatalogueError:
    """Build the error for a bad combination of tile and results a thread."""
    return CatalogueError(
        f"A tile of {tile} with {results} a thread makes {reason}; choose another tile or number of results."
    )


_rung = partial(matmul, phases=(LOAD, COMPUTE_SQUARE), last=STORE)


def _timed(tile: int, side: int) -> tuple[Values, ...]:
    """Return the measured parameters of a rung: sizes that fill a GPU, in the fastest shape."""
    return tuple({"m": n, "k": n, "n": n, "tile": tile, "side": side} for n in (256, 512, 1024, 2048, 4096))


LADDER = (
    _rung(
        name="matmul-column",
        title="A column of results a thread",
        lesson="A thread computes several elements of a column of C, so that one element of B's tile, once read, "
        "serves them all.",
        kernel="tilescope.kernels.matmul_ladder:column_of_results",
        parameters=ladder_parameters(32, 4),
        plan=column_plan,
        phases=(LOAD, COMPUTE_COLUMN),
        timed=_timed(64, 8),
    ),
    _rung(
        name="matmul-square",
        title="A square of results a thread",
        lesson="A thread computes a square of C, so that each element it reads from A's tile, too, serves a whole row "
        "of its results.",
        kernel="tilescope.kernels.matmul_ladder:square_of_results",
        parameters=ladder_parameters(32, 4),
        plan=square_plan,
        timed=_timed(128, 8),
    ),
    _rung(
        name="matmul-wide",
        title="Wide loads without conflicts",
        lesson="A's tile is transposed and a thread's square split in four, so that the lanes of a warp read "
        "adjacent elements, several at once and each bank once.",
        kernel="tilescope.kernels.matmul_ladder:wide_loads",
        parameters=ladder_parameters(32, 4),
        plan=warps_plan,
        timed=_timed(128, 8),
    ),
    _rung(
        name="matmul-two-buffers",
        title="Two buffers, prefetched",
        lesson="The next tiles are fetched into a second buffer while these are multiplied: one barrier less per tile, "
        "and no thread waits for global memory.",
        kernel="tilescope.kernels.matmul_ladder:two_buffers",
        parameters=ladder_parameters(32, 4),
        plan=warps_plan,
        baselines=(Baseline(CUBLAS, "cuBLAS", "cublasSgemm_v2"),),
        phases=(BUFFERED,),
        last=BUFFERED_LAST,
        timed=_timed(128, 8),
    ),
)  # fmt: skip

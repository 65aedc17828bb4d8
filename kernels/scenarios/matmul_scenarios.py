"""The matrix multiplications as lessons: C = A B, where A is M x K, B is K x N and C is M x N."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from .npy_file import npy_header
from .scenario import (
    Argument,
    Arrays,
    Baseline,
    CatalogueError,
    Parameter,
    PhaseText,
    Plan,
    Scenario,
    Values,
)
from .suggestions import joined_words

LARGEST = 4096
TILES = (2, 4, 8, 16, 32)
MOST_PADDING = 8
FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SAME = "same"  # B has the type of A


# The values of `input`: how A and B are filled.
INPUTS = {
    "random": ("random", "random"),
    "ones": ("ones", "ones"),
    "arange": ("arange", "arange"),
    "arange-ones": ("arange", "ones"),
    "twos-threes": ("twos", "threes"),
    "threes-fours": ("threes", "fours"),
}


def matmul_sizes(
    m: int = 64, k: int = 64, n: int = 64, *, tile: int = 16, label: str = "Tile", largest: int = LARGEST
) -> tuple[Parameter, ...]:
    """Return the parameters of size and input, with these defaults; `tile` gets the label `label`."""
    return (
        Parameter("m", "M", m, 1, largest, step="tile"),
        Parameter("k", "K", k, 1, largest, step="tile"),
        Parameter("n", "N", n, 1, largest, step="tile"),
        Parameter("tile", label, tile, choices=TILES),
        Parameter("input", "Input", "random", choices=tuple(INPUTS)),
    )


def matmul_parameters(
    m: int = 64, k: int = 64, n: int = 64, *, tile: int = 16, label: str = "Tile", largest: int = LARGEST
) -> tuple[Parameter, ...]:
    """Return all parameters: those of `matmul_sizes`, the element types of A and B, and files for them."""
    *sizes, fill = matmul_sizes(m, k, n, tile=tile, label=label, largest=largest)
    return (
        *sizes,
        Parameter("dtype", "Type", "float32", choices=FLOATS + INTEGERS),
        Parameter("dtype_b", "Type of B", SAME, choices=(SAME, *FLOATS, *INTEGERS), seldom=True),
        fill,
        Parameter("a", "A from file", "", file=True),
        Parameter("b", "B from file", "", file=True),
    )


def padding_parameter(*, seldom: bool = False) -> Parameter:
    """Return the parameter for the unused elements of a row of a shared tile."""
    return Parameter("padding", "Padding", 0, 0, MOST_PADDING, seldom=seldom)


def matrix_file(path: str) -> tuple[tuple[int, int], str]:
    """Return shape and dtype of the matrix in a `.npy` file, without reading its elements.

    Raises CatalogueError for a file that is missing or damaged, or does not contain a matrix of 1 to 4096 rows and
    columns in one of the kernels' types.
    """
    shape, dtype = npy_header(path)
    if len(shape) != 2:
        raise CatalogueError(f"{path} holds an array of {len(shape)} dimensions; a matrix has 2.")
    if not all(1 <= length <= LARGEST for length in shape):
        raise CatalogueError(f"{path} is {shape[0]} x {shape[1]}; rows and columns may be 1 to {LARGEST}.")
    if dtype not in [np.dtype(name) for name in FLOATS + INTEGERS]:
        types = joined_words([*FLOATS, *INTEGERS], "and")
        raise CatalogueError(f"{path} holds elements of type {dtype.str!r}; the kernels take {types}.")
    return (shape[0], shape[1]), dtype.name


def _arguments(values: Values) -> tuple[Argument, Argument, Argument]:
    """Return a, b and c; sizes and types follow the files, if any. C has the type that NumPy gives."""
    m, k, n = int(values["m"]), int(values["k"]), int(values["n"])
    path_a, path_b = str(values.get("a", "")), str(values.get("b", ""))
    fill_a, fill_b = INPUTS[str(values["input"])]
    file_type_a = file_type_b = ""
    if path_b:
        (k, n), file_type_b = matrix_file(path_b)
    if path_a:
        (m, columns), file_type_a = matrix_file(path_a)
        if path_b:
            _check_match(path_a, path_b, columns, k)
        k = columns
    dtype_a, dtype_b = _types(values, file_type_a, file_type_b)
    a = Argument("a", (m, k), dtype_a, "file" if path_a else fill_a, path_a)
    b = Argument("b", (k, n), dtype_b, "file" if path_b else fill_b, path_b)
    return a, b, Argument("c", (m, n), np.result_type(dtype_a, dtype_b).name, "empty")


def _types(values: Values, file_type_a: str, file_type_b: str) -> tuple[str, str]:
    """Return the types of A and B: those in the files ("" for none), else the chosen ones."""
    dtype, dtype_b = str(values.get("dtype", "float32")), str(values.get("dtype_b", SAME))
    if dtype_b == SAME:
        return file_type_a or file_type_b or dtype, file_type_b or file_type_a or dtype
    return file_type_a or dtype, file_type_b or dtype_b


def _check_match(path_a: str, path_b: str, columns: int, rows: int) -> None:
    if columns != rows:
        counts = f"{path_a} has {columns} columns and {path_b} has {rows} rows"
        raise CatalogueError(f"{counts}; a product needs equal numbers.")


def matmul_plan(values: Values, *, rows_on_x: bool = False) -> Plan:
    """Plan one thread for each element of C, in blocks of tile x tile."""
    a, b, c = _arguments(values)
    tile = int(values["tile"])
    rows, columns = (-(-length // tile) for length in c.shape)
    grid = (rows, columns, 1) if rows_on_x else (columns, rows, 1)
    return Plan((a, b, c), grid, (tile, tile, 1), {"TILE": tile, "DTYPE": c.dtype})


def _tiled_plan(values: Values) -> Plan:
    """Plan shared tiles whose rows have `tile` elements and `padding` more."""
    plan = matmul_plan(values)
    pitch = int(values["tile"]) + int(values["padding"])
    return replace(plan, constants={**plan.constants, "PITCH": pitch})


def product(arguments: Arrays) -> dict[str, NDArray[Any]]:
    """Compute C = A B: floats in float64, integers wrapped around to the type of C as on the device."""
    a, b = arguments["a"], arguments["b"]
    dtype = np.result_type(a, b)
    if dtype.kind == "f":
        return {"c": a.astype(np.float64) @ b.astype(np.float64)}
    # NumPy multiplies integer matrices far slower than floats, which are exact up to 2**53.
    largest_a, largest_b = (float(np.abs(matrix.astype(np.float64)).max()) for matrix in (a, b))
    wide = np.float64 if a.shape[1] * largest_a * largest_b < 2**53 else np.int64
    return {"c": (a.astype(wide) @ b.astype(wide)).astype(np.int64).astype(dtype)}


def product_tolerance(arguments: Arrays) -> float:
    """Compute the largest error that rounding explains in any element of C; 0 for integers.

    A sum of K products is off by at most K eps/2 |a|.|b|, in any order, with or without fused multiply-add
    (Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic", SIAM J.
    Matrix Anal. Appl. 34, 2013), and |a|.|b| is at most the product of the lengths of row and column. Twice
    that leaves room for the rounding of the reference itself.
    """
    a, b = arguments["a"], arguments["b"]
    dtype = np.result_type(a, b)
    if dtype.kind != "f":
        return 0.0
    row = float(np.linalg.norm(np.nan_to_num(a.astype(np.float64)), axis=1).max())
    column = float(np.linalg.norm(np.nan_to_num(b.astype(np.float64)), axis=0).max())
    precision, terms = np.finfo(dtype), int(a.shape[1])
    return terms * (float(precision.eps) * row * column + float(precision.smallest_subnormal))


def matmul_flop(plan: Plan) -> int:
    """Compute 2 M K N: a multiplication and an addition for each product."""
    a, b = plan.arguments[:2]
    return 2 * a.shape[0] * a.shape[1] * b.shape[1]


# 4 x 256 x 4 is the size of the plain Python programs, 256 x 512 x 256 that of the published timings.
MATMUL_TIMED: tuple[Values, ...] = (
    {"m": 4, "k": 256, "n": 4},
    {"m": 256, "k": 512, "n": 256},
    *({"m": n, "k": n, "n": n} for n in (64, 128, 256, 512, 1024, 2048, 4096)),
    *({"m": 1024, "k": 1024, "n": 1024, "tile": tile} for tile in (8, 32)),
)
SMALL_TILES: tuple[Values, ...] = tuple({"m": 1024, "k": 1024, "n": 1024, "tile": tile} for tile in (2, 4))
OTHER_TYPES: tuple[Values, ...] = (
    {"m": 4, "k": 4, "n": 4, "tile": 2, "dtype": "int64", "dtype_b": "float64", "input": "arange-ones"},
    {"m": 24, "k": 12, "n": 22, "dtype": "float64", "input": "threes-fours"},
    {"m": 512, "k": 512, "n": 512, "dtype": "float64"},
)
NUMPY = Baseline("numpy", "NumPy", "tilescope.kernels.baselines:matmul_numpy")

matmul = partial(
    Scenario,
    group="Matrix product",
    parameters=matmul_parameters(label="Block"),
    plan=matmul_plan,
    reference=product,
    tolerance=product_tolerance,
    roles={"a": "left", "b": "above", "c": "result"},
    phases=(
        PhaseText(
            "one phase: no barrier",
            "Every thread walks along its row of A and down its column of B in global memory, then stores "
            "its sum in C. There is no barrier: no warp waits for another.",
        ),
    ),
    resident=1,
    timed=(*MATMUL_TIMED, *SMALL_TILES, *OTHER_TYPES),
    flop=matmul_flop,
)

MATMULS = (
    matmul(
        name="matmul-naive-row-on-x",
        title="Naive, row on x",
        lesson="Neighbouring threads take neighbouring rows, so a warp reads down a column of A, where each "
        "row costs a separate sector.",
        kernel="tilescope.kernels.matmul:naive_row_on_x",
        plan=partial(matmul_plan, rows_on_x=True),
    ),
    matmul(
        name="matmul-naive-col-on-x",
        title="Naive, column on x",
        lesson="Neighbouring threads take neighbouring columns, so a warp reads along a row of B: the same "
        "sums from far fewer sectors.",
        kernel="tilescope.kernels.matmul:naive_col_on_x",
        baselines=(NUMPY,),
    ),
    matmul(
        name="matmul-tiled",
        title="Tiled, shared memory",
        lesson="A block fetches a tile of A and of B once and shares it, so each element leaves global "
        "memory far less often.",
        kernel="tilescope.kernels.matmul:tiled",
        parameters=(*matmul_parameters(), padding_parameter(seldom=True)),
        plan=_tiled_plan,
        timed=(*MATMUL_TIMED, *SMALL_TILES, *OTHER_TYPES, {"m": 4096, "k": 4096, "n": 4096, "tile": 32}),
        phases=(
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
        ),
        last=PhaseText(
            "store C",
            "Every thread stores its finished sum in its element of C, the only time it writes there.",
        ),
    ),
)

"""The words of CUDA C++ in the task and the hints of an exercise, which are written for Numba."""

from __future__ import annotations

import re
from collections.abc import Sequence

FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]+`")
TYPES = {"int32": "int", "float32": "float", "float64": "double", "uint8": "unsigned char"}
_TYPE = "|".join(TYPES)
# Patterns of the text with its code, in order.
SENTENCES = (
    (rf", with\s+`(?:{_TYPE})`\s+imported\s+from\s+numba,?", ""),
    (rf"\s+\(import\s+`(?:{_TYPE})`\s+from\s+numba\)", ""),
    (r"Python's\s+`range\(start, stop, step\)`", "`for (int j = start; j < stop; j += step)`"),
    (r"`(\w+)\.shape` is `\((\w+), (\w+)\)`", r"`\1` has `\2` rows and `\3` columns"),
    (r"`(\w+), (\w+) = cuda\.grid\(2\)`", r"`\1` for x and `\2` for y"),
    (r"`cuda\.grid\(2\)`", "the grid"),
    (r"`(\w+)\.shape`", r"the shape of `\1`"),
)
# Patterns of code.
PHRASES = (
    (rf"(\w+) = cuda\.shared\.array\(\((\w+), (\w+)\), ({_TYPE})\)", r"__shared__ \4 \1[\2][\3]"),
    (rf"(\w+) = cuda\.shared\.array\((\w+), ({_TYPE})\)", r"__shared__ \3 \1[\2]"),
    (rf"cuda\.shared\.array\(\((\w+), (\w+)\), ({_TYPE})\)", r"__shared__ \3 tile[\1][\2]"),
    (rf"cuda\.shared\.array\((\w+), ({_TYPE})\)", r"__shared__ \2 tile[\1]"),
    (r"cuda\.atomic\.add\((\w+), 0, (.+)\)", r"atomicAdd(\1, \2)"),
    (r"cuda\.atomic\.add\((\w+), ([^,]+), (.+)\)", r"atomicAdd(&\1[\2], \3)"),
    (r"cuda\.gridsize\(1\)", "gridDim.x * blockDim.x"),
    (r"cuda\.grid\(1\)", "blockIdx.x * blockDim.x + threadIdx.x"),
    (r"cuda\.(syncthreads|syncwarp|shfl_\w+|ballot_sync)\(", r"__\1("),
    (r"cuda\.", ""),
    (r"(if|while) ([^:`]+):", r"\1 (\2)"),
    (r" //(=?) ", r" /\1 "),
)


def in_cuda_cpp(text: str, parameters: Sequence[str]) -> str:
    """Return the Markdown of an exercise with the names that CUDA C++ has.

    parameters: of the stub in CUDA C++; lengths of arrays are among them.
    """
    rows, cols = ("rows", "cols") if "rows" in parameters else ("n", "n")
    lengths = ((r"\w+\.shape\[0\]", rows), (r"\w+\.shape\[1\]", cols), *_elements(parameters, cols))
    parts = FENCE.split(text)
    parts[::2] = [_translated(part, lengths) for part in parts[::2]]
    return "".join(parts)


def _elements(parameters: Sequence[str], cols: str) -> Sequence[tuple[str, str]]:
    """Return the pattern of an element of a two-dimensional array, which C++ gets as one row after the other."""
    names = "|".join(map(re.escape, parameters))
    orders = (("row", "col", cols), ("col", "row", "rows"))
    return [(rf"\b({names})\[{i}, {j}\]", rf"\1[{i} * {step} + {j}]") for i, j, step in orders if names]


def _translated(text: str, lengths: Sequence[tuple[str, str]]) -> str:
    for pattern, words in SENTENCES:
        text = re.sub(pattern, words, text)
    return CODE.sub(lambda span: _code(span[0], lengths), text)


def _code(code: str, lengths: Sequence[tuple[str, str]]) -> str:
    for pattern, words in (*PHRASES, *lengths):
        code = re.sub(pattern, words, code)
    if code.strip("`") in TYPES:
        return f"`{TYPES[code.strip('`')]}`"
    return re.sub(rf"__shared__ ({_TYPE})", lambda match: f"__shared__ {TYPES[match[1]]}", code)

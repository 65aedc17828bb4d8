"""Kernels whose threadIdx.x and threadIdx.y count along the wrong axes of its arrays.

Neighbouring lanes differ in threadIdx.x, and neighbouring elements in the last index of an array in C order
(CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"). `row, col = cuda.grid(2)` makes x the first one.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...analysis.kernel_structure import kernel_file
from ...analysis.requests import Requests
from ...model.array_types import Ints, Mask
from ...model.syntax_tree import syntax_tree
from ...model.trace import Buffer, Trace
from ..source.index_expressions import last_name
from .site_costs import rows_of

NEARLY_ALL = 0.75  # share of neighbours with the same step; some wrap at an edge


class Steps(NamedTuple):
    """Distances, in elements, between the accesses of two threads that are neighbours along x, and along y."""

    along_x: int
    along_y: int

    @property
    def is_swapped(self) -> bool:
        """Whether swapping x and y would make lanes touch neighbours or one element, which they do not now."""
        return abs(self.along_x) > 1 >= abs(self.along_y)

    @property
    def is_right(self) -> bool:
        """Whether lanes touch neighbours or one element, and would not if x and y were swapped."""
        return abs(self.along_x) <= 1 < abs(self.along_y)


def steps_of(trace: Trace, requests: Requests, wanted: Mask) -> dict[tuple[int, int], Steps]:
    """Compute the steps of each (site, buffer) of the wanted requests, in blocks of two dimensions."""
    if trace.block_dim[0] < 2 or trace.block_dim[1] < 2:
        return {}
    chosen = np.flatnonzero(wanted)
    keys = requests.site[chosen] * len(trace.buffers) + requests.buffer[chosen]
    steps_by_key = {}
    for key in np.unique(keys):
        requests_there = chosen[keys == key]
        requests_there = requests_there[requests.block[requests_there] == requests.block[requests_there[0]]]
        steps = _steps(
            trace, requests, requests_there[np.unique(requests.warp[requests_there], return_index=True)[1]]
        )
        if steps is not None:
            steps_by_key[divmod(int(key), len(trace.buffers))] = steps
    return steps_by_key


def are_swapped(steps: dict[tuple[int, int], Steps]) -> bool:
    """Return True if some sites gain by swapping x and y and none loses; in a transpose one loses."""
    return any(pair.is_swapped for pair in steps.values()) and not any(
        pair.is_right for pair in steps.values()
    )


def _steps(trace: Trace, requests: Requests, first: Ints) -> Steps | None:
    """Compute the steps between the elements that threads touch in the first request of each warp of a block."""
    rows = np.concatenate([rows_of(requests, request) for request in first.tolist()])
    index: Ints = np.full(trace.threads, -1, np.int64)
    index[trace.thread[rows]] = trace.index[rows]
    cube = index.reshape(trace.block_dim[::-1])
    along_x, along_y = _step(cube, 2), _step(cube, 1)
    return None if along_x is None or along_y is None else Steps(along_x, along_y)


def _step(cube: Ints, axis: int) -> int | None:
    """Compute the most frequent difference of neighbours along an axis; None if it is not nearly the only one."""
    lines = np.moveaxis(cube, axis, 0)
    is_used = (lines[1:] >= 0) & (lines[:-1] >= 0)
    steps, count = np.unique((lines[1:] - lines[:-1])[is_used], return_counts=True)
    return int(steps[np.argmax(count)]) if len(steps) and count.max() >= NEARLY_ALL * count.sum() else None


def axes_remedy(trace: Trace, buffer: Buffer) -> str:
    """Describe how to swap x and y in the kernel."""
    index_name = _contiguous_index(buffer)
    unpacked = _unpacked(trace.sources.get(kernel_file(trace), ""), trace.kernel)
    if unpacked:
        return f"write {unpacked}, so that threadIdx.x is {index_name}, and swap the two lengths of the grid"
    return f"let threadIdx.x be {index_name}, and threadIdx.y another"


def _contiguous_index(buffer: Buffer) -> str:
    """Name the index along which elements lie side by side."""
    if len(buffer.shape) < 2:
        return "the term of the index without a factor"
    return "the last index" if abs(buffer.strides[-1]) <= abs(buffer.strides[0]) else "the first index"


@lru_cache(maxsize=16)
def _unpacked(source: str, kernel: str) -> str:
    """Write the statement that reads a thread's coordinates, with its names swapped; "" if there is none."""
    for function in ast.walk(syntax_tree(source)):
        if isinstance(function, ast.FunctionDef) and function.name == kernel:
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and (text := _swapped_text(source, node)):
                    return text
    return ""


def _swapped_text(source: str, node: ast.Assign) -> str:
    target, call = node.targets[0], node.value
    if not (isinstance(target, ast.Tuple) and isinstance(call, ast.Call) and last_name(call.func) == "grid"):
        return ""
    names = [name.id for name in target.elts if isinstance(name, ast.Name)]
    if len(names) != len(target.elts) or len(names) not in (2, 3):
        return ""
    x, y, *others = names
    return f"`{', '.join([y, x, *others])} = {ast.get_source_segment(source, call)}` on line {node.lineno}"

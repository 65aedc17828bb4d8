"""Compilation of marked kernels, with the globals and the closure of the original kernel."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from msgspec import Struct

from ...model.launch import Array, Launch
from ..timeline import Detail
from .marking import (
    BEGIN,
    DETAILED,
    END,
    LIMIT,
    MARK,
    SLOT,
    WARPS,
    MarkedSource,
    NotMarkableError,
    marked_source,
)

OUTER = "_ts_outer"


class Room(Struct, frozen=True):
    """The memory for marks, as constants of the compiled kernel."""

    warps: int  # per block
    slot: int  # marks of a warp's slot
    limit: int  # marks of all memory
    detailed: int  # only multiprocessors with lower numbers write marks

    def names(self) -> dict[str, int]:
        """Return the constants by their names in the source."""
        return {WARPS: self.warps, SLOT: self.slot, LIMIT: self.limit, DETAILED: self.detailed}


def marked_source_of(launch: Launch, kernel: Any, detail: Detail) -> MarkedSource:
    """Rewrite a launch's kernel with marks; raises NotMarkable."""
    function = kernel.py_func
    count = function.__code__.co_argcount
    if len(launch.arguments) != count:
        raise NotMarkableError(f"{launch.kernel} takes {count} arguments, not {len(launch.arguments)}.")
    names = function.__code__.co_varnames[:count]
    given = zip(names, launch.arguments, strict=True)
    arrays = {name: len(a.shape) for name, a in given if isinstance(a, Array)}
    return marked_source(function, arrays, detail)


def function_of(
    source: MarkedSource, original: FunctionType, marks: dict[str, Any], room: Room
) -> FunctionType:
    """Create the function, with the globals and the closure of the original, and the marks under their names."""
    free = original.__code__.co_freevars
    outer = ast.parse(f"def {OUTER}({', '.join(free)}):\n    return {source.tree.name}")
    definition = outer.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.body.insert(0, source.tree)
    names = {**original.__globals__, **marks, **room.names()}
    # The text is the kernel's own, with calls of marks.
    exec(compile(outer, original.__code__.co_filename, "exec"), names)
    cells = [cell.cell_contents for cell in original.__closure__ or ()]
    function: FunctionType = names[OUTER](*cells)
    return function


def marked_kernel(source: MarkedSource, kernel: Any, room: Room) -> Any:
    """Compile a marked source with Numba, with the options of the original kernel."""
    from numba import cuda

    from . import intrinsics

    marks = {BEGIN: intrinsics.begin, MARK: intrinsics.mark, END: intrinsics.end}
    return cuda.jit(**kernel.targetoptions)(function_of(source, kernel.py_func, marks, room))

"""Rewrites a kernel so that it notes its accesses: the compiled engine's rewriting, adapted to a GPU."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np
from msgspec import Struct

from ...compiled.math_functions import BINARY_FUNCTIONS, UNARY_FUNCTIONS
from ...compiled.not_compilable import NotCompilableError
from ...compiled.rewrite.program import DeclaredArray, RecordingProgram
from ...compiled.rewrite.rewriter import rewrite_kernel
from ...compiled.rewrite.writer import STATE

CUDA = "_ts_cuda"  # the module `cuda`, under any name in the kernel
HERE = "_ts_here"  # notes the address of a declared array
DECLARED = "_ts_declared_"
ENTRY = "_ts_kernel"  # the launched function
ON_CPUS = ("_ts_tick", "_ts_keep_row")  # statements that only the compiled engine needs
# The arguments of a thread, in addition to its own region of the notes; see `notes`.
ENTRY_TEXT = """
def {entry}(_ts_rows, _ts_heads, {arguments}):
    _ts_me = _ts_number()
    _ts_at = _ts_cuda.local.array(1, _ts_int64)
    _ts_at[0] = 0
    _ts_head = _ts_heads[_ts_me]
    _ts_begin(_ts_head)
    {kernel}((_ts_rows[_ts_me], _ts_head, _ts_at), {arguments})
    _ts_end(_ts_head, _ts_at)
"""
_DECLARATIONS = {"shared": "shared.array", "local": "local.array", "constant": "const.array_like"}
_COORDINATES = {"t": "threadIdx", "b": "blockIdx", "d": "blockDim", "g": "gridDim"}
_ATTRIBUTES = ("size", "T", "real", "imag", "x", "y", "z", "w")  # of arrays, numbers and vectors
_NO_MARKS = {
    "print": "it prints",
    "go_deeper": "a function in it calls itself",
    "set_field": "it assigns to a field or a part of an element",
    "this_grid": "its blocks wait for each other",
    "wait_group": "its blocks wait for each other",
    "wait_active": "it reads the mask of active lanes, which notes may change",
    "wait_match_any": "its lanes compare their values",
    "wait_match_all": "its lanes compare their values",
}


class NotMarkable(Exception):
    """A kernel whose accesses can't be noted on a GPU; the text is one sentence."""


class MarkedKernel(Struct, frozen=True):
    """A kernel that notes its accesses: its functions, and the meaning of the numbers in notes."""

    program: RecordingProgram  # sites and declared arrays, by number
    functions: tuple[ast.FunctionDef, ...]  # in the order of definition, the launched one last
    values: dict[str, Any]  # of its global names, except those for notes

    def text(self) -> str:
        """Return the functions as Python source."""
        return "\n\n".join(map(ast.unparse, self.functions)) + "\n"


def noting_kernel(
    function: FunctionType, dtypes: Mapping[str, np.dtype[Any]], *, debug: bool = False
) -> MarkedKernel:
    """Rewrite a kernel so that it notes its accesses; `dtypes` are those of its array arguments.

    debug: as given to @cuda.jit. Raises NotMarkable.
    """
    name = function.__name__
    try:
        program = rewrite_kernel(function, dtypes, debug=debug, rounds_recorded=False)
    except NotCompilableError as error:
        raise NotMarkable(f"The accesses of {name} can't be noted on a GPU: {error}") from error
    records = [n for n, dtype in dtypes.items() if dtype.names is not None]
    records += [array.name for array in program.declared if array.dtype.names is not None]
    if records:
        raise NotMarkable(f"The accesses of {name} can't be noted on a GPU: {records[0]} holds records.")
    writer = _ForGpu(program, name)
    functions = [writer.visit(rewritten_function) for rewritten_function in program.functions]
    arguments = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    entry = ast.parse(ENTRY_TEXT.format(entry=ENTRY, arguments=arguments, kernel=functions[-1].name)).body[0]
    assert isinstance(entry, ast.FunctionDef)
    definitions = tuple(ast.fix_missing_locations(f) for f in (*functions, entry))
    return MarkedKernel(program, definitions, {**plain_names(), **program.values})


def plain_names() -> dict[str, Any]:
    """Return the values of names in compiled code that Python, Numba and a GPU provide."""
    names: dict[str, Any] = {
        "_ts_mod": operator.mod, "_ts_floordiv": operator.floordiv, "_ts_lshift": operator.lshift,
        "_ts_rshift": operator.rshift, "_ts_power": operator.pow, "_ts_smallest": min, "_ts_largest": max,
        "_ts_to_int": int, "_ts_absolute": abs, "_ts_floor": math.floor, "_ts_ceil": math.ceil, "_ts_trunc": math.trunc,
        "_ts_len": len, "_ts_range": range, "_ts_math_modf": math.modf,
    }  # fmt: skip
    names |= {f"_ts_math_{name}": getattr(math, name) for name in (*UNARY_FUNCTIONS, *BINARY_FUNCTIONS)}
    return names | {f"_ts_np_{name}": getattr(np, name) for name in UNARY_FUNCTIONS.values() if name}


class _ForGpu(ast.NodeTransformer):
    """Replaces the compiled engine's helper calls by those of a GPU."""

    def __init__(self, program: RecordingProgram, kernel: str) -> None:
        self._program, self._kernel = program, kernel

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Call) and _name(node.value) in ON_CPUS:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        name = _name(node)
        self.generic_visit(node)
        if name.startswith(DECLARED):
            return self._declaration(int(name.removeprefix(DECLARED)), node)
        replacement = self._gpu_call(name, node)
        return node if replacement is None else ast.copy_location(replacement, node)

    def _gpu_call(self, name: str, node: ast.Call) -> ast.expr | None:
        """Return a GPU's expression for a helper call, or None to keep it."""
        helper = name.removeprefix("_ts_")
        if name != helper and helper in _NO_MARKS:
            self._refuse(_NO_MARKS[helper], node)
        if len(helper) == 2 and helper[0] in _COORDINATES and helper[1] in "xyz" and name != helper:
            return _parsed(f"{CUDA}.{_COORDINATES[helper[0]]}.{helper[1]}")
        if name == "_ts_thread":
            return _parsed("_ts_thread()")
        if name == "_ts_field":
            return self._field(node)
        if name == "_ts_load" and self._is_part_of_the_code(node.args[1]):
            return ast.Subscript(node.args[1], node.args[2], ast.Load())
        if name in ("_ts_turned", "_ts_reshape", "_ts_view"):
            method = {"_ts_turned": "transpose", "_ts_reshape": "reshape", "_ts_view": "view"}[name]
            return ast.Call(ast.Attribute(node.args[0], method, ast.Load()), node.args[1:], [])
        if name.startswith("_ts_vector_") and isinstance(node.args[0], ast.Tuple):
            return ast.Call(_parsed(f"{CUDA}.{name.removeprefix('_ts_vector_')}"), node.args[0].elts, [])
        if name.startswith("_ts_cuda_"):
            path = name.removeprefix("_ts_cuda_").replace("fp16_", "fp16.")
            return ast.Call(_parsed(f"{CUDA}.{path}"), node.args, [])
        if name.startswith("_ts_to_") and name != "_ts_to_int":
            return ast.Call(_parsed(f"_ts_type_{name.removeprefix('_ts_to_')}"), node.args, [])
        return None

    def _field(self, node: ast.Call) -> ast.expr:
        _, value, attribute, _ = node.args
        assert isinstance(attribute, ast.Constant)
        if attribute.value not in _ATTRIBUTES:
            self._refuse(f"it takes {attribute.value!s} of a value", node)
        return ast.Attribute(value, str(attribute.value), ast.Load())

    def _is_part_of_the_code(self, array: ast.expr) -> bool:
        """Return True for a global array, which Numba embeds in the code."""
        return isinstance(array, ast.Name) and isinstance(self._program.values.get(array.id), np.ndarray)

    def _declaration(self, number: int, node: ast.Call) -> ast.expr:
        array = self._program.declared[number]
        arguments = (
            f"_ts_content_{number}" if array.content is not None else f"{_shape(array)}, _ts_dtype_{number}"
        )
        text = f"{HERE}({STATE}, {number}, {CUDA}.{_DECLARATIONS[array.space]}({arguments}))"
        return ast.copy_location(_parsed(text), node)

    def _refuse(self, why: str, node: ast.AST) -> None:
        line = getattr(node, "lineno", 0)
        raise NotMarkable(f"The accesses of {self._kernel} can't be noted on a GPU: line {line}: {why}.")


def _shape(array: DeclaredArray) -> str:
    return "0" if array.shape is None else repr(array.shape)


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body

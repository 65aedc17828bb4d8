"""A kernel taken out of its file: its function, those that it calls, and the constants that they use.

Nothing of the file runs but imports of numba, NumPy and math, and sums of numbers: a program that launches
kernels when it is run can be looked into without running it, and one that came from somebody else too.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ..model.launch import Launch

LIBRARIES = ("cmath", "math", "numba", "numpy", "operator")
NUMBER_TYPES = frozenset(
    [
        "bool_", "complex64", "complex128", "float16", "float32", "float64", "double", "half", "single",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    ]
)  # fmt: skip
SAFE_NODES = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Load, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd,
)  # fmt: skip
DEVICE_DECORATOR = "_tilescope_device"  # what the functions that a kernel calls are decorated with


def isolated_kernel(launch: Launch) -> FunctionType:
    """Return a launch's kernel as a plain function; raises NameError or SyntaxError where its file has none."""
    from numba import cuda, types

    file, _, name = launch.kernel.rpartition(":")
    names: dict[str, Any] = {"__name__": name, DEVICE_DECORATOR: cuda.jit(device=True)}
    for statement in _statements(ast.parse(launch.source), name):
        with contextlib.suppress(Exception):  # what can't be had is missed by who needs it
            module = ast.fix_missing_locations(ast.Module([statement], []))
            exec(compile(module, file, "exec"), names)
    for constant, value in launch.constants.items():
        names[constant] = getattr(types, value) if isinstance(value, str) else value
    if not isinstance(names.get(name), FunctionType):
        raise NameError(name)
    return names[name]  # type: ignore[no-any-return]  # just looked at


def _statements(tree: ast.Module, kernel: str) -> Iterator[ast.stmt]:
    """Return what is taken over of a file: imports, constants, and functions wherever they are defined."""
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from _imports(statement)
        elif isinstance(statement, ast.Assign) and _is_constant(statement.value):
            yield statement
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (node.name == kernel or node.decorator_list):
            yield _bare(node, kernel)


def _imports(statement: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.ImportFrom):
        if not statement.level and _is_library(statement.module or ""):
            yield statement
        return
    for name in statement.names:
        if _is_library(name.name):
            yield ast.copy_location(ast.Import([name]), statement)


def _is_library(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def _is_constant(value: ast.expr) -> bool:
    """Return whether an expression is made of numbers, names, sums of them, and numbers of NumPy's or numba's types."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called not in NUMBER_TYPES or node.keywords:
                return False
        elif not isinstance(node, SAFE_NODES):
            return False
    return True


def _bare(function: ast.FunctionDef, kernel: str) -> ast.FunctionDef:
    """Return a function without its decorators, annotations and defaults, which may call anything."""
    own = function.name == kernel
    function.decorator_list = (
        [] if own else [ast.copy_location(ast.Name(DEVICE_DECORATOR, ast.Load()), function)]
    )
    arguments = function.args
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    function.returns = None
    return function

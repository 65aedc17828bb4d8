"""Arguments of device functions that are constant when the kernel is rewritten: functions, types, shapes."""

from __future__ import annotations

import ast
import inspect
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from ...model.registered_functions import is_registered
from .constants import is_type
from .scope import DTYPE, CudaPath, UnknownValueError, source_of
from .writer import Writer


def constant_arguments(caller: Writer, function: FunctionType, node: ast.Call) -> dict[str, Any]:
    """Find the arguments of a call whose values are to be written into the function that it calls.

    These are values that compiled code can't pass (functions, and names of `cuda`), types, and numbers in shapes of
    arrays. An argument that the function assigns to stays an argument.
    """
    names = {k.arg or "": k.value for k in node.keywords}
    if any(isinstance(a, ast.Starred) for a in node.args):
        return {}
    try:
        bound = inspect.signature(function).bind(*node.args, **names).arguments
    except TypeError:
        return {}  # the caller reports such a call
    assigned, shape_names = _assigned_and_shape_names(function)
    constants = {}
    for name, value in bound.items():
        constant = (
            _static_value(caller, value) if name not in assigned and isinstance(value, ast.expr) else None
        )
        if constant is not None and (_needs_inlining(constant) or name in shape_names):
            constants[name] = constant
        elif name not in assigned and name in shape_names and isinstance(value, ast.expr):
            constants |= _dtype_argument(caller, name, value)
    return constants


def _dtype_argument(caller: Writer, name: str, value: ast.expr) -> dict[str, Any]:
    try:
        return {name + DTYPE: np.dtype(caller.scope.dtype(value))}
    except (UnknownValueError, TypeError):
        return {}


def _static_value(caller: Writer, value: ast.expr) -> Any:
    try:
        return caller.scope.value(value)
    except UnknownValueError:
        pass
    try:
        return caller.scope.static_value(value)
    except UnknownValueError:
        return None


def _needs_inlining(value: Any) -> bool:
    if isinstance(value, FunctionType):
        return is_registered(value)
    return isinstance(value, CudaPath | type) or hasattr(value, "py_func") or is_type(value)


@lru_cache(maxsize=256)
def _assigned_and_shape_names(function: FunctionType) -> tuple[frozenset[str], frozenset[str]]:
    """List the names that a function assigns to, and those in its declarations of arrays."""
    nodes = list(ast.walk(source_of(function).tree))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "array"]
    shape_names = {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}
    return frozenset(assigned), frozenset(shape_names)

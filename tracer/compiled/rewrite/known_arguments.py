"""Arguments of device functions whose value is known as the kernel is rewritten: functions, types, shapes."""

from __future__ import annotations

import ast
import inspect
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from ...model.registered_functions import is_registered
from .constants import is_type
from .scope import DTYPE, CudaPath, NotKnown, source_of
from .writer import Writer


def known_arguments(caller: Writer, function: FunctionType, node: ast.Call) -> dict[str, Any]:
    """Return the values of the arguments of a call that are to be written into the function that it calls.

    Those are what compiled code can't pass on (functions, and names of `cuda`), types, and what shapes of arrays
    are made of; an argument that the function assigns to stays one.
    """
    names = {k.arg or "": k.value for k in node.keywords}
    if any(isinstance(a, ast.Starred) for a in node.args):
        return {}
    try:
        bound = inspect.signature(function).bind(*node.args, **names).arguments
    except TypeError:
        return {}  # whoever writes the call says so
    assigned, shaping = _uses(function)
    found = {}
    for name, value in bound.items():
        known = _known(caller, value) if name not in assigned and isinstance(value, ast.expr) else None
        if known is not None and (_is_written(known) or name in shaping):
            found[name] = known
        elif name not in assigned and name in shaping and isinstance(value, ast.expr):
            found |= _dtype_of(caller, name, value)
    return found


def _dtype_of(caller: Writer, name: str, value: ast.expr) -> dict[str, Any]:
    try:
        return {name + DTYPE: np.dtype(caller.scope.dtype(value))}
    except (NotKnown, TypeError):
        return {}


def _known(caller: Writer, value: ast.expr) -> Any:
    try:
        return caller.scope.value(value)
    except NotKnown:
        pass
    try:
        return caller.scope.static(value)
    except NotKnown:
        return None


def _is_written(value: Any) -> bool:
    if isinstance(value, FunctionType):
        return is_registered(value)
    return isinstance(value, CudaPath | type) or hasattr(value, "py_func") or is_type(value)


@lru_cache(maxsize=256)
def _uses(function: FunctionType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a function assigns to, and those in its declarations of arrays."""
    nodes = list(ast.walk(source_of(function).tree))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "array"]
    shaping = {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}
    return frozenset(assigned), frozenset(shaping)

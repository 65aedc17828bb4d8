"""A signature in a decorator, "void(float32[:, ::1], int32)", read as syntax: Numba itself would evaluate it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .library_names import value_of
from .question import ArrayType, Missing, TypeObject, Value

Resolve = Callable[[ast.expr], Value]  # what an expression of a source stands for


def signature_types(signature: ast.expr, resolve: Resolve) -> tuple[Value, ...]:
    """Return the types of the arguments that a signature names; Missing for what can't be read so."""
    if isinstance(signature, ast.List) and len(signature.elts) == 1:
        return signature_types(signature.elts[0], resolve)
    if isinstance(signature, ast.Constant) and isinstance(signature.value, str):
        try:
            return signature_types(ast.parse(signature.value.strip(), mode="eval").body, _in_numba)
        except SyntaxError:
            return (Missing("a signature"),)
    if isinstance(signature, ast.Call) and not signature.keywords:
        return tuple(_type(argument, resolve) for argument in signature.args)
    if isinstance(signature, ast.Tuple):
        return tuple(_type(argument, resolve) for argument in signature.elts)
    return (Missing("a signature"),)


def _in_numba(node: ast.expr) -> Value:
    found = value_of("numba", node.id) if isinstance(node, ast.Name) else None
    return Missing("a signature") if found is None else found


def _type(node: ast.expr, resolve: Resolve) -> Value:
    """Return a type: float32, or that of arrays, float32[:, ::1]."""
    if not isinstance(node, ast.Subscript):
        found = resolve(node)
        return found if isinstance(found, TypeObject) else Missing("a signature")
    element = resolve(node.value)
    slices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(element, TypeObject) or not all(isinstance(one, ast.Slice) for one in slices):
        return Missing("a signature")
    steps = [one.step is not None for one in slices if isinstance(one, ast.Slice)]
    return ArrayType(element, len(slices), "C" if steps[-1] else "F" if steps[0] else "A")

"""Parses signatures in decorators, such as "void(float32[:, ::1], int32)", which Numba itself would evaluate."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .library_names import value_of
from .question import ArrayType, Missing, TypeObject, Value

Resolve = Callable[[ast.expr], Value]  # returns the value of an expression in a source


def signature_types(signature: ast.expr, resolve: Resolve) -> tuple[Value, ...]:
    """Parse the argument types of a signature; Missing if it can't be parsed."""
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
    value = value_of("numba", node.id) if isinstance(node, ast.Name) else None
    return Missing("a signature") if value is None else value


def _type(node: ast.expr, resolve: Resolve) -> Value:
    """Parse a type: float32, or an array type, float32[:, ::1]."""
    if not isinstance(node, ast.Subscript):
        value = resolve(node)
        return value if isinstance(value, TypeObject) else Missing("a signature")
    element = resolve(node.value)
    slices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(element, TypeObject) or not all(isinstance(axis, ast.Slice) for axis in slices):
        return Missing("a signature")
    has_step = [axis.step is not None for axis in slices if isinstance(axis, ast.Slice)]
    return ArrayType(element, len(slices), "C" if has_step[-1] else "F" if has_step[0] else "A")

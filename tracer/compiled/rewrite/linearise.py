"""Expressions in which a thread stops, taken apart: a `yield` must be a statement of its own.

Whatever an expression does before the stop goes into variables before it, in Python's order of evaluation.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from .ast_positions import located
from .expressions import ExpressionRewriter
from .inline import inlined_body
from .known_arguments import known_arguments
from .scope import CudaPath
from .suspension_points import suspending_call, suspends, suspension


def linearised(rewriter: ExpressionRewriter, node: ast.expr) -> ast.expr:
    """Write the statements that an expression with a stop needs, and return its value as a simple expression."""
    if not suspends(rewriter, node):
        value = rewriter.visit(node)
        return value if isinstance(value, ast.Constant) else rewriter.put(value)
    if isinstance(node, ast.BoolOp):
        return _choice(rewriter, node)
    if isinstance(node, ast.IfExp):
        return _branches(rewriter, node)
    if isinstance(node, ast.Call):
        return _call(rewriter, node)
    if isinstance(node, ast.Subscript):
        array, index = linearised(rewriter, node.value), linearised(rewriter, node.slice)
        if _is_tuple_index(node):
            return rewriter.put(ast.copy_location(ast.Subscript(array, index, ast.Load()), node))
        return rewriter.put(rewriter.load(array, index, node))
    return _parts(rewriter, node)


def _is_tuple_index(node: ast.Subscript) -> bool:
    """Return whether it is a stop itself that is indexed: match_all_sync gives a tuple of two types."""
    return isinstance(node.value, ast.Call) and isinstance(node.slice, ast.Constant)


def _parts(rewriter: ExpressionRewriter, node: ast.expr) -> ast.expr:
    made: Any
    if isinstance(node, ast.BinOp):
        left = linearised(rewriter, node.left)
        made = rewriter.operation(node.op, left, node.right, linearised(rewriter, node.right), node)
    elif isinstance(node, ast.UnaryOp):
        made = ast.UnaryOp(node.op, linearised(rewriter, node.operand))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        left = linearised(rewriter, node.left)
        made = ast.Compare(left, node.ops, [linearised(rewriter, node.comparators[0])])
    elif isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([linearised(rewriter, e) for e in node.elts], ast.Load()), node)
    else:
        rewriter.refuse(node, f"a barrier or warp operation inside {type(node).__name__}")
    return rewriter.put(ast.copy_location(made, node))


def _call(rewriter: ExpressionRewriter, node: ast.Call) -> ast.expr:
    found = suspending_call(rewriter, node)
    passed_at_rewrite = _written_into(rewriter, found, node) if isinstance(found, FunctionType) else []
    arguments = [a if a in passed_at_rewrite else linearised(rewriter, a) for a in node.args]
    keywords = {
        str(k.arg): k.value if k.value in passed_at_rewrite else linearised(rewriter, k.value)
        for k in node.keywords
    }
    if isinstance(found, CudaPath):
        return suspension(rewriter, found, arguments, node)
    if found is not None:
        return _inlined(rewriter, found, node, arguments, keywords)
    return _call_with(rewriter, node, arguments, keywords)


def _call_with(
    rewriter: ExpressionRewriter, node: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]
) -> ast.expr:
    """Return a call in whose arguments alone threads stop, with these in their stead."""
    names = [ast.keyword(k, v) for k, v in keywords.items()]
    shell = located(ast.Call(node.func, [], []), node)
    made = rewriter.visit(shell)
    made.args, made.keywords = [*made.args, *arguments], [*made.keywords, *names]
    return rewriter.put(located(made, node))


def _written_into(rewriter: ExpressionRewriter, function: FunctionType, node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are written into the function, in which threads stop."""
    known = known_arguments(rewriter, function, node)
    places = zip(function.__code__.co_varnames, node.args, strict=False)
    return [a for n, a in [*places, *((k.arg, k.value) for k in node.keywords)] if n in known]


def _inlined(
    rewriter: ExpressionRewriter, function: FunctionType, node: ast.Call, arguments: list[ast.expr],
    keywords: dict[str, ast.expr],
) -> ast.expr:  # fmt: skip
    """Write a function's body before the statement being rewritten, and return the expression of its value."""
    if function in rewriter.stack:
        rewriter.refuse(node, f"{function.__name__} with a barrier calls itself")
    inner = rewriter.within(function, known_arguments(rewriter, function, node), node)
    body, value = inlined_body(rewriter, inner, node, arguments, keywords)
    rewriter.before += inner.block(body)
    return value


def _choice(rewriter: ExpressionRewriter, node: ast.BoolOp) -> ast.expr:
    """`a and b`: b is evaluated only where a holds."""
    first = linearised(rewriter, node.values[0])
    result = rewriter.put(first)
    rest = (
        node.values[1]
        if len(node.values) == 2
        else ast.copy_location(ast.BoolOp(node.op, node.values[1:]), node)
    )
    test: ast.expr = result
    if isinstance(node.op, ast.Or):
        test = ast.copy_location(ast.UnaryOp(ast.Not(), result), node)
    rewriter.write(ast.If(test, _assigned(rewriter, result.id, rest), []), node)
    return result


def _branches(rewriter: ExpressionRewriter, node: ast.IfExp) -> ast.expr:
    name = rewriter.program.temporary()
    test = linearised(rewriter, node.test)
    branches = [_assigned(rewriter, name, part) for part in (node.body, node.orelse)]
    rewriter.write(ast.If(test, *branches), node)
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def _assigned(rewriter: ExpressionRewriter, name: str, node: ast.expr) -> list[ast.stmt]:
    """Return the statements that assign an expression's value to a variable."""
    outer, rewriter.before = rewriter.before, []
    value = linearised(rewriter, node)
    rewriter.write(ast.Assign([ast.Name(name, ast.Store())], value), node)
    made, rewriter.before = rewriter.before, outer
    return made

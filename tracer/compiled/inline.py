"""Device functions in which threads stop, written out where they are called."""

from __future__ import annotations

import ast
import copy
import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .given import given_arguments

if TYPE_CHECKING:
    from .expressions import Expressions


def inlined(
    caller: Expressions, function: FunctionType, node: ast.Call, arguments: list[ast.expr],
    keywords: dict[str, ast.expr],
) -> ast.expr:  # fmt: skip
    """Write a function's body before the statement being rewritten, and return the expression of its value."""
    if function in caller.stack:
        caller.refuse(node, f"{function.__name__} with a barrier calls itself")
    given = given_arguments(caller, function, node)
    inner = caller.within(function, given)
    raises = any(isinstance(part, ast.Raise | ast.Assert) for part in ast.walk(inner.source.tree))
    if raises and inner.source.file != caller.source.file:
        caller.refuse(node, f"{function.__name__} with a barrier may raise, in another file")
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords)
    except TypeError as error:
        caller.refuse(node, f"{function.__name__}: {error}")
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if name not in given:
            made = value if isinstance(value, ast.expr) else caller.constant(value, name, node)
            caller.write(ast.Assign([ast.Name(inner.renamed(name), ast.Store())], made), node)
    result = caller.program.temporary()
    body = copy.deepcopy(inner.source.tree.body)
    caller.before += inner.block(_single_exit(inner, body, result))
    return ast.copy_location(ast.Name(result, ast.Load()), node)


def _single_exit(inner: Expressions, body: list[ast.stmt], result: str) -> list[ast.stmt]:
    """Return a body whose returns are assignments to `result`, with nothing after them."""
    made: list[ast.stmt] = []
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return [*made, *_assigned(statement, result)]
        if not _returns(statement):
            made.append(statement)
            continue
        if not isinstance(statement, ast.If):
            return inner.refuse(statement, "a return in a loop of a function with a barrier")  # type: ignore[no-any-return]
        rest = body[place + 1 :]
        then = _single_exit(inner, [*statement.body, *copy.deepcopy(rest)], result)
        otherwise = _single_exit(inner, [*statement.orelse, *copy.deepcopy(rest)], result)
        chosen: Any = ast.If(statement.test, then or [ast.Pass()], otherwise)
        return [*made, ast.copy_location(chosen, statement)]
    return made


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


def _assigned(statement: ast.Return, result: str) -> list[ast.stmt]:
    if statement.value is None:
        return []
    made = ast.Assign([ast.Name(result, ast.Store())], statement.value)
    ast.copy_location(made.targets[0], statement)
    return [ast.copy_location(made, statement)]

"""Device functions in which threads stop, written out where they are called."""

from __future__ import annotations

import ast
import copy
import inspect
from types import FunctionType
from typing import Any

from .writer import Writer


def inlined_body(
    caller: Writer, inner: Writer, node: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]
) -> tuple[list[ast.stmt], ast.expr]:
    """Return the body of the function that `inner` writes, as it is to stand where it is called, and its value.

    Its arguments are assigned before the statement being rewritten; its statements are still to be rewritten by
    `inner`. Raises NotCompilable.
    """
    function = inner.source.function
    raises = any(isinstance(part, ast.Raise | ast.Assert) for part in ast.walk(inner.source.tree))
    if raises and inner.source.file != caller.source.file:
        caller.refuse(node, f"{function.__name__} with a barrier may raise, in another file")
    for name, value in _bound(caller, function, node, arguments, keywords).items():
        if name not in inner.scope.known:
            made = value if isinstance(value, ast.expr) else caller.constant(value, name, node)
            caller.write(ast.Assign([ast.Name(inner.renamed(name), ast.Store())], made), node)
    result = caller.program.temporary()
    body = copy.deepcopy(inner.source.tree.body)
    return _single_exit(inner, body, result), ast.copy_location(ast.Name(result, ast.Load()), node)


def _bound(
    caller: Writer, function: FunctionType, node: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]
) -> dict[str, Any]:  # fmt: skip
    """Return what each parameter of a function is in a call: an expression, or the value of a default."""
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords)
    except TypeError as error:
        caller.refuse(node, f"{function.__name__}: {error}")
    bound.apply_defaults()
    return bound.arguments


def _single_exit(inner: Writer, body: list[ast.stmt], result: str) -> list[ast.stmt]:
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

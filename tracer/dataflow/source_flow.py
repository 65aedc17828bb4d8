"""The loads that reach each store of a kernel, according to its source text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from ..model.syntax_tree import syntax_tree
from .carried import AccessPosition, Values
from .carried import Carried as Carried
from .carried import Share as Share
from .walk import AnalysisBudgetExceededError, Walk, Work

LONGEST = 400_000  # characters of the longest source text that is analysed
CALLS = 3  # of a function, after which further calls find nothing new
MOST_STORES = 200  # of a program; larger ones are generated code, and not analysed

Flow = Mapping[
    AccessPosition, Mapping[AccessPosition, Carried]
]  # by store: of each load that may precede it, the share that it stores


@lru_cache(maxsize=16)
def flow_of(source: str, kernel: str) -> Flow | None:
    """Compute the loads that each store of a kernel, and of the functions that it calls, may write.

    Places are (line from 1, column from 0 in characters). A store's entry is about the loads since its last execution.
    None if the source has no such kernel, or is not analysed: too large, try statements, lambdas.
    """
    if len(source) > LONGEST:
        return None
    try:
        return _flow_of(syntax_tree(source), source, kernel)
    except (SyntaxError, ValueError, RecursionError, MemoryError, AnalysisBudgetExceededError):
        return None


def _flow_of(tree: ast.Module, source: str, kernel: str) -> Flow | None:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [function.name for function in functions]
    root = next((function for function in functions if function.name == kernel), None)
    if root is None or names.count(kernel) > 1:
        return None
    callable_functions = {
        function.name: function
        for function in functions
        if names.count(function.name) == 1 and function is not root
    }
    lines = source.splitlines()
    stores = _stores(functions)
    if len(stores) > MOST_STORES:
        return None
    passed, work = _functions_passed_on(tree), Work()
    values_by_store = {}
    for place in stores:
        starts = [
            (root, True),
            *(
                (function, passed[function.name])
                for function in callable_functions.values()
                if function.name in passed and _holds(function, place)
            ),
        ]
        reaching = (_reaching(start, callable_functions, place, work, once=once) for start, once in starts)
        values_by_store[place] = next((values for values in reaching if values is not None), {})
    return {
        _in_characters(place, lines): {
            _in_characters(load, lines): carried for load, carried in values.items()
        }
        for place, values in values_by_store.items()
    }


def _stores(functions: list[ast.FunctionDef]) -> set[AccessPosition]:
    """Find the places where elements are written or a call may be an atomic."""
    return {
        (node.lineno, node.col_offset)
        for function in functions
        for node in ast.walk(function)
        if (isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store))
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name | ast.Attribute)
            and (getattr(node.func.value, "id", "") or getattr(node.func.value, "attr", "")) == "atomic"
        )
    }


def _functions_passed_on(tree: ast.Module) -> dict[str, bool]:
    """Find the functions that are passed as values, and whether each call is a thread's only one."""
    called_ids = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    values = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called_ids)
    targets = {
        id(keyword.value)
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword) and keyword.arg == "target"
    }
    return {name.id: id(name) in targets for name in values if isinstance(name.ctx, ast.Load)}


def _holds(function: ast.FunctionDef, place: AccessPosition) -> bool:
    return function.lineno <= place[0] <= (function.end_lineno or 0)


def _reaching(
    root: ast.FunctionDef,
    functions: Mapping[str, ast.FunctionDef],
    place: AccessPosition,
    work: Work,
    *,
    once: bool,
) -> Values | None:
    """Join the loads that a store writes over all paths that lead to it; None if no path does.

    once: whether each thread calls the function once; else the state after a call is that before the next.
    """
    arrivals: list[Values] = []
    walk = Walk(functions, place, arrivals.append, work)
    for _ in range(1 if once else CALLS):
        walk.function(root, ())
    if not arrivals:
        return None
    result: Values = {}
    for values in arrivals:
        for load, carried in values.items():
            other = result.get(load, carried)
            common = [
                left if left == right else Share.SOME for left, right in zip(carried, other, strict=True)
            ]
            result[load] = Carried(*common)
    return result


def _in_characters(place: AccessPosition, lines: list[str]) -> AccessPosition:
    line, column = place
    text = lines[line - 1] if line <= len(lines) else ""
    return line, len(text.encode()[:column].decode(errors="ignore"))

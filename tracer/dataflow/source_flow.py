"""What the source text of a kernel says of the loads that reach each of its stores."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from ..model.syntax_tree import syntax_tree
from .carried import Carried as Carried
from .carried import Place, Values
from .carried import Share as Share
from .walk import GaveUp, Walk, Work

LONGEST = 400_000  # letters of a source text, beyond which nobody reads it
CALLS = 3  # of a function, after which a further one finds what the one before did
MOST_STORES = 200  # of a program; one with more was written by a program, and is not followed

Flow = Mapping[
    Place, Mapping[Place, Carried]
]  # by store: of each load that may come before, what is in the store


@lru_cache(maxsize=16)
def flow_of(source: str, kernel: str) -> Flow | None:
    """Return what each store of a kernel, and of the functions that it calls, writes of the loads before it.

    Places are (line from 1, column from 0 in characters). A store's entry is of the loads since its last execution.
    None where the source has no such kernel, or is not followed: too large, try statements, lambdas.
    """
    if len(source) > LONGEST:
        return None
    try:
        return _flow_of(syntax_tree(source), source, kernel)
    except (SyntaxError, ValueError, RecursionError, MemoryError, GaveUp):
        return None


def _flow_of(tree: ast.Module, source: str, kernel: str) -> Flow | None:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [function.name for function in functions]
    root = next((function for function in functions if function.name == kernel), None)
    if root is None or names.count(kernel) > 1:
        return None
    known = {f.name: f for f in functions if names.count(f.name) == 1 and f is not root}
    lines = source.splitlines()
    stores = _stores(functions)
    if len(stores) > MOST_STORES:
        return None
    handed, work = _handed_on(tree), Work()
    found = {}
    for place in stores:
        starts = [
            (root, True),
            *((f, handed[f.name]) for f in known.values() if f.name in handed and _holds(f, place)),
        ]
        reaching = (_reaching(start, known, place, work, once=once) for start, once in starts)
        found[place] = next((values for values in reaching if values is not None), {})
    return {
        _in_characters(place, lines): {_in_characters(p, lines): carried for p, carried in values.items()}
        for place, values in found.items()
    }


def _stores(functions: list[ast.FunctionDef]) -> set[Place]:
    """Return where elements are written, and where something is called that may be an atomic."""
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


def _handed_on(tree: ast.Module) -> dict[str, bool]:
    """Return the functions that are handed to others to be called, and whether each call is a thread's only one."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    values = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called)
    targets = {id(k.value) for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "target"}
    return {name.id: id(name) in targets for name in values if isinstance(name.ctx, ast.Load)}


def _holds(function: ast.FunctionDef, place: Place) -> bool:
    return function.lineno <= place[0] <= (function.end_lineno or 0)


def _reaching(
    root: ast.FunctionDef, known: Mapping[str, ast.FunctionDef], place: Place, work: Work, *, once: bool
) -> Values | None:
    """Return what a store writes of each load, over all ways that lead to it; None where none does.

    once: whether the function is called once by each thread; else what a call leaves behind meets the next one's.
    """
    found: list[Values] = []
    walk = Walk(known, place, found.append, work)
    for _ in range(1 if once else CALLS):
        walk.function(root, ())
    if not found:
        return None
    result: Values = {}
    for values in found:
        for load, carried in values.items():
            other = result.get(load, carried)
            same = [a if a == b else Share.SOME for a, b in zip(carried, other, strict=True)]
            result[load] = Carried(*same)
    return result


def _in_characters(place: Place, lines: list[str]) -> Place:
    line, column = place
    text = lines[line - 1] if line <= len(lines) else ""
    return line, len(text.encode()[:column].decode(errors="ignore"))

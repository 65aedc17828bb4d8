"""The text of a program without the statements that run it: the kernel can be launched again without side effects."""

from __future__ import annotations

import ast
from collections.abc import Collection

from .syntax_tree import syntax_tree

KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
HARMLESS_ROOTS = (
    "np",
    "numpy",
    "math",
    "numba",
    "types",
    "cuda",
    "int",
    "float",
    "min",
    "max",
    "range",
    "len",
    "tuple",
)


def definitions_only(source: str, constants: Collection[str]) -> str:
    """Remove a module's statements other than imports, definitions and plain assignments; lines keep their numbers.

    constants: global numbers of the kernel, whose values the launch sets. Raises SyntaxError.
    """
    lines = source.splitlines()
    for statement in syntax_tree(source).body:
        if isinstance(statement, KEPT) or _is_plain(statement):
            continue
        names = [name for name in _targets(statement) if name in constants]
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        lines[first:last] = [" = ".join([*names, "0"]) if names else "", *[""] * (last - first - 1)]
    return "\n".join(lines) + "\n"


def _targets(statement: ast.stmt) -> list[str]:
    """List the names that a statement assigns."""
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return list(dict.fromkeys(node.id for node in stored if isinstance(node.ctx, ast.Store)))


def _is_plain(statement: ast.stmt) -> bool:
    """Return True if an assignment computes from numbers, types and NumPy only."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return all(
        ast.unparse(call).split(".")[0] in HARMLESS_ROOTS and "launch" not in ast.unparse(call)
        for call in calls
    )


def without_launches(source: str, constants: Collection[str]) -> str:
    """Return a program's text unchanged if importing it launches no kernel, else only its definitions.

    constants: see `definitions_only`. Raises SyntaxError.
    """
    return definitions_only(source, constants) if _launches_on_import(source) else source


def _launches_on_import(source: str) -> bool:
    """Check if a statement of a module, outside `if __name__ ...`, calls a subscript: kernel[grid, block](...)."""
    statements = [
        statement
        for statement in syntax_tree(source).body
        if not isinstance(statement, KEPT) and not _compares_module_name(statement)
    ]
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)
        for statement in statements
        for node in ast.walk(statement)
    )


def _compares_module_name(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    )

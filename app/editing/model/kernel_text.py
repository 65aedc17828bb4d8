"""Queries about the text of a kernel's file: lines named in messages, constants, changes outside functions. No Qt."""

from __future__ import annotations

import ast
import re
from copy import copy

from ....tracer.model.syntax_tree import syntax_tree


def line_of(sentence: str, file: str) -> int:
    """Extract the line of a file from a sentence such as "/a/kernel.py:12: ..." or "... (line 12)"; 0 for none."""
    match = re.search(rf"{re.escape(file)}:(\d{{1,6}}):|\(line (\d{{1,6}})\)", sentence)
    return int(match[1] or match[2]) if match else 0


def without_location(sentence: str, file: str) -> str:
    """Remove the file's path and line from the start of a sentence, since they are shown separately."""
    return re.sub(rf"^{re.escape(file)}:\d{{1,6}}: (the file can't be run: )?", "", sentence)


def changed_constants(old_text: str, new_text: str) -> set[str]:
    """Find the module constants to which the new text assigns other values."""
    before, after = _constants(old_text), _constants(new_text)
    return {name for name, value in after.items() if before.get(name, value) != value}


def _constants(text: str) -> dict[str, str]:
    """Map each name assigned at the top level to the dump of its value."""
    assignments = [node for node in syntax_tree(text).body if isinstance(node, ast.Assign)]
    return {
        t.id: ast.dump(node.value) for node in assignments for t in node.targets if isinstance(t, ast.Name)
    }


def differ_only_in_functions(text: str, other: str) -> bool:
    """Return True if two texts differ only in function bodies, which do not run when a file is loaded."""
    return ast.dump(_without_bodies(text)) == ast.dump(_without_bodies(other))


def runs_the_same(text: str, other: str) -> bool:
    """Return True if two Python files have the same statements but for `pass`; False for other texts."""
    try:
        return ast.dump(_without_pass(text)) == ast.dump(_without_pass(other))
    except (SyntaxError, ValueError, RecursionError):
        return False


def _without_pass(text: str) -> ast.Module:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [part for part in statements if not isinstance(part, ast.Pass)])
    return tree


def _without_bodies(text: str) -> ast.Module:
    """Parse a text and empty its top-level functions; classes and blocks keep theirs."""
    kept = [copy(node) for node in syntax_tree(text).body]
    for node in kept:
        if isinstance(node, ast.FunctionDef):
            node.body = []
    return ast.Module(kept, [])

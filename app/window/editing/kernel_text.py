"""The text of a kernel's file: lines that sentences name, constants, whether it may be compiled unasked. No Qt."""

from __future__ import annotations

import ast
import re
from copy import copy

from ....tracer.model.syntax_tree import syntax_tree


def line_of(sentence: str, file: str) -> int:
    """Return the line that a sentence names of a file, as "/a/kernel.py:12: ..." or "... (line 12)"; 0 for none."""
    found = re.search(rf"{re.escape(file)}:(\d{{1,6}}):|\(line (\d{{1,6}})\)", sentence)
    return int(found[1] or found[2]) if found else 0


def without_place(sentence: str, file: str) -> str:
    """Return a sentence on a file without the file's path and line in front, which are said beside it."""
    return re.sub(rf"^{re.escape(file)}:\d{{1,6}}: (the file can't be run: )?", "", sentence)


def changed_constants(one: str, other: str) -> set[str]:
    """Return the names that a text gives a value where it is loaded, another one than the text before."""
    before, after = _constants(one), _constants(other)
    return {name for name, value in after.items() if before.get(name, value) != value}


def _constants(text: str) -> dict[str, str]:
    """Return by name what is assigned to it outside all functions, as a syntax tree's text."""
    found = [node for node in syntax_tree(text).body if isinstance(node, ast.Assign)]
    return {t.id: ast.dump(node.value) for node in found for t in node.targets if isinstance(t, ast.Name)}


def differ_in_functions_alone(one: str, other: str) -> bool:
    """Return whether two texts are alike but for the bodies of functions, which do not run when a file is loaded."""
    return ast.dump(_without_bodies(one)) == ast.dump(_without_bodies(other))


def _without_bodies(text: str) -> ast.Module:
    """Return the syntax tree of a text with empty functions; what is within classes and blocks stays as it is."""
    kept = [copy(node) for node in syntax_tree(text).body]
    for node in kept:
        if isinstance(node, ast.FunctionDef):
            node.body = []
    return ast.Module(kept, [])

"""The text of a kernel's file: which line a sentence is of, and whether an edit may be compiled unasked. No Qt."""

from __future__ import annotations

import ast
import re
from copy import copy

from ....tracer.model.syntax_tree import syntax_tree


def line_of(sentence: str, file: str) -> int:
    """Return the line that a sentence names of a file, as "/a/kernel.py:12: ..." or "... (line 12)"; 0 for none."""
    found = re.search(rf"{re.escape(file)}:(\d{{1,6}}):|\(line (\d{{1,6}})\)", sentence)
    return int(found[1] or found[2]) if found else 0


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

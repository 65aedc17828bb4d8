"""The syntax tree of a source text that may be anybody's: too deep a text has none, and none ends a process."""

from __future__ import annotations

import ast
import contextlib
import threading
from functools import lru_cache

LONGEST = 4_000_000  # characters of a text that is parsed
DEEPEST = 150  # nodes within each other: as many as ast.unparse, and whoever calls itself, can follow
STACK = 64 << 20  # bytes for the parser, which calls itself up to 6,000 times before it gives up


@lru_cache(maxsize=16)
def syntax_tree(source: str) -> ast.Module:
    """Return the syntax tree of a source text, an empty one where it has none, or one too deep to be walked."""
    empty = ast.Module([], [])
    if len(source) > LONGEST:
        return empty
    found = _parsed(source)
    return empty if found is None or _is_too_deep(found) else found


def _parsed(source: str) -> ast.Module | None:
    """Parse in a thread of its own: that of whoever asks may have a stack of half a megabyte, which would overflow."""
    found: list[ast.Module] = []

    def parse() -> None:
        # The last two: it is too deep.
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            found.append(ast.parse(source))

    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=parse)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found[0] if found else None


def _is_too_deep(tree: ast.AST) -> bool:
    """Return whether nodes lie deeper in each other than DEEPEST, without calling itself."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True

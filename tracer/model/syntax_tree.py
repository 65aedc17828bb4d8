"""Syntax trees of untrusted source texts: a text that is nested too deeply has none, and none crashes the process."""

from __future__ import annotations

import ast
import threading
import warnings
from functools import lru_cache

LONGEST = 4_000_000  # characters of a text that is parsed
TOO_DEEP = "The text is nested too deeply; split its longest expressions."
DEEPEST = 150  # nested nodes: as many as ast.unparse and other recursive functions can follow
STACK = 64 << 20  # bytes for the parser, which recurses up to 6,000 times before it fails
# Held while a thread with such a stack parses: two parsers at once can fail with a SystemError (CPython 3.11).
_parsing_lock = threading.Lock()


@lru_cache(maxsize=16)
def syntax_tree(source: str) -> ast.Module:
    """Parse a source text; return an empty tree if it has syntax errors or is nested too deeply."""
    empty = ast.Module([], [])
    if len(source) > LONGEST:
        return empty
    tree = _parsed(source)
    return empty if isinstance(tree, Exception) or _is_too_deep(tree) else tree


def _parsed(source: str) -> ast.Module | Exception:
    """Parse in a separate thread: the caller's stack may be half a megabyte, which would overflow."""
    results: list[ast.Module | Exception] = []

    def parse() -> None:
        try:
            results.append(ast.parse(source))
        except (
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ) as error:  # the last two if it is nested too deeply
            results.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of valid but suspicious code, which may be half typed
        with _parsing_lock:
            before = threading.stack_size(STACK)
            try:
                thread = threading.Thread(target=parse)
                thread.start()
            finally:
                threading.stack_size(before)
            thread.join()
    return results[0]


def _is_too_deep(tree: ast.AST) -> bool:
    """Return True if nodes are nested more deeply than DEEPEST; not recursive."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def syntax_problem(text: str) -> tuple[int, str] | None:
    """Return the line (from 1) and the message of a text's syntax error, None if there is none."""
    parsed = _parsed(text)
    if isinstance(parsed, SyntaxError):
        message = (parsed.msg or "invalid syntax").removesuffix(".")
        return parsed.lineno or 1, f"{message[:1].upper()}{message[1:]}."
    return (1, TOO_DEEP) if isinstance(parsed, Exception) else None

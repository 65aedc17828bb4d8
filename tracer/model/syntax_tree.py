"""The syntax tree of a source text that may be anybody's: too deep a text has none, and none ends a process."""

from __future__ import annotations

import ast
import threading
import warnings
from functools import lru_cache

LONGEST = 4_000_000  # characters of a text that is parsed
TOO_DEEP = "The text is too deep to be read; take some of its brackets apart."
DEEPEST = 150  # nodes within each other: as many as ast.unparse, and whoever calls itself, can follow
STACK = 64 << 20  # bytes for the parser, which calls itself up to 6,000 times before it gives up
_beginning = threading.Lock()  # held while threads that begin get such a stack


@lru_cache(maxsize=16)
def syntax_tree(source: str) -> ast.Module:
    """Return the syntax tree of a source text, an empty one where it has none, or one too deep to be walked."""
    empty = ast.Module([], [])
    if len(source) > LONGEST:
        return empty
    found = _parsed(source)
    return empty if isinstance(found, Exception) or _is_too_deep(found) else found


def _parsed(source: str) -> ast.Module | Exception:
    """Parse in a thread of its own: that of whoever asks may have a stack of half a megabyte, which would overflow."""
    found: list[ast.Module | Exception] = []

    def parse() -> None:
        try:
            found.append(ast.parse(source))
        except (
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ) as error:  # of the last two: it is too deep
            found.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is Python, but not what was meant: it may be typed just now
        with _beginning:
            before = threading.stack_size(STACK)
            try:
                thread = threading.Thread(target=parse)
                thread.start()
            finally:
                threading.stack_size(before)
        thread.join()
    return found[0]


def _is_too_deep(tree: ast.AST) -> bool:
    """Return whether nodes lie deeper in each other than DEEPEST, without calling itself."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def syntax_problem(text: str) -> tuple[int, str] | None:
    """Return the line (from 1) and the sentence of what is no Python in a text, None where all of it is."""
    found = _parsed(text)
    if isinstance(found, SyntaxError):
        message = (found.msg or "this is no Python").removesuffix(".")
        return found.lineno or 1, f"{message[:1].upper()}{message[1:]}."
    return (1, TOO_DEEP) if isinstance(found, Exception) else None

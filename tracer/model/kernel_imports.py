"""The modules beside a kernel's file that it imports: they decide what it does as much as its own text."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from .syntax_tree import syntax_tree


def imported_texts(file: Path, source: str) -> dict[Path, str]:
    """Return the text of each module in a file's folder that `source`, the file's own text, leads to by imports."""
    folder = file.parent
    found: dict[Path, str] = {}
    waiting = [source]
    while waiting:
        for parts in _imported(waiting.pop()):
            for path in _paths(folder, parts):
                if path not in found and path != file and path.is_file():
                    found[path] = path.read_text(encoding="utf-8", errors="replace")
                    waiting.append(found[path])
    return found


def imports_digest(file: Path, source: str) -> str:
    """Return a name for these modules' texts: 64 hexadecimal digits, or nothing where there are none."""
    texts = imported_texts(file, source)
    if not texts:
        return ""
    return hashlib.sha256(repr(sorted((p.name, text) for p, text in texts.items())).encode()).hexdigest()


def _paths(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    """Yield where a module may be, and the packages that it is in."""
    for end in range(1, len(parts) + 1):
        module = folder.joinpath(*parts[:end])
        yield from (module.with_suffix(".py"), module / "__init__.py")


@lru_cache(maxsize=256)
def _imported(source: str) -> tuple[tuple[str, ...], ...]:
    """Return the names that a text may import from its own folder, split at the dots."""
    names: list[str] = []
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level < 2:
            stem = f"{node.module}." if node.module else ""
            names += [stem + alias.name for alias in node.names]
    return tuple(tuple(name.split(".")) for name in names)

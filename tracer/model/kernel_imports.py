"""Modules in a kernel's folder that its file imports: they decide its behaviour as much as its own text."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from .syntax_tree import syntax_tree


def imported_texts(file: Path, source: str) -> dict[Path, str]:
    """Return the text of each module in a file's folder that `source`, the file's text, imports, directly or not."""
    folder = file.parent
    texts: dict[Path, str] = {}
    pending = [source]
    while pending:
        for parts in _imported(pending.pop()):
            for path in _paths(folder, parts):
                if path not in texts and path != file and path.is_file():
                    texts[path] = path.read_text(encoding="utf-8", errors="replace")
                    pending.append(texts[path])
    return texts


def imports_digest(file: Path, source: str) -> str:
    """Return a digest of these modules' texts: 64 hexadecimal digits, or "" if there are none."""
    texts = imported_texts(file, source)
    if not texts:
        return ""
    return hashlib.sha256(
        repr(sorted((path.name, text) for path, text in texts.items())).encode()
    ).hexdigest()


def _paths(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    """Yield the possible files of a module, and of the packages that contain it."""
    for end in range(1, len(parts) + 1):
        module = folder.joinpath(*parts[:end])
        yield from (module.with_suffix(".py"), module / "__init__.py")


@lru_cache(maxsize=256)
def _imported(source: str) -> tuple[tuple[str, ...], ...]:
    """List the names that a text may import from its own folder, split at the dots."""
    names: list[str] = []
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level < 2:
            stem = f"{node.module}." if node.module else ""
            names += [stem + alias.name for alias in node.names]
    return tuple(tuple(name.split(".")) for name in names)

"""Who imports whom in a checkout, read from its source: for the tests of the architecture and for script/structure."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np

TOP = ("kernels", "tracer", "app", "api")


class Import(NamedTuple):
    """A module of the package that a file imports anywhere: lazy imports and those for type checkers count too."""

    file: str  # path from the checkout
    target: str  # path of the imported file; of a folder's __init__.py where the folder itself is meant


def files_of(root: Path) -> list[Path]:
    """Return the files of the package, tests left out."""
    return [path for top in TOP for path in sorted((root / top).rglob("*.py"))]


def trees_of(root: Path) -> dict[str, ast.Module]:
    """Return the syntax trees of the files of the package by path, tests left out."""
    return {
        path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in files_of(root)
    }


def modules_of(name: str, tree: ast.Module) -> list[str]:
    """Return the module of every import in a file; modules of the package are named `tilescope.…`.

    `from x import y` counts as x and as x.y, since y may be a module.
    """
    modules = []
    package = ["tilescope", *name.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            modules += [module, *(f"{module}.{a.name}" for a in node.names)]
    return modules


def imports_of(trees: dict[str, ast.Module]) -> list[Import]:
    """Return every import of one file of the package by another."""
    modules = set()
    for name, tree in trees.items():
        for module in modules_of(name, tree):
            path = module.removeprefix("tilescope.").replace(".", "/") + ".py"
            if module.startswith("tilescope.") and path in trees and path != name:
                modules.add(Import(name, path))
    return sorted(modules)


def folder_of(file: str) -> str:
    """Return the folder of a file."""
    return file.rpartition("/")[0]


def import_cycles(imports: list[Import]) -> list[list[str]]:
    """Return the sets of files that import each other, directly or by way of others, each sorted.

    They are the strongly connected components of more than one file, from the closure of the graph under
    composition (Warshall, "A theorem on Boolean matrices", Journal of the ACM 9, 1962).
    """
    names = sorted({i.file for i in imports} | {i.target for i in imports})
    number = {name: place for place, name in enumerate(names)}
    reaches = np.zeros((len(names), len(names)), bool)
    for imported in imports:
        reaches[number[imported.file], number[imported.target]] = True
    for via in range(len(names)):
        reaches |= np.outer(reaches[:, via], reaches[via])
    both = reaches & reaches.T
    groups = {tuple(np.flatnonzero(row).tolist()) for row in both if row.any()}
    return [[names[n] for n in group] for group in sorted(groups) if len(group) > 1]

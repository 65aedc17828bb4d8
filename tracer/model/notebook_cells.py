"""Cells of notebooks as files: each has its own name and lines, and needs definitions of earlier cells.

A cell is called "lesson.ipynb [3]", with the number that Jupyter shows next to it after Restart and Run All.
"""

from __future__ import annotations

import ast
import dis
import linecache
import re
from collections.abc import Iterator
from pathlib import PurePath
from types import CodeType

NOTEBOOK_SUFFIX = ".ipynb"
OTHER_CELLS = "# --- of other cells, what the kernel uses ---"
_CELL = re.compile(rf"(.+{re.escape(NOTEBOOK_SUFFIX)}) \[([1-9]\d{{0,5}})\]", re.DOTALL | re.IGNORECASE)
LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_notebook(path: str) -> bool:
    """Return True if a path's name is that of a notebook."""
    return path.lower().endswith(NOTEBOOK_SUFFIX)


def cell_file(notebook: str, number: int) -> str:
    """Return the file name under which code of a notebook's cell (from 1) is compiled."""
    return f"{notebook} [{number}]"


def cell_of(file: str) -> tuple[str, int] | None:
    """Split a cell's file name into the notebook and the number; None for another file."""
    match = _CELL.fullmatch(file)
    return (match[1], int(match[2])) if match else None


def note_cell(file: str, text: str) -> None:
    """Store the text of a cell, or of another file, where tracebacks and `inspect` look for it."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def with_definitions(file: str, text: str, kernel: str) -> str:
    """Append to the text of a kernel's cell the definitions that the kernel uses of the other cells that have run.

    The lines of the cell keep their numbers. `tree_of` returns the definitions in such a text, in the order they ran.
    """
    cells = {name: "".join(lines) for name, lines in _noted(file) if name != file}
    statements = [(name, node) for name, other in cells.items() for node in _parsed(other)]
    needed = _for_kernel([node for _, node in statements], _parsed(text), kernel)
    texts_by_cell: dict[str, list[str]] = {}
    for name, node in (entry for entry in statements if entry[1] in needed):
        texts_by_cell.setdefault(name, []).append(_text_of(node, cells[name]))
    if not texts_by_cell:
        return text
    parts = (f"# {PurePath(name).name}\n" + "\n".join(texts) for name, texts in texts_by_cell.items())
    return f"{text.rstrip()}\n\n{OTHER_CELLS}\n\n" + "\n\n".join(parts) + "\n"


def tree_of(source: str, kernel: str) -> ast.Module:
    """Return the statements in a text by `with_definitions` that define a kernel, those of other cells first.

    Other statements of the cell (launches, prints, plots) are left out. Raises SyntaxError.
    """
    tree = ast.parse(source)
    lines = source.split("\n")
    border = lines.index(OTHER_CELLS) + 1 if OTHER_CELLS in lines else len(lines) + 1
    own = [node for node in tree.body if node.lineno < border]
    others = [node for node in tree.body if node.lineno > border]
    needed = _for_kernel(others, own, kernel)
    return ast.Module([node for node in [*others, *own] if node in needed], [])


def _noted(file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the file and the lines of each cell that has run in the notebook of a cell."""
    cell = cell_of(file)
    number = 1
    while cell and (entry := linecache.cache.get(name := cell_file(cell[0], number))) and len(entry) == 4:
        yield name, entry[2]
        number += 1


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:  # of a cell that did not run
        return []


def _text_of(node: ast.stmt, text: str) -> str:
    """Return the lines of a statement, from its first decorator on."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno])


def _for_kernel(others: list[ast.stmt], own: list[ast.stmt], kernel: str) -> set[ast.stmt]:
    """Find the statements, of the kernel's cell and of others, that bind its name or, transitively, a name they use."""
    statements = [node for node in others if not _is_function(node, kernel)] + own
    bound = {node: bound_names(node) for node in statements}
    needed, chosen = {kernel}, set(filter(_is_for_all, statements))
    while new := {node for node, names in bound.items() if node not in chosen and names & needed}:
        chosen |= new
        needed.update(*map(_used, new))
    return chosen


def _is_function(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name == name


def _is_for_all(statement: ast.stmt) -> bool:
    """Return True if a statement imports all names of a module, or changes how later ones are parsed."""
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == "__future__" or statement.names[0].name == "*"
    )


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its module, or whose elements and attributes it sets."""
    names: set[str] = set()
    for node in _outside_functions(statement):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= _base(node)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
    return names


def _base(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _used(statement: ast.stmt) -> set[str]:
    """Return the global names that a statement uses, also in its functions."""
    codes = [compile(ast.Module([statement], []), "a cell", "exec", dont_inherit=True)]
    for code in codes:  # the list grows in the loop
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    steps = (step for code in codes for step in dis.get_instructions(code))
    return {step.argval for step in steps if step.opname in LOADS}

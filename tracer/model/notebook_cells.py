"""Cells of notebooks as files: each has a name and lines of its own, and needs definitions of the cells before it.

A cell is called "lesson.ipynb [3]", by the number that Jupyter shows beside it after Restart and Run All.
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
    """Return whether a path is one of a notebook, by its name."""
    return path.lower().endswith(NOTEBOOK_SUFFIX)


def cell_file(notebook: str, number: int) -> str:
    """Return the name under which code of a notebook's cell (from 1) is compiled."""
    return f"{notebook} [{number}]"


def cell_of(file: str) -> tuple[str, int] | None:
    """Return the notebook and the number of the cell that a file's name means; None for a file that is none."""
    found = _CELL.fullmatch(file)
    return (found[1], int(found[2])) if found else None


def note_cell(file: str, text: str) -> None:
    """Keep the text of a cell, or of another file, where tracebacks and `inspect` look for it."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def with_definitions(file: str, text: str, kernel: str) -> str:
    """Return the text of a kernel's cell, and below it what the kernel uses of the other cells that have run.

    The lines of the cell keep their numbers. `tree_of` returns what such a text defines, in the order in which it ran.
    """
    cells = {name: "".join(lines) for name, lines in _noted(file) if name != file}
    statements = [(name, node) for name, other in cells.items() for node in _parsed(other)]
    taken = _for_kernel([node for _, node in statements], _parsed(text), kernel)
    found: dict[str, list[str]] = {}
    for name, node in (one for one in statements if one[1] in taken):
        found.setdefault(name, []).append(_text_of(node, cells[name]))
    if not found:
        return text
    parts = (f"# {PurePath(name).name}\n" + "\n".join(texts) for name, texts in found.items())
    return f"{text.rstrip()}\n\n{OTHER_CELLS}\n\n" + "\n\n".join(parts) + "\n"


def tree_of(source: str, kernel: str) -> ast.Module:
    """Return the statements of what `with_definitions` returned that define a kernel, those of other cells first.

    What else the cell does (launch, print, ask, draw) is left out. Raises SyntaxError.
    """
    tree = ast.parse(source)
    lines = source.split("\n")
    border = lines.index(OTHER_CELLS) + 1 if OTHER_CELLS in lines else len(lines) + 1
    own = [node for node in tree.body if node.lineno < border]
    others = [node for node in tree.body if node.lineno > border]
    taken = _for_kernel(others, own, kernel)
    return ast.Module([node for node in [*others, *own] if node in taken], [])


def _noted(file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the file and the lines of each cell that has run of the notebook of a cell."""
    found = cell_of(file)
    number = 1
    while found and (kept := linecache.cache.get(name := cell_file(found[0], number))) and len(kept) == 4:
        yield name, kept[2]
        number += 1


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:  # of a cell that did not run
        return []


def _text_of(node: ast.stmt, text: str) -> str:
    """Return the lines of a statement, from its first decorator on."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno])


def _for_kernel(others: list[ast.stmt], own: list[ast.stmt], kernel: str) -> set[ast.stmt]:
    """Return which statements, of the kernel's cell and of others, bind its name, and what those use, and so on."""
    statements = [node for node in others if not _is_function(node, kernel)] + own
    bound = {node: bound_names(node) for node in statements}
    needed, taken = {kernel}, set(filter(_is_for_all, statements))
    while new := {node for node, names in bound.items() if node not in taken and names & needed}:
        taken |= new
        needed.update(*map(_used, new))
    return taken


def _is_function(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name == name


def _is_for_all(statement: ast.stmt) -> bool:
    """Return whether a statement imports all names of a module, or says how those after it are to be read."""
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == "__future__" or statement.names[0].name == "*"
    )


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its module, or whose elements and attributes it sets."""
    found: set[str] = set()
    for node in _outside_functions(statement):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= _base(node)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
    return found


def _base(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _outside_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _used(statement: ast.stmt) -> set[str]:
    """Return the names of its module that a statement uses, those of functions in it among them; no local ones."""
    codes = [compile(ast.Module([statement], []), "a cell", "exec", dont_inherit=True)]
    for code in codes:  # which grows
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    steps = (step for code in codes for step in dis.get_instructions(code))
    return {step.argval for step in steps if step.opname in LOADS}

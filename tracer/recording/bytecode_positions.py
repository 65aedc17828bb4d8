"""Where an instruction of a kernel stands in its source, and what it is for."""

from __future__ import annotations

import ast
import dis
import linecache
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType

from ... import __file__ as _package
from ..model.syntax_tree import syntax_tree

# As code objects name it: a resolved path would be another where the package is reached through a link.
_TRACER = str(Path(_package).parent / "tracer")


def position(code: CodeType, instruction: int) -> tuple[int, int]:
    """Return (line from 1, column from 0) of an instruction's expression.

    Positions, unlike instruction numbers, stay when CPython specialises an instruction. A Python
    started without column information (-X no_debug_ranges) gives the instruction's number for a column.
    """
    line, column = _byte_position(code, instruction)
    if column is None:
        return line, instruction
    text = linecache.getline(code.co_filename, line).encode()
    return line, len(text[:column].decode(errors="ignore")) if text else column


@lru_cache(maxsize=4096)
def _byte_position(code: CodeType, instruction: int) -> tuple[int, int | None]:
    """Return the line and the column in UTF-8 bytes, which the code itself holds."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return line or code.co_firstlineno, column


@lru_cache(maxsize=4096)
def result_unused(code: CodeType, instruction: int) -> bool:
    """Return whether the value that a call leaves is thrown away: its next instruction is POP_TOP."""
    later = [s for s in dis.get_instructions(code) if s.offset > instruction]
    return bool(later) and later[0].opname == "POP_TOP"


@lru_cache(maxsize=4096)
def called_name(code: CodeType, instruction: int) -> str:
    """Return the name of what an instruction calls in its source, without its module; "" where nothing is called."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return "" if line is None or column is None else _calls(code.co_filename).get((line, column), "")


@lru_cache(maxsize=64)
def _calls(file: str) -> dict[tuple[int, int], str]:
    """Return the names of what a file calls, by (line, byte column); of several at one place that of the outermost."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    found: dict[tuple[int, int], str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found.setdefault((node.lineno, node.col_offset), name)
    return found


@lru_cache(maxsize=64)
def _targets(text: str) -> dict[tuple[int, int | None], str]:
    """Return the variable that each expression of a text is assigned to, by (line, column in bytes)."""
    found: dict[tuple[int, int | None], str] = {}
    for node in ast.walk(syntax_tree(text)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _match(target, node.value, found)
    return found


def _match(target: ast.expr, value: ast.expr, found: dict[tuple[int, int | None], str]) -> None:
    if isinstance(target, ast.Name):
        found[value.lineno, value.col_offset] = target.id
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for t, v in zip(target.elts, value.elts, strict=False):
            _match(t, v, found)


def assigned_name(code: CodeType, instruction: int, otherwise: str) -> str:
    """Return the variable that the expression at this instruction is assigned to.

    It is looked up in the text that the file has now: a file may be edited and run again in one process.
    """
    text = "".join(linecache.getlines(code.co_filename))
    return _targets(text).get(_byte_position(code, instruction), otherwise)


def is_our_own(file: str) -> bool:
    """Return whether a frame's file is one of the tracer's, and not of the program that it traces."""
    return file.startswith(_TRACER)

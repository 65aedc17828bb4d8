"""Source positions of a kernel's instructions, and the names that they call or assign."""

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

# Unresolved, as in code objects: a resolved path would differ if the package is reached through a link.
_TRACER = str(Path(_package).parent / "tracer")


def position(code: CodeType, instruction: int) -> tuple[int, int]:
    """Return (line from 1, column from 0) of an instruction's expression.

    Positions, unlike instruction numbers, don't change when CPython specialises an instruction. Without column
    information (-X no_debug_ranges), the instruction's number replaces the column.
    """
    line, column = _byte_position(code, instruction)
    if column is None:
        return line, instruction
    text = linecache.getline(code.co_filename, line).encode()
    return line, len(text[:column].decode(errors="ignore")) if text else column


@lru_cache(maxsize=4096)
def _byte_position(code: CodeType, instruction: int) -> tuple[int, int | None]:
    """Return the line and the column in UTF-8 bytes, as stored in the code object."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return line or code.co_firstlineno, column


@lru_cache(maxsize=4096)
def is_result_unused(code: CodeType, instruction: int) -> bool:
    """Check whether the result of a call is discarded: the next instruction is POP_TOP."""
    following = [later for later in dis.get_instructions(code) if later.offset > instruction]
    return bool(following) and following[0].opname == "POP_TOP"


@lru_cache(maxsize=4096)
def called_name(code: CodeType, instruction: int) -> str:
    """Return the name of the function that an instruction calls, without its module; "" if it calls none."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return "" if line is None or column is None else _calls(code.co_filename).get((line, column), "")


@lru_cache(maxsize=64)
def _calls(file: str) -> dict[tuple[int, int], str]:
    """List the functions that a file calls, by (line, byte column); the outermost of several at one position."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    names: dict[tuple[int, int], str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            names.setdefault((node.lineno, node.col_offset), name)
    return names


@lru_cache(maxsize=64)
def _targets(text: str) -> dict[tuple[int, int | None], str]:
    """List the variable that each expression of a text is assigned to, by (line, byte column)."""
    targets: dict[tuple[int, int | None], str] = {}
    for node in ast.walk(syntax_tree(text)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _add_targets(target, node.value, targets)
    return targets


def _add_targets(target: ast.expr, value: ast.expr, targets: dict[tuple[int, int | None], str]) -> None:
    if isinstance(target, ast.Name):
        targets[value.lineno, value.col_offset] = target.id
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for inner_target, inner_value in zip(target.elts, value.elts, strict=False):
            _add_targets(inner_target, inner_value, targets)


def assigned_name(code: CodeType, instruction: int, otherwise: str) -> str:
    """Return the variable that the expression at this instruction is assigned to, or `otherwise`.

    The current text of the file is used, because a file may be edited and run again in the same process.
    """
    text = "".join(linecache.getlines(code.co_filename))
    return _targets(text).get(_byte_position(code, instruction), otherwise)


def is_tracer_file(file: str) -> bool:
    """Check whether a file belongs to the tracer, not to the program that it traces."""
    return file.startswith(_TRACER)

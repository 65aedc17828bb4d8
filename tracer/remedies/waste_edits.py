"""Edits against waste: longer rows of a shared array, x and y exchanged, and numbers written as float32."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from .kernel_statements import Fix, KernelText, end

LONGER_ROWS = re.compile(r"^make each row of (\w+) ([\d,]+) elements? longer")
OTHER_AXES = re.compile(r"^(?:write `([^`]+)` on line (\d+), so that|let) threadIdx\.x (?:is|be) ")
NARROW = re.compile(r"float32\(((?:[^()]|\([^()]*\))+)\)")
ONLY_NARROW = re.compile(r"^write (?:float32\((?:[^()]|\([^()]*\))+\)(?:, | and |$))+$")
OTHER_GRIDS = "and swap the two lengths of other launches' grids and blocks where they differ"


def row_fixes(text: KernelText, line: int, remedy: str) -> list[Fix]:
    """Make the rows of an array longer where the kernel declares it; line: of an access."""
    match = LONGER_ROWS.match(remedy)
    if match is None:
        return []
    fixes = []
    for node in text.statements_around(line):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        call, target = node.value, node.targets[0]
        is_array = isinstance(call.func, ast.Attribute) and call.func.attr == "array"
        if not is_array or not isinstance(target, ast.Name) or target.id != match[1]:
            continue
        shapes = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "shape")]
        for shape in shapes[:1]:
            if isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) > 1:
                new = _longer(text, shape.elts[-1], int(match[2].replace(",", "")))
                rows = match[0]
                fixes += _replaced(text, [(shape.elts[-1], new)], f"{rows} on line {shape.elts[-1].lineno}")
    return fixes


def _longer(text: KernelText, length: ast.expr, more: int) -> str:
    if isinstance(length, ast.Constant) and isinstance(length.value, int):
        return str(length.value + more)
    return f"{text.segment(length)} + {more}"


def axes_fixes(text: KernelText, line: int, remedy: str) -> list[Fix]:
    """Exchange x and y where the kernel computes a thread's coordinates; line: of an access."""
    match = OTHER_AXES.match(remedy)
    if match is None:
        return []
    if match[1]:
        number = int(match[2])
        statement = next((s for s in text.path(number)[-1:] if isinstance(s, ast.Assign)), None)
        if statement is None or end(statement) != number:
            return []
        before, after = text.byte_parts(number, statement.col_offset, statement.end_col_offset or 0)
        return [
            Fix(
                f"write `{match[1]}` on line {number}, {OTHER_GRIDS}",
                text.replace([(number, number + 1, [before + match[1] + after])]),
            )
        ]
    assignments = [
        (node, node.targets[0])
        for node in text.statements_around(line)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    fixes = []
    for number, (first, first_name) in enumerate(assignments):
        for second, second_name in assignments[number + 1 :]:
            value = ast.unparse(first.value)
            if "threadIdx" in value and _exchanged(value) == ast.unparse(second.value) != value:
                names = text.segment(first_name), text.segment(second_name)
                fixes += _replaced(
                    text,
                    [(first_name, names[1]), (second_name, names[0])],
                    f"exchange {names[0]} and {names[1]} on lines {first.lineno} and {second.lineno}, {OTHER_GRIDS}",
                )
    return fixes


def _exchanged(value: str) -> str:
    return re.sub(r"\.([xy])\b", lambda match: ".y" if match[1] == "x" else ".x", value)


def float32_fixes(text: KernelText, lines: Iterable[int], remedy: str) -> list[Fix]:
    """Write numbers as float32: on the finding's lines, else wherever they stand in the function."""
    lines, name = sorted(lines), _float32_in(text)
    if not ONLY_NARROW.match(remedy) or not lines or not name:
        return []
    wanted = dict.fromkeys(NARROW.findall(remedy))
    there = [node for node in text.statements_around(lines[0]) if isinstance(node, ast.expr)]
    fixes = []
    for is_near in (True, False):
        nodes = [
            node
            for node in there
            if text.segment(node) in wanted
            and (not is_near or node.lineno in lines)
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            and (is_near or isinstance(node, ast.Constant))
        ]
        if {text.segment(node) for node in nodes} == {*wanted}:
            written = [f"{name}({text.segment(node)})" for node in nodes]
            on = f"line{'s' if len({n.lineno for n in nodes}) > 1 else ''}"
            numbers = ", ".join(str(number) for number in sorted({node.lineno for node in nodes}))
            fixes += _replaced(
                text,
                list(zip(nodes, written, strict=True)),
                f"write {', '.join(dict.fromkeys(written))} on {on} {numbers}",
            )
    return fixes


def _float32_in(text: KernelText) -> str:
    """Return the name of float32 in a text, "" if it imports nothing that has it."""
    for node in text.top_level():
        if isinstance(node, ast.ImportFrom) and node.module in ("numba", "numpy", "numba.types"):
            for alias in node.names:
                if alias.name == "float32":
                    return alias.asname or alias.name
    for node in text.top_level():
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ("numpy", "numba"):
                    return f"{alias.asname or alias.name}.float32"
    return ""


def _replaced(text: KernelText, changes: list[tuple[ast.expr, str]], remedy: str) -> list[Fix]:
    """Replace expressions, each within one line."""
    lines: dict[int, str] = {}
    for node, new in sorted(changes, key=lambda change: -change[0].col_offset):
        if node.end_lineno != node.lineno:
            return []
        before, after = text.byte_parts(
            node.lineno, node.col_offset, node.end_col_offset or 0, lines.get(node.lineno)
        )
        lines[node.lineno] = before + new + after
    return [Fix(remedy, text.replace([(line, line + 1, [new]) for line, new in lines.items()]))]

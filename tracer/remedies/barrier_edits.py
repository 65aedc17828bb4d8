"""Edits that put a barrier between two lines: in the same suite, outside a branch, at the end of a loop's pass."""

from __future__ import annotations

import ast
from itertools import pairwise, product

from .kernel_statements import Fix, KernelText, blocks, end

Change = tuple[int, int, list[str]]  # the lines from `low` to `high` - 1 become these
Placement = tuple[str, list[Change]]  # where the barrier goes, in words, and the change
LOOPS = (ast.For, ast.While)


def barrier_fixes(text: KernelText, upper: int, lower: int, barrier: str) -> list[Fix]:
    """List edits that may order the accesses on two lines, the smallest first."""
    upper_path, lower_path = text.path(upper), text.path(lower)
    if not upper_path or not lower_path:
        return []
    forth = _forth(text, upper_path, lower_path, barrier)
    back = _back(text, upper_path, lower_path, barrier)
    single = [(words, changes) for words, changes in (*forth, *back)]
    double = [
        (f"{words} and {more.removeprefix('put ' + barrier + ' ')}", [*changes, *others])
        for (words, changes), (more, others) in product(forth, back)
        if not _overlap([*changes, *others])
    ]
    ordered = sorted([*single, *double], key=lambda placement: _size(placement[1]))
    return [Fix(words, text.replace(changes)) for words, changes in ordered]


def _size(changes: list[Change]) -> int:
    return sum(len(new) + high - low for low, high, new in changes)


def _overlap(changes: list[Change]) -> bool:
    """Return True if two changes concern one line, or insert at one place."""
    ordered = sorted(changes, key=lambda change: change[:2])
    return any(first[1] > second[0] or first[:2] == second[:2] for first, second in pairwise(ordered))


def _forth(text: KernelText, upper: list[ast.stmt], lower: list[ast.stmt], barrier: str) -> list[Placement]:
    """List placements between the upper access and the lower one in the order of the text."""
    common = _common(upper, lower)
    if common == len(upper) == len(lower):
        return _split(text, upper, barrier)
    if common == len(upper):
        return _after_condition(text, upper, barrier)
    if common == len(lower):
        return []
    if common and not any(
        upper[common] in suite and lower[common] in suite for suite in blocks(upper[common - 1])
    ):
        return _between_arms(text, upper, lower, common, barrier)
    return _after(text, upper[: common + 1], lower[common], barrier)


def _common(upper: list[ast.stmt], lower: list[ast.stmt]) -> int:
    return next(
        (
            number
            for number, (upper_item, other) in enumerate(zip(upper, lower, strict=False))
            if upper_item is not other
        ),
        min(len(upper), len(lower)),
    )


def _after(text: KernelText, path: list[ast.stmt], following: ast.stmt, barrier: str) -> list[Placement]:
    """List placements after a statement: next to it, or outside the branches around it, which continue after it."""
    statement = path[-1]
    where = f"put {barrier} between line {end(statement)} and line {following.lineno}"
    place = end(statement) + 1
    placements: list[Placement] = [(where, [(place, place, [text.indent(statement) + barrier])])]
    for outer, reopened in _branches(text, path):
        new = [text.indent(outer) + barrier, *reopened]
        placements.append((f"{where}, {_outside(outer)}", [(place, place, new)]))
    return placements


def _outside(branch: ast.If) -> str:
    return f"outside the branch of line {branch.lineno}, split in two there"


def _branches(text: KernelText, path: list[ast.stmt]) -> list[tuple[ast.If, list[str]]]:
    """List the branches around a path's last statement, the innermost first, with the lines that reopen them."""
    branches, reopened = [], list[str]()
    for outer, inner in reversed(list(pairwise(path))):
        if not isinstance(outer, ast.If) or outer.orelse or inner not in outer.body:
            break
        header = text.header(outer)
        if header is None:
            break
        reopened = [header, *reopened]
        branches.append((outer, reopened))
    return branches


def _split(text: KernelText, path: list[ast.stmt], barrier: str) -> list[Placement]:
    """List splits of one statement that reads and stores: read into a variable, barrier, store."""
    statement, name = path[-1], text.unused_name("value")
    if isinstance(statement, ast.AugAssign):
        target = text.segment(statement.target)
        operator = ast.unparse(ast.AugAssign(ast.Name("x"), statement.op, ast.Name("y")))[2:].split("=")[0]
        value = f"{target} {operator} ({text.segment(statement.value)})"
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = text.segment(statement.targets[0]), text.segment(statement.value)
    else:
        return []
    line, indent = statement.lineno, text.indent(statement)
    if "\n" in target + value or text.lines[line - 1][: statement.col_offset].strip():
        return []
    read, store = f"{indent}{name} = {value}", f"{indent}{target} = {name}"
    where = f"read line {line}'s value into a variable first, and put {barrier} before it is stored"
    after = end(statement) + 1
    placements: list[Placement] = [(where, [(line, after, [read, indent + barrier, store])])]
    for outer, reopened in _branches(text, path):
        new = [read, text.indent(outer) + barrier, *reopened, store]
        placements.append((f"{where}, {_outside(outer)}", [(line, after, new)]))
    return placements


def _after_condition(text: KernelText, path: list[ast.stmt], barrier: str) -> list[Placement]:
    """Place a barrier between a condition and its branch: the condition goes into a variable."""
    branch = path[-1]
    if not isinstance(branch, ast.If) or text.header(branch) is None:
        return []
    line, indent, name = branch.lineno, text.indent(branch), text.unused_name("condition")
    where = f"keep the condition of line {line} in a variable, and put {barrier} after it, before the branch"
    new = [f"{indent}{name} = {text.segment(branch.test)}", indent + barrier, f"{indent}if {name}:"]
    return [(where, [(line, line + 1, new)])]


def _between_arms(
    text: KernelText, upper: list[ast.stmt], lower: list[ast.stmt], common: int, barrier: str
) -> list[Placement]:
    """Place a barrier between the two arms of an `if`, which become two branches."""
    branch = upper[common - 1]
    if not isinstance(branch, ast.If) or upper[common] not in branch.body or text.header(branch) is None:
        return []
    between = range(end(branch.body[-1]) + 1, branch.orelse[0].lineno)
    line = next((number for number in between if text.lines[number - 1].strip() == "else:"), 0)
    if not line:
        return []
    indent = text.indent(branch)
    where = (
        f"put {barrier} between line {upper[-1].lineno} and line {lower[-1].lineno}, with the two arms of "
        f"line {branch.lineno} under an `if` each"
    )
    opened = f"{indent}if not ({text.segment(branch.test)}):"
    return [(where, [(line, line + 1, [indent + barrier, opened])])]


def _back(text: KernelText, upper: list[ast.stmt], lower: list[ast.stmt], barrier: str) -> list[Placement]:
    """List placements after the lower access, before a loop comes to the upper one again."""
    placements: list[Placement] = []
    for depth in reversed(range(_common(upper, lower))):
        if not isinstance(upper[depth], LOOPS) or len(lower) <= depth + 1:
            continue
        last = lower[depth + 1]
        branch = f", outside the branch of line {last.lineno}" if isinstance(last, ast.If) else ""
        again = upper[-1].lineno if len(upper) > depth + 1 else upper[depth].lineno
        where = f"put {barrier} after line {end(last)}{branch}, before line {again} comes again"
        place = end(last) + 1
        placements.append((where, [(place, place, [text.indent(last) + barrier])]))
    return placements

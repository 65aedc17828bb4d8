"""Candidates for the remedy of a finding: edits of the kernel's text, made from the finding's lines."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import NamedTuple, Protocol

from ..analysis.kernel_structure import is_in_cuda_cpp, kernel_file, site_in_kernel
from ..findings.out_of_bounds import REMEDY as BOUNDS_REMEDY
from ..findings.race_barrier_placement import WARP_BARRIER
from ..findings.warp_masks import DROP_MASK
from ..model import cpp_text
from ..model.finding import Finding
from ..model.trace import Trace
from .barrier_edits import barrier_fixes
from .bounds_edits import bounds_fixes
from .cpp_edits import barrier_moves, race_fixes
from .kernel_statements import Fix, KernelText, end
from .waste_edits import LONGER_ROWS, ONLY_NARROW, OTHER_AXES, axes_fixes, float32_fixes, row_fixes

ATOMICS = {
    ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
}  # fmt: skip
MOST_CANDIDATES = 12
WASTE_EDITS = {"bank conflict": LONGER_ROWS, "uncoalesced": OTHER_AXES, "float64": ONLY_NARROW}
NOTHING = re.compile("(?!)")
CAN_BE_TRIED = re.compile(
    r"^(put (cuda\.|__|line )|use (cuda\.|an atomic|atomic)|move |keep what|name both|let only one thread write)"
)


class Advice(Protocol):
    """A finding's kind and remedy."""

    @property
    def kind(self) -> str:
        """The kind of the finding."""

    @property
    def remedy(self) -> str:
        """What to change, "" for nothing."""


def is_mechanical(finding: Advice) -> bool:
    """Return True if a finding's remedy is a change of its kernel's text, which must be tried before it is shown."""
    return finding.kind in ("race", "barrier") and bool(CAN_BE_TRIED.match(finding.remedy))


def is_edit_of_error(finding: Advice) -> bool:
    """Return True if edits can be tried that mend an error; its remedy is shown also if none works."""
    return finding.kind == "bounds" and finding.remedy == BOUNDS_REMEDY


def is_edit_of_waste(finding: Advice) -> bool:
    """Return True if edits can be tried that mend correct but slow code; its remedy is shown also if none works."""
    return bool(WASTE_EDITS.get(finding.kind, NOTHING).match(finding.remedy))


def has_edits(finding: Advice) -> bool:
    """Return True if edits of the kernel's text can be tried."""
    return is_mechanical(finding) or is_edit_of_error(finding) or is_edit_of_waste(finding)


def candidates_of(trace: Trace, finding: Finding, source: str) -> list[Fix]:
    """List edits of the source that may mend a finding, in the order in which to try them."""
    lines = _lines(trace, finding)
    if not lines or not has_edits(finding):
        return []
    if is_in_cuda_cpp(trace):
        return _cpp_candidates(trace, finding, lines, source)
    try:
        text = KernelText(source)
    except (SyntaxError, ValueError):
        return []
    if not is_mechanical(finding):
        fixes = _other_fixes(text, trace, finding, lines)
    elif finding.kind == "race":
        fixes = _race_fixes(text, lines, finding.remedy)
    elif finding.remedy == DROP_MASK:
        fixes = _complete_masks(text)
    else:
        fixes = _barrier_moves(text, lines)
    different = {fix.text: fix for fix in reversed(fixes) if fix.text != source}
    return list(reversed(different.values()))[:MOST_CANDIDATES]


def _other_fixes(text: KernelText, trace: Trace, finding: Finding, lines: list[int]) -> list[Fix]:
    """List edits against accesses outside arrays and against waste."""
    if finding.kind == "bounds":
        space, _, origin = finding.cause.partition(" ")
        return bounds_fixes(text, trace, space) if origin == "thread" else []
    if finding.kind == "float64":
        return float32_fixes(text, lines, finding.remedy)
    edit = axes_fixes if finding.kind == "uncoalesced" else row_fixes
    return edit(text, lines[0], finding.remedy)


def _cpp_candidates(trace: Trace, finding: Finding, lines: list[int], source: str) -> list[Fix]:
    if not is_mechanical(finding):
        return []
    if finding.kind == "barrier":
        return barrier_moves(source, lines[0])
    barriers = cpp_text.barrier_lines(source, trace.kernel)
    moves = [move for line in barriers for move in barrier_moves(source, line)]
    fixes = [*race_fixes(source, lines, finding.remedy), *moves]
    return list({fix.text: fix for fix in reversed(fixes)}.values())[::-1][:MOST_CANDIDATES]


def _lines(trace: Trace, finding: Finding) -> list[int]:
    """List the lines of a finding's sites in the kernel's file, in ascending order; none if they are elsewhere."""
    if finding.location is not None and finding.kind == "float64":
        return sorted({finding.location[1], *(place.line for place in finding.also if not place.file)})
    sites = [trace.sites[number] for number in finding.sites]
    if len({(site.file, site.function) for site in sites}) > 1:
        sites = [site_in_kernel(trace, site) for site in sites]
    file = kernel_file(trace)
    return sorted(site.line for site in sites) if all(site.file == file for site in sites) else []


def _race_fixes(text: KernelText, lines: list[int], remedy: str) -> list[Fix]:
    upper, lower = lines[0], lines[-1]
    if remedy.startswith("use cuda.atomic"):
        own = _atomics(text, sorted(set(lines)))
        return [*own, *_atomics(text, _updates_of_array(text, upper))]
    if "threadfence" in remedy:
        return _fences(text, upper, lower, remedy)
    if remedy.startswith("name both"):
        return _complete_masks(text)
    barrier = (
        "cuda.syncwarp()"
        if remedy.find(WARP_BARRIER) >= 0 > remedy.find("syncthreads")
        else "cuda.syncthreads()"
    )
    return barrier_fixes(text, upper, lower, barrier)


class Update(NamedTuple):
    """A statement that updates an element: `a[i] += v` or `a[i] = a[i] + v`."""

    statement: ast.stmt
    target: ast.Subscript
    operator: ast.operator
    value: ast.expr


def _update_of(text: KernelText, statement: ast.stmt | None) -> Update | None:
    """Read an update of an element; None for any other statement."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        return Update(statement, statement.target, statement.op, statement.value)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Subscript) or not isinstance(value, ast.BinOp):
        return None
    operands, element = [value.left, value.right], text.segment(target)
    own = [operand for operand in operands if text.segment(operand) == element]
    if len(own) != 1 or (own[0] is value.right and isinstance(value.op, ast.Sub)):
        return None
    return Update(statement, target, value.op, operands[1 - operands.index(own[0])])


def _atomics(text: KernelText, lines: list[int]) -> list[Fix]:
    """Replace the update of an element on each of these lines by an atomic."""
    changes, calls = [], []
    for line in lines:
        path = text.path(line)
        update = _update_of(text, path[-1] if path else None)
        name = ATOMICS.get(type(update.operator)) if update else None
        if update is None or name is None:
            return []
        index = text.segment(update.target.slice)
        index = f"({index})" if isinstance(update.target.slice, ast.Tuple) and index[0] != "(" else index
        array, value = text.segment(update.target.value), text.segment(update.value)
        call = f"cuda.atomic.{name}({array}, {index}, {value})"
        changes.append((line, end(update.statement) + 1, [text.indent(update.statement) + call]))
        calls.append(f"{call} on line {line}")
    return [Fix(f"write {' and '.join(calls)}", text.replace(changes))]


def _updates_of_array(text: KernelText, line: int) -> list[int]:
    """List the lines of a function that update the array updated on a line."""
    path = text.path(line)
    own = _update_of(text, path[-1] if path else None)
    if own is None:
        return []
    updates = (_update_of(text, node) for node in text.statements_around(line) if isinstance(node, ast.stmt))
    array = text.segment(own.target.value)
    return [
        update.statement.lineno for update in updates if update and text.segment(update.target.value) == array
    ]


def _fences(text: KernelText, upper: int, lower: int, remedy: str) -> list[Fix]:
    """Put a fence after the first access, before the second, or both."""
    fence = "cuda.threadfence_block()" if "threadfence_block" in remedy else "cuda.threadfence()"
    above, below = text.path(upper), text.path(lower)
    if not above or not below:
        return []
    first, last = above[-1], below[-1]
    new = [fence] if "syncwarp" not in remedy else ["cuda.syncwarp()", fence]
    after = (end(first) + 1, end(first) + 1, [text.indent(first) + line for line in new])
    before = (last.lineno, last.lineno, [text.indent(last) + fence])
    names = " and ".join(new)
    own = re.search(r"the atomic on line (\d+)", remedy)
    atomic = text.path(int(own[1])) if own else []
    before_atomic = [
        Fix(
            f"put {names} before the atomic on line {atomic[-1].lineno}",
            text.replace([(atomic[-1].lineno, atomic[-1].lineno, [text.indent(atomic[-1]) + line for line in new])]),
        )
    ] if atomic and atomic[-1].lineno > upper else []  # fmt: skip
    return [
        *before_atomic,
        Fix(f"put {names} after line {end(first)}", text.replace([after])),
        Fix(f"put {fence} before line {last.lineno}", text.replace([before])),
        Fix(
            f"put {names} after line {end(first)} and {fence} before line {last.lineno}",
            text.replace([after, before]),
        ),
    ]


def _complete_masks(text: KernelText) -> list[Fix]:
    """Drop the mask of each cuda.syncwarp(...), so that all lanes of the warp meet there."""
    fixes = []
    for number, line in enumerate(text.lines, 1):
        new = re.sub(r"cuda\.syncwarp\([^()]+\)", "cuda.syncwarp()", line)
        if new != line:
            fixes.append(
                Fix(
                    f"write cuda.syncwarp() without a mask on line {number}",
                    text.replace([(number, number + 1, [new])]),
                )
            )
    return fixes


def _barrier_moves(text: KernelText, lines: list[int]) -> list[Fix]:
    """Move a barrier out of the branches around it, one after the other."""
    line = lines[0]
    path = text.path(line)
    fixes: list[Fix] = []
    for depth in reversed(range(len(path) - 1)):
        branch = path[depth]
        if not isinstance(branch, ast.If):
            break
        barrier = text.lines[line - 1].strip()
        where = f"move {barrier} of line {line} out of the branch of line {branch.lineno}"
        if fix := _moved(text, path[depth:], barrier, where):
            fixes.append(fix)
    return fixes


def _moved(text: KernelText, path: list[ast.stmt], barrier: str, where: str) -> Fix | None:
    """Move the barrier that is the last statement of a path behind or into the middle of the path's first branch."""
    branch, call = path[0], path[-1]
    assert isinstance(branch, ast.If)
    headers, line = [], call.lineno
    is_last = True
    for outer, inner in pairwise(path):
        if not isinstance(outer, ast.If) or inner not in outer.body:
            return None
        header = text.header(outer)
        if header is None:
            return None
        headers.append(header)
        is_last = is_last and inner is outer.body[-1]
    parent = path[-2]
    assert isinstance(parent, ast.If)
    left = [text.indent(call) + "pass"] if len(parent.body) == 1 else []
    outside = text.indent(branch) + barrier
    if is_last:
        place = end(branch) + 1
        return Fix(f"{where}, after it", text.replace([(line, line + 1, left), (place, place, [outside])]))
    if any(isinstance(statement, ast.If) and statement.orelse for statement in path[:-1]):
        return None
    first = parent.body[0] is call
    if first and len(path) == 2:
        return Fix(
            f"{where}, before it",
            text.replace([(branch.lineno, line + 1, [outside, *text.lines[branch.lineno - 1 : line - 1]])]),
        )
    return Fix(f"{where}, which it splits in two", text.replace([(line, line + 1, [outside, *headers])]))

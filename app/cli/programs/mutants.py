"""Mutants of the kernels in a file: small faults, each of which a good test notices."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

USED_SUFFIX = ".used"  # of the empty file that marks a text as used
BARRIERS = ("syncthreads", "syncwarp", "sync")
# Statements without atomicity, by the method of `cuda.atomic`.
UNATOMIC = {
    "add": "{0}[{1}] += {2}",
    "sub": "{0}[{1}] -= {2}",
    "max": "{0}[{1}] = max({0}[{1}], {2})",
    "min": "{0}[{1}] = min({0}[{1}], {2})",
}
WIDER = {ast.Lt: ("<", "<="), ast.Gt: (">", ">=")}


class Mutant(NamedTuple):
    """A file with one fault."""

    kernel: str  # name of the function
    line: int  # from 1
    change: str  # such as "cuda.syncthreads() removed"
    is_barrier: bool  # whether a barrier was removed
    text: str  # of the complete file


class _Edit(NamedTuple):
    first: int  # byte
    last: int  # the byte after it
    new: str
    change: str
    is_barrier: bool = False


class _Text:
    """A file's text, with the bytes of each node of its tree."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the first byte of a node, and the byte after it."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        first = self._starts[node.lineno - 1] + node.col_offset
        return first, self._starts[node.end_lineno - 1] + node.end_col_offset

    def between(self, first: int, last: int) -> str:
        return self._bytes[first:last].decode()

    def text_of(self, node: ast.expr) -> str:
        return self.between(*self.span(node))

    def line(self, byte: int) -> int:
        return bisect_right(self._starts, byte)

    def edited(self, edit: _Edit) -> str:
        return (self._bytes[: edit.first] + edit.new.encode() + self._bytes[edit.last :]).decode()


def mutants_of(text: str, kernel: str = "") -> list[Mutant]:
    """List the mutants of the functions under `cuda.jit` in a file's text, by line; raises SyntaxError.

    kernel: the name of the only function to change, "" for all.
    """
    source = _Text(text)
    mutants = [
        Mutant(function.name, source.line(edit.first), edit.change, edit.is_barrier, source.edited(edit))
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef) and any(map(_is_jit, function.decorator_list))
        if not kernel or function.name == kernel
        for statement in function.body
        for edit in _edits(statement, source)
    ]
    return sorted(mutants, key=lambda mutant: mutant.line)


def _is_jit(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function).endswith("cuda.jit")


def _edits(statement: ast.stmt, source: _Text) -> Iterator[_Edit]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _edits_of_call(node.value, source)
        elif isinstance(node, ast.Compare):
            yield from _wider(node, source)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            texts = [source.text_of(element) for element in node.slice.elts]
            if len(texts) == 2 and texts[0] != texts[1]:
                first, last = source.span(node.slice.elts[0])[0], source.span(node.slice.elts[1])[1]
                swapped = f"{texts[1]}, {texts[0]}"
                yield _Edit(first, last, swapped, f"{source.text_of(node)} became [{swapped}]")


def _edits_of_call(call: ast.Call, source: _Text) -> Iterator[_Edit]:
    """Remove a barrier, or the atomicity of an operation whose old value is not used."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in BARRIERS:
        yield _Edit(*source.span(call), "pass", f"{source.text_of(call)} removed", True)
    elif new := _without_atomic(call, source):
        yield _Edit(*source.span(call), new, f"{ast.unparse(call.func)} became {new}")


def _wider(node: ast.Compare, source: _Text) -> Iterator[_Edit]:
    """Turn < into <= and > into >=."""
    operands = [node.left, *node.comparators]
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        if type(operator) in WIDER:
            old, new = WIDER[type(operator)]
            first, last = source.span(left)[1], source.span(right)[0]
            text = source.between(first, last).replace(old, new, 1)
            yield _Edit(first, last, text, f"{ast.unparse(node)}: {old} became {new}")


def _without_atomic(call: ast.Call, source: _Text) -> str:
    """Return an atomic operation as a statement without atomicity, "" for any other call."""
    function = call.func
    is_atomic = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute)
    if not is_atomic or ast.unparse(function).split(".")[-2] != "atomic" or len(call.args) != 3:
        return ""
    form = UNATOMIC.get(ast.unparse(function).split(".")[-1], "")
    return form.format(*map(source.text_of, call.args))

"""Edits of kernels in CUDA C++ that may mend a race or a divergent barrier; `trial.py` tries them in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product

from msgspec import Struct

from ..model import cpp_text
from .kernel_statements import Fix

LOOPS = ("for", "while", "do")
_KEYWORD = re.compile(r"(if|for|while|switch)\b(?:\s*constexpr)?\s*\(|(do|else)\b")
_UPDATE = re.compile(
    r"^(?P<target>[\w.>\-]+(?:\[[^;=]*\])+|\*\w+)\s*(?P<operator>[-+&|^])=\s*(?P<value>[^;]+);$"
)
_STEP = re.compile(r"^(?:(?:\+\+)(?P<before>[^;]+)|(?P<after>[^;]+)\+\+);$")
_ATOMICS = {"+": "atomicAdd", "-": "atomicSub", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}

Insertion = tuple[int, str]  # position in the text, and what is put there
Placement = tuple[str, list[Insertion]]  # where the barrier goes, in words


class Node(Struct, frozen=True):
    """A statement. begin, end: its positions in the text; opening, closing: those of its body's braces, else -1."""

    kind: str  # "if", "for", "while", "do", "switch", "block" or "simple"
    begin: int
    end: int
    opening: int = -1
    closing: int = -1
    children: tuple[Node, ...] = ()


class CppText:
    """A text in CUDA C++ with the statements of its functions."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._plain = cpp_text.plain(source)
        self._functions = cpp_text.functions(source)

    def line(self, position: int) -> int:
        """Return the line (from 1) of a position."""
        return self.source.count("\n", 0, position) + 1

    def path(self, line: int) -> list[Node]:
        """List the statements around a line, from the function's body inwards; none outside functions."""
        function = next((f for f in self._functions if f.first <= line <= f.last), None)
        path: list[Node] = []
        nodes = tuple(self._statements(function.body + 1, function.end - 1)) if function else ()
        while node := next((n for n in nodes if self.line(n.begin) <= line <= self.line(n.end - 1)), None):
            path.append(node)
            nodes = node.children
        return path

    def indent(self, position: int) -> str:
        """Return the white space at the start of a position's line."""
        line = self.source[self.source.rfind("\n", 0, position) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def before(self, node: Node, statement: str) -> Insertion:
        """Insert a statement on a separate line before another one."""
        start = self.source.rfind("\n", 0, node.begin) + 1
        if self.source[start : node.begin].strip():
            return node.begin, f"{statement} "
        return start, f"{self.indent(node.begin)}{statement}\n"

    def after(self, node: Node, statement: str) -> Insertion:
        """Insert a statement on a separate line after another one."""
        end = self.source.find("\n", node.end)
        if end < 0 or self._plain[node.end : end].strip():
            return node.end, f" {statement}"
        return end, f"\n{self.indent(node.begin)}{statement}"

    def inserted(self, insertions: list[Insertion]) -> str:
        """Return the text with insertions."""
        text = self.source
        for position, piece in sorted(insertions, reverse=True):
            text = text[:position] + piece + text[position:]
        return text

    def without(self, node: Node) -> tuple[int, int]:
        """Return the positions of a statement with its line, if that has nothing else."""
        start, end = self.source.rfind("\n", 0, node.begin) + 1, self.source.find("\n", node.end)
        if (
            end >= 0
            and not self._plain[start : node.begin].strip()
            and not self._plain[node.end : end].strip()
        ):
            return start, end + 1
        return node.begin, node.end

    def _statements(self, position: int, end: int) -> Iterator[Node]:
        while (position := self._skip(position, end)) < end:
            node = self._statement(position, end)
            yield node
            position = max(node.end, position + 1)

    def _skip(self, position: int, end: int) -> int:
        while position < end and self._plain[position].isspace():
            position += 1
        return position

    def _statement(self, position: int, end: int) -> Node:
        text, begin = self._plain, position
        if text[position] == "{":
            closing = self._closing(position, end)
            return Node(
                "block", begin, closing + 1, position, closing, tuple(self._statements(position + 1, closing))
            )
        match = _KEYWORD.match(text, position)
        if match is None:
            return Node("simple", begin, self._semicolon(position, end))
        position = self._closing(match.end() - 1, end) + 1 if match[1] else match.end()
        position = self._skip(position, end)
        if position >= end:
            return Node("simple", begin, end)
        body = self._statement(position, end)
        stop, kind = body.end, match[1] or match[2]
        children = body.children if body.kind == "block" else (body,)
        if kind == "do":
            stop = self._semicolon(stop, end)
        otherwise = self._skip(stop, end)
        if kind == "if" and re.compile(r"else\b").match(text, otherwise):
            other = self._statement(otherwise, end)
            children, stop = (*children, other), other.end
        return Node("if" if kind == "else" else kind, begin, stop, body.opening, body.closing, children)

    def _closing(self, opening: int, end: int) -> int:
        """Return the position of the bracket that closes the one at `opening`; the end if there is none."""
        depth = 0
        for position in range(opening, end):
            depth += self._plain[position] in "([{"
            depth -= self._plain[position] in ")]}"
            if not depth:
                return position
        return end - 1

    def _semicolon(self, position: int, end: int) -> int:
        depth = 0
        while position < end:
            character = self._plain[position]
            depth += character in "([{"
            depth -= character in ")]}"
            position += 1
            if character == ";" and depth <= 0:
                break
        return position


def race_fixes(source: str, lines: list[int], remedy: str) -> list[Fix]:
    """List edits that may order the accesses on two lines, the likeliest first; remedy: the finding's, in C++."""
    text = CppText(source)
    if "atomic" in remedy and remedy.startswith("use "):
        return _atomic_fixes(text, sorted(set(lines)))
    if remedy.startswith("let only one thread write"):
        return _atomic_fixes(text, sorted(set(lines))) + race_fixes(source, lines, "")
    upper, lower = text.path(lines[0]), text.path(lines[-1])
    if not upper or not lower or upper[0].begin > lower[0].begin:
        return []
    if "__threadfence" in remedy:
        fence = "__threadfence_block();" if "__threadfence_block" in remedy else "__threadfence();"
        after, before = text.after(upper[-1], fence), text.before(lower[-1], fence)
        line = text.line(upper[-1].end - 1)
        return [
            Fix(f"put {fence[:-1]} after line {line}", text.inserted([after])),
            Fix(f"put {fence[:-1]} before line {lines[-1]}", text.inserted([before])),
            Fix(
                f"put {fence[:-1]} after line {line} and before line {lines[-1]}",
                text.inserted([after, before]),
            ),
        ]
    is_of_warp = "__syncwarp" in remedy and "__syncthreads" not in remedy
    barrier = "__syncwarp();" if is_of_warp else "__syncthreads();"
    forth, back = list(_between(text, upper, lower, barrier)), list(_around(text, upper, lower, barrier))
    both = [
        (f"{first} and {second.removeprefix(f'put {barrier[:-1]} ')}", [*here, *there])
        for (first, here), (second, there) in product(forth, back)
    ]
    is_loop_carried = "comes again" in remedy and "between" not in remedy
    ordered = (*back, *forth, *both) if is_loop_carried else (*forth, *back, *both)
    return [Fix(words, text.inserted(insertions)) for words, insertions in ordered]


def _between(text: CppText, upper: list[Node], lower: list[Node], barrier: str) -> Iterator[Placement]:
    """Yield placements between two accesses in the order of the text, those outside branches last."""
    common = sum(1 for first, second in zip(upper, lower, strict=False) if first is second or first == second)
    if common == len(upper) or common == len(lower):
        return
    parent = upper[common - 1] if common else None
    if parent is not None and parent.opening < 0:
        return  # a body without braces
    place = f"put {barrier[:-1]} "
    yield place + f"after line {text.line(upper[common].end - 1)}", [text.after(upper[common], barrier)]
    if text.line(lower[common].begin) > text.line(upper[common].end - 1) + 1:
        yield place + f"before line {text.line(lower[common].begin)}", [text.before(lower[common], barrier)]


def _around(text: CppText, upper: list[Node], lower: list[Node], barrier: str) -> Iterator[Placement]:
    """Yield placements at the end of the passes of the loops around two accesses, and at their start."""
    common = [first for first, second in zip(upper, lower, strict=False) if first == second]
    for loop in reversed(
        [node for node in common if node.kind in LOOPS and node.opening >= 0 and node.children]
    ):
        place = f"put {barrier[:-1]} "
        last, first = loop.children[-1], loop.children[0]
        line = text.line(loop.begin)
        yield (
            place + f"at the end of the loop of line {line}, after line {text.line(last.end - 1)}",
            [text.after(last, barrier)],
        )
        yield place + f"at the start of the loop of line {line}", [text.before(first, barrier)]


def _atomic_fixes(text: CppText, lines: list[int]) -> list[Fix]:
    """Replace the update on each of these lines by an atomic function."""
    changes: list[tuple[int, int, str]] = []
    calls = []
    for line in lines:
        path = text.path(line)
        if not path or path[-1].kind != "simple":
            return []
        node = path[-1]
        statement = text.source[node.begin : node.end]
        if update := _UPDATE.match(statement):
            target, value = update["target"], update["value"]
            name = _ATOMICS[update["operator"]]
        elif step := _STEP.match(statement):
            target, value, name = step["before"] or step["after"], "1", "atomicAdd"
        else:
            return []
        address = target[1:] if target.startswith("*") else f"&{target}"
        call = f"{name}({address}, {value})"
        changes.append((node.begin, node.end, f"{call};"))
        calls.append(f"{call} on line {line}")
    result = text.source
    for begin, end, piece in sorted(changes, reverse=True):
        result = result[:begin] + piece + result[end:]
    return [Fix(f"write {' and '.join(calls)}", result)]


def barrier_moves(source: str, line: int) -> list[Fix]:
    """List edits that move the barrier of a line out of the branches around it, one after the other."""
    text = CppText(source)
    path = text.path(line)
    fixes = []
    for depth in reversed(range(len(path) - 1)):
        branch = path[depth]
        if branch.kind != "if":
            break
        if fix := _moved(text, path[depth:], line):
            fixes.append(fix)
    return fixes


def _moved(text: CppText, path: list[Node], line: int) -> Fix | None:
    """Move the barrier at the end of a path behind its first branch, or before it, or split the branch in two."""
    branch, call = path[0], path[-1]
    barrier = text.source[call.begin : call.end].strip()
    where = (
        f"move {barrier.removesuffix(';')} of line {line} out of the branch of line {text.line(branch.begin)}"
    )
    low, high = text.without(call)
    is_last = all(inner == outer.children[-1] for outer, inner in pairwise(path))
    is_first = all(inner == outer.children[0] for outer, inner in pairwise(path))
    if any(node.opening < 0 for node in path[:-1]):
        return None
    if is_last:
        position, piece = text.after(branch, barrier)
        source = text.source[:position] + piece + text.source[position:]
        return Fix(f"{where}, after it", source[:low] + source[high:])
    if is_first:
        position, piece = text.before(branch, barrier)
        source = text.source[:low] + text.source[high:]
        return Fix(f"{where}, before it", source[:position] + piece + source[position:])
    if len(path) != 2 or branch.end != branch.closing + 1:
        return None  # it is deeper, or has an else
    indent, header = text.indent(branch.begin), text.source[branch.begin : branch.opening + 1]
    piece = f"{indent}}}\n{indent}{barrier}\n{indent}{header}\n"
    return Fix(f"{where}, which it splits in two", text.source[:low] + piece + text.source[high:])

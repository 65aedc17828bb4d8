"""The blocks of an IR as Python statements: branches as `if`, what is reached from several places as a numbered state.

A state runs in a loop that dispatches on a local variable. A block that only one jump leads to becomes part of the
block with that jump.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ...type_inference.typed_ir import Block, Statement

STATE = "$state"
CHAIN = 3  # states that are compared one after the other; more are halved first
Emit = Callable[[Statement], list[ast.stmt]]  # the statements of one that is no jump
Test = Callable[[Statement], ast.expr]  # the condition of a branch


def structured(blocks: Sequence[Block], emit: Emit, test: Test) -> list[ast.stmt]:
    """Return the statements of all blocks, of which the first is the entry."""
    made = _Structure({block.label: block for block in blocks}, blocks[0].label, emit, test)
    return made.statements()


class _Structure:
    def __init__(self, blocks: Mapping[int, Block], entry: int, emit: Emit, test: Test) -> None:
        self._blocks, self._entry, self._emit, self._test = blocks, entry, emit, test
        arrivals: dict[int, int] = {}
        for label in _reachable(blocks, entry):
            for target in _targets(blocks[label]):
                arrivals[target] = arrivals.get(target, 0) + 1
        loops = arrivals.get(entry, 0) > 0
        several = sorted(label for label, count in arrivals.items() if count > 1 and label != entry)
        self._states = [entry, *several] if several or loops else []
        self._numbers = {label: number for number, label in enumerate(self._states)}

    def statements(self) -> list[ast.stmt]:
        if not self._states:
            return self._block(self._entry)
        bodies = [self._block(label) for label in self._states]
        first = self._blocks[self._entry].statements[0]
        begin = [_placed(ast.Assign([ast.Name(STATE, ast.Store())], ast.Constant(0)), first)]
        loop = ast.While(ast.Constant(True), self._dispatch(bodies, 0), [])
        return [*begin, _placed(loop, first)]

    def _dispatch(self, bodies: list[list[ast.stmt]], first: int) -> list[ast.stmt]:
        """Return the choice among consecutive states."""
        if len(bodies) == 1:
            return bodies[0]
        half = 1 if len(bodies) <= CHAIN else len(bodies) // 2
        test = ast.Compare(ast.Name(STATE, ast.Load()), [ast.Lt()], [ast.Constant(first + half)])
        body, others = self._dispatch(bodies[:half], first), self._dispatch(bodies[half:], first + half)
        return [_placed(ast.If(test, body, others), self._blocks[self._entry].statements[0])]

    def _block(self, label: int) -> list[ast.stmt]:
        """Return the statements of a block with what only it leads to."""
        made: list[ast.stmt] = []
        while True:
            *inner, last = self._blocks[label].statements
            for statement in inner:
                made += self._emit(statement)
            if last.op == "jump" and last.labels[0] not in self._numbers:
                label = last.labels[0]
                continue
            if last.op == "jump":
                return [*made, *self._go(last.labels[0], last)]
            if last.op == "branch":
                taken, otherwise = (
                    self._go(target, last) if target in self._numbers else self._block(target)
                    for target in last.labels
                )
                return [*made, _placed(ast.If(self._test(last), taken, otherwise), last)]
            return [*made, *self._emit(last)]

    def _go(self, label: int, at: Statement) -> list[ast.stmt]:
        state = ast.Assign([ast.Name(STATE, ast.Store())], ast.Constant(self._numbers[label]))
        return [_placed(state, at), _placed(ast.Continue(), at)]


def _targets(block: Block) -> tuple[int, ...]:
    return block.statements[-1].labels


def _reachable(blocks: Mapping[int, Block], entry: int) -> list[int]:
    found, waiting = {entry}, [entry]
    while waiting:
        for target in _targets(blocks[waiting.pop()]):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return sorted(found)


def _placed(node: ast.stmt, at: Statement) -> ast.stmt:
    return place(node, at.position)


Node = TypeVar("Node", bound=ast.AST)


def place(node: Node, position: tuple[int, int, int, int]) -> Node:
    """Return a node with a position, as have all in it that have none."""
    line, column, end, end_column = position
    if column < 0:
        column = end_column = 0
    for part in ast.walk(node):
        if not hasattr(part, "lineno") and isinstance(part, ast.expr | ast.stmt | ast.arg | ast.keyword):
            part.lineno, part.col_offset, part.end_lineno, part.end_col_offset = line, column, end, end_column
    return node

"""Converts the blocks of an IR to Python statements: branches become `if`, blocks with several predecessors states.

States are numbered, and run in a loop that dispatches on a local variable. A block with only one predecessor becomes
part of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ...type_inference.typed_ir import Block, Statement

STATE = "$state"
MAX_CHAIN = 3  # states that are compared one after the other; more are split in halves first
Emit = Callable[[Statement], list[ast.stmt]]  # converts a statement that is not a jump
Test = Callable[[Statement], ast.expr]  # converts the condition of a branch


def structure_blocks(blocks: Sequence[Block], emit: Emit, test: Test) -> list[ast.stmt]:
    """Convert all blocks; the first is the entry."""
    return _Structure({block.label: block for block in blocks}, blocks[0].label, emit, test).statements()


class _Structure:
    """The blocks of a function with their states."""

    def __init__(self, blocks: Mapping[int, Block], entry: int, emit: Emit, test: Test) -> None:
        self._blocks, self._entry, self._emit, self._test = blocks, entry, emit, test
        arrivals: dict[int, int] = {}
        for label in _reachable(blocks, entry):
            for target in _targets(blocks[label]):
                arrivals[target] = arrivals.get(target, 0) + 1
        is_loop = arrivals.get(entry, 0) > 0
        merges = sorted(label for label, count in arrivals.items() if count > 1 and label != entry)
        self._states = [entry, *merges] if merges or is_loop else []
        self._numbers = {label: number for number, label in enumerate(self._states)}

    def statements(self) -> list[ast.stmt]:
        if not self._states:
            return self._block(self._entry)
        bodies = [self._block(label) for label in self._states]
        first = self._blocks[self._entry].statements[0]
        begin = [_place_at(ast.Assign([ast.Name(STATE, ast.Store())], ast.Constant(0)), first)]
        loop = ast.While(ast.Constant(True), self._dispatch(bodies, 0), [])
        return [*begin, _place_at(loop, first)]

    def _dispatch(self, bodies: list[list[ast.stmt]], first: int) -> list[ast.stmt]:
        """Build the choice among consecutive states."""
        if len(bodies) == 1:
            return bodies[0]
        half = 1 if len(bodies) <= MAX_CHAIN else len(bodies) // 2
        test = ast.Compare(ast.Name(STATE, ast.Load()), [ast.Lt()], [ast.Constant(first + half)])
        body, others = self._dispatch(bodies[:half], first), self._dispatch(bodies[half:], first + half)
        return [_place_at(ast.If(test, body, others), self._blocks[self._entry].statements[0])]

    def _block(self, label: int) -> list[ast.stmt]:
        """Convert a block, and the blocks that only it leads to."""
        converted: list[ast.stmt] = []
        while True:
            *inner, last = self._blocks[label].statements
            for statement in inner:
                converted += self._emit(statement)
            if last.op == "jump" and last.labels[0] not in self._numbers:
                label = last.labels[0]
                continue
            if last.op == "jump":
                return [*converted, *self._go_to_state(last.labels[0], last)]
            if last.op == "branch":
                taken, otherwise = (
                    self._go_to_state(target, last) if target in self._numbers else self._block(target)
                    for target in last.labels
                )
                return [*converted, _place_at(ast.If(self._test(last), taken, otherwise), last)]
            return [*converted, *self._emit(last)]

    def _go_to_state(self, label: int, origin: Statement) -> list[ast.stmt]:
        state = ast.Assign([ast.Name(STATE, ast.Store())], ast.Constant(self._numbers[label]))
        return [_place_at(state, origin), _place_at(ast.Continue(), origin)]


def _targets(block: Block) -> tuple[int, ...]:
    return block.statements[-1].labels


def _reachable(blocks: Mapping[int, Block], entry: int) -> list[int]:
    reachable, waiting = {entry}, [entry]
    while waiting:
        for target in _targets(blocks[waiting.pop()]):
            if target not in reachable:
                reachable.add(target)
                waiting.append(target)
    return sorted(reachable)


def _place_at(node: ast.stmt, statement: Statement) -> ast.stmt:
    return set_position(node, statement.position)


Node = TypeVar("Node", bound=ast.AST)


def set_position(node: Node, position: tuple[int, int, int, int]) -> Node:
    """Set the position of a node and of all nodes in it without one."""
    line, column, end, end_column = position
    if column < 0:
        column = end_column = 0
    for part in ast.walk(node):
        if not hasattr(part, "lineno") and isinstance(part, ast.expr | ast.stmt | ast.arg | ast.keyword):
            part.lineno, part.col_offset, part.end_lineno, part.end_col_offset = line, column, end, end_column
    return node

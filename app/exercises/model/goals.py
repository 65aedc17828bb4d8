"""Goals of an exercise: conditions on the counters of the last case, as expressions with descriptions."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.judging.result import CaseResult
from ....tracer.model.counter_names import NAMES, SUMS
from ...lectures.model.expressions import Environment, Expression, ExpressionError, parse
from ...lectures.model.quantities import Quantity, quantity_text
from ...lectures.model.values import CounterNames

SHAPE = ("threads", "blocks", "threads_in_all")  # of a block, of the grid, and of both
COUNTERS = (*SUMS, *NAMES)
STUB = "stub"  # prefix for the counters of the shipped stub on the same case
NAME = re.compile(r"[A-Za-z_]\w*")


class GoalError(Exception):
    """A goal that can't be read or computed; the text is one sentence."""


class Goal(Struct, frozen=True):
    """A goal: a description and an expression that is true if the goal is met."""

    words: str  # "no bank conflicts"
    expression: Expression
    line: int  # of the Markdown file

    def is_met(self, names: Environment) -> bool:
        """Check whether the goal is met; raises GoalError."""
        try:
            return bool(self.expression.evaluate(names).value)
        except ExpressionError as error:
            raise GoalError(str(error)) from None

    def measured(self, names: Environment) -> str:
        """Format the values of its names: "shared_wavefronts 64, shared_requests 32"; raises GoalError."""
        try:
            values = {name: parse(name).evaluate(names) for name in names_in(self.expression.tree)}
        except ExpressionError as error:
            raise GoalError(str(error)) from None
        return ", ".join(f"{name} {quantity_text(Quantity(q.value))}" for name, q in values.items())


def parse_goal(text: str, line: int) -> Goal:
    """Parse a goal such as "no bank conflicts: shared_wavefronts == shared_requests"; raises GoalError."""
    words, _, body = (part.strip() for part in text.rpartition(":"))
    if not words or not body:
        raise GoalError(
            "A goal is a description, a colon and an expression: no loads: global_load_requests == 0."
        )
    try:
        expression = parse(body)
    except ExpressionError as error:
        raise GoalError(str(error)) from None
    if not isinstance(expression.tree, ast.Compare | ast.BoolOp):
        raise GoalError(
            f"{body} is neither true nor false; compare numbers, as in global_load_requests < 100."
        )
    for name in names_in(expression.tree):
        begin, _, rest = name.partition(".")
        if rest and (begin != STUB or rest not in COUNTERS):
            raise GoalError(f"{name} is not known{did_you_mean(rest, COUNTERS)}")
    return Goal(words, expression, line)


def names_in(tree: ast.expr) -> Iterator[str]:
    """Yield each name of an expression once, with the prefix before its dot, in order."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))
    own_nodes = [node for node in nodes if id(node) not in functions | inner]
    own_nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    yield from dict.fromkeys(map(ast.unparse, own_nodes))


def names_of_case(case: CaseResult, stub: Mapping[str, int]) -> Environment:
    """Build the names of a goal: counters and sizes of a case, and the stub's counters on the same case."""
    counters = CounterNames(case.counters, "exact")
    threads, blocks = math.prod(case.block), math.prod(case.grid)
    shape = dict(zip(SHAPE, (threads, blocks, threads * blocks), strict=True))
    return {
        **{name: counters.get(name) for name in COUNTERS},
        **{name: Quantity(number) for name, number in {**shape, **case.sizes}.items()},
        STUB: CounterNames(stub, "exact"),
    }

"""LLVM's simplifications of the typed IR that change which products are fused; values stay the same.

- A power with an integer exponent is its multiplications, in Numba's order.
- A negated product is added by subtracting the product, or is a product with a negated factor.
- A conversion to the type that a number has is the number.
- A sum of float32 numbers in float64 that is only stored as a float32 is computed in float32 (`visitFPTrunc`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from ...type_inference.typed_ir import Block, FunctionIR, Statement, Type

FLOATS = ("float16", "float32", "float64")
MOST_MULTIPLIED = 0x10000  # a larger exponent is no power of a constant for Numba
NEGATED = {"add": "sub", "sub": "add"}


def simplified(ir: FunctionIR, types: Sequence[Type]) -> FunctionIR:
    """Return a function as LLVM has it before it fuses."""
    for step in (_with_powers, _with_plain_casts, _with_narrow_sums, _with_negated_products):
        ir = step(_Function(ir, types))
    return ir


class _Function:
    """A function with what makes and what uses each variable."""

    def __init__(self, ir: FunctionIR, types: Sequence[Type]) -> None:
        self.ir, self.types = ir, types
        self.variables = dict(ir.variables)
        self._makers: dict[str, list[Statement]] = {}
        self._uses: dict[str, list[Statement]] = {}
        for block in ir.blocks:
            for s in block.statements:
                self._makers.setdefault(s.target, []).append(s)
                for name in s.operands:
                    self._uses.setdefault(name, []).append(s)

    def maker(self, name: str) -> Statement | None:
        """Return the only statement that sets a variable, behind plain copies; None where there are several."""
        makers = self._makers.get(name, [])
        if len(makers) != 1:
            return None
        is_copy = makers[0].op == "assign" and self.variables.get(
            makers[0].operands[0]
        ) == self.variables.get(name)
        return self.maker(makers[0].operands[0]) if is_copy else makers[0]

    def only_use(self, name: str) -> Statement | None:
        """Return the only statement that uses a variable; None where there are several."""
        uses = self._uses.get(name, [])
        return uses[0] if len(uses) == 1 else None

    def is_set_once(self, name: str) -> bool:
        return len(self._makers.get(name, [])) == 1

    def kind(self, number: int) -> str:
        return self.types[number].kind if number >= 0 else ""

    def kind_of(self, name: str) -> str:
        return self.kind(self.variables.get(name, -1))

    def binary_kind(self, s: Statement) -> str:
        """Return the kind of floats that a binary operation computes in, "" for another statement."""
        kinds = {self.kind(number) for number in s.types} if s.op == "binop" else set()
        return kinds.pop() if len(kinds) == 1 and kinds <= {*FLOATS} else ""

    def literal(self, name: str) -> float | None:
        """Return the number that a variable always is, None for another value."""
        statement = self.maker(name)
        if (
            statement is None
            or statement.op != "const"
            or statement.value is None
            or statement.value.kind not in ("int", "float")
        ):
            return None
        text = statement.value.text
        return int(text) if statement.value.kind == "int" else float.fromhex(text)

    def replaced(self, changed: dict[int, list[Statement]]) -> FunctionIR:
        """Return the function with the statements of these `id`s replaced."""
        blocks = tuple(
            Block(
                block.label,
                tuple(replacement for s in block.statements for replacement in changed.get(id(s), [s])),
            )
            for block in self.ir.blocks
        )
        return replace(self.ir, blocks=blocks, variables=self.variables) if changed else self.ir

    def statements(self) -> list[Statement]:
        return [s for block in self.ir.blocks for s in block.statements]


def _with_powers(function: _Function) -> FunctionIR:
    changed: dict[int, list[Statement]] = {}
    for s in function.statements():
        kinds = [function.kind(number) for number in s.types]
        if (
            s.op != "binop"
            or s.name != "pow"
            or len(kinds) != 3
            or kinds[0] != kinds[2]
            or kinds[0] not in FLOATS
        ):
            continue
        exponent = function.literal(s.operands[1])
        if isinstance(exponent, int) and 2 <= exponent <= MOST_MULTIPLIED and kinds[1].startswith("int"):
            changed[id(s)] = _multiplications(function, s, exponent)
    return function.replaced(changed)


def _multiplications(function: _Function, s: Statement, exponent: int) -> list[Statement]:
    """Return the multiplications of a power, by squaring."""
    types = (s.types[2],) * 3
    steps: list[Statement] = []

    def product(first: str, second: str) -> str:
        name = f"{s.target}.power{len(steps)}"
        function.variables[name] = s.types[2]
        steps.append(Statement("binop", name, (first, second), "mul", s.position, types))
        return name

    result, value = "", s.operands[0]
    while True:
        if exponent & 1:
            result = product(result, value) if result else value
        exponent >>= 1
        if not exponent:
            break
        value = product(value, value)
    return [*steps[:-1], replace(steps[-1], target=s.target)]


def _with_plain_casts(function: _Function) -> FunctionIR:
    changed: dict[int, list[Statement]] = {}
    for s in function.statements():
        if (
            s.op != "call"
            or len(s.operands) != 2
            or len(s.types) != 3
            or s.keywords
            or s.types[1] != s.types[2]
        ):
            continue
        statement = function.maker(s.operands[0])
        kind = function.kind(s.types[2])
        is_conversion = (
            statement is not None and statement.op in ("global", "getattr") and statement.name == kind
        )
        if kind in FLOATS and is_conversion and function.kind_of(s.operands[0]) == "static":
            same = function.kind_of(s.operands[1]) == kind == function.kind_of(s.target)
            if same:
                changed[id(s)] = [Statement("assign", s.target, (s.operands[1],), position=s.position)]
    return function.replaced(changed)


def _with_narrow_sums(function: _Function) -> FunctionIR:
    changed: dict[int, list[Statement]] = {}
    for s in function.statements():
        if s.op != "setitem" or len(s.types) != 3 or function.kind(s.types[2]) != "float64":
            continue
        array = function.types[s.types[0]] if s.types[0] >= 0 else Type("")
        total = function.maker(s.operands[2])
        narrow = next((n for n, kind in enumerate(function.types) if kind == Type("float32")), -1)
        if narrow < 0 or not array.parts or array.parts[0].kind != "float32":
            continue
        if total is not None and total.target == s.operands[2] and _is_narrow(function, total):
            function.variables[total.target] = narrow
            changed[id(total)] = [replace(total, types=(narrow,) * 3)]
            changed[id(s)] = [replace(s, types=(*s.types[:2], narrow))]
    return function.replaced(changed)


def _is_narrow(function: _Function, total: Statement) -> bool:
    """Test if a sum in float64 is used once, and adds only float32 numbers and constants that float32 can hold."""
    if total.name not in NEGATED or function.binary_kind(total) != "float64":
        return False
    if function.only_use(total.target) is None:
        return False
    numbers = [function.literal(name) for name in total.operands]
    kinds = [function.kind_of(name) for name in total.operands]
    pairs = list(zip(numbers, kinds, strict=True))
    return all(
        kind == "float32" or (number is not None and float(np.float32(number)) == number)
        for number, kind in pairs
    ) and any(number is None for number in numbers)


def _with_negated_products(function: _Function) -> FunctionIR:
    changed: dict[int, list[Statement]] = {}
    for s in function.statements():
        product = function.maker(s.operands[0]) if s.op == "unary" and s.name == "neg" else None
        if (
            product is None
            or product.name != "mul"
            or product.target != s.operands[0]
            or id(product) in changed
        ):
            continue
        kind = function.binary_kind(product)
        is_used_once = function.only_use(product.target) is s and function.is_set_once(s.target)
        if not kind or not is_used_once or {function.kind(number) for number in s.types} != {kind}:
            continue
        total = function.only_use(s.target)
        if total is not None and _takes_negated(function, total, s.target, kind) and id(total) not in changed:
            other = total.operands[1 - total.operands.index(s.target)]
            changed[id(s)] = []
            changed[id(total)] = [replace(total, name=NEGATED[total.name], operands=(other, product.target))]
            continue
        factor = f"{s.target}.negated"
        function.variables[factor] = s.types[1]
        first, second = product.operands
        changed[id(product)] = [
            Statement("unary", factor, (second,), "neg", product.position, s.types),
            replace(product, target=s.target, operands=(first, factor)),
        ]
        changed[id(s)] = []
    return function.replaced(changed)


def _takes_negated(function: _Function, total: Statement, name: str, kind: str) -> bool:
    """Test if a sum can add or subtract a value instead of its negation."""
    is_sum = total.name in NEGATED and function.binary_kind(total) == kind
    return is_sum and (total.name == "add" or total.operands[1] == name)

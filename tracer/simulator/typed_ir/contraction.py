"""A pass over the typed IR that fuses multiplications and additions as a GPU's compiler does.

The rules are those of `tracer/nvidia_math/contraction.py`. A product is fused into every sum of its type if all of its
uses are sums and differences. If both operands could be fused, the first is. A product from outside a loop is not
computed again inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...recording.fused import fma
from ...type_inference.typed_ir import Block, FunctionIR, Statement, Type
from .simplified import FLOATS, simplified

FUSED = "fma"  # the operation on two factors and an addend; its name tells which part is negated
NO_POSITION = (0, -1, 0, -1)
WRITERS = ("setitem", "static_setitem", "setattr", "call", "print")  # operations that may change memory
NEGATED = {
    "add": ("", ""),
    "sub": ("addend", "product"),
}  # the negated part, if the first or second operand is fused


class _Product(NamedTuple):
    """A product that is fused into its sums."""

    label: int  # of its block
    statement: Statement
    factors: tuple[str, str]  # names of variables that keep the values of the factors


@cache
def fused_multiply_add(kind: str, negated: str) -> Callable[[Any, Any, Any], Any]:
    """Return a fused multiply-add of a kind of floats, which rounds once."""
    if negated == "product":
        return lambda a, b, c: fma(kind, -a, b, c)
    if negated == "addend":
        return lambda a, b, c: fma(kind, a, b, -c)
    return lambda a, b, c: fma(kind, a, b, c)


def fuse_products(ir: FunctionIR, types: Sequence[Type]) -> FunctionIR:
    """Fuse the products and sums of a function that a GPU's compiler fuses."""
    return _Contraction(simplified(ir, types), types).function()


class _Contraction:
    """Finds the products of a function, and rewrites its statements."""

    def __init__(self, ir: FunctionIR, types: Sequence[Type]) -> None:
        self._ir, self._types = ir, types
        self._blocks = {block.label: block for block in ir.blocks}
        statements = [(block.label, s) for block in ir.blocks for s in block.statements]
        self._definitions: dict[str, list[tuple[int, Statement]]] = {}
        self._uses: dict[str, list[tuple[int, Statement]]] = {}
        for label, s in statements:
            self._definitions.setdefault(s.target, []).append((label, s))
            for name in s.operands:
                self._uses.setdefault(name, []).append((label, s))
        self._variables = dict(ir.variables)
        self._products = self._find_products(statements)

    def function(self) -> FunctionIR:
        if not self._products:
            return self._ir
        blocks = tuple(map(self._rewrite_block, self._ir.blocks))
        return replace(self._ir, blocks=blocks, variables=self._variables)

    def _rewrite_block(self, block: Block) -> Block:
        statements = (self._rewrite(block.label, statement) for statement in block.statements)
        return Block(block.label, tuple(chain.from_iterable(statements)))

    def _find_products(self, statements: list[tuple[int, Statement]]) -> dict[str, _Product]:
        products = {}
        for label, s in statements:
            if self._float_kind(s) and s.name == "mul" and self._has_only_sums_as_uses(label, s):
                factors = tuple(self._name_of_factor(name, s, n) for n, name in enumerate(s.operands))
                products[s.target] = _Product(label, s, (factors[0], factors[1]))
        return products

    def _float_kind(self, statement: Statement) -> str:
        """Return the float kind of a statement's operands and result, "" for another statement."""
        if (
            statement.op != "binop"
            or len(statement.types) != 3
            or len(self._definitions[statement.target]) != 1
        ):
            return ""
        kinds = {self._types[number].kind for number in statement.types if number >= 0}
        return next(iter(kinds)) if kinds == {self._kind(statement.target)} and kinds <= {*FLOATS} else ""

    def _kind(self, name: str) -> str:
        number = self._variables.get(name)
        return "" if number is None else self._types[number].kind

    def _has_only_sums_as_uses(self, label: int, product: Statement) -> bool:
        uses = self._uses_of(product.target)
        return bool(uses) and all(
            s.name in NEGATED
            and self._float_kind(s) == self._float_kind(product)
            and not self._is_in_other_loop(use_label, label)
            for use_label, s in uses
        )

    def _uses_of(self, name: str) -> list[tuple[int, Statement]]:
        """List the uses of a variable and of its copies."""
        uses = []
        for label, s in self._uses.get(name, []):
            if self._is_copy(s):
                uses += self._uses_of(s.target)
            else:
                uses.append((label, s))
        return uses

    def _is_copy(self, statement: Statement) -> bool:
        return (
            statement.op == "assign"
            and len(self._definitions[statement.target]) == 1
            and self._variables.get(statement.target) == self._variables.get(statement.operands[0])
        )

    def _is_in_other_loop(self, label: int, outside: int) -> bool:
        """Check whether a block is in a loop that does not contain another block."""
        waiting, seen = [*self._targets(label)], {outside}
        while waiting:
            current = waiting.pop()
            if current == label and label != outside:
                return True
            if current not in seen:
                seen.add(current)
                waiting += self._targets(current)
        return False

    def _targets(self, label: int) -> tuple[int, ...]:
        return self._blocks[label].statements[-1].labels

    def _name_of_factor(self, name: str, product: Statement, number: int) -> str:
        """Return a name that keeps the value which a factor has at the product."""
        if len(self._definitions.get(name, [])) == 1:
            return name
        new_name = f"{product.target}.factor{number}"
        self._variables[new_name] = self._variables[name]
        return new_name

    def _rewrite(self, label: int, statement: Statement) -> list[Statement]:
        if statement.target in self._products and self._products[statement.target].statement is statement:
            product = self._products[statement.target]
            pairs = zip(product.factors, statement.operands, strict=True)
            return [
                Statement("assign", factor, (name,), position=statement.position)
                for factor, name in pairs
                if factor != name
            ]
        if self._is_copy(statement) and self._product_in(statement.operands[0]):
            return []
        if statement.name not in NEGATED or not self._float_kind(statement):
            return [statement]
        for index, name in enumerate(statement.operands):
            operand_product = self._product_in(name)
            if operand_product is not None:
                other = statement.operands[1 - index]
                if self._is_same(name, other):  # the compiler computes it once and subtracts it from itself
                    products = (
                        *self._compute_product(name, statement),
                        *self._compute_product(other, statement),
                    )
                    return [*products, statement]
                negated = NEGATED[statement.name][index]
                operands, types = (*operand_product.factors, other), (statement.types[2],) * 4
                multiply_add = Statement(
                    FUSED, statement.target, operands, negated, statement.position, types
                )
                return [*self._compute_product(other, statement), multiply_add]
        return [statement]

    def _compute_product(self, name: str, user: Statement) -> list[Statement]:
        """Return the statement that computes a product that is not fused into its sum."""
        product = self._product_in(name)
        if product is None:
            return []
        return [replace(product.statement, target=name, operands=product.factors, position=user.position)]

    def _is_same(self, first: str, second: str) -> bool:
        """Check whether two variables are computed identically in one block, so that the compiler merges them."""
        if first == second:
            return True
        definitions = [self._definitions.get(name, []) for name in (first, second)]
        if any(len(candidates) != 1 for candidates in definitions):
            return False
        (label, a), (other_label, b) = definitions[0][0], definitions[1][0]
        normalized = [replace(s, target="", operands=(), position=NO_POSITION) for s in (a, b)]
        pairs = zip(a.operands, b.operands, strict=False)
        return (
            label == other_label
            and normalized[0] == normalized[1]
            and len(a.operands) == len(b.operands)
            and all(self._is_same(x, y) for x, y in pairs)
            and not self._is_memory_changed(label, a, b)
        )

    def _is_memory_changed(self, label: int, a: Statement, b: Statement) -> bool:
        """Check whether a statement between two statements of a block may write memory."""
        statements = self._blocks[label].statements
        first, second = sorted(next(n for n, s in enumerate(statements) if s is wanted) for wanted in (a, b))
        return any(s.op in WRITERS for s in statements[first : second + 1])

    def _product_in(self, name: str) -> _Product | None:
        """Return the fused product that a variable holds, None for another value."""
        while name not in self._products:
            definitions = self._definitions.get(name, [])
            if len(definitions) != 1 or not self._is_copy(definitions[0][1]):
                return None
            name = definitions[0][1].operands[0]
        return self._products[name]

"""Multiplications and additions of one type of floats that a GPU's compiler fuses, as a pass over the typed IR.

The rules are those of `tracer/nvidia_math/contraction.py`: a product goes into every sum of its type that takes it, if
sums and differences are all its uses; where both operands could be fused, the first is; a product from outside a loop
is not computed again in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...recording.fused import fma
from ...type_inference.typed_ir import Block, FunctionIR, Statement, Type
from .simplified import FLOATS, simplified

FUSED = "fma"  # the operation: of two factors and an addend; its name says which of them is negated
NOWHERE = (0, -1, 0, -1)
WRITERS = ("setitem", "static_setitem", "setattr", "call", "print")  # which may change what a load finds
SIGNS = {
    "add": ("", ""),
    "sub": ("addend", "product"),
}  # by the operand that is a product, the first or the second


class _Product(NamedTuple):
    label: int  # of its block
    statement: Statement
    factors: tuple[str, str]  # under names that keep their values


@cache
def fused(kind: str, negated: str) -> Callable[[Any, Any, Any], Any]:
    """Return a multiply-add of a kind of floats that rounds once."""
    if negated == "product":
        return lambda a, b, c: fma(kind, -a, b, c)
    if negated == "addend":
        return lambda a, b, c: fma(kind, a, b, -c)
    return lambda a, b, c: fma(kind, a, b, c)


def contracted(ir: FunctionIR, types: Sequence[Type]) -> FunctionIR:
    """Return a function whose products are fused into sums where a GPU's compiler does that."""
    return _Contraction(simplified(ir, types), types).function()


class _Contraction:
    def __init__(self, ir: FunctionIR, types: Sequence[Type]) -> None:
        self._ir, self._types = ir, types
        self._blocks = {block.label: block for block in ir.blocks}
        placed = [(block.label, s) for block in ir.blocks for s in block.statements]
        self._made: dict[str, list[tuple[int, Statement]]] = {}
        self._uses: dict[str, list[tuple[int, Statement]]] = {}
        for label, s in placed:
            self._made.setdefault(s.target, []).append((label, s))
            for name in s.operands:
                self._uses.setdefault(name, []).append((label, s))
        self._variables = dict(ir.variables)
        self._products = self._found_products(placed)

    def function(self) -> FunctionIR:
        if not self._products:
            return self._ir
        blocks = tuple(
            Block(
                block.label, tuple(one for s in block.statements for one in self._rewritten(block.label, s))
            )
            for block in self._ir.blocks
        )
        return replace(self._ir, blocks=blocks, variables=self._variables)

    def _found_products(self, placed: list[tuple[int, Statement]]) -> dict[str, _Product]:
        found = {}
        for label, s in placed:
            if self._float_of(s) and s.name == "mul" and self._goes_into_sums(label, s):
                factors = tuple(self._kept(name, s, n) for n, name in enumerate(s.operands))
                found[s.target] = _Product(label, s, (factors[0], factors[1]))
        return found

    def _float_of(self, s: Statement) -> str:
        """Return the kind of floats that a statement computes in and keeps, "" for another statement."""
        if s.op != "binop" or len(s.types) != 3 or len(self._made[s.target]) != 1:
            return ""
        kinds = {self._types[number].kind for number in s.types if number >= 0}
        return next(iter(kinds)) if kinds == {self._kind(s.target)} and kinds <= {*FLOATS} else ""

    def _kind(self, name: str) -> str:
        number = self._variables.get(name)
        return "" if number is None else self._types[number].kind

    def _goes_into_sums(self, label: int, product: Statement) -> bool:
        uses = self._uses_of(product.target)
        return bool(uses) and all(
            s.name in SIGNS
            and self._float_of(s) == self._float_of(product)
            and not self._is_in_other_loop(place, label)
            for place, s in uses
        )

    def _uses_of(self, name: str) -> list[tuple[int, Statement]]:
        """Return the uses of a variable, and of its copies."""
        found = []
        for label, s in self._uses.get(name, []):
            if self._is_copy(s):
                found += self._uses_of(s.target)
            else:
                found.append((label, s))
        return found

    def _is_copy(self, s: Statement) -> bool:
        return (
            s.op == "assign"
            and len(self._made[s.target]) == 1
            and self._variables.get(s.target) == self._variables.get(s.operands[0])
        )

    def _is_in_other_loop(self, label: int, outside: int) -> bool:
        """Return whether a block is in a loop that another one is not in."""
        waiting, seen = [*self._targets(label)], {outside}
        while waiting:
            at = waiting.pop()
            if at == label and label != outside:
                return True
            if at not in seen:
                seen.add(at)
                waiting += self._targets(at)
        return False

    def _targets(self, label: int) -> tuple[int, ...]:
        return self._blocks[label].statements[-1].labels

    def _kept(self, name: str, product: Statement, number: int) -> str:
        """Return the name under which a factor keeps the value that it has where the product is computed."""
        if len(self._made.get(name, [])) == 1:
            return name
        kept = f"{product.target}.factor{number}"
        self._variables[kept] = self._variables[name]
        return kept

    def _rewritten(self, label: int, s: Statement) -> list[Statement]:
        if s.target in self._products and self._products[s.target].statement is s:
            product = self._products[s.target]
            pairs = zip(product.factors, s.operands, strict=True)
            return [
                Statement("assign", kept, (name,), position=s.position)
                for kept, name in pairs
                if kept != name
            ]
        if self._is_copy(s) and self._product_in(s.operands[0]):
            return []
        if s.name not in SIGNS or not self._float_of(s):
            return [s]
        for place, name in enumerate(s.operands):
            product_of_it = self._product_in(name)
            if product_of_it is not None:
                other = s.operands[1 - place]
                if self._is_same(name, other):  # the compiler computes it once, and takes it from itself
                    return [*self._computed(name, s), *self._computed(other, s), s]
                negated = SIGNS[s.name][place]
                return [*self._computed(other, s), Statement(
                    FUSED, s.target, (*product_of_it.factors, other), negated, s.position, (s.types[2],) * 4
                )]  # fmt: skip
        return [s]

    def _computed(self, name: str, at: Statement) -> list[Statement]:
        """Return what computes a product that another one was preferred to."""
        product = self._product_in(name)
        if product is None:
            return []
        return [replace(product.statement, target=name, operands=product.factors, position=at.position)]

    def _is_same(self, one: str, other: str) -> bool:
        """Return whether two variables are computed in the same way of the same, in one block: then it is done once."""
        if one == other:
            return True
        made = [self._made.get(name, []) for name in (one, other)]
        if any(len(m) != 1 for m in made):
            return False
        (label, a), (place, b) = made[0][0], made[1][0]
        plain = [replace(s, target="", operands=(), position=NOWHERE) for s in (a, b)]
        pairs = zip(a.operands, b.operands, strict=False)
        return (
            label == place
            and plain[0] == plain[1]
            and len(a.operands) == len(b.operands)
            and all(self._is_same(x, y) for x, y in pairs)
            and not self._is_memory_changed(label, a, b)
        )

    def _is_memory_changed(self, label: int, a: Statement, b: Statement) -> bool:
        """Return whether something between two statements of a block may write memory."""
        statements = self._blocks[label].statements
        first, second = sorted(next(n for n, s in enumerate(statements) if s is one) for one in (a, b))
        return any(s.op in WRITERS for s in statements[first : second + 1])

    def _product_in(self, name: str) -> _Product | None:
        """Return the product that a variable holds, None for another value."""
        while name not in self._products:
            made = self._made.get(name, [])
            if len(made) != 1 or not self._is_copy(made[0][1]):
                return None
            name = made[0][1].operands[0]
        return self._products[name]

"""Kernels of random statements on arrays of several types, for what these come to; few would be right."""

from __future__ import annotations

import random

ARRAYS = ("int16", "int32", "int64", "float32", "float32", "float64")
LEAVES = (
    "0", "1", "2", "-1", "0.5", "TILE", "HALF", "ONE", "float32(0.0)", "n", "i", "cuda.threadIdx.x", "a.size",
    "a.shape[0]", "len(b)",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "+", "-", "*", "/", "//", "%", "&", "<<")


class TypedKernel:
    """The body of a kernel of (a, b, c, n), and the types of its arrays."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._variables = rng, ["i", "n"]
        self.types = [rng.choice(ARRAYS) for _ in range(3)]
        self.lines = ["i = cuda.grid(1)", *self._block(2)]

    def _expression(self, depth: int) -> str:
        rng = self._rng
        if depth == 0 or rng.random() < 0.35:
            element = f"{rng.choice('abc')}[{rng.choice(('i', '0', 'i + 1', rng.choice(self._variables)))}]"
            return rng.choice((rng.choice(LEAVES), rng.choice(self._variables), element))
        first, other = self._expression(depth - 1), self._expression(depth - 1)
        cast, chosen = rng.choice(("float32", "int32", "float64", "int16")), rng.choice(("min", "max"))
        operation = f"({first} {rng.choice(OPERATORS)} {other})"
        special = (
            f"{cast}({first})", f"{chosen}({first}, {other})", f"abs({first})", f"(-{first})",
            f"({first} if {self._condition()} else {other})", f"cuda.atomic.add({rng.choice('abc')}, i, {first})",
        )  # fmt: skip
        return operation if rng.random() < 0.65 else rng.choice(special)

    def _condition(self) -> str:
        compared = f"{self._expression(0)} {self._rng.choice(('<', '>=', '=='))} {self._expression(0)}"
        return self._rng.choice(
            (compared, compared, f"not {compared}", f"{compared} and i < 3", f"0 <= i < {compared}")
        )

    def _block(self, depth: int) -> list[str]:
        return [line for _ in range(self._rng.randint(1, 3)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        rng, kind, count = self._rng, self._rng.random(), len(self._variables)
        if kind < 0.6 or not depth:
            name = rng.choice(("x", "y", "z"))
            array, changed = rng.choice("abc"), rng.choice(self._variables)
            targets = (f"{name} =", f"{array}[i] =", f"{array}[i] +=", f"{changed} -=")
            line = f"{rng.choice(targets)} {self._expression(2)}"
            self._variables += [name] if line.startswith(name) else []
            return [line]
        heads = (
            f"if {self._condition()}:",
            f"for k in range({self._expression(1)}):",
            f"while {self._condition()}:",
        )
        lines = [rng.choice(heads), *(f"    {line}" for line in self._block(depth - 1))]
        if rng.random() < 0.5 and lines[0].startswith("if"):
            lines += ["else:", *(f"    {line}" for line in self._block(depth - 1))]
        if rng.random() < 0.6:  # else they are used where they may have no value
            del self._variables[count:]
        return lines

"""Programs of random arithmetic over every type of number, with Numba's CPU target as the referee.

What a GPU does in another way than a CPU is left out: shifts by more than 63, floats that no integer can hold, nan
among what `min` and `max` choose from, remainders by inf.
"""

from __future__ import annotations

import random

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
REAL = ("f32", "f64")
HEAD = """
import math, sys
import numpy as np
from numba import cuda, njit, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

def arrays():
    return (
        np.array([True, False, True, True]), np.array([-100, 7, -128, 0], np.int8),
        np.array([-30000, 5, 1, 0], np.int16), np.array([2000000000, -17, -(1 << 31), 3], np.int32),
        np.array([(1 << 63) - 1, -1, -(1 << 63), 12345], np.int64), np.array([200, 255, 1, 0], np.uint8),
        np.array([60000, 1, 7, 0], np.uint16), np.array([4000000000, 1, 9, 0], np.uint32),
        np.array([(1 << 64) - 1, 1, 1 << 63, 0], np.uint64), np.array([0.1, -0.75, 16777216.0, 2.5], np.float32),
        np.array([0.1, -0.75, 1e10, 3.0], np.float64),
    )
"""
TAIL = """
outs = np.zeros({count}), np.zeros({count})
cuda.jit(body)[1, 1](*arrays(), outs[0])
njit(body, error_model="numpy")(*arrays(), outs[1])
found, expected = (out.view(np.uint64) for out in outs)
same = (found == expected) | (np.isnan(outs[0]) & np.isnan(outs[1]))
lines = open(__file__).read().splitlines()
for place in np.flatnonzero(~same):
    print(f"{{outs[0][place]!r}}, not {{outs[1][place]!r}}:", next(l for l in lines if f"out[{{place}}] =" in l))
print("compared", {count})
"""
SIGNATURE = "def body(b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, out):"


def expression(rng: random.Random, depth: int, *, integral: bool, names: tuple[str, ...] = ()) -> str:
    """Return the text of a random expression; `integral`: of integers. Names are those of variables."""

    def part(integral: bool = integral) -> str:
        return expression(rng, depth - 1, integral=integral, names=names)

    if depth == 0:
        return _leaf(rng, integral, names)
    kind = rng.random()
    if kind < 0.5:
        operators = ("+", "-", "*", "//", "%", "&", "|", "^") if integral else ("+", "-", "*", "/")
        return f"({part()} {rng.choice(operators)} {part()})"
    if kind < 0.58 and integral:
        return f"({part()} {rng.choice(('<<', '>>'))} ({part()} & 63))"
    if kind < 0.7:
        compared = f"{part()} {rng.choice(('<', '<=', '==', '!=', '>', '>='))} {part()}"
        # Of a signed integer and a uint64 it would be a float64.
        cast = "int64" if integral else ""
        return f"({cast}({part()}) if {compared} else {cast}({part()}))"
    if kind < 0.78 and integral:
        return f"{rng.choice(('min', 'max'))}(int64({part()}), int64({part()}))"
    if kind < 0.88:
        return f"{rng.choice(('-', 'abs', '~') if integral else ('-', 'abs'))}({part()})"
    if integral:
        return f"{rng.choice(('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'))}({part()})"
    return rng.choice(
        (f"float32({part()})", f"float64({part()})", f"({part()} < {part()})", f"({part()}) ** 2", part(True))
    )


def _leaf(rng: random.Random, integral: bool, names: tuple[str, ...]) -> str:
    if names and rng.random() < 0.4:
        return rng.choice(names)
    if rng.random() < 0.2:
        return str(rng.choice((0, 1, 2, 3, 7, -1, -5, 100) if integral else (0, 1, 2, -3, 0.1, 2.5, -0.75)))
    return f"{rng.choice(INTEGERS if integral else (*INTEGERS, *REAL, *REAL))}[{rng.randrange(4)}]"


def program(seed: int, count: int) -> str:
    """Return a program that prints each of so many results in which a kernel differs from Numba's CPU target."""
    rng = random.Random(seed)
    lines = [SIGNATURE]
    for place in range(count):
        if place % 3 == 2:
            lines += _with_variables(rng, place)
        else:
            value = expression(rng, rng.randint(1, 4), integral=rng.random() < 0.5)
            lines.append(f"out[{place}] = {value}")
    body = "\n".join([lines[0], *(f"    {line}" for line in lines[1:])])
    return f"{HEAD}\n{body}\n{TAIL.format(count=count)}"


def _with_variables(rng: random.Random, place: int) -> list[str]:
    """Return lines that give a variable numbers of different kinds, on ways that meet."""
    x, integral = f"x{place}", False
    first, second, third = (expression(rng, rng.randint(0, 2), integral=integral) for _ in range(3))
    more = expression(rng, 2, integral=integral, names=(x,))
    if rng.random() < 0.5:
        return [
            f"{x} = {first}", f"if {second} < {third}:", f"    {x} = {expression(rng, 1, integral=True)}",
            f"out[{place}] = {more}",
        ]  # fmt: skip
    operator = rng.choice(("+=", "-=", "*="))
    return [
        f"{x} = {first}", f"for j{place} in range({rng.randint(0, 3)}):", f"    {x} {operator} {second}",
        f"    if j{place} == 1:", f"        {x} = {third}", f"out[{place}] = {more}",
    ]  # fmt: skip

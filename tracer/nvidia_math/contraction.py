"""Rewrites arithmetic in LLVM's IR as NVIDIA's compiler does: multiplications and additions fused, remainders expanded.

These rules are what libNVVM and ptxas 13.0 do for an H100, as their PTX and machine code show:

- A product is fused into every sum of the same type that takes it, if all its uses are sums and differences.
- Where both operands of a sum could be fused, the first is.
- A product from outside a loop is not computed again in it.
- `frem` is a division, rounded down, and a fused multiply-add.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

_VALUE = r'%(?:"[^"]*"|[\w.$-]+)'
_OPERAND = rf"(?:{_VALUE}|[\w.+-]+)"
_KIND = "(half|float|double)"
_OPERATION = re.compile(
    rf"  ({_VALUE}) = (fmul|fadd|fsub|fneg|frem)((?: \w+)*?) {_KIND} ({_OPERAND})(?:, ({_OPERAND}))?((?:, !.*)?)"
)
_USE = re.compile(_VALUE)
_LABEL = re.compile(r'("[^"]*"|[\w.$-]+):')
_TARGET = re.compile(rf"label %({_VALUE[1:]})")
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_SUMS = ("fadd", "fsub")
# Flags without a meaning for sums and products. The first marks what PTX rounds by itself. The others mark operators of
# half precision, which for a GPU are functions that are linked later: what LLVM narrows to it is never fused.
APART, HALF_FLAGS = "arcp", ("afn",)
_FMA_OF_HALVES = re.compile(r"call half @llvm\.fma\.f16\(")
_TO_HALF = re.compile(rf"fptrunc double ({_VALUE}) to half")

# CPUs have no such instruction, and what LLVM makes of it rounds twice. Here the product is exact, and the sum is
# rounded to odd, so that it may be rounded again (see `tracer/recording/fused.py`).
_FUSED_HALF = """
define internal half @tilescope.fma.f16(half %a, half %b, half %c) alwaysinline {
  %x = fpext half %a to float
  %y = fpext half %b to float
  %z = fpext half %c to float
  %product = fmul float %x, %y
  %total = fadd float %product, %z
  %back = fsub float %total, %product
  %rest = fsub float %total, %back
  %lost = fsub float %product, %rest
  %more = fsub float %z, %back
  %error = fadd float %lost, %more
  %bits = bitcast float %total to i32
  %last = and i32 %bits, 1
  %even = icmp eq i32 %last, 0
  %inexact = fcmp one float %error, 0.0
  %changed = and i1 %even, %inexact
  %up = fcmp ogt float %error, 0.0
  %positive = icmp sge i32 %bits, 0
  %outwards = icmp eq i1 %up, %positive
  %step = select i1 %outwards, i32 1, i32 -1
  %stepped = add i32 %bits, %step
  %chosen = select i1 %changed, i32 %stepped, i32 %bits
  %odd = bitcast i32 %chosen to float
  %result = fptrunc float %odd to half
  ret half %result
}
"""
_REMAINDER = """
define internal {kind} @tilescope.frem.{suffix}({kind} %x, {kind} %y) alwaysinline {{
  %a = call {kind} @llvm.fabs.{suffix}({kind} %x)
  %b = call {kind} @llvm.fabs.{suffix}({kind} %y)
  %quotient = fdiv {kind} %a, %b
  %whole = call {kind} @llvm.floor.{suffix}({kind} %quotient)
  %minus = fneg {kind} %whole
  %rest = call {kind} @llvm.fma.{suffix}({kind} %minus, {kind} %b, {kind} %a)
  %negative = fneg {kind} %rest
  %below = fcmp olt {kind} %x, 0.0
  %result = select i1 %below, {kind} %negative, {kind} %rest
  ret {kind} %result
}}
"""
# CPUs have no such instruction either: the float between is rounded to odd.
_HALF_OF_DOUBLE = """
define internal half @tilescope.half.from.double(double %x) alwaysinline {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %bits = bitcast float %near to i32
  %last = and i32 %bits, 1
  %even = icmp eq i32 %last, 0
  %inexact = fcmp one double %back, %x
  %changed = and i1 %even, %inexact
  %up = fcmp olt double %back, %x
  %positive = icmp sge i32 %bits, 0
  %outwards = icmp eq i1 %up, %positive
  %step = select i1 %outwards, i32 1, i32 -1
  %stepped = add i32 %bits, %step
  %chosen = select i1 %changed, i32 %stepped, i32 %bits
  %odd = bitcast i32 %chosen to float
  %result = fptrunc float %odd to half
  ret half %result
}
"""
_DECLARATIONS = {"fma": 3, "fabs": 1, "floor": 1}  # with how many operands


class _Operation(NamedTuple):
    """An arithmetic instruction, its line, the number of its block, and whether it is never fused."""

    name: str
    opcode: str
    kind: str
    operands: tuple[str, ...]
    metadata: str
    line: int
    block: int
    is_apart: bool


def as_nvidia_computes(text: str) -> str | None:
    """Return a module in LLVM's IR with the arithmetic of NVIDIA's compiler; None where nothing differs."""
    lines = text.split("\n")
    changed = dict(_changes(lines))
    for number, line in changed.items():
        lines[number] = line
    rewritten = "\n".join(lines) if changed else text
    rewritten = _FMA_OF_HALVES.sub("call half @tilescope.fma.f16(", rewritten)
    rewritten = _TO_HALF.sub(r"call half @tilescope.half.from.double(double \1)", rewritten)
    return None if rewritten is text else _complete(rewritten)


def with_halves_of_doubles(text: str) -> str:
    """Return a module that converts float64 to float16 by itself: LLVM calls a function that a process may lack."""
    rewritten = _TO_HALF.sub(r"call half @tilescope.half.from.double(double \1)", text)
    return text if rewritten == text else rewritten + _HALF_OF_DOUBLE


def _changes(lines: list[str]) -> Iterator[tuple[int, str]]:
    first = 0
    for number, line in enumerate(lines):
        if line.startswith("define "):
            first = number
        elif line == "}":
            yield from _Function(lines, first, number).changes()


def _complete(text: str) -> str:
    """Return a module with the functions that its arithmetic calls."""
    for kind, suffix in _SUFFIX.items():
        if f"@tilescope.frem.{suffix}(" in text:
            text += _REMAINDER.format(kind=kind, suffix=suffix)
    if "@tilescope.fma.f16(" in text:
        text += _FUSED_HALF
    if "@tilescope.half.from.double(" in text:
        text += _HALF_OF_DOUBLE
    for name, count in _DECLARATIONS.items():
        for kind, suffix in _SUFFIX.items():
            called = f"{kind} @llvm.{name}.{suffix}("
            if f"call {called}" in text and not re.search(rf"(?m)^declare .*{re.escape(called)}", text):
                text += f"declare {called}{', '.join([kind] * count)})\n"
    return text


class _Function:
    """The arithmetic of one function: what defines each value, and what uses it."""

    def __init__(self, lines: list[str], first: int, last: int) -> None:
        self._lines, self._first, self._last = lines, first, last
        self._operations: dict[str, _Operation] = {}
        block = 0
        for number in range(first + 1, last):
            if _LABEL.match(lines[number]):
                block += 1
            elif (match := _OPERATION.fullmatch(lines[number])) is not None:
                name, opcode, flags, kind, *operands, metadata = match.groups()
                given = tuple(operand for operand in operands if operand is not None)
                is_apart = APART in flags.split() or (
                    kind == "half" and not set(HALF_FLAGS) <= set(flags.split())
                )
                self._operations[name] = _Operation(
                    name, opcode, kind, given, metadata, number, block, is_apart
                )

    def changes(self) -> Iterator[tuple[int, str]]:
        """Yield the lines to change, and what they become."""
        if not any(operation.opcode in ("fmul", "frem") for operation in self._operations.values()):
            return
        for operation in self._operations.values():
            if operation.opcode == "frem":
                yield operation.line, _remainder(operation)
            elif operation.opcode in _SUMS and not operation.is_apart:
                for place, other in ((0, 1), (1, 0)):
                    product = self._fusible(operation, place)
                    if product is not None:
                        yield operation.line, _fused(operation, place, operation.operands[other], *product)
                        break

    def _fusible(self, total: _Operation, place: int) -> tuple[_Operation, bool] | None:
        """Return the product that an operand of a sum is, and whether it is negated; None where it stays apart."""
        product, negated = self._operations.get(total.operands[place]), False
        if product is not None and product.opcode == "fneg":
            product, negated = self._operations.get(product.operands[0]), True
        if product is None or product.opcode != "fmul" or product.kind != total.kind or product.is_apart:
            return None
        if not self._only_added(product.name) or self._in_deeper_loop(product.block, total.block):
            return None
        return product, negated

    def _only_added(self, name: str) -> bool:
        """Test if only sums and differences use a value or its negation."""
        for number in self._uses.get(name, ()):
            user = self._by_line.get(number)
            if user is None or user.opcode not in (*_SUMS, "fneg"):
                return False
            if user.opcode == "fneg" and not self._only_added(user.name):
                return False
        return True

    @cached_property
    def _by_line(self) -> dict[int, _Operation]:
        return {operation.line: operation for operation in self._operations.values()}

    @cached_property
    def _uses(self) -> dict[str, list[int]]:
        """The lines that use each value that arithmetic gives."""
        uses: dict[str, list[int]] = {name: [] for name in self._operations}
        for number in range(self._first + 1, self._last):
            rest = self._lines[number].rpartition(" = ")[2]
            for name in _USE.findall(rest):
                if name in uses:
                    uses[name].append(number)
        return uses

    @cached_property
    def _after(self) -> list[set[int]]:
        """The blocks that may follow each block."""
        labels: dict[str, int] = {}
        targets: list[set[str]] = [set()]
        for number in range(self._first + 1, self._last):
            label = _LABEL.match(self._lines[number])
            if label:
                labels[label[1]] = len(targets)
                targets.append(set())
            else:
                targets[-1].update(_TARGET.findall(self._lines[number]))
        return [{labels[name] for name in names if name in labels} for names in targets]

    def _in_deeper_loop(self, outer: int, inner: int) -> bool:
        """Test if the inner block is in a loop that does not contain the outer one."""
        if outer == inner:
            return False
        seen: set[int] = set()
        waiting = list(self._after[inner])
        while waiting:
            block = waiting.pop()
            if block == inner:
                return True
            if block != outer and block not in seen:
                seen.add(block)
                waiting.extend(self._after[block])
        return False


def _fused(total: _Operation, place: int, other: str, product: _Operation, negated: bool) -> str:
    """Return the line of a fused multiply-add, after those that negate its operands."""
    kind, factor, lines = total.kind, product.operands[0], []
    if negated != (total.opcode == "fsub" and place == 1):
        lines.append(f"  {_named(total.name, 'factor')} = fneg {kind} {factor}")
        factor = _named(total.name, "factor")
    if total.opcode == "fsub" and place == 0:
        lines.append(f"  {_named(total.name, 'addend')} = fneg {kind} {other}")
        other = _named(total.name, "addend")
    function = "@tilescope.fma.f16" if kind == "half" else f"@llvm.fma.{_SUFFIX[kind]}"
    given = f"{kind} {factor}, {kind} {product.operands[1]}, {kind} {other}"
    return "\n".join([*lines, f"  {total.name} = call {kind} {function}({given}){total.metadata}"])


def _remainder(operation: _Operation) -> str:
    kind = operation.kind
    given = ", ".join(f"{kind} {operand}" for operand in operation.operands)
    return f"  {operation.name} = call {kind} @tilescope.frem.{_SUFFIX[kind]}({given}){operation.metadata}"


def _named(name: str, purpose: str) -> str:
    """Name a new value after another. The name is never a number: LLVM requires consecutive numbers."""
    return f'%"{name[1:].strip(chr(34))}.{purpose}"'

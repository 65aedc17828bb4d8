"""Atomics that a GPU lacks in shared memory, as the loops of a load and a compare-and-swap that ptxas generates."""

from __future__ import annotations

import re

from ..compiler.generated import Emitted
from ..compiler.llvm_text import split_list, type_of_operand

PREFIX = "ts.loop."
_ATOMIC = re.compile(r'^(\s*(?:%(?:"[^"]*"|[\w.$-]+) = )?)atomicrmw (?:volatile )?(\w+) (.*)$')
_LINE = re.compile(r", !dbg (!\d+)")
_PLAIN = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor", "fadd": "fadd", "fsub": "fsub"}
_COMPARED = {"max": "sgt", "min": "slt", "umax": "ugt", "umin": "ult"}


def with_shared_loops(text: str, numbers: dict[str, int], generated: dict[int, Emitted]) -> str:
    """Replace atomics in shared memory that are loops; numbers: the line of each debug location."""
    if "atomicrmw" not in text:
        return text
    definitions: list[str] = []
    lines = [
        _replaced(line, numbers, generated, definitions) if "atomicrmw" in line else line
        for line in text.split("\n")
    ]
    return "\n".join([*lines, *definitions])


def _replaced(
    line: str, numbers: dict[str, int], generated: dict[int, Emitted], definitions: list[str]
) -> str:
    match, location = _ATOMIC.match(line), _LINE.search(line)
    number = numbers.get(location[1], 0) if location else 0
    emitted = generated.get(number)
    if not match or emitted is None or emitted.space != "shared":
        return line
    pointer, operand = split_list(match[3])[:2]
    kind = type_of_operand(operand)
    if not _is_loop(match[2], kind):
        return line
    name, value = f"{PREFIX}{number}", operand.removeprefix(kind).strip().split(" ")[0]
    space = type_of_operand(pointer)
    definitions.append(_loop(name, match[2], kind, space))
    debug = location[0] if location else ""
    return f'{match[1]}call {kind} @"{name}"({pointer}, {kind} {value}){debug}'


def _is_loop(operation: str, kind: str) -> bool:
    """Return True if a GPU has no instruction for an atomic: of floats, and of 64 bits except an exchange."""
    return operation in (*_PLAIN, *_COMPARED) and (operation.startswith("f") or kind == "i64")


def _loop(name: str, operation: str, kind: str, pointer: str) -> str:
    bits = {"float": "i32", "double": "i64"}.get(kind, kind)
    value, back = "%old", "%new"
    lines = [
        f'define internal {kind} @"{name}"({pointer} %a, {kind} %b) noinline {{', "entry:", "  br label %again",
        "again:", f"  %bits = load {bits}, {pointer} %a",
    ]  # fmt: skip
    if bits != kind:
        lines.append(f"  %old = bitcast {bits} %bits to {kind}")
    else:
        value = "%bits"
    if operation in _PLAIN:
        lines.append(f"  %new = {_PLAIN[operation]} {kind} {value}, %b")
    else:
        lines += [
            f"  %c = icmp {_COMPARED[operation]} {kind} %b, {value}",
            f"  %new = select i1 %c, {kind} %b, {kind} {value}",
            "  br i1 %c, label %swap, label %end",
            "swap:",
        ]
    if bits != kind:
        lines.append(f"  %newbits = bitcast {kind} %new to {bits}")
        back = "%newbits"
    lines += [
        f"  %pair = cmpxchg {pointer} %a, {bits} %bits, {bits} {back} monotonic monotonic",
        f"  %done = extractvalue {{ {bits}, i1 }} %pair, 1", "  br i1 %done, label %end, label %again",
        "end:", f"  ret {kind} {value}", "}",
    ]  # fmt: skip
    return "\n".join(lines)

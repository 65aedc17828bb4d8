"""Inline PTX in a kernel's IR, replaced by functions or instructions that a CPU has.

Numba emits some, and libdevice additions with a carry. Unknown PTX is refused.
"""

from __future__ import annotations

import re

from ..compiler.host_math import math_definition
from ..compiler.llvm_text import closing_bracket, split_list, type_of_operand
from ..not_countable import NotCountableError

_CALL = re.compile(
    r'call ([^@"\n]*?) ?asm (?:sideeffect |alignstack |inteldialect |unwind )*"([^"]*)", "[^"]*"\('
)
_LOAD = re.compile(r"ld\.global\.\w+\.b(\d+) \$0, \[\$1\];")
_STORE = re.compile(r"st\.global\.\w+\.b(\d+) \[\$0\], \$1;")
_FUNCTIONS = {
    "activemask.b32 $0;": "ts.activemask",
    "mov.u32 $0, %dynamic_smem_size;": "ts.nvvm.read.ptx.sreg.dynamic_smem_size",
    "nanosleep.u32 $0;": "ts.nanosleep",
    "brkpt;": "ts.brkpt",
    "tanh.approx.f32 $0, $1;": "ts.__nv_tanhf",
}
_SPECIAL = re.compile(r"mov\.[ub](32|64)\s+\$0, %(\w+)(?:\.([xyz]))?;")
_KINDS = {"f16": "half", "f32": "float", "f64": "double"}


def replace_assembly(text: str) -> str:
    """Replace all inline PTX in a module's text; raises NotCountableError for unknown PTX."""
    if " asm " not in text:
        return text
    definitions: dict[str, str] = {}
    lines = [_replaced(line, definitions) if " asm " in line else line for line in text.split("\n")]
    return "\n".join([*lines, *definitions.values()])


def _replaced(line: str, definitions: dict[str, str]) -> str:
    match = _CALL.search(line)
    if not match:
        return line
    end = closing_bracket(line, match.end() - 1)
    result, ptx, arguments = (
        match[1].strip(),
        match[2].replace("\\0A", "\n").replace("\\09", " "),
        line[match.end() : end],
    )
    result = result.split(" ")[-1] if not result.endswith("}") else result[result.index("{") :]
    operands, rest = split_list(arguments), line[end + 1 :]
    start = re.sub(r"(tail|musttail|notail) $", "", line[: match.start()])
    ptx = ptx.strip()
    if _LOAD.fullmatch(ptx):
        return f"{start}load {result}, {operands[0]}{_debug(rest)}"
    if _STORE.fullmatch(ptx):
        return f"{start}store {operands[1]}, {operands[0]}{_debug(rest)}"
    if not ptx:  # a barrier for the compiler
        return ""
    types = [type_of_operand(operand) for operand in operands]
    name = _FUNCTIONS.get(ptx)
    if name is None and (special := _SPECIAL.fullmatch(ptx)):
        name = f"ts.nvvm.read.ptx.sreg.{special[2]}" + (f".{special[3]}" if special[3] else "")
    if name is None:
        name = f"ts.asm.{len(definitions)}"
        existing = next(
            (name_defined for name_defined, text in definitions.items() if text.endswith(f"; {match[2]}\n")),
            None,
        )
        name = existing or name
        body = _body(ptx, result, types)
        if body is None:
            raise NotCountableError(
                f"It has inline PTX that is not supported here: {' '.join(ptx.split())[:60]}"
            )
        definitions[name] = _defined(name, result, types, body) + f"\n; {match[2]}\n"
    elif name not in definitions:
        definitions[name] = f'declare {result} @"{name}"({", ".join(types)})'
    return f'{start}call {result} @"{name}"({arguments}){_debug(rest)}'


def _debug(rest: str) -> str:
    match = re.search(r", !dbg !\d+", rest)
    return match[0] if match else ""


def _defined(name: str, result: str, types: list[str], body: list[str]) -> str:
    parameters = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(types))
    return "\n".join([f'define internal {result} @"{name}"({parameters}) alwaysinline {{', *body, "}"])


def _body(ptx: str, result: str, types: list[str]) -> list[str] | None:
    if approximate := re.match(r"(rcp|rsqrt|sqrt|ex2|lg2|sin|cos)\.", ptx):
        return math_definition(f"nvvm.{approximate[1]}", result, types)
    if re.match(r"bfind(\.shiftamt)?\.u(32|64) ", ptx):
        return _highest_bit(ptx, result, types[0])
    if "setp.equ" in ptx and "selp" in ptx and len(types) >= 2:
        return [f"  ret {result} %a0"]
    if ptx.startswith("cvt."):
        return _conversion(ptx, result, types[0])
    if result == "{ i64, i64 }" and set(types) == {"i64"}:
        return _wide_arithmetic(ptx, len(types), "i64", "i128")
    if result == "{ i32, i32 }" and set(types) == {"i32"}:
        return _wide_arithmetic(ptx, len(types), "i32", "i64")
    return None


def _highest_bit(ptx: str, result: str, kind: str) -> list[str]:
    """Find the highest set bit, counted from the highest one for `shiftamt`; -1 if there is none."""
    width = int(kind[1:])
    lines = [f"  %z = call {kind} @llvm.ctlz.{kind}({kind} %a0, i1 false)"]
    index = "%z" if "shiftamt" in ptx else "%n"
    lines += [f"  %n = sub {kind} {width - 1}, %z", f"  %none = icmp eq {kind} %a0, 0",
              f"  %r = select i1 %none, {kind} -1, {kind} {index}"]  # fmt: skip
    if result != kind:
        lines.append(f"  %t = trunc {kind} %r to {result}")
    return [*lines, f"  ret {result} %{'t' if result != kind else 'r'}"]


def _wide_arithmetic(ptx: str, count: int, kind: str, wide: str) -> list[str] | None:
    """Multiply, or add or subtract two numbers of two words each, as libdevice does in words of 32 bits."""
    lines = [f"  %w{i} = zext {kind} %a{i} to {wide}" for i in range(count)]
    width = kind[1:]
    if count == 4:
        operation = "sub" if "subc" in ptx else "add"
        for low, high in ((0, 1), (2, 3)):
            lines += [f"  %h{low} = shl {wide} %w{high}, {width}", f"  %n{low} = or {wide} %h{low}, %w{low}"]
        lines.append(f"  %r = {operation} {wide} %n0, %n2")
    elif count in (2, 3):
        lines.append(f"  %m = mul {wide} %w0, %w1")
        lines.append(f"  %r = add {wide} %m, %w2" if count == 3 else f"  %r = or {wide} %m, 0")
    else:
        return None
    pair = f"{{ {kind}, {kind} }}"
    return [
        *lines, f"  %low = trunc {wide} %r to {kind}", f"  %up = lshr {wide} %r, {width}",
        f"  %high = trunc {wide} %up to {kind}", f"  %p = insertvalue {pair} poison, {kind} %low, 0",
        f"  %q = insertvalue {pair} %p, {kind} %high, 1", f"  ret {pair} %q",
    ]  # fmt: skip


def _conversion(ptx: str, result: str, operand_type: str) -> list[str] | None:
    """Convert between a half float, which Numba passes as an i16, and other numbers."""
    match = re.match(r"cvt\.(?:r\w+\.)?(\w+)\.(\w+) ", ptx)
    if not match:
        return None
    target_type, source_type = match[1], match[2]
    if source_type == "f16":
        lines = [f"  %h = bitcast {operand_type} %a0 to half"]
        if target_type in _KINDS:
            return [*lines, f"  %r = fpext half %h to {result}", f"  ret {result} %r"]
        convert = "fptoui" if target_type.startswith("u") else "fptosi"
        return [*lines, "  %f = fpext half %h to float", "  %n = call float @llvm.roundeven.f32(float %f)",
                f"  %r = call {result} @llvm.{convert}.sat.{result}.f32(float %n)", f"  ret {result} %r"]  # fmt: skip
    if target_type == "f16":
        convert = (
            "fptrunc" if source_type in _KINDS else "uitofp" if source_type.startswith("u") else "sitofp"
        )
        return [
            f"  %h = {convert} {operand_type} %a0 to half",
            f"  %r = bitcast half %h to {result}",
            f"  ret {result} %r",
        ]
    return None

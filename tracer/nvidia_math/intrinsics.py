"""What libdevice asks of a GPU, as LLVM's IR for any computer: NVVM's intrinsics, and PTX by its instructions.

The meanings are those of NVIDIA's "PTX ISA". `arcp` marks sums and products that PTX rounds by themselves (`add.rn`):
they are never fused. It changes nothing else, since they are no divisions.
"""

from __future__ import annotations

from collections.abc import Iterator

from .special_functions import definitions

_LLVM = {"f": "float", "d": "double"}
_BITS = {"float": "i32", "double": "i64"}
_SUFFIX = {"float": "f32", "double": "f64"}
_SIGNED = {"i": ("i32", "s"), "ui": ("i32", "u"), "ll": ("i64", "s"), "ull": ("i64", "u")}
# For each direction of rounding, in which a nearest number is corrected: upwards, and downwards.
_DIRECTIONS = {
    "rm": ("false", "%below"),
    "rp": ("%above", "false"),
    "rz": ("%up.to.zero", "%down.to.zero"),
}


def _function(result: str, name: str, given: str, body: str) -> str:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return f"define {result} @tilescope.{name}({given}) alwaysinline {{\n{lines}\n}}\n"


def _corrected(kind: str, name: str, given: str, body: str) -> Iterator[str]:
    """Yield a function for each directed rounding: `body` sets %nearest, and %error to what it lacks."""
    bits, suffix = _BITS[kind], _SUFFIX[kind]
    for direction, (up, down) in _DIRECTIONS.items():
        yield _function(
            kind,
            name.format(direction),
            given,
            f"""{body}
            %above = fcmp ogt {kind} %error, 0.0
            %below = fcmp olt {kind} %error, 0.0
            %negative = fcmp olt {kind} %nearest, 0.0
            %positive = fcmp ogt {kind} %nearest, 0.0
            %up.to.zero = and i1 %above, %negative
            %down.to.zero = and i1 %below, %positive
            %size = call {kind} @llvm.fabs.{suffix}({kind} %nearest)
            %finite = fcmp olt {kind} %size, 0x7FF0000000000000
            %up.wanted = and i1 %finite, {up}
            %down.wanted = and i1 %finite, {down}
            %bits = bitcast {kind} %nearest to {bits}
            %outwards = add {bits} %bits, 1
            %inwards = sub {bits} %bits, 1
            %sign = icmp slt {bits} %bits, 0
            %higher.bits = select i1 %sign, {bits} %inwards, {bits} %outwards
            %lower.bits = select i1 %sign, {bits} %outwards, {bits} %inwards
            %higher = bitcast {bits} %higher.bits to {kind}
            %lower = bitcast {bits} %lower.bits to {kind}
            %raised = select i1 %up.wanted, {kind} %higher, {kind} %nearest
            %result = select i1 %down.wanted, {kind} %lower, {kind} %raised
            ret {kind} %result""",
        )


def _directed() -> Iterator[str]:
    """Yield sums, products, quotients and roots, rounded up, down and towards 0."""
    for letter, kind in _LLVM.items():
        suffix = _SUFFIX[kind]
        two = f"{kind} %a, {kind} %b"
        total = f"""
            %nearest = fadd arcp {kind} %a, {{b}}
            %back = fsub arcp {kind} %nearest, %a
            %rest = fsub arcp {kind} %nearest, %back
            %lost = fsub arcp {kind} %a, %rest
            %more = fsub arcp {kind} {{b}}, %back
            %error = fadd arcp {kind} %lost, %more"""
        yield from _corrected(kind, f"add.{{}}.{letter}", two, total.format(b="%b"))
        difference = f"%minus = fneg {kind} %b{total.format(b='%minus')}"
        yield from _corrected(kind, f"sub.{{}}.{suffix}", two, difference)
        product = f"""
            %nearest = fmul arcp {kind} %a, %b
            %minus = fneg {kind} %nearest
            %error = call {kind} @llvm.fma.{suffix}({kind} %a, {kind} %b, {kind} %minus)"""
        yield from _corrected(kind, f"mul.{{}}.{letter}", two, product)
        quotient = f"""
            %nearest = fdiv {kind} {{a}}, {{b}}
            %minus = fneg {kind} %nearest
            %rest = call {kind} @llvm.fma.{suffix}({kind} %minus, {kind} {{b}}, {kind} {{a}})
            %error = fdiv {kind} %rest, {{b}}"""
        yield from _corrected(kind, f"div.{{}}.{letter}", two, quotient.format(a="%a", b="%b"))
        yield from _corrected(kind, f"rcp.{{}}.{letter}", f"{kind} %a", quotient.format(a="1.0", b="%a"))
        root = f"""
            %nearest = call {kind} @llvm.sqrt.{suffix}({kind} %a)
            %minus = fneg {kind} %nearest
            %error = call {kind} @llvm.fma.{suffix}({kind} %minus, {kind} %nearest, {kind} %a)"""
        yield from _corrected(kind, f"sqrt.{{}}.{letter}", f"{kind} %a", root)
    fused = """
            %x = fpext float %a to double
            %y = fpext float %b to double
            %z = fpext float %c to double
            %product = fmul arcp double %x, %y
            %total = fadd arcp double %product, %z
            %back = fsub arcp double %total, %product
            %rest = fsub arcp double %total, %back
            %lost = fsub arcp double %product, %rest
            %more = fsub arcp double %z, %back
            %small = fadd arcp double %lost, %more
            %nearest = fptrunc double %total to float
            %wide = fpext float %nearest to double
            %large = fsub arcp double %total, %wide
            %sum = fadd arcp double %large, %small
            %is.up = fcmp ogt double %sum, 0.0
            %is.down = fcmp olt double %sum, 0.0
            %raised.error = select i1 %is.up, float 1.0, float 0.0
            %error = select i1 %is.down, float -1.0, float %raised.error"""
    yield from _corrected("float", "fma.{}.f", "float %a, float %b, float %c", fused)


def _nearest() -> Iterator[str]:
    """Yield arithmetic that is rounded to the nearest."""
    for letter, kind in _LLVM.items():
        suffix = _SUFFIX[kind]
        unary, binary = f"{kind} %a", f"{kind} %a, {kind} %b"
        for name, opcode in (("add", "fadd"), ("mul", "fmul")):
            yield _function(
                kind, f"{name}.rn.{letter}", binary, f"%r = {opcode} arcp {kind} %a, %b\nret {kind} %r"
            )
        yield _function(kind, f"sub.rn.{suffix}", binary, f"%r = fsub arcp {kind} %a, %b\nret {kind} %r")
        yield _function(kind, f"div.rn.{letter}", binary, f"%r = fdiv {kind} %a, %b\nret {kind} %r")
        yield _function(kind, f"rcp.rn.{letter}", unary, f"%r = fdiv {kind} 1.0, %a\nret {kind} %r")
        names = {"sqrt.rn": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "rint"}
        for name, called in names.items():
            body = f"%r = call {kind} @llvm.{called}.{suffix}({kind} %a)\nret {kind} %r"
            yield _function(kind, f"{name}.{letter}", unary, body)
        yield _function(
            kind, f"fabs.{suffix}", unary, f"%r = call {kind} @llvm.fabs.{suffix}({kind} %a)\nret {kind} %r"
        )
        for name, called in (("fmin", "minnum"), ("fmax", "maxnum")):
            body = f"%r = call {kind} @llvm.{called}.{suffix}({kind} %a, {kind} %b)\nret {kind} %r"
            yield _function(kind, f"{name}.{letter}", binary, body)
        yield _function(
            kind, f"fma.rn.{letter}", f"{binary}, {kind} %c",
            f"%r = call {kind} @llvm.fma.{suffix}({kind} %a, {kind} %b, {kind} %c)\nret {kind} %r",
        )  # fmt: skip
    yield _function(
        "float", "saturate.f", "float %a",
        """%high = call float @llvm.minnum.f32(float %a, float 1.0)
        %inside = call float @llvm.maxnum.f32(float %high, float 0.0)
        %known = fcmp ord float %a, 0.0
        %r = select i1 %known, float %inside, float 0.0
        ret float %r""",
    )  # fmt: skip


def _conversions() -> Iterator[str]:
    """Yield conversions between integers and floats."""
    rounded = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil"}
    for letter, kind in _LLVM.items():
        suffix = _SUFFIX[kind]
        for name, (integer, sign) in _SIGNED.items():
            for direction, called in rounded.items():
                # A nan is 0 where a float32 becomes 32 bits, else the highest bit is set.
                lowest = "0" if (kind, integer) == ("float", "i32") else str(-1 << (int(integer[1:]) - 1))
                yield _function(
                    integer, f"{letter}2{name}.{direction}", f"{kind} %a",
                    f"""%n = call {kind} @llvm.{called}.{suffix}({kind} %a)
                    %i = call {integer} @llvm.fpto{sign}i.sat.{integer}.{suffix}({kind} %n)
                    %known = fcmp ord {kind} %a, 0.0
                    %r = select i1 %known, {integer} %i, {integer} {lowest}
                    ret {integer} %r""",
                )  # fmt: skip
            body = f"%r = {sign}itofp {integer} %a to {kind}\nret {kind} %r"
            yield _function(kind, f"{name}2{letter}.rn", f"{integer} %a", body)
    yield _function("float", "d2f.rn", "double %a", "%r = fptrunc double %a to float\nret float %r")
    yield _function(
        "i32", "d2i.lo", "double %a", "%b = bitcast double %a to i64\n%r = trunc i64 %b to i32\nret i32 %r"
    )
    yield _function(
        "i32", "d2i.hi", "double %a",
        "%b = bitcast double %a to i64\n%h = lshr i64 %b, 32\n%r = trunc i64 %h to i32\nret i32 %r",
    )  # fmt: skip
    yield _function(
        "double", "lohi.i2d", "i32 %low, i32 %high",
        """%l = zext i32 %low to i64
        %h = zext i32 %high to i64
        %s = shl i64 %h, 32
        %b = or i64 %s, %l
        %r = bitcast i64 %b to double
        ret double %r""",
    )  # fmt: skip


def _integers() -> Iterator[str]:
    """Yield arithmetic on integers, some of it by the PTX that libdevice has in assembler."""
    for name, kind, wide, extend in (
        ("i", "i32", "i64", "sext"), ("ui", "i32", "i64", "zext"), ("ll", "i64", "i128", "sext"),
        ("ull", "i64", "i128", "zext"),
    ):  # fmt: skip
        yield _function(
            kind, f"mulhi.{name}", f"{kind} %a, {kind} %b",
            f"""%x = {extend} {kind} %a to {wide}
            %y = {extend} {kind} %b to {wide}
            %p = mul {wide} %x, %y
            %h = lshr {wide} %p, {kind[1:]}
            %r = trunc {wide} %h to {kind}
            ret {kind} %r""",
        )  # fmt: skip
    mad = ("mad.lo.cc.u32", "madc.hi.cc.u32", "madc.hi.u32")
    moves = ["mov.b64"] * 4
    yield _pair(
        "i32",
        "i64",
        "mad.lo.cc.u32.madc.hi.u32",
        "i32 %a, i32 %b, i32 %c",
        "%p = mul i64 %x, %y\n%t = add i64 %p, %z",
    )
    sums = ("add.cc.u32", "addc.cc.u32", "addc.cc.u32", "addc.u32")
    for opcode in ("add", "sub"):
        name = ".".join([*moves, *(step.replace("add", opcode, 1) for step in sums), "mov.b64", "mov.b64"])
        yield _function(
            "{ i64, i64 }", name, "i64 %a, i64 %b, i64 %c, i64 %d",
            f"""%al = zext i64 %a to i128
            %ah = zext i64 %b to i128
            %as = shl i128 %ah, 64
            %x = or i128 %as, %al
            %cl = zext i64 %c to i128
            %ch = zext i64 %d to i128
            %cs = shl i128 %ch, 64
            %y = or i128 %cs, %cl
            %t = {opcode} i128 %x, %y
            {_HALVES}""",
        )  # fmt: skip
    with_sum = (
        *mad,
        "mad.lo.cc.u32",
        "madc.hi.cc.u32",
        "madc.hi.u32",
        "mad.lo.cc.u32",
        "madc.lo.cc.u32",
        "addc.u32",
    )
    name = ".".join([*moves[:3], *with_sum, "mov.b64", "mov.b64"])
    yield _pair("i64", "i128", name, "i64 %a, i64 %b, i64 %c", "%p = mul i128 %x, %y\n%t = add i128 %p, %z")
    without = (
        "mul.lo.u32", "mul.hi.u32", "mad.lo.cc.u32", "madc.hi.u32", "mad.lo.cc.u32", "madc.hi.cc.u32", "madc.hi.u32",
        "mad.lo.cc.u32", "addc.u32",
    )  # fmt: skip
    name = ".".join([*moves[:2], *without, "mov.b64", "mov.b64"])
    yield _pair("i64", "i128", name, "i64 %a, i64 %b", "%t = mul i128 %x, %y")
    yield _function(
        "i32", "bfind.shiftamt.u32", "i32 %a",
        """%n = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
        %none = icmp eq i32 %a, 0
        %r = select i1 %none, i32 -1, i32 %n
        ret i32 %r""",
    )  # fmt: skip
    yield _function(
        "double", "setp.equ.f64.selp.f64", "double %a, double %b, double %c, double %d",
        "%p = fcmp ueq double %a, %b\n%r = select i1 %p, double %c, double %d\nret double %r",
    )  # fmt: skip


_HALVES = """%l = trunc i128 %t to i64
            %hs = lshr i128 %t, 64
            %h = trunc i128 %hs to i64
            %s = insertvalue { i64, i64 } undef, i64 %l, 0
            %r = insertvalue { i64, i64 } %s, i64 %h, 1
            ret { i64, i64 } %r"""


def _pair(kind: str, wide: str, name: str, given: str, body: str) -> str:
    """Return a function of unsigned integers whose result is twice as wide, in two halves."""
    extended = "\n".join(
        f"%{wider} = zext {kind} %{letter} to {wide}"
        for wider, letter in zip("xyz", "abc", strict=True)
        if f"%{letter}" in given
    )
    halves = (
        _HALVES.replace("i64", "i32").replace("i128", "i64").replace(" 64\n", " 32\n")
        if kind == "i32"
        else _HALVES
    )
    return _function(f"{{ {kind}, {kind} }}", name, given, f"{extended}\n{body}\n{halves}")


DEFINITIONS = "".join([*_directed(), *_nearest(), *_conversions(), *_integers(), definitions()])

"""The special functions of a GPU (PTX's `.approx`), bit for bit, as LLVM's IR for any computer.

A GPU interpolates quadratically between the entries of a table (Oberman and Siu, "A high-performance area-efficient
multifunction interpolator", ARITH 2005): the highest bits of a fraction choose three coefficients, and the others are
multiplied with two of them, exactly. Only their square is truncated. `resources/special_functions.json` has the
tables, which `script/record-special-functions` found from all results of an H100; every result of each function is
the H100's, for all 2**32 arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TABLES = Path(__file__).parents[2] / "resources" / "special_functions.json"
_ONE = 1 << 23  # of a float's fraction
_INFINITY, _NAN = 0x7F800000, 0x7FFFFFFF
_HIGH_ONE, _HIGH_INFINITY = 1 << 20, 0x7FF00000  # of a double's upper word, whose nan is that of a float
_TURNS = "0x3FC45F3060000000"  # a float that is nearly 1 / (2 pi)


def definitions() -> str:
    """Return the tables, and the functions that read them, each named after its instruction."""
    return "".join([*_constants(), _square(), _INTERPOLATED, *_functions()])


@cache
def tables() -> dict[str, list[list[int]]]:
    """Return the coefficients of each function: for each interval a constant, a factor, and one of the square."""
    read: dict[str, list[list[int]]] = json.loads(TABLES.read_text())["tables"]
    return read


def _constants() -> Iterator[str]:
    for name, rows in tables().items():
        numbers = ", ".join(f"i64 {number}" for row in rows for number in row)
        yield f"@tilescope.table.{name} = internal constant [{3 * len(rows)} x i64] [{numbers}]\n"


def _square() -> str:
    """Return the function that squares 17 bits: of each partial product only what is left of the point."""
    lines, total = [], "0"
    for bit in range(2, 17):
        lines += [
            f"%bit.{bit} = lshr i64 %x, {bit}",
            f"%set.{bit} = and i64 %bit.{bit}, 1",
            f"%mask.{bit} = sub i64 0, %set.{bit}",
            f"%part.{bit} = lshr i64 %x, {18 - bit}",
            f"%kept.{bit} = and i64 %part.{bit}, %mask.{bit}",
            f"%total.{bit} = add i64 {total}, %kept.{bit}",
        ]
        total = f"%total.{bit}"
    body = "\n  ".join([*lines, f"%r = lshr i64 {total}, 1", "ret i64 %r"])
    return f"define internal i64 @tilescope.square(i64 %x) alwaysinline {{\n  {body}\n}}\n"


_INTERPOLATED = """
define internal i64 @tilescope.interpolated(ptr %table, i64 %index, i64 %x, i64 %square) alwaysinline {
  %at = mul i64 %index, 3
  %constant.at = getelementptr i64, ptr %table, i64 %at
  %factor.at = getelementptr i64, ptr %constant.at, i64 1
  %second.at = getelementptr i64, ptr %constant.at, i64 2
  %constant = load i64, ptr %constant.at
  %factor = load i64, ptr %factor.at
  %second = load i64, ptr %second.at
  %linear = mul i64 %factor, %x
  %quadratic = mul i64 %second, %square
  %sum = add i64 %constant, %linear
  %r = add i64 %sum, %quadratic
  ret i64 %r
}
"""
_PARTS = """%word = bitcast float %a to i32
%bits = zext i32 %word to i64
%sign = and i64 %bits, 2147483648
%shifted = lshr i64 %bits, 23
%exponent = and i64 %shifted, 255
%fraction = and i64 %bits, 8388607"""
_HIGH_PARTS = """%whole = bitcast double %a to i64
%bits = lshr i64 %whole, 32
%sign = and i64 %bits, 2147483648
%shifted = lshr i64 %bits, 20
%exponent = and i64 %shifted, 2047
%high.fraction = and i64 %bits, 1048575
%fraction = shl i64 %high.fraction, 3"""
_RESULT = """%r.word = trunc i64 %r.bits to i32
%r = bitcast i32 %r.word to float
ret float %r"""
_HIGH_RESULT = """%r.high = shl i64 %r.bits, 32
%r = bitcast i64 %r.high to double
ret double %r"""
_BY_PARITY = """%even.bit = and i64 %exponent, 1
%odd = xor i64 %even.bit, 1
%table.half = shl i64 %odd, 6
%index.low = lshr i64 %fraction, 17
%index = or i64 %table.half, %index.low
%x = and i64 %fraction, 131071
%square = call i64 @tilescope.square(i64 %x)"""


def _functions() -> Iterator[str]:
    for name, parts, one_bits, infinity, result, kind in (
        ("rcp", _PARTS, _ONE, _INFINITY, _RESULT, "float"),
        ("rcp64", _HIGH_PARTS, _HIGH_ONE, _HIGH_INFINITY, _HIGH_RESULT, "double"),
    ):
        yield _function(kind, f"mufu.{name}", _reciprocal(parts, one_bits, infinity, result))
    for name, parts, one_bits, infinity, result, kind in (
        ("rsq", _PARTS, _ONE, _INFINITY, _RESULT, "float"),
        ("rsq64", _HIGH_PARTS, _HIGH_ONE, _HIGH_INFINITY, _HIGH_RESULT, "double"),
    ):
        yield _function(kind, f"mufu.{name}", _reciprocal_root(parts, one_bits, infinity, result))
    yield _function("float", "mufu.sqrt", _ROOT)
    yield _function("float", "mufu.ex2", _POWER)
    yield _function("float", "mufu.lg2", _LOGARITHM)
    yield _function("float", "mufu.sin", _sine(quarters=0))
    yield _function("float", "mufu.cos", _sine(quarters=1))
    yield from _instructions()


def _function(kind: str, name: str, body: str, given: str = "") -> str:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return f"define internal {kind} @tilescope.{name}({given or f'{kind} %a'}) alwaysinline {{\n{lines}\n}}\n"


def _chosen(first: str, *cases: tuple[str, str]) -> str:
    """Return lines that set %r.bits: to the first value, or that of the last case whose condition holds."""
    lines, before = [], first
    for number, (condition, value) in enumerate(cases):
        name = "%r.bits" if number == len(cases) - 1 else f"%case.{number}"
        lines.append(f"{name} = select i1 {condition}, i64 {value}, i64 {before}")
        before = name
    return "\n".join(lines)


def _special(one_bits: int) -> str:
    """Return lines that find zeros (a subnormal is one) and what is no finite number."""
    last = 255 if one_bits == _ONE else 2047
    return f"""%is.zero = icmp eq i64 %exponent, 0
        %is.top = icmp eq i64 %exponent, {last}
        %has.fraction = icmp ne i64 %fraction, 0
        %is.nan = and i1 %is.top, %has.fraction
        %is.negative = icmp ne i64 %sign, 0
        %endless = or i64 %sign, {_INFINITY if one_bits == _ONE else _HIGH_INFINITY}"""


def _narrowed(one_bits: int) -> str:
    """Return lines that set %narrow, the fraction of %y, which has 24 bits, less its 1 before the point."""
    return f"""%kept = lshr i64 %y, {0 if one_bits == _ONE else 3}
        %narrow = sub i64 %kept, {one_bits}"""


def _reciprocal(parts: str, one_bits: int, infinity: int, result: str) -> str:
    bits, bias = one_bits.bit_length() - 1, 253 if one_bits == _ONE else 2045
    return f"""{parts}
        {_special(one_bits)}
        %index = lshr i64 %fraction, 16
        %x = and i64 %fraction, 65535
        %x.doubled = shl i64 %x, 1
        %square = call i64 @tilescope.square(i64 %x.doubled)
        %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.rcp, i64 %index, i64 %x, i64 %square)
        %y = lshr i64 %sum, 15
        {_narrowed(one_bits)}
        %power = sub i64 {bias}, %exponent
        %power.shifted = shl i64 %power, {bits}
        %size = add i64 %power.shifted, %narrow
        %is.small = icmp slt i64 %size, {one_bits}
        %flushed = select i1 %is.small, i64 0, i64 %size
        %signed = or i64 %flushed, %sign
        {_chosen("%signed", ("%is.zero", "%endless"), ("%is.top", "%sign"), ("%is.nan", str(_NAN)))}
        {result}"""


def _reciprocal_root(parts: str, one_bits: int, infinity: int, result: str) -> str:
    bits, bias = one_bits.bit_length() - 1, 127 if one_bits == _ONE else 1023
    return f"""{parts}
        {_special(one_bits)}
        {_BY_PARITY}
        %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.rsq, i64 %index, i64 %x, i64 %square)
        %y = lshr i64 %sum, 16
        {_narrowed(one_bits)}
        %unbiased = sub i64 %exponent, {bias}
        %half = ashr i64 %unbiased, 1
        %power = sub i64 {bias - 1}, %half
        %power.shifted = shl i64 %power, {bits}
        %size = add i64 %power.shifted, %narrow
        %is.even = icmp eq i64 %odd, 0
        %is.whole = icmp eq i64 %fraction, 0
        %is.power = and i1 %is.even, %is.whole
        %whole.size = add i64 %power.shifted, {one_bits}
        {
        _chosen(
            "%size",
            ("%is.power", "%whole.size"),
            ("%is.top", "0"),
            ("%is.negative", str(_NAN)),
            ("%is.zero", "%endless"),
            ("%is.nan", str(_NAN)),
        )
    }
        {result}"""


_ROOT = f"""{_PARTS}
    {_special(_ONE)}
    {_BY_PARITY}
    %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.sqrt, i64 %index, i64 %x, i64 %square)
    %scale = sub i64 17, %odd
    %y = lshr i64 %sum, %scale
    {_narrowed(_ONE)}
    %unbiased = sub i64 %exponent, 127
    %half = ashr i64 %unbiased, 1
    %power = add i64 %half, 127
    %power.shifted = shl i64 %power, 23
    %size = add i64 %power.shifted, %narrow
    {
    _chosen(
        "%size",
        ("%is.top", str(_INFINITY)),
        ("%is.negative", str(_NAN)),
        ("%is.zero", "%sign"),
        ("%is.nan", str(_NAN)),
    )
}
    {_RESULT}"""

# The argument as a fixed-point number with 23 bits after the point, cut off; a negative one is the complement of it.
_POWER = f"""{_PARTS}
    {_special(_ONE)}
    %mantissa = or i64 %fraction, {_ONE}
    %scale = sub i64 %exponent, 127
    %up = call i64 @llvm.smax.i64(i64 %scale, i64 0)
    %left = call i64 @llvm.smin.i64(i64 %up, i64 8)
    %down = sub i64 127, %exponent
    %down.positive = call i64 @llvm.smax.i64(i64 %down, i64 0)
    %right = call i64 @llvm.smin.i64(i64 %down.positive, i64 63)
    %wide = shl i64 %mantissa, %left
    %size = lshr i64 %wide, %right
    %part = and i64 %size, 8388607
    %is.whole = icmp eq i64 %part, 0
    %minus = sub i64 0, %size
    %complement = xor i64 %size, -1
    %below = select i1 %is.whole, i64 %minus, i64 %complement
    %fixed = select i1 %is.negative, i64 %below, i64 %size
    %power = ashr i64 %fixed, 23
    %after = and i64 %fixed, 8388607
    %index = lshr i64 %after, 17
    %x = and i64 %after, 131071
    %square = call i64 @tilescope.square(i64 %x)
    %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.ex2, i64 %index, i64 %x, i64 %square)
    %y = lshr i64 %sum, 15
    {_narrowed(_ONE)}
    %biased = add i64 %power, 127
    %power.shifted = shl i64 %biased, 23
    %value = add i64 %power.shifted, %narrow
    %is.small = icmp slt i64 %value, {_ONE}
    %is.large = icmp sge i64 %value, {_INFINITY}
    {_chosen("%value", ("%is.small", "0"), ("%is.large", str(_INFINITY)), ("%is.nan", str(_NAN)))}
    {_RESULT}"""

# The logarithm of the mantissa has 36 bits after the point; below 0, the result is the complement of the sum.
_LOGARITHM = f"""{_PARTS}
    {_special(_ONE)}
    %index = lshr i64 %fraction, 17
    %x = and i64 %fraction, 131071
    %square = call i64 @tilescope.square(i64 %x)
    %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.lg2, i64 %index, i64 %x, i64 %square)
    %logarithm = lshr i64 %sum, 2
    %power = sub i64 %exponent, 127
    %power.shifted = shl i64 %power, 36
    %fixed = add i64 %power.shifted, %logarithm
    %is.below = icmp slt i64 %fixed, 0
    %complement = xor i64 %fixed, -1
    %size = select i1 %is.below, i64 %complement, i64 %fixed
    %r.sign = select i1 %is.below, i64 2147483648, i64 0
    %leading = call i64 @llvm.ctlz.i64(i64 %size, i1 false)
    %scale = sub i64 %leading, 21
    %scale.valid = and i64 %scale, 63
    %normal = shl i64 %size, %scale.valid
    %y = lshr i64 %normal, 19
    {_narrowed(_ONE)}
    %biased = sub i64 133, %scale
    %biased.shifted = shl i64 %biased, 23
    %value = add i64 %biased.shifted, %narrow
    %signed = or i64 %value, %r.sign
    %is.nothing = icmp eq i64 %size, 0
    %is.one = icmp eq i64 %bits, 1065353216
    {
    _chosen(
        "%signed",
        ("%is.nothing", "0"),
        ("%is.one", "0"),
        ("%is.top", str(_INFINITY)),
        ("%is.negative", str(_NAN)),
        ("%is.zero", str(_INFINITY | 1 << 31)),
        ("%is.nan", str(_NAN)),
    )
}
    {_RESULT}"""


def _sine(quarters: int) -> str:
    """Return the body for an angle in turns: a fixed-point number with 25 bits after the point, cut off."""
    return f"""{_PARTS}
        {_special(_ONE)}
        %mantissa = or i64 %fraction, {_ONE}
        %scale = sub i64 %exponent, 125
        %up = call i64 @llvm.smax.i64(i64 %scale, i64 0)
        %left = call i64 @llvm.smin.i64(i64 %up, i64 32)
        %down = sub i64 125, %exponent
        %down.positive = call i64 @llvm.smax.i64(i64 %down, i64 0)
        %right = call i64 @llvm.smin.i64(i64 %down.positive, i64 63)
        %wide = shl i64 %mantissa, %left
        %angle = lshr i64 %wide, %right
        %turned = add i64 %angle, {quarters << 23}
        %quarter = lshr i64 %turned, 23
        %is.odd = and i64 %quarter, 1
        %mirror = mul i64 %is.odd, 8388607
        %part = and i64 %turned, 8388607
        %after = xor i64 %part, %mirror
        %half = and i64 %quarter, 2
        %half.sign = shl i64 %half, 30
        %r.sign = xor i64 %half.sign, {"0" if quarters else "%sign"}
        %index = lshr i64 %after, 17
        %x = and i64 %after, 131071
        %square = call i64 @tilescope.square(i64 %x)
        %sum = call i64 @tilescope.interpolated(ptr @tilescope.table.sin, i64 %index, i64 %x, i64 %square)
        %leading = call i64 @llvm.ctlz.i64(i64 %sum, i1 false)
        %shift = sub i64 %leading, 26
        %shift.valid = and i64 %shift, 63
        %normal = shl i64 %sum, %shift.valid
        %y = lshr i64 %normal, 14
        {_narrowed(_ONE)}
        %biased = sub i64 127, %shift
        %biased.shifted = shl i64 %biased, 23
        %value = add i64 %biased.shifted, %narrow
        %is.nothing = icmp eq i64 %sum, 0
        %size = select i1 %is.nothing, i64 0, i64 %value
        %signed = or i64 %size, %r.sign
        {_chosen("%signed", ("%is.top", str(_NAN)))}
        {_RESULT}"""


# How ptxas makes an instruction of PTX from those above: what is subnormal, or has a subnormal result, is scaled.
def _instructions() -> Iterator[str]:
    for mufu, ptx, suffix in (
        ("ex2", "ex2", "f32"),
        ("lg2", "lg2", "f"),
        ("rsq", "rsqrt", "f"),
        ("sqrt", "sqrt", "f"),
    ):
        body = f"%r = call float @tilescope.mufu.{mufu}(float %a)\nret float %r"
        yield _function("float", f"{ptx}.approx.ftz.{suffix}", body)
    for name in ("sin", "cos"):
        body = f"""%turns = call float @tilescope.mul.rz.f(float %a, float {_TURNS})
            %r = call float @tilescope.mufu.{name}(float %turns)
            ret float %r"""
        yield _function("float", f"{name}.approx.f", body)
        yield _function("float", f"{name}.approx.ftz.f", body)
    tiny = """%size = call float @llvm.fabs.f32(float %a)
        %is.tiny = fcmp olt float %size, 0x3810000000000000"""
    for mufu, ptx, result in (
        ("lg2", "lg2", "%less = fadd arcp float %y, -2.400000e+01"),
        ("rsq", "rsqrt", "%less = fmul arcp float %y, 4096.0"),
        ("sqrt", "sqrt", "%less = fmul arcp float %y, 0x3F30000000000000"),
    ):  # fmt: skip
        yield _function(
            "float", f"{ptx}.approx.f",
            f"""{tiny}
            %more = fmul arcp float %a, 16777216.0
            %b = select i1 %is.tiny, float %more, float %a
            %y = call float @tilescope.mufu.{mufu}(float %b)
            {result}
            %r = select i1 %is.tiny, float %less, float %y
            ret float %r""",
        )  # fmt: skip
    yield _function(
        "float",
        "ex2.approx.f32",
        """%is.low = fcmp olt float %a, -126.0
        %half = fmul arcp float %a, 0.5
        %b = select i1 %is.low, float %half, float %a
        %y = call float @tilescope.mufu.ex2(float %b)
        %square = fmul arcp float %y, %y
        %r = select i1 %is.low, float %square, float %y
        ret float %r""",
    )
    yield _function(
        "float", "rcp.approx.ftz.f32", "%r = call float @tilescope.mufu.rcp(float %a)\nret float %r"
    )
    yield _function(
        "float", "div.approx.f",
        f"""{tiny.replace("%a)", "%b)")}
        %a.more = fmul arcp float %a, 16777216.0
        %b.more = fmul arcp float %b, 16777216.0
        %x = select i1 %is.tiny, float %a.more, float %a
        %y = select i1 %is.tiny, float %b.more, float %b
        %z = call float @tilescope.mufu.rcp(float %y)
        %r = fmul arcp float %z, %x
        ret float %r""",
        "float %a, float %b",
    )  # fmt: skip
    yield _function(
        "float", "div.approx.ftz.f",
        """%z = call float @tilescope.mufu.rcp(float %b)
        %x = call float @tilescope.flushed(float %a)
        %y = fmul arcp float %z, %x
        %r = call float @tilescope.flushed(float %y)
        ret float %r""",
        "float %a, float %b",
    )  # fmt: skip
    yield _function(
        "float", "flushed",
        f"""{tiny}
        %zero = call float @llvm.copysign.f32(float 0.0, float %a)
        %r = select i1 %is.tiny, float %zero, float %a
        ret float %r""",
    )  # fmt: skip
    for mufu, ptx in (("rcp64", "rcp.approx.ftz.d"), ("rsq64", "rsqrt.approx.ftz.f64")):
        yield _function("double", ptx, f"%r = call double @tilescope.mufu.{mufu}(double %a)\nret double %r")
    # A step from the approximation, as ptxas makes it, that is left out where its result is no number.
    yield _function(
        "double", "rsqrt.approx.d",
        """%y = call double @tilescope.mufu.rsq64(double %a)
        %s = fmul arcp double %y, %y
        %n = fneg double %s
        %e = call double @llvm.fma.f64(double %a, double %n, double 1.0)
        %p = call double @llvm.fma.f64(double %e, double 0.375, double 0.5)
        %q = fmul arcp double %y, %e
        %t = call double @llvm.fma.f64(double %p, double %q, double %y)
        %finite = fcmp ord double %t, 0.0
        %r = select i1 %finite, double %t, double %y
        ret double %r""",
    )  # fmt: skip

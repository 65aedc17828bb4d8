"""Kinds of numbers, as Numba's types name them, and which one an operation gives.

The rules are those of Numba's CUDA typing ("Numba Enhancement Proposal 1: Changes in integer typing", and
`unify_types` of its typing context); `tests/tracer/simulator/test_kinds.py` holds them against Numba itself.
"""

from __future__ import annotations

from functools import cache

from ...recording.fixed_width_ints import is_signed, width_of

FLOATS = {"float16": 16, "float32": 32, "float64": 64}
COMPLEX = {"complex64": 32, "complex128": 64}  # with the bits of a part
SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTS = ("bool", *SIGNED, *UNSIGNED)
KINDS = (*INTS, *FLOATS, *COMPLEX)
BITWISE = ("and", "or", "xor")
SHIFTS = ("lshift", "rshift")
DIVISIONS = ("floordiv", "mod", "divmod")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def range_of(kind: str) -> tuple[int, int]:
    """Return the lowest and the highest number of a kind of integers."""
    if kind == "bool":
        return 0, 1
    bits = width_of(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


@cache
def result(operation: str, a: str, b: str) -> str | None:
    """Return the kind that an operation of two kinds gives, None where Numba has none."""
    if operation in COMPARISONS:
        return None if operation in COMPARISONS[:4] and (a in COMPLEX or b in COMPLEX) else "bool"
    if operation in (*BITWISE, *SHIFTS) and not (a in INTS and b in INTS):
        return None
    if operation in DIVISIONS and (a in COMPLEX or b in COMPLEX):
        return None
    if operation in BITWISE and a == b == "bool":
        return "bool"
    if operation in SHIFTS:
        return "uint64" if a in UNSIGNED else "int64"
    if operation == "truediv" and a in INTS and b in INTS:
        return "float64"
    if operation == "pow" and a in FLOATS and b in INTS:
        return "float32" if a == "float16" else a
    if operation == "divmod" and {a, b} & {"uint64"} and {a, b} & set(SIGNED):
        return "float64"
    found = common(a, b)
    if found == "float16" and operation in (*DIVISIONS, "pow"):
        return "float32"
    return found


@cache
def common(a: str, b: str) -> str:
    """Return the kind in which numbers of two kinds are added or compared."""
    if a in INTS and b in INTS:
        return "uint64" if a in UNSIGNED and b in UNSIGNED else "int64"
    parts = max(_bits_of_float(a, b), _bits_of_float(b, a))
    if a in COMPLEX or b in COMPLEX:
        return "complex128" if parts == 64 else "complex64"
    return f"float{parts}"


@cache
def compared_as(a: str, b: str) -> str:
    """Return the kind in which numbers of two kinds are compared; "int" of integers is that of Python's."""
    if a in INTS and b in INTS:
        return "float64" if "uint64" in (a, b) and (a in SIGNED or b in SIGNED) else "int"
    return common(a, b)


def _bits_of_float(kind: str, beside: str) -> int:
    """Return the bits of the float that a number becomes beside another."""
    if kind in FLOATS or kind in COMPLEX:
        return (FLOATS | COMPLEX)[kind]
    if kind in ("bool", "int8"):
        return 16 if beside == "float16" else 32
    return 32 if kind in ("int16", "uint8") else 64


@cache
def unified(a: str, b: str) -> str:
    """Return the kind of a variable that is given one kind here and another there; of `min` and `max` too."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if a in INTS and b in INTS:
        return _unified_ints(a, b)
    narrow = {16: ("int8", "uint8"), 32: ("int8", "int16", "uint8", "uint16")}
    most = max(_bits(a), _bits(b))
    for kind, other in ((a, b), (b, a)):
        if kind in INTS:
            floats = 16 if other == "float16" else 32
            most = max(most, next((n for n in (16, 32) if n >= floats and kind in narrow[n]), 64))
    if a in COMPLEX or b in COMPLEX:
        return "complex128" if most == 64 else "complex64"
    return f"float{most}"


def _bits(kind: str) -> int:
    return (FLOATS | COMPLEX).get(kind, 0)


def _unified_ints(a: str, b: str) -> str:
    signed = [width_of(kind) for kind in (a, b) if is_signed(kind)]
    unsigned = [width_of(kind) for kind in (a, b) if not is_signed(kind)]
    bits = max([*signed, *(2 * n for n in unsigned)]) if signed and unsigned else max(signed or unsigned)
    if bits > 64:
        return "float64"
    return f"int{bits}" if signed else f"uint{bits}"

"""Casts between Numba's types, chosen before a kernel runs.

An integer of any kind is a Python int or a subclass, a float64 a float, and a bool a bool. Others are NumPy scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...recording.fixed_width_ints import is_signed, width_of
from ...type_inference.typed_ir import Type
from ..arithmetic.conversions import TYPE_OF_KIND, caster

Cast = Callable[[Any], Any]
INTEGERS = frozenset(kind for kind in TYPE_OF_KIND if kind.startswith(("int", "uint")))


def is_number(kind: str) -> bool:
    """Check whether a kind is a kind of numbers."""
    return kind in TYPE_OF_KIND


@cache
def cast(before: Type, after: Type) -> Cast | None:
    """Return a function that converts a value between two types, None if no conversion is needed."""
    if before == after or after.kind in ("none", "omitted") or before.kind == "omitted":
        return None
    if before.kind == "optional":
        return _unless_none(cast(before.parts[0], after))
    if after.kind == "optional":
        return None if before.kind == "none" else cast(before, after.parts[0])
    if before.kind == "tuple" and after.kind == "tuple" and len(before.parts) == len(after.parts):
        return _tuple_cast(before, after)
    if is_number(before.kind) and is_number(after.kind):
        return number_cast(before.kind, after.kind)
    return caster(after.kind) if before.kind == "enum" and is_number(after.kind) else None


@cache
def number_cast(before: str, after: str) -> Cast | None:
    """Return a function that converts a number between two kinds, None if no conversion is needed."""
    if before == after:
        return None
    if before in INTEGERS and after in INTEGERS and _contains(after, before):
        return None
    if before == "bool" and after in INTEGERS:
        return int
    return float if after == "float64" and not before.startswith("complex") else caster(after)


@cache
def exact_cast(kind: str) -> Cast:
    """Return a function that converts a number to exactly the Python type of its kind."""
    wanted = TYPE_OF_KIND[kind]
    convert = caster(kind)
    return lambda value: value if type(value) is wanted else convert(value)


@cache
def exact(wanted: Type) -> Cast | None:
    """Return a function that converts a number or a tuple to exactly the Python types of its kinds."""
    if is_number(wanted.kind):
        return exact_cast(wanted.kind)
    if wanted.kind != "tuple" or wanted.text:
        return None
    parts = [exact(part) or (lambda value: value) for part in wanted.parts]
    return lambda value: tuple(part(item) for part, item in zip(parts, value, strict=True))


def zero(kind: Type) -> Any:
    """Return the value of an unset variable of this type."""
    if is_number(kind.kind):
        return caster(kind.kind)(0)
    return tuple(map(zero, kind.parts)) if kind.kind == "tuple" else None


def _contains(wide: str, narrow: str) -> bool:
    """Check whether a kind of integers contains all numbers of another."""
    extra_bits = width_of(wide) - width_of(narrow)
    return extra_bits >= 0 if is_signed(wide) == is_signed(narrow) else extra_bits > 0 and is_signed(wide)


def _unless_none(convert: Cast | None) -> Cast | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _tuple_cast(before: Type, after: Type) -> Cast | None:
    casts = [cast(source, target) for source, target in zip(before.parts, after.parts, strict=True)]
    if not any(casts):
        return None

    def convert(value: Any) -> Any:
        parts = [item if part is None else part(item) for part, item in zip(casts, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)

    return convert

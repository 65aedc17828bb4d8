"""What is known of a value before a function runs: its kind of number and its range, or what it is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

from .conversions import kind_of
from .kinds import INTS, KINDS, range_of, unified

SMALL = 1 << 31  # what arguments that are used to compute indices mostly stay below
LONGEST = 1 << 40  # elements that an array may have


class Number(NamedTuple):
    """A number of a kind; of an integer, the lowest and the highest that it can be."""

    kind: str
    low: int = 0
    high: int = 0


class ArrayOf(NamedTuple):
    """An array: the kind of its elements and how many dimensions it has, None where that is not known."""

    kind: str | None
    ndim: int | None


class TupleOf(NamedTuple):
    """A tuple of parts of these types."""

    parts: tuple[Any, ...]


class Known:
    """A value that is known: a function, a module, a type."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and (self.value is other.value or _same_path(self.value, other.value))

    __hash__ = None  # type: ignore[assignment]  # compared, never a key


class CudaPath(str):
    """What a name under `cuda` means, as "shared.array"; "" is `cuda` itself."""

    __slots__ = ()


StaticType = Number | ArrayOf | TupleOf | Known | None  # None is what is not known


def _same_path(one: Any, other: Any) -> bool:
    return isinstance(one, CudaPath) and isinstance(other, CudaPath) and one == other


def number(kind: str) -> Number:
    """Return any number of a kind."""
    return Number(kind, *range_of(kind)) if kind in INTS else Number(kind)


def integer(low: int, high: int, kind: str = "int64") -> Number:
    """Return an integer of a range, which is that of its kind where it is larger."""
    lowest, highest = range_of(kind)
    return Number(kind, low, high) if lowest <= low <= high <= highest else Number(kind, lowest, highest)


def type_of(value: Any) -> StaticType:
    """Return what is known of a value of which its type is: an argument."""
    kind = kind_of(value)
    if kind is not None:
        narrow = kind == "int64" and -SMALL <= value < SMALL
        return integer(-SMALL, SMALL - 1) if narrow else number(kind)
    if type(value) is tuple:
        return TupleOf(tuple(map(type_of, value)))
    dtype, ndim = getattr(value, "dtype", None), getattr(value, "ndim", None)
    if dtype is not None and isinstance(ndim, int):
        return ArrayOf(dtype.name if getattr(dtype, "name", "") in KINDS else None, ndim)
    return None


def constant(value: Any) -> StaticType:
    """Return what is known of a value that stays what it is."""
    kind = kind_of(value)
    if kind in INTS:
        return Number(kind, int(value), int(value))
    if kind is not None:
        return Number(kind)
    if type(value) is tuple:
        return TupleOf(tuple(map(constant, value)))
    found = type_of(value)
    return Known(value) if found is None else found


def joined(types: Iterable[StaticType]) -> StaticType:
    """Return what is known of a variable that may be any of these."""
    return reduce(_join, types)


def _join(a: StaticType, b: StaticType) -> StaticType:
    if a == b:
        return a
    if isinstance(a, Number) and isinstance(b, Number):
        kind = unified(a.kind, b.kind)
        return integer(min(a.low, b.low), max(a.high, b.high), kind) if kind in INTS else Number(kind)
    if isinstance(a, ArrayOf) and isinstance(b, ArrayOf):
        return ArrayOf(a.kind if a.kind == b.kind else None, a.ndim if a.ndim == b.ndim else None)
    if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.parts) == len(b.parts):
        parts = tuple(_join(x, y) if _alike(x, y) else None for x, y in zip(a.parts, b.parts, strict=True))
        return TupleOf(parts)
    return None


def _alike(a: StaticType, b: StaticType) -> bool:
    """Return whether two parts of tuples are numbers of one kind, which need no conversion, or else no numbers."""
    if isinstance(a, Number) and isinstance(b, Number):
        return a.kind == b.kind
    return not isinstance(a, Number) and not isinstance(b, Number)


def widened(found: StaticType) -> StaticType:
    """Return a type for what changes in a loop: an integer of any value."""
    return number(found.kind) if isinstance(found, Number) else found


def elements(found: StaticType) -> StaticType:
    """Return what a loop over a value gives."""
    if isinstance(found, ArrayOf) and found.ndim is not None:
        return _part(found, found.ndim - 1)
    if isinstance(found, TupleOf) and found.parts and all(part == found.parts[0] for part in found.parts):
        first: StaticType = found.parts[0]
        return first
    return None


def _part(array: ArrayOf, ndim: int) -> StaticType:
    if ndim > 0:
        return ArrayOf(array.kind, ndim)
    return number(array.kind) if ndim == 0 and array.kind else None


def item(found: StaticType, index: StaticType, slices: int | None) -> StaticType:
    """Return what an index gives of a value; `slices` are those among its parts, None where that is not known."""
    if isinstance(found, TupleOf):
        if (
            isinstance(index, Number)
            and index.low == index.high
            and -len(found.parts) <= index.low < len(found.parts)
        ):
            part: StaticType = found.parts[index.low]
            return part
        return elements(found)
    if not isinstance(found, ArrayOf) or found.ndim is None or slices is None:
        return None
    parts = index.parts if isinstance(index, TupleOf) else (index,)
    whole = sum(isinstance(part, Number) and part.kind in INTS for part in parts)
    if whole + slices != len(parts):
        return None
    return _part(found, found.ndim - whole)

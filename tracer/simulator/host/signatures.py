"""Signatures of kernels: what was declared, and what a launch's arguments are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import is_cuda_ndarray


class Signature(NamedTuple):
    """Numba's types of a function's arguments, and of what it returns."""

    args: tuple[Any, ...]
    return_type: Any = None  # None where it was not said


class NoMatch(TypeError):
    """Arguments for which a kernel was not declared."""


def normalized(given: Any) -> Signature:
    """Return a signature that was written as text, types in a tuple, or a type called with types."""
    from numba.core.sigutils import normalize_signature

    return Signature(*normalize_signature(given))


def array_of(value: Any) -> Any:
    """Return the array that an argument is or wraps, or None."""
    value = getattr(value, "value", value) if type(value).__name__ in ("In", "Out", "InOut") else value
    if is_cuda_ndarray(value):
        return value._ary
    return value if isinstance(value, np.ndarray | np.void) else None


def type_of(value: Any) -> Any:
    """Return what tells the type of an argument from others, quickly."""
    ary = array_of(value)
    if ary is None:
        return tuple(map(type_of, value)) if isinstance(value, tuple) else type(value)
    if isinstance(ary, np.void):
        return ary.dtype
    return ary.dtype, ary.ndim, ary.flags.c_contiguous, ary.flags.f_contiguous


def types_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return Numba's types of arguments."""
    from numba import typeof

    found = ((value, array_of(value)) for value in arguments)
    return tuple(typeof(value if ary is None else ary) for value, ary in found)


def cast_arguments(
    name: str, declared: Sequence[Signature], given: tuple[Any, ...], *, specialized: bool
) -> tuple[Any, ...]:
    """Return arguments with their numbers of the declared types; raises NoMatch where no signature takes them.

    A kernel of one signature alone (`specialized`) takes arrays of other types on a GPU, and reads their bytes as
    what they are not. So it does here.
    """
    chosen = chosen_signature(name, declared, given, specialized=specialized)
    return tuple(map(_cast, chosen.args, given))


def chosen_signature(
    name: str, declared: Sequence[Signature], given: tuple[Any, ...], *, specialized: bool
) -> Signature:
    """Return the signature that a launch with these arguments takes; raises NoMatch where none fits."""
    reasons = [_mismatch(one, given, any_elements=specialized) for one in declared]
    fitting = [one for one, reason in zip(declared, reasons, strict=True) if not reason]
    if not fitting:
        raise NoMatch(f"{name} is declared for {' and '.join(map(_text, declared))}, but {reasons[0]}.")
    return fitting[0] if len(fitting) == 1 else _best(name, fitting, given)


def _best(name: str, fitting: Sequence[Signature], given: Sequence[Any]) -> Signature:
    """Return the signature that Numba takes of several: that with the fewest and least conversions of numbers.

    Raises NoMatch where two are as good as each other, as Numba does.
    """
    types = types_of(given)
    costs = [_conversions(types, one.args) for one in fitting]
    best = [one for one, cost in zip(fitting, costs, strict=True) if cost == min(costs)]
    if len(best) > 1 and len({one.args for one in best}) > 1:
        told = " and ".join(map(_text, best))
        raise NoMatch(
            f"{name} is declared for {told}, of which neither is nearer to {_text(Signature(types))}."
        )
    return best[0]


def _conversions(given: Sequence[Any], declared: Sequence[Any]) -> tuple[int, int, int]:
    """Return how many arguments are converted (unsafely, safely, to more bits), which Numba compares in this order."""
    from numba.core.typeconv import Conversion
    from numba.core.typing import Context

    can_convert = Context().can_convert
    found = [can_convert(one, other) for one, other in zip(given, declared, strict=True)]
    unsafe = sum(one is None or one == Conversion.unsafe for one in found)
    return unsafe, found.count(Conversion.safe), found.count(Conversion.promote)


def _text(signature: Signature) -> str:
    return f"({', '.join(map(_name, signature.args))})"


def _name(kind: Any) -> str:
    if not hasattr(kind, "layout"):
        return str(kind)
    lines = {"C": "::1", "F": "::1"}.get(kind.layout, ":")
    axes = [":"] * kind.ndim
    if axes:
        axes[0 if kind.layout == "F" else -1] = lines
    return f"{kind.dtype}[{', '.join(axes)}]"


def mismatches(name: str, signature: Signature, given: Sequence[Any]) -> list[str]:
    """Return a sentence for each array whose elements are of another type than a signature says.

    Whole numbers that differ in their sign only are no mismatch.
    """
    found = []
    for place, (kind, value) in enumerate(zip(signature.args, given, strict=False), 1):
        ary = array_of(value)
        if not isinstance(ary, np.ndarray) or not hasattr(kind, "ndim"):
            continue
        dtype = _dtype_of(kind.dtype, ary.dtype)
        if ary.dtype != dtype and not _differ_in_sign(ary.dtype, dtype):
            found.append(
                f"argument {place} of {name} is declared as {_name(kind)} and is an array of {ary.dtype}, whose bytes "
                f"a GPU takes for {dtype} without a word"
            )
    return found


def _mismatch(signature: Signature, given: Sequence[Any], *, any_elements: bool) -> str:
    """Return why a signature does not take these arguments, or nothing.

    any_elements: whether it takes arrays with elements of any type, as long as their bytes can be seen as the declared.
    """
    if len(signature.args) != len(given):
        return f"{len(given)} arguments are given"
    for place, (kind, value) in enumerate(zip(signature.args, given, strict=True)):
        ary = array_of(value)
        if not hasattr(kind, "ndim") or isinstance(ary, np.void):
            continue
        if ary is None:
            return f"argument {place + 1} is {value!r}, which is no array"
        dtype = _dtype_of(kind.dtype, ary.dtype)
        alike = ary.dtype == dtype or (any_elements and _can_be_seen(ary, dtype))
        if ary.ndim != kind.ndim or not alike:
            return f"argument {place + 1} is {ary.dtype}[{', '.join(':' * ary.ndim)}]"
    return ""


def _dtype_of(kind: Any, otherwise: np.dtype[Any]) -> np.dtype[Any]:
    from numba.np.numpy_support import as_dtype

    try:
        found: np.dtype[Any] = np.dtype(as_dtype(kind))
    except NotImplementedError:  # of records and the like, whose names may differ
        return otherwise
    return found


def _differ_in_sign(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return {one.kind, other.kind} == {"i", "u"} and one.itemsize == other.itemsize


def _cast(kind: Any, value: Any) -> Any:
    """Return a number as the declared type, whole numbers of an array as signed as declared; all else as it is."""
    ary = array_of(value)
    if isinstance(ary, np.ndarray) and hasattr(kind, "dtype"):
        dtype = _dtype_of(kind.dtype, ary.dtype)
        return value if ary.dtype == dtype else _viewed(value, ary, dtype)
    if not isinstance(value, int | float | complex | np.number | np.bool_) or not hasattr(kind, "bitwidth"):
        return value
    dtype = _dtype_of(kind, np.dtype(type(value)))
    if dtype.kind in "iu" and isinstance(value, float | np.floating):
        raise NoMatch(f"{value!r} is given for a parameter that is declared as {kind}: write {int(value)}.")
    return np.asarray(value).astype(dtype)[()]


def _can_be_seen(ary: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> bool:
    """Return whether the bytes of an array can be seen as elements of a type."""
    plain = not (ary.dtype.hasobject or dtype.hasobject or ary.dtype.names or dtype.names)
    return plain and (ary.dtype.itemsize == dtype.itemsize or ary.flags.c_contiguous)


def _viewed(value: Any, ary: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """Return the same memory as another type, for `In` and its like wrapped as it was.

    It has the same shape, without gaps; of wider elements, only as many rows as there are bytes for.
    """
    if not hasattr(value, "view"):
        return type(value)(_viewed(value.value, ary, dtype))
    if ary.dtype.itemsize == dtype.itemsize:
        return value.view(dtype)
    row = int(np.prod(ary.shape[1:]))
    rows = min(len(ary), ary.nbytes // (dtype.itemsize * row)) if row and ary.ndim else 0
    usable = ary.nbytes - ary.nbytes % dtype.itemsize
    flat = value.reshape(-1)[: usable // ary.dtype.itemsize].view(dtype)
    return flat[: rows * row].reshape((rows, *ary.shape[1:]))

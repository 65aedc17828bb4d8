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
    what they are not. Here it does so of whole numbers with and without a sign, and refuses the others.
    """
    chosen = chosen_signature(name, declared, given, specialized=specialized)
    return tuple(map(_cast, chosen.args, given))


def chosen_signature(
    name: str, declared: Sequence[Signature], given: tuple[Any, ...], *, specialized: bool
) -> Signature:
    """Return the signature that a launch with these arguments takes; raises NoMatch where none fits."""
    reasons = [_mismatch(one, given, other_signs=specialized) for one in declared]
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


def _mismatch(signature: Signature, given: Sequence[Any], *, other_signs: bool) -> str:
    """Return why a signature does not take these arguments, or nothing.

    other_signs: whether it takes arrays of whole numbers of the same size that have a sign in one of them alone.
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
        alike = ary.dtype == dtype or (other_signs and _differ_in_sign(ary.dtype, dtype))
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
        return _viewed(value, dtype) if _differ_in_sign(ary.dtype, dtype) else value
    if not isinstance(value, int | float | complex | np.number | np.bool_) or not hasattr(kind, "bitwidth"):
        return value
    dtype = _dtype_of(kind, np.dtype(type(value)))
    if dtype.kind in "iu" and isinstance(value, float | np.floating):
        raise NoMatch(f"{value!r} is given for a parameter that is declared as {kind}: write {int(value)}.")
    return np.asarray(value).astype(dtype)[()]


def _viewed(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the same memory as another type, for `In` and its like wrapped as it was."""
    return value.view(dtype) if hasattr(value, "view") else type(value)(value.value.view(dtype))

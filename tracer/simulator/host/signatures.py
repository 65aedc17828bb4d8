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


def cast_arguments(name: str, declared: Sequence[Signature], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with their numbers of the declared types; raises NoMatch where no signature takes them.

    A kernel of one signature takes arrays of other types on a GPU, and reads their bytes as what they are not.
    """
    reasons = [_mismatch(one, given) for one in declared]
    if "" not in reasons:
        raise NoMatch(f"{name} is declared for {' and '.join(map(_text, declared))}, but {reasons[0]}.")
    return tuple(map(_cast, declared[reasons.index("")].args, given))


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


def _mismatch(signature: Signature, given: Sequence[Any]) -> str:
    """Return why a signature does not take these arguments, or nothing."""
    if len(signature.args) != len(given):
        return f"{len(given)} arguments are given"
    for place, (kind, value) in enumerate(zip(signature.args, given, strict=True)):
        ary = array_of(value)
        if not hasattr(kind, "ndim") or isinstance(ary, np.void):
            continue
        if ary is None:
            return f"argument {place + 1} is {value!r}, which is no array"
        if ary.ndim != kind.ndim or ary.dtype != _dtype_of(kind.dtype, ary.dtype):
            return f"argument {place + 1} is {ary.dtype}[{', '.join(':' * ary.ndim)}]"
    return ""


def _dtype_of(kind: Any, otherwise: np.dtype[Any]) -> np.dtype[Any]:
    from numba.np.numpy_support import as_dtype

    try:
        found: np.dtype[Any] = np.dtype(as_dtype(kind))
    except NotImplementedError:  # of records and the like, whose names may differ
        return otherwise
    return found


def _cast(kind: Any, value: Any) -> Any:
    """Return a number as the declared type; all else as it is."""
    if not isinstance(value, int | float | complex | np.number | np.bool_) or not hasattr(kind, "bitwidth"):
        return value
    dtype = _dtype_of(kind, np.dtype(type(value)))
    if dtype.kind in "iu" and isinstance(value, float | np.floating):
        raise NoMatch(f"{value!r} is given for a parameter that is declared as {kind}: write {int(value)}.")
    return np.asarray(value).astype(dtype)[()]

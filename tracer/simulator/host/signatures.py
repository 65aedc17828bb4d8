"""Signatures of kernels: the declared types, and their match with the arguments of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import DeviceNDArray, is_cuda_ndarray, memory_at


class Signature(NamedTuple):
    """Numba's types of a function's arguments and of its result."""

    args: tuple[Any, ...]
    return_type: Any = None  # None if not declared


class NoMatchError(TypeError):
    """The arguments match no declared signature."""


def parse_signature(declared: Any) -> Signature:
    """Parse a signature: a text, a tuple of types, or a type called with types."""
    from numba.core.sigutils import normalize_signature

    return Signature(*normalize_signature(declared))


def array_of(value: Any) -> Any:
    """Return the array of an argument or its wrapper, or None."""
    value = getattr(value, "value", value) if type(value).__name__ in ("In", "Out", "InOut") else value
    if is_cuda_ndarray(value):
        return value._ary
    return value if isinstance(value, np.ndarray | np.void) else None


def type_of(value: Any) -> Any:
    """Return a key for the type of an argument, quickly."""
    ary = array_of(value)
    if ary is None:
        return tuple(map(type_of, value)) if isinstance(value, tuple) else type(value)
    if isinstance(ary, np.void):
        return ary.dtype
    return ary.dtype, ary.ndim, ary.flags.c_contiguous, ary.flags.f_contiguous


def types_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return Numba's types of arguments."""
    from numba import typeof

    pairs = ((value, array_of(value)) for value in arguments)
    return tuple(typeof(value if ary is None else ary) for value, ary in pairs)


def cast_arguments(
    name: str, declared: Sequence[Signature], arguments: tuple[Any, ...], *, specialized: bool
) -> tuple[Any, ...]:
    """Convert numbers to the declared types; raises NoMatchError if no signature matches.

    A kernel with only one signature (`specialized`) accepts arrays of other types on a GPU, and reinterprets their
    bytes. So it does here.
    """
    chosen = choose_signature(name, declared, arguments, specialized=specialized)
    return tuple(map(_cast, chosen.args, arguments))


def choose_signature(
    name: str, declared: Sequence[Signature], arguments: tuple[Any, ...], *, specialized: bool
) -> Signature:
    """Choose the signature for these arguments; raises NoMatchError if none matches."""
    reasons = [_mismatch(signature, arguments, any_elements=specialized) for signature in declared]
    fitting = [signature for signature, reason in zip(declared, reasons, strict=True) if not reason]
    if not fitting:
        raise NoMatchError(f"{name} is declared for {' and '.join(map(_text, declared))}, but {reasons[0]}.")
    return fitting[0] if len(fitting) == 1 else _best_signature(name, fitting, arguments)


def _best_signature(name: str, fitting: Sequence[Signature], arguments: Sequence[Any]) -> Signature:
    """Choose among several signatures like Numba: the one with the fewest and smallest conversions of numbers.

    Raises NoMatchError if two are equally good, as Numba does.
    """
    types = types_of(arguments)
    costs = [_conversions(types, signature.args) for signature in fitting]
    best = [signature for signature, cost in zip(fitting, costs, strict=True) if cost == min(costs)]
    if len(best) > 1 and len({signature.args for signature in best}) > 1:
        declared = " and ".join(map(_text, best))
        raise NoMatchError(
            f"{name} is declared for {declared}, which match {_text(Signature(types))} equally well."
        )
    return best[0]


def _conversions(given: Sequence[Any], declared: Sequence[Any]) -> tuple[int, int, int]:
    """Count the arguments that are converted (unsafely, safely, to more bits); Numba compares in this order."""
    from numba.core.typeconv import Conversion
    from numba.core.typing import Context

    can_convert = Context().can_convert
    conversions = [
        can_convert(kind, declared_kind) for kind, declared_kind in zip(given, declared, strict=True)
    ]
    unsafe = sum(conversion is None or conversion == Conversion.unsafe for conversion in conversions)
    return unsafe, conversions.count(Conversion.safe), conversions.count(Conversion.promote)


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
    """Write a sentence for each array whose elements have another type than declared.

    Integers that differ only in their signedness are no mismatch.
    """
    sentences = []
    for number, (kind, value) in enumerate(zip(signature.args, given, strict=False), 1):
        ary = array_of(value)
        if not isinstance(ary, np.ndarray) or not hasattr(kind, "ndim"):
            continue
        dtype = _dtype_of(kind.dtype, ary.dtype)
        if ary.dtype != dtype and not _differ_in_sign(ary.dtype, dtype):
            sentences.append(
                f"argument {number} of {name} is declared as {_name(kind)} but is an array of {ary.dtype}; a GPU "
                f"reads its bytes as {dtype} without an error"
            )
    return sentences


def _mismatch(signature: Signature, given: Sequence[Any], *, any_elements: bool) -> str:
    """Explain why a signature does not match these arguments, "" if it does.

    any_elements: whether it accepts arrays of any type whose bytes can be reinterpreted as the declared type.
    """
    if len(signature.args) != len(given):
        return "1 argument is given" if len(given) == 1 else f"{len(given)} arguments are given"
    for index, (kind, value) in enumerate(zip(signature.args, given, strict=True)):
        ary = array_of(value)
        if not hasattr(kind, "ndim") or isinstance(ary, np.void):
            continue
        if ary is None:
            return f"argument {index + 1} is {value!r}, which is not an array"
        dtype = _dtype_of(kind.dtype, ary.dtype)
        is_compatible = ary.dtype == dtype or (any_elements and _can_be_viewed(ary, dtype))
        if ary.ndim != kind.ndim or not is_compatible:
            return f"argument {index + 1} is {ary.dtype}[{', '.join(':' * ary.ndim)}]"
    return ""


def _dtype_of(kind: Any, otherwise: np.dtype[Any]) -> np.dtype[Any]:
    from numba.np.numpy_support import as_dtype

    try:
        dtype: np.dtype[Any] = np.dtype(as_dtype(kind))
    except NotImplementedError:  # records and similar types, whose names may differ
        return otherwise
    return dtype


def _differ_in_sign(first: np.dtype[Any], second: np.dtype[Any]) -> bool:
    return {first.kind, second.kind} == {"i", "u"} and first.itemsize == second.itemsize


def _cast(kind: Any, value: Any) -> Any:
    """Convert a number to the declared type, and integers of an array to the declared signedness."""
    if is_pointer(kind):
        return _pointed_array(kind, value)
    ary = array_of(value)
    if isinstance(ary, np.ndarray) and hasattr(kind, "dtype"):
        dtype = _dtype_of(kind.dtype, ary.dtype)
        return value if ary.dtype == dtype else _viewed(value, ary, dtype)
    if not isinstance(value, int | float | complex | np.number | np.bool_) or not hasattr(kind, "bitwidth"):
        return value
    dtype = _dtype_of(kind, np.dtype(type(value)))
    if dtype.kind in "iu" and isinstance(value, float | np.floating):
        raise NoMatchError(
            f"{value!r} is given for a parameter that is declared as {kind}; write {int(value)}."
        )
    return np.asarray(value).astype(dtype)[()]


def is_pointer(kind: Any) -> bool:
    """Check whether a declared type is a pointer to elements."""
    return type(kind).__name__ == "CPointer"


def _pointed_array(kind: Any, value: Any) -> DeviceNDArray:
    """Return the elements from an address to the end of the device array that it lies in."""
    if not isinstance(value, int | np.integer):
        raise NoMatchError(
            f"{type(value).__name__} is given for a parameter that is declared as {kind}; give an address."
        )
    dtype = _dtype_of(kind.dtype, np.dtype(np.uint8))
    memory = memory_at(int(value), dtype.itemsize)
    if memory is None:
        raise NoMatchError(f"{value:#x}, which is given for {kind}, is in no device array.")
    return DeviceNDArray(memory.as_array((memory.size // dtype.itemsize,), (dtype.itemsize,), dtype))


def _can_be_viewed(ary: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> bool:
    """Check whether the bytes of an array can be viewed as elements of a type."""
    has_plain_types = not (ary.dtype.hasobject or dtype.hasobject or ary.dtype.names or dtype.names)
    return has_plain_types and (ary.dtype.itemsize == dtype.itemsize or ary.flags.c_contiguous)


def _viewed(value: Any, ary: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """View the same memory as another type; a wrapper such as `In` is kept.

    The view is contiguous and has the same shape; with wider elements it has only the rows that fit.
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

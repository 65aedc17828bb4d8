"""Methods of arrays that Numba compiles into loops over the elements: each element is loaded once, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...type_inference.typed_ir import Type
from ..arithmetic.conversions import as_computed, caster
from .casts import is_number

METHODS = ("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "all", "any")


def flat(array: Any) -> Any:
    """Return the elements of an array as one dimension."""
    return array.reshape(-1) if array.ndim != 1 else array


def _elements(array: Any) -> Iterator[Any]:
    for index in np.ndindex(array.shape):
        yield array[index if len(index) != 1 else index[0]]


def method(name: str, kind: str, result: Type) -> Callable[..., Any]:
    """Return a method of arrays with elements of a kind, which gives a number of this type."""
    convert = caster(result.kind) if is_number(result.kind) else as_computed
    compute = _COMPUTE[name]

    def call(array: Any) -> Any:
        return convert(compute(_elements(array), convert, array.size))

    return call


def _sum(values: Iterator[Any], convert: Any, size: int) -> Any:
    total = convert(0)
    for value in values:
        total = convert(total + convert(value))
    return total


def _product(values: Iterator[Any], convert: Any, size: int) -> Any:
    total = convert(1)
    for value in values:
        total = convert(total * convert(value))
    return total


def _mean(values: Iterator[Any], convert: Any, size: int) -> Any:
    return np.divide(_sum(values, convert, size), size)


def _variance(values: Iterator[Any], convert: Any, size: int) -> Any:
    kept = list(values)
    mean = convert(_mean(iter(kept), convert, size))
    total = convert(0)
    for value in kept:
        total = convert(total + convert(value - mean) * convert(value - mean))
    return np.divide(total, size)


def _deviation(values: Iterator[Any], convert: Any, size: int) -> Any:
    return np.sqrt(_variance(values, convert, size))


def _extreme(better: Callable[[Any, Any], bool], *, index: bool) -> Callable[..., Any]:
    def compute(values: Iterator[Any], convert: Any, size: int) -> Any:
        best, place = None, 0
        for number, value in enumerate(values):
            if best is None or better(value, best):
                best, place = value, number
            if value != value:  # a nan is the result
                best, place = value, number
                break
        if best is None:
            raise ValueError("attempt to get an extreme of an empty array")
        return place if index else best

    return compute


_COMPUTE: dict[str, Callable[..., Any]] = {
    "sum": _sum, "prod": _product, "mean": _mean, "var": _variance, "std": _deviation,
    "min": _extreme(lambda a, b: a < b, index=False), "max": _extreme(lambda a, b: a > b, index=False),
    "argmin": _extreme(lambda a, b: a < b, index=True), "argmax": _extreme(lambda a, b: a > b, index=True),
    "all": lambda values, convert, size: all(values), "any": lambda values, convert, size: any(values),
}  # fmt: skip

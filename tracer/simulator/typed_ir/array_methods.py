"""Array methods that Numba compiles into loops, which load the elements in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...type_inference.typed_ir import Type
from ..arithmetic.conversions import caster, to_computable
from .casts import is_number

Convert = Callable[[Any], Any]  # converts a number to the result's kind


def flat(array: Any) -> Any:
    """Return a one-dimensional view of an array."""
    return array.reshape(-1) if array.ndim != 1 else array


def method(name: str, result: Type) -> Callable[..., Any]:
    """Return an array method with a result of this type."""
    convert = caster(result.kind) if is_number(result.kind) else to_computable
    compute = METHODS[name]
    return lambda array: convert(compute(array, convert))


def _elements(array: Any) -> Iterator[Any]:
    for index in np.ndindex(array.shape):
        yield array[index if len(index) != 1 else index[0]]


def _sum(array: Any, convert: Convert) -> Any:
    total = convert(0)
    for value in _elements(array):
        total = convert(total + convert(value))
    return total


def _product(array: Any, convert: Convert) -> Any:
    total = convert(1)
    for value in _elements(array):
        total = convert(total * convert(value))
    return total


def _mean(array: Any, convert: Convert) -> Any:
    return np.divide(_sum(array, convert), array.size)


def _variance(array: Any, convert: Convert) -> Any:
    """Compute the variance, which loads the elements twice."""
    mean, total = convert(_mean(array, convert)), convert(0)
    for value in _elements(array):
        distance = convert(convert(value) - mean)
        total = convert(total + distance * distance)
    return np.divide(total, array.size)


def _deviation(array: Any, convert: Convert) -> Any:
    return np.sqrt(_variance(array, convert))


def _index_of(better: Callable[[Any, Any], bool]) -> Callable[[Any, Convert], Any]:
    """Return a function that finds the index of the best element, or of the first nan."""

    def compute(array: Any, convert: Convert) -> Any:
        best, best_index = None, 0
        for number, value in enumerate(_elements(array)):
            if value != value:
                return number
            if best is None or better(value, best):
                best, best_index = value, number
        if best is None:
            raise ValueError("attempt to get an extreme of an empty array")
        return best_index

    return compute


METHODS: dict[str, Callable[[Any, Convert], Any]] = {
    "sum": _sum, "prod": _product, "mean": _mean, "var": _variance, "std": _deviation,
    "argmin": _index_of(lambda a, b: a < b), "argmax": _index_of(lambda a, b: a > b),
    "all": lambda array, convert: all(_elements(array)), "any": lambda array, convert: any(_elements(array)),
}  # fmt: skip

"""Rows and columns past the end of an array: views that a GPU makes, through which every access is out of bounds."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .recording_array import OutOfBounds, RecordingArray


class OutsideView(RecordingArray):
    """A view whose first index was outside its array; `prefix` is how the kernel named it."""

    __slots__ = ("_prefix",)
    _prefix: str

    def cell(self, index: Any) -> int:
        """Raise OutOfBounds for any element."""
        parts = tuple(map(operator.index, index if isinstance(index, tuple) else (index,)))
        if len(parts) != self._ary.ndim:
            raise IndexError(f"{len(parts)} indices for the {self._ary.ndim} dimensions of {self._prefix}")
        place = self._origin + sum(map(operator.mul, parts, self._strides))
        raise OutOfBounds(place, f"{self._prefix}[{', '.join(map(str, parts))}]")


def view_outside(array: RecordingArray, index: Any) -> OutsideView:
    """Return the view that an index gives whose whole numbers may be outside the array.

    Raises IndexError where the index has more parts than the array dimensions.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) > array.ndim or any(part is Ellipsis for part in parts):
        raise IndexError(f"{len(parts)} indices for an array of {array.ndim} dimensions")
    parts = (*parts, *[slice(None)] * (array.ndim - len(parts)))
    origin, shape, strides = array._origin, [], []
    for part, length, stride in zip(parts, array.shape, array._strides, strict=True):
        if isinstance(part, slice):
            start, stop, step = part.indices(length)
            origin += start * stride
            shape.append(len(range(start, stop, step)))
            strides.append(stride * step)
        else:
            whole = operator.index(part)
            origin += (whole + length if whole < 0 else whole) * stride
    named = ", ".join(":" if isinstance(part, slice) else str(part) for part in parts)
    made = OutsideView(np.broadcast_to(np.zeros((), array.dtype), tuple(shape)), array._memory)
    before = array._prefix if isinstance(array, OutsideView) else array._name
    for name, value in (
        ("_origin", origin), ("_strides", tuple(strides)), ("_rows", None), ("_cols", None), ("_two", False),
        ("_prefix", f"{before}[{named}]"),
    ):  # fmt: skip
        object.__setattr__(made, name, value)
    return made

"""cuda.atomic on recording arrays: read, compute, write in one turn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ..model.trace import Op
from .allocation import converted, take_turn
from .recording_array import OutOfBounds, RecordingArray

_frame = sys._getframe


def update(array: RecordingArray, index: Any, change: Callable[[Any], Any], frame: FrameType) -> Any:
    """Replace one element by `change` of it and return the old value; None from `change` leaves it."""
    try:
        cell = array.cell(index)
    except OutOfBounds as access:
        return array.record_out_of_bounds(access, Op.ATOMIC, frame)
    me = take_turn(array._scheduler)
    values = array._values
    old = values[cell]
    new = change(old)
    if new is not None:
        values[cell] = converted(new, array._memory.cells.dtype)
    buffer = array._memory.buffer * 4 + Op.ATOMIC
    array._extend((me.context, buffer, *array._user_code.locate(frame), cell, values[cell]))
    return old


class Atomic:
    """The functions of `cuda.atomic`, with the meaning they have on the GPU."""

    def add(self, array: Any, index: Any, value: Any) -> Any:
        """Add a value."""
        return update(array, index, lambda old: _python(old) + value, _frame(1))

    def sub(self, array: Any, index: Any, value: Any) -> Any:
        """Subtract a value."""
        return update(array, index, lambda old: _python(old) - value, _frame(1))

    def and_(self, array: Any, index: Any, value: Any) -> Any:
        """Bitwise and."""
        return update(array, index, lambda old: int(old) & int(value), _frame(1))

    def or_(self, array: Any, index: Any, value: Any) -> Any:
        """Bitwise or."""
        return update(array, index, lambda old: int(old) | int(value), _frame(1))

    def xor(self, array: Any, index: Any, value: Any) -> Any:
        """Bitwise exclusive or."""
        return update(array, index, lambda old: int(old) ^ int(value), _frame(1))

    def inc(self, array: Any, index: Any, value: Any) -> Any:
        """Count up, and from `value` on start again at 0."""
        return update(array, index, lambda old: 0 if old >= value else int(old) + 1, _frame(1))

    def dec(self, array: Any, index: Any, value: Any) -> Any:
        """Count down, and from 0 or above `value` start again at `value`."""
        return update(array, index, lambda old: value if old == 0 or old > value else int(old) - 1, _frame(1))

    def exch(self, array: Any, index: Any, value: Any) -> Any:
        """Exchange."""
        return update(array, index, lambda old: value, _frame(1))

    def max(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; a nan in memory stays, a nan given changes nothing."""
        return update(array, index, lambda old: value if value > old else old, _frame(1))

    def min(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; a nan in memory stays, a nan given changes nothing."""
        return update(array, index, lambda old: value if value < old else old, _frame(1))

    def nanmax(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger, a number before a nan."""
        return update(array, index, lambda old: np.fmax(old, value), _frame(1))

    def nanmin(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller, a number before a nan."""
        return update(array, index, lambda old: np.fmin(old, value), _frame(1))

    def compare_and_swap(self, array: Any, old: Any, value: Any) -> Any:
        """Replace the first element if it equals `old`."""
        first = (0,) * array.ndim
        return update(array, first, lambda seen: value if seen == old else None, _frame(1))

    def cas(self, array: Any, index: Any, old: Any, value: Any) -> Any:
        """Replace the element if it equals `old`."""
        return update(array, index, lambda seen: value if seen == old else None, _frame(1))


def _python(value: Any) -> Any:
    """Return integers as Python's, which don't overflow before they are wrapped; others as they are."""
    return int(value) if isinstance(value, np.integer) else value

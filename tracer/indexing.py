"""Indices of recording arrays: which name one element, and where in memory it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SMALL = 4096  # a list of offsets is looked up faster than a range, and takes more memory


class Miss(IndexError):
    """An index outside its array: (the index in memory that it would be, the element's name)."""

    def __init__(self, cell: int, text: str) -> None:
        super().__init__(f"{text} is outside its array")
        self.cell, self.text = cell, text


def offsets(length: int, stride: int) -> Sequence[int]:
    """Return the offset of each index of a dimension, for look-ups that wrap and refuse as Python's do."""
    whole = range(0, length * stride, stride) if stride else [0] * length
    return list(whole) if length <= SMALL else whole


def shifted(offsets: Sequence[int], origin: int) -> Sequence[int]:
    """Return offsets moved by origin: a tuple or range, so that adding a slice of columns to one fails."""
    if isinstance(offsets, range):
        return range(offsets.start + origin, offsets.stop + origin, offsets.step)
    return tuple(o + origin for o in offsets)


def is_element(index: Any, dimensions: int) -> bool:
    """Return whether an index names one element rather than a slice."""
    parts = index if isinstance(index, tuple) else (index,)
    return len(parts) == dimensions and all(hasattr(p, "__index__") and np.ndim(p) == 0 for p in parts)

"""The codes of large sheets of which a launch touches little: what never changes is made once. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints
from ..common.cell_colours import OUTSIDE, POISON, Codes, shrunk
from .layout.sheet import Sheet
from .outlines import CellRect


class ChangingElements(NamedTuple):
    """Some elements of a buffer, ascending numbers in its shape in C order, and the code of each."""

    elements: Ints
    codes: Codes


class UnchangingDots(NamedTuple):
    """The dots of part of a sheet without its few changing cells."""

    dots: Codes  # (rows, columns) of the picture
    hatched: bool  # whether some show what is below
    changing: NDArray[np.bool_]  # (changing elements,), which of them lie in the part
    place: Ints  # (of these,), the dot of each, in C order


def unchanging_dots(codes: Codes, sheet: Sheet, elements: Ints, part: CellRect, step: int) -> UnchangingDots:
    """Return what stays of the codes of a sheet (rows, cols) whose elements given here change.

    Each dot stands for step x step cells, from the part's first on.
    """
    row, col = sheet.cells(elements)
    seen = codes[part.row0 : part.row1, part.col0 : part.col1]
    changing = (row >= part.row0) & (row < part.row1) & (col >= part.col0) & (col < part.col1)
    row, col = row[changing] - part.row0, col[changing] - part.col0
    place = row // step * -(-seen.shape[1] // step) + col // step
    alike = not any(codes.strides)
    dots, hatched = _alike(seen, place, step) if alike else _without(seen, row, col, step)
    return UnchangingDots(dots, hatched, changing, place)


def _alike(codes: Codes, place: Ints, step: int) -> tuple[Codes, bool]:
    """Return the dots of cells that are all the same, but for those that change: `place` has the dot of each."""
    rows, cols = codes.shape
    tall, wide = (np.minimum(step, size - np.arange(0, size, step)) for size in (rows, cols))
    code = codes[0, 0] if codes.size else np.uint8(OUTSIDE)
    dots = np.full((len(tall), len(wide)), code, np.uint8)
    changing = np.bincount(place, minlength=dots.size).reshape(dots.shape)
    dots[changing >= np.multiply.outer(tall, wide)] = OUTSIDE
    return dots, bool(code == POISON and (dots == POISON).any())


def _without(codes: Codes, row: Ints, col: Ints, step: int) -> tuple[Codes, bool]:
    rest = codes.copy()
    rest[row, col] = OUTSIDE
    return shrunk(rest, step), bool((rest == POISON).any())


def with_changing(kept: UnchangingDots, codes: Codes) -> tuple[Codes, bool]:
    """Return the dots with the codes of the changing elements in them, and whether some show what is below."""
    mine = codes[kept.changing]
    dots = kept.dots.copy()
    np.maximum.at(dots.reshape(-1), kept.place, mine)
    return dots, kept.hatched or bool((mine == POISON).any())

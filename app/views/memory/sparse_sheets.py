"""The codes of large sheets with few touched cells: unchanging dots are computed only once. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints
from ..common.cell_colours import OUTSIDE, POISON, Codes, downsample_codes
from .layout.sheet import Sheet
from .outlines import CellRect


class ChangingElements(NamedTuple):
    """Some elements of a buffer, ascending numbers in its shape in C order, and the code of each."""

    elements: Ints
    codes: Codes


class UnchangingDots(NamedTuple):
    """The dots of a part of a sheet without its few changing cells."""

    dots: Codes  # (rows, columns) of the picture
    hatched: bool  # whether the hatch is visible through some dots
    changing: NDArray[np.bool_]  # (changing elements,), whether each is in the part
    place: Ints  # (elements in the part,), the index of the dot of each, in C order


def unchanging_dots(codes: Codes, sheet: Sheet, elements: Ints, part: CellRect, step: int) -> UnchangingDots:
    """Compute the dots of a sheet from its codes (rows, cols) without the given changing elements.

    Each dot represents step x step cells, from the part's first cell on.
    """
    row, col = sheet.cells(elements)
    visible = codes[part.row0 : part.row1, part.col0 : part.col1]
    changing = (row >= part.row0) & (row < part.row1) & (col >= part.col0) & (col < part.col1)
    row, col = row[changing] - part.row0, col[changing] - part.col0
    dot = row // step * -(-visible.shape[1] // step) + col // step
    is_uniform = not any(codes.strides)
    dots, hatched = (
        _uniform_dots(visible, dot, step) if is_uniform else _dots_without(visible, row, col, step)
    )
    return UnchangingDots(dots, hatched, changing, dot)


def _uniform_dots(codes: Codes, dot: Ints, step: int) -> tuple[Codes, bool]:
    """Compute the dots of uniform cells without the changing ones; dot: the index of each changing cell's dot."""
    rows, cols = codes.shape
    heights, widths = (np.minimum(step, size - np.arange(0, size, step)) for size in (rows, cols))
    code = codes[0, 0] if codes.size else np.uint8(OUTSIDE)
    dots = np.full((len(heights), len(widths)), code, np.uint8)
    changing = np.bincount(dot, minlength=dots.size).reshape(dots.shape)
    dots[changing >= np.multiply.outer(heights, widths)] = OUTSIDE
    return dots, bool(code == POISON and (dots == POISON).any())


def _dots_without(codes: Codes, row: Ints, col: Ints, step: int) -> tuple[Codes, bool]:
    rest = codes.copy()
    rest[row, col] = OUTSIDE
    return downsample_codes(rest, step), bool((rest == POISON).any())


def add_changing_codes(kept: UnchangingDots, codes: Codes) -> tuple[Codes, bool]:
    """Add the codes of the changing elements to the dots; also return whether the hatch is visible."""
    changing_codes = codes[kept.changing]
    dots = kept.dots.copy()
    np.maximum.at(dots.reshape(-1), kept.place, changing_codes)
    return dots, kept.hatched or bool((changing_codes == POISON).any())

"""Shapes that mark accesses and blocks on a sheet: pure functions of rows and columns, in cells. No Qt.

A path is two arrays x, y and, per point, whether a line joins it to the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.array_types import Floats, Ints

TRIANGLE = ((1.0, 0.3), (1.0, 1.0), (0.3, 1.0))
DIAMOND = ((0.5, 0.02), (0.98, 0.5), (0.5, 0.98), (0.02, 0.5))
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
RECTANGLE = np.array([1, 0] * 4, np.int32)  # `joined` of the points of four lines
NO_LINES = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)


class CellRect(NamedTuple):
    """Cells row0 <= row < row1, col0 <= col < col1 of a sheet."""

    row0: int  # the first row
    col0: int  # the first column
    row1: int  # the row after the last
    col1: int  # the column after the last


class CellPath(NamedTuple):
    """Points in cells (x to the right, y down), and whether each is joined to the next."""

    x: Floats
    y: Floats
    joined: NDArray[np.int32]


def extent(rows: Ints, cols: Ints) -> CellRect:
    """Compute the smallest rectangle around one or more cells."""
    return CellRect(int(rows.min()), int(cols.min()), int(rows.max()) + 1, int(cols.max()) + 1)


def outline(rows: Ints, cols: Ints) -> CellPath:
    """Compute the outline of distinct cells: the edges of exactly one cell, joined to long lines."""
    return outline_in(extent(rows, cols), rows, cols) if len(rows) else _lines_path(NO_LINES, NO_LINES)


def outline_in(part: CellRect, rows: Ints, cols: Ints) -> CellPath:
    """Compute the outline of distinct cells; part: their `extent`."""
    if len(rows) == (part.row1 - part.row0) * (part.col1 - part.col0):
        return _rectangle(part)  # the most frequent case
    return _lines_path(_join_runs(*_single_edges(rows, cols)), _join_runs(*_single_edges(cols, rows)))


def _rectangle(part: CellRect) -> CellPath:
    top, left, bottom, right = part
    x = np.array([left, right, left, right, left, left, right, right], float)
    y = np.array([top, top, bottom, bottom, top, bottom, top, bottom], float)
    return CellPath(x, y, RECTANGLE)


def outline_of(mask: NDArray[np.bool_], row: int, col: int) -> CellPath:
    """Compute the outline of the cells in a mask (rows, cols) whose first cell is at this row and column."""
    level, upright = _find_edges(mask), _find_edges(mask.T)
    return _lines_path(
        _join_runs(level[0] + row, level[1] + col), _join_runs(upright[0] + col, upright[1] + row)
    )


def _find_edges(mask: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Find the edges (line number, position along the line) between differing rows."""
    padded = np.zeros((len(mask) + 2, mask.shape[1]), bool)
    padded[1:-1] = mask
    lines, positions = np.nonzero(padded[1:] != padded[:-1])
    return lines, positions


def _lines_path(level: tuple[Ints, Ints], upright: tuple[Ints, Ints]) -> CellPath:
    """Combine lines, each given as (line, line) and (begin, end), into a path."""
    x = np.concatenate([level[1], upright[0]], axis=0)
    y = np.concatenate([level[0], upright[1]], axis=0)
    joined = np.tile(np.array([1, 0], np.int32), len(x))
    return CellPath(x.ravel().astype(float), y.ravel().astype(float), joined)


def _single_edges(across: Ints, along: Ints) -> tuple[Ints, Ints]:
    """Find the edges (line number, position along the line) of exactly one cell."""
    lines, positions = np.concatenate([across, across + 1]), np.concatenate([along, along])
    width = int(positions.max(initial=0)) + 2
    edges, counts = np.unique(lines * width + positions, return_counts=True)
    return np.divmod(edges[counts == 1], width)


def _join_runs(lines: Ints, positions: Ints) -> tuple[Ints, Ints]:
    """Join consecutive edges into runs: (line, line) and (begin, end), each of shape (runs, 2)."""
    is_first = np.ones(len(lines), bool)
    is_first[1:] = (np.diff(lines) != 0) | (np.diff(positions) != 1)
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(lines)) - 1 if len(first) else first
    return np.stack([lines[first]] * 2, axis=1), np.stack([positions[first], positions[last] + 1], axis=1)


def shapes(rows: Ints, cols: Ints, corners: tuple[tuple[float, float], ...]) -> CellPath:
    """Draw one closed shape per cell, with its corners given in the unit square."""
    outline = np.array([*corners, corners[0]])
    x, y = cols[:, None] + outline[:, 0], rows[:, None] + outline[:, 1]
    joined = np.tile(np.array([1] * len(corners) + [0], np.int32), len(rows))
    return CellPath(x.ravel(), y.ravel(), joined)

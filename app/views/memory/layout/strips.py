"""Buffers of one dimension on one scale: strips whose cells are all of the same size, below each other or in columns.

Pure functions from buffers and a room to places. No Qt; lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from .....tracer.model.trace import WARP, Buffer
from ...common.geometry import Box
from .buffer_place import BufferPlace, Metrics
from .sheet import wrapped

STRETCH = 2.0  # how much higher than wide, or wider than high, a cell may be
LEGIBLE = 14.0  # pixels: a buffer that fits a row with such cells gets them even beside millions of elements
TORN = 1.5  # what a scale loses, as the logarithm of its cell's area, for a short buffer with half a row at its end
NARROW = 1.2  # what it loses where a row does not hold the elements of a warp though there are so many
APART = 0.45  # what it loses for columns, by the logarithm of their number
TINY = 18.0  # square pixels of a cell, below which buffers of far apart lengths part
FAR = 8  # times that a buffer is as long as those that have another scale then
FEW = 8  # buffers, of which all ways to share them out among columns are tried


class _Scale(NamedTuple):
    """Rows of so many elements, in columns of so many buffers each, and the size of a cell."""

    width: int  # elements in a row
    columns: tuple[tuple[int, ...], ...]  # the buffers in each, from the top
    cell: float  # pixels, the width of a cell
    row: float  # pixels, its height
    least: float  # pixels, the height of the cells of what fits one row
    merit: float  # the larger, the better


def strips(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> dict[int, BufferPlace]:
    """Place buffers of one dimension, each with its name above, with the largest cells that all of them can have.

    Where these are too small to be seen, short buffers have a scale of their own, below the long ones.
    """
    if not numbers:
        return {}
    scale = max(_scales(buffers, numbers, room, metrics), key=lambda one: one.merit)
    longest = max(math.prod(buffers[n].shape) for n in numbers)
    short = [n for n in numbers if math.prod(buffers[n].shape) * FAR <= longest]
    share = math.floor(room.height / 2)
    has_room = share >= _head(metrics) + metrics.gap + LEGIBLE
    if has_room and scale.cell * scale.row < TINY and any(math.prod(buffers[n].shape) > 1 for n in short):
        above = strips(buffers, [n for n in numbers if n not in short], room.inset(bottom=share), metrics)
        return above | strips(buffers, short, room.inset(top=share + metrics.gap), metrics)
    step = (room.width + metrics.gap) / len(scale.columns)
    places: dict[int, BufferPlace] = {}
    for column, mine in enumerate(scale.columns):
        x, y = math.floor(room.x + column * step), room.y
        for number in mine:
            sheet = wrapped(buffers[number], scale.width)
            cell, row = scale.cell, scale.row
            if _is_short(sheet.cols * sheet.rows, scale.width, step - metrics.gap):
                cell, row = scale.least if cell < LEGIBLE / 2 else cell, max(row, scale.least)
            y = math.floor(y + _head(metrics))
            places[number] = BufferPlace(sheet, x, y, cell, room=step - metrics.gap, tall=row / cell)
            y += sheet.rows * row + metrics.gap
    return places


def _head(metrics: Metrics) -> float:
    return 1.3 * metrics.line


def _is_short(length: int, width: int, across: float) -> bool:
    """Return whether a buffer has one row, with room for cells that can be read."""
    return length <= width and length * LEGIBLE <= across


def _scales(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> Iterator[_Scale]:
    lengths = {n: max(1, math.prod(buffers[n].shape)) for n in numbers}
    longest = max(lengths.values())
    widths = {1 << power for power in range(3, 24) if 1 << power < longest} | {
        length for length in lengths.values() if 8 <= length <= 32 or length == longest <= 64
    }
    for columns in _columns(numbers):
        across = (room.width + metrics.gap) / len(columns) - metrics.gap
        for width in sorted(widths):
            yield _scale(lengths, width, columns, across, room.height, metrics)


def _columns(numbers: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Return the ways to share out buffers among columns, in their order."""
    if len(numbers) > FEW:
        for count in range(1, len(numbers) + 1):
            size = -(-len(numbers) // count)
            yield tuple(tuple(numbers[at : at + size]) for at in range(0, len(numbers), size))
        return
    for count in range(len(numbers)):
        for cuts in combinations(range(1, len(numbers)), count):
            ends = (0, *cuts, len(numbers))
            yield tuple(tuple(numbers[a:b]) for a, b in pairwise(ends))


def _scale(
    lengths: dict[int, int],
    width: int,
    columns: tuple[tuple[int, ...], ...],
    across: float,
    down: float,
    metrics: Metrics,
) -> _Scale:
    """Return the largest cell with which rows of `width` elements fit columns of this size."""
    cell = min(metrics.largest, max(1.0, across) / min(width, max(lengths.values())))
    heights = [_row(lengths, width, column, across, down, metrics) for column in columns]
    row, least = (min(found) for found in zip(*heights, strict=True))
    cell, row = min(cell, STRETCH * row), min(row, STRETCH * cell, metrics.largest)
    cell, row = (math.floor(v) if v >= 4 else v for v in (cell, row))
    torn = any(width < n < 4 * width and n % width for n in lengths.values())
    narrow = width < min(WARP, max(lengths.values()))
    merit = math.log(cell * row) - TORN * torn - NARROW * narrow - APART * math.log(len(columns))
    return _Scale(width, columns, cell, row, least, merit)


def _row(
    lengths: dict[int, int],
    width: int,
    column: tuple[int, ...],
    across: float,
    down: float,
    metrics: Metrics,
) -> tuple[float, float]:
    """Return the height of a row with which a column is as high as its room, and that of what fits one row."""
    free = max(0.02 * len(column), down - len(column) * (_head(metrics) + metrics.gap) + metrics.gap)
    short = [lengths[n] for n in column if _is_short(lengths[n], width, across)]
    rows = sum(-(-lengths[n] // width) for n in column) - len(short)
    least = min(LEGIBLE, free / max(1, len(short)) / (2 if rows else 1))
    even = free / (rows + len(short))
    return (even if even >= least else (free - least * len(short)) / max(1, rows)), least

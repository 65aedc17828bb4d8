"""The layout of one-dimensional buffers on one scale: strips with cells of one size, in one or more columns.

Pure functions of buffers and a room. No Qt; lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from .....tracer.model.trace import WARP, Buffer
from ...common.geometry import Box
from .buffer_position import BufferPosition, Metrics
from .sheet import wrap_buffer

STRETCH = 2.0  # the largest ratio of a cell's sides
LEGIBLE = 14.0  # pixels: a buffer that fits a row with such cells always gets them
TORN = 1.5  # penalty, as the logarithm of the cell's area, for a short buffer that ends in a partial row
NARROW = 1.2  # penalty for rows that hold fewer elements than a warp
VALUES = 22.0  # pixels: the smallest side of a cell that shows a value of some digits
WIDE = 32.0  # pixels: the width of a cell of a buffer that is short next to the longest, so that its values are shown
BLANK = 2.0  # penalty for cells without values, unless they are many
MANY = 2 * WARP  # elements of a buffer
APART = 0.45  # penalty for columns, times the logarithm of their number
TINY = 18.0  # square pixels: with smaller cells, short and long buffers get separate scales
FAR = 8  # a buffer is short if the longest is at least this many times longer
FEW = 8  # up to this many buffers, all distributions among columns are tried


class _Scale(NamedTuple):
    """A scale: the elements in a row, the buffers in each column, and the size of a cell."""

    width: int  # elements in a row
    columns: tuple[tuple[int, ...], ...]  # the buffers in each, from the top
    cell: float  # pixels, the width of a cell
    row: float  # pixels, its height
    least: float  # pixels, the height of cells of buffers with one row
    merit: float  # the larger, the better


def place_strips(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> dict[int, BufferPosition]:
    """Place one-dimensional buffers, each with its name above, with the largest cells that fit all of them.

    If the cells are too small to be seen, short buffers get a separate scale below the long ones.
    """
    if not numbers:
        return {}
    scale = max(_scales(buffers, numbers, room, metrics), key=lambda scale: scale.merit)
    longest = max(math.prod(buffers[n].shape) for n in numbers)
    short = [n for n in numbers if math.prod(buffers[n].shape) * FAR <= longest]
    share = math.floor(room.height / 2)
    has_room = share >= _head_height(metrics) + metrics.gap + LEGIBLE
    if has_room and scale.cell * scale.row < TINY and any(math.prod(buffers[n].shape) > 1 for n in short):
        above = place_strips(
            buffers, [n for n in numbers if n not in short], room.inset(bottom=share), metrics
        )
        return above | place_strips(buffers, short, room.inset(top=share + metrics.gap), metrics)
    step = (room.width + metrics.gap) / len(scale.columns)
    places: dict[int, BufferPosition] = {}
    for column, column_buffers in enumerate(scale.columns):
        x, y = math.floor(room.x + column * step), room.y
        for number in column_buffers:
            sheet = wrap_buffer(buffers[number], scale.width)
            cell, row = scale.cell, scale.row
            length = sheet.cols * sheet.rows
            if _is_short(length, scale.width, step - metrics.gap):
                most = (step - metrics.gap) / max(1, length)
                cell, row = min(scale.least, most) if cell < LEGIBLE / 2 else cell, max(row, scale.least)
                if cell < VALUES and length * FAR <= longest:
                    cell = max(cell, min(WIDE, math.floor(most)))
            y = math.floor(y + _head_height(metrics))
            places[number] = BufferPosition(sheet, x, y, cell, room=step - metrics.gap, tall=row / cell)
            y += sheet.rows * row + metrics.gap
    return places


def _head_height(metrics: Metrics) -> float:
    return 1.3 * metrics.line


def _is_short(length: int, width: int, across: float) -> bool:
    """Check whether a buffer has one row with legible cells."""
    return length <= width and length * LEGIBLE <= across


def _scales(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> Iterator[_Scale]:
    lengths = {n: max(1, math.prod(buffers[n].shape)) for n in numbers}
    longest = max(lengths.values())
    widths = {1 << power for power in range(3, 24) if 1 << power < longest} | {
        length for length in lengths.values() if 8 <= length <= 32 or length == longest <= MANY
    }
    widths |= {-(-longest // 2)} if WARP < longest <= MANY else set()
    for columns in _columns(numbers):
        across = (room.width + metrics.gap) / len(columns) - metrics.gap
        for width in sorted(widths):
            yield _find_scale(lengths, width, columns, across, room.height, metrics)


def _columns(numbers: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the distributions of buffers among columns, in order."""
    if len(numbers) > FEW:
        for count in range(1, len(numbers) + 1):
            size = -(-len(numbers) // count)
            yield tuple(tuple(numbers[start : start + size]) for start in range(0, len(numbers), size))
        return
    for count in range(len(numbers)):
        for cuts in combinations(range(1, len(numbers)), count):
            ends = (0, *cuts, len(numbers))
            yield tuple(tuple(numbers[start:end]) for start, end in pairwise(ends))


def _find_scale(
    lengths: dict[int, int],
    width: int,
    columns: tuple[tuple[int, ...], ...],
    across: float,
    down: float,
    metrics: Metrics,
) -> _Scale:
    """Compute the scale with the largest cell for rows of `width` elements in columns of this size."""
    cell = min(metrics.largest, max(1.0, across) / min(width, max(lengths.values())))
    heights = [_row_heights(lengths, width, column, across, down, metrics) for column in columns]
    row, least = (min(values) for values in zip(*heights, strict=True))
    cell, row = min(cell, STRETCH * row), min(row, STRETCH * cell, metrics.largest)
    cell, row = (math.floor(v) if v >= 4 else v for v in (cell, row))
    is_torn = any(width < n < 4 * width and n % width for n in lengths.values())
    is_narrow = width < min(WARP, max(lengths.values()))
    is_blank = min(cell, row) < VALUES and max(lengths.values()) <= MANY
    penalties = TORN * is_torn + NARROW * is_narrow + BLANK * is_blank
    merit = math.log(cell * row) - penalties - APART * math.log(len(columns))
    return _Scale(width, columns, cell, row, least, merit)


def _row_heights(
    lengths: dict[int, int],
    width: int,
    column: tuple[int, ...],
    across: float,
    down: float,
    metrics: Metrics,
) -> tuple[float, float]:
    """Compute the height of a row that fills a column, and the height of buffers with one row."""
    free = max(0.02 * len(column), down - len(column) * (_head_height(metrics) + metrics.gap) + metrics.gap)
    short = [lengths[n] for n in column if _is_short(lengths[n], width, across)]
    rows = sum(-(-lengths[n] // width) for n in column) - len(short)
    are_far = all(length * FAR <= max(lengths.values()) for length in short)
    least = min(VALUES if are_far else LEGIBLE, free / max(1, len(short)) / (2 if rows else 1))
    even = free / (rows + len(short))
    return (even if even >= least else (free - least * len(short)) / max(1, rows)), least

"""Buffers in a grid of equal slots: pure functions from buffers and a room to places. No Qt; lengths are pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_place import FLAT, BufferPlace, Metrics, snapped
from .sheet import Sheet, sheet_of

STRETCH = 1.6  # how much higher than wide a cell may be where one dimension is wrapped into rows


def flow(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> dict[int, BufferPlace]:
    """Place buffers in a grid of equal slots, each with its name above; the grid that gives the largest cells."""
    if not numbers:
        return {}
    grids = [_grid(buffers, numbers, room, metrics, columns) for columns in range(1, len(numbers) + 1)]
    return max(grids, key=lambda places: sum(math.log(p.cell * p.row) for p in places.values()))


def _grid(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics, columns: int
) -> dict[int, BufferPlace]:
    """Place buffers in `columns` columns; cells of about the same size are made the same."""
    gap, head = metrics.gap, 1.3 * metrics.line
    down = -(-len(numbers) // columns)
    width = max(1.0, (room.width - gap * (columns - 1)) / columns)
    height = max(1.0, (room.height - gap * (down - 1)) / down - head)
    sheets = [_sheet(buffers[n], width, height, metrics) for n in numbers]
    cells = [min(metrics.largest, width / s.cols, height / s.rows) for s in sheets]
    if min(cells) > 0.5 * max(cells):
        cells = [min(cells)] * len(cells)
    cells = [snapped(c) for c in cells]
    rows = [_row(buffers[n], s, c, height, metrics) for n, s, c in zip(numbers, sheets, cells, strict=True)]
    name = min(width, metrics.name)
    widest = max(max(s.cols * c, name) for s, c in zip(sheets, cells, strict=True))
    step_x = min(width, widest + metrics.line) + gap
    step_y = min(height, max(s.rows * r for s, r in zip(sheets, rows, strict=True))) + head + gap
    spots = [
        (math.floor(room.x + i % columns * step_x), math.floor(room.y + i // columns * step_y + head))
        for i in range(len(numbers))
    ]
    return {
        n: BufferPlace(s, x, y, c, room=step_x - gap, tall=r / c)
        for n, s, c, r, (x, y) in zip(numbers, sheets, cells, rows, spots, strict=True)
    }


def _sheet(buffer: Buffer, width: float, height: float, metrics: Metrics) -> Sheet:
    """Return the sheet that fills a room best, with room for a line of text above each row of slices."""
    sheet = sheet_of(buffer, width / height)
    if sheet.slices == 1:
        return sheet
    cell = min(metrics.largest, width / sheet.cols, height / sheet.rows)
    above = math.ceil(metrics.line / cell)
    return sheet_of(buffer, width / height, above if above <= sheet.height else sheet.above)


def _row(buffer: Buffer, sheet: Sheet, cell: float, height: float, metrics: Metrics) -> float:
    """Return the height of a row of cells: more than their width where rows are few, or wrapped, and there is room."""
    most = height / sheet.rows
    wanted = STRETCH * cell if len(buffer.shape) < 2 else FLAT * metrics.line / sheet.rows
    row = max(cell, min(most, wanted, max(metrics.line, STRETCH * cell)))
    return max(cell, math.floor(row)) if row >= 1 else cell

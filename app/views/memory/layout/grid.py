"""The layout of buffers in a grid of equal slots: pure functions. No Qt; lengths are pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_position import FLAT, BufferPosition, Metrics, snap_cell
from .sheet import Sheet, sheet_of

STRETCH = 1.6  # the largest height / width of a cell of a wrapped one-dimensional buffer


def place_in_flow(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics
) -> dict[int, BufferPosition]:
    """Place buffers, each with its name above, in the grid of equal slots that gives the largest cells."""
    if not numbers:
        return {}
    grids = [
        _place_in_grid(buffers, numbers, room, metrics, columns) for columns in range(1, len(numbers) + 1)
    ]
    return max(grids, key=lambda places: sum(math.log(p.cell * p.row) for p in places.values()))


def _place_in_grid(
    buffers: Sequence[Buffer], numbers: Sequence[int], room: Box, metrics: Metrics, columns: int
) -> dict[int, BufferPosition]:
    """Place buffers in `columns` columns; cells of similar sizes get the same size."""
    gap, head = metrics.gap, 1.3 * metrics.line
    grid_rows = -(-len(numbers) // columns)
    width = max(1.0, (room.width - gap * (columns - 1)) / columns)
    height = max(1.0, (room.height - gap * (grid_rows - 1)) / grid_rows - head)
    sheets = [_choose_sheet(buffers[n], width, height, metrics) for n in numbers]
    cells = [min(metrics.largest, width / s.cols, height / s.rows) for s in sheets]
    if min(cells) > 0.5 * max(cells):
        cells = [min(cells)] * len(cells)
    cells = [snap_cell(c) for c in cells]
    rows = [
        _row_height(buffers[n], s, c, height, metrics) for n, s, c in zip(numbers, sheets, cells, strict=True)
    ]
    name = min(width, metrics.name)
    widest = max(max(s.cols * c, name) for s, c in zip(sheets, cells, strict=True))
    step_x = min(width, widest + metrics.line) + gap
    step_y = min(height, max(s.rows * r for s, r in zip(sheets, rows, strict=True))) + head + gap
    corners = [
        (math.floor(room.x + i % columns * step_x), math.floor(room.y + i // columns * step_y + head))
        for i in range(len(numbers))
    ]
    return {
        n: BufferPosition(s, x, y, c, room=step_x - gap, tall=r / c)
        for n, s, c, r, (x, y) in zip(numbers, sheets, cells, rows, corners, strict=True)
    }


def _choose_sheet(buffer: Buffer, width: float, height: float, metrics: Metrics) -> Sheet:
    """Choose the sheet that fills a room best, with a line of text above each row of slices."""
    sheet = sheet_of(buffer, width / height)
    if sheet.slices == 1:
        return sheet
    cell = min(metrics.largest, width / sheet.cols, height / sheet.rows)
    above = math.ceil(metrics.line / cell)
    return sheet_of(buffer, width / height, above if above <= sheet.height else sheet.above)


def _row_height(buffer: Buffer, sheet: Sheet, cell: float, height: float, metrics: Metrics) -> float:
    """Compute the height of a row of cells, which exceeds their width if rows are few or wrapped and fit."""
    limit = height / sheet.rows
    preferred = STRETCH * cell if len(buffer.shape) < 2 else FLAT * metrics.line / sheet.rows
    row = max(cell, min(limit, preferred, max(metrics.line, STRETCH * cell)))
    return max(cell, math.floor(row)) if row >= 1 else cell

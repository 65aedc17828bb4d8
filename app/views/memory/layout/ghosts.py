"""Cells that are not there: where accesses outside an array would lie, beside it. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from ...common.outside import OutsideAccess
from .buffer_place import BufferPlace

NEAR = 4  # cells beside an array, up to which a ghost stands at its own place
SMALLEST, LARGEST = 9.0, 40.0  # pixels: the side of a ghost
MOST = 64  # ghosts of an array at a moment


class Ghost(NamedTuple):
    """A cell outside an array."""

    box: tuple[float, float, float, float]  # x, y, width, height
    label: str  # its index, "" where it stands at its own place


def ghosts_of(
    accesses: Sequence[OutsideAccess],
    buffers: Sequence[Buffer],
    places: Mapping[int, BufferPlace],
    window: Box,
) -> list[Ghost]:
    """Return the cells of accesses outside the arrays that are shown, inside the window."""
    found: dict[tuple[float, float, float, float], list[Ghost]] = {}
    for access in accesses[:MOST]:
        if access.buffer in places:
            ghost = _ghost(access, buffers[access.buffer], places[access.buffer], window)
            found.setdefault(ghost.box, []).append(ghost)
    return [_together(same) for same in found.values()]


def _together(same: Sequence[Ghost]) -> Ghost:
    """Return one ghost for several in one place, with the first index and how many others there are."""
    others = f" +{len(same) - 1}" if len(same) > 1 else ""
    return same[0]._replace(label=f"{same[0].label}{others}") if same[0].label else same[0]


def _ghost(access: OutsideAccess, buffer: Buffer, place: BufferPlace, window: Box) -> Ghost:
    row, col = _cell_of(access.index, buffer, place)
    near_row, near_col = _beside(row, place.sheet.rows), _beside(col, place.sheet.cols)
    width, height = (min(max(side, SMALLEST), LARGEST) for side in (place.cell, place.row))
    x = place.x + (near_col + 0.5) * place.cell - width / 2
    y = place.y + (near_row + 0.5) * place.row - height / 2
    if near_col >= place.sheet.cols:
        x = max(x, place.box.right + 1)
    if near_row >= place.sheet.rows:
        y = max(y, place.box.bottom + 1)
    inside = min(max(x, window.x), window.right - width), min(max(y, window.y), window.bottom - height)
    is_far = (near_row, near_col) != (row, col) or inside != (x, y)
    return Ghost((*inside, width, height), f"[{', '.join(map(str, access.index))}]" if is_far else "")


def _cell_of(index: tuple[int, ...], buffer: Buffer, place: BufferPlace) -> tuple[int, int]:
    """Return the row and the column where an index would lie in the sheet of its buffer."""
    sheet = place.sheet
    if len(index) == 2 and sheet.slices == 1 and sheet.width == buffer.shape[-1]:
        return index[0], index[1]
    flat = index[0]
    for i, length in zip(index[1:], buffer.shape[1:], strict=False):
        flat = flat * length + i
    if len(index) > 2 or sheet.slices > 1:
        return sheet.rows, flat % max(1, sheet.cols)
    row, col = divmod(flat, sheet.width)
    if sheet.rows == 1:
        return 0, flat
    if flat < 0:
        return 0, flat
    if row == sheet.rows and col < NEAR and sheet.count == sheet.rows * sheet.width:
        return sheet.rows - 1, sheet.width + col  # right after the last one
    return row, col


def _beside(number: int, length: int) -> int:
    """Return a number from -NEAR to `length` + NEAR - 1 that is as near as one can be to another."""
    return -1 if number < -NEAR else length if number >= length + NEAR else number

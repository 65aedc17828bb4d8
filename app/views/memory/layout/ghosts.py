"""Ghosts: cells next to an array that stand for accesses outside it. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from ...common.outside import OutsideAccess
from .buffer_position import BufferPosition

NEAR = 4  # a ghost at most this many cells outside its array is drawn at its true position
SMALLEST, LARGEST = 9.0, 40.0  # pixels: the side of a ghost
NARROWEST = 3.0  # pixels: the width of a ghost between two arrays
MOST = 64  # ghosts of an array at a moment


class Ghost(NamedTuple):
    """A cell outside an array."""

    box: tuple[float, float, float, float]  # x, y, width, height
    label: str  # its index, "" at its true position
    is_far: bool = False  # whether it is not at its true position


def ghosts_of(
    accesses: Sequence[OutsideAccess],
    buffers: Sequence[Buffer],
    places: Mapping[int, BufferPosition],
    window: Box,
) -> list[Ghost]:
    """Compute the ghosts of accesses outside the visible arrays, inside the window and outside other arrays."""
    ghosts: dict[tuple[float, float, float, float], list[Ghost]] = {}
    for access in accesses[:MOST]:
        if access.buffer in places:
            place = places[access.buffer]
            ghost = _ghost(access, buffers[access.buffer], place, _room(place, places.values(), window))
            ghosts.setdefault(ghost.box, []).append(ghost)
    return [_merge_ghosts(group) for group in ghosts.values()]


def _room(place: BufferPosition, places: Iterable[BufferPosition], window: Box) -> Box:
    """Return the part of the window to the left and right of a buffer that no other buffer covers."""
    box = place.box
    neighbours = [other.box for other in places if _are_side_by_side(box, other.box)]
    left = max((other.right + 1 for other in neighbours if other.right <= box.x), default=window.x)
    right = min((other.x - 1 for other in neighbours if other.x >= box.right), default=window.right)
    return Box(max(left, window.x), window.y, min(right, window.right) - max(left, window.x), window.height)


def _are_side_by_side(box: Box, other: Box) -> bool:
    return other.y < box.bottom and box.y < other.bottom


def _merge_ghosts(ghosts: Sequence[Ghost]) -> Ghost:
    """Merge ghosts at one position into one, with an index and the number of others."""
    first, is_far = ghosts[0], any(ghost.is_far for ghost in ghosts)
    others = f" +{len(ghosts) - 1}" if len(ghosts) > 1 else ""
    return first._replace(label=f"{first.label}{others}" if is_far else "")


def _ghost(access: OutsideAccess, buffer: Buffer, place: BufferPosition, window: Box) -> Ghost:
    row, col = _cell_of(access.index, buffer, place)
    near_row, near_col = _clamp_near(row, place.sheet.rows), _clamp_near(col, place.sheet.cols)
    step = max(place.cell, SMALLEST)  # the margins hold whole ghosts, of which none covers another or a cell
    before, after = (
        max(1, int(room // step)) for room in (place.x - window.x, window.right - place.box.right)
    )
    near_col = min(max(near_col, -before), place.sheet.cols - 1 + after)
    width, height = (min(max(side, SMALLEST), LARGEST) for side in (place.cell, place.row))
    gap = window.right - place.box.right - 1 if near_col >= place.sheet.cols else place.x - window.x
    if near_col < 0 or near_col >= place.sheet.cols:
        width = min(width, max(gap, NARROWEST))
    x = place.x + (near_col + 0.5) * place.cell - width / 2
    y = place.y + (near_row + 0.5) * place.row - height / 2
    if near_col >= place.sheet.cols:
        x = max(x, place.box.right + 1)
    elif near_col < 0:
        x = min(x, place.x - width)
    if near_row >= place.sheet.rows:
        y = max(y, place.box.bottom + 1)
    clamped = min(max(x, window.x), window.right - width), min(max(y, window.y), window.bottom - height)
    is_far = (near_row, near_col) != (row, col) or clamped != (x, y)
    return Ghost((*clamped, width, height), f"[{', '.join(map(str, access.index))}]", is_far)


def _cell_of(index: tuple[int, ...], buffer: Buffer, place: BufferPosition) -> tuple[int, int]:
    """Compute the row and the column of an index in the extended sheet of its buffer."""
    sheet = place.sheet
    if len(index) == 2 and sheet.slices == 1 and sheet.width == buffer.shape[-1]:
        return index[0], index[1]
    number = index[0]
    for i, length in zip(index[1:], buffer.shape[1:], strict=False):
        number = number * length + i
    if len(index) > 2 or sheet.slices > 1:
        return sheet.rows, number % max(1, sheet.cols)
    row, col = divmod(number, sheet.width)
    if sheet.rows == 1:
        return 0, number
    if number < 0:
        return 0, number
    if row >= sheet.rows:
        return sheet.rows - 1, number - (sheet.rows - 1) * sheet.width  # right of the last row
    return row, col


def _clamp_near(number: int, length: int) -> int:
    """Return the number if it is at most NEAR outside 0 <= n < `length`, else the first position outside."""
    return -1 if number < -NEAR else length if number >= length + NEAR else number

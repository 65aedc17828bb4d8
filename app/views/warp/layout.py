"""The layout of a request's picture: lanes at the left, sectors or banks at the right. No Qt."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....tracer.analysis.request_cost import BANKS, SECTOR, WORD
from ..common.geometry import Box
from .lanes import LINE, Lanes, TouchedBytes


class ColumnWidths(NamedTuple):
    """The widths of texts and marks, in pixels."""

    chip: float  # a lane's number
    element: float  # the name of an element
    address: float  # an address
    note: float  # the text next to a sector or a bank
    gap: float  # between two columns


class WarpLayout(Struct, frozen=True, eq=False):
    """The boxes of the picture, in pixels; a column is (left edge, width), with width 0 if there is no room."""

    chips: tuple[Box, ...]  # one for each lane: 32, or the threads of a smaller block
    element: tuple[float, float]  # the column of the elements
    address: tuple[float, float]  # the column of the addresses
    note: tuple[float, float]  # the column of the notes
    targets: dict[int, Box]  # sectors or banks, by number
    slices: tuple[Box, ...]  # the accessed bytes, in their order
    lines: tuple[tuple[int, int], ...]  # the first and the last sector of each 128-byte line
    row: float  # the height of a lane

    def lane_at(self, x: float, y: float) -> int | None:
        """Return the lane at a point left of the memory."""
        edge = min((box.x for box in self.targets.values()), default=float("inf"))
        lane = int((y - self.chips[0].y) // self.row)
        return lane if x < edge and 0 <= lane < len(self.chips) else None

    @property
    def bottom(self) -> float:
        """The lower edge of lanes, sectors and banks."""
        return max(box.bottom for box in (*self.chips, *self.targets.values()))

    def target_at(self, x: float, y: float) -> int | None:
        """Return the sector or bank at a point."""
        return next((n for n, box in self.targets.items() if box.holds(x, y)), None)

    def slice_at(self, x: float, y: float) -> int | None:
        """Return the index of the accessed bytes at a point."""
        return next((n for n, box in enumerate(self.slices) if box.holds(x, y)), None)


def warp_layout(
    lanes: Lanes, width: float, top: float, height: float, row: float, widths: ColumnWidths
) -> WarpLayout:
    """Compute the layout at a width, with rows between `top` and `top + height`.

    row: the height of a lane. The 32 banks share the complete height.
    """
    columns, left, room = _columns(lanes, width, widths)
    chips = tuple(Box(0, top + lane * row, widths.chip, row) for lane in range(lanes.session.lanes))
    if not lanes.kind or lanes.buffer.space not in ("global", "shared"):
        return WarpLayout(chips, *columns, {}, (), (), row)
    if lanes.buffer.space == "shared":
        bank_row = height / BANKS
        targets = {bank: Box(left, top + bank * bank_row, room, bank_row) for bank in range(BANKS)}
        return WarpLayout(chips, *columns, targets, _words(lanes, targets), (), row)
    targets = _sectors(lanes, left, room, top, row, len(chips) * row)
    slices = tuple(_slice(targets[piece.target], piece) for piece in lanes.touched)
    return WarpLayout(chips, *columns, targets, slices, _lines(targets), row)


Column = tuple[float, float]


def _columns(
    lanes: Lanes, width: float, need: ColumnWidths
) -> tuple[tuple[Column, Column, Column], float, float]:
    """Return the columns of elements, addresses and notes, and the left edge and the width of the memory.

    If there is little room, these go in turn: addresses, notes, half of the memory's width, elements.
    """
    gap_to_memory, margin = 2 * need.gap, 4 * need.gap
    free = width - need.chip - gap_to_memory - 2 * margin
    widths = {"element": need.element, "note": need.note, "address": need.address}
    for name in widths:
        widths[name] = widths[name] if widths[name] <= free + (margin if name == "element" else 0.0) else 0.0
        free -= widths[name]
    left = need.chip + widths["element"] + widths["address"]
    gap_to_memory += free * 0.3
    room = width - left - gap_to_memory - max(widths["note"], need.gap / 2)
    element = (need.chip, widths["element"])
    columns = (
        element,
        (need.chip + widths["element"], widths["address"]),
        (width - widths["note"], widths["note"]),
    )
    return columns, left + gap_to_memory, room


def _sectors(
    lanes: Lanes, left: float, width: float, top: float, row: float, height: float
) -> dict[int, Box]:
    """Return the boxes of the sectors, vertically centred; a word is as high as a lane if there is room."""
    numbers = lanes.targets.tolist()
    gaps = [_gap(a, b) for a, b in pairwise(numbers)]
    unit = min(row * SECTOR / WORD, height / (len(numbers) + sum(gaps)))
    total_height = unit * (len(numbers) + sum(gaps))
    starts = top + (height - total_height) / 2 + unit * np.cumsum([0.0, *(1 + gap for gap in gaps)])
    return {n: Box(left, y, width, unit) for n, y in zip(numbers, starts.tolist(), strict=True)}


def _gap(sector: int, following: int) -> float:
    """Return the gap between two sectors, in sectors: none within a line, more if memory lies between."""
    per_line = LINE // SECTOR
    if sector // per_line == following // per_line:
        return 0.0 if following == sector + 1 else 0.12
    return 0.12 if following == sector + 1 else 0.25


def _slice(box: Box, piece: TouchedBytes) -> Box:
    """Return the part of a sector's box for accessed bytes, which run from left to right."""
    scale, start = box.width / SECTOR, piece.first - piece.target * SECTOR
    return Box(box.x + start * scale, box.y, (piece.end - piece.first) * scale, box.height)


def _lines(targets: dict[int, Box]) -> tuple[tuple[int, int], ...]:
    """Return the first and last accessed sector of each 128-byte line."""
    sectors: dict[int, list[int]] = {}
    for number in targets:
        sectors.setdefault(number * SECTOR // LINE, []).append(number)
    return tuple((numbers[0], numbers[-1]) for numbers in sectors.values())


def _words(lanes: Lanes, targets: dict[int, Box]) -> tuple[Box, ...]:
    """Return the boxes of the words, side by side in the row of their bank."""
    deepest = max(
        (sum(p.target == piece.target for p in lanes.touched) for piece in lanes.touched), default=1
    )
    row = targets[0].height
    word_width = min(targets[0].width / deepest, max(2.2 * row, targets[0].width / 8))
    boxes, depth = [], dict.fromkeys(targets, 0)
    for piece in lanes.touched:
        box = targets[piece.target]
        boxes.append(Box(box.x + depth[piece.target] * word_width, box.y, word_width, row))
        depth[piece.target] += 1
    return tuple(boxes)

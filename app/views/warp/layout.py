"""Where things stand in the picture of a warp's request: lanes at the left, sectors or banks at the right. No Qt."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....tracer.analysis.request_cost import BANKS, SECTOR, WORD
from ..common.geometry import Box
from .lanes import LINE, Lanes, TouchedBytes


class ColumnWidths(NamedTuple):
    """What texts and marks need, in pixels."""

    chip: float  # a lane's number
    element: float  # the name of an element
    address: float  # an address
    note: float  # the words beside a sector or a bank
    gap: float  # between two columns


class WarpLayout(Struct, frozen=True, eq=False):
    """Where the parts of the picture stand, in pixels; a column is (left edge, width), 0 wide without room for it."""

    chips: tuple[Box, ...]  # one for each lane that is drawn: 32, or the threads of a block that has fewer
    element: tuple[float, float]  # the column of the elements
    address: tuple[float, float]  # the column of the addresses
    note: tuple[float, float]  # the column of the notes
    targets: dict[int, Box]  # of sectors or banks, by their numbers
    slices: tuple[Box, ...]  # of the touched bytes, in their order
    lines: tuple[tuple[int, int], ...]  # the first and the last sector of each 128-byte line
    row: float  # the height of a lane

    def lane_at(self, x: float, y: float) -> int | None:
        """Return the lane whose row, left of the memory, holds a point."""
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
        """Return the index of the touched bytes at a point."""
        return next((n for n, box in enumerate(self.slices) if box.holds(x, y)), None)


def warp_layout(
    lanes: Lanes, width: float, top: float, height: float, row: float, widths: ColumnWidths
) -> WarpLayout:
    """Return where everything stands in a picture of this width, its rows between `top` and `top + height`.

    row: the height of a lane's, with which all lanes have room; the 32 banks share the whole height.
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
    """Return the columns of elements, addresses and notes, and left edge and width of the memory.

    What can be missed goes first where there is little room: the addresses, then the notes, then half of the memory's
    width, then the elements.
    """
    way, least = 2 * need.gap, 4 * need.gap
    free = width - need.chip - way - 2 * least
    wide = {"element": need.element, "note": need.note, "address": need.address}
    for name in wide:
        wide[name] = wide[name] if wide[name] <= free + (least if name == "element" else 0.0) else 0.0
        free -= wide[name]
    left = need.chip + wide["element"] + wide["address"]
    way += free * 0.3
    room = width - left - way - max(wide["note"], need.gap / 2)
    element = (need.chip, wide["element"])
    columns = (
        element,
        (need.chip + wide["element"], wide["address"]),
        (width - wide["note"], wide["note"]),
    )
    return columns, left + way, room


def _sectors(
    lanes: Lanes, left: float, width: float, top: float, row: float, height: float
) -> dict[int, Box]:
    """Return the boxes of the sectors, a word as tall as a lane where there is room, in the middle of the lanes."""
    numbers = lanes.targets.tolist()
    gaps = [_gap(a, b) for a, b in pairwise(numbers)]
    unit = min(row * SECTOR / WORD, height / (len(numbers) + sum(gaps)))
    tall = unit * (len(numbers) + sum(gaps))
    starts = top + (height - tall) / 2 + unit * np.cumsum([0.0, *(1 + gap for gap in gaps)])
    return {n: Box(left, y, width, unit) for n, y in zip(numbers, starts.tolist(), strict=True)}


def _gap(one: int, other: int) -> float:
    """Return the gap between two sectors, in sectors: none inside a line, more where memory lies between."""
    per_line = LINE // SECTOR
    if one // per_line == other // per_line:
        return 0.0 if other == one + 1 else 0.12
    return 0.12 if other == one + 1 else 0.25


def _slice(box: Box, piece: TouchedBytes) -> Box:
    """Return the part of a sector's box that touched bytes take: its bytes run from left to right."""
    scale, start = box.width / SECTOR, piece.first - piece.target * SECTOR
    return Box(box.x + start * scale, box.y, (piece.end - piece.first) * scale, box.height)


def _lines(targets: dict[int, Box]) -> tuple[tuple[int, int], ...]:
    """Return the first and last touched sector of each 128-byte line."""
    found: dict[int, list[int]] = {}
    for number in targets:
        found.setdefault(number * SECTOR // LINE, []).append(number)
    return tuple((numbers[0], numbers[-1]) for numbers in found.values())


def _words(lanes: Lanes, targets: dict[int, Box]) -> tuple[Box, ...]:
    """Return the boxes of the words, one beside the other in the row of their bank."""
    deepest = max(
        (sum(p.target == piece.target for p in lanes.touched) for piece in lanes.touched), default=1
    )
    row = targets[0].height
    wide = min(targets[0].width / deepest, max(2.2 * row, targets[0].width / 8))
    boxes, depth = [], dict.fromkeys(targets, 0)
    for piece in lanes.touched:
        box = targets[piece.target]
        boxes.append(Box(box.x + depth[piece.target] * wide, box.y, wide, row))
        depth[piece.target] += 1
    return tuple(boxes)

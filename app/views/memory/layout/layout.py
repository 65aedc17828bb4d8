"""The layout of the buffers in the memory view: pure functions of buffers and a size. No Qt.

A matrix product is drawn as in a textbook: the left factor left of the result, the right factor above it,
shared memory enlarged in the free corner. Other buffers flow in a grid. One-dimensional buffers are strips on one
scale, first the ones that are read, then the ones that are written. All lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

from msgspec.structs import replace

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_position import BufferPosition, MemoryLayout, Metrics, bounding_box
from .grid import place_in_flow
from .matrix_product import place_product
from .strips import place_strips

LOW = 0.4  # share of the height for strips below other buffers
LOCALS_ROOM = (9, 9)  # lines: the smallest width and height of a room for local buffers
SHEETS = 0.58  # share of the height for two-dimensional local buffers above one-dimensional ones
Spaces = Mapping[str, list[int]]  # the numbers of the buffers in each space
SHARES = (0.3, 0.4, 0.5, 0.6)  # smallest shares of the width for shared buffers, tried in turn


def roles_of(buffers: Sequence[Buffer], stored: Iterable[int], named: Mapping[str, str]) -> dict[str, int]:
    """Find the buffer numbers of "left", "above" and "result"; empty if the launch is not a product.

    named: buffer name -> role, from a scenario. Without names: three two-dimensional global
    buffers (M, K), (K, N), (M, N), with the last one among the `stored` ones.
    """
    roles = {named[b.name]: n for n, b in enumerate(buffers) if b.space == "global" and b.name in named}
    if {"left", "above", "result"} <= roles.keys() and all(
        len(buffers[n].shape) == 2 for n in roles.values()
    ):
        return roles
    matrices = [n for n, b in enumerate(buffers) if b.space == "global" and len(b.shape) == 2]
    for result in (n for n in matrices if n in set(stored)):
        for left in (n for n in matrices if n != result):
            for above in (n for n in matrices if n not in (result, left)):
                if _is_product(buffers[left].shape, buffers[above].shape, buffers[result].shape):
                    return {"left": left, "above": above, "result": result}
    return {}


def _is_product(left: tuple[int, ...], above: tuple[int, ...], result: tuple[int, ...]) -> bool:
    return left[1] == above[0] and result == (left[0], above[1])


ROUNDING = 1e-6  # pixels
SMALLER = (0.7, 0.4, 0.2, 0.1)  # factors of the labels' room, where the buffers do not fit with all of it


def arrange(
    buffers: Sequence[Buffer],
    roles: Mapping[str, int],
    room: Box,
    metrics: Metrics,
    stored: Collection[int] = (),
    shown: Collection[int] | None = None,
) -> MemoryLayout:
    """Compute the layout of buffers in `room`; roles: from `roles_of`; stored: the buffers that are written.

    shown: the numbers of the visible buffers, None for all; buffers with roles are always among them.
    Labels get less room than they need if the buffers would not fit otherwise.
    Local buffers get the free room left of a product's left factor, below its tiles, if that makes all cells larger.
    Otherwise, or if the other pane has a strip, they get a strip below. Global buffers without a role get a strip on
    the right of a product.
    """
    layout = _arranged(buffers, roles, room, metrics, stored, shown)
    for factor in SMALLER:
        if _fits(layout, room):
            break
        layout = _arranged(buffers, roles, room, replace(metrics, line=factor * metrics.line), stored, shown)
    return layout


def _fits(layout: MemoryLayout, room: Box) -> bool:
    """Check that all buffers are in the room and none overlaps another one."""
    boxes = [place.box for place in layout.places.values()]
    inside = all(box.right <= room.right + 1 and box.bottom <= room.bottom + 1 for box in boxes)
    return inside and not any(
        min(box.right, other.right) - max(box.x, other.x) > ROUNDING
        and min(box.bottom, other.bottom) - max(box.y, other.y) > ROUNDING
        for box, other in combinations(boxes, 2)
    )


def _arranged(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    shown: Collection[int] | None,
) -> MemoryLayout:  # fmt: skip
    """Compute the layout with labels of this size."""
    spaces = {
        s: [n for n, b in enumerate(buffers) if b.space == s and (shown is None or n in shown)]
        for s in ("global", "constant", "shared", "local")
    }
    with_strip = _with_locals_below(buffers, roles, room, metrics, stored, spaces)
    if metrics.strip or not (roles and spaces["local"]):
        return with_strip
    alternatives = _with_locals_at_left(buffers, roles, room, metrics, stored, spaces)
    return max([with_strip, *alternatives], key=lambda layout: _rate_cells(layout.places))


def _with_locals_below(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> MemoryLayout:  # fmt: skip
    """Compute the layout with any local buffers in a strip below the others."""
    if not (spaces["local"] or (metrics.strip and roles)):
        return _without_locals(buffers, roles, room, metrics, stored, spaces)
    strip = 0.22 * room.height
    below = Box(room.x, room.bottom - strip, room.width, strip)
    room = room.inset(bottom=strip + metrics.gap)
    layout = _without_locals(buffers, roles, room, metrics, stored, spaces)
    return replace(layout, places=layout.places | place_in_flow(buffers, spaces["local"], below, metrics))


def _with_locals_at_left(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> list[MemoryLayout]:  # fmt: skip
    """Compute the layout of a product with local buffers left of its left factor; none if they do not fit."""
    layout = _without_locals(buffers, roles, room, metrics, stored, spaces)
    left = layout.places[roles["left"]]
    top, right = max(left.y, layout.caption.bottom), left.x - metrics.left - metrics.gap
    x = layout.tiles.x if layout.tiles else room.x
    bottom = layout.caption.y if layout.caption.y > left.y else room.bottom
    free = Box(x, top, right - x, bottom - top - metrics.gap)
    if free.width < LOCALS_ROOM[0] * metrics.line or free.height < LOCALS_ROOM[1] * metrics.line:
        return []
    return [replace(layout, places=layout.places | _stack_locals(buffers, spaces["local"], free, metrics))]


def _stack_locals(
    buffers: Sequence[Buffer], numbers: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPosition]:
    """Place buffers of two and more dimensions, such as a thread's results, above one-dimensional ones."""
    linear = [n for n in numbers if len(buffers[n].shape) < 2]
    sheets = _difference(numbers, linear)
    if not linear or not sheets:
        return place_in_flow(buffers, numbers, free, metrics)
    upper_height = SHEETS * free.height
    upper = place_in_flow(buffers, sheets, free.inset(bottom=free.height - upper_height), metrics)
    return upper | place_in_flow(buffers, linear, free.inset(top=upper_height + metrics.gap), metrics)


def _without_locals(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> MemoryLayout:  # fmt: skip
    """Compute the layout of all buffers except the local ones."""
    rest = [n for n in spaces["global"] + spaces["constant"] if n not in roles.values()]
    if not roles:
        rest.sort(key=lambda n: n in stored)
        return _place_flowing(buffers, rest, spaces["shared"], room, metrics, {}, stored)
    places: dict[int, BufferPosition] = {}
    if rest:
        strip = 0.26 * room.width
        right_strip = Box(room.right - strip, room.y, strip, room.height)
        places = place_in_flow(buffers, rest, right_strip, metrics)
        room = room.inset(right=strip + metrics.gap)
    layout = place_product(buffers, roles, spaces["shared"], room, metrics)
    return MemoryLayout(places | layout.places, layout.caption, layout.tiles)


def _place_flowing(
    buffers: Sequence[Buffer],
    rest: list[int],
    shared: list[int],
    room: Box,
    metrics: Metrics,
    places: dict[int, BufferPosition],
    stored: Collection[int],
) -> MemoryLayout:
    """Place global buffers on the left, shared ones on the right, strips and three lines of text below; all centred."""
    lines = min((3.8 + metrics.lanes) * metrics.line, (0.45 if metrics.lanes else 0.3) * room.height)
    free = room.inset(bottom=lines)
    linear = [n for n in (*rest, *shared) if len(buffers[n].shape) < 2]
    linear.sort(key=lambda n: (n in shared) + 2 * (n in stored and n not in shared))
    if len(linear) == len(rest) + len(shared):
        placed = place_strips(buffers, linear, free, metrics)
    else:
        placed = {}
        if linear:
            strip_room = free.inset(top=(1 - LOW) * free.height)
            placed = place_strips(buffers, linear, strip_room, metrics)
            spare = max(0, math.floor(strip_room.bottom - max(p.box.bottom for p in placed.values())))
            placed = {n: replace(p, y=p.y + spare) for n, p in placed.items()}
            free = free.inset(bottom=free.bottom - (strip_room.y + spare) + metrics.gap)
        placed |= _place_sheets(
            buffers, _difference(rest, linear), _difference(shared, linear), free, metrics
        )
        free = room.inset(bottom=lines)
    if not placed:
        return MemoryLayout(places, Box(room.x, room.y, room.width, lines))
    bounds = bounding_box(placed.values(), metrics)
    dx, dy = (
        math.floor(max(0.0, free.right - bounds.right) / 2),
        math.floor((free.bottom - bounds.bottom) / 2),
    )
    placed = {n: replace(p, x=p.x + dx, y=p.y + max(0, dy)) for n, p in placed.items()}
    bounds = bounds._replace(x=bounds.x + dx, y=bounds.y + max(0, dy))
    caption = Box(
        bounds.x, bounds.bottom + 0.4 * metrics.line, room.right - bounds.x, lines - 0.4 * metrics.line
    )
    return MemoryLayout(places | placed, caption, bounds if shared else None)


def _difference(numbers: list[int], others: list[int]) -> list[int]:
    return [n for n in numbers if n not in others]


def _place_sheets(
    buffers: Sequence[Buffer], rest: list[int], shared: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPosition]:
    """Place buffers of two dimensions and more: global ones on the left, shared ones on the right."""
    if not shared or not rest:
        return place_in_flow(buffers, rest or shared, free, metrics)
    if metrics.large:
        return _place_largest_sheets(buffers, rest, shared, free, metrics)
    strip = 0.4 * free.width
    left_places = place_in_flow(buffers, rest, free.inset(right=strip + 2 * metrics.gap), metrics)
    tiles = Box(free.right - strip, free.y, strip, free.height)
    return left_places | place_in_flow(buffers, shared, tiles, metrics)


def _place_largest_sheets(
    buffers: Sequence[Buffer], rest: list[int], shared: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPosition]:
    """Place global buffers left of shared ones, or all in one grid, whichever gives the largest cells."""
    candidates = [place_in_flow(buffers, [*rest, *shared], free, metrics)]
    for share in SHARES:
        left_places = place_in_flow(buffers, rest, free.inset(right=share * free.width), metrics)
        right_edge = max(p.x + max(p.box.width, min(p.room, metrics.name)) for p in left_places.values())
        candidates.append(
            left_places
            | place_in_flow(buffers, shared, free.inset(left=right_edge + 2 * metrics.gap - free.x), metrics)
        )
    return max(candidates, key=_rate_cells)


def _rate_cells(places: Mapping[int, BufferPosition]) -> float:
    """Rate the sizes of cells: the sum of their logarithms, with the smallest size counted twice."""
    areas = [place.cell * place.row for place in places.values()]
    return sum(map(math.log, areas)) + math.log(min(areas))

"""Where each buffer stands in the memory view: pure functions from buffers and a size to places. No Qt.

A matrix product is drawn as in a textbook: the left factor left of the result, the right factor above it,
shared memory enlarged in the free corner. Anything else flows in a grid, but for what has one dimension: that stands
in strips on one scale, from what is read to what is written. All lengths are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from .....tracer.model.trace import Buffer
from ...common.geometry import Box
from .buffer_place import BufferPlace, MemoryLayout, Metrics, around
from .grid import flow
from .matrix_product import product
from .strips import strips

LOW = 0.4  # of the height, what strips below other buffers may take
BESIDE = (9, 9)  # lines: what is narrower or lower than this has no room for local buffers
SHEETS = 0.58  # of the height, what local buffers of two dimensions take where others stand below
Spaces = Mapping[str, list[int]]  # the numbers of the buffers in each space
SHARES = (0.3, 0.4, 0.5, 0.6)  # of the width, what is left to shared buffers at least, tried in turn


def roles_of(buffers: Sequence[Buffer], stored: Iterable[int], named: Mapping[str, str]) -> dict[str, int]:
    """Return the buffer number for "left", "above" and "result"; empty where the launch is no product.

    named: buffer name -> role, as a scenario gives them. Without names: three two-dimensional global
    buffers (M, K), (K, N), (M, N), of which the last is among the `stored` ones.
    """
    roles = {named[b.name]: n for n, b in enumerate(buffers) if b.space == "global" and b.name in named}
    if {"left", "above", "result"} <= roles.keys() and all(
        len(buffers[n].shape) == 2 for n in roles.values()
    ):
        return roles
    flat = [n for n, b in enumerate(buffers) if b.space == "global" and len(b.shape) == 2]
    for result in (n for n in flat if n in set(stored)):
        for left in (n for n in flat if n != result):
            for above in (n for n in flat if n not in (result, left)):
                if _is_product(buffers[left].shape, buffers[above].shape, buffers[result].shape):
                    return {"left": left, "above": above, "result": result}
    return {}


def _is_product(left: tuple[int, ...], above: tuple[int, ...], result: tuple[int, ...]) -> bool:
    return left[1] == above[0] and result == (left[0], above[1])


def arrange(
    buffers: Sequence[Buffer],
    roles: Mapping[str, int],
    room: Box,
    metrics: Metrics,
    stored: Collection[int] = (),
    shown: Collection[int] | None = None,
) -> MemoryLayout:
    """Return where every buffer stands in `room`; `roles` is what `roles_of` returned, `stored` are those written.

    shown: the numbers of those that stand there, None for all; those with roles are among them.
    Local buffers get the free room left of a product's left factor, below its tiles, where that makes all cells
    larger, else a strip below, as beside a picture that has one; global ones without a role a strip on the right of
    a product.
    """
    spaces = {
        s: [n for n, b in enumerate(buffers) if b.space == s and (shown is None or n in shown)]
        for s in ("global", "constant", "shared", "local")
    }
    found = _with_locals_below(buffers, roles, room, metrics, stored, spaces)
    if metrics.strip or not (roles and spaces["local"]):
        return found
    beside = _with_locals_beside(buffers, roles, room, metrics, stored, spaces)
    return max([found, *beside], key=lambda layout: _merit(layout.places))


def _with_locals_below(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> MemoryLayout:  # fmt: skip
    """Return the layout with local buffers, where there are some, in a strip below the others."""
    if not (spaces["local"] or (metrics.strip and roles)):
        return _without_locals(buffers, roles, room, metrics, stored, spaces)
    strip = 0.22 * room.height
    below = Box(room.x, room.bottom - strip, room.width, strip)
    room = room.inset(bottom=strip + metrics.gap)
    found = _without_locals(buffers, roles, room, metrics, stored, spaces)
    return replace(found, places=found.places | flow(buffers, spaces["local"], below, metrics))


def _with_locals_beside(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> list[MemoryLayout]:  # fmt: skip
    """Return the layout of a product with local buffers left of its left factor, if there is room to speak of."""
    found = _without_locals(buffers, roles, room, metrics, stored, spaces)
    left = found.places[roles["left"]]
    top, right = max(left.y, found.caption.bottom), left.x - metrics.left - metrics.gap
    x = found.tiles.x if found.tiles else room.x
    bottom = found.caption.y if found.caption.y > left.y else room.bottom
    free = Box(x, top, right - x, bottom - top - metrics.gap)
    if free.width < BESIDE[0] * metrics.line or free.height < BESIDE[1] * metrics.line:
        return []
    return [replace(found, places=found.places | _stacked(buffers, spaces["local"], free, metrics))]


def _stacked(
    buffers: Sequence[Buffer], numbers: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPlace]:
    """Place buffers of two dimensions and more, such as a thread's results, above those of one, which need less."""
    flat = [n for n in numbers if len(buffers[n].shape) < 2]
    sheets = _without(numbers, flat)
    if not flat or not sheets:
        return flow(buffers, numbers, free, metrics)
    high = SHEETS * free.height
    upper = flow(buffers, sheets, free.inset(bottom=free.height - high), metrics)
    return upper | flow(buffers, flat, free.inset(top=high + metrics.gap), metrics)


def _without_locals(
    buffers: Sequence[Buffer], roles: Mapping[str, int], room: Box, metrics: Metrics, stored: Collection[int],
    spaces: Spaces,
) -> MemoryLayout:  # fmt: skip
    """Return where all but the local buffers stand."""
    rest = [n for n in spaces["global"] + spaces["constant"] if n not in roles.values()]
    if not roles:
        rest.sort(key=lambda n: n in stored)
        return _flowing(buffers, rest, spaces["shared"], room, metrics, {}, stored)
    places: dict[int, BufferPlace] = {}
    if rest:
        strip = 0.26 * room.width
        beside = Box(room.right - strip, room.y, strip, room.height)
        places = flow(buffers, rest, beside, metrics)
        room = room.inset(right=strip + metrics.gap)
    found = product(buffers, roles, spaces["shared"], room, metrics)
    return MemoryLayout(places | found.places, found.caption, found.tiles)


def _flowing(
    buffers: Sequence[Buffer],
    rest: list[int],
    shared: list[int],
    room: Box,
    metrics: Metrics,
    places: dict[int, BufferPlace],
    stored: Collection[int],
) -> MemoryLayout:
    """Place global buffers on the left, shared ones on the right, strips and three lines of text below; all centred."""
    lines = min((3.8 + metrics.lanes) * metrics.line, (0.45 if metrics.lanes else 0.3) * room.height)
    free = room.inset(bottom=lines)
    flat = [n for n in (*rest, *shared) if len(buffers[n].shape) < 2]
    flat.sort(key=lambda n: (n in shared) + 2 * (n in stored and n not in shared))
    if len(flat) == len(rest) + len(shared):
        found = strips(buffers, flat, free, metrics)
    else:
        found = {}
        if flat:
            low = free.inset(top=(1 - LOW) * free.height)
            found = strips(buffers, flat, low, metrics)
            spare = max(0, math.floor(low.bottom - max(p.box.bottom for p in found.values())))
            found = {n: replace(p, y=p.y + spare) for n, p in found.items()}
            free = free.inset(bottom=free.bottom - (low.y + spare) + metrics.gap)
        found |= _sheets(buffers, _without(rest, flat), _without(shared, flat), free, metrics)
        free = room.inset(bottom=lines)
    if not found:
        return MemoryLayout(places, Box(room.x, room.y, room.width, lines))
    used = around(found.values(), metrics)
    dx, dy = math.floor(max(0.0, free.right - used.right) / 2), math.floor((free.bottom - used.bottom) / 2)
    found = {n: replace(p, x=p.x + dx, y=p.y + max(0, dy)) for n, p in found.items()}
    used = used._replace(x=used.x + dx, y=used.y + max(0, dy))
    caption = Box(used.x, used.bottom + 0.4 * metrics.line, room.right - used.x, lines - 0.4 * metrics.line)
    return MemoryLayout(places | found, caption, used if shared else None)


def _without(numbers: list[int], others: list[int]) -> list[int]:
    return [n for n in numbers if n not in others]


def _sheets(
    buffers: Sequence[Buffer], rest: list[int], shared: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPlace]:
    """Place buffers of two dimensions and more: global ones on the left, shared ones on the right."""
    if not shared or not rest:
        return flow(buffers, rest or shared, free, metrics)
    if metrics.large:
        return _largest_sheets(buffers, rest, shared, free, metrics)
    strip = 0.4 * free.width
    found = flow(buffers, rest, free.inset(right=strip + 2 * metrics.gap), metrics)
    tiles = Box(free.right - strip, free.y, strip, free.height)
    return found | flow(buffers, shared, tiles, metrics)


def _largest_sheets(
    buffers: Sequence[Buffer], rest: list[int], shared: list[int], free: Box, metrics: Metrics
) -> dict[int, BufferPlace]:
    """Place global buffers on the left and shared ones in what these leave, or all alike: where cells are largest."""
    tried = [flow(buffers, [*rest, *shared], free, metrics)]
    for share in SHARES:
        found = flow(buffers, rest, free.inset(right=share * free.width), metrics)
        used = max(p.x + max(p.box.width, min(p.room, metrics.name)) for p in found.values())
        tried.append(found | flow(buffers, shared, free.inset(left=used + 2 * metrics.gap - free.x), metrics))
    return max(tried, key=_merit)


def _merit(places: Mapping[int, BufferPlace]) -> float:
    """Return how large the cells are, those of the buffer with the smallest counting twice."""
    areas = [place.cell * place.row for place in places.values()]
    return sum(map(math.log, areas)) + math.log(min(areas))

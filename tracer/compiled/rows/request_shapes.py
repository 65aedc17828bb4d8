"""The shapes of a warp's requests: how far its lanes' elements lie from the first one's.

Most requests of a site differ in where they lie alone, and then cost the same again after PERIOD bytes. So whether a
request has the shape that is expected of it is all that is looked at in most rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numpy.typing import NDArray

from ...analysis.request_cost import PERIOD
from ...model.trace import WARP
from ..cached import part
from ..state import CONTEXT_AT, KEY_AT, ROW_BYTES, SITE_BITS, TouchWord
from ..words import I64, at, peek, peek32, pointer, poke
from .touched import is_watched, touch

TILE = 64  # requests compared at once: their rows are read in the order in which they lie
HALF = 0xFFFFFFFF  # of the second word of a row: its key, below the context
SEEN = 4  # what is known of the shape of a site's requests, see `no_shapes`
_KEY, _LANES, NUMBER, NOTED = range(SEEN)
# How it is noted what memory a request touches: lane by lane, or at once; 0: not at all.
_EACH, _IN_A_ROW = 1, 2
_FEW = 8  # requests, fewer of which are compared one after the other, each in all lanes
_LOW = (1 << SITE_BITS) - 1
_PAIR = ir.VectorType(I64, 2)  # the first words of a row, as they are compared: index, key and context
_PAIR_BYTES = 16
_PAIRS = TILE + 1  # of a lane; not a power of two, for lanes to have lines of a cache of their own


def no_shapes(sites: int) -> tuple[NDArray[np.int64], ...]:
    """Return room for the shape that requests of each site had last.

    By site: its key, a bit for each lane (0: none yet), its number among all shapes there were, and how it is noted
    what memory it touches; then (by lane, site) the indices between that lane and the first, and the cost (-1: unknown)
    by where the first lane's element lies. Beside it what a tile works with, of each request: what differs from what is
    expected; addresses; the first lane's pair of words; (by lane) the pairs that are expected between that lane and
    the first; and the numbers of the shapes that these are of, behind which the latest number stands.
    """
    seen, shape = np.zeros((sites, SEEN), np.int64), np.zeros((WARP, sites), np.int64)
    costs, ahead = np.full((sites, PERIOD), -1, np.int64), np.zeros((WARP, _PAIRS, 2), np.int64)
    works = np.empty(TILE, np.int64), np.empty(WARP, np.int64), np.empty((TILE, 2), np.int64)
    return seen, shape, costs, *works, ahead, np.zeros(TILE + 1, np.int64)


def _shapes_at(tables: Any, sites: Any) -> Any:
    """Return what `no_shapes` made, by the table of its addresses."""
    return (
        carray(pointer(peek(tables, 0)), (sites, SEEN), np.int64),
        carray(pointer(peek(tables, 1)), (WARP, sites), np.int64),
        carray(pointer(peek(tables, 2)), (sites, PERIOD), np.int64),
        longs(peek(tables, 3), TILE), longs(peek(tables, 4), WARP),
        carray(pointer(peek(tables, 5)), (TILE, 2), np.int64),
        carray(pointer(peek(tables, 6)), (WARP, _PAIRS, 2), np.int64),
        longs(peek(tables, 7), TILE + 1),
    )  # fmt: skip


def _longs(address: Any, count: Any) -> Any:
    """Return so many words at an address."""
    return carray(pointer(address), (count,), np.int64)


def _key_of(rows: Any, row: Any) -> Any:
    return peek32(rows + ROW_BYTES * row + KEY_AT)


def _context_of(rows: Any, row: Any) -> Any:
    return peek32(rows + ROW_BYTES * row + CONTEXT_AT)


def _index_of(rows: Any, row: Any) -> Any:
    return peek(rows + ROW_BYTES * row, 0)


longs, shapes_at = part(_longs), part(_shapes_at)
key_of, context_of, index_of = part(_key_of), part(_context_of), part(_index_of)


def _alike(rows: Any, starts: Any, tile: Any, size: Any, lead: Any, lanes: Any, shapes: Any) -> Any:
    """Return whether all lanes of a warp did what the first one did, in so many accesses from `tile` on.

    Fills what a tile works with; `which` (see `no_shapes`) gets 0 for requests of the shape that their site had last.
    """
    known = expect(rows + ROW_BYTES * (starts[lead] + tile), size, lanes, shapes)
    apart, wrong = differences(rows, starts, tile, size, lead, lanes, shapes)
    if apart & HALF:
        return False
    if not known or wrong:
        find_wrong(rows, starts, tile, size, lead, lanes, shapes)
    return True


def _expect(begin: Any, size: Any, lanes: Any, shapes: Any) -> Any:
    """Take in the accesses of a warp's first lane, and what is expected of the others; return whether all is known.

    begin: address of its first row. `which` gets 0 for requests of a site and lanes whose shape is known.
    """
    seen, shape, _, which, _, base, ahead, numbers = shapes
    new = np.int64(0)
    for k in range(size):
        base[k, 0], base[k, 1] = peek(begin + ROW_BYTES * k, 0), peek(begin + ROW_BYTES * k, 1)
        site = base[k, 1] & _LOW
        which[k] = (seen[site, _KEY] ^ base[k, 1] & HALF) | (seen[site, _LANES] ^ lanes)
        new |= which[k]
        if numbers[k] != seen[site, NUMBER]:
            numbers[k] = seen[site, NUMBER]
            for lane in range(WARP):
                ahead[lane, k, 0] = shape[lane, site]
    return new == 0


def _compare(
    typing: Any, rows: Any, row_step: Any, base: Any, base_step: Any, ahead: Any, ahead_step: Any, count: Any
) -> Any:
    """Return bits in which index and key of so many rows differ from what is expected: from a base, so much ahead.

    Given are the addresses of the first ones, and how many bytes lie between them. Both words of a row are compared
    at once: to fetch the same word of several rows takes processors longer.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, (count, *ways) = builder, (args[6], *zip(args[0:6:2], args[1:6:2], strict=True))
        found = cgutils.alloca_once_value(b, ir.Constant(_PAIR, [0, 0]))
        with cgutils.for_range(b, count, intp=I64) as loop:
            row, from_base, expected = (
                b.load(at(b, b.add(first, b.mul(loop.index, step)), _PAIR), align=8) for first, step in ways
            )
            other = b.xor(b.sub(row, from_base), expected)
            b.store(b.or_(b.load(found), other), found)
        words = [b.extract_element(b.load(found), I64(word)) for word in range(2)]
        return context.make_tuple(b, signature.return_type, words)

    return types.UniTuple(types.int64, 2)(*[types.int64] * 7), generate


compare = intrinsic(_compare)


def _differences(rows: Any, starts: Any, tile: Any, size: Any, lead: Any, lanes: Any, shapes: Any) -> Any:
    """Return bits in which keys differ, below HALF, and in which indices do from those that are expected."""
    base, ahead = shapes[5].ctypes.data, shapes[6].ctypes.data
    apart, wrong, there = np.int64(0), np.int64(0), rows + ROW_BYTES * (starts[lead] + tile)
    if size < _FEW and lanes == HALF:
        step = ROW_BYTES * (starts[1] - starts[0])
        for k in range(size):
            first, pairs = there + ROW_BYTES * k, ahead + _PAIR_BYTES * k
            one, other = compare(first, step, base + _PAIR_BYTES * k, 0, pairs, _PAIR_BYTES * _PAIRS, WARP)
            wrong, apart = wrong | one, apart | other
        return apart, wrong
    for lane in range(lead + 1, WARP):
        if lanes >> lane & 1 and apart & HALF == 0:
            there, pairs = rows + ROW_BYTES * (starts[lane] + tile), ahead + _PAIR_BYTES * _PAIRS * lane
            one, other = compare(there, ROW_BYTES, base, _PAIR_BYTES, pairs, _PAIR_BYTES, size)
            wrong, apart = wrong | one, apart | other
    return apart, wrong


def _find_wrong(rows: Any, starts: Any, tile: Any, size: Any, lead: Any, lanes: Any, shapes: Any) -> None:
    """Say in `which` what requests have another shape than is expected."""
    _, shape, _, which, _, base, _, _ = shapes
    for lane in range(lead + 1, WARP):
        if lanes >> lane & 1:
            there, behind = rows + ROW_BYTES * (starts[lane] + tile), shape[lane]
            for k in range(size):
                which[k] |= (peek(there + ROW_BYTES * k, 0) - base[k, 0]) ^ behind[base[k, 1] & _LOW]


expect, differences, find_wrong = part(_expect), part(_differences), part(_find_wrong)
alike = part(_alike)


def _learn_shape(
    rows: Any, starts: Any, k: Any, lead: Any, lanes: Any, op: Any, touched: Any, shapes: Any
) -> None:
    """Take the shape of a request, the k-th of its warp, for that of its site, of which no cost is known yet."""
    seen, shape, kept_costs, _, _, _, _, numbers = shapes
    key, there, in_a_row = key_of(rows, starts[lead] + k), 0, True
    site = key & _LOW
    numbers[TILE] += 1
    kept_costs[site] = -1
    for lane in range(lead, WARP):
        if lanes >> lane & 1:
            shape[lane, site] = index_of(rows, starts[lane] + k) - index_of(rows, starts[lead] + k)
            in_a_row &= shape[lane, site] == there
            there += 1
    seen[site, _KEY], seen[site, _LANES], seen[site, NUMBER] = key, lanes, numbers[TILE]
    seen[site, NOTED] = 0
    if touched and is_watched(peek(touched, TouchWord.WATCHED), key >> SITE_BITS, op):
        seen[site, NOTED] = _IN_A_ROW if in_a_row else _EACH


def _note_request(touched: Any, what: Any, op: Any, first: Any, site: Any, active: Any, shapes: Any) -> None:
    """Note what memory a request touches, of the shape that its site had last; see rows/touched.py."""
    seen, shape, known = shapes[0], shapes[1], True
    if seen[site, NOTED] == _IN_A_ROW:
        known = touch(touched, what, op, first, active)
    else:
        for lane in range(WARP):
            if seen[site, _LANES] >> lane & 1:
                known = touch(touched, what, op, first + shape[lane, site], 1)
    if not known:
        poke(touched, TouchWord.UNMARKED, 1)


learn_shape, note_request = part(_learn_shape), part(_note_request)

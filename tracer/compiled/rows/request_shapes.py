"""The shapes of a warp's requests: the offsets of its lanes' elements from the first lane's element.

Most requests of a site differ only in their address, and their cost repeats after PERIOD bytes. So for most rows, it is
enough to check if a request has the expected shape.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import carray
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numpy.typing import NDArray

from ...analysis.request_cost import PERIOD
from ...model.trace import WARP
from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..compile_cached import compile_with_callers
from ..memory_words import I64, element_pointer, peek, peek32, pointer, poke
from ..state import CONTEXT_AT, KEY_AT, ROW_BYTES, SITE_BITS, IntArray, Number, Shapes, TouchWord
from .touched_memory import is_watched, touch

TILE = 64  # requests compared at once: their rows are read in memory order
HALF = 0xFFFFFFFF  # mask of the second word of a row: its key, below the context
SITE_FIELDS = 4  # fields about the shape of a site's requests, see `no_shapes`
_KEY, _LANES, NUMBER, NOTED = range(SITE_FIELDS)
# Ways to note the memory that a request touches: lane by lane, or all lanes at once; 0: not at all.
_LANE_BY_LANE, _CONTIGUOUS = 1, 2
_FEW_REQUESTS = 8  # with fewer requests, each is compared in all lanes at once
_SITE_MASK = (1 << SITE_BITS) - 1
_PAIR = ir.VectorType(I64, 2)  # the first words of a row: index, then key and context
_PAIR_BYTES = 16
_PAIRS = TILE + 1  # of a lane; not a power of two, so that lanes use different cache lines


def no_shapes(sites: int) -> tuple[NDArray[np.int64], ...]:
    """Allocate tables for the shape of the last request of each site.

    By site: its key, a bit for each lane (0: none yet), the number of its shape, and the way to note the memory that it
    touches. By (lane, site): the offset of the lane's index from the first lane's. The costs (-1: unknown) by site and
    address of the first lane's element. Then the work arrays of a tile, by request: the differing bits; addresses; the
    first lane's pair of words; by lane, the expected pairs relative to the first lane's; and the numbers of their
    shapes, followed by the latest number.
    """
    site_shapes, offsets = np.zeros((sites, SITE_FIELDS), np.int64), np.zeros((WARP, sites), np.int64)
    costs, lane_offsets = np.full((sites, PERIOD), -1, np.int64), np.zeros((WARP, _PAIRS, 2), np.int64)
    works = np.empty(TILE, np.int64), np.empty(WARP, np.int64), np.empty((TILE, 2), np.int64)
    return site_shapes, offsets, costs, *works, lane_offsets, np.zeros(TILE + 1, np.int64)


def _shapes_at(tables: int, sites: int) -> Shapes:
    """Return the arrays of `no_shapes`, from a table of their addresses."""
    return (
        carray(pointer(peek(tables, 0)), (sites, SITE_FIELDS), np.int64),
        carray(pointer(peek(tables, 1)), (WARP, sites), np.int64),
        carray(pointer(peek(tables, 2)), (sites, PERIOD), np.int64),
        longs(peek(tables, 3), TILE), longs(peek(tables, 4), WARP),
        carray(pointer(peek(tables, 5)), (TILE, 2), np.int64),
        carray(pointer(peek(tables, 6)), (WARP, _PAIRS, 2), np.int64),
        longs(peek(tables, 7), TILE + 1),
    )  # fmt: skip


def _longs(address: int, count: int) -> IntArray:
    """Return an array of words at an address."""
    words: IntArray = carray(pointer(address), (count,), np.int64)
    return words


def _key_of(rows: int, row: Number) -> int:
    return peek32(rows + ROW_BYTES * row + KEY_AT)


def _context_of(rows: int, row: Number) -> int:
    return peek32(rows + ROW_BYTES * row + CONTEXT_AT)


def _index_of(rows: int, row: Number) -> int:
    return peek(rows + ROW_BYTES * row, 0)


longs, shapes_at = compile_with_callers(_longs), compile_with_callers(_shapes_at)
key_of, context_of, index_of = (
    compile_with_callers(_key_of),
    compile_with_callers(_context_of),
    compile_with_callers(_index_of),
)


def _lanes_match(
    rows: int, starts: IntArray, tile: int, size: int, lead: Number, lanes: Number, shapes: Shapes
) -> bool:
    """Check if all lanes of a warp did the same as the first one, in `size` accesses from `tile` on.

    Fills the work arrays of a tile; `mismatches` (see `no_shapes`) gets 0 for requests of their site's last shape.
    """
    is_expected = set_expectations(rows + ROW_BYTES * (starts[lead] + tile), size, lanes, shapes)
    key_bits, index_bits = find_differences(rows, starts, tile, size, lead, lanes, shapes)
    if key_bits & HALF:
        return False
    if not is_expected or index_bits:
        find_mismatches(rows, starts, tile, size, lead, lanes, shapes)
    return True


def _set_expectations(begin: int, size: int, lanes: Number, shapes: Shapes) -> bool:
    """Store the accesses of a warp's first lane, and the expectations for the others; return True if none is new.

    begin: address of its first row. `mismatches` gets 0 for requests of a site and lanes with a stored shape.
    """
    site_shapes, offsets, _, mismatches, _, base, lane_offsets, numbers = shapes
    new_bits = np.int64(0)
    for k in range(size):
        base[k, 0], base[k, 1] = peek(begin + ROW_BYTES * k, 0), peek(begin + ROW_BYTES * k, 1)
        site = base[k, 1] & _SITE_MASK
        mismatches[k] = (site_shapes[site, _KEY] ^ base[k, 1] & HALF) | (site_shapes[site, _LANES] ^ lanes)
        new_bits |= mismatches[k]
        if numbers[k] != site_shapes[site, NUMBER]:
            numbers[k] = site_shapes[site, NUMBER]
            for lane in range(WARP):
                lane_offsets[lane, k, 0] = offsets[lane, site]
    return bool(new_bits == 0)


def _compare(
    typing: TypingContext,
    rows: types.Type,
    row_step: types.Type,
    base: types.Type,
    base_step: types.Type,
    lane_offsets: types.Type,
    ahead_step: types.Type,
    count: types.Type,
) -> Intrinsic:
    """Return the bits in which index and key of rows differ from the expected ones: a base plus an offset.

    The parameters are the addresses of the first ones, and the steps in bytes. Both words of a row are compared at
    once: to load the same word of several rows takes longer.
    """

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        b, (count, *operands) = builder, (args[6], *zip(args[0:6:2], args[1:6:2], strict=True))
        differing_bits = cgutils.alloca_once_value(b, ir.Constant(_PAIR, [0, 0]))
        with cgutils.for_range(b, count, intp=I64) as loop:
            row_pair, from_base, expected = (
                b.load(element_pointer(b, b.add(first, b.mul(loop.index, step)), _PAIR), align=8)
                for first, step in operands
            )
            difference = b.xor(b.sub(row_pair, from_base), expected)
            b.store(b.or_(b.load(differing_bits), difference), differing_bits)
        words = [b.extract_element(b.load(differing_bits), I64(word)) for word in range(2)]
        return context.make_tuple(b, signature.return_type, words)

    return types.UniTuple(types.int64, 2)(*[types.int64] * 7), generate


compare = intrinsic(_compare)


def _find_differences(
    rows: int, starts: IntArray, tile: int, size: int, lead: Number, lanes: Number, shapes: Shapes
) -> tuple[Number, Number]:
    """Return the bits in which keys differ, below HALF, and the bits in which indices differ from the expected ones."""
    base, lane_offsets = shapes[5].ctypes.data, shapes[6].ctypes.data
    key_bits, index_bits, first_row = np.int64(0), np.int64(0), rows + ROW_BYTES * (starts[lead] + tile)
    if size < _FEW_REQUESTS and lanes == HALF:
        step = ROW_BYTES * (starts[1] - starts[0])
        for k in range(size):
            first, pairs = first_row + ROW_BYTES * k, lane_offsets + _PAIR_BYTES * k
            index_difference, key_difference = compare(
                first, step, base + _PAIR_BYTES * k, 0, pairs, _PAIR_BYTES * _PAIRS, WARP
            )
            index_bits, key_bits = index_bits | index_difference, key_bits | key_difference
        return key_bits, index_bits
    for lane in range(lead + 1, WARP):
        if lanes >> lane & 1 and key_bits & HALF == 0:
            first_row, pairs = (
                rows + ROW_BYTES * (starts[lane] + tile),
                lane_offsets + _PAIR_BYTES * _PAIRS * lane,
            )
            index_difference, key_difference = compare(
                first_row, ROW_BYTES, base, _PAIR_BYTES, pairs, _PAIR_BYTES, size
            )
            index_bits, key_bits = index_bits | index_difference, key_bits | key_difference
    return key_bits, index_bits


def _find_mismatches(
    rows: int, starts: IntArray, tile: int, size: int, lead: Number, lanes: Number, shapes: Shapes
) -> None:
    """Mark the requests in `mismatches` whose shape is not the expected one."""
    _, offsets, _, mismatches, _, base, _, _ = shapes
    for lane in range(lead + 1, WARP):
        if lanes >> lane & 1:
            first_row, site_offsets = rows + ROW_BYTES * (starts[lane] + tile), offsets[lane]
            for k in range(size):
                mismatches[k] |= (peek(first_row + ROW_BYTES * k, 0) - base[k, 0]) ^ site_offsets[
                    base[k, 1] & _SITE_MASK
                ]


set_expectations, find_differences, find_mismatches = (
    compile_with_callers(_set_expectations),
    compile_with_callers(_find_differences),
    compile_with_callers(_find_mismatches),
)
lanes_match = compile_with_callers(_lanes_match)


def _learn_shape(
    rows: int, starts: IntArray, k: int, lead: Number, lanes: Number, op: int, touched: int, shapes: Shapes
) -> None:
    """Store the shape of a request, the k-th of its warp, as that of its site, without any cost."""
    site_shapes, offsets, costs, _, _, _, _, numbers = shapes
    key, active, is_contiguous = key_of(rows, starts[lead] + k), 0, True
    site = key & _SITE_MASK
    numbers[TILE] += 1
    costs[site] = -1
    for lane in range(lead, WARP):
        if lanes >> lane & 1:
            offsets[lane, site] = index_of(rows, starts[lane] + k) - index_of(rows, starts[lead] + k)
            is_contiguous &= offsets[lane, site] == active
            active += 1
    site_shapes[site, _KEY], site_shapes[site, _LANES], site_shapes[site, NUMBER] = key, lanes, numbers[TILE]
    site_shapes[site, NOTED] = 0
    if touched and is_watched(peek(touched, TouchWord.WATCHED), key >> SITE_BITS, op):
        site_shapes[site, NOTED] = _CONTIGUOUS if is_contiguous else _LANE_BY_LANE


def _note_request(
    touched: int, region_code: int, op: int, first: int, site: int, active: int, shapes: Shapes
) -> None:
    """Note the memory that a request touches, if it has its site's last shape; see rows/touched_memory.py."""
    site_shapes, offsets, is_marked = shapes[0], shapes[1], True
    if site_shapes[site, NOTED] == _CONTIGUOUS:
        is_marked = touch(touched, region_code, op, first, active)
    else:
        for lane in range(WARP):
            if site_shapes[site, _LANES] >> lane & 1:
                is_marked = touch(touched, region_code, op, first + offsets[lane, site], 1)
    if not is_marked:
        poke(touched, TouchWord.UNMARKED, 1)


learn_shape, note_request = compile_with_callers(_learn_shape), compile_with_callers(_note_request)

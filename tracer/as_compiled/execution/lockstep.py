"""The scheduler of code made by `instrument`: the lanes of a warp run in lockstep, and each request is counted.

A thread runs on its own stack until it reaches an access, a barrier or a warp operation. Of a warp's lanes, those
at the lowest code continue together, and their access is one request. Warps run one after the other up to a barrier,
each for at most `QUANTUM` requests, since it may wait for another warp.

In a loop that repeats a compare-and-swap, ptxas makes lanes yield: lanes that left it continue before the others swap
again, and stay separate until they wait for each other. An H100 does the same in all 60 cases of
`h100_contended.json`. The number of rounds is exact unless another warp swaps the same element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis import request_cost
from ...compiled.compile_cached import compile_cached, compile_with_callers
from ...compiled.memory_words import peek, poke
from ...compiled.rows import request_cost as _jitable  # noqa: F401  # registers the rules with Numba
from ...compiled.scheduler.blocks import take_stack
from ...compiled.scheduler.switching import resume_thread
from ...compiled.state import THREAD_SLOT_WORDS, StopReason, ThreadSlot, Word
from ...model.trace import WARP, Op
from . import instrument, stand_ins
from .instrument import LOOP_END, MARK, Repeats
from .stand_ins import ACCESS_CODE, ADDRESS, CLAMP, EXTRA, MASK, MODE_SHIFT, PREDICATE, RESULT, VALUE, Reason

QUANTUM = 1 << 14
FAR = 1 << 40  # larger than all codes
PLACE_BYTES = 8 * THREAD_SLOT_WORDS
ALL_LANES = 0xFFFFFFFF
RUNS = -10  # used like a `StopReason`, for a thread that may continue

# Outcomes of a launch.
OVER, TRAPPED, STUCK, PAUSED = range(4)

# Memory spaces of an address.
ELSEWHERE, GLOBAL, SHARED = range(3)

# Sums over the requests of a code in global and in shared memory.
# COST_8, COST_16: the cost of loads and stores of shared memory if each accessed so many bytes.
# APART: requests of a loop that repeats a compare-and-swap, and those that its warp makes after it.
REQUESTS, COST, LANES, COST_8, COST_16, APART = range(6)
SUMS = 6

# Columns of the accesses: an `Op`, bytes, joined accesses, whether to count wider costs, a `Repeats`.
OP, SIZE, PARTS, WIDE, REPEATS = range(5)

# The hash table of swapped elements: rows of an address and its warp. The first row only tells whether an element had
# two. An element that finds no free row within `NEAREST` counts as one.
OWNER_ROWS, NEAREST = 1 << 16, 16
MOST_WARPS = 32  # of a block


def _space_of(address: Any, ranges: Any) -> Any:
    """Return the space of an address; ranges: rows of (first byte, after the last, space)."""
    for row in range(len(ranges)):
        if ranges[row, 0] <= address < ranges[row, 1]:
            return ranges[row, 2]
    return np.int64(ELSEWHERE)


space_of = compile_with_callers(_space_of)


def _count(
    code: Any,
    addresses: Any,
    lanes: Any,
    count: Any,
    accesses: Any,
    ranges: Any,
    low: Any,
    scratch: Any,
    sums: Any,
    apart: Any,
) -> None:
    """Count one request, for each space of its addresses; lanes: of each address, its number in the warp.

    apart: 1 if its warp has swapped in a loop, else 0. low: scratch memory for addresses, and from WARP on for lanes.
    """
    op, size = accesses[code, OP], accesses[code, SIZE]
    if op == MARK:
        sums[code, SHARED, REQUESTS] += 1
        return
    mask = (
        ~(size - 1) if accesses[code, PARTS] > 1 else -1
    )  # joined accesses begin at a multiple of their size
    space_lanes = low[WARP:]
    for space in (GLOBAL, SHARED):
        in_space = 0
        for number in range(count):
            if space_of(addresses[number], ranges) == space:
                low[in_space] = addresses[number] & mask
                space_lanes[in_space] = lanes[number]
                in_space += 1
        if in_space == 0:
            continue
        if space == SHARED:
            cost = request_cost.wavefronts_by_lane(low, space_lanes, in_space, size, scratch)
            if op < Op.ATOMIC and accesses[code, WIDE]:
                sums[code, space, COST_8] += _wide_cost(low, space_lanes, in_space, 8, scratch)
                sums[code, space, COST_16] += _wide_cost(low, space_lanes, in_space, 16, scratch)
        elif op >= Op.ATOMIC:
            cost = request_cost.turns_of(low, in_space, scratch)
        else:
            cost = request_cost.sectors_of(low, in_space, size, scratch)
        sums[code, space, REQUESTS] += 1
        sums[code, space, COST] += cost
        sums[code, space, LANES] += in_space
        sums[code, space, APART] += 1 if accesses[code, REPEATS] else apart


def _wide_cost_of(low: Any, own: Any, count: Any, size: Any, scratch: Any) -> Any:
    """Count the wavefronts of a request in which each lane accesses so many bytes, aligned to them."""
    wide: Any = np.empty(WARP, np.int64)
    for number in range(count):
        wide[number] = low[number] & ~(size - 1)
    return request_cost.wavefronts_by_lane(wide, own, count, size, scratch)


_wide_cost = compile_with_callers(_wide_cost_of)
count_request = compile_with_callers(_count)


def _own(addresses: Any, count: Any, warp: Any, ranges: Any, owners: Any) -> None:
    """Note whose elements are swapped, by (address, warp); see OWNER_ROWS."""
    rows = len(owners) - 1
    for number in range(count):
        address = addresses[number]
        is_shared = space_of(address, ranges) == SHARED
        row = (address >> 2) * 40503 % rows
        for step in range(NEAREST + 1):
            if step == NEAREST:
                owners[0, 0] = 1
                break
            slot = 1 + (row + step) % rows
            stored_address, owner = owners[slot, 0], owners[slot, 1]
            is_left = stored_address == address and is_shared and owner // MOST_WARPS != warp // MOST_WARPS
            if stored_address == 0 or is_left:
                owners[slot, 0], owners[slot, 1] = address, warp
                break
            if stored_address == address:
                if owner != warp:
                    owners[0, 0] = 1
                break


own = compile_with_callers(_own)


def _leave(codes: Any, lanes: Any, lowest: Any, group: Any, left: Any) -> Any:
    """Put the lanes of a group that are behind a swap into one numbered `left`; return whether there are any."""
    some = False
    for lane in range(lanes):
        if codes[WARP + lane] == group and codes[lane] != FAR and codes[lane] > lowest:
            codes[WARP + lane] = left
            some = True
    return some


leave = compile_with_callers(_leave)


def _resume_of(state: Any, place: Any) -> Any:
    """Let a thread run until it stops; return the reason."""
    poke(state, Word.THREAD_SLOT, place)
    resume_thread(state)
    return peek(place, ThreadSlot.REASON)


resume = compile_with_callers(_resume_of)


def _is_met(first: Any, lanes: Any, lane: Any, codes: Any) -> Any:
    """Return True if all lanes named by a lane's warp operation are at an equal one, or have ended."""
    place = first + lane * PLACE_BYTES
    reason, mask = peek(place, ThreadSlot.REASON), peek(place, MASK) & ALL_LANES
    for other in range(lanes):
        if mask >> other & 1:
            other_reason = peek(first + other * PLACE_BYTES, ThreadSlot.REASON)
            if other_reason != StopReason.DONE and other_reason != reason:
                return False
            if other_reason == reason and peek(first + other * PLACE_BYTES, MASK) & ALL_LANES != mask:
                return False
    return True


is_met = compile_with_callers(_is_met)


def _source_of(mode: Any, lane: Any, offset: Any, clamp: Any) -> Any:
    """Return the lane whose value a shuffle takes, -1 for none (PTX ISA, "shfl.sync")."""
    segment, limit = clamp >> 8 & 31, clamp & 31
    lowest = lane & segment
    highest = lowest | (limit & ~segment & 31)
    if mode == 0:
        source = lowest | (offset & ~segment & 31)
        return source if source <= highest else -1
    if mode == 1:
        source = lane - offset
        return source if source >= highest else -1
    source = lane + offset if mode == 2 else lane ^ offset
    return source if source <= highest else -1


source_of = compile_with_callers(_source_of)


def _meet_of(first: Any, lanes: Any, lane: Any, group: Any) -> None:
    """Give the lanes of a warp operation, bits of `group`, its results."""
    place = first + lane * PLACE_BYTES
    reason = peek(place, ThreadSlot.REASON)
    ballot = 0
    if reason == Reason.VOTE:
        for other in range(lanes):
            if group >> other & 1 and peek(first + other * PLACE_BYTES, VALUE):
                ballot |= 1 << other
    for other in range(lanes):
        if not group >> other & 1:
            continue
        other_place = first + other * PLACE_BYTES
        if reason == Reason.VOTE:
            poke(other_place, RESULT, ballot)
            poke(other_place, PREDICATE, group)
        elif reason == Reason.SHUFFLE:
            both = peek(other_place, CLAMP)
            source = source_of(
                both >> MODE_SHIFT, other, peek(other_place, EXTRA), both & ((1 << MODE_SHIFT) - 1)
            )
            taken = source if 0 <= source < lanes else other
            poke(other_place, RESULT, peek(first + taken * PLACE_BYTES, VALUE))
            poke(other_place, PREDICATE, 1 if source >= 0 else 0)
        elif reason == StopReason.MATCH_ANY or reason == StopReason.MATCH_ALL:
            same = 0
            for another in range(lanes):
                if group >> another & 1 and peek(first + another * PLACE_BYTES, VALUE) == peek(
                    other_place, VALUE
                ):
                    same |= 1 << another
            all_same = same == group
            if reason == StopReason.MATCH_ANY:
                poke(other_place, RESULT, same)
            else:
                poke(other_place, RESULT, group if all_same else 0)
            poke(other_place, PREDICATE, 1 if all_same else 0)


meet = compile_with_callers(_meet_of)


def _let_meet(first: Any, lanes: Any, codes: Any) -> Any:
    """Release the lanes of warp operations that all their lanes have reached; return True if there are any."""
    met = False
    for lane in range(lanes):
        place = first + lane * PLACE_BYTES
        reason = peek(place, ThreadSlot.REASON)
        waits = reason == StopReason.SYNCWARP or reason == Reason.VOTE or reason == Reason.SHUFFLE
        waits = waits or reason == StopReason.MATCH_ANY or reason == StopReason.MATCH_ALL
        if not waits or not is_met(first, lanes, lane, codes):
            continue
        mask, group = peek(place, MASK) & ALL_LANES, 0
        for other in range(lanes):
            other_place = first + other * PLACE_BYTES
            if mask >> other & 1 and peek(other_place, ThreadSlot.REASON) == reason:
                group |= 1 << other
        meet(first, lanes, lane, group)
        for other in range(lanes):
            if group >> other & 1:
                poke(first + other * PLACE_BYTES, ThreadSlot.REASON, RUNS)
        met = True
    return met


let_meet = compile_with_callers(_let_meet)


def _warp_of(state: Any, first: Any) -> Any:
    """Return the number of a warp in its launch."""
    block = peek(state, Word.BX) + peek(state, Word.GX) * (
        peek(state, Word.BY) + peek(state, Word.GY) * peek(state, Word.BZ)
    )
    return block * MOST_WARPS + peek(first, ThreadSlot.THREAD) // WARP


warp_of = compile_with_callers(_warp_of)


def _run_warp_of(
    state: Any,
    first: Any,
    lanes: Any,
    accesses: Any,
    ranges: Any,
    work: Any,
    scratch: Any,
    sums: Any,
    owners: Any,
) -> Any:
    """Run a warp until all its lanes wait or have ended; return the number of its requests, -1 for a trap.

    work: rows of numbers by lane: codes and, from WARP on, groups of lanes; addresses of a request; scratch for those
    of one space; lanes of a request.
    """
    codes, addresses, low, numbers = work[0], work[1], work[2], work[3]
    requests, groups, apart = 0, 0, 0
    for lane in range(lanes):
        codes[lane] = peek(first + lane * PLACE_BYTES, ACCESS_CODE)
        codes[WARP + lane] = 0
    while True:
        active = 0
        for lane in range(lanes):
            place = first + lane * PLACE_BYTES
            reason = peek(place, ThreadSlot.REASON)
            if reason == RUNS:
                reason = resume(state, place)
                if reason == Reason.TRAP:
                    return np.int64(-1)
                codes[lane] = peek(place, ACCESS_CODE) if reason == StopReason.ACCESS else FAR
                if reason == StopReason.ACTIVE:
                    active |= 1 << lane
            elif reason != StopReason.ACCESS:
                codes[lane] = FAR
        if active:
            for lane in range(lanes):
                if active >> lane & 1:
                    poke(first + lane * PLACE_BYTES, RESULT, active)
                    poke(first + lane * PLACE_BYTES, ThreadSlot.REASON, RUNS)
            continue
        lowest, group = np.int64(FAR), np.int64(0)
        for lane in range(lanes):
            if codes[lane] != FAR and codes[WARP + lane] > group:
                lowest, group = np.int64(FAR), codes[WARP + lane]
            if codes[lane] < lowest and codes[WARP + lane] == group:
                lowest = codes[lane]
        if lowest == FAR:
            if let_meet(first, lanes, codes):
                for lane in range(lanes):
                    if peek(first + lane * PLACE_BYTES, ThreadSlot.REASON) == RUNS:
                        codes[WARP + lane] = 0
                requests += 1
                continue
            return requests
        repeats = accesses[lowest, REPEATS] == Repeats.SWAP
        if repeats and leave(codes, lanes, lowest, group, groups + 1):
            groups += 1
            continue
        count = 0
        for lane in range(lanes):
            if codes[lane] == lowest and codes[WARP + lane] == group:
                place = first + lane * PLACE_BYTES
                addresses[count] = peek(place, ADDRESS)
                numbers[count] = lane
                count += 1
                poke(place, ThreadSlot.REASON, RUNS)
        if repeats:
            apart = 1
            own(addresses, count, warp_of(state, first), ranges, owners)
        if accesses[lowest, OP] != LOOP_END:
            count_request(lowest, addresses, numbers, count, accesses, ranges, low, scratch, sums, apart)
        requests += 1
        if requests > QUANTUM:
            return requests


run_warp = compile_with_callers(_run_warp_of)


def _begin_block(state: Any, first: Any, threads: Any) -> None:
    """Give the threads of a block their stacks and indices."""
    dx, dy = peek(state, Word.DX), peek(state, Word.DY)
    for thread in range(threads):
        place = first + thread * PLACE_BYTES
        poke(place, ThreadSlot.THREAD, thread)
        poke(place, ThreadSlot.TX, thread % dx)
        poke(place, ThreadSlot.TY, thread // dx % dy)
        poke(place, ThreadSlot.TZ, thread // (dx * dy))
        poke(place, ThreadSlot.REASON, RUNS)
        take_stack(state, place)


begin_block = compile_with_callers(_begin_block)


def _release(first: Any, threads: Any, grid: Any) -> Any:
    """Release the threads of a block that all wait at a barrier; return their number, -1 if some wait elsewhere."""
    alive, waiting, total, voted = 0, 0, 0, 0
    for thread in range(threads):
        place = first + thread * PLACE_BYTES
        reason = peek(place, ThreadSlot.REASON)
        if reason == StopReason.DONE:
            continue
        alive += 1
        if StopReason.BARRIER <= reason <= StopReason.OR or (grid and reason == StopReason.GRID):
            waiting += 1
            if reason != StopReason.BARRIER and reason != StopReason.GRID:
                total += peek(place, VALUE)
                voted += 1
    if alive and waiting < alive:
        return np.int64(-1)
    for thread in range(threads):
        place = first + thread * PLACE_BYTES
        reason = peek(place, ThreadSlot.REASON)
        if reason == StopReason.DONE:
            continue
        result = total
        if reason == StopReason.AND:
            result = 1 if total == voted else 0
        elif reason == StopReason.OR:
            result = 1 if total else 0
        poke(place, RESULT, result)
        poke(place, ThreadSlot.REASON, RUNS)
    return np.int64(alive)


release = compile_with_callers(_release)


def _waits_for_grid(first: Any, threads: Any) -> Any:
    """Return True if all threads of a block wait at a barrier of the grid, or have ended."""
    for thread in range(threads):
        reason = peek(first + thread * PLACE_BYTES, ThreadSlot.REASON)
        if reason != StopReason.GRID and reason != StopReason.DONE:
            return False
    return True


waits_for_grid = compile_with_callers(_waits_for_grid)


def _enter(state: Any, block: Any, grid: Any) -> None:
    """Make a block the current one."""
    poke(state, Word.BX, block % grid[0])
    poke(state, Word.BY, block // grid[0] % grid[1])
    poke(state, Word.BZ, block // (grid[0] * grid[1]))


enter = compile_with_callers(_enter)


def _run_block(
    state: Any,
    first: Any,
    threads: Any,
    accesses: Any,
    ranges: Any,
    work: Any,
    scratch: Any,
    sums: Any,
    owners: Any,
) -> Any:
    """Run a block until it has ended or waits for the grid; return the outcome (see `OVER`), PAUSED for the grid."""
    idle = 0
    while True:
        total_requests = 0
        for warp in range(0, threads, WARP):
            lanes = min(WARP, threads - warp)
            requests = run_warp(
                state, first + warp * PLACE_BYTES, lanes, accesses, ranges, work, scratch, sums, owners
            )
            if requests < 0:
                return np.int64(TRAPPED)
            total_requests += requests
            if requests > QUANTUM:
                idle += 1
        alive = release(first, threads, False)
        if alive == 0:
            return np.int64(OVER)
        if alive < 0 and total_requests == 0:  # if some threads have ended, the others may wait for the grid
            return np.int64(PAUSED) if waits_for_grid(first, threads) else np.int64(STUCK)
        if idle > work[4, 0]:
            return np.int64(STUCK)


run_block = compile_with_callers(_run_block)


def _run_blocks(
    state: Any, blocks: Any, places: Any, grid: Any, threads: Any, accesses: Any, ranges: Any, work: Any, scratch: Any,
    sums: Any, owners: Any,
) -> Any:  # fmt: skip
    """Run blocks one after the other; return (outcome, number of finished blocks)."""
    for number in range(len(blocks)):
        enter(state, blocks[number], grid)
        stacks = peek(state, Word.STACK_COUNT)
        begin_block(state, places, threads)
        ended = run_block(state, places, threads, accesses, ranges, work, scratch, sums, owners)
        poke(state, Word.STACK_COUNT, stacks)
        if ended != OVER:
            return ended, number
    return np.int64(OVER), len(blocks)


def _run_one(
    state: Any, block: Any, first: Any, grid: Any, threads: Any, begins: Any, accesses: Any, ranges: Any, work: Any,
    scratch: Any, sums: Any, owners: Any,
) -> Any:  # fmt: skip
    """Run one of the blocks that wait for each other, from its beginning or from a barrier; return the outcome."""
    enter(state, block, grid)
    if begins:
        begin_block(state, first, threads)
    return run_block(state, first, threads, accesses, ranges, work, scratch, sums, owners)


def _release_grid(first: Any, threads: Any) -> None:
    """Release the threads of a block, which all wait for the grid."""
    release(first, threads, True)


_OTHERS = (__file__, request_cost.__file__, instrument.__file__, stand_ins.__file__)
run_one, release_grid = compile_cached(_run_one, *_OTHERS), compile_cached(_release_grid, *_OTHERS)
run_blocks = compile_cached(_run_blocks, *_OTHERS)

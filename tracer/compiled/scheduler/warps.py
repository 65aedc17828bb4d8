"""Waits of the lanes of a warp for each other, and the value that each takes; for the scheduler.

The rules are those of tracer/simulator/warp_barriers.py and tracer/recording/warp_operations.py.
"""

from __future__ import annotations

from typing import Any

from ...model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP
from ..compile_cached import compile_with_callers
from ..memory_words import lowest_bit, peek, poke
from ..state import THREAD_SLOT_WORDS, DriverCall, StopReason, ThreadSlot, WarpWord, Word
from .blocks import is_in, lane_of, move_to_waiting, warp_at
from .switching import call_driver_or_stop

_THREAD_SLOT_BYTES, _ALL, _NEVER = 8 * THREAD_SLOT_WORDS, 0xFFFFFFFF, 1 << 62


def _mask_of(thread_slot: int) -> int:
    """Return the lanes that a thread's operation names; for `activemask` a negative number, from its site."""
    if peek(thread_slot, ThreadSlot.REASON) == StopReason.ACTIVE:
        return ~peek(thread_slot, ThreadSlot.SITE)
    return peek(thread_slot, ThreadSlot.MASK) & _ALL


mask_of = compile_with_callers(_mask_of)


def _reach_of(thread_slot: int) -> int:
    """Return the lanes whose memory a warp operation orders: only syncwarp orders memory."""
    return (
        peek(thread_slot, ThreadSlot.MASK) & _ALL
        if peek(thread_slot, ThreadSlot.REASON) == StopReason.SYNCWARP
        else 0
    )


reach_of = compile_with_callers(_reach_of)


def _source_lane_of(thread_slot: int) -> int:
    """Return the lane that a shuffle reads, which may not exist; -1000 for other operations."""
    reason, extra = peek(thread_slot, ThreadSlot.REASON), peek(thread_slot, ThreadSlot.EXTRA)
    lane = peek(thread_slot, ThreadSlot.THREAD) % WARP
    if reason == StopReason.SHUFFLE:
        return extra % WARP
    if reason == StopReason.UP:
        return lane - extra
    if reason == StopReason.DOWN:
        return lane + extra
    return lane ^ extra if reason == StopReason.XOR else -1000


source_lane_of = compile_with_callers(_source_lane_of)


def _part_of(thread_slot: int) -> int:
    """Return a thread's part in the warp operation that it has come to; see `Barriers`."""
    reason = peek(thread_slot, ThreadSlot.REASON)
    if reason >= StopReason.SHUFFLE and reason <= StopReason.XOR:
        source_lane = source_lane_of(thread_slot)
        return (
            source_lane + 1
            if source_lane >= 0 and source_lane < WARP
            else peek(thread_slot, ThreadSlot.THREAD) % WARP + 1
        )
    if reason >= StopReason.ALL and reason <= StopReason.BALLOT:
        return VOTED_YES if peek(thread_slot, ThreadSlot.OUT) != 0 else VOTED_NO
    return COMPARED if reason == StopReason.MATCH_ANY or reason == StopReason.MATCH_ALL else 0


role_of = compile_with_callers(_part_of)


def _warp_of(state: int, thread_slot: int) -> tuple[int, int]:
    """Return (address of the slot of a warp's first thread, address of the warp's words)."""
    lane = peek(thread_slot, ThreadSlot.THREAD) % WARP
    return thread_slot - lane * _THREAD_SLOT_BYTES, warp_at(state, peek(thread_slot, ThreadSlot.WARP))


warp_of = compile_with_callers(_warp_of)


def _running_lanes(warp: int) -> int:
    """Return the bits of the lanes whose threads have not ended."""
    return (
        peek(warp, WarpWord.RUNNABLE)
        | peek(warp, WarpWord.AT_BARRIER)
        | peek(warp, WarpWord.AT_WARP_OPERATION)
    )


running_lanes = compile_with_callers(_running_lanes)


def _group_of(first_slot: int, warp: int, mask: int) -> int:
    """Return the bits of the lanes that wait at an operation with this mask."""
    lanes, remaining = 0, peek(warp, WarpWord.AT_WARP_OPERATION)
    while remaining:
        lane = lowest_bit(remaining)
        remaining &= remaining - 1
        if mask_of(first_slot + lane * _THREAD_SLOT_BYTES) == mask:
            lanes |= 1 << lane
    return lanes


group_of = compile_with_callers(_group_of)


def _has_value(thread_slot: int) -> bool:
    """Check if a thread has brought a value; other threads of the same mask may be at other kinds of operations."""
    return peek(thread_slot, ThreadSlot.REASON) != StopReason.SYNCWARP


has_value = compile_with_callers(_has_value)


def _votes_of(first_slot: int, group: int) -> int:
    """Return the bits of the lanes in a group that brought a value other than 0."""
    lanes, remaining = 0, group
    while remaining:
        lane = lowest_bit(remaining)
        remaining &= remaining - 1
        thread_slot = first_slot + lane * _THREAD_SLOT_BYTES
        if has_value(thread_slot) and peek(thread_slot, ThreadSlot.OUT) != 0:
            lanes |= 1 << lane
    return lanes


votes_of = compile_with_callers(_votes_of)


def _lanes_with_value(first_slot: int, group: int, value: int) -> int:
    """Return the bits of the lanes in a group that brought this value."""
    lanes, remaining = 0, group
    while remaining:
        lane = lowest_bit(remaining)
        remaining &= remaining - 1
        thread_slot = first_slot + lane * _THREAD_SLOT_BYTES
        if has_value(thread_slot) and peek(thread_slot, ThreadSlot.OUT) == value:
            lanes |= 1 << lane
    return lanes


lanes_with_value = compile_with_callers(_lanes_with_value)


def _value_from(source_slot: int, own_value: int) -> Any:
    return peek(source_slot, ThreadSlot.OUT) if has_value(source_slot) else own_value


value_from = compile_with_callers(_value_from)


def _result_for(first_slot: int, group: int, thread_slot: int, votes: int) -> int:
    """Return the result of a group's operation for a lane; `votes` is the result of `votes_of`."""
    reason, own_value = peek(thread_slot, ThreadSlot.REASON), peek(thread_slot, ThreadSlot.OUT)
    if reason <= StopReason.XOR:
        source_lane = source_lane_of(thread_slot)
        is_available = source_lane >= 0 and source_lane < WARP and (group >> source_lane & 1) != 0
        return (
            value_from(first_slot + source_lane * _THREAD_SLOT_BYTES, own_value)
            if is_available
            else own_value
        )
    if reason == StopReason.ALL:
        return 1 if votes == group else 0
    if reason == StopReason.ANY:
        return 1 if votes else 0
    if reason == StopReason.EQUAL:
        return 1 if votes == group or votes == 0 else 0
    if reason == StopReason.BALLOT:
        return votes
    if reason == StopReason.MATCH_ANY:
        return lanes_with_value(first_slot, group, own_value)
    if reason == StopReason.MATCH_ALL:
        return mask_of(thread_slot) if lanes_with_value(first_slot, group, own_value) == group else 0
    return group  # activemask


result_for = compile_with_callers(_result_for)


def _is_irregular(first_slot: int, group: int) -> bool:
    """Check if the lanes of a group are at different sites, or take values of lanes outside it."""
    site, remaining = peek(first_slot + lowest_bit(group) * _THREAD_SLOT_BYTES, ThreadSlot.SITE), group
    while remaining:
        thread_slot = first_slot + lowest_bit(remaining) * _THREAD_SLOT_BYTES
        if peek(thread_slot, ThreadSlot.SITE) != site:
            return True
        source_lane = source_lane_of(thread_slot)
        if source_lane >= 0 and source_lane < WARP and not group >> source_lane & 1:
            return True
        remaining &= remaining - 1
    return False


is_irregular = compile_with_callers(_is_irregular)


def _release(state: int, first_slot: int, warp: int, group: int, mask: int) -> None:
    """Let the lanes of a group continue in the next sweep, each with its result."""
    if mask >= 0 and (mask != group or is_irregular(first_slot, group)):
        poke(state, Word.GROUP, group)
        poke(state, Word.GROUP_MASK, mask)
        poke(state, Word.GROUP_SLOT, (first_slot - peek(state, Word.THREAD_SLOTS)) // _THREAD_SLOT_BYTES)
        call_driver_or_stop(state, DriverCall.MASK_FAULT)
    votes, remaining = votes_of(first_slot, group), group
    while remaining:
        thread_slot = first_slot + lowest_bit(remaining) * _THREAD_SLOT_BYTES
        remaining &= remaining - 1
        poke(thread_slot, ThreadSlot.IN, result_for(first_slot, group, thread_slot, votes))
        poke(state, Word.IN_WARPS, peek(state, Word.IN_WARPS) - 1)
    poke(warp, WarpWord.AT_WARP_OPERATION, peek(warp, WarpWord.AT_WARP_OPERATION) & ~group)
    poke(warp, WarpWord.RUNNABLE, peek(warp, WarpWord.RUNNABLE) | group)
    poke(state, Word.CHANGED, 1)
    poke(state, Word.NEWS, 1)
    poke(state, Word.RESUMED, 1)


release = compile_with_callers(_release)


def _next_group(first_slot: int, warp: int, previous: int) -> int:
    """Find the lane of the group that began next after an arrival number; -1 if there is none."""
    earliest_lane, earliest, remaining = -1, _NEVER, peek(warp, WarpWord.AT_WARP_OPERATION)
    while remaining:
        lane = lowest_bit(remaining)
        remaining &= remaining - 1
        number = peek(first_slot + lane * _THREAD_SLOT_BYTES, ThreadSlot.WARP_ARRIVAL)
        if number > previous and number < earliest:
            earliest_lane, earliest = lane, number
    return earliest_lane


next_group = compile_with_callers(_next_group)


def _release_complete(state: int, first_slot: int, warp: int, is_final: int) -> None:
    """Release the operations of a warp that miss no lane; all of them if no other lane can come (is_final)."""
    running, previous = running_lanes(warp), -1
    while True:
        lane = next_group(first_slot, warp, previous)
        if lane < 0:
            break
        thread_slot = first_slot + lane * _THREAD_SLOT_BYTES
        mask, previous = mask_of(thread_slot), peek(thread_slot, ThreadSlot.WARP_ARRIVAL)
        group = group_of(first_slot, warp, mask)
        if is_final or (mask >= 0 and (mask & running & ~group) == 0):
            release(state, first_slot, warp, group, mask)
    release_open(state, first_slot, warp)


def _release_open(state: int, first_slot: int, warp: int) -> None:
    """Release the threads at `activemask`, if all others of their warp wait or have ended."""
    if peek(warp, WarpWord.RUNNABLE):
        return
    previous = -1
    while True:
        lane = next_group(first_slot, warp, previous)
        if lane < 0:
            break
        thread_slot = first_slot + lane * _THREAD_SLOT_BYTES
        mask, previous = mask_of(thread_slot), peek(thread_slot, ThreadSlot.WARP_ARRIVAL)
        if mask < 0:
            release(state, first_slot, warp, group_of(first_slot, warp, mask), mask)


release_open = compile_with_callers(_release_open)
release_complete = compile_with_callers(_release_complete)


def _leave_warp(state: int, thread_slot: int) -> None:
    """Release the operations that waited for a thread, after it came to a barrier or ended."""
    first_slot, warp = warp_of(state, thread_slot)
    if peek(warp, WarpWord.AT_WARP_OPERATION):
        release_complete(state, first_slot, warp, False)


leave_warp = compile_with_callers(_leave_warp)


def _converge(state: int, thread_slot: int) -> None:
    """Handle a thread that has come to a warp operation."""
    move_to_waiting(state, thread_slot, WarpWord.AT_WARP_OPERATION)
    poke(thread_slot, ThreadSlot.WARP_ARRIVAL, peek(state, Word.WARP_ARRIVALS))
    poke(state, Word.WARP_ARRIVALS, peek(state, Word.WARP_ARRIVALS) + 1)
    poke(state, Word.IN_WARPS, peek(state, Word.IN_WARPS) + 1)
    first_slot, warp = warp_of(state, thread_slot)
    mask = mask_of(thread_slot)
    if mask >= 0 and not mask & lane_of(thread_slot):
        release(state, first_slot, warp, lane_of(thread_slot), mask)
    elif not peek(warp, WarpWord.RUNNABLE) or (mask >= 0 and (mask & peek(warp, WarpWord.RUNNABLE)) == 0):
        # Otherwise, only other threads can complete the operation: the other groups of this warp have not changed.
        release_complete(state, first_slot, warp, False)


converge = compile_with_callers(_converge)


def _first_waiting(state: int, first_slot: int) -> int:
    """Find the thread of a block that came first to a pending warp operation; return its address, or 0."""
    earliest_slot, earliest = 0, _NEVER
    for thread in range(peek(state, Word.THREADS)):
        thread_slot = first_slot + thread * _THREAD_SLOT_BYTES
        if (
            is_in(state, thread_slot, WarpWord.AT_WARP_OPERATION)
            and peek(thread_slot, ThreadSlot.WARP_ARRIVAL) < earliest
        ):
            earliest_slot, earliest = thread_slot, peek(thread_slot, ThreadSlot.WARP_ARRIVAL)
    return earliest_slot


first_waiting = compile_with_callers(_first_waiting)


def _release_all(state: int, first_slot: int) -> None:
    """Release the warp operations of a block without the lanes that never come."""
    thread_slot = first_waiting(state, first_slot)
    while thread_slot:
        warp_slot, warp = warp_of(state, thread_slot)
        release_complete(state, warp_slot, warp, True)
        thread_slot = first_waiting(state, first_slot)


release_all = compile_with_callers(_release_all)

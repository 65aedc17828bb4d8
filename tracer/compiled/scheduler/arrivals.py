"""A log of the arrivals at barriers, warp operations and fences, for the driver."""

from __future__ import annotations

from typing import Any

from ...model.trace import BLOCK_SCOPE, FENCE, FENCE_BLOCK, GRID_SCOPE
from ..compile_cached import compile_with_callers
from ..memory_words import peek, poke
from ..state import (
    MAX_ARRIVALS,
    ROW_BYTES,
    ArrivalWord,
    BlockSlot,
    DriverCall,
    StopReason,
    ThreadSlot,
    Word,
)
from .blocks import block_slot_at
from .switching import call_driver_or_stop
from .warps import reach_of, role_of

_ARRIVAL_BYTES = 8 * len(ArrivalWord)


def _count_accesses(state: int) -> Any:
    rows = (peek(state, Word.ROW) - peek(state, Word.BEGIN)) // ROW_BYTES
    return peek(state, Word.BASE) + rows


count_accesses = compile_with_callers(_count_accesses)


def _record_arrival(state: int, thread_slot: int, reason: int) -> None:
    """Log that the current thread has arrived at a barrier, warp operation or fence."""
    poke(thread_slot, ThreadSlot.SITE, peek(state, Word.SITE))
    if peek(state, Word.ARRIVALS) == 0:
        return
    if peek(state, Word.ARRIVED) == MAX_ARRIVALS:
        call_driver_or_stop(state, DriverCall.ARRIVALS)
    block_slot = block_slot_at(state, peek(thread_slot, ThreadSlot.BLOCK_SLOT))
    arrival = peek(state, Word.ARRIVALS) + _ARRIVAL_BYTES * peek(state, Word.ARRIVED)
    poke(state, Word.ARRIVED, peek(state, Word.ARRIVED) + 1)
    poke(arrival, ArrivalWord.BLOCK, peek(block_slot, BlockSlot.BLOCK))
    poke(arrival, ArrivalWord.THREAD, peek(thread_slot, ThreadSlot.THREAD))
    poke(arrival, ArrivalWord.PHASE, peek(block_slot, BlockSlot.PHASE))
    poke(arrival, ArrivalWord.SITE, peek(thread_slot, ThreadSlot.SITE))
    poke(arrival, ArrivalWord.STEP, count_accesses(state))
    poke(arrival, ArrivalWord.REACH, BLOCK_SCOPE)
    poke(arrival, ArrivalWord.PART, 0)
    poke(arrival, ArrivalWord.OF_WARP, 0)
    if reason == StopReason.GRID:
        poke(arrival, ArrivalWord.REACH, GRID_SCOPE)
    elif reason == StopReason.FENCE:
        poke(arrival, ArrivalWord.REACH, FENCE_BLOCK if peek(thread_slot, ThreadSlot.EXTRA) else FENCE)
        poke(arrival, ArrivalWord.OF_WARP, 1)
    elif reason >= StopReason.SYNCWARP:
        poke(arrival, ArrivalWord.REACH, reach_of(thread_slot))
        poke(arrival, ArrivalWord.PART, role_of(thread_slot))
        poke(arrival, ArrivalWord.OF_WARP, 1)


record_arrival = compile_with_callers(_record_arrival)

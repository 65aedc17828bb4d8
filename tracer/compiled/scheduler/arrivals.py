"""A log of the arrivals at barriers, warp operations and fences, for the driver."""

from __future__ import annotations

from typing import Any

from ...model.trace import BLOCK_SCOPE, FENCE, FENCE_BLOCK, GRID_SCOPE
from ..cached import part
from ..state import (
    MAX_ARRIVALS,
    ROW_BYTES,
    ArrivalWord,
    DriverCall,
    PlaceWord,
    SeatWord,
    StopReason,
    Word,
)
from ..words import peek, poke
from .blocks import seat_of
from .switching import ask_or_stop
from .warps import part_of, reach_of

_ARRIVAL_BYTES = 8 * len(ArrivalWord)


def _count_accesses(state: Any) -> Any:
    rows = (peek(state, Word.ROW) - peek(state, Word.BEGIN)) // ROW_BYTES
    return peek(state, Word.BASE) + rows


count_accesses = part(_count_accesses)


def _record_arrival(state: Any, thread_slot: Any, reason: Any) -> None:
    """Log that the current thread has arrived at a barrier, warp operation or fence."""
    poke(thread_slot, PlaceWord.SITE, peek(state, Word.SITE))
    if peek(state, Word.ARRIVALS) == 0:
        return
    if peek(state, Word.ARRIVED) == MAX_ARRIVALS:
        ask_or_stop(state, DriverCall.ARRIVALS)
    block_slot = seat_of(state, peek(thread_slot, PlaceWord.SEAT))
    arrival = peek(state, Word.ARRIVALS) + _ARRIVAL_BYTES * peek(state, Word.ARRIVED)
    poke(state, Word.ARRIVED, peek(state, Word.ARRIVED) + 1)
    poke(arrival, ArrivalWord.BLOCK, peek(block_slot, SeatWord.BLOCK))
    poke(arrival, ArrivalWord.THREAD, peek(thread_slot, PlaceWord.THREAD))
    poke(arrival, ArrivalWord.PHASE, peek(block_slot, SeatWord.PHASE))
    poke(arrival, ArrivalWord.SITE, peek(thread_slot, PlaceWord.SITE))
    poke(arrival, ArrivalWord.STEP, count_accesses(state))
    poke(arrival, ArrivalWord.REACH, BLOCK_SCOPE)
    poke(arrival, ArrivalWord.PART, 0)
    poke(arrival, ArrivalWord.OF_WARP, 0)
    if reason == StopReason.GRID:
        poke(arrival, ArrivalWord.REACH, GRID_SCOPE)
    elif reason == StopReason.FENCE:
        poke(arrival, ArrivalWord.REACH, FENCE_BLOCK if peek(thread_slot, PlaceWord.EXTRA) else FENCE)
        poke(arrival, ArrivalWord.OF_WARP, 1)
    elif reason >= StopReason.SYNCWARP:
        poke(arrival, ArrivalWord.REACH, reach_of(thread_slot))
        poke(arrival, ArrivalWord.PART, part_of(thread_slot))
        poke(arrival, ArrivalWord.OF_WARP, 1)


arrived = part(_record_arrival)

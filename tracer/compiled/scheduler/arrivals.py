"""Who comes to which barrier, warp operation or fence, noted for the driver."""

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

_NOTE_BYTES = 8 * len(ArrivalWord)


def _accesses_made(state: Any) -> Any:
    rows = (peek(state, Word.ROW) - peek(state, Word.BEGIN)) // ROW_BYTES
    return peek(state, Word.BASE) + rows


accesses_made = part(_accesses_made)


def _arrived_of(state: Any, place: Any, reason: Any) -> None:
    """Note that the current thread, at this place, has come to a barrier, warp operation or fence, and where."""
    poke(place, PlaceWord.SITE, peek(state, Word.SITE))
    if peek(state, Word.ARRIVALS) == 0:
        return
    if peek(state, Word.ARRIVED) == MAX_ARRIVALS:
        ask_or_stop(state, DriverCall.ARRIVALS)
    seat = seat_of(state, peek(place, PlaceWord.SEAT))
    note = peek(state, Word.ARRIVALS) + _NOTE_BYTES * peek(state, Word.ARRIVED)
    poke(state, Word.ARRIVED, peek(state, Word.ARRIVED) + 1)
    poke(note, ArrivalWord.BLOCK, peek(seat, SeatWord.BLOCK))
    poke(note, ArrivalWord.THREAD, peek(place, PlaceWord.THREAD))
    poke(note, ArrivalWord.PHASE, peek(seat, SeatWord.PHASE))
    poke(note, ArrivalWord.SITE, peek(place, PlaceWord.SITE))
    poke(note, ArrivalWord.STEP, accesses_made(state))
    poke(note, ArrivalWord.REACH, BLOCK_SCOPE)
    poke(note, ArrivalWord.PART, 0)
    poke(note, ArrivalWord.OF_WARP, 0)
    if reason == StopReason.GRID:
        poke(note, ArrivalWord.REACH, GRID_SCOPE)
    elif reason == StopReason.FENCE:
        poke(note, ArrivalWord.REACH, FENCE_BLOCK if peek(place, PlaceWord.EXTRA) else FENCE)
        poke(note, ArrivalWord.OF_WARP, 1)
    elif reason >= StopReason.SYNCWARP:
        poke(note, ArrivalWord.REACH, reach_of(place))
        poke(note, ArrivalWord.PART, part_of(place))
        poke(note, ArrivalWord.OF_WARP, 1)


arrived = part(_arrived_of)

"""Who comes to which barrier, warp operation or fence, noted for the driver."""

from __future__ import annotations

from typing import Any

from ...model.trace import BLOCK_SCOPE, FENCE, FENCE_BLOCK, GRID_SCOPE
from ..cached import cached
from ..state import ARRIVAL_WORDS, MAX_ARRIVALS, ROW, DriverCall, PlaceWord, StopReason, Word
from ..words import peek, poke
from .switching import ask_or_stop
from .warps import part_of, reach_of

_ROW_BYTES = ROW.itemsize


def _accesses_made(state: Any) -> Any:
    rows = (peek(state, Word.ROW) - peek(state, Word.BEGIN)) // _ROW_BYTES
    return peek(state, Word.BASE) + rows


accesses_made = cached(_accesses_made)


def _arrived_of(state: Any, place: Any, reason: Any) -> None:
    """Note that the current thread, at this place, has come to a barrier, warp operation or fence, and where."""
    if peek(state, Word.ARRIVED) == MAX_ARRIVALS:
        ask_or_stop(state, DriverCall.ARRIVALS)
    poke(place, PlaceWord.SITE, peek(state, Word.SITE))
    poke(place, PlaceWord.STEP, accesses_made(state))
    note = peek(state, Word.ARRIVALS) + 8 * ARRIVAL_WORDS * peek(state, Word.ARRIVED)
    poke(state, Word.ARRIVED, peek(state, Word.ARRIVED) + 1)
    poke(note, 0, peek(state, Word.CONTEXT))
    poke(note, 1, peek(place, PlaceWord.SITE))
    poke(note, 2, peek(place, PlaceWord.STEP))
    poke(note, 3, BLOCK_SCOPE)
    poke(note, 4, 0)
    poke(note, 5, 0)
    if reason == StopReason.GRID:
        poke(note, 3, GRID_SCOPE)
    elif reason == StopReason.FENCE:
        poke(note, 3, FENCE_BLOCK if peek(place, PlaceWord.EXTRA) else FENCE)
        poke(note, 5, 1)
    elif reason >= StopReason.SYNCWARP:
        poke(note, 3, reach_of(place))
        poke(note, 4, part_of(place))
        poke(note, 5, 1)


arrived = cached(_arrived_of)

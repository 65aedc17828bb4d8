"""Results of the votes at a block's barriers."""

from __future__ import annotations

from typing import Any

from ..cached import part
from ..state import PlaceWord, SeatWord, StopReason, WarpWord, Word
from ..words import peek, poke
from .blocks import is_in, place_of


def _waits_for_vote(state: Any, thread_slot: Any) -> Any:
    """Check if a thread waits at a barrier that counts votes."""
    reason = peek(thread_slot, PlaceWord.REASON)
    return (
        is_in(state, thread_slot, WarpWord.AT_BARRIER)
        and reason >= StopReason.COUNT
        and reason <= StopReason.OR
    )


waits_for_vote = part(_waits_for_vote)


def _give_votes(state: Any, first: Any) -> None:
    """Give the threads of a block the result of their vote; a thread at a barrier without a vote votes no."""
    yes, waiting, threads = 0, 0, peek(state, Word.THREADS)
    for thread in range(threads):
        thread_slot = place_of(state, first + thread)
        waiting += is_in(state, thread_slot, WarpWord.AT_BARRIER)
        yes += waits_for_vote(state, thread_slot) and peek(thread_slot, PlaceWord.OUT) != 0
    for thread in range(threads):
        thread_slot = place_of(state, first + thread)
        if waits_for_vote(state, thread_slot):
            reason = peek(thread_slot, PlaceWord.REASON)
            result = (
                yes
                if reason == StopReason.COUNT
                else (yes == waiting if reason == StopReason.AND else yes > 0)
            )
            poke(thread_slot, PlaceWord.IN, result)


give_votes = part(_give_votes)


def _vote(state: Any, block_slot: Any) -> None:
    """Count the votes of a block whose running threads all wait at barriers, if some of them vote."""
    if peek(block_slot, SeatWord.VOTES):
        poke(block_slot, SeatWord.VOTES, 0)
        give_votes(state, peek(block_slot, SeatWord.FIRST))


vote = part(_vote)

"""What the votes of a block's barriers come to."""

from __future__ import annotations

from typing import Any

from ..cached import part
from ..state import PlaceWord, SeatWord, StopReason, WarpWord, Word
from ..words import peek, poke
from .blocks import is_in, place_of


def _votes_at(state: Any, place: Any) -> Any:
    """Return whether a thread waits at a barrier that counts votes."""
    reason = peek(place, PlaceWord.REASON)
    return is_in(state, place, WarpWord.AT_BARRIER) and reason >= StopReason.COUNT and reason <= StopReason.OR


votes_at = part(_votes_at)


def _give_votes(state: Any, first: Any) -> None:
    """Give the threads of a block what their vote comes to; a barrier without a vote votes no."""
    yes, waiting, threads = 0, 0, peek(state, Word.THREADS)
    for thread in range(threads):
        place = place_of(state, first + thread)
        waiting += is_in(state, place, WarpWord.AT_BARRIER)
        yes += votes_at(state, place) and peek(place, PlaceWord.OUT) != 0
    for thread in range(threads):
        place = place_of(state, first + thread)
        if votes_at(state, place):
            reason = peek(place, PlaceWord.REASON)
            found = (
                yes
                if reason == StopReason.COUNT
                else (yes == waiting if reason == StopReason.AND else yes > 0)
            )
            poke(place, PlaceWord.IN, found)


give_votes = part(_give_votes)


def _vote_of(state: Any, seat: Any) -> None:
    """Count the votes of a block whose running threads all wait at barriers, where some of these vote."""
    if peek(seat, SeatWord.VOTES):
        poke(seat, SeatWord.VOTES, 0)
        give_votes(state, peek(seat, SeatWord.FIRST))


vote = part(_vote_of)

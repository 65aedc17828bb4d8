"""Results of the votes at a block's barriers."""

from __future__ import annotations

from ..compile_cached import compile_with_callers
from ..memory_words import peek, poke
from ..state import BlockSlot, StopReason, ThreadSlot, WarpWord, Word
from .blocks import is_in, thread_slot_at


def _waits_for_vote(state: int, thread_slot: int) -> bool:
    """Check if a thread waits at a barrier that counts votes."""
    reason = peek(thread_slot, ThreadSlot.REASON)
    return (
        is_in(state, thread_slot, WarpWord.AT_BARRIER)
        and reason >= StopReason.COUNT
        and reason <= StopReason.OR
    )


waits_for_vote = compile_with_callers(_waits_for_vote)


def _give_votes(state: int, first: int) -> None:
    """Give the threads of a block the result of their vote; a thread at a barrier without a vote votes no."""
    yes, waiting, threads = 0, 0, peek(state, Word.THREADS)
    for thread in range(threads):
        thread_slot = thread_slot_at(state, first + thread)
        waiting += is_in(state, thread_slot, WarpWord.AT_BARRIER)
        yes += waits_for_vote(state, thread_slot) and peek(thread_slot, ThreadSlot.OUT) != 0
    for thread in range(threads):
        thread_slot = thread_slot_at(state, first + thread)
        if waits_for_vote(state, thread_slot):
            reason = peek(thread_slot, ThreadSlot.REASON)
            result = (
                yes
                if reason == StopReason.COUNT
                else (yes == waiting if reason == StopReason.AND else yes > 0)
            )
            poke(thread_slot, ThreadSlot.IN, result)


give_votes = compile_with_callers(_give_votes)


def _vote(state: int, block_slot: int) -> None:
    """Count the votes of a block whose running threads all wait at barriers, if some of them vote."""
    if peek(block_slot, BlockSlot.VOTES):
        poke(block_slot, BlockSlot.VOTES, 0)
        give_votes(state, peek(block_slot, BlockSlot.FIRST_THREAD_SLOT))


vote = compile_with_callers(_vote)

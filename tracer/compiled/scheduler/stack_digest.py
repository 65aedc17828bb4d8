"""A digest of where the threads of a launch are: of their stacks, which say what each will do."""

from __future__ import annotations

from typing import Any

from ..cached import cached, part
from ..state import PlaceWord, SeatWord, WarpWord, Word
from ..words import peek
from .blocks import is_in, place_of, seat_of

_PRIME = 0x100000001B3  # of FNV-1a; see Glenn Fowler, Landon Curt Noll and Kiem-Phong Vo, "The FNV hash"


def _mixed(digest: Any, value: Any) -> Any:
    return (digest ^ value ^ (digest >> 29)) * _PRIME


mixed = part(_mixed)


def _of_stack(state: Any, place: Any, digest: Any) -> Any:
    """Add what a thread's stack holds, but for addresses of rows, which are left over from accesses."""
    begin, end = peek(state, Word.BEGIN), peek(state, Word.END)
    pointer = peek(place, PlaceWord.STACK_POINTER)
    for k in range((peek(place, PlaceWord.STACK) - pointer) // 8):
        value = peek(pointer, k)
        if value < begin or value > end:
            digest = mixed(digest, value)
    return digest


of_stack = part(_of_stack)


def _digest_of_stacks(state: Any) -> Any:
    """Return a digest of the threads that have not ended, and of whether each waits."""
    digest, threads = 0, peek(state, Word.THREADS)
    for i in range(peek(state, Word.LIVE_COUNT)):
        seat = seat_of(state, peek(peek(state, Word.LIVE), i))
        first = peek(seat, SeatWord.FIRST)
        for number in range(first, first + threads):
            place = place_of(state, number)
            runs, at_barrier = is_in(state, place, WarpWord.RUNS), is_in(state, place, WarpWord.AT_BARRIER)
            if runs or at_barrier or is_in(state, place, WarpWord.MEETS):
                waits = not runs and peek(seat, SeatWord.RELEASED) == 0
                digest = mixed(mixed(digest, number), 1 if waits else 0)
                if peek(place, PlaceWord.STACK):
                    digest = of_stack(state, place, digest)
    return digest


digest_of_stacks = cached(_digest_of_stacks)

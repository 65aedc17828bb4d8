"""Resident blocks and their threads: how they begin, go on, and end; for the scheduler."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.trace import WARP
from ..cached import part
from ..rows.intake import taken_in
from ..state import (
    PLACE_WORDS,
    SEAT_WORDS,
    WARP_WORDS,
    DriverCall,
    PlaceWord,
    SeatWord,
    StopReason,
    WarpWord,
    Word,
)
from ..words import peek, poke
from .stacks import COLOUR, machine
from .switching import ask, ask_or_stop, go_on, raise_noted

_PLACE_BYTES, _SEAT_BYTES, _WARP_BYTES, _WORD = 8 * PLACE_WORDS, 8 * SEAT_WORDS, 8 * WARP_WORDS, 8
_HERE = machine()
_WORDS, _BEGIN, _FUNCTION, _ARGUMENT = _HERE.words, _HERE.begin, _HERE.function, _HERE.argument
_HAS_BOUNDS, _BASE, _LIMIT = (1, *_HERE.bounds) if _HERE.bounds else (0, 0, 0)
_ROOM = COLOUR  # above a new stack's words, for what `start` hands over


def _place_of(state: Any, number: Any) -> Any:
    return peek(state, Word.PLACES) + number * _PLACE_BYTES


def _seat_of(state: Any, number: Any) -> Any:
    return peek(state, Word.SEATS) + number * _SEAT_BYTES


def _warp_at(state: Any, number: Any) -> Any:
    return peek(state, Word.WARPS) + number * _WARP_BYTES


place_of, seat_of, warp_at = part(_place_of), part(_seat_of), part(_warp_at)


def _lane_of(place: Any) -> Any:
    """Return the bit of a thread among those of its warp."""
    return 1 << peek(place, PlaceWord.THREAD) % WARP


lane_of = part(_lane_of)


def _is_in(state: Any, place: Any, word: Any) -> Any:
    """Return whether a thread is among those that a `WarpWord` names."""
    return peek(warp_at(state, peek(place, PlaceWord.WARP)), word) & lane_of(place) != 0


is_in = part(_is_in)


def _stop_running(state: Any, place: Any) -> Any:
    """Take a thread out of those that have turns; return the address of its warp's words."""
    warp = warp_at(state, peek(place, PlaceWord.WARP))
    poke(warp, WarpWord.RUNS, peek(warp, WarpWord.RUNS) & ~lane_of(place))
    return warp


stop_running = part(_stop_running)


def _put_in(state: Any, place: Any, word: Any) -> None:
    """Let a thread that runs be among those that wait, as a `WarpWord` says it."""
    warp = stop_running(state, place)
    poke(warp, word, peek(warp, word) | lane_of(place))


put_in = part(_put_in)


def _free_stack(state: Any, place: Any) -> None:
    """Give back the stack of a thread that has ended; the next one that begins takes it, still in the cache."""
    count = peek(state, Word.STACK_COUNT)
    poke(peek(state, Word.STACKS), count, peek(place, PlaceWord.STACK))
    poke(state, Word.STACK_COUNT, count + 1)
    poke(place, PlaceWord.STACK, 0)


free_stack = part(_free_stack)


def _take_stack(state: Any, place: Any) -> None:
    """Give a thread that begins a stack, on which it starts with `Word.MAIN`."""
    count = peek(state, Word.STACK_COUNT) - 1
    poke(state, Word.STACK_COUNT, count)
    end = peek(peek(state, Word.STACKS), count)
    pointer = end - _ROOM - _WORD * _WORDS
    poke(pointer, _BEGIN, peek(state, Word.START))
    poke(pointer, _FUNCTION, peek(state, Word.MAIN))
    poke(pointer, _ARGUMENT, state)
    if _HAS_BOUNDS:
        poke(pointer, _BASE, end)
        poke(pointer, _LIMIT, end - peek(state, Word.STACK_BYTES))
    poke(place, PlaceWord.STACK, end)
    poke(place, PlaceWord.STACK_POINTER, pointer)


take_stack = part(_take_stack)


def _enter(state: Any, number: Any) -> None:
    """Make a seat's block the current one."""
    seat = seat_of(state, number)
    poke(state, Word.SEAT, number)
    poke(state, Word.BX, peek(seat, SeatWord.BX))
    poke(state, Word.BY, peek(seat, SeatWord.BY))
    poke(state, Word.BZ, peek(seat, SeatWord.BZ))
    poke(state, Word.MEMORY, peek(seat, SeatWord.MEMORY))


enter = part(_enter)


def _serve(state: Any, event: Any) -> Any:
    """Do for a thread what it asks the driver for, or have that do it; return 1 where the launch is to stop."""
    if event == DriverCall.FULL and taken_in(state):
        return np.int64(0)
    return ask(state, event)


serve = part(_serve)


def _resume_of(state: Any, place: Any) -> Any:
    """Let a thread run until it stops; return the `StopReason`. Raises what it raises."""
    number = peek(place, PlaceWord.SEAT)
    if number != peek(state, Word.SEAT):
        enter(state, number)
    thread = peek(place, PlaceWord.THREAD)
    poke(state, Word.PLACE, place)
    poke(state, Word.THREAD, thread)
    poke(state, Word.TX, peek(place, PlaceWord.TX))
    poke(state, Word.TY, peek(place, PlaceWord.TY))
    poke(state, Word.TZ, peek(place, PlaceWord.TZ))
    poke(state, Word.CONTEXT, peek(seat_of(state, number), SeatWord.NUMBER) + thread)
    if peek(place, PlaceWord.STACK) == 0:
        take_stack(state, place)
    go_on(state)
    while peek(state, Word.STOPPED) == StopReason.CALL:
        poke(state, Word.ANSWER, serve(state, peek(state, Word.EVENT)))
        go_on(state)
    if peek(state, Word.STOPPED) == StopReason.RAISED:
        raise_noted(state)
    return peek(state, Word.STOPPED)


resume = part(_resume_of, inlined=True)


def _number_phase(state: Any, seat: Any) -> None:
    """Give a block's phase, which begins, a number for the contexts of its rows."""
    if peek(state, Word.NUMBERS) >= peek(state, Word.NUMBERS_ROOM):
        ask_or_stop(state, DriverCall.NUMBERS)
    number = peek(state, Word.NUMBERS)
    block, phase = peek(seat, SeatWord.BLOCK), peek(seat, SeatWord.PHASE)
    poke(peek(state, Word.BLOCKS), number, block)
    poke(peek(state, Word.PHASES), number, phase)
    poke(state, Word.NUMBERS, number + 1)
    poke(seat, SeatWord.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.BLOCK, block)
    poke(state, Word.PHASE, phase)


number_phase = part(_number_phase)


def _refresh(state: Any, memory: Any) -> None:
    """Give shared and local memory what a block finds in it."""
    fresh = peek(state, Word.FRESH)
    for i in range(peek(state, Word.DECLARATIONS)):
        source, target = peek(fresh, 2 * i), peek(memory, i)
        if source:
            for k in range(peek(fresh, 2 * i + 1) // _WORD):
                poke(target, k, peek(source, k))


refresh = part(_refresh)


def _free_seat(state: Any) -> Any:
    """Return the number of a seat that no block has."""
    number = 0
    while peek(seat_of(state, number), SeatWord.TAKEN):
        number += 1
    return number


free_seat = part(_free_seat)


def _first_warp(state: Any, seat: Any) -> Any:
    """Return the address of the words of the first warp of a seat's block."""
    return warp_at(state, seat * peek(state, Word.WARPS_OF_BLOCK))


first_warp = part(_first_warp)


def _lanes_of(threads: Any) -> Any:
    """Return a bit for each lane of a warp of so many threads, of which it takes what it can."""
    return (1 << min(threads, WARP)) - 1


lanes_of = part(_lanes_of)


def _start_block(state: Any, block: Any) -> Any:
    """Give a block a seat, and its threads their places; return the seat's number."""
    number, threads = free_seat(state), peek(state, Word.THREADS)
    seat = seat_of(state, number)
    width, height = peek(state, Word.GX), peek(state, Word.GY)
    poke(seat, SeatWord.TAKEN, 1)
    poke(seat, SeatWord.BLOCK, block)
    poke(seat, SeatWord.BX, block % width)
    poke(seat, SeatWord.BY, block // width % height)
    poke(seat, SeatWord.BZ, block // width // height)
    for word in (SeatWord.PHASE, SeatWord.WAITING, SeatWord.AT_GRID, SeatWord.RELEASED, SeatWord.VOTES):
        poke(seat, word, 0)
    poke(seat, SeatWord.RUNNING, threads)
    number_phase(state, seat)
    refresh(state, peek(seat, SeatWord.MEMORY))
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        poke(first_warp(state, number) + i * _WARP_BYTES, WarpWord.RUNS, lanes_of(threads - WARP * i))
    live = peek(state, Word.LIVE_COUNT)
    poke(peek(state, Word.LIVE), live, number)
    poke(state, Word.LIVE_COUNT, live + 1)
    poke(state, Word.SEAT, -1)
    return number


start_block = part(_start_block)


def _next_phase(state: Any, number: Any) -> None:
    """Let the threads of a block that wait at its barrier go on into the next phase."""
    seat = seat_of(state, number)
    poke(seat, SeatWord.RELEASED, 0)
    poke(seat, SeatWord.PHASE, peek(seat, SeatWord.PHASE) + 1)
    number_phase(state, seat)
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        warp = first_warp(state, number) + i * _WARP_BYTES
        poke(warp, WarpWord.RUNS, peek(warp, WarpWord.RUNS) | peek(warp, WarpWord.AT_BARRIER))
        poke(warp, WarpWord.AT_BARRIER, 0)


next_phase = part(_next_phase)


def _remove_ended(state: Any) -> None:
    """Take the blocks that have ended from those under way, and note them for the driver."""
    live, stay = peek(state, Word.LIVE), 0
    for i in range(peek(state, Word.LIVE_COUNT)):
        number = peek(live, i)
        seat = seat_of(state, number)
        if peek(seat, SeatWord.RUNNING):
            poke(live, stay, number)
            stay += 1
        else:
            poke(seat, SeatWord.TAKEN, 0)
            count = peek(state, Word.FINISHED_COUNT)
            poke(peek(state, Word.FINISHED), count, peek(seat, SeatWord.BLOCK))
            poke(state, Word.FINISHED_COUNT, count + 1)
    poke(state, Word.LIVE_COUNT, stay)


remove_ended = part(_remove_ended)

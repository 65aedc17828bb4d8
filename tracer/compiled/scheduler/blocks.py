"""Resident blocks and their threads: how the scheduler starts, resumes and ends them."""

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

_THREAD_SLOT_BYTES, _BLOCK_SLOT_BYTES, _WARP_BYTES, _WORD = 8 * PLACE_WORDS, 8 * SEAT_WORDS, 8 * WARP_WORDS, 8
_MACHINE = machine()
_WORDS, _BEGIN, _FUNCTION, _ARGUMENT = _MACHINE.words, _MACHINE.begin, _MACHINE.function, _MACHINE.argument
_HAS_BOUNDS, _BASE, _LIMIT = (1, *_MACHINE.bounds) if _MACHINE.bounds else (0, 0, 0)
_MARGIN = COLOUR  # above a new stack's words, for what `start` passes


def _thread_slot_at(state: Any, number: Any) -> Any:
    return peek(state, Word.PLACES) + number * _THREAD_SLOT_BYTES


def _block_slot_at(state: Any, number: Any) -> Any:
    return peek(state, Word.SEATS) + number * _BLOCK_SLOT_BYTES


def _warp_at(state: Any, number: Any) -> Any:
    return peek(state, Word.WARPS) + number * _WARP_BYTES


place_of, seat_of, warp_at = part(_thread_slot_at), part(_block_slot_at), part(_warp_at)


def _lane_of(thread_slot: Any) -> Any:
    """Return the bit of a thread among the lanes of its warp."""
    return 1 << peek(thread_slot, PlaceWord.THREAD) % WARP


lane_of = part(_lane_of)


def _is_in(state: Any, thread_slot: Any, word: Any) -> Any:
    """Check if a thread is in a set of its warp, a `WarpWord`."""
    return peek(warp_at(state, peek(thread_slot, PlaceWord.WARP)), word) & lane_of(thread_slot) != 0


is_in = part(_is_in)


def _stop_running(state: Any, thread_slot: Any) -> Any:
    """Take a thread out of the set of runnable threads; return the address of its warp's words."""
    warp = warp_at(state, peek(thread_slot, PlaceWord.WARP))
    poke(warp, WarpWord.RUNS, peek(warp, WarpWord.RUNS) & ~lane_of(thread_slot))
    return warp


stop_running = part(_stop_running)


def _put_in(state: Any, thread_slot: Any, word: Any) -> None:
    """Move a running thread to a set of waiting threads, a `WarpWord`."""
    warp = stop_running(state, thread_slot)
    poke(warp, word, peek(warp, word) | lane_of(thread_slot))


put_in = part(_put_in)


def _free_stack(state: Any, thread_slot: Any) -> None:
    """Return the stack of an ended thread to the pool; the next thread takes it while it is still in the cache."""
    count = peek(state, Word.STACK_COUNT)
    poke(peek(state, Word.STACKS), count, peek(thread_slot, PlaceWord.STACK))
    poke(state, Word.STACK_COUNT, count + 1)
    poke(thread_slot, PlaceWord.STACK, 0)


free_stack = part(_free_stack)


def _take_stack(state: Any, thread_slot: Any) -> None:
    """Give a starting thread a stack, on which it begins with `Word.MAIN`."""
    count = peek(state, Word.STACK_COUNT) - 1
    poke(state, Word.STACK_COUNT, count)
    end = peek(peek(state, Word.STACKS), count)
    pointer = end - _MARGIN - _WORD * _WORDS
    poke(pointer, _BEGIN, peek(state, Word.START))
    poke(pointer, _FUNCTION, peek(state, Word.MAIN))
    poke(pointer, _ARGUMENT, state)
    if _HAS_BOUNDS:
        poke(pointer, _BASE, end)
        poke(pointer, _LIMIT, end - peek(state, Word.STACK_BYTES))
    poke(thread_slot, PlaceWord.STACK, end)
    poke(thread_slot, PlaceWord.STACK_POINTER, pointer)


take_stack = part(_take_stack)


def _enter(state: Any, number: Any) -> None:
    """Make the block of a slot the current one."""
    block_slot = seat_of(state, number)
    poke(state, Word.SEAT, number)
    poke(state, Word.BX, peek(block_slot, SeatWord.BX))
    poke(state, Word.BY, peek(block_slot, SeatWord.BY))
    poke(state, Word.BZ, peek(block_slot, SeatWord.BZ))
    poke(state, Word.MEMORY, peek(block_slot, SeatWord.MEMORY))


enter = part(_enter)


def _serve(state: Any, event: Any) -> Any:
    """Serve a thread's call of the driver, here or by the driver; return 1 if the launch must stop."""
    if event == DriverCall.FULL and taken_in(state):
        return np.int64(0)
    return ask(state, event)


serve = part(_serve)


def _resume(state: Any, thread_slot: Any) -> Any:
    """Let a thread run until it stops; return the `StopReason`. Raises the thread's exception."""
    number = peek(thread_slot, PlaceWord.SEAT)
    if number != peek(state, Word.SEAT):
        enter(state, number)
    thread = peek(thread_slot, PlaceWord.THREAD)
    poke(state, Word.PLACE, thread_slot)
    poke(state, Word.THREAD, thread)
    poke(state, Word.TX, peek(thread_slot, PlaceWord.TX))
    poke(state, Word.TY, peek(thread_slot, PlaceWord.TY))
    poke(state, Word.TZ, peek(thread_slot, PlaceWord.TZ))
    poke(state, Word.CONTEXT, peek(seat_of(state, number), SeatWord.NUMBER) + thread)
    if peek(thread_slot, PlaceWord.STACK) == 0:
        take_stack(state, thread_slot)
    go_on(state)
    while peek(state, Word.STOPPED) == StopReason.CALL:
        poke(state, Word.ANSWER, serve(state, peek(state, Word.EVENT)))
        go_on(state)
    if peek(state, Word.STOPPED) == StopReason.RAISED:
        raise_noted(state)
    return peek(state, Word.STOPPED)


resume = part(_resume, inlined=True)


def _number_phase(state: Any, block_slot: Any) -> None:
    """Number the phase that a block begins, for the contexts of its rows."""
    if peek(state, Word.NUMBERS) >= peek(state, Word.NUMBERS_ROOM):
        ask_or_stop(state, DriverCall.NUMBERS)
    number = peek(state, Word.NUMBERS)
    block, phase = peek(block_slot, SeatWord.BLOCK), peek(block_slot, SeatWord.PHASE)
    poke(peek(state, Word.BLOCKS), number, block)
    poke(peek(state, Word.PHASES), number, phase)
    poke(state, Word.NUMBERS, number + 1)
    poke(block_slot, SeatWord.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.BLOCK, block)
    poke(state, Word.PHASE, phase)


number_phase = part(_number_phase)


def _refresh(state: Any, memory: Any) -> None:
    """Set shared and local memory to their contents at the start of a block."""
    contents = peek(state, Word.FRESH)
    for i in range(peek(state, Word.DECLARATIONS)):
        source, target = peek(contents, 2 * i), peek(memory, i)
        if source:
            for k in range(peek(contents, 2 * i + 1) // _WORD):
                poke(target, k, peek(source, k))


refresh = part(_refresh)


def _free_block_slot(state: Any) -> Any:
    """Find a free block slot; return its number."""
    number = 0
    while peek(seat_of(state, number), SeatWord.TAKEN):
        number += 1
    return number


free_block_slot = part(_free_block_slot)


def _first_warp(state: Any, number: Any) -> Any:
    """Return the address of the words of the first warp in a block slot."""
    return warp_at(state, number * peek(state, Word.WARPS_OF_BLOCK))


first_warp = part(_first_warp)


def _lanes_of(threads: Any) -> Any:
    """Return the bits of the lanes in a warp, if so many threads remain."""
    return (1 << min(threads, WARP)) - 1


lanes_of = part(_lanes_of)


def _start_block(state: Any, block: Any) -> Any:
    """Put a block into a slot, with its threads; return the slot's number."""
    number, threads = free_block_slot(state), peek(state, Word.THREADS)
    block_slot = seat_of(state, number)
    width, height = peek(state, Word.GX), peek(state, Word.GY)
    poke(block_slot, SeatWord.TAKEN, 1)
    poke(block_slot, SeatWord.BLOCK, block)
    poke(block_slot, SeatWord.BX, block % width)
    poke(block_slot, SeatWord.BY, block // width % height)
    poke(block_slot, SeatWord.BZ, block // width // height)
    for word in (SeatWord.PHASE, SeatWord.WAITING, SeatWord.AT_GRID, SeatWord.RELEASED, SeatWord.VOTES):
        poke(block_slot, word, 0)
    poke(block_slot, SeatWord.RUNNING, threads)
    number_phase(state, block_slot)
    refresh(state, peek(block_slot, SeatWord.MEMORY))
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        poke(first_warp(state, number) + i * _WARP_BYTES, WarpWord.RUNS, lanes_of(threads - WARP * i))
    live = peek(state, Word.LIVE_COUNT)
    poke(peek(state, Word.LIVE), live, number)
    poke(state, Word.LIVE_COUNT, live + 1)
    poke(state, Word.SEAT, -1)
    return number


start_block = part(_start_block)


def _next_phase(state: Any, number: Any) -> None:
    """Let the threads of a block that wait at its barrier enter the next phase."""
    block_slot = seat_of(state, number)
    poke(block_slot, SeatWord.RELEASED, 0)
    poke(block_slot, SeatWord.PHASE, peek(block_slot, SeatWord.PHASE) + 1)
    number_phase(state, block_slot)
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        warp = first_warp(state, number) + i * _WARP_BYTES
        poke(warp, WarpWord.RUNS, peek(warp, WarpWord.RUNS) | peek(warp, WarpWord.AT_BARRIER))
        poke(warp, WarpWord.AT_BARRIER, 0)


next_phase = part(_next_phase)


def _remove_ended(state: Any) -> None:
    """Remove ended blocks from the live ones, and list them for the driver."""
    live, remaining = peek(state, Word.LIVE), 0
    for i in range(peek(state, Word.LIVE_COUNT)):
        number = peek(live, i)
        block_slot = seat_of(state, number)
        if peek(block_slot, SeatWord.RUNNING):
            poke(live, remaining, number)
            remaining += 1
        else:
            poke(block_slot, SeatWord.TAKEN, 0)
            count = peek(state, Word.FINISHED_COUNT)
            poke(peek(state, Word.FINISHED), count, peek(block_slot, SeatWord.BLOCK))
            poke(state, Word.FINISHED_COUNT, count + 1)
    poke(state, Word.LIVE_COUNT, remaining)


remove_ended = part(_remove_ended)

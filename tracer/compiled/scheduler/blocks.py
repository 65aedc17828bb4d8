"""Resident blocks and their threads: how the scheduler starts, resumes and ends them."""

from __future__ import annotations

import numpy as np

from ...model.trace import WARP
from ..compile_cached import compile_with_callers
from ..memory_words import peek, poke
from ..rows.intake import take_in_rows
from ..state import (
    BLOCK_SLOT_WORDS,
    THREAD_SLOT_WORDS,
    WARP_WORDS,
    BlockSlot,
    DriverCall,
    Number,
    StopReason,
    ThreadSlot,
    WarpWord,
    Word,
)
from .stacks import STACK_STAGGER, machine
from .switching import call_driver_now, call_driver_or_stop, raise_stored, resume_thread

_THREAD_SLOT_BYTES, _BLOCK_SLOT_BYTES, _WARP_BYTES, _WORD = (
    8 * THREAD_SLOT_WORDS,
    8 * BLOCK_SLOT_WORDS,
    8 * WARP_WORDS,
    8,
)
_MACHINE = machine()
_WORDS, _BEGIN, _FUNCTION, _ARGUMENT = _MACHINE.words, _MACHINE.begin, _MACHINE.function, _MACHINE.argument
_HAS_BOUNDS, _BASE, _LIMIT = (1, *_MACHINE.bounds) if _MACHINE.bounds else (0, 0, 0)
_MARGIN = STACK_STAGGER  # above a new stack's words, for what `start` passes


def _thread_slot_at(state: int, number: int) -> int:
    return peek(state, Word.THREAD_SLOTS) + number * _THREAD_SLOT_BYTES


def _block_slot_at(state: int, number: int) -> int:
    return peek(state, Word.BLOCK_SLOTS) + number * _BLOCK_SLOT_BYTES


def _warp_at(state: int, number: int) -> int:
    return peek(state, Word.WARPS) + number * _WARP_BYTES


thread_slot_at, block_slot_at, warp_at = (
    compile_with_callers(_thread_slot_at),
    compile_with_callers(_block_slot_at),
    compile_with_callers(_warp_at),
)


def _lane_of(thread_slot: int) -> int:
    """Return the bit of a thread among the lanes of its warp."""
    return 1 << peek(thread_slot, ThreadSlot.THREAD) % WARP


lane_of = compile_with_callers(_lane_of)


def _is_in(state: int, thread_slot: int, word: int) -> bool:
    """Check if a thread is in a set of its warp, a `WarpWord`."""
    return peek(warp_at(state, peek(thread_slot, ThreadSlot.WARP)), word) & lane_of(thread_slot) != 0


is_in = compile_with_callers(_is_in)


def _stop_running(state: int, thread_slot: int) -> int:
    """Take a thread out of the set of runnable threads; return the address of its warp's words."""
    warp = warp_at(state, peek(thread_slot, ThreadSlot.WARP))
    poke(warp, WarpWord.RUNNABLE, peek(warp, WarpWord.RUNNABLE) & ~lane_of(thread_slot))
    return warp


stop_running = compile_with_callers(_stop_running)


def _put_in(state: int, thread_slot: int, word: int) -> None:
    """Move a running thread to a set of waiting threads, a `WarpWord`."""
    warp = stop_running(state, thread_slot)
    poke(warp, word, peek(warp, word) | lane_of(thread_slot))


move_to_waiting = compile_with_callers(_put_in)


def _free_stack(state: int, thread_slot: int) -> None:
    """Return the stack of an ended thread to the pool; the next thread takes it while it is still in the cache."""
    count = peek(state, Word.STACK_COUNT)
    poke(peek(state, Word.STACKS), count, peek(thread_slot, ThreadSlot.STACK))
    poke(state, Word.STACK_COUNT, count + 1)
    poke(thread_slot, ThreadSlot.STACK, 0)


free_stack = compile_with_callers(_free_stack)


def _take_stack(state: int, thread_slot: int) -> None:
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
    poke(thread_slot, ThreadSlot.STACK, end)
    poke(thread_slot, ThreadSlot.STACK_POINTER, pointer)


take_stack = compile_with_callers(_take_stack)


def _enter(state: int, number: int) -> None:
    """Make the block of a slot the current one."""
    block_slot = block_slot_at(state, number)
    poke(state, Word.BLOCK_SLOT, number)
    poke(state, Word.BX, peek(block_slot, BlockSlot.BX))
    poke(state, Word.BY, peek(block_slot, BlockSlot.BY))
    poke(state, Word.BZ, peek(block_slot, BlockSlot.BZ))
    poke(state, Word.MEMORY, peek(block_slot, BlockSlot.MEMORY))


enter = compile_with_callers(_enter)


def _serve(state: int, event: int) -> Number:
    """Serve a thread's call of the driver, here or by the driver; return 1 if the launch must stop."""
    if event == DriverCall.FULL and take_in_rows(state):
        return np.int64(0)
    return int(call_driver_now(state, event))


serve = compile_with_callers(_serve)


def _resume(state: int, thread_slot: int) -> int:
    """Let a thread run until it stops; return the `StopReason`. Raises the thread's exception."""
    number = peek(thread_slot, ThreadSlot.BLOCK_SLOT)
    if number != peek(state, Word.BLOCK_SLOT):
        enter(state, number)
    thread = peek(thread_slot, ThreadSlot.THREAD)
    poke(state, Word.THREAD_SLOT, thread_slot)
    poke(state, Word.THREAD, thread)
    poke(state, Word.TX, peek(thread_slot, ThreadSlot.TX))
    poke(state, Word.TY, peek(thread_slot, ThreadSlot.TY))
    poke(state, Word.TZ, peek(thread_slot, ThreadSlot.TZ))
    poke(state, Word.CONTEXT, peek(block_slot_at(state, number), BlockSlot.NUMBER) + thread)
    if peek(thread_slot, ThreadSlot.STACK) == 0:
        take_stack(state, thread_slot)
    resume_thread(state)
    while peek(state, Word.STOPPED) == StopReason.CALL:
        poke(state, Word.ANSWER, serve(state, peek(state, Word.EVENT)))
        resume_thread(state)
    if peek(state, Word.STOPPED) == StopReason.RAISED:
        raise_stored(state)
    return peek(state, Word.STOPPED)


resume = compile_with_callers(_resume, inlined=True)


def _number_phase(state: int, block_slot: int) -> None:
    """Number the phase that a block begins, for the contexts of its rows."""
    if peek(state, Word.NUMBERS) >= peek(state, Word.NUMBERS_ROOM):
        call_driver_or_stop(state, DriverCall.NUMBERS)
    number = peek(state, Word.NUMBERS)
    block, phase = peek(block_slot, BlockSlot.BLOCK), peek(block_slot, BlockSlot.PHASE)
    poke(peek(state, Word.BLOCKS), number, block)
    poke(peek(state, Word.PHASES), number, phase)
    poke(state, Word.NUMBERS, number + 1)
    poke(block_slot, BlockSlot.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.NUMBER, number * peek(state, Word.THREADS))
    poke(state, Word.BLOCK, block)
    poke(state, Word.PHASE, phase)


number_phase = compile_with_callers(_number_phase)


def _refresh(state: int, memory: int) -> None:
    """Set shared and local memory to their contents at the start of a block."""
    contents = peek(state, Word.INITIAL_CONTENTS)
    for i in range(peek(state, Word.DECLARATIONS)):
        source, target = peek(contents, 2 * i), peek(memory, i)
        if source:
            for k in range(peek(contents, 2 * i + 1) // _WORD):
                poke(target, k, peek(source, k))


refresh = compile_with_callers(_refresh)


def _free_block_slot(state: int) -> int:
    """Find a free block slot; return its number."""
    number = 0
    while peek(block_slot_at(state, number), BlockSlot.IS_USED):
        number += 1
    return number


free_block_slot = compile_with_callers(_free_block_slot)


def _first_warp(state: int, number: int) -> int:
    """Return the address of the words of the first warp in a block slot."""
    return warp_at(state, number * peek(state, Word.WARPS_OF_BLOCK))


first_warp = compile_with_callers(_first_warp)


def _lanes_of(threads: int) -> int:
    """Return the bits of the lanes in a warp, if so many threads remain."""
    return (1 << min(threads, WARP)) - 1


lanes_of = compile_with_callers(_lanes_of)


def _start_block(state: int, block: int) -> int:
    """Put a block into a slot, with its threads; return the slot's number."""
    number, threads = free_block_slot(state), peek(state, Word.THREADS)
    block_slot = block_slot_at(state, number)
    width, height = peek(state, Word.GX), peek(state, Word.GY)
    poke(block_slot, BlockSlot.IS_USED, 1)
    poke(block_slot, BlockSlot.BLOCK, block)
    poke(block_slot, BlockSlot.BX, block % width)
    poke(block_slot, BlockSlot.BY, block // width % height)
    poke(block_slot, BlockSlot.BZ, block // width // height)
    for word in (BlockSlot.PHASE, BlockSlot.WAITING, BlockSlot.AT_GRID, BlockSlot.RELEASED, BlockSlot.VOTES):
        poke(block_slot, word, 0)
    poke(block_slot, BlockSlot.RUNNING, threads)
    number_phase(state, block_slot)
    refresh(state, peek(block_slot, BlockSlot.MEMORY))
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        poke(first_warp(state, number) + i * _WARP_BYTES, WarpWord.RUNNABLE, lanes_of(threads - WARP * i))
    live = peek(state, Word.LIVE_COUNT)
    poke(peek(state, Word.LIVE), live, number)
    poke(state, Word.LIVE_COUNT, live + 1)
    poke(state, Word.BLOCK_SLOT, -1)
    return number


start_block = compile_with_callers(_start_block)


def _next_phase(state: int, number: int) -> None:
    """Let the threads of a block that wait at its barrier enter the next phase."""
    block_slot = block_slot_at(state, number)
    poke(block_slot, BlockSlot.RELEASED, 0)
    poke(block_slot, BlockSlot.PHASE, peek(block_slot, BlockSlot.PHASE) + 1)
    number_phase(state, block_slot)
    for i in range(peek(state, Word.WARPS_OF_BLOCK)):
        warp = first_warp(state, number) + i * _WARP_BYTES
        poke(warp, WarpWord.RUNNABLE, peek(warp, WarpWord.RUNNABLE) | peek(warp, WarpWord.AT_BARRIER))
        poke(warp, WarpWord.AT_BARRIER, 0)


next_phase = compile_with_callers(_next_phase)


def _remove_ended(state: int) -> None:
    """Remove ended blocks from the live ones, and list them for the driver."""
    live, remaining = peek(state, Word.LIVE), 0
    for i in range(peek(state, Word.LIVE_COUNT)):
        number = peek(live, i)
        block_slot = block_slot_at(state, number)
        if peek(block_slot, BlockSlot.RUNNING):
            poke(live, remaining, number)
            remaining += 1
        else:
            poke(block_slot, BlockSlot.IS_USED, 0)
            count = peek(state, Word.FINISHED_COUNT)
            poke(peek(state, Word.FINISHED), count, peek(block_slot, BlockSlot.BLOCK))
            poke(state, Word.FINISHED_COUNT, count + 1)
    poke(state, Word.LIVE_COUNT, remaining)


remove_ended = compile_with_callers(_remove_ended)

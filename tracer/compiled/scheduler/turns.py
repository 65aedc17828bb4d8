"""The scheduler: whose turn it is, compiled once for all kernels.

It runs the resident blocks of a launch by the rules of the simulator's (tracer/simulator/scheduler.py), so that the
same launch and schedule give the same order: sweep after sweep over the threads that can run, in each of which one has
a turn up to its next access (lockstep) or up to a barrier (sequential); or one chosen at random after the other.
"""

from __future__ import annotations

from typing import Any

from ...model.trace import WARP
from ...recording.repetition import TURNS_BETWEEN_LOOKS
from ..cached import cached, part
from ..state import WARP_WORDS, Order, Pause, PlaceWord, SeatWord, StopReason, WarpWord, Word
from ..words import lowest, peek, poke, prefetch
from .arrivals import arrived
from .blocks import (
    first_warp,
    free_stack,
    next_phase,
    place_of,
    put_in,
    remove_ended,
    resume,
    seat_of,
    start_block,
    stop_running,
)
from .random_numbers import below, bits_of, later_below
from .votes import vote
from .warps import converge, leave_warp, release_all

_WORD, _WARP_BYTES, _ALL = 8, 8 * WARP_WORDS, 0xFFFFFFFF
_WORDS_AHEAD, _STACKS_AHEAD, _LINES = 8, 4, 6  # threads, and lines of 64 bytes of each stack


def _release_of(state: Any, seat: Any) -> None:
    """Let the threads that wait at a block's barrier go on from the next sweep on; not from one of the grid."""
    if peek(seat, SeatWord.AT_GRID):
        return
    vote(state, seat)
    poke(seat, SeatWord.WAITING, 0)
    poke(seat, SeatWord.RELEASED, 1)
    poke(state, Word.CHANGED, 1)


release = part(_release_of)


def _end_thread(state: Any, place: Any, seat: Any) -> None:
    """Note that a thread has come to its end."""
    poke(seat, SeatWord.RUNNING, peek(seat, SeatWord.RUNNING) - 1)
    stop_running(state, place)
    poke(state, Word.NEWS, 1)
    free_stack(state, place)
    if peek(state, Word.IN_WARPS):
        leave_warp(state, place)
    running = peek(seat, SeatWord.RUNNING)
    if running == 0:
        poke(state, Word.ENDED, 1)
    elif peek(seat, SeatWord.WAITING) == running:
        release(state, seat)


end_thread = part(_end_thread, inlined=True)


def _come_to_barrier(state: Any, place: Any, seat: Any) -> None:
    """Let a thread wait for those of its block, or of the grid."""
    if peek(place, PlaceWord.REASON) == StopReason.GRID:
        poke(seat, SeatWord.AT_GRID, 1)
        poke(state, Word.GRID, 1)
    elif peek(place, PlaceWord.REASON) != StopReason.BARRIER:
        poke(seat, SeatWord.VOTES, 1)
    poke(seat, SeatWord.WAITING, peek(seat, SeatWord.WAITING) + 1)
    put_in(state, place, WarpWord.AT_BARRIER)
    if peek(state, Word.IN_WARPS):
        leave_warp(state, place)
    if peek(seat, SeatWord.WAITING) == peek(seat, SeatWord.RUNNING):
        release(state, seat)


come_to_barrier = part(_come_to_barrier, inlined=True)


def _wait_of(state: Any, place: Any, reason: Any) -> None:
    """Take in a thread that has no more turns, since it has ended or waits."""
    poke(place, PlaceWord.REASON, reason)
    seat = seat_of(state, peek(place, PlaceWord.SEAT))
    if reason == StopReason.DONE:
        end_thread(state, place, seat)
        return
    arrived(state, place, reason)
    if reason <= StopReason.GRID:
        come_to_barrier(state, place, seat)
    else:
        converge(state, place)


wait = part(_wait_of, inlined=True)


def _turn_of(state: Any, place: Any) -> Any:
    """Give the thread at a place a turn; return whether it is to have others in this phase."""
    reason = resume(state, place)
    while reason == StopReason.FENCE:
        arrived(state, place, reason)
        reason = resume(state, place)
    if reason == StopReason.ACCESS:
        return True
    wait(state, place, reason)
    return False


# Processors guess where a function returns to by the calls before, and to switch to another stack is a call that never
# returns. So nothing returns on the way from one switch to the next.
turn = part(_turn_of, inlined=True)


def _begin_block_of(state: Any, block: Any) -> None:
    """Begin a block; where threads take turns, each runs up to its first access."""
    seat = start_block(state, block)
    poke(state, Word.CHANGED, 1)
    poke(state, Word.NEWS, 1)
    if peek(state, Word.TURNS):
        threads = peek(state, Word.THREADS)
        for number in range(seat * threads, (seat + 1) * threads):
            turn(state, place_of(state, number))


begin_block = part(_begin_block_of)


def _waits_for_grid(seat: Any) -> Any:
    """Return whether all running threads of a block wait, and some for the whole grid."""
    running = peek(seat, SeatWord.RUNNING)
    return peek(seat, SeatWord.AT_GRID) == 1 and running > 0 and peek(seat, SeatWord.WAITING) == running


waits_for_grid = part(_waits_for_grid)


def _live_seat(state: Any, i: Any) -> Any:
    """Return the address of the seat of the i-th of the blocks under way."""
    return seat_of(state, peek(peek(state, Word.LIVE), i))


live_seat = part(_live_seat)


def _waiting_for_grid(state: Any) -> Any:
    """Return how many blocks wait for the grid."""
    count = 0
    if peek(state, Word.GRID):
        for i in range(peek(state, Word.LIVE_COUNT)):
            count += waits_for_grid(live_seat(state, i))
    return count


waiting_for_grid = part(_waiting_for_grid)


def _begin_blocks_of(state: Any) -> Any:
    """Begin blocks while there are slots; who waits for the grid makes room. Returns whether seats are missing."""
    while peek(state, Word.BEGUN) < peek(state, Word.CHOSEN_COUNT):
        live = peek(state, Word.LIVE_COUNT)
        if live - waiting_for_grid(state) >= peek(state, Word.SLOTS):
            return False
        if live == peek(state, Word.CAPACITY):
            return True
        begun = peek(state, Word.BEGUN)
        poke(state, Word.BEGUN, begun + 1)
        begin_block(state, peek(peek(state, Word.CHOSEN), begun))
    return False


begin_blocks = part(_begin_blocks_of)


def _list_warp(state: Any, warp: Any, number: Any) -> None:
    """Add the threads of a warp that can run to those that have turns; `number` is the place of its first."""
    count, runs = peek(state, Word.RUNNABLE_COUNT), peek(warp, WarpWord.RUNS)
    runnable = peek(state, Word.RUNNABLE) + _WORD * count
    if runs == _ALL:
        for lane in range(WARP):
            poke(runnable, lane, number + lane)
        poke(state, Word.RUNNABLE_COUNT, count + WARP)
        return
    while runs:
        poke(runnable, 0, number + lowest(runs))
        runs &= runs - 1
        runnable += _WORD
        count += 1
    poke(state, Word.RUNNABLE_COUNT, count)


list_warp = part(_list_warp)


def _admit_of(state: Any) -> None:
    """Gather the threads that can run, in the order of blocks and threads, released ones in their new phase."""
    poke(state, Word.RUNNABLE_COUNT, 0)
    threads = peek(state, Word.THREADS)
    for i in range(peek(state, Word.LIVE_COUNT)):
        number = peek(peek(state, Word.LIVE), i)
        if peek(seat_of(state, number), SeatWord.RELEASED):
            next_phase(state, number)
        for k in range(peek(state, Word.WARPS_OF_BLOCK)):
            list_warp(state, first_warp(state, number) + k * _WARP_BYTES, number * threads + k * WARP)
    poke(state, Word.CHANGED, 0)


admit = part(_admit_of)


def _fetch_stack(place: Any) -> None:
    """Fetch what a thread's stack holds where it goes on."""
    pointer = peek(place, PlaceWord.STACK_POINTER)
    for line in range(_LINES):
        prefetch(pointer + 64 * line)


fetch_stack = part(_fetch_stack)


def _fetch_ahead(state: Any, i: Any, count: Any) -> None:
    """Fetch the words and the stacks of threads that have their turns soon: there are too many for a cache."""
    runnable = peek(state, Word.RUNNABLE)
    if i + _WORDS_AHEAD < count:
        prefetch(place_of(state, peek(runnable, i + _WORDS_AHEAD)))
    if i + _STACKS_AHEAD < count:
        fetch_stack(place_of(state, peek(runnable, i + _STACKS_AHEAD)))


fetch_ahead = part(_fetch_ahead)


def _sweep_of(state: Any) -> None:
    """Give each thread that can run one turn; those that stop at an access stay among them."""
    runnable, stay = peek(state, Word.RUNNABLE), 0
    count = peek(state, Word.RUNNABLE_COUNT)
    for i in range(count):
        number = peek(runnable, i)
        fetch_ahead(state, i, count)
        if turn(state, place_of(state, number)):
            poke(runnable, stay, number)
            stay += 1
    poke(state, Word.RUNNABLE_COUNT, stay)


sweep = part(_sweep_of)


def _fetch_at_random(state: Any, count: Any, bits: Any) -> None:
    """Fetch the words and the stacks of threads that will have their turns soon, unless others can have turns then."""
    runnable = peek(state, Word.RUNNABLE)
    slot = later_below(state, count, bits, 2 * _WORDS_AHEAD)
    if slot >= 0:
        prefetch(place_of(state, peek(runnable, slot)))
    slot = later_below(state, count, bits, _STACKS_AHEAD)
    if slot >= 0:
        fetch_stack(place_of(state, peek(runnable, slot)))


fetch_at_random = part(_fetch_at_random)


def _random_turns_of(state: Any, most: Any) -> Any:
    """Give so many threads turns, chosen at random, or fewer, until one has no more; return how many."""
    count, made, stays = peek(state, Word.RUNNABLE_COUNT), 0, True
    runnable, bits, slot = peek(state, Word.RUNNABLE), bits_of(count), 0
    while stays and made < most:
        slot = below(state, count, bits)
        fetch_at_random(state, count, bits)
        stays = turn(state, place_of(state, peek(runnable, slot)))
        made += 1
    if not stays:
        # The last of those that have turns takes its slot.
        poke(runnable, slot, peek(runnable, count - 1))
        poke(state, Word.RUNNABLE_COUNT, count - 1)
    return made


random_turns = part(_random_turns_of)


def _between_looks(state: Any) -> Any:
    """Return how many turns, or sweeps, there are from one look whether threads wait for ever to the next."""
    each = peek(state, Word.RUNNABLE_COUNT) if peek(state, Word.SCHEDULE) == Order.RANDOM else 1
    return TURNS_BETWEEN_LOOKS * max(1, each)


between_looks = part(_between_looks)


def _turns_before_look(state: Any) -> Any:
    """Return how many turns come before the next look; one where threads began, ended or met, which puts it off."""
    if peek(state, Word.NEWS):
        return 1
    between = between_looks(state)
    return between - peek(state, Word.IDLE_TURNS) % between


turns_before_look = part(_turns_before_look)


def _turns_of(state: Any) -> Any:
    """Give threads turns until a block may have ended; return how many sweeps that were, or turns chosen at random."""
    if peek(state, Word.CHANGED):
        admit(state)
    if peek(state, Word.RUNNABLE_COUNT) == 0:
        threads = peek(state, Word.THREADS)
        for i in range(peek(state, Word.LIVE_COUNT)):
            release_all(state, place_of(state, peek(peek(state, Word.LIVE), i) * threads))
    elif peek(state, Word.SCHEDULE) == Order.RANDOM:
        return random_turns(state, turns_before_look(state))
    else:
        sweep(state)
        if peek(state, Word.SCHEDULE) == Order.SEQUENTIAL:
            poke(state, Word.CHANGED, 1)
    return 1


turns = part(_turns_of)


def _is_look_due(state: Any, made: Any) -> Any:
    """Return whether it is time to look whether threads wait for ever; to be called after so many turns or sweeps."""
    if peek(state, Word.NEWS):
        poke(state, Word.NEWS, 0)
        poke(state, Word.NEWS_COUNT, peek(state, Word.NEWS_COUNT) + 1)
        poke(state, Word.IDLE_TURNS, 0)
        return False
    idle = peek(state, Word.IDLE_TURNS) + made
    poke(state, Word.IDLE_TURNS, idle)
    return idle % between_looks(state) == 0


is_look_due = part(_is_look_due)


def _release_grid_of(state: Any) -> None:
    """Let all blocks go on that wait for each other, once all have come."""
    live = peek(state, Word.LIVE_COUNT)
    if peek(state, Word.GRID) == 0 or peek(state, Word.BEGUN) < peek(state, Word.CHOSEN_COUNT):
        return
    for i in range(live):
        seat = live_seat(state, i)
        if peek(seat, SeatWord.RUNNING) and not waits_for_grid(seat):
            return
    for i in range(live):
        seat = live_seat(state, i)
        if waits_for_grid(seat):
            poke(seat, SeatWord.AT_GRID, 0)
            release(state, seat)


release_grid = part(_release_grid_of)


def _run_of(state: Any) -> Any:
    """Run blocks until the driver is to have its turn; return why, as a `Pause`."""
    while True:
        if not peek(state, Word.AFTER_LOOK):
            if begin_blocks(state):
                return Pause.NO_SEAT
            if peek(state, Word.LIVE_COUNT) == 0:
                return Pause.OVER
            if is_look_due(state, turns(state)):
                poke(state, Word.AFTER_LOOK, 1)
                return Pause.LOOK
        poke(state, Word.AFTER_LOOK, 0)
        release_grid(state)
        if peek(state, Word.ENDED):
            poke(state, Word.ENDED, 0)
            remove_ended(state)
            if peek(state, Word.FINISHED_COUNT) >= peek(state, Word.PAUSE_AT):
                return Pause.BLOCK_ENDED


run = cached(_run_of)

"""The scheduler: it gives threads their turns, and is compiled once for all kernels.

It runs the resident blocks of a launch by the rules of the simulator's scheduler (tracer/simulator/scheduler.py), so
the same launch and schedule give the same order. In lockstep and sequential schedules it sweeps over the runnable
threads. In a sweep, each has one turn: up to its next access (lockstep) or up to a barrier (sequential). In a random
schedule, it chooses one thread at random for each turn.
"""

from __future__ import annotations

from ...model.trace import WARP
from ...recording.repetition import TURNS_BETWEEN_LOOKS
from ..compile_cached import compile_cached, compile_with_callers
from ..memory_words import lowest_bit, peek, poke, prefetch
from ..state import (
    SEGMENT_WORDS,
    WARP_WORDS,
    BlockSlot,
    Order,
    Pause,
    SegmentWord,
    StopReason,
    ThreadSlot,
    WarpWord,
    Word,
)
from .arrivals import count_accesses, record_arrival
from .blocks import (
    block_slot_at,
    first_warp,
    free_stack,
    move_to_waiting,
    next_phase,
    remove_ended,
    resume,
    start_block,
    stop_running,
    thread_slot_at,
)
from .random_numbers import count_bits, later_random_below, random_below
from .votes import vote
from .warps import converge, leave_warp, release_all

_WORD, _WARP_BYTES, _ALL = 8, 8 * WARP_WORDS, 0xFFFFFFFF
_SEGMENT_BYTES = 8 * SEGMENT_WORDS
_SLOTS_AHEAD, _STACKS_AHEAD, _LINES = 8, 4, 6  # number of threads ahead, and lines of 64 bytes of each stack


def _release(state: int, block_slot: int) -> None:
    """Let the threads at a block's barrier continue in the next sweep, unless it is a barrier of the grid."""
    if peek(block_slot, BlockSlot.AT_GRID):
        return
    vote(state, block_slot)
    poke(block_slot, BlockSlot.WAITING, 0)
    poke(block_slot, BlockSlot.RELEASED, 1)
    poke(state, Word.CHANGED, 1)


release = compile_with_callers(_release)


def _end_thread(state: int, thread_slot: int, block_slot: int) -> None:
    """Record that a thread has ended."""
    poke(block_slot, BlockSlot.RUNNING, peek(block_slot, BlockSlot.RUNNING) - 1)
    stop_running(state, thread_slot)
    poke(state, Word.NEWS, 1)
    free_stack(state, thread_slot)
    if peek(state, Word.IN_WARPS):
        leave_warp(state, thread_slot)
    running = peek(block_slot, BlockSlot.RUNNING)
    if running == 0:
        poke(state, Word.ENDED, 1)
    elif peek(block_slot, BlockSlot.WAITING) == running:
        release(state, block_slot)


end_thread = compile_with_callers(_end_thread, inlined=True)


def _come_to_barrier(state: int, thread_slot: int, block_slot: int) -> None:
    """Let a thread wait for the threads of its block, or of the grid."""
    if peek(thread_slot, ThreadSlot.REASON) == StopReason.GRID:
        poke(block_slot, BlockSlot.AT_GRID, 1)
        poke(state, Word.GRID, 1)
    elif peek(thread_slot, ThreadSlot.REASON) != StopReason.BARRIER:
        poke(block_slot, BlockSlot.VOTES, 1)
    poke(block_slot, BlockSlot.WAITING, peek(block_slot, BlockSlot.WAITING) + 1)
    move_to_waiting(state, thread_slot, WarpWord.AT_BARRIER)
    if peek(state, Word.IN_WARPS):
        leave_warp(state, thread_slot)
    if peek(block_slot, BlockSlot.WAITING) == peek(block_slot, BlockSlot.RUNNING):
        release(state, block_slot)


come_to_barrier = compile_with_callers(_come_to_barrier, inlined=True)


def _handle_wait(state: int, thread_slot: int, reason: int) -> None:
    """Handle a thread that has no more turns, since it has ended or waits."""
    poke(thread_slot, ThreadSlot.REASON, reason)
    block_slot = block_slot_at(state, peek(thread_slot, ThreadSlot.BLOCK_SLOT))
    if reason == StopReason.DONE:
        end_thread(state, thread_slot, block_slot)
        return
    record_arrival(state, thread_slot, reason)
    if reason <= StopReason.GRID:
        come_to_barrier(state, thread_slot, block_slot)
    else:
        converge(state, thread_slot)


handle_wait = compile_with_callers(_handle_wait, inlined=True)


def _run_turn(state: int, thread_slot: int) -> bool:
    """Give a thread a turn; return whether it has more turns in this phase."""
    reason = resume(state, thread_slot)
    while reason == StopReason.FENCE:
        record_arrival(state, thread_slot, reason)
        reason = resume(state, thread_slot)
    if reason == StopReason.ACCESS:
        return True
    handle_wait(state, thread_slot, reason)
    return False


# Processors predict return addresses from earlier calls, and a switch of stacks is a call that never returns.
# So nothing returns on the path from one switch to the next.
run_turn = compile_with_callers(_run_turn, inlined=True)


def _begin_block(state: int, block: int) -> None:
    """Begin a block; if threads take turns, each runs up to its first access."""
    slot_number = start_block(state, block)
    poke(state, Word.CHANGED, 1)
    poke(state, Word.NEWS, 1)
    if peek(state, Word.TURNS):
        threads = peek(state, Word.THREADS)
        for number in range(slot_number * threads, (slot_number + 1) * threads):
            thread_slot = thread_slot_at(state, number)
            if run_turn(state, thread_slot):
                poke(thread_slot, ThreadSlot.REASON, StopReason.ACCESS)


begin_block = compile_with_callers(_begin_block)


def _waits_for_grid(block_slot: int) -> bool:
    """Check if all running threads of a block wait, and some for the grid."""
    running = peek(block_slot, BlockSlot.RUNNING)
    return (
        peek(block_slot, BlockSlot.AT_GRID) == 1
        and running > 0
        and peek(block_slot, BlockSlot.WAITING) == running
    )


waits_for_grid = compile_with_callers(_waits_for_grid)


def _live_block_slot(state: int, i: int) -> int:
    """Return the address of the slot of the i-th live block."""
    return block_slot_at(state, peek(peek(state, Word.LIVE), i))


live_block_slot = compile_with_callers(_live_block_slot)


def _count_grid_waiters(state: int) -> int:
    """Count the blocks that wait for the grid."""
    count = 0
    if peek(state, Word.GRID):
        for i in range(peek(state, Word.LIVE_COUNT)):
            count += waits_for_grid(live_block_slot(state, i))
    return count


count_grid_waiters = compile_with_callers(_count_grid_waiters)


def _begin_blocks(state: int) -> bool:
    """Begin blocks while there are slots; blocks waiting for the grid free theirs. Return True if slots are missing."""
    while peek(state, Word.BEGUN) < peek(state, Word.CHOSEN_COUNT):
        live = peek(state, Word.LIVE_COUNT)
        if live - count_grid_waiters(state) >= peek(state, Word.SLOTS):
            return False
        if live == peek(state, Word.CAPACITY):
            return True
        begun = peek(state, Word.BEGUN)
        poke(state, Word.BEGUN, begun + 1)
        begin_block(state, peek(peek(state, Word.CHOSEN), begun))
    return False


begin_blocks = compile_with_callers(_begin_blocks)


def _list_warp(state: int, warp: int, number: int) -> None:
    """Append the runnable threads of a warp to the list; `number` is the slot of its first thread."""
    count, runs = peek(state, Word.RUNNABLE_COUNT), peek(warp, WarpWord.RUNNABLE)
    runnable = peek(state, Word.RUNNABLE) + _WORD * count
    if runs == _ALL:
        for lane in range(WARP):
            poke(runnable, lane, number + lane)
        poke(state, Word.RUNNABLE_COUNT, count + WARP)
        return
    while runs:
        poke(runnable, 0, number + lowest_bit(runs))
        runs &= runs - 1
        runnable += _WORD
        count += 1
    poke(state, Word.RUNNABLE_COUNT, count)


list_warp = compile_with_callers(_list_warp)


def _list_runnable(state: int) -> None:
    """List the runnable threads in the order of blocks and threads; move released blocks to their next phase."""
    poke(state, Word.RUNNABLE_COUNT, 0)
    threads = peek(state, Word.THREADS)
    for i in range(peek(state, Word.LIVE_COUNT)):
        number = peek(peek(state, Word.LIVE), i)
        if peek(block_slot_at(state, number), BlockSlot.RELEASED):
            next_phase(state, number)
        for k in range(peek(state, Word.WARPS_OF_BLOCK)):
            list_warp(state, first_warp(state, number) + k * _WARP_BYTES, number * threads + k * WARP)
    poke(state, Word.CHANGED, 0)


list_runnable = compile_with_callers(_list_runnable)


def _fetch_stack(thread_slot: int) -> None:
    """Prefetch the words of a thread's stack where it resumes."""
    pointer = peek(thread_slot, ThreadSlot.STACK_POINTER)
    for line in range(_LINES):
        prefetch(pointer + 64 * line)


fetch_stack = compile_with_callers(_fetch_stack)


def _fetch_ahead(state: int, i: int, count: int) -> None:
    """Prefetch the slots and stacks of the next threads in turn: they are too many for a cache."""
    runnable = peek(state, Word.RUNNABLE)
    if i + _SLOTS_AHEAD < count:
        prefetch(thread_slot_at(state, peek(runnable, i + _SLOTS_AHEAD)))
    if i + _STACKS_AHEAD < count:
        fetch_stack(thread_slot_at(state, peek(runnable, i + _STACKS_AHEAD)))


fetch_ahead = compile_with_callers(_fetch_ahead)


def _sweep(state: int) -> None:
    """Give each runnable thread one turn; those that stop at an access stay runnable."""
    runnable, remaining = peek(state, Word.RUNNABLE), 0
    count = peek(state, Word.RUNNABLE_COUNT)
    for i in range(count):
        number = peek(runnable, i)
        fetch_ahead(state, i, count)
        if run_turn(state, thread_slot_at(state, number)):
            poke(runnable, remaining, number)
            remaining += 1
    poke(state, Word.RUNNABLE_COUNT, remaining)


sweep = compile_with_callers(_sweep)


def _fetch_at_random(state: int, count: int, bits: int) -> None:
    """Prefetch the slots and stacks of threads that are next at random, unless the list of runnable threads changes."""
    runnable = peek(state, Word.RUNNABLE)
    choice = later_random_below(state, count, bits, 2 * _SLOTS_AHEAD)
    if choice >= 0:
        prefetch(thread_slot_at(state, peek(runnable, choice)))
    choice = later_random_below(state, count, bits, _STACKS_AHEAD)
    if choice >= 0:
        fetch_stack(thread_slot_at(state, peek(runnable, choice)))


fetch_at_random = compile_with_callers(_fetch_at_random)


def _random_turns(state: int, limit: int) -> int:
    """Give at most so many turns to random threads, until one has no more; return how many were given."""
    count, turn_count, has_more_turns = peek(state, Word.RUNNABLE_COUNT), 0, True
    runnable, bits, choice = peek(state, Word.RUNNABLE), count_bits(count), 0
    while has_more_turns and turn_count < limit:
        choice = random_below(state, count, bits)
        fetch_at_random(state, count, bits)
        has_more_turns = run_turn(state, thread_slot_at(state, peek(runnable, choice)))
        turn_count += 1
    if not has_more_turns:
        # The last runnable thread takes its place.
        poke(runnable, choice, peek(runnable, count - 1))
        poke(state, Word.RUNNABLE_COUNT, count - 1)
    return turn_count


random_turns = compile_with_callers(_random_turns)


def _is_in_segment(state: int, segment: int, thread_slot: int) -> bool:
    """Check if a thread belongs to a segment and has not passed the segment's last barrier."""
    block_slot = block_slot_at(state, peek(thread_slot, ThreadSlot.BLOCK_SLOT))
    block, thread = peek(segment, SegmentWord.BLOCK), peek(thread_slot, ThreadSlot.THREAD)
    first, count = peek(segment, SegmentWord.FIRST), peek(segment, SegmentWord.COUNT)
    barrier = peek(segment, SegmentWord.BARRIER)
    in_block = block < 0 or block == peek(block_slot, BlockSlot.BLOCK)
    is_named = count == 0 or (first <= thread and thread < first + count)
    return in_block and is_named and (barrier < 0 or peek(block_slot, BlockSlot.PHASE) < barrier)


is_in_segment = compile_with_callers(_is_in_segment)


def _segment_round(state: int, segment: int) -> int:
    """Give a turn to each runnable thread of a segment; return the number of turns."""
    runnable, remaining, turn_count = peek(state, Word.RUNNABLE), 0, 0
    for i in range(peek(state, Word.RUNNABLE_COUNT)):
        number = peek(runnable, i)
        thread_slot = thread_slot_at(state, number)
        stays = True
        if is_in_segment(state, segment, thread_slot):
            turn_count += 1
            stays = run_turn(state, thread_slot)
        if stays:
            poke(thread_slot, ThreadSlot.REASON, StopReason.ACCESS)
            poke(runnable, remaining, number)
            remaining += 1
    poke(state, Word.RUNNABLE_COUNT, remaining)
    return turn_count


def _run_resumed(state: int) -> int:
    """Run the threads that have waited to their next access; return their number."""
    runnable, remaining, turn_count = peek(state, Word.RUNNABLE), 0, 0
    for i in range(peek(state, Word.RUNNABLE_COUNT)):
        number = peek(runnable, i)
        thread_slot = thread_slot_at(state, number)
        stays = True
        if peek(thread_slot, ThreadSlot.REASON) != StopReason.ACCESS:
            turn_count += 1
            stays = run_turn(state, thread_slot)
        if stays:
            poke(thread_slot, ThreadSlot.REASON, StopReason.ACCESS)
            poke(runnable, remaining, number)
            remaining += 1
    poke(state, Word.RUNNABLE_COUNT, remaining)
    return turn_count


run_resumed = compile_with_callers(_run_resumed)
segment_round = compile_with_callers(_segment_round)


def _end_segment(state: int, segment: int) -> None:
    poke(segment, SegmentWord.END, count_accesses(state))
    poke(state, Word.SEGMENT, peek(state, Word.SEGMENT) + 1)


end_segment = compile_with_callers(_end_segment)


def _order_round(state: int) -> bool:
    """Run a round of the current segment of an explicit order; return False if its threads can't go on.

    The rules are those of `OrderRun` in tracer/recording/run_order.py.
    """
    if run_resumed(state):
        return True
    segment = peek(state, Word.SEGMENTS) + _SEGMENT_BYTES * peek(state, Word.SEGMENT)
    before, limit = count_accesses(state), peek(segment, SegmentWord.TURNS)
    turn_count = segment_round(state, segment)
    if count_accesses(state) > before:
        poke(segment, SegmentWord.ROUNDS, peek(segment, SegmentWord.ROUNDS) + 1)
    rounds = peek(segment, SegmentWord.ROUNDS)
    if limit > 0 and rounds >= limit:
        end_segment(state, segment)
    elif turn_count == 0:
        if limit > 0 or (rounds == 0 and peek(segment, SegmentWord.BARRIER) < 0):
            return False
        end_segment(state, segment)
    return True


order_round = compile_with_callers(_order_round)


def _between_looks(state: int) -> int:
    """Return the number of turns, or sweeps, between two checks for endless waits."""
    runnable_count = peek(state, Word.RUNNABLE_COUNT) if peek(state, Word.SCHEDULE) == Order.RANDOM else 1
    return TURNS_BETWEEN_LOOKS * max(1, runnable_count)


between_looks = compile_with_callers(_between_looks)


def _turns_before_look(state: int) -> int:
    """Return the number of turns before the next check; 1 if threads began, ended or met, which postpones it."""
    if peek(state, Word.NEWS):
        return 1
    interval = between_looks(state)
    return interval - peek(state, Word.IDLE_TURNS) % interval


turns_before_look = compile_with_callers(_turns_before_look)


def _run_turns(state: int) -> int:
    """Give threads turns until a block may have ended; return the number of sweeps, or of random turns.

    Returns -1 if an explicit order is impossible.
    """
    if peek(state, Word.CHANGED):
        list_runnable(state)
    if peek(state, Word.RUNNABLE_COUNT) == 0:
        threads = peek(state, Word.THREADS)
        for i in range(peek(state, Word.LIVE_COUNT)):
            release_all(state, thread_slot_at(state, peek(peek(state, Word.LIVE), i) * threads))
    elif peek(state, Word.SCHEDULE) == Order.RANDOM:
        return random_turns(state, turns_before_look(state))
    elif peek(state, Word.SEGMENT) < peek(state, Word.SEGMENT_COUNT):
        return 1 if order_round(state) else -1
    else:
        sweep(state)
        if peek(state, Word.SCHEDULE) == Order.SEQUENTIAL:
            poke(state, Word.CHANGED, 1)
    return 1


run_turns = compile_with_callers(_run_turns)


def _is_look_due(state: int, turn_count: int) -> bool:
    """Check if a check for endless waits is due; call this after each batch of turns or sweeps."""
    if peek(state, Word.NEWS):
        poke(state, Word.NEWS, 0)
        poke(state, Word.NEWS_COUNT, peek(state, Word.NEWS_COUNT) + 1)
        poke(state, Word.IDLE_TURNS, 0)
        return False
    idle_turns = peek(state, Word.IDLE_TURNS) + turn_count
    poke(state, Word.IDLE_TURNS, idle_turns)
    return idle_turns % between_looks(state) == 0


is_look_due = compile_with_callers(_is_look_due)


def _release_grid(state: int) -> None:
    """Let all blocks continue that wait for the grid, once all have come."""
    live = peek(state, Word.LIVE_COUNT)
    if peek(state, Word.GRID) == 0 or peek(state, Word.BEGUN) < peek(state, Word.CHOSEN_COUNT):
        return
    for i in range(live):
        block_slot = live_block_slot(state, i)
        if peek(block_slot, BlockSlot.RUNNING) and not waits_for_grid(block_slot):
            return
    for i in range(live):
        block_slot = live_block_slot(state, i)
        if waits_for_grid(block_slot):
            poke(block_slot, BlockSlot.AT_GRID, 0)
            release(state, block_slot)


release_grid = compile_with_callers(_release_grid)


def _run(state: int) -> int:
    """Run blocks until it is the driver's turn; return the reason, a `Pause`."""
    while True:
        if not peek(state, Word.HAS_CHECKED_WAITS):
            if begin_blocks(state):
                return Pause.NO_BLOCK_SLOT
            if peek(state, Word.LIVE_COUNT) == 0:
                return Pause.OVER
            turn_count = run_turns(state)
            if turn_count < 0:
                return Pause.BAD_ORDER
            if is_look_due(state, turn_count):
                poke(state, Word.HAS_CHECKED_WAITS, 1)
                return Pause.CHECK_WAITS
        poke(state, Word.HAS_CHECKED_WAITS, 0)
        release_grid(state)
        if peek(state, Word.ENDED):
            poke(state, Word.ENDED, 0)
            remove_ended(state)
            if peek(state, Word.FINISHED_COUNT) >= peek(state, Word.PAUSE_AT):
                return Pause.BLOCK_ENDED


run = compile_cached(_run)

"""Run the blocks of a compiled launch: set up the scheduler, and do what it leaves to Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...model.launch import Schedule
from ...model.order import Segment
from ...model.trace import WARP, Dim3
from ...recording.repetition import RepetitionDetector
from ...recording.run_order import OrderRun
from ..compile_cached import dispatcher_of
from ..not_compilable import EndlessWaitError
from ..quick_compiler import entry_address
from ..scheduler import stacks, thread_main, turns
from ..scheduler.random_numbers import generator
from ..scheduler.stack_digest import digest_of_stacks
from ..state import (
    BLOCK_SLOT_WORDS,
    SEGMENT_WORDS,
    THREAD_SLOT_WORDS,
    WARP_WORDS,
    BlockSlot,
    Order,
    Pause,
    SegmentWord,
    ThreadSlot,
    Word,
)
from .memory import LaunchMemory
from .row_recorder import MAX_ENDED, RowRecorder, lengthen_table
from .signals import delay_signals
from .stack_memory import StackMemory

BATCH_TIME = 0.02  # seconds of compiled code between two reports of progress, if blocks are short
ORDERS = {
    "sequential": Order.SEQUENTIAL,
    "lockstep": Order.LOCKSTEP,
    "random": Order.RANDOM,
    "order": Order.EXPLICIT,
}
_NONE = np.zeros(0, np.int64)


class BlockRunner:
    """Runs chosen blocks of one launch by the address of its compiled kernel.

    order: the schedule of the threads' turns. slots: blocks that run at once; if threads wait for blocks that have not
    begun, more do, unless the number is `fixed`. report(done) is called as blocks end. recursive: whether functions
    call themselves. explicit: the order of the threads, if the schedule states one.
    """

    def __init__(
        self, entry: int, state: NDArray[np.int64], recorder: RowRecorder, memory: LaunchMemory, grid: Dim3, dim: Dim3,
        order: Schedule, slots: int, report: Callable[[int], None], *, fixed: bool, recursive: bool = False,
        explicit: OrderRun | None = None,
    ) -> None:  # fmt: skip
        self._state, self._recorder, self._memory, self._dim = state, recorder, memory, dim
        self._threads, self._order, self._fixed = dim[0] * dim[1] * dim[2], order, fixed
        self._report = report
        self._stacks = StackMemory(stacks.RECURSIVE_BYTES if recursive else stacks.STACK_BYTES)
        self._blocks_per_pause = 1  # blocks between two turns of the driver
        self._chosen = np.zeros(0, np.int64)
        self._looks: RepetitionDetector[int] = RepetitionDetector(memory.digest_contents, order.kind)
        self._last_news = 0  # `NEWS_COUNT` at the last check
        self._twister = generator(order.seed)
        self._explicit = explicit
        self._segments = np.array(
            [_segment_words(s) for s in explicit.segments] if explicit else [], np.int64
        )
        switch, start = stacks.code()
        words = {
            Word.ENTRY: entry, Word.MAIN: _main_address(), Word.START: start, Word.SWITCH: switch,
            Word.SCHEDULE: ORDERS[order.kind], Word.TURNS: order.kind != "sequential", Word.SLOTS: slots,
            Word.THREADS: self._threads, Word.BLOCK_SLOT: -1, Word.STACK_BYTES: self._stacks.stack_bytes,
            Word.TWISTER: self._twister.ctypes.data, Word.SEGMENTS: self._segments.ctypes.data,
            Word.SEGMENT_COUNT: len(self._segments), Word.SEGMENT: 0, Word.PAUSE_AT: self._blocks_per_pause,
            Word.WARPS_OF_BLOCK: -(-self._threads // WARP),
        }  # fmt: skip
        for word, value in words.items():
            state[word] = value
        state[Word.DX : Word.DZ + 1], state[Word.GX : Word.GZ + 1] = dim, grid
        self._thread_slots = np.zeros((0, THREAD_SLOT_WORDS), np.int64)
        self._block_slots = np.zeros((0, BLOCK_SLOT_WORDS), np.int64)
        self._warps = np.zeros((0, WARP_WORDS), np.int64)
        self._lists: dict[Word, NDArray[np.int64]] = {}

    @property
    def slots(self) -> int:
        """Number of blocks that run at once."""
        return int(self._state[Word.SLOTS])

    def run(
        self, chosen: Sequence[int], leave: Callable[[float, int, int], bool] | None = None
    ) -> Sequence[int]:
        """Run blocks to their end; raises the exceptions of threads, and EndlessWaitError if threads wait for ever.

        Returns the blocks that are left if `leave` asks to stop between two blocks. Its arguments are the seconds so
        far, the number of blocks that have ended, and the number of all.
        """
        state, self._chosen = self._state, np.array(chosen, np.int64)
        state[Word.CHOSEN], state[Word.CHOSEN_COUNT] = self._chosen.ctypes.data, len(self._chosen)
        state[Word.BEGUN] = 0
        self._allocate_slots(max(1, min(self.slots, len(self._chosen))))
        pause, elapsed = None, 0.0
        while pause != Pause.OVER:
            begin = time.perf_counter()
            pause = turns.run(state.ctypes.data)
            self._recorder.raise_failure()
            if pause == Pause.NO_BLOCK_SLOT:
                self._allocate_slots(2 * len(self._block_slots))
            elif pause == Pause.BAD_ORDER:
                self._raise_bad_order()
            elif pause == Pause.CHECK_WAITS:
                self._check_endless_wait()
            else:
                self._recorder.take_ended()
                elapsed += time.perf_counter() - begin
                self._set_pause(time.perf_counter() - begin)
                self._report(len(self._recorder.finished))
                begun = int(state[Word.BEGUN])
                if (
                    leave
                    and not state[Word.LIVE_COUNT]
                    and begun < len(chosen)
                    and leave(elapsed, begun, len(chosen))
                ):
                    return chosen[begun:]
        if self._explicit:
            self._explicit.take_ends(self._segments[: state[Word.SEGMENT], SegmentWord.END].tolist())
        return ()

    def _raise_bad_order(self) -> None:
        assert self._explicit is not None
        number = int(self._state[Word.SEGMENT])
        self._explicit.refuse(number, int(self._segments[number, SegmentWord.ROUNDS]))

    def _set_pause(self, seconds: float) -> None:
        """Set the number of blocks that end before Python's next turn."""
        if not self._recorder.capped or self._recorder.streaming is not None:
            interval = self._blocks_per_pause
            self._blocks_per_pause = (
                min(2 * interval, MAX_ENDED) if seconds < BATCH_TIME else max(1, interval // 2)
            )
            self._state[Word.PAUSE_AT] = self._blocks_per_pause

    def _allocate_slots(self, count: int) -> None:
        """Allocate slots for a number of resident blocks."""
        state, old_count = self._state, len(self._block_slots)
        if count <= old_count:
            return
        new_slots = np.array([self._new_block_slot(number) for number in range(old_count, count)], np.int64)
        self._block_slots = np.concatenate([self._block_slots, new_slots])
        self._thread_slots = np.concatenate(
            [self._thread_slots, *map(self._new_thread_slots, range(old_count, count))]
        )
        self._warps = lengthen_table(self._warps, count * int(state[Word.WARPS_OF_BLOCK]))
        free = self._lists.get(Word.STACKS, _NONE)[: state[Word.STACK_COUNT]]
        free = np.concatenate([self._stacks.grow(len(self._thread_slots))[::-1], free])
        state[Word.STACK_COUNT] = len(free)
        self._lists = {
            Word.LIVE: lengthen_table(self._lists.get(Word.LIVE, _NONE), count),
            Word.RUNNABLE: lengthen_table(self._lists.get(Word.RUNNABLE, _NONE), len(self._thread_slots)),
            Word.STACKS: lengthen_table(free, len(self._thread_slots)),
        }
        tables = {
            Word.BLOCK_SLOTS: self._block_slots,
            Word.THREAD_SLOTS: self._thread_slots,
            Word.WARPS: self._warps,
        }
        for word, table in (self._lists | tables).items():
            state[word] = table.ctypes.data
        state[Word.CAPACITY] = count
        self._recorder.use_slots(self._block_slots, self._thread_slots, self._warps)

    def _new_block_slot(self, number: int) -> NDArray[np.int64]:
        slot = np.zeros(BLOCK_SLOT_WORDS, np.int64)
        slot[BlockSlot.MEMORY], slot[BlockSlot.FIRST_THREAD_SLOT] = (
            self._memory.allocate_block(),
            number * self._threads,
        )
        return slot

    def _new_thread_slots(self, block_slot_number: int) -> NDArray[np.int64]:
        thread_slots, threads = (
            np.zeros((self._threads, THREAD_SLOT_WORDS), np.int64),
            np.arange(self._threads),
        )
        width, height, _ = self._dim
        thread_slots[:, ThreadSlot.THREAD], thread_slots[:, ThreadSlot.BLOCK_SLOT] = (
            threads,
            block_slot_number,
        )
        thread_slots[:, ThreadSlot.TX], rows = threads % width, threads // width
        thread_slots[:, ThreadSlot.TY], thread_slots[:, ThreadSlot.TZ] = rows % height, rows // height
        thread_slots[:, ThreadSlot.WARP] = (
            block_slot_number * self._state[Word.WARPS_OF_BLOCK] + threads // WARP
        )
        return thread_slots

    def _check_endless_wait(self) -> None:
        """If the threads wait for ever, run more blocks at once, as a GPU does, or raise EndlessWaitError."""
        state = self._state
        if self._last_news != state[Word.NEWS_COUNT]:
            self._last_news = int(state[Word.NEWS_COUNT])
            self._looks.reset()

        def threads() -> int:
            return int(digest_of_stacks(state.ctypes.data))

        if not self._looks.is_repeating(threads, lambda kept: kept == threads()):
            return
        if state[Word.BEGUN] == state[Word.CHOSEN_COUNT] or self._fixed or not state[Word.TURNS]:
            raise EndlessWaitError("its threads wait for a value that no thread changes any more")
        self._looks.reset()
        state[Word.SLOTS] *= 2


def _segment_words(segment: Segment) -> list[int]:
    words = [0] * SEGMENT_WORDS
    values = (segment.block, segment.first, segment.count, segment.turns, segment.barrier)
    words[: len(values)] = values
    return words


@cache
def _main_address() -> int:
    """Return the address of the function at the bottom of each stack; compile the scheduler too.

    If it is not cached yet, this takes long.
    """
    with delay_signals():
        for function in (thread_main.thread, turns.run, digest_of_stacks):
            dispatcher_of(function).compile((thread_main.STATE,))
    return entry_address(dispatcher_of(thread_main.thread).overloads[(thread_main.STATE,)])

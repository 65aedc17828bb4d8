"""Running the blocks of a compiled launch: what the scheduler needs, and what it leaves to Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...model.launch import Schedule
from ...model.trace import WARP, Dim3
from ...recording.repetition import Looks
from ..not_compilable import WaitsForOthers
from ..quick_compiler import entry_address
from ..scheduler import main, stacks, turns
from ..scheduler.random_numbers import generator
from ..scheduler.stack_digest import digest_of_stacks
from ..state import (
    PLACE_WORDS,
    SEAT_WORDS,
    WARP_WORDS,
    Order,
    Pause,
    PlaceWord,
    SeatWord,
    Word,
)
from .memory import LaunchMemory
from .row_recorder import MAX_ENDED, RowRecorder, longer
from .signals import signals_afterwards
from .stack_memory import StackMemory

BATCH_TIME = 0.02  # seconds of compiled code from one report of progress to the next, where blocks are short
ORDERS = {"sequential": Order.SEQUENTIAL, "lockstep": Order.LOCKSTEP, "random": Order.RANDOM}
_NONE = np.zeros(0, np.int64)


class BlockRunner:
    """Runs chosen blocks of one launch by the address of its compiled kernel.

    order: the schedule whose turns its threads take. slots: blocks that run at once; more do where threads wait for
    blocks that have not begun, unless the number is `fixed`. report(done) is called as blocks end. recursive: whether
    its functions call themselves.
    """

    def __init__(
        self, entry: int, state: NDArray[np.int64], recorder: RowRecorder, memory: LaunchMemory, grid: Dim3, dim: Dim3,
        order: Schedule, slots: int, report: Callable[[int], None], *, fixed: bool, recursive: bool = False,
    ) -> None:  # fmt: skip
        self._state, self._recorder, self._memory, self._dim = state, recorder, memory, dim
        self._threads, self._order, self._fixed = dim[0] * dim[1] * dim[2], order, fixed
        self._report = report
        self._stacks = StackMemory(stacks.RECURSIVE_BYTES if recursive else stacks.STACK_BYTES)
        self._every = 1  # blocks from one turn of the driver's to the next
        self._chosen = np.zeros(0, np.int64)
        self._looks: Looks[int] = Looks(memory.content, order.kind)
        self._news = 0  # how often threads had begun, ended or met when they were looked at last
        self._twister = generator(order.seed)
        switch, start = stacks.code()
        words = {
            Word.ENTRY: entry, Word.MAIN: _main_address(), Word.START: start, Word.SWITCH: switch,
            Word.SCHEDULE: ORDERS[order.kind], Word.TURNS: order.kind != "sequential", Word.SLOTS: slots,
            Word.THREADS: self._threads, Word.SEAT: -1, Word.STACK_BYTES: self._stacks.each,
            Word.TWISTER: self._twister.ctypes.data, Word.PAUSE_AT: self._every,
            Word.WARPS_OF_BLOCK: -(-self._threads // WARP),
        }  # fmt: skip
        for word, value in words.items():
            state[word] = value
        state[Word.DX : Word.DZ + 1], state[Word.GX : Word.GZ + 1] = dim, grid
        self._places = np.zeros((0, PLACE_WORDS), np.int64)
        self._seats = np.zeros((0, SEAT_WORDS), np.int64)
        self._warps = np.zeros((0, WARP_WORDS), np.int64)
        self._lists: dict[Word, NDArray[np.int64]] = {}

    @property
    def slots(self) -> int:
        """Blocks that run at once."""
        return int(self._state[Word.SLOTS])

    def run(
        self, chosen: Sequence[int], leave: Callable[[float, int, int], bool] | None = None
    ) -> Sequence[int]:
        """Run blocks to their end; raises what a thread raises, and WaitsForOthers where threads wait for ever.

        Returns the blocks that are left, where `leave` says so between two: given how long it took, how many have
        ended, and of how many.
        """
        state, self._chosen = self._state, np.array(chosen, np.int64)
        state[Word.CHOSEN], state[Word.CHOSEN_COUNT] = self._chosen.ctypes.data, len(self._chosen)
        state[Word.BEGUN] = 0
        self._make_room(max(1, min(self.slots, len(self._chosen))))
        pause, taken = None, 0.0
        while pause != Pause.OVER:
            begin = time.perf_counter()
            pause = turns.run(state.ctypes.data)
            self._recorder.raise_failure()
            if pause == Pause.NO_SEAT:
                self._make_room(2 * len(self._seats))
            elif pause == Pause.LOOK:
                self._look()
            else:
                self._recorder.take_ended()
                taken += time.perf_counter() - begin
                self._set_pause(time.perf_counter() - begin)
                self._report(len(self._recorder.finished))
                begun = int(state[Word.BEGUN])
                if (
                    leave
                    and not state[Word.LIVE_COUNT]
                    and begun < len(chosen)
                    and leave(taken, begun, len(chosen))
                ):
                    return chosen[begun:]
        return ()

    def _set_pause(self, seconds: float) -> None:
        """Choose after how many blocks Python has its turn next."""
        if not self._recorder.capped or self._recorder.streaming is not None:
            at = self._every
            self._every = min(2 * at, MAX_ENDED) if seconds < BATCH_TIME else max(1, at // 2)
            self._state[Word.PAUSE_AT] = self._every

    def _make_room(self, seats: int) -> None:
        """Have room for so many resident blocks."""
        state, before = self._state, len(self._seats)
        if seats <= before:
            return
        made = np.array([self._new_seat(number) for number in range(before, seats)], np.int64)
        self._seats = np.concatenate([self._seats, made])
        self._places = np.concatenate([self._places, *map(self._new_places, range(before, seats))])
        self._warps = longer(self._warps, seats * int(state[Word.WARPS_OF_BLOCK]))
        free = self._lists.get(Word.STACKS, _NONE)[: state[Word.STACK_COUNT]]
        free = np.concatenate([self._stacks.grow(len(self._places))[::-1], free])
        state[Word.STACK_COUNT] = len(free)
        self._lists = {
            Word.LIVE: longer(self._lists.get(Word.LIVE, _NONE), seats),
            Word.RUNNABLE: longer(self._lists.get(Word.RUNNABLE, _NONE), len(self._places)),
            Word.STACKS: longer(free, len(self._places)),
        }
        tables = {Word.SEATS: self._seats, Word.PLACES: self._places, Word.WARPS: self._warps}
        for word, table in (self._lists | tables).items():
            state[word] = table.ctypes.data
        state[Word.CAPACITY] = seats
        self._recorder.have_seats(self._seats, self._places, self._warps)

    def _new_seat(self, number: int) -> NDArray[np.int64]:
        seat = np.zeros(SEAT_WORDS, np.int64)
        seat[SeatWord.MEMORY], seat[SeatWord.FIRST] = self._memory.of_block(), number * self._threads
        return seat

    def _new_places(self, seat: int) -> NDArray[np.int64]:
        places, threads = np.zeros((self._threads, PLACE_WORDS), np.int64), np.arange(self._threads)
        width, height, _ = self._dim
        places[:, PlaceWord.THREAD], places[:, PlaceWord.SEAT] = threads, seat
        places[:, PlaceWord.TX], rest = threads % width, threads // width
        places[:, PlaceWord.TY], places[:, PlaceWord.TZ] = rest % height, rest // height
        places[:, PlaceWord.WARP] = seat * self._state[Word.WARPS_OF_BLOCK] + threads // WARP
        return places

    def _look(self) -> None:
        """Look whether the threads wait for ever: for blocks that have not begun, if there are any, as on a GPU."""
        state = self._state
        if self._news != state[Word.NEWS_COUNT]:
            self._news = int(state[Word.NEWS_COUNT])
            self._looks.reset()

        def threads() -> int:
            return int(digest_of_stacks(state.ctypes.data))

        if not self._looks.is_repeating(threads, lambda kept: kept == threads()):
            return
        if state[Word.BEGUN] == state[Word.CHOSEN_COUNT] or self._fixed or not state[Word.TURNS]:
            raise WaitsForOthers("its threads wait for what nothing changes any more")
        self._looks.reset()
        state[Word.SLOTS] *= 2


@cache
def _main_address() -> int:
    """Return the address of the function that each stack begins with; compile the scheduler too.

    Where that is not on disk yet, it takes long.
    """
    with signals_afterwards():
        for function in (main.thread, turns.run, digest_of_stacks):
            function.compile((main.STATE,))
    return entry_address(main.thread.overloads[(main.STATE,)])

"""The scheduler: one greenlet per CUDA thread, and the order in which they take their turns.

A turn ends just before a thread's next access (`lockstep`, `random`) or at a barrier (`sequential`), so the
same launch and schedule give the same order every time.
"""

from __future__ import annotations

import contextvars
import random
from collections.abc import Callable, Sequence
from typing import Any

import greenlet

from ..model.launch import Schedule
from ..model.trace import WARP, Dim3, unravel
from ..model.user_code import user_code_for
from ..recording.recorder import Recorder, TooLarge
from ..recording.run_record import resident_blocks
from ..recording.warp_operations import Instruction, lanes
from .cuda_threads import Block, Hub, Index3, Thread, ThreadRaised
from .livelock import RUNS_ALONE, LivelockDetector, MemoryContent, NeverEnds, livelock_message
from .warp_barriers import WarpBarriers


class Scheduler:
    """Runs chosen blocks of a grid. `current` is the thread whose turn it is.

    `interleaved` says whether a turn ends before every access; an access then does
    `scheduler.current = me.next; me.next.switch()`.
    """

    def __init__(
        self,
        recorder: Recorder,
        schedule: Schedule,
        resident: int | None,
        content: MemoryContent = lambda live: b"",
    ) -> None:
        self.recorder = recorder
        self.schedule = schedule
        self.resident = resident
        self.interleaved = schedule.kind != "sequential"
        self.user_code = user_code_for("")
        self.current: Any = None
        self.hub: Any = None
        self.slots = 1
        self.failure: tuple[Thread, BaseException] | None = None
        self._random = random.Random(schedule.seed)
        self._runnable: list[Thread] = []
        self._changed = False  # whether other threads can run than before
        self._news = (
            False  # whether threads began, ended or met in their warp: not barriers, which may go on for ever
        )
        self._live: list[Block] = []
        self._livelock = LivelockDetector(lambda: content(self._live), schedule.kind)
        self._checked: Any = None
        self._warps = WarpBarriers(recorder, self._note_change)

    def run(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], grid: Dim3, dim: Dim3,
        blocks: Sequence[int], report: Callable[[int, int], None],
    ) -> None:  # fmt: skip
        """Run these blocks to their end; raises ThreadRaised when a thread raises."""
        self.hub = Hub()
        # A greenlet starts with an empty context, in which NumPy's errstate is not what the caller set.
        self._context = contextvars.copy_context()
        self._kernel, self._arguments, self._grid, self._dim = kernel, arguments, grid, dim
        self._count = dim[0] * dim[1] * dim[2]
        self._indices = [Index3(*unravel(n, dim)) for n in range(self._count)]
        self.slots = slots = resident_blocks(self.schedule, self.resident, self._count)
        live = self._live = []
        begun = done = 0
        while begun < len(blocks) or live:
            # Who waits for the grid makes room: all its blocks have to come.
            while begun < len(blocks) and sum(not _waits_for_grid(b) for b in live) < slots:
                live.append(self._start(blocks[begun]))
                begun += 1
            self._sweep(live)
            if self._never_ends(len(blocks) - begun):
                self.slots = slots = 2 * slots
            if begun == len(blocks) and all(_waits_for_grid(b) or not b.running for b in live):
                self._release_grid(live)
            for block in [b for b in live if not b.running]:
                live.remove(block)
                self.recorder.finish_block(block.number)
                done += 1
                report(done, len(blocks))

    def barrier(self, vote: Any = None, *, of_grid: bool = False) -> Block:
        """Make the current thread wait until all running threads of its block do, or of all blocks (of_grid)."""
        me = self.current
        block = me.block
        block.at_grid |= of_grid
        block.waiting += 1
        me.waiting = True
        block.votes.append(vote)
        if block.converging:
            self._warps.release_complete(block, me.number // WARP)
        if block.waiting == block.running:
            self._release(block)
        self._wait(me)
        return block  # type: ignore[no-any-return]  # a Thread's

    def converge(
        self, mask: int, value: Any, instruction: Instruction, source: int | None = None
    ) -> dict[int, Any]:
        """Make the current thread wait for the lanes of its warp in `mask`; return what each brought, by lane.

        See `WarpBarriers.converge`.
        """
        me = self.current
        lanes_here = self._warps.converge(me, mask, value, instruction, source)
        self._wait(me)
        return lanes_here.values

    def active_mask(self, instruction: Instruction) -> int:
        """Return a bit for each lane of the current warp that is at this instruction once the others can't come.

        So the lanes of a warp go on together as far as they can, as they do on GPUs.
        """
        me = self.current
        lanes_here = self._warps.converge_active(me, instruction)
        self._wait(me)
        return lanes(lanes_here.values)

    def _wait(self, me: Thread) -> None:
        """Take the current thread out of those that get turns, and return once it has one again."""
        self._leave(me)
        self.current = me.next
        me.next.switch()

    def _note_change(self) -> None:
        self._changed = self._news = True

    def _start(self, number: int) -> Block:
        """Make a block's threads and let each run up to its first access."""
        block = Block(number, unravel(number, self._grid))
        for n in range(self._count):
            thread = Thread(self._main)
            thread.gr_context = self._context
            thread.block, thread.number, thread.phase = block, n, 0
            thread.waiting, thread.done, thread.slot = False, False, -1
            thread.index = self._indices[n]
            thread.context = self.recorder.context(number, n, 0)
            thread.locals = {}
            thread.next = thread.prev = self.hub
            block.threads.append(thread)
        block.running = self._count
        if self.interleaved:
            for thread in block.threads:
                self._turn(thread)
        self._changed = self._news = True
        return block

    def _turn(self, thread: Thread) -> None:
        self.current = thread
        thread.switch()
        self._stop_on_failure()

    def _stop_on_failure(self) -> None:
        if self.failure is not None:
            _, error = self.failure
            raise error if isinstance(error, TooLarge | KeyboardInterrupt) else ThreadRaised(*self.failure)

    def _main(self) -> None:
        """Be one thread, from its first line to its last."""
        me = self.current
        try:
            self._kernel(*self._arguments)
        except greenlet.GreenletExit:
            return
        except BaseException as error:  # noqa: BLE001  # whatever a kernel raises is shown to its author
            self.failure = (me, error)
            return  # to the hub, which is the parent of every thread that has not come to its end
        block = me.block
        block.running -= 1
        me.done = self._news = True
        self._leave(me)
        if block.converging:
            self._warps.release_complete(block, me.number // WARP)
        if block.running and block.waiting == block.running:
            self._release(block)
        # Dying hands the turn on to the parent.
        if me.next is not self.hub:
            me.parent = me.next
        self.current = me.next

    def _leave(self, me: Thread) -> None:
        if self.schedule.kind == "lockstep":
            me.prev.next = me.next
            me.next.prev = me.prev
        elif me.slot >= 0 and self.schedule.kind == "random":
            last = self._runnable.pop()
            if last is not me:
                self._runnable[me.slot], last.slot = last, me.slot
        me.slot = -1

    def _release(self, block: Block) -> None:
        """Let a block's waiting threads go on into their next phase, from the next sweep on; not from a grid's."""
        if block.at_grid:
            return
        votes = [bool(v) for v in block.votes]
        block.ballot = (sum(votes), int(all(votes)), int(any(votes)))
        block.votes, block.waiting, block.released = [], 0, True
        self._changed = True

    def _release_grid(self, live: list[Block]) -> None:
        """Let all blocks go on that wait for each other."""
        for block in filter(_waits_for_grid, live):
            block.at_grid = False
            self._release(block)

    def _sweep(self, live: list[Block]) -> None:
        """Give the threads turns until a block may have ended."""
        if self._changed:
            self._admit(live)
        if self.hub.next is self.hub if self.schedule.kind == "lockstep" else not self._runnable:
            self._warps.release_incomplete(live)
        elif self.schedule.kind == "lockstep":
            self.current = self.hub.next
            self.hub.next.switch()
        elif self.schedule.kind == "random":
            self._turn(self._random.choice(self._runnable))
        else:
            for thread in self._runnable:
                self._turn(thread)
            self._changed = True
        self._stop_on_failure()

    def _never_ends(self, waiting: int) -> bool:
        """Look whether the threads that run wait for what nothing changes: raises ThreadRaised where none is left to.

        Returns whether more blocks are to run at once, as on a GPU.
        """
        if self._news:
            self._news = False
            self._livelock.reset()
            return False
        # In a sweep one thread has a turn under random, every one otherwise.
        each = len(self._runnable) if self.schedule.kind == "random" else 1
        if not self._livelock.is_due(each):
            return False
        if self._changed:
            self._admit(self._live)
        running = [t for b in self._live for t in b.threads if not t.done]
        threads = [t for t in running if not t.waiting]
        if not threads or not self._livelock.is_repeating(running):
            return False
        if waiting and self.resident is None and self.interleaved:
            self._livelock.reset()
            return True
        self.current = threads[0]
        message = livelock_message(threads, waiting, self.user_code.owns)
        threads[0].throw(NeverEnds(message if self.interleaved else f"{message}; {RUNS_ALONE}"))
        self._stop_on_failure()
        return False

    def check_livelock(self) -> None:
        """Look, between two accesses of a thread that runs alone, whether it waits; raises NeverEnds in it."""
        me = self.current
        if self.interleaved or me is not greenlet.getcurrent():
            return
        if self._checked != (me, me.phase):
            self._checked = (me, me.phase)
            self._livelock.reset()
        if self._livelock.is_repeating([me]):
            raise NeverEnds(f"{livelock_message([me], 0, self.user_code.owns)}; {RUNS_ALONE}")

    def _admit(self, live: list[Block]) -> None:
        """Gather the threads that can run, in (block, thread) order, released ones in their new phase."""
        for block in live:
            if block.released:
                self._next_phase(block)
        self._runnable = [t for b in live for t in b.threads if not (t.waiting or t.done)]
        for slot, thread in enumerate(self._runnable):
            thread.slot = slot
        self._changed = False
        if self.schedule.kind == "lockstep":
            ring = [self.hub, *self._runnable]
            for before, after in zip(ring, [*ring[1:], self.hub], strict=True):
                before.next, after.prev = after, before

    def _next_phase(self, block: Block) -> None:
        block.released = False
        for thread in block.threads:
            if thread.waiting:
                thread.waiting = False
                thread.phase += 1
                thread.context = self.recorder.context(block.number, thread.number, thread.phase)


def _waits_for_grid(block: Block) -> bool:
    """Return whether all running threads of a block wait, and some for the whole grid."""
    return block.at_grid and block.waiting == block.running > 0

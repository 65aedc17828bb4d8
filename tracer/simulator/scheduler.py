"""The scheduler: one greenlet per CUDA thread, and the order of their turns.

A turn ends just before a thread's next access (`lockstep`, `random`) or at a barrier (`sequential`). So the same launch
and schedule always give the same order.
"""

from __future__ import annotations

import contextvars
import random
from collections.abc import Callable, Sequence
from typing import Any

import greenlet

from ..model.launch import Schedule
from ..model.order import Segment
from ..model.trace import WARP, Dim3, unravel
from ..model.user_code import user_code_for
from ..recording.recorder import Recorder, TooManyAccessesError
from ..recording.run_order import OrderRun
from ..recording.run_record import resident_blocks
from ..recording.warp_operations import Instruction, lanes
from .cuda_threads import Block, Hub, Index3, Thread, ThreadRaisedError
from .livelock import SEQUENTIAL_REASON, LivelockDetector, LivelockError, MemoryContent, livelock_message
from .warp_barriers import WarpBarriers


class Scheduler:
    """Runs chosen blocks of a grid. `current` is the thread whose turn it is.

    interleaved: whether a turn ends before every access. An access then does
    `scheduler.current = me.next; me.next.switch()`.
    """

    def __init__(
        self,
        recorder: Recorder,
        schedule: Schedule,
        resident: int | None,
        content: MemoryContent = lambda live: b"",
        order: OrderRun | None = None,
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
        self._order = order
        self._at_access: set[Thread] = set()  # in an explicit order: threads that stopped before an access
        self._runnable: list[Thread] = []
        self._changed = False  # whether the set of runnable threads has changed
        # Whether threads began, ended or converged in their warp; barriers don't count, since they may repeat for ever.
        self._has_progress = False
        self._live: list[Block] = []
        self._livelock = LivelockDetector(lambda: content(self._live), schedule.kind)
        self._last_checked: Any = None
        self._warps = WarpBarriers(recorder, self._note_change)

    def run(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], grid: Dim3, dim: Dim3,
        blocks: Sequence[int], report: Callable[[int, int], None],
    ) -> None:  # fmt: skip
        """Run these blocks to their end; raises ThreadRaisedError if a thread raises."""
        self.hub = Hub()
        # A greenlet starts with an empty context, which lacks the caller's NumPy errstate.
        self._context = contextvars.copy_context()
        self._kernel, self._arguments, self._grid, self._dim = kernel, arguments, grid, dim
        self._count = dim[0] * dim[1] * dim[2]
        self._indices = [Index3(*unravel(number, dim)) for number in range(self._count)]
        self.slots = slots = resident_blocks(self.schedule, self.resident, self._count)
        live = self._live = []
        started = done = 0
        while started < len(blocks) or live:
            # Blocks that wait for the grid free their slots, because all blocks have to arrive.
            while started < len(blocks) and sum(not _waits_for_grid(block) for block in live) < slots:
                live.append(self._start(blocks[started]))
                started += 1
            self._sweep(live)
            if self._needs_more_slots(len(blocks) - started):
                self.slots = slots = 2 * slots
            if started == len(blocks) and all(
                _waits_for_grid(candidate) or not candidate.running for candidate in live
            ):
                self._release_grid(live)
            for block in [candidate for candidate in live if not candidate.running]:
                live.remove(block)
                self.recorder.finish_block(block.number)
                done += 1
                report(done, len(blocks))

    def barrier(self, vote: Any = None, *, of_grid: bool = False) -> Block:
        """Make the current thread wait for all running threads of its block, or with `of_grid` of all blocks."""
        thread = self.current
        block = thread.block
        block.at_grid |= of_grid
        block.waiting += 1
        thread.waiting = True
        block.votes.append(vote)
        if block.converging:
            self._warps.release_complete(block, thread.number // WARP)
        if block.waiting == block.running:
            self._release(block)
        self._wait(thread)
        return block  # type: ignore[no-any-return]  # greenlet is untyped

    def converge(
        self, mask: int, value: Any, instruction: Instruction, source: int | None = None
    ) -> dict[int, Any]:
        """Make the current thread wait for the lanes of its warp in `mask`; return their values by lane.

        See `WarpBarriers.converge`.
        """
        thread = self.current
        converged = self._warps.converge(thread, mask, value, instruction, source)
        self._wait(thread)
        return converged.values

    def active_mask(self, instruction: Instruction) -> int:
        """Return a bit for each lane of the current warp at this instruction, once the others can't arrive.

        So the lanes of a warp run together as far as possible, as on a GPU.
        """
        thread = self.current
        converged = self._warps.converge_active(thread, instruction)
        self._wait(thread)
        return lanes(converged.values)

    def _wait(self, thread: Thread) -> None:
        """Remove the current thread from the runnable ones, and return at its next turn."""
        self._leave(thread)
        self.current = thread.next
        thread.next.switch()

    def _note_change(self) -> None:
        self._changed = self._has_progress = True

    def _start(self, number: int) -> Block:
        """Create a block's threads and run each up to its first access."""
        block = Block(number, unravel(number, self._grid))
        for thread_number in range(self._count):
            thread = Thread(self._main)
            thread.gr_context = self._context
            thread.block, thread.number, thread.phase = block, thread_number, 0
            thread.waiting, thread.done, thread.slot = False, False, -1
            thread.index = self._indices[thread_number]
            thread.context = self.recorder.context(number, thread_number, 0)
            thread.locals = {}
            thread.next = thread.prev = self.hub
            block.threads.append(thread)
        block.running = self._count
        if self.interleaved:
            for thread in block.threads:
                self._turn(thread)
        self._changed = self._has_progress = True
        return block

    def _turn(self, thread: Thread) -> None:
        self.current = thread
        if self._order is not None:
            self._at_access.add(thread)
        thread.switch()
        self._stop_on_failure()

    def _stop_on_failure(self) -> None:
        if self.failure is not None:
            _, error = self.failure
            raise (
                error
                if isinstance(error, TooManyAccessesError | KeyboardInterrupt)
                else ThreadRaisedError(*self.failure)
            )

    def _main(self) -> None:
        """Run one thread from beginning to end."""
        thread = self.current
        try:
            self._kernel(*self._arguments)
        except greenlet.GreenletExit:
            return
        except BaseException as error:  # noqa: BLE001  # the kernel's exception is shown to its author
            self.failure = (thread, error)
            return  # to the hub, the parent of every thread that has not finished
        block = thread.block
        block.running -= 1
        thread.done = self._has_progress = True
        self._leave(thread)
        if block.converging:
            self._warps.release_complete(block, thread.number // WARP)
        if block.running and block.waiting == block.running:
            self._release(block)
        # A finished greenlet passes the turn to its parent.
        if thread.next is not self.hub:
            thread.parent = thread.next
        self.current = thread.next

    def _leave(self, thread: Thread) -> None:
        if self.schedule.kind == "lockstep":
            thread.prev.next = thread.next
            thread.next.prev = thread.prev
        elif thread.slot >= 0 and self.schedule.kind == "random":
            last = self._runnable.pop()
            if last is not thread:
                self._runnable[thread.slot], last.slot = last, thread.slot
        elif self._order is not None:
            self._at_access.discard(thread)
        thread.slot = -1

    def _release(self, block: Block) -> None:
        """Release a block's waiting threads into their next phase at the next sweep, unless they wait for the grid."""
        if block.at_grid:
            return
        votes = [bool(vote) for vote in block.votes]
        block.ballot = (sum(votes), int(all(votes)), int(any(votes)))
        block.votes, block.waiting, block.released = [], 0, True
        self._changed = True

    def _release_grid(self, live: list[Block]) -> None:
        """Release all blocks that wait for each other."""
        for block in filter(_waits_for_grid, live):
            block.at_grid = False
            self._release(block)

    def _sweep(self, live: list[Block]) -> None:
        """Run turns until a block may have ended."""
        if self._changed:
            self._admit(live)
        if self.hub.next is self.hub if self.schedule.kind == "lockstep" else not self._runnable:
            self._warps.release_incomplete(live)
        elif self.schedule.kind == "lockstep":
            self.current = self.hub.next
            self.hub.next.switch()
        elif self.schedule.kind == "random":
            self._turn(self._random.choice(self._runnable))
        elif self._order is not None and self._order.segment is not None:
            self._order_round(self._order, self._order.segment)
        else:
            for thread in self._runnable:
                self._turn(thread)
            self._changed = True
        self._stop_on_failure()

    def _order_round(self, order: OrderRun, segment: Segment) -> None:
        """Give a turn to each runnable thread of the order's segment.

        Threads that have waited first run to their next access, whether they are the segment's or not.
        """
        resumed = [thread for thread in self._runnable if thread not in self._at_access]
        for thread in resumed:
            self._turn(thread)
        if not resumed:
            for thread in self._runnable:
                is_allowed = segment.barrier < 0 or thread.phase < segment.barrier
                if is_allowed and segment.includes(thread.block.number, thread.number):
                    before = self.recorder.access_count()
                    self._turn(thread)
                    order.count_turn(self.recorder.access_count() - before)
            order.end_round(self.recorder.access_count())
        self._runnable = [thread for thread in self._runnable if thread in self._at_access]

    def _needs_more_slots(self, waiting: int) -> bool:
        """Check for a livelock of the running threads; raises ThreadRaisedError if no other block can resolve it.

        Returns True if more blocks must run simultaneously, as on a GPU.
        """
        if self._has_progress:
            self._has_progress = False
            self._livelock.reset()
            return False
        # A sweep runs one thread under random, and every thread otherwise.
        threads_per_look = len(self._runnable) if self.schedule.kind == "random" else 1
        if not self._livelock.is_due(threads_per_look):
            return False
        if self._changed:
            self._admit(self._live)
        running = [thread for block in self._live for thread in block.threads if not thread.done]
        threads = [thread for thread in running if not thread.waiting]
        if not threads or not self._livelock.is_repeating(running):
            return False
        if waiting and self.resident is None and self.interleaved:
            self._livelock.reset()
            return True
        self.current = threads[0]
        message = livelock_message(threads, waiting, self.user_code.owns)
        threads[0].throw(LivelockError(message if self.interleaved else f"{message}; {SEQUENTIAL_REASON}"))
        self._stop_on_failure()
        return False

    def check_livelock(self) -> None:
        """Raise LivelockError in the thread for a livelock between two accesses under the sequential schedule."""
        thread = self.current
        if self.interleaved or thread is not greenlet.getcurrent():
            return
        if self._last_checked != (thread, thread.phase):
            self._last_checked = (thread, thread.phase)
            self._livelock.reset()
        if self._livelock.is_repeating([thread]):
            raise LivelockError(f"{livelock_message([thread], 0, self.user_code.owns)}; {SEQUENTIAL_REASON}")

    def _admit(self, live: list[Block]) -> None:
        """Collect the runnable threads in (block, thread) order; released ones enter their new phase."""
        for block in live:
            if block.released:
                self._next_phase(block)
        threads = [thread for block in live for thread in block.threads]
        self._runnable = [thread for thread in threads if not (thread.waiting or thread.done)]
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
    """Check whether all running threads of a block wait, and some of them for the complete grid."""
    return block.at_grid and block.waiting == block.running > 0

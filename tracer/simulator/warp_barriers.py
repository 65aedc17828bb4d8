"""Barriers between the lanes of a warp in the simulator; `warp_operations.py` computes the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..model.trace import WARP
from ..recording.recorder import Recorder
from ..recording.warp_operations import ALL, ConvergingLanes, Instruction, lanes
from .cuda_threads import Block, Thread, warp_of


class WarpBarriers:
    """The pending warp operations, which are stored in each block.

    An arriving thread waits (`waiting`), and the scheduler gives it no turn until it is released. `released` is called
    when threads are released. The recorder gets the participants of each operation.
    """

    def __init__(self, recorder: Recorder, released: Callable[[], None]) -> None:
        self._recorder, self._released = recorder, released

    def converge(
        self, thread: Thread, mask: int, value: Any, instruction: Instruction, source: int | None = None
    ) -> ConvergingLanes:
        """Make a thread wait until the running lanes of its warp in `mask` have arrived; return these lanes.

        Lanes that can never arrive are not waited for (`release_incomplete`), and a lane outside the mask does not
        wait. `source` is the lane whose value is read, if any.
        """
        warp, lane = divmod(thread.number, WARP)
        converging = ConvergingLanes(mask & ALL)
        is_in_mask = converging.mask >> lane & 1
        if is_in_mask:
            converging = thread.block.converging.setdefault((warp, converging.mask), converging)
        if source is not None:
            converging.sources.append(source)
        _add_lane(thread, converging, value, instruction)
        if is_in_mask:
            self.release_complete(thread.block, warp)
        else:
            self._release(thread.block, warp, converging)
        return converging

    def converge_active(self, thread: Thread, instruction: Instruction) -> ConvergingLanes:
        """Make a thread wait until all others of its warp wait or have ended; return the lanes that called this."""
        warp = thread.number // WARP
        converging: ConvergingLanes = thread.block.converging.setdefault(
            (warp, instruction), ConvergingLanes(ALL, is_open=True)
        )
        _add_lane(thread, converging, None, instruction)
        self.release_complete(thread.block, warp)
        return converging

    def release_complete(self, block: Block, warp: int, *, late: bool = False) -> None:
        """Release the operations of a warp that lack no lane, or with `late` all of them."""
        running = lanes(thread.number % WARP for thread in warp_of(block, warp) if not thread.done)
        for key, converging in list(block.converging.items()):
            if key[0] == warp and (late or not (converging.mask & running) & ~lanes(converging.values)):
                del block.converging[key]
                self._release(block, warp, converging)
        if block.converging and all(thread.waiting or thread.done for thread in warp_of(block, warp)):
            for key in [
                key for key, converging in block.converging.items() if key[0] == warp and converging.is_open
            ]:
                self._release(block, warp, block.converging.pop(key))

    def release_incomplete(self, blocks: Iterable[Block]) -> None:
        """Release the warp operations without the missing lanes; called when no thread can run."""
        for block in blocks:
            for warp, _ in list(block.converging):
                self.release_complete(block, warp, late=True)

    def _release(self, block: Block, warp: int, converging: ConvergingLanes) -> None:
        """Release the converged lanes, and report the participants to the recorder."""
        threads = warp_of(block, warp)
        there, running = (
            (1 << len(threads)) - 1,
            lanes(thread.number % WARP for thread in threads if not thread.done),
        )
        if not converging.is_open:
            self._recorder.lanes_converged(block.number, warp, converging, there, running)
        for thread in converging.threads:
            thread.waiting = False
        self._released()


def _add_lane(thread: Thread, converging: ConvergingLanes, value: Any, instruction: Instruction) -> None:
    lane = thread.number % WARP
    converging.values[lane], converging.instructions[lane] = value, instruction
    converging.threads.append(thread)
    thread.waiting = True

"""Where the lanes of a warp wait for each other in the simulator; what they take away is in `warp_operations.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..model.trace import WARP
from ..recording.recorder import Recorder
from ..recording.warp_operations import ALL, ConvergingLanes, Instruction, lanes
from .cuda_threads import Block, Thread, warp_of


class WarpBarriers:
    """The warp operations under way, which each block keeps of its own warps.

    A thread that comes waits from then on (`waiting`): whoever runs the threads gives it no turn until it waits no
    more. `released` is called when threads wait no more. The recorder is told who came to each operation.
    """

    def __init__(self, recorder: Recorder, released: Callable[[], None]) -> None:
        self._recorder, self._released = recorder, released

    def converge(
        self, me: Thread, mask: int, value: Any, instruction: Instruction, source: int | None = None
    ) -> ConvergingLanes:
        """Let a thread wait until the lanes of its warp in `mask` that still run have come; return these lanes.

        Lanes that can never come, since nothing else can run, are not waited for (`release_incomplete`), nor
        does a lane wait that the mask leaves out. `source` is the lane whose value is taken, if one's is.
        """
        warp, lane = divmod(me.number, WARP)
        converging = ConvergingLanes(mask & ALL)
        named = converging.mask >> lane & 1
        if named:
            converging = me.block.converging.setdefault((warp, converging.mask), converging)
        if source is not None:
            converging.sources.append(source)
        _take_in(me, converging, value, instruction)
        if named:
            self.release_complete(me.block, warp)
        else:
            self._release(me.block, warp, converging)
        return converging

    def converge_active(self, me: Thread, instruction: Instruction) -> ConvergingLanes:
        """Let a thread wait until all others of its warp wait or have ended; return the lanes that asked."""
        warp = me.number // WARP
        converging: ConvergingLanes = me.block.converging.setdefault(
            (warp, instruction), ConvergingLanes(ALL, is_open=True)
        )
        _take_in(me, converging, None, instruction)
        self.release_complete(me.block, warp)
        return converging

    def release_complete(self, block: Block, warp: int, *, late: bool = False) -> None:
        """Let the operations of a warp go on for which no lane is missing, or all where nobody else can come."""
        running = lanes(t.number % WARP for t in warp_of(block, warp) if not t.done)
        for key, converging in list(block.converging.items()):
            if key[0] == warp and (late or not (converging.mask & running) & ~lanes(converging.values)):
                del block.converging[key]
                self._release(block, warp, converging)
        if block.converging and all(t.waiting or t.done for t in warp_of(block, warp)):
            for key in [
                k for k, converging in block.converging.items() if k[0] == warp and converging.is_open
            ]:
                self._release(block, warp, block.converging.pop(key))

    def release_incomplete(self, blocks: Iterable[Block]) -> None:
        """Where no thread can run, let the warp operations go on without the lanes that never come."""
        for block in blocks:
            for warp, _ in list(block.converging):
                self.release_complete(block, warp, late=True)

    def _release(self, block: Block, warp: int, converging: ConvergingLanes) -> None:
        """Let converged lanes go on, and the recorder look at who came."""
        mine = warp_of(block, warp)
        there, running = (1 << len(mine)) - 1, lanes(t.number % WARP for t in mine if not t.done)
        if not converging.is_open:
            self._recorder.lanes_converged(block.number, warp, converging, there, running)
        for thread in converging.threads:
            thread.waiting = False
        self._released()


def _take_in(me: Thread, converging: ConvergingLanes, value: Any, instruction: Instruction) -> None:
    lane = me.number % WARP
    converging.values[lane], converging.instructions[lane] = value, instruction
    converging.threads.append(me)
    me.waiting = True

"""Where the lanes of a warp wait for each other in the simulator; what they take away is in `warp.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..model.trace import WARP
from ..recording.recorder import Recorder
from ..recording.warp_operations import ALL, Meeting, Place, lanes
from .cuda_threads import Block, Thread, warp_of


class WarpBarriers:
    """The warp operations under way, which each block keeps of its own warps.

    A thread that comes waits from then on (`waiting`): whoever runs the threads gives it no turn until it waits no
    more. `released` is called when threads wait no more. The recorder is told who came to each operation.
    """

    def __init__(self, recorder: Recorder, released: Callable[[], None]) -> None:
        self._recorder, self._released = recorder, released

    def meet(self, me: Thread, mask: int, value: Any, place: Place, source: int | None = None) -> Meeting:
        """Let a thread wait until the lanes of its warp in `mask` that still run have come; return their meeting.

        Lanes that can never come, since nothing else can run, are not waited for (`close_late`), nor does a lane
        wait that the mask leaves out. `source` is the lane whose value is taken, if one's is.
        """
        warp, lane = divmod(me.number, WARP)
        meeting = Meeting(mask & ALL)
        named = meeting.mask >> lane & 1
        if named:
            meeting = me.block.meetings.setdefault((warp, meeting.mask), meeting)
        if source is not None:
            meeting.sources.append(source)
        _join(me, meeting, value, place)
        if named:
            self.close(me.block, warp)
        else:
            self._end(me.block, warp, meeting)
        return meeting

    def ask(self, me: Thread, place: Place) -> Meeting:
        """Let a thread wait until all others of its warp wait or have ended; return the meeting of those that asked."""
        warp = me.number // WARP
        meeting: Meeting = me.block.meetings.setdefault((warp, place), Meeting(ALL, is_open=True))
        _join(me, meeting, None, place)
        self.close(me.block, warp)
        return meeting

    def close(self, block: Block, warp: int, *, late: bool = False) -> None:
        """End the meetings of a warp for which nobody is missing any more, or all where nobody else can come."""
        running = lanes(t.number % WARP for t in warp_of(block, warp) if not t.done)
        for key, meeting in list(block.meetings.items()):
            if key[0] == warp and (late or not (meeting.mask & running) & ~lanes(meeting.values)):
                del block.meetings[key]
                self._end(block, warp, meeting)
        if block.meetings and all(t.waiting or t.done for t in warp_of(block, warp)):
            for key in [k for k, meeting in block.meetings.items() if k[0] == warp and meeting.is_open]:
                self._end(block, warp, block.meetings.pop(key))

    def close_late(self, blocks: Iterable[Block]) -> None:
        """Where no thread can run, let the warp operations go on without the lanes that never come."""
        for block in blocks:
            for warp, _ in list(block.meetings):
                self.close(block, warp, late=True)

    def _end(self, block: Block, warp: int, meeting: Meeting) -> None:
        """Let the lanes of a meeting go on, and the recorder look at who came."""
        mine = warp_of(block, warp)
        there, running = (1 << len(mine)) - 1, lanes(t.number % WARP for t in mine if not t.done)
        if not meeting.is_open:
            self._recorder.met(block.number, warp, meeting, there, running)
        for thread in meeting.threads:
            thread.waiting = False
        self._released()


def _join(me: Thread, meeting: Meeting, value: Any, place: Place) -> None:
    lane = me.number % WARP
    meeting.values[lane], meeting.places[lane] = value, place
    meeting.threads.append(me)
    me.waiting = True

"""Where the lanes of a warp wait for each other in the simulator; what they take away is in `warp.py`."""

from __future__ import annotations

from typing import Any

from .recorder import Recorder
from .threads import Block, Thread, warp_of
from .trace import WARP
from .warp import ALL, Meeting, Place, lanes


class WarpMeetings:
    """The warp operations under way of a scheduler's blocks; `current` is the thread whose turn it is."""

    recorder: Recorder
    current: Any
    _changed: bool

    def _leave(self, me: Thread) -> None:
        """Take a thread out of those that get turns."""
        raise NotImplementedError

    def meet(self, mask: int, value: Any, place: Place, source: int | None = None) -> dict[int, Any]:
        """Make the current thread wait until the lanes of its warp in `mask` that still run do.

        Returns what each brought, by lane. Lanes that can never come, since nothing else can run, are not
        waited for, nor does a lane wait that the mask leaves out; the recorder is told of both. `source` is the
        lane whose value is taken, if one's is.
        """
        me = self.current
        warp, lane = divmod(me.number, WARP)
        meeting = Meeting(mask & ALL)
        named = meeting.mask >> lane & 1
        if named:
            meeting = me.block.meetings.setdefault((warp, meeting.mask), meeting)
        if source is not None:
            meeting.sources.append(source)
        self._join(me, meeting, value, place)
        if named:
            self._close_meetings(me.block, warp)
        else:
            self._end_meeting(me.block, warp, meeting)
        self.current = me.next
        me.next.switch()
        found: dict[int, Any] = meeting.values
        return found

    def active_mask(self, place: Place) -> int:
        """Return a bit for each lane of the current warp that is at this instruction once the others can't come.

        So the lanes of a warp go on together as far as they can, as they do on GPUs.
        """
        me = self.current
        warp = me.number // WARP
        meeting = me.block.meetings.setdefault((warp, place), Meeting(ALL, is_open=True))
        self._join(me, meeting, None, place)
        self._close_meetings(me.block, warp)
        self.current = me.next
        me.next.switch()
        return lanes(meeting.values)

    def _join(self, me: Thread, meeting: Meeting, value: Any, place: Place) -> None:
        lane = me.number % WARP
        meeting.values[lane], meeting.places[lane] = value, place
        meeting.threads.append(me)
        me.waiting = True
        self._leave(me)

    def _close_meetings(self, block: Block, warp: int, *, late: bool = False) -> None:
        """End the meetings of a warp for which nobody is missing any more, or all where nobody else can come."""
        running = lanes(t.number % WARP for t in warp_of(block, warp) if not t.done)
        for key, meeting in list(block.meetings.items()):
            if key[0] == warp and (late or not (meeting.mask & running) & ~lanes(meeting.values)):
                del block.meetings[key]
                self._end_meeting(block, warp, meeting)
        if block.meetings and all(t.waiting or t.done for t in warp_of(block, warp)):
            for key in [k for k, meeting in block.meetings.items() if k[0] == warp and meeting.is_open]:
                self._end_meeting(block, warp, block.meetings.pop(key))

    def _end_meeting(self, block: Block, warp: int, meeting: Meeting) -> None:
        """Let the lanes of a meeting go on, and the recorder look at who came."""
        mine = warp_of(block, warp)
        there, running = (1 << len(mine)) - 1, lanes(t.number % WARP for t in mine if not t.done)
        if not meeting.is_open:
            self.recorder.met(block.number, warp, meeting, there, running)
        for thread in meeting.threads:
            thread.waiting = False
        self._changed = True

    def _unstick(self, live: list[Block]) -> None:
        """Where no thread can run, let the warp operations go on without the lanes that never come."""
        for block in live:
            for warp, _ in list(block.meetings):
                self._close_meetings(block, warp, late=True)

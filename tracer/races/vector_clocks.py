"""Vector clocks: the events that happen before each thread's next one, where fences, atomics or warp masks order them.

After Mattern, "Virtual Time and Global States of Distributed Systems" (1989), as data race detectors use it
(Flanagan and Freund, "FastTrack", PLDI 2009). The ordering rules are those of the memory consistency model of the
PTX ISA ("Release and Acquire Patterns", "Causality Order") and the CUDA C++ Programming Guide ("Memory Fence
Functions", whose example is the sum that the last block finishes):

- a barrier of the block or the grid, and syncwarp for the lanes that it names, order all that its threads did before
  it with all that they do after it;
- a fence and then an atomic release: a thread that makes an atomic on that element later in this launch, uses its
  result, and then passes a fence or a barrier, comes after all that preceded the first fence. An update of the
  element in between passes it on, as an update continues a release sequence. A barrier between fence and atomic
  passes the fence on to the block, as where all threads fence their stores and one counts the block;
- threadfence_block does so within a block; a plain store or load of a flag orders nothing;
- a thread that made an atomic and uses its result comes after all earlier atomics on that element.

This is the order of one launch: two threads that happened to take a lock in turn are in order, as in any detector
of this kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field

from ..model.array_types import Ints
from ..model.trace import FENCE, GRID_SCOPE, Op

UNKNOWN = -1


class VectorClock(Struct, frozen=True, eq=False):
    """The events that happen before something. It never changes, so all threads behind a barrier share one."""

    phases: Ints  # number of phases per block
    rows: dict[
        Any, int
    ]  # by thread, and by location of atomics, the last row of the trace beyond these phases

    def joined(self, other: VectorClock) -> VectorClock:
        """Return a clock of the events before either."""
        if other is self:
            return self
        smaller, larger = sorted((self.rows, other.rows), key=len)
        rows = larger
        if smaller:
            rows = larger | {key: max(row, larger.get(key, UNKNOWN)) for key, row in smaller.items()}
        return VectorClock(np.maximum(self.phases, other.phases), rows)

    def upto(self, key: Any, row: int) -> VectorClock:
        """Return this clock with the events of a thread or location up to a row."""
        return VectorClock(self.phases, {**self.rows, key: max(row, self.rows.get(key, UNKNOWN))})

    def past(self, block: int, phase: int) -> VectorClock:
        """Return this clock with all events of a block up to the end of a phase."""
        if self.phases[block] > phase:
            return self
        phases = self.phases.copy()
        phases[block] = phase + 1
        return VectorClock(phases, self.rows)


class ThreadState(Struct, eq=False):
    """A thread's progress (the `ThreadState` of FastTrack)."""

    thread: int  # counted through all blocks that ran
    clock: VectorClock  # of its next event
    phase: int = 0  # of its block
    warp_barrier: int = UNKNOWN  # the one that it waits at
    # By whether a fence reaches beyond the block: the clock that an atomic would release.
    fenced: dict[bool, VectorClock] = field(default_factory=dict)
    # By the same: the clock that an atomic read, and that no fence or barrier has acquired yet.
    pending: dict[bool, VectorClock] = field(default_factory=dict)

    def acquire(self, *, wide: bool) -> None:
        """Acquire the clocks that atomics read: within the block, or beyond it too (wide)."""
        for reach in (False, True)[: 1 + wide]:
            if reach in self.pending:
                self.clock = self.clock.joined(self.pending.pop(reach))

    def comes_after(self, thread: int, block: int, phase: int, row: int) -> bool:
        """Return True if a row of another thread, in a phase of its block, happens before this thread's next event."""
        return bool(self.clock.phases[block] > phase) or self.clock.rows.get(thread, UNKNOWN) >= row


class VectorClocks:
    """The clocks of all threads during a launch's events; blocks are numbered in the order of trace.blocks."""

    def __init__(self, blocks: int) -> None:
        self._nothing = VectorClock(np.zeros(blocks, np.int64), {})
        self._threads: dict[int, ThreadState] = {}
        self._released: dict[
            Any, VectorClock
        ] = {}  # by barrier, fence before one, warp barrier or atomic's location
        self._last_released: dict[Any, VectorClock] = {}  # the clock released last at each of these
        self._grids: dict[tuple[int, int], int] = {}  # barriers of blocks that are also barriers of the grid

    def state_of(self, thread: int, block: int, phase: int) -> ThreadState:
        """Return the state of a thread in a phase of its block, after the barriers that it has passed."""
        state = self._threads.get(thread)
        if state is None:
            state = self._threads[thread] = ThreadState(thread, self._nothing)
        if state.warp_barrier >= 0:
            state.clock = self._released["warp barrier", state.warp_barrier]
            state.warp_barrier = UNKNOWN
        if phase > state.phase:
            state.phase = phase
            self._pass_barrier(state, block, phase - 1)
        return state

    def _pass_barrier(self, state: ThreadState, block: int, phase: int) -> None:
        """Let a thread acquire the clocks that its block, or the grid, released at a barrier, including its own."""
        released = self._released.get(("block", block, phase), state.clock)
        grid = self._grids.pop((block, phase), None)
        if grid is not None:
            released = self._released["block", block, phase] = released.joined(self._released["grid", grid])
        state.clock = released
        for wide in (False, True):
            if ("fenced", block, phase, wide) in self._released:
                state.fenced[wide] = self._released["fenced", block, phase, wide]

    def barrier(self, state: ThreadState, block: int, reach: int, grid: int) -> None:
        """Process a thread's arrival at a barrier; `grid` counts the grid's earlier barriers."""
        state.acquire(wide=True)
        sync_object = ("block", block, state.phase)
        self._release(
            sync_object,
            state.clock.past(block, state.phase) if sync_object not in self._released else state.clock,
        )
        if reach == GRID_SCOPE:
            self._release(("grid", grid), self._released[sync_object])
            self._grids[block, state.phase] = grid
        for wide, fenced in state.fenced.items():
            self._release(("fenced", block, state.phase, wide), fenced)

    def warp_barrier(self, state: ThreadState, row: int, warp_barrier: int) -> None:
        """Process a lane's arrival at a warp barrier, where its lanes wait for each other."""
        state.acquire(wide=True)
        self._release(("warp barrier", warp_barrier), state.clock.upto(state.thread, row - 1))
        state.warp_barrier = warp_barrier

    def fence(self, state: ThreadState, row: int, reach: int) -> None:
        """Process a fence: acquire the clocks that were read, and prepare the current one for release."""
        state.acquire(wide=reach == FENCE)
        released = state.clock.upto(state.thread, row - 1)
        for wide in (False, True)[: 1 + (reach == FENCE)]:
            state.fenced[wide] = released

    def atomic(self, state: ThreadState, row: int, op: int, block: int, location: int) -> None:
        """Process an atomic of a block on a location."""
        sync_objects = {False: ("released", location, block), True: ("released", location)}
        if op == Op.ATOMIC:
            for wide, sync_object in sync_objects.items():
                if sync_object in self._released:
                    before = state.pending.get(wide, self._nothing)
                    state.pending[wide] = self._released[sync_object].joined(before)
            state.clock = state.clock.upto(flag_of(location), row)
        for wide, fenced in state.fenced.items():
            self._release(sync_objects[wide], fenced)

    def _release(self, sync_object: Any, clock: VectorClock) -> None:
        """Add a clock to a sync object's; threads of a block often release the same one in succession."""
        if self._last_released.get(sync_object) is not clock:
            self._last_released[sync_object] = clock
            self._released[sync_object] = self._released.get(sync_object, clock).joined(clock)


def flag_of(location: int) -> tuple[str, int]:
    """Return the key of a location of atomics in a clock's rows."""
    return ("flag", location)

"""Vector clocks: what comes before each thread where fences, atomics or masked warp barriers order threads.

After Mattern, "Virtual Time and Global States of Distributed Systems" (1989), as data race detectors use it
(Flanagan and Freund, "FastTrack", PLDI 2009). What orders is taken from the memory consistency model of the PTX
ISA ("Release and Acquire Patterns", "Causality Order") and the CUDA C++ Programming Guide ("Memory Fence
Functions", whose example is the sum that the last block finishes):

- a barrier of the block or the grid, and syncwarp for the lanes that it names, order what is before them in all
  who come with what is after them;
- a fence and then an atomic release: whoever makes an atomic on that element later in this launch, uses its
  result, and then passes a fence or a barrier, comes after what was before the fence. An update of the element
  in between passes it on, as an update continues a release sequence. A barrier between fence and atomic hands
  the fence on to the block, as where all threads fence their stores and one counts the block;
- threadfence_block does so within a block; a plain store or load of a flag orders nothing;
- who made an atomic whose result it uses comes after all earlier atomics on that element.

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
    """What comes before something. Never changed, so that all threads behind a barrier share one."""

    phases: Ints  # per block how many of its phases
    rows: dict[
        Any, int
    ]  # by thread, and by location of atomics, the last row of the trace beyond these phases

    def joined(self, other: VectorClock) -> VectorClock:
        """Return what comes before one or the other."""
        if other is self:
            return self
        few, many = sorted((self.rows, other.rows), key=len)
        rows = many
        if few:
            rows = many | {k: max(row, many.get(k, UNKNOWN)) for k, row in few.items()}
        return VectorClock(np.maximum(self.phases, other.phases), rows)

    def upto(self, who: Any, row: int) -> VectorClock:
        """Return this, and what a thread or location did up to a row."""
        return VectorClock(self.phases, {**self.rows, who: max(row, self.rows.get(who, UNKNOWN))})

    def past(self, block: int, phase: int) -> VectorClock:
        """Return this, and all that a block did up to the end of a phase."""
        if self.phases[block] > phase:
            return self
        phases = self.phases.copy()
        phases[block] = phase + 1
        return VectorClock(phases, self.rows)


class ThreadState(Struct, eq=False):
    """A thread, as far as it has come (the `ThreadState` of FastTrack)."""

    thread: int  # counted through all blocks that ran
    clock: VectorClock  # what comes before what it does next
    phase: int = 0  # of its block
    warp_barrier: int = UNKNOWN  # the one that it came to last, until it has passed it
    # By whether a fence reaches beyond the block: what an atomic would release.
    fenced: dict[bool, VectorClock] = field(default_factory=dict)
    # By the same: what was read with an atomic, and no fence or barrier has made sure of yet.
    pending: dict[bool, VectorClock] = field(default_factory=dict)

    def acquire(self, *, wide: bool) -> None:
        """Take in what atomics read: within the block, or beyond it too (wide)."""
        for reach in (False, True)[: 1 + wide]:
            if reach in self.pending:
                self.clock = self.clock.joined(self.pending.pop(reach))

    def comes_after(self, thread: int, block: int, phase: int, row: int) -> bool:
        """Return whether a row of another thread, in a phase of its block, comes before what this one does next."""
        return bool(self.clock.phases[block] > phase) or self.clock.rows.get(thread, UNKNOWN) >= row


class VectorClocks:
    """The clocks of all threads, as the events of a launch come in order; blocks are counted as they ran."""

    def __init__(self, blocks: int) -> None:
        self._nothing = VectorClock(np.zeros(blocks, np.int64), {})
        self._threads: dict[int, ThreadState] = {}
        self._released: dict[
            Any, VectorClock
        ] = {}  # by barrier, fence before one, warp barrier or atomic's location
        self._last_released: dict[Any, VectorClock] = {}  # what was released last at each of these
        self._grids: dict[tuple[int, int], int] = {}  # barriers of blocks that are the grid's too

    def of(self, thread: int, block: int, phase: int) -> ThreadState:
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
        """Let a thread acquire what its block, or the grid, released at a barrier: its own is a part of that."""
        released = self._released.get(("block", block, phase), state.clock)
        grid = self._grids.pop((block, phase), None)
        if grid is not None:
            released = self._released["block", block, phase] = released.joined(self._released["grid", grid])
        state.clock = released
        for wide in (False, True):
            if ("fenced", block, phase, wide) in self._released:
                state.fenced[wide] = self._released["fenced", block, phase, wide]

    def barrier(self, state: ThreadState, block: int, reach: int, grid: int) -> None:
        """Take in that a thread came to a barrier; `grid` counts the grid's barriers before it."""
        state.acquire(wide=True)
        here = ("block", block, state.phase)
        self._release(
            here, state.clock.past(block, state.phase) if here not in self._released else state.clock
        )
        if reach == GRID_SCOPE:
            self._release(("grid", grid), self._released[here])
            self._grids[block, state.phase] = grid
        for wide, fenced in state.fenced.items():
            self._release(("fenced", block, state.phase, wide), fenced)

    def warp_barrier(self, state: ThreadState, row: int, warp_barrier: int) -> None:
        """Take in that a lane came to a warp barrier, where its lanes wait for each other."""
        state.acquire(wide=True)
        self._release(("warp barrier", warp_barrier), state.clock.upto(state.thread, row - 1))
        state.warp_barrier = warp_barrier

    def fence(self, state: ThreadState, row: int, reach: int) -> None:
        """Take in a fence: what was read is sure now, and what was done may be released."""
        state.acquire(wide=reach == FENCE)
        released = state.clock.upto(state.thread, row - 1)
        for wide in (False, True)[: 1 + (reach == FENCE)]:
            state.fenced[wide] = released

    def atomic(self, state: ThreadState, row: int, op: int, block: int, location: int) -> None:
        """Take in an atomic of a block on a location."""
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
        """Add to what a sync object hands on; threads of a block often release the same one after the other."""
        if self._last_released.get(sync_object) is not clock:
            self._last_released[sync_object] = clock
            self._released[sync_object] = self._released.get(sync_object, clock).joined(clock)


def flag_of(location: int) -> tuple[str, int]:
    """Return what stands for a location of atomics among those that a clock counts."""
    return ("flag", location)

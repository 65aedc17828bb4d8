"""What each thread knows of the others: vector clocks, where fences, atomics or masked warp barriers order threads.

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

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.array_types import Ints
from ..model.trace import FENCE, OF_GRID, Op

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Known:
    """What comes before something. Never changed, so that all threads behind a barrier share one.

    phases: per block how many of its phases; rows: by thread, and by location of atomics, the last row beyond these.
    """

    phases: Ints
    rows: dict[Any, int]

    def joined(self, other: Known) -> Known:
        """Return what comes before one or the other."""
        if other is self:
            return self
        few, many = sorted((self.rows, other.rows), key=len)
        rows = many
        if few:
            rows = many | {k: max(row, many.get(k, UNKNOWN)) for k, row in few.items()}
        return Known(np.maximum(self.phases, other.phases), rows)

    def upto(self, who: Any, row: int) -> Known:
        """Return this, and what a thread or location did up to a row."""
        return Known(self.phases, {**self.rows, who: max(row, self.rows.get(who, UNKNOWN))})

    def past(self, block: int, phase: int) -> Known:
        """Return this, and all that a block did up to the end of a phase."""
        if self.phases[block] > phase:
            return self
        phases = self.phases.copy()
        phases[block] = phase + 1
        return Known(phases, self.rows)


@dataclass(eq=False)
class Clock:
    """What one thread knows before what it does next."""

    thread: int  # counted through all blocks that ran
    known: Known
    phase: int = 0  # of its block
    meeting: int = UNKNOWN  # the number of the meeting of lanes that it came to last, until that has told it
    # By whether a fence reaches beyond the block: what may be released; what was read with an atomic and no fence or
    # barrier has made sure of yet.
    fenced: dict[bool, Known] = field(default_factory=dict)
    pending: dict[bool, Known] = field(default_factory=dict)

    def settle(self, *, wide: bool) -> None:
        """Make sure of what atomics read: within the block, or beyond it too (wide)."""
        for reach in (False, True)[: 1 + wide]:
            if reach in self.pending:
                self.known = self.known.joined(self.pending.pop(reach))

    def knows(self, thread: int, block: int, phase: int, row: int) -> bool:
        """Return whether a row of another thread, in a phase of its block, comes before what this one does next."""
        return bool(self.known.phases[block] > phase) or self.known.rows.get(thread, UNKNOWN) >= row


class Clocks:
    """The clocks of all threads, as the events of a launch come in order; blocks are counted as they ran."""

    def __init__(self, blocks: int) -> None:
        self._nothing = Known(np.zeros(blocks, np.int64), {})
        self._threads: dict[int, Clock] = {}
        self._told: dict[Any, Known] = {}  # at barriers, before them by fences, at meetings, by releases
        self._last: dict[Any, Known] = {}  # what was told last at each of these places
        self._grids: dict[tuple[int, int], int] = {}  # barriers of blocks that are the grid's too

    def of(self, thread: int, block: int, phase: int) -> Clock:
        """Return the clock of a thread in a phase of its block, after the barriers that it has passed."""
        clock = self._threads.get(thread)
        if clock is None:
            clock = self._threads[thread] = Clock(thread, self._nothing)
        if clock.meeting >= 0:
            clock.known = self._told["meeting", clock.meeting]
            clock.meeting = UNKNOWN
        if phase > clock.phase:
            clock.phase = phase
            self._pass_barrier(clock, block, phase - 1)
        return clock

    def _pass_barrier(self, clock: Clock, block: int, phase: int) -> None:
        """Let a thread know what its block, or the grid, told at a barrier: its own is a part of that."""
        told = self._told.get(("block", block, phase), clock.known)
        grid = self._grids.pop((block, phase), None)
        if grid is not None:
            told = self._told["block", block, phase] = told.joined(self._told["grid", grid])
        clock.known = told
        for wide in (False, True):
            if ("fenced", block, phase, wide) in self._told:
                clock.fenced[wide] = self._told["fenced", block, phase, wide]

    def barrier(self, clock: Clock, block: int, reach: int, grid: int) -> None:
        """Take in that a thread came to a barrier; `grid` counts the grid's barriers before it."""
        clock.settle(wide=True)
        here = ("block", block, clock.phase)
        self._tell(here, clock.known.past(block, clock.phase) if here not in self._told else clock.known)
        if reach == OF_GRID:
            self._tell(("grid", grid), self._told[here])
            self._grids[block, clock.phase] = grid
        for wide, fenced in clock.fenced.items():
            self._tell(("fenced", block, clock.phase, wide), fenced)

    def meet(self, clock: Clock, row: int, meeting: int) -> None:
        """Take in that a lane came to a warp barrier, where the lanes of one meeting wait for each other."""
        clock.settle(wide=True)
        self._tell(("meeting", meeting), clock.known.upto(clock.thread, row - 1))
        clock.meeting = meeting

    def fence(self, clock: Clock, row: int, reach: int) -> None:
        """Take in a fence: what was read is sure now, and what was done may be released."""
        clock.settle(wide=reach == FENCE)
        told = clock.known.upto(clock.thread, row - 1)
        for wide in (False, True)[: 1 + (reach == FENCE)]:
            clock.fenced[wide] = told

    def atomic(self, clock: Clock, row: int, op: int, block: int, location: int) -> None:
        """Take in an atomic of a block on a location."""
        places = {False: ("released", location, block), True: ("released", location)}
        if op == Op.ATOMIC:
            for wide, place in places.items():
                if place in self._told:
                    before = clock.pending.get(wide, self._nothing)
                    clock.pending[wide] = self._told[place].joined(before)
            clock.known = clock.known.upto(flag_of(location), row)
        for wide, fenced in clock.fenced.items():
            self._tell(places[wide], fenced)

    def _tell(self, place: Any, known: Known) -> None:
        """Add to what is known at a place; threads of a block often tell the same one after the other."""
        if self._last.get(place) is not known:
            self._last[place] = known
            self._told[place] = self._told.get(place, known).joined(known)


def flag_of(location: int) -> tuple[str, int]:
    """Return what stands for a location of atomics among those of whom something is known."""
    return ("flag", location)

"""Accesses outside their arrays: when they are made, by whom, and at which place beside the array."""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from ....tracer.findings.out_of_bounds import outside_moments
from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP, Op
from ...model.session import Selection, Session

INDICES = re.compile(r"\[(-?\d+(?:, -?\d+)*)\]$")  # at the end of an element's name


class OutsideAccess(Struct, frozen=True):
    """An access that was not made, since its index lies outside its array."""

    buffer: int  # index in the trace's `buffers`
    index: tuple[int, ...]  # as the source has it, one number a dimension
    op: Op
    text: str  # the element as the source names it: tile[16, 3]


class OutsideAccesses:
    """The accesses of a session outside their arrays, by moment."""

    def __init__(self, session: Session) -> None:
        self._trace = session.trace
        self.moments: Ints = outside_moments(session.trace, session.requests)

    def __len__(self) -> int:
        return len(self.moments)

    def shown(self, moment: int, block: int) -> list[OutsideAccess]:
        """Return what is accessed outside arrays at a moment: of shared and local ones by this block alone."""
        outside = self._trace.outside
        found: dict[tuple[int, tuple[int, ...]], OutsideAccess] = {}
        for number in np.flatnonzero(self.moments == moment).tolist():
            buffer = int(outside.buffer[number])
            own = self._trace.buffers[buffer].space in ("shared", "local")
            if own and outside.block[number] != block:
                continue
            access = self._access(number)
            found.setdefault((buffer, access.index), access)
        return list(found.values())

    def lanes(self, moment: int, selection: Selection) -> list[tuple[int, OutsideAccess]]:
        """Return the lanes of the selected thread's warp that access what is outside now, each with its access."""
        outside = self._trace.outside
        mine = (self.moments == moment) & (outside.block == selection.block)
        mine &= outside.thread // WARP == selection.thread // WARP
        numbers = np.flatnonzero(mine).tolist()
        return [(int(outside.thread[number]) % WARP, self._access(number)) for number in numbers]

    def of_warps(self, block: int) -> list[tuple[int, int]]:
        """Return the (warp, moment) of the accesses of a block, each pair once."""
        outside = self._trace.outside
        mine = outside.block == block
        pairs = zip((outside.thread[mine] // WARP).tolist(), self.moments[mine].tolist(), strict=True)
        return sorted(set(pairs))

    def _access(self, number: int) -> OutsideAccess:
        outside = self._trace.outside
        text = outside.text[number]
        found = INDICES.search(text)
        index = tuple(map(int, found[1].split(", "))) if found else (int(outside.cell[number]),)
        return OutsideAccess(int(outside.buffer[number]), index, Op(outside.op[number]), text)


def outside_of(session: Session) -> OutsideAccesses:
    """Return the accesses of a session outside their arrays, found once."""
    kept = session.__dict__.get("_outside")
    if not isinstance(kept, OutsideAccesses):
        kept = session.__dict__["_outside"] = OutsideAccesses(session)
    return kept

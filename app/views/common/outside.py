"""Accesses outside their arrays: their moments, threads and positions relative to the array."""

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
    """An access that was skipped because its index lies outside its array."""

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

    def accesses_of_moment(self, moment: int, block: int) -> list[OutsideAccess]:
        """List the accesses outside arrays at a moment; of shared and local arrays only this block's."""
        outside = self._trace.outside
        accesses: dict[tuple[int, tuple[int, ...]], OutsideAccess] = {}
        for number in np.flatnonzero(self.moments == moment).tolist():
            buffer = int(outside.buffer[number])
            is_private = self._trace.buffers[buffer].space in ("shared", "local")
            if is_private and outside.block[number] != block:
                continue
            access = self._access(number)
            accesses.setdefault((buffer, access.index), access)
        return list(accesses.values())

    def lanes(self, moment: int, selection: Selection) -> list[tuple[int, OutsideAccess]]:
        """List the lanes of the selected thread's warp that access memory outside an array now, with their accesses."""
        outside = self._trace.outside
        own = (self.moments == moment) & (outside.block == selection.block)
        own &= outside.thread // WARP == selection.thread // WARP
        numbers = np.flatnonzero(own).tolist()
        return [(int(outside.thread[number]) % WARP, self._access(number)) for number in numbers]

    def warp_moments(self, block: int) -> list[tuple[int, int]]:
        """List the distinct (warp, moment) pairs of a block's accesses."""
        outside = self._trace.outside
        own = outside.block == block
        pairs = zip((outside.thread[own] // WARP).tolist(), self.moments[own].tolist(), strict=True)
        return sorted(set(pairs))

    def _access(self, number: int) -> OutsideAccess:
        outside = self._trace.outside
        text = outside.text[number]
        match = INDICES.search(text)
        index = tuple(map(int, match[1].split(", "))) if match else (int(outside.cell[number]),)
        return OutsideAccess(int(outside.buffer[number]), index, Op(outside.op[number]), text)


def outside_of(session: Session) -> OutsideAccesses:
    """Return the accesses of a session outside their arrays. Memoised."""
    kept = session.__dict__.get("_outside")
    if not isinstance(kept, OutsideAccesses):
        kept = session.__dict__["_outside"] = OutsideAccesses(session)
    return kept

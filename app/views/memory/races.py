"""Elements that threads race for, at the moments of the accesses that nothing orders. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....tracer.model.array_types import AnyInts, Ints, Mask
from ....tracer.model.finding import Finding
from ....tracer.model.trace import WARP, Op
from ...model.session import Selection, Session
from ..common.wording import block_text, coordinates_text, element_text

NEAR = 50_000  # accesses of a race, before and after one, among which its other is looked for
VERBS = {Op.LOAD: "reads", Op.STORE: "writes", Op.ATOMIC: "updates", Op.REDUCTION: "updates"}


class Conflict(NamedTuple):
    """Two accesses of one element that nothing orders, as rows of the trace."""

    here: int  # the one that is looked at
    other: int  # the other


class RacedElements(Struct, frozen=True, eq=False):
    """The harmful races of a session whose findings are known."""

    session: Session
    races: tuple[Finding, ...]

    def among(self, rows: Ints) -> Ints:
        """Return which of these accesses (rows of the trace) are in a race."""
        inside = np.zeros(len(rows), bool)
        for race in self.races:
            inside |= _are_in(race.rows, rows)
        found: Ints = rows[inside]
        return found

    def conflict(self, row: int) -> Conflict | None:
        """Return an access in a race with the one that it meets; None for one that is in no race."""
        race = next((race for race in self.races if _are_in(race.rows, np.array([row]))[0]), None)
        if race is None:
            return None
        if row in race.example:
            return Conflict(row, race.example[1 - race.example.index(row)])
        trace, at = self.session.trace, int(np.searchsorted(race.rows, row))
        near = np.asarray(race.rows[max(0, at - NEAR) : at + NEAR], np.int64)
        same = (trace.buffer[near] == trace.buffer[row]) & (trace.index[near] == trace.index[row])
        near = near[same & _are_others(self.session, near, row)]
        if not len(near):
            return None
        far = (trace.phase[near] != trace.phase[row]) * len(trace) + np.abs(near - row)
        return Conflict(row, int(near[np.argmin(far)]))

    def rows_at(self, moment: int) -> Ints:
        """Return the accesses of a moment that are in a race."""
        return self.among(self.session.memory.accesses_at(moment))

    def sentence(self, row: int) -> str:
        """Return who meets whom: thread 4 writes s[4] on line 15, thread 0 reads it at moment 14; "" without a race."""
        found = self.conflict(row)
        if found is None:
            return ""
        trace, requests = self.session.trace, self.session.requests
        element = element_text(trace.buffers[int(trace.buffer[row])], int(trace.index[row]))
        moment = int(requests.moment[requests.request[found.other]])
        now = int(requests.moment[requests.request[row]])
        when = "at this moment too" if moment == now else f"at moment {moment:,}"
        far = trace.block[row] != trace.block[found.other]
        first, second = (self._deed(one, block=bool(far)) for one in found)
        return f"{first[0]} {first[1]} {element} {first[2]}, {second[0]} {second[1]} it {when}: nothing orders them"

    def _deed(self, row: int, *, block: bool) -> tuple[str, str, str]:
        """Return who does what, and on which line."""
        trace = self.session.trace
        who = f"thread {coordinates_text(int(trace.thread[row]), trace.block_dim)}"
        who += f" of {block_text(trace, int(trace.block[row]))}" if block else ""
        return who, VERBS[Op(int(trace.op[row]))], f"on line {trace.sites[int(trace.site[row])].line}"

    def preferred(self, rows: Ints, selection: Selection) -> int | None:
        """Return the access to tell of: one of the selected thread, else of its warp, else of its block, else any."""
        trace = self.session.trace
        block = trace.block[rows] == selection.block
        warp = block & (trace.thread[rows] // WARP == selection.thread // WARP)
        for wanted in (
            warp & (trace.thread[rows] == selection.thread),
            warp,
            block,
            np.ones(len(rows), bool),
        ):
            if wanted.any():
                return int(rows[np.argmax(wanted)])
        return None


def raced_elements(session: Session) -> RacedElements | None:
    """Return what threads race for, None while nobody knows and where nothing is."""
    if not session.is_examined:
        return None
    races = tuple(f for f in session.findings if f.kind == "race" and f.severity == "error")
    return RacedElements(session, races) if races else None


def _are_in(ascending: AnyInts, rows: AnyInts) -> Mask:
    at = np.minimum(np.searchsorted(ascending, rows), max(0, len(ascending) - 1))
    return np.asarray(ascending[at] == rows) if len(ascending) else np.zeros(len(rows), bool)


def _are_others(session: Session, rows: Ints, row: int) -> Mask:
    """Return which accesses are of other threads, in the same copy of the memory, and conflict with this one."""
    trace = session.trace
    block = trace.block[rows] == trace.block[row]
    other = ~block | (trace.thread[rows] != trace.thread[row])
    if trace.buffers[int(trace.buffer[row])].space == "shared":
        other &= block
    return np.asarray(other & ((trace.op[rows] != Op.LOAD) | (trace.op[row] != Op.LOAD)))

"""Elements in races, at the moments of the unordered accesses. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....tracer.model.array_types import AnyInts, Ints, Mask
from ....tracer.model.finding import Finding
from ....tracer.model.trace import WARP, Op
from ...model.session import Selection, Session
from ..common.wording import block_text, coordinates_text, element_text

NEAR = 50_000  # accesses of a race, before and after one, that are searched for the conflicting one
VERBS = {Op.LOAD: "reads", Op.STORE: "writes", Op.ATOMIC: "updates", Op.REDUCTION: "updates"}


class Conflict(NamedTuple):
    """Two unordered accesses of one element, as rows of the trace."""

    here: int  # the given access
    other: int  # the conflicting access


class RacedElements(Struct, frozen=True, eq=False):
    """The harmful races of an examined session."""

    session: Session
    races: tuple[Finding, ...]

    def in_races(self, rows: Ints) -> Ints:
        """Select the accesses (rows of the trace) that are in a race."""
        inside = np.zeros(len(rows), bool)
        for race in self.races:
            inside |= _contains(race.rows, rows)
        raced: Ints = rows[inside]
        return raced

    def conflict(self, row: int) -> Conflict | None:
        """Find the access that conflicts with an access; None for an access in no race."""
        race = next((race for race in self.races if _contains(race.rows, np.array([row]))[0]), None)
        if race is None:
            return None
        if row in race.example:
            return Conflict(row, race.example[1 - race.example.index(row)])
        trace, position = self.session.trace, int(np.searchsorted(race.rows, row))
        near = np.asarray(race.rows[max(0, position - NEAR) : position + NEAR], np.int64)
        is_same_element = (trace.buffer[near] == trace.buffer[row]) & (trace.index[near] == trace.index[row])
        near = near[is_same_element & _conflicts_with(self.session, near, row)]
        if not len(near):
            return None
        distance = (trace.phase[near] != trace.phase[row]) * len(trace) + np.abs(near - row)
        return Conflict(row, int(near[np.argmin(distance)]))

    def rows_at(self, moment: int) -> Ints:
        """Select the accesses of a moment that are in a race."""
        return self.in_races(self.session.memory.accesses_at(moment))

    def sentence(self, row: int) -> str:
        """Describe a race: thread 4 writes s[4] on line 15, thread 0 reads it at moment 14; "" without a race."""
        conflict = self.conflict(row)
        if conflict is None:
            return ""
        trace, requests = self.session.trace, self.session.requests
        element = element_text(trace.buffers[int(trace.buffer[row])], int(trace.index[row]))
        moment = int(requests.moment[requests.request[conflict.other]])
        now = int(requests.moment[requests.request[row]])
        when = "at this moment too" if moment == now else f"at moment {moment:,}"
        names_blocks = trace.block[row] != trace.block[conflict.other]
        first, second = (self._describe_access(access, names_block=bool(names_blocks)) for access in conflict)
        return f"{first[0]} {first[1]} {element} {first[2]}, {second[0]} {second[1]} it {when}: nothing orders them"

    def _describe_access(self, row: int, *, names_block: bool) -> tuple[str, str, str]:
        """Describe an access: its thread, its verb and its line."""
        trace = self.session.trace
        actor = f"thread {coordinates_text(int(trace.thread[row]), trace.block_dim)}"
        actor += f" of {block_text(trace, int(trace.block[row]))}" if names_block else ""
        return actor, VERBS[Op(int(trace.op[row]))], f"on line {trace.sites[int(trace.site[row])].line}"

    def choose_access(self, rows: Ints, selection: Selection) -> int | None:
        """Choose an access of the selected thread, else of its warp, else of its block, else any."""
        trace = self.session.trace
        block = trace.block[rows] == selection.block
        warp = block & (trace.thread[rows] // WARP == selection.thread // WARP)
        for preferred in (
            warp & (trace.thread[rows] == selection.thread),
            warp,
            block,
            np.ones(len(rows), bool),
        ):
            if preferred.any():
                return int(rows[np.argmax(preferred)])
        return None


def collect_raced_elements(session: Session) -> RacedElements | None:
    """Collect the elements in races; None before the examination and without races."""
    if not session.is_examined:
        return None
    races = tuple(f for f in session.findings if f.kind == "race" and f.severity == "error")
    return RacedElements(session, races) if races else None


def _contains(ascending: AnyInts, rows: AnyInts) -> Mask:
    position = np.minimum(np.searchsorted(ascending, rows), max(0, len(ascending) - 1))
    return np.asarray(ascending[position] == rows) if len(ascending) else np.zeros(len(rows), bool)


def _conflicts_with(session: Session, rows: Ints, row: int) -> Mask:
    """Mark the accesses that conflict with this one: of other threads, in the same copy of the memory."""
    trace = session.trace
    block = trace.block[rows] == trace.block[row]
    other = ~block | (trace.thread[rows] != trace.thread[row])
    if trace.buffers[int(trace.buffer[row])].space == "shared":
        other &= block
    return np.asarray(other & ((trace.op[rows] != Op.LOAD) | (trace.op[row] != Op.LOAD)))

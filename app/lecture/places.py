"""Places in time, as a lecture names them, and the moments of a session that they mean."""

from __future__ import annotations

import math
import re

import numpy as np
from msgspec import Struct

from ...kernels.scenarios.suggestions import did_you_mean
from ..model import phase_steps
from ..model.session import Selection, Session

NUMBERED = ("moment", "phase", "middle of phase", "end of phase")
PLAIN = (
    "start", "end", "first load", "next phase", "end of this phase", "previous phase", "next block", "previous block",
)  # fmt: skip
RELATIVE = (
    "next phase",
    "end of this phase",
    "previous phase",
    "next block",
    "previous block",
    "moments",
    "line",
)
KNOWN = (
    'start, end, first load, moment 3, phase 2, next phase, next block, +3 moments, line "text", finding race'
)


class PlaceError(Exception):
    """A place that can't be read or is not there; the text is one sentence.

    step: of the lecture, the one whose place it is, where that is known.
    """

    step: int | None = None


class Place(Struct, frozen=True):
    """A place in time of the pane in focus."""

    kind: str  # of NUMBERED or PLAIN, or moments, line, finding
    number: int = 0  # of a moment or phase; of moments how many to go, back where negative
    text: str = ""  # of a line, or the kind of a finding

    @property
    def is_relative(self) -> bool:
        """Whether it depends on where the step before stood."""
        return self.kind in RELATIVE


def parse_place(text: str) -> Place:
    """Return the place that a text names; raises PlaceError."""
    text = " ".join(text.split())
    if text in PLAIN:
        return Place(text)
    if found := re.fullmatch(rf"({'|'.join(NUMBERED)}) (\d{{1,9}})", text):
        return Place(found[1], int(found[2]))
    if found := re.fullmatch(r"([+-])(\d{1,9}) moments?", text):
        return Place("moments", int(found[1] + found[2]))
    if found := re.fullmatch(r'line "(.+)"', text):
        return Place("line", text=found[1])
    if found := re.fullmatch(r"finding( [a-z0-9 ]+)?", text):
        return Place("finding", text=(found[1] or "").strip())
    raise PlaceError(f"{text!r} is no place in time; there are {KNOWN}.")


def place_text(place: Place) -> str:
    """Return the text that `parse_place` reads."""
    match place.kind:
        case "moments":
            return f"{place.number:+} moment{'s' * (abs(place.number) != 1)}"
        case "line":
            return f'line "{place.text}"'
        case "finding":
            return f"finding {place.text}".strip()
    return f"{place.kind} {place.number}" if place.kind in NUMBERED else place.kind


def find_place(
    place: Place, session: Session, selection: Selection, moment: float
) -> tuple[float, Selection]:
    """Return the moment of a place and what is looked at there, seen from a moment; raises PlaceError."""
    block = selection.block
    match place.kind:
        case "next block" | "previous block":
            direction = 1 if place.kind == "next block" else -1
            found = phase_steps.next_block(session, block, direction)
            if found == block:
                raise PlaceError(f"There is no {place.kind}: block {block} is at that end.")
            return phase_steps.block_span(session, found)[0] + 1, Selection(found, selection.thread)
        case "finding":
            return _of_finding(session, place.text, selection)
    return _moment_of(place, session, block, moment), selection


def _moment_of(place: Place, session: Session, block: int, moment: float) -> float:
    match place.kind:
        case "start":
            return 0
        case "end":
            return session.end
        case "first load":
            return phase_steps.first_load(session)
        case "moment":
            return _within(session, place.number)
        case "moments":
            return min(max(math.floor(moment) + place.number, 0), session.end)
        case "phase" | "middle of phase" | "end of phase":
            return _in_phase(session, block, place)
        case "next phase":
            return _further(session, phase_steps.next_phase(session, block, moment, 1), moment)
        case "previous phase":
            return phase_steps.next_phase(session, block, moment, -1)
        case "end of this phase":
            return phase_steps.phase_span(session, block, phase_steps.phase_at(session, block, moment))[1]
    return _of_line(session, place.text, block, moment)


def _within(session: Session, number: int) -> int:
    if number > session.end:
        raise PlaceError(f"There is no moment {number:,}: the last is {session.end:,}.")
    return number


def _further(session: Session, found: int, moment: float) -> int:
    if moment >= session.end:
        raise PlaceError("There is no next phase: this is the end.")
    return found


def _in_phase(session: Session, block: int, place: Place) -> int:
    phases = session.requests.span_start.shape[1] if session.requests.span_start.size else 0
    if place.number >= phases:
        raise PlaceError(f"There is no phase {place.number}: block {block} has {phases}, counted from 0.")
    first, last = phase_steps.phase_span(session, block, place.number)
    return {"phase": first + 1, "middle of phase": (first + last + 1) // 2}.get(place.kind, last)


def _of_line(session: Session, text: str, block: int, moment: float) -> int:
    """Return the next moment, this one aside, at which the block runs a line with this text."""
    wanted = lines_with(session, text)
    if not wanted:
        raise PlaceError(f"No line of the kernel has {text!r} in it.")
    requests = session.requests
    sites = [i for i, site in enumerate(session.trace.sites) if (site.file, site.line) in wanted]
    mine = (requests.block == block) & np.isin(requests.site, sites) & (requests.moment > moment)
    later = requests.moment[mine]
    if not len(later):
        raise PlaceError(f"Block {block} runs no line with {text!r} after moment {moment:,.0f}.")
    return int(later[0])


def lines_with(session: Session, text: str) -> set[tuple[str, int]]:
    """Return the (file, line) of each line of the kernel's source that has this text in it."""
    return {
        (file, number)
        for file, source in session.trace.sources.items()
        for number, line in enumerate(source.splitlines(), 1)
        if text in line
    }


def _of_finding(session: Session, kind: str, selection: Selection) -> tuple[float, Selection]:
    told = [finding for finding in session.findings if not kind or finding.kind == kind]
    if not told:
        kinds = dict.fromkeys(finding.kind for finding in session.findings)
        raise PlaceError(f"There is no finding {kind}".rstrip() + did_you_mean(kind, kinds))
    first = told[0]
    return first.moment, Selection(*first.threads[0]) if first.threads else selection

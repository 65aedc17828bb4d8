"""Places in time as a lecture names them, and their moments in a session."""

from __future__ import annotations

import math
import re

import numpy as np
from msgspec import Struct

from ....kernels.scenarios.suggestions import did_you_mean
from ...model import phase_steps
from ...model.session import Selection, Session

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
EXAMPLES = (
    'start, end, first load, moment 3, phase 2, next phase, next block, +3 moments, line "text", finding race'
)


class TimeAnchorError(Exception):
    """A place can't be read or found; the text is one sentence.

    step: the step of the lecture that names the place, if it is known.
    """

    step: int | None = None


class TimeAnchor(Struct, frozen=True):
    """A place in time of the pane in focus."""

    kind: str  # of NUMBERED or PLAIN, or moments, line, finding
    number: int = 0  # of a moment or phase; for moments the distance, negative to go back
    text: str = ""  # of a line, or the kind of a finding

    @property
    def is_relative(self) -> bool:
        """Whether it depends on the position of the step before."""
        return self.kind in RELATIVE


def parse_anchor(text: str) -> TimeAnchor:
    """Parse a place; raises TimeAnchorError."""
    text = " ".join(text.split())
    if text in PLAIN:
        return TimeAnchor(text)
    if match := re.fullmatch(rf"({'|'.join(NUMBERED)}) (\d{{1,9}})", text):
        return TimeAnchor(match[1], int(match[2]))
    if match := re.fullmatch(r"([+-])(\d{1,9}) moments?", text):
        return TimeAnchor("moments", int(match[1] + match[2]))
    if match := re.fullmatch(r'line "(.+)"', text):
        return TimeAnchor("line", text=match[1])
    if match := re.fullmatch(r"finding( [a-z0-9 ]+)?", text):
        return TimeAnchor("finding", text=(match[1] or "").strip())
    raise TimeAnchorError(f"{text!r} is not a place in time; write {EXAMPLES}.")


def anchor_text(place: TimeAnchor) -> str:
    """Format a place as `parse_place` reads it."""
    match place.kind:
        case "moments":
            return f"{place.number:+} moment{'s' * (abs(place.number) != 1)}"
        case "line":
            return f'line "{place.text}"'
        case "finding":
            return f"finding {place.text}".strip()
    return f"{place.kind} {place.number}" if place.kind in NUMBERED else place.kind


def find_anchor(
    place: TimeAnchor, session: Session, selection: Selection, moment: float
) -> tuple[float, Selection]:
    """Find the moment of a place and the selection there, relative to a moment; raises TimeAnchorError."""
    block = selection.block
    match place.kind:
        case "next block" | "previous block":
            direction = 1 if place.kind == "next block" else -1
            next_block = phase_steps.next_block(session, block, direction)
            if next_block == block:
                raise TimeAnchorError(
                    f"There is no {place.kind}: block {block} is the last in that direction."
                )
            return phase_steps.block_span(session, next_block)[0] + 1, Selection(next_block, selection.thread)
        case "finding":
            return _moment_of_finding(session, place.text, selection)
    return _moment_of(place, session, block, moment), selection


def _moment_of(place: TimeAnchor, session: Session, block: int, moment: float) -> float:
    match place.kind:
        case "start":
            return 0
        case "end":
            return session.end
        case "first load":
            return phase_steps.first_load(session)
        case "moment":
            return _checked_moment(session, place.number)
        case "moments":
            return min(max(math.floor(moment) + place.number, 0), session.end)
        case "phase" | "middle of phase" | "end of phase":
            return _in_phase(session, block, place)
        case "next phase":
            return _checked_next_phase(session, phase_steps.next_phase(session, block, moment, 1), moment)
        case "previous phase":
            return phase_steps.next_phase(session, block, moment, -1)
        case "end of this phase":
            return phase_steps.phase_span(session, block, phase_steps.phase_at(session, block, moment))[1]
    return _moment_of_line(session, place.text, block, moment)


def _checked_moment(session: Session, number: int) -> int:
    if number > session.end:
        raise TimeAnchorError(f"There is no moment {number:,}; the last one is {session.end:,}.")
    return number


def _checked_next_phase(session: Session, phase_start: int, moment: float) -> int:
    if moment >= session.end:
        raise TimeAnchorError("There is no next phase: this is the end.")
    return phase_start


def _in_phase(session: Session, block: int, place: TimeAnchor) -> int:
    phases = session.requests.span_start.shape[1] if session.requests.span_start.size else 0
    if place.number >= phases:
        raise TimeAnchorError(
            f"There is no phase {place.number}: block {block} has {phases}, counted from 0."
        )
    first, last = phase_steps.phase_span(session, block, place.number)
    return {"phase": first + 1, "middle of phase": (first + last + 1) // 2}.get(place.kind, last)


def _moment_of_line(session: Session, text: str, block: int, moment: float) -> int:
    """Find the next moment after this one at which the block runs a line with this text."""
    wanted = lines_with(session, text)
    if not wanted:
        raise TimeAnchorError(f"No line of the kernel contains {text!r}.")
    requests = session.requests
    sites = [i for i, site in enumerate(session.trace.sites) if (site.file, site.line) in wanted]
    is_match = (requests.block == block) & np.isin(requests.site, sites) & (requests.moment > moment)
    later = requests.moment[is_match]
    if not len(later):
        raise TimeAnchorError(f"Block {block} runs no line with {text!r} after moment {moment:,.0f}.")
    return int(later[0])


def lines_with(session: Session, text: str) -> set[tuple[str, int]]:
    """Find the (file, line) of each line of the kernel's source that contains this text."""
    return {
        (file, number)
        for file, source in session.trace.sources.items()
        for number, line in enumerate(source.splitlines(), 1)
        if text in line
    }


def _moment_of_finding(session: Session, kind: str, selection: Selection) -> tuple[float, Selection]:
    findings = [finding for finding in session.findings if not kind or finding.kind == kind]
    if not findings:
        kinds = dict.fromkeys(finding.kind for finding in session.findings)
        raise TimeAnchorError(f"There is no finding {kind}".rstrip() + did_you_mean(kind, kinds))
    first = findings[0]
    return first.moment, Selection(*first.threads[0]) if first.threads else selection

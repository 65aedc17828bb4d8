"""Local variables of the chosen thread, an expression over the threads of its block, and steps by line."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from ...tracer.causes.variables import Variables, Watched, number_text, variables_of, watch
from ...tracer.model.array_types import Ints
from ...tracer.model.trace import Trace
from .session import Selection, Session
from .value_causes import causes_of


def variables_text(session: Session, selection: Selection, accesses: int) -> str:
    """List the variables of a thread after a number of its accesses: "row = 3, total = 0.5"."""
    variables = _variables(session, selection, accesses)
    if variables.reason:
        return f"not known: {variables.reason}"
    return ", ".join(f"{name} = {number_text(value)}" for name, value in variables.values) or "none"


def _variables(session: Session, selection: Selection, accesses: int) -> Variables:
    own = vars(session)
    key = selection, accesses
    if own.get("variables", (None,))[0] != key:
        flows = causes_of(session).flows
        events = accesses + _outside_before(session.trace, selection, accesses)
        own["variables"] = key, variables_of(flows, selection.block, selection.thread, events)
    variables: Variables = own["variables"][1]
    return variables


def _outside_before(trace: Trace, selection: Selection, accesses: int) -> int:
    """Count a thread's accesses outside their arrays before its next access."""
    outside = trace.outside
    chosen = (outside.block == selection.block) & (outside.thread == selection.thread)
    if not chosen.any():
        return 0
    rows = np.flatnonzero((trace.block == selection.block) & (trace.thread == selection.thread))
    if accesses >= len(rows):
        return int(chosen.sum())
    return int((outside.step[chosen] < trace.steps_of(rows[accesses : accesses + 1])[0]).sum())


def watched(session: Session, block: int, text: str) -> Watched:
    """Evaluate an expression in each thread of a block; raises WatchError. The last one is kept."""
    own = vars(session)
    if own.get("watched", (None,))[0] != (block, text):
        own["watched"] = (block, text), watch(causes_of(session).flows, session.trace, block, text)
    values: Watched = own["watched"][1]
    return values


def accesses_until(session: Session, block: int, moment: float) -> Ints:
    """Count the accesses of each thread of a block up to a moment."""
    trace, requests = session.trace, session.requests
    rows = np.flatnonzero(trace.block == block)
    past = rows[requests.moment[requests.request[rows]] <= int(moment)]
    return np.bincount(trace.thread[past], minlength=trace.threads).astype(np.int64)


def line_moments(session: Session, rows: Ints, moments: Ints) -> list[int]:
    """List the moments at which a thread comes to another line, or to the same one again in a loop, ascending."""
    trace = session.trace
    comes: list[int] = []
    line, seen = None, set[int]()  # the sites since the thread came to the line
    for site, moment in zip(trace.site[rows].tolist(), moments.tolist(), strict=True):
        here = trace.sites[site].file, trace.sites[site].line
        if here != line or site in seen:
            comes.append(moment)
            line, seen = here, set()
        seen.add(site)
    return comes


def line_step(moments: list[int], moment: float, direction: int) -> int | None:
    """Return the next moment of a list in a direction, 1 or -1; None if there is none."""
    index = bisect_right(moments, int(moment))
    if direction > 0:
        return moments[index] if index < len(moments) else None
    index -= index > 0 and moments[index - 1] == int(moment)
    return moments[index - 1] if index > 0 else None

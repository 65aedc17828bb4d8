"""Waste, conflicts and races in memory: figures per line and per element, at any moment. No Qt."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.minimum_cost import compute_waste, one_access_per_element
from ....tracer.model.array_types import Ints
from ...model.session import Selection, Session

Line = tuple[str, int]
HEATS = {
    "wasted": "wasted sectors",
    "conflicts": "wasted wavefronts",
    "races": "accesses in a race",
}
EXPLANATIONS = {  # of the HEATS
    "wasted": "those that its requests moved beyond the fewest possible",
    "conflicts": "those that its requests took beyond the fewest possible",
    "races": "those that nothing orders",
}


class Heat(Struct, frozen=True, eq=False):
    """One figure of a trace: amounts of accesses, which add up by line and by element."""

    rows: Ints  # (n,), accesses (rows of the trace) in the order of their requests, so of their moments
    moments: Ints  # (n,), when each is made
    amount: Ints  # (n,), contribution of each to its element: sectors, wavefronts or accesses
    share: Ints  # (n,), contribution of each to its line, so that a request counts once


# No value may refer to its session: such a reference would keep the session alive.
_heats: WeakKeyDictionary[Session, dict[str, Heat]] = WeakKeyDictionary()
_wastes: WeakKeyDictionary[Session, tuple[Ints, Ints]] = WeakKeyDictionary()


def waste_of(session: Session) -> tuple[Ints, Ints]:
    """Compute the sectors and wavefronts of each request beyond its minimum. Memoised."""
    if session not in _wastes:
        _wastes[session] = compute_waste(session.trace, session.requests)
    return _wastes[session]


def heat_of(session: Session, figure: str) -> Heat:
    """Compute one of the HEATS of a session. Memoised. It has no races until the session is examined."""
    if figure == "races" and not session.is_examined:
        none = np.empty(0, np.int64)
        return Heat(none, none, none, none)
    kept = _heats.setdefault(session, {})
    if figure not in kept:
        kept[figure] = _race_heat(session) if figure == "races" else _waste_heat(session, figure)
    return kept[figure]


def line_heat(session: Session, figure: str, moment: int) -> dict[Line, int]:
    """Sum a figure up to a moment for each (file, line) that has any during the launch."""
    heat, sites = heat_of(session, figure), session.trace.sites
    done = int(np.searchsorted(heat.moments, moment, "right"))
    site = session.trace.site[heat.rows].astype(np.int64)
    sums = np.bincount(site[:done], heat.share[:done], minlength=len(sites))
    sums_by_line: dict[Line, int] = {}
    for number in np.unique(site).tolist():
        line = sites[number].file, sites[number].line
        sums_by_line[line] = sums_by_line.get(line, 0) + int(sums[number])
    return sums_by_line


def element_heat(session: Session, figure: str, buffer: int, moment: int, selection: Selection) -> Ints:
    """Sum a figure up to a moment for each element of the selection's copy of a buffer, in the buffer's shape."""
    heat, trace = heat_of(session, figure), session.trace
    done = int(np.searchsorted(heat.moments, moment, "right"))
    own = np.flatnonzero(_touches_visible_copy(session, heat.rows[:done], buffer, selection))
    element = session.memory.element_numbers(buffer, trace.index[heat.rows[own]])
    amount, shape = heat.amount[own], trace.buffers[buffer].shape
    sums = np.bincount(element[element >= 0], amount[element >= 0], minlength=int(np.prod(shape)))
    counted: Ints = sums.astype(np.int64).reshape(shape)
    return counted


def _touches_visible_copy(
    session: Session, rows: Ints, buffer: int, selection: Selection
) -> NDArray[np.bool_]:
    """Mark the accesses that touch the selection's copy of a buffer."""
    trace, space = session.trace, session.trace.buffers[buffer].space
    seen: NDArray[np.bool_] = trace.buffer[rows] == buffer
    if space in ("shared", "local"):
        seen &= trace.block[rows] == selection.block
    if space == "local":
        seen &= trace.thread[rows] == selection.thread
    return seen


def heat_moments(session: Session, figure: str, buffer: int) -> Ints:
    """List the moments at which elements of a buffer may change their sums, ascending."""
    heat = heat_of(session, figure)
    moments: Ints = heat.moments[session.trace.buffer[heat.rows] == buffer]
    return moments


def _make_heat(session: Session, rows: Ints, amount: Ints, share: Ints) -> Heat:
    return Heat(rows, session.requests.moment[session.requests.request[rows]], amount, share)


def _waste_heat(session: Session, figure: str) -> Heat:
    """Compute the heat of sectors or wavefronts, with one access of each request to each element it touches."""
    requests = session.requests
    waste = waste_of(session)[figure == "conflicts"]
    rows = one_access_per_element(session.trace, requests, waste > 0)
    request = requests.request[rows]
    first = np.ones(len(rows), bool)
    first[1:] = request[1:] != request[:-1]
    return _make_heat(session, rows, waste[request], np.where(first, waste[request], 0))


def _race_heat(session: Session) -> Heat:
    """Compute the heat of accesses in harmful races."""
    races = [f.rows for f in session.findings if f.kind == "race" and f.severity == "error"]
    rows: Ints = np.unique(np.concatenate(races)).astype(np.int64) if races else np.empty(0, np.int64)
    rows = rows[np.argsort(session.requests.request[rows], kind="stable")]
    ones = np.ones(len(rows), np.int64)
    return _make_heat(session, rows, ones, ones)

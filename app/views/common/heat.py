"""Where memory is wasted, in conflict or raced for: figures per line and per element, at any moment. No Qt."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.minimum_cost import once_each, wasted_of
from ....tracer.model.array_types import Ints
from ...model.session import Selection, Session

Line = tuple[str, int]
HEATS = {
    "wasted": "wasted sectors",
    "conflicts": "wasted wavefronts",
    "races": "accesses in a race",
}


class Heat(Struct, frozen=True, eq=False):
    """One figure of a trace: an amount for some accesses, which adds up by line and by element."""

    rows: Ints  # (n,), accesses (rows of the trace) in the order of their requests, so of their moments
    moments: Ints  # (n,), when each is made
    amount: Ints  # (n,), what each adds to its element: sectors, wavefronts or accesses
    share: Ints  # (n,), what each adds to its line, so that a request counts once


# Nothing in a value may refer to its session: that would keep it for ever.
_heats: WeakKeyDictionary[Session, dict[str, Heat]] = WeakKeyDictionary()
_wastes: WeakKeyDictionary[Session, tuple[Ints, Ints]] = WeakKeyDictionary()


def waste_of(session: Session) -> tuple[Ints, Ints]:
    """Return the sectors and wavefronts of each request beyond the least that could carry it."""
    if session not in _wastes:
        _wastes[session] = wasted_of(session.trace, session.requests)
    return _wastes[session]


def heat_of(session: Session, what: str) -> Heat:
    """Return a figure of HEATS of a session; it is computed once. Races are nowhere until they are known."""
    if what == "races" and not session.is_examined:
        none = np.empty(0, np.int64)
        return Heat(none, none, none, none)
    kept = _heats.setdefault(session, {})
    if what not in kept:
        kept[what] = _raced(session) if what == "races" else _wasted(session, what)
    return kept[what]


def line_heat(session: Session, what: str, moment: int) -> dict[Line, int]:
    """Return the sum for each (file, line) that ever has one, by this moment."""
    heat, sites = heat_of(session, what), session.trace.sites
    done = int(np.searchsorted(heat.moments, moment, "right"))
    site = session.trace.site[heat.rows].astype(np.int64)
    sums = np.bincount(site[:done], heat.share[:done], minlength=len(sites))
    found: dict[Line, int] = {}
    for number in np.unique(site).tolist():
        line = sites[number].file, sites[number].line
        found[line] = found.get(line, 0) + int(sums[number])
    return found


def element_heat(session: Session, what: str, buffer: int, moment: int, selection: Selection) -> Ints:
    """Return the sum by this moment for each element of the copy of a buffer that the selection sees, in its shape."""
    heat, trace = heat_of(session, what), session.trace
    done = int(np.searchsorted(heat.moments, moment, "right"))
    mine = np.flatnonzero(_seen(session, heat.rows[:done], buffer, selection))
    place = session.memory.element_numbers(buffer, trace.index[heat.rows[mine]])
    amount, shape = heat.amount[mine], trace.buffers[buffer].shape
    sums = np.bincount(place[place >= 0], amount[place >= 0], minlength=int(np.prod(shape)))
    counted: Ints = sums.astype(np.int64).reshape(shape)
    return counted


def _seen(session: Session, rows: Ints, buffer: int, selection: Selection) -> NDArray[np.bool_]:
    """Return which accesses are to the copy of a buffer that the selection sees."""
    trace, space = session.trace, session.trace.buffers[buffer].space
    seen: NDArray[np.bool_] = trace.buffer[rows] == buffer
    if space in ("shared", "local"):
        seen &= trace.block[rows] == selection.block
    if space == "local":
        seen &= trace.thread[rows] == selection.thread
    return seen


def heat_moments(session: Session, what: str, buffer: int) -> Ints:
    """Return the moments at which elements of a buffer may change their sums, ascending."""
    heat = heat_of(session, what)
    moments: Ints = heat.moments[session.trace.buffer[heat.rows] == buffer]
    return moments


def _heat(session: Session, rows: Ints, amount: Ints, share: Ints) -> Heat:
    return Heat(rows, session.requests.moment[session.requests.request[rows]], amount, share)


def _wasted(session: Session, what: str) -> Heat:
    """Return the heat of sectors or wavefronts: of each request, one access to each element that it touches."""
    requests = session.requests
    waste = waste_of(session)[what == "conflicts"]
    rows = once_each(session.trace, requests, waste > 0)
    request = requests.request[rows]
    first = np.ones(len(rows), bool)
    first[1:] = request[1:] != request[:-1]
    return _heat(session, rows, waste[request], np.where(first, waste[request], 0))


def _raced(session: Session) -> Heat:
    """Return the heat of accesses in harmful races."""
    found = [f.rows for f in session.findings if f.kind == "race" and f.severity == "error"]
    rows: Ints = np.unique(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)
    rows = rows[np.argsort(session.requests.request[rows], kind="stable")]
    one = np.ones(len(rows), np.int64)
    return _heat(session, rows, one, one)

"""The first moment of new sessions: the first load, a phase, a moment, an order's end, or the old sessions' moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..model import phase_steps
from ..model.bookmark import Link
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.session import Selection, Session
from ..model.thread_turns import chosen_moment
from .playhead import Playhead


class Panes(Protocol):
    """The state that the start depends on: the sessions of the panes, the focus, and the link."""

    @property
    def focus(self) -> int: ...
    @property
    def link_mode(self) -> Link: ...
    @property
    def playhead(self) -> Playhead: ...
    @property
    def sessions(self) -> Sequence[Session | None]: ...
    @property
    def selections(self) -> Sequence[Selection]: ...
    def ends(self) -> list[int]: ...


StartMoment = Callable[[Panes], float]  # the playhead's moment, once the sessions are loaded


def at_first_load(panes: Panes) -> float:
    """Start where every pane has made its first load, so that the first picture is not empty."""
    ends = panes.ends()
    starts = [
        playhead_moment(phase_steps.first_load(session), pane, ends, panes.link_mode)
        for pane, session in enumerate(panes.sessions)
        if session is not None
    ]
    return max(starts, default=0.0)


def at_phase(phase: int) -> StartMoment:
    """Start in the middle of a phase of the last pane's block, or at the end after the last phase."""

    def start(panes: Panes) -> float:
        session = panes.sessions[-1]
        if session is None:
            return 0.0
        first, last = phase_steps.phase_span(session, panes.selections[-1].block, phase)
        return at_moment((first + last + 1) // 2)(panes)

    return start


def at_moment(moment: float) -> StartMoment:
    """Start at a moment of the last pane, or at the end of all panes after its end."""

    def start(panes: Panes) -> float:
        ends = panes.ends()
        if moment >= ends[-1]:
            return float(max(ends))
        return playhead_moment(moment, len(ends) - 1, ends, panes.link_mode)

    return start


def after_order(panes: Panes, focus: int) -> float:
    """Start after the last part of the order of a pane; at the end if it has no session."""
    session, ends = panes.sessions[focus], panes.ends()
    if session is None:
        return float(max(ends, default=0))
    return playhead_moment(int(chosen_moment(session)), focus, ends, panes.link_mode)


def as_before(panes: Panes) -> StartMoment:
    """Start where the panes are now: at the same moment or the same share of the launches, as they are linked.

    It is an integer moment of the pane in focus. With a new kernel, stay at the end, but else start at the first load,
    as with no kernel before: the same share of another kernel may be an idle moment.
    """
    kernels, end = kernels_of(panes.sessions), panes.playhead.end
    moment, share = panes.playhead.moment, (panes.playhead.moment / end if end else 0.0)
    by_moment = panes.link_mode == "moment"

    def start(later: Panes) -> float:
        if not end:
            return at_first_load(later)
        if kernels_of(later.sessions) - kernels:
            return later.playhead.end if moment >= end else at_first_load(later)
        return _at_integer_moment(later, moment if by_moment else share * later.playhead.end)

    return start


def _at_integer_moment(panes: Panes, position: float) -> float:
    """Find the playhead's moment nearest to a position that puts the pane in focus at an integer moment."""
    ends, mode, pane = panes.ends(), panes.link_mode, panes.focus
    if position >= max(ends) or position <= 0:
        return position
    here = pane_moments(position, ends, mode)[pane]
    return playhead_moment(max(1.0, float(round(here))), pane, ends, mode)


def kernels_of(sessions: Iterable[Session | None]) -> frozenset[tuple[str, str]]:
    """Return the (scenario, kernel) pairs that the panes show."""
    return frozenset((s.launch.scenario, s.launch.kernel) for s in sessions if s is not None)

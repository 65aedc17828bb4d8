"""At which moment new sessions are shown first: the first load, in a phase, at a moment, or where the old ones were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..model import phase_steps
from ..model.bookmark import Link
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.playhead import Playhead
from ..model.session import Selection, Session


class Panes(Protocol):
    """What the start depends on: the sessions of the panes, one of which is in focus, and how they are linked."""

    focus: int
    link_mode: Link

    @property
    def playhead(self) -> Playhead: ...
    @property
    def sessions(self) -> Sequence[Session | None]: ...
    @property
    def selections(self) -> Sequence[Selection]: ...
    def ends(self) -> list[int]: ...


StartMoment = Callable[[Panes], float]  # the playhead's moment, once the sessions are there


def at_first_load(panes: Panes) -> float:
    """Start where every pane has made its first load: a picture that shows something at once."""
    ends = panes.ends()
    starts = [
        playhead_moment(phase_steps.first_load(session), pane, ends, panes.link_mode)
        for pane, session in enumerate(panes.sessions)
        if session is not None
    ]
    return max(starts, default=0.0)


def at_phase(phase: int) -> StartMoment:
    """Start in the middle of a phase of the last pane's block; beyond the last phase at the end."""

    def start(panes: Panes) -> float:
        session = panes.sessions[-1]
        if session is None:
            return 0.0
        first, last = phase_steps.phase_span(session, panes.selections[-1].block, phase)
        return at_moment((first + last + 1) // 2)(panes)

    return start


def at_moment(moment: float) -> StartMoment:
    """Start at a moment of the last pane; from its end on, at the end of all."""

    def start(panes: Panes) -> float:
        ends = panes.ends()
        if moment >= ends[-1]:
            return float(max(ends))
        return playhead_moment(moment, len(ends) - 1, ends, panes.link_mode)

    return start


def as_before(panes: Panes) -> StartMoment:
    """Start where the panes are now: at the same moment, or share of the launches, as they are linked.

    It is a whole moment of the pane in focus. Where a kernel has come that was not there before, or nothing was,
    it is the first load: the same share of another kernel may be where nothing happens.
    """
    known, end = kernels_of(panes.sessions), panes.playhead.end
    moment, share = panes.playhead.moment, (panes.playhead.moment / end if end else 0.0)
    by_moment = panes.link_mode == "moment"

    def start(later: Panes) -> float:
        if not end or kernels_of(later.sessions) - known:
            return at_first_load(later)
        return _at_whole_moment(later, moment if by_moment else share * later.playhead.end)

    return start


def _at_whole_moment(panes: Panes, position: float) -> float:
    """Return the playhead's moment nearest to a position at which the pane in focus is at a whole one."""
    ends, mode, pane = panes.ends(), panes.link_mode, panes.focus
    if position >= max(ends) or position <= 0:
        return position
    here = pane_moments(position, ends, mode)[pane]
    return playhead_moment(max(1.0, float(round(here))), pane, ends, mode)


def kernels_of(sessions: Iterable[Session | None]) -> frozenset[tuple[str, str]]:
    """Return the (scenario, kernel) of what panes show."""
    return frozenset((s.launch.scenario, s.launch.kernel) for s in sessions if s is not None)

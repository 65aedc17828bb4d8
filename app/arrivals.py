"""Where to look at new sessions first: at the first load, in a phase, at a moment, or where the old ones were."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import steps
from .playhead import clock_of, link

if TYPE_CHECKING:
    from .stage import Stage

Arrival = Callable[["Stage"], float]  # the playhead's moment, once the sessions are there


def at_first_load(stage: Stage) -> float:
    """Arrive where every pane has made its first load: a picture that shows something at once."""
    ends = stage.ends()
    clocks = [
        clock_of(steps.first_load(session), pane, ends, stage.link_mode)
        for pane, session in enumerate(stage.sessions)
        if session is not None
    ]
    return max(clocks, default=0.0)


def at_phase(phase: int) -> Arrival:
    """Arrive in the middle of a phase of the last pane's block; beyond the last phase at the end."""

    def arrival(stage: Stage) -> float:
        session = stage.sessions[-1]
        if session is None:
            return 0.0
        start, end = steps.phase_span(session, stage.selections[-1].block, phase)
        return at_moment((start + end + 1) // 2)(stage)

    return arrival


def at_moment(moment: float) -> Arrival:
    """Arrive at a moment of the last pane; from its end on, at the end of all."""

    def arrival(stage: Stage) -> float:
        ends = stage.ends()
        if moment >= ends[-1]:
            return float(max(ends))
        return clock_of(moment, len(ends) - 1, ends, stage.link_mode)

    return arrival


def as_before(stage: Stage) -> Arrival:
    """Arrive where the stage is now: at the same moment, or share of the launches, as they are linked.

    It is a whole moment of the pane in focus. Where a kernel has come that was not there before, or nothing was,
    it is the first load: the same share of another kernel may be where nothing happens.
    """
    known, end = kernels(stage), stage.playhead.end
    moment, share = stage.playhead.moment, (stage.playhead.moment / end if end else 0.0)
    by_moment = stage.link_mode == "moment"

    def arrival(later: Stage) -> float:
        if not end or kernels(later) - known:
            return at_first_load(later)
        return _whole(later, moment if by_moment else share * later.playhead.end)

    return arrival


def _whole(stage: Stage, clock: float) -> float:
    """Return the clock at which the pane in focus is at the whole moment nearest to a clock, the end for the end."""
    ends, mode, pane = stage.ends(), stage.link_mode, stage.focus
    if clock >= max(ends) or clock <= 0:
        return clock
    here = link(clock, ends, mode)[pane]
    return clock_of(max(1.0, float(round(here))), pane, ends, mode)


def kernels(stage: Stage) -> frozenset[tuple[str, str]]:
    """Return the (scenario, kernel) of what the panes show."""
    return frozenset((s.launch.scenario, s.launch.kernel) for s in stage.sessions if s is not None)

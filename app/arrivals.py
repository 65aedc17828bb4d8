"""Where to look at new sessions first: at the first load, in a phase, or at a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import steps
from .playhead import clock_of

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

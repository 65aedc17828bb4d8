"""Where a step stands, said in the most telling way: places that lead there, tried out as the player will."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...model import phase_steps
from ...model.pane_moments import pane_moments
from ...model.session import Selection, Session
from ..changes import StepChange
from ..document import Lecture
from ..places import Place, PlaceError, place_text
from ..scenes import Moment, Scene, moment_of

CLOSE = 1e-6  # moments that are the same


class Standing(Struct, frozen=True):
    """Where a step is to begin."""

    moment: float  # of the playhead
    selections: tuple[Selection, ...]  # one a pane

    def distance(self, moment: Moment) -> tuple[float, int]:
        """Return how far from it a step begins: in moments, and in how many panes another thread is looked at."""
        others = sum(a != b for a, b in zip(self.selections, moment.first_selections, strict=False))
        far = abs(self.moment - moment.begin)
        return (0.0 if far < CLOSE else far), others


def begin_of(moment: Moment) -> Standing:
    """Return where a step begins."""
    return Standing(moment.begin, moment.first_selections)


def stand_of(moment: Moment) -> Standing:
    """Return where a step stands once it has played."""
    return Standing(moment.stand, moment.selections)


class Trial:
    """Tries changes of one step of a lecture, with the sessions of its panes."""

    def __init__(
        self, lecture: Lecture, scenes: Sequence[Scene], number: int, sessions: Sequence[Session]
    ) -> None:
        self.lecture, self.scenes, self.number, self.sessions = lecture, scenes, number, sessions

    def moment(self, change: StepChange) -> Moment | None:
        """Return where the step stands with this change, None where that is no place."""
        steps = list(self.lecture.steps)
        steps[self.number] = replace(steps[self.number], change=change)
        try:
            return moment_of(
                replace(self.lecture, steps=tuple(steps)), self.scenes, self.number, self.sessions
            )
        except PlaceError:
            return None

    def nearest(
        self, change: StepChange, wanted: Standing, *, relative: bool
    ) -> tuple[StepChange, tuple[float, int]]:
        """Return the change, with the fewest and most telling lines of place, that leads nearest to where is wanted.

        relative: whether a place may depend on where the step before stands. Returns too how far from it that is.
        """
        best, least = change, (math.inf, 0)
        for tried in self._tried(change, wanted, relative):
            moment = self.moment(tried)
            distance = wanted.distance(moment) if moment else (math.inf, 0)
            if distance < least:
                best, least = tried, distance
            if least == (0.0, 0):
                break
        return best, least

    def _tried(self, change: StepChange, wanted: Standing, relative: bool) -> Iterator[StepChange]:
        yield change
        places = [None, *self._places(wanted, relative)]
        focus = min(self.scenes[self.number].look.focus, len(self.sessions) - 1)
        block, thread = wanted.selections[focus].block, wanted.selections[focus].thread
        elements = dict.fromkeys((change.element, None))
        for element in elements:
            for said in ((None, None), (None, thread), (block, None), (block, thread)):
                for place in places:
                    yield replace(change, at=place, element=element, block=said[0], thread=said[1])

    def _places(self, wanted: Standing, relative: bool) -> Iterator[Place]:
        """Yield the places that may be where the pane in focus is to stand, the most telling first."""
        scene = self.scenes[self.number]
        focus = min(scene.look.focus, len(self.sessions) - 1)
        session, block = self.sessions[focus], wanted.selections[focus].block
        here = pane_moments(wanted.moment, [s.end for s in self.sessions], scene.look.link)[focus]
        phase = phase_steps.phase_at(session, block, here)
        yield from (Place("start"), Place("end"))
        if relative:
            yield from (Place("next phase"), Place("end of this phase"), Place("next block"))
        for kind in ("phase", "end of phase", "middle of phase"):
            yield Place(kind, phase)
        yield from (Place("first load"), Place("moment", math.floor(here)), Place("moment", math.ceil(here)))


def place_said(before: StepChange, after: StepChange) -> dict[str, str | None]:
    """Return what has to be said, or left out where None, for the place of a change to become that of another."""
    said: dict[str, str | None] = {}
    if before.at != after.at:
        said["at"] = place_text(after.at) if after.at else None
    if before.element != after.element:
        said["element"] = None
    if before.block != after.block:
        said["block"] = None if after.block is None else str(after.block)
    if before.thread != after.thread:
        said["thread"] = None if after.thread is None else str(after.thread)
    return said

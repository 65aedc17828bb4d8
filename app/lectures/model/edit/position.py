"""Express the position of a step in the most readable way: try places and follow them like the player."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ....model import phase_steps
from ....model.pane_moments import pane_moments
from ....model.session import Selection, Session
from ..changes import PaneNumbers, StepChange, pane_numbers_text
from ..document import Lecture
from ..scenes import Moment, Scene, moment_of
from ..time_anchors import TimeAnchor, TimeAnchorError, anchor_text

CLOSE = 1e-6  # moments closer than this are equal


class StepPosition(Struct, frozen=True):
    """The wanted start of a step."""

    moment: float  # of the playhead
    selections: tuple[Selection, ...]  # one a pane

    def distance(self, moment: Moment) -> tuple[float, int]:
        """Return the distance of a step's start: in moments, and the number of panes with another selection."""
        others = sum(a != b for a, b in zip(self.selections, moment.first_selections, strict=False))
        far = abs(self.moment - moment.begin)
        return (0.0 if far < CLOSE else far), others


def begin_position(moment: Moment) -> StepPosition:
    """Return the start of a step."""
    return StepPosition(moment.begin, moment.first_selections)


def final_position(moment: Moment) -> StepPosition:
    """Return the position of a step after it has played."""
    return StepPosition(moment.stand, moment.selections)


class Trial:
    """Tries changes of one step of a lecture, with the sessions of its panes."""

    def __init__(
        self, lecture: Lecture, scenes: Sequence[Scene], number: int, sessions: Sequence[Session]
    ) -> None:
        self.lecture, self.scenes, self.number, self.sessions = lecture, scenes, number, sessions

    def moment(self, change: StepChange) -> Moment | None:
        """Compute the step's moment with this change, None if a place is invalid."""
        steps = list(self.lecture.steps)
        steps[self.number] = replace(steps[self.number], change=change)
        try:
            return moment_of(
                replace(self.lecture, steps=tuple(steps)), self.scenes, self.number, self.sessions
            )
        except TimeAnchorError:
            return None

    def nearest(
        self, change: StepChange, wanted: StepPosition, *, relative: bool
    ) -> tuple[StepChange, tuple[float, int]]:
        """Find the change, with the fewest and most readable lines of place, that begins nearest to `wanted`.

        relative: whether a place may depend on the position of the step before. Also returns the distance.
        """
        best, least = change, (math.inf, 0)
        for candidate in self._candidates(change, wanted, relative):
            moment = self.moment(candidate)
            distance = wanted.distance(moment) if moment else (math.inf, 0)
            if distance < least:
                best, least = candidate, distance
            if least == (0.0, 0):
                break
        return best, least

    def _candidates(self, change: StepChange, wanted: StepPosition, relative: bool) -> Iterator[StepChange]:
        yield change
        places = [None, *self._places(wanted, relative)]
        focus = min(self.scenes[self.number].look.focus, len(self.sessions) - 1)
        block, thread = (wanted.selections[focus].block,), (wanted.selections[focus].thread,)
        numbers: list[tuple[PaneNumbers | None, PaneNumbers | None]] = [
            (None, None), (None, thread), (block, None), (block, thread),
        ]  # fmt: skip
        if len(self.sessions) == 2:
            left, right = wanted.selections
            blocks, threads = (left.block, right.block), (left.thread, right.thread)
            numbers += [(None, threads), (block, threads), (blocks, threads)]
        elements = dict.fromkeys((change.element, None))
        for element in elements:
            for blocks_there, threads_there in numbers:
                for place in places:
                    yield replace(
                        change, anchor=place, element=element, block=blocks_there, thread=threads_there
                    )

    def _places(self, wanted: StepPosition, relative: bool) -> Iterator[TimeAnchor]:
        """Yield candidate places of the pane in focus, the most readable first."""
        scene = self.scenes[self.number]
        focus = min(scene.look.focus, len(self.sessions) - 1)
        session, block = self.sessions[focus], wanted.selections[focus].block
        here = pane_moments(wanted.moment, [s.end for s in self.sessions], scene.look.link)[focus]
        phase = phase_steps.phase_at(session, block, here)
        yield from (TimeAnchor("start"), TimeAnchor("end"))
        if relative:
            yield from (TimeAnchor("next phase"), TimeAnchor("end of this phase"), TimeAnchor("next block"))
        for kind in ("phase", "end of phase", "middle of phase"):
            yield TimeAnchor(kind, phase)
        yield from (
            TimeAnchor("first load"),
            TimeAnchor("moment", math.floor(here)),
            TimeAnchor("moment", math.ceil(here)),
        )


def place_lines(before: StepChange, after: StepChange) -> dict[str, str | None]:
    """List the values that change the place of one change into that of another; None removes a line."""
    values: dict[str, str | None] = {}
    if before.anchor != after.anchor:
        values["at"] = anchor_text(after.anchor) if after.anchor else None
    if before.element != after.element:
        values["element"] = None
    if before.block != after.block:
        values["block"] = None if after.block is None else pane_numbers_text(after.block)
    if before.thread != after.thread:
        values["thread"] = None if after.thread is None else pane_numbers_text(after.thread)
    return values

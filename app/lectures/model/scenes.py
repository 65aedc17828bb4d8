"""The contents of each step: the accumulated changes of all steps, and its moment once it is traced."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct

from ....kernels.scenarios.suggestions import did_you_mean
from ...model import phase_steps
from ...model.bookmark import Bookmark, Setup
from ...model.pane_moments import pane_moments, playhead_moment
from ...model.session import Selection, Session
from .changes import PANES, Element, Pane, Play, StepChange, apply_to_look, number_in_pane
from .document import Lecture
from .time_anchors import TimeAnchor, TimeAnchorError, find_anchor

FIRST_LOAD = TimeAnchor("first load")


class Scene(Struct, frozen=True):
    """The contents of a step, before it is traced."""

    panes: tuple[Pane, ...]  # from left to right; none before the first `show`
    look: Bookmark  # everything that does not depend on traces
    anchor: int  # the latest step up to this one with an absolute place
    play: Play | None  # from its place on


class Moment(Struct, frozen=True):
    """The position of a step, once its panes are traced."""

    begin: float  # of the playhead, at the start of the step
    stand: float  # after the step has played
    first_selections: tuple[Selection, ...]  # one a pane, at `begin`
    selections: tuple[Selection, ...]  # one a pane, at `stand`


BASE = Bookmark((), side="hidden", layout="lecture", nearest="hidden", compiled="hidden")


def scenes_of(lecture: Lecture) -> tuple[Scene, ...]:
    """Accumulate the changes into the contents of each step."""
    scenes: list[Scene] = []
    before = Scene((), BASE, 0, None)
    for number, step in enumerate(lecture.steps):
        before = _changed(before, step.change, number)
        scenes.append(before)
    return tuple(scenes)


def _changed(before: Scene, change: StepChange, number: int) -> Scene:
    look = msgspec.structs.replace(before.look, spotlight=change.spotlight or (), traced=change.traced)
    panes, anchor = before.panes, before.anchor
    if change.show is not None:
        panes, anchor = change.show, number
        look = msgspec.structs.replace(look, zoom=(), chart="", focus=len(panes) - 1)
    elif change.anchor is not None and not change.anchor.is_relative:
        anchor = number
    return Scene(panes, apply_to_look(look, change), anchor, change.play)


def first_step_with_panes(lecture: Lecture, scenes: Sequence[Scene], number: int) -> int:
    """Find the step that showed a step's panes: the selections accumulate from there."""
    while number > 0 and lecture.steps[number].change.show is None:
        number -= 1
    return number


def moment_of(lecture: Lecture, scenes: Sequence[Scene], number: int, sessions: Sequence[Session]) -> Moment:
    """Compute the moment of a step; raises TimeAnchorError for a place that does not exist.

    sessions: of the step's panes, which all steps from `selection_start` on share.
    """
    if not sessions:  # only a chart
        return Moment(0.0, 0.0, (), ())
    first = first_step_with_panes(lecture, scenes, number)
    standing = unplaced(sessions)
    for i in range(first, number + 1):
        try:
            standing = _next_moment(
                lecture.steps[i].change, scenes[i], sessions, standing, is_first=i == first
            )
        except TimeAnchorError as error:
            error.step = i
            raise
    return standing


def unplaced(sessions: Sequence[Session]) -> Moment:
    """Return the position of a step without a valid place: the start."""
    nowhere = (Selection(),) * len(sessions)
    return Moment(0.0, 0.0, nowhere, nowhere)


def _next_moment(
    change: StepChange, scene: Scene, sessions: Sequence[Session], before: Moment, *, is_first: bool
) -> Moment:
    """Compute the moment of a step from that of the step before."""
    stage = _Stage(sessions, scene)
    moment, selections = before.stand, stage.selected(change, before.selections)
    place = change.anchor or (FIRST_LOAD if is_first else None)
    begin, chosen = stage.moment_at(place, moment, selections) if place else (moment, selections)
    if change.anchor is None and not stage.runs(selections, begin):
        begin, chosen = stage.visited(selections)
    moment, selections = stage.moment_at(scene.play.to, begin, chosen) if scene.play else (begin, chosen)
    return Moment(begin, moment, chosen, selections)


class _Stage:
    """The sessions of a step, positioned as in the window."""

    def __init__(self, sessions: Sequence[Session], scene: Scene) -> None:
        self.sessions, self.link = sessions, scene.look.link
        self.focus = min(scene.look.focus, len(sessions) - 1)
        self.ends = [session.end for session in sessions]

    def moment_at(
        self, place: TimeAnchor, moment: float, selections: tuple[Selection, ...]
    ) -> tuple[float, tuple[Selection, ...]]:
        """Find the playhead's moment of a place, and the selections there."""
        here = pane_moments(moment, self.ends, self.link)[self.focus]
        pane_moment, selection = find_anchor(place, self.sessions[self.focus], selections[self.focus], here)
        if place.kind == "end":
            playhead = float(max(self.ends))
        elif place.kind == "first load":
            playhead = self._first_loads()
        else:
            playhead = playhead_moment(pane_moment, self.focus, self.ends, self.link)
        chosen = self._with(selection, selections) if selection != selections[self.focus] else selections
        return playhead, self.followed(chosen, playhead)

    def runs(self, selections: tuple[Selection, ...], moment: float) -> bool:
        """Check whether the selected block runs at a moment, so that it can stay selected."""
        return selections[self.focus].block == self.followed(selections, moment)[self.focus].block

    def visited(self, selections: tuple[Selection, ...]) -> tuple[float, tuple[Selection, ...]]:
        """Return the first moment of the selected block, and the selections there."""
        session, selection = self.sessions[self.focus], selections[self.focus]
        begin = phase_steps.block_span(session, selection.block)[0] + 1
        playhead = playhead_moment(begin, self.focus, self.ends, self.link)
        return playhead, self.followed(selections, playhead)

    def _first_loads(self) -> float:
        """Return the moment when every pane has made its first load, where new panes start."""
        return max(
            playhead_moment(phase_steps.first_load(session), pane, self.ends, self.link)
            for pane, session in enumerate(self.sessions)
        )

    def followed(self, selections: tuple[Selection, ...], moment: float) -> tuple[Selection, ...]:
        """Move each selection to a block that runs at a moment."""
        moments = pane_moments(moment, self.ends, self.link)
        return tuple(
            phase_steps.follow_running_block(session, selection, pane_moment)
            for session, selection, pane_moment in zip(self.sessions, selections, moments, strict=True)
        )

    def selected(self, change: StepChange, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
        """Apply a step's block, thread and element to the selections; raises TimeAnchorError."""
        if change.element is not None:
            selections = self._with(writer_of(self.sessions[self.focus], change.element), selections)
        for named in (None, *range(len(PANES))):
            block, thread = number_in_pane(change.block, named), number_in_pane(change.thread, named)
            pane = self.focus if named is None else named
            if block is None and thread is None:
                continue
            if pane >= len(self.sessions):
                raise TimeAnchorError(f"This step has no {PANES[pane]} pane; leave out its number.")
            here = selections[pane]
            wanted = Selection(
                here.block if block is None else block, here.thread if thread is None else thread
            )
            if wanted == here:
                continue
            self._require(pane, wanted)
            if named is None:
                selections = self._with(wanted, selections)
            else:
                selections = (*selections[:pane], wanted, *selections[pane + 1 :])
        return selections

    def _require(self, pane: int, wanted: Selection) -> None:
        """Raise TimeAnchorError unless the launch of a pane has this block and thread."""
        if phase_steps.clamp_selection(self.sessions[pane], wanted) != wanted:
            trace = self.sessions[pane].trace
            raise TimeAnchorError(
                f"There is no thread {wanted.thread} of block {wanted.block}: there are {trace.threads:,} threads in "
                f"each of {int(np.prod(trace.grid)):,} blocks, counted from 0."
            )

    def _with(self, wanted: Selection, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
        """Replace the selection of the pane in focus, and of the other pane if it has the same shape."""
        trace = self.sessions[self.focus].trace
        return tuple(
            wanted
            if pane == self.focus or (trace.grid, trace.block_dim) == (s.trace.grid, s.trace.block_dim)
            else old
            for pane, (s, old) in enumerate(zip(self.sessions, selections, strict=True))
        )


def writer_of(session: Session, element: Element) -> Selection:
    """Find the block and thread that write an element last; raises TimeAnchorError."""
    trace = session.trace
    numbers = [i for i, buffer in enumerate(trace.buffers) if buffer.name.lower() == element.buffer.lower()]
    if not numbers:
        hint = did_you_mean(element.buffer, [buffer.name for buffer in trace.buffers])
        raise TimeAnchorError(f"There is no buffer {element.buffer}{hint}")
    shape = trace.buffers[numbers[0]].shape
    if len(element.index) != len(shape) or any(i >= n for i, n in zip(element.index, shape, strict=False)):
        raise TimeAnchorError(f"{element.buffer} has the shape {shape} and no element {list(element.index)}.")
    flat = int(np.ravel_multi_index(element.index, shape))
    row = session.memory.writer(numbers[0], flat, session.end)
    if row is None:
        raise TimeAnchorError(f"No thread writes {element.buffer}{list(element.index)}.")
    return Selection(int(trace.block[row]), int(trace.thread[row]))


def scene_bookmark(scene: Scene, setups: tuple[Setup, ...], look: Bookmark) -> Bookmark:
    """Build the bookmark of a scene, with theme, text size and motion of the current look."""
    kept = {"theme": look.theme, "text_scale": look.text_scale, "reduced_motion": look.reduced_motion}
    return msgspec.structs.replace(scene.look, panes=setups, **kept)

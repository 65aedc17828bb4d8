"""What each step shows: the changes of all steps before it, added up, and where it stands once it is traced."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct

from ...kernels.scenarios.suggestions import did_you_mean
from ..model import phase_steps
from ..model.bookmark import Bookmark, Setup
from ..model.pane_moments import pane_moments, playhead_moment
from ..model.session import Selection, Session
from .changes import Element, Pane, Play, StepChange, changed_look
from .document import Lecture
from .places import Place, PlaceError, find_place

FIRST_LOAD = Place("first load")


class Scene(Struct, frozen=True):
    """What a step shows, before it is traced."""

    panes: tuple[Pane, ...]  # from left to right; none before the first `show`
    look: Bookmark  # all that does not depend on traces
    anchor: int  # the last step, this one or before, that says by itself where it stands
    play: Play | None  # from where it stands


class Moment(Struct, frozen=True):
    """Where a step stands, once its panes are traced."""

    begin: float  # of the playhead, where the step begins
    stand: float  # where it stands once it has played
    first_selections: tuple[Selection, ...]  # one a pane, at `begin`
    selections: tuple[Selection, ...]  # one a pane, at `stand`


BASE = Bookmark((), side="hidden", layout="lecture", nearest="hidden", compiled="hidden")


def scenes_of(lecture: Lecture) -> tuple[Scene, ...]:
    """Return what each step shows."""
    scenes: list[Scene] = []
    before = Scene((), BASE, 0, None)
    for number, step in enumerate(lecture.steps):
        before = _changed(before, step.change, number)
        scenes.append(before)
    return tuple(scenes)


def _changed(before: Scene, change: StepChange, number: int) -> Scene:
    look = msgspec.structs.replace(before.look, spotlight=change.spotlight or ())
    panes, anchor = before.panes, before.anchor
    if change.show is not None:
        panes, anchor = change.show, number
        look = msgspec.structs.replace(look, zoom=(), chart="", focus=len(panes) - 1)
    elif change.at is not None and not change.at.is_relative:
        anchor = number
    return Scene(panes, changed_look(look, change), anchor, change.play)


def selection_start(lecture: Lecture, scenes: Sequence[Scene], number: int) -> int:
    """Return the step from which on selections add up to those of a step: the one that showed its panes."""
    while number > 0 and lecture.steps[number].change.show is None:
        number -= 1
    return number


def moment_of(lecture: Lecture, scenes: Sequence[Scene], number: int, sessions: Sequence[Session]) -> Moment:
    """Return where a step stands; raises PlaceError with the sentence of a place that is not there.

    sessions: of the step's panes, which are those of all steps from `selection_start` on.
    """
    if not sessions:  # a chart alone
        return Moment(0.0, 0.0, (), ())
    first = selection_start(lecture, scenes, number)
    standing = unplaced(sessions)
    for i in range(first, number + 1):
        try:
            standing = _next_moment(
                lecture.steps[i].change, scenes[i], sessions, standing, is_first=i == first
            )
        except PlaceError as error:
            error.step = i
            raise
    return standing


def unplaced(sessions: Sequence[Session]) -> Moment:
    """Return the start of all, where a step stands that says nothing that is there."""
    nowhere = (Selection(),) * len(sessions)
    return Moment(0.0, 0.0, nowhere, nowhere)


def _next_moment(
    change: StepChange, scene: Scene, sessions: Sequence[Session], before: Moment, *, is_first: bool
) -> Moment:
    """Return where a step stands after the one before it."""
    stage = _Stage(sessions, scene)
    moment, selections = before.stand, stage.selected(change, before.selections)
    place = change.at or (FIRST_LOAD if is_first else None)
    begun, chosen = stage.at(place, moment, selections) if place else (moment, selections)
    if change.at is None and not stage.runs(selections, begun):
        begun, chosen = stage.visited(selections)
    moment, selections = stage.at(scene.play.to, begun, chosen) if scene.play else (begun, chosen)
    return Moment(begun, moment, chosen, selections)


class _Stage:
    """The sessions of a step, seen as the window sees them."""

    def __init__(self, sessions: Sequence[Session], scene: Scene) -> None:
        self.sessions, self.link = sessions, scene.look.link
        self.focus = min(scene.look.focus, len(sessions) - 1)
        self.ends = [session.end for session in sessions]

    def at(
        self, place: Place, moment: float, selections: tuple[Selection, ...]
    ) -> tuple[float, tuple[Selection, ...]]:
        """Return the playhead's moment of a place, and the selections there."""
        here = pane_moments(moment, self.ends, self.link)[self.focus]
        found, selection = find_place(place, self.sessions[self.focus], selections[self.focus], here)
        if place.kind == "end":
            there = float(max(self.ends))
        elif place.kind == "first load":
            there = self._first_loads()
        else:
            there = playhead_moment(found, self.focus, self.ends, self.link)
        chosen = self._with(selection, selections) if selection != selections[self.focus] else selections
        return there, self.followed(chosen, there)

    def runs(self, selections: tuple[Selection, ...], moment: float) -> bool:
        """Return whether the block that is looked at runs at a moment, so that it may stay."""
        return selections[self.focus].block == self.followed(selections, moment)[self.focus].block

    def visited(self, selections: tuple[Selection, ...]) -> tuple[float, tuple[Selection, ...]]:
        """Return the first moment of the block that is looked at, and the selections there."""
        session, selection = self.sessions[self.focus], selections[self.focus]
        begin = phase_steps.block_span(session, selection.block)[0] + 1
        there = playhead_moment(begin, self.focus, self.ends, self.link)
        return there, self.followed(selections, there)

    def _first_loads(self) -> float:
        """Return where every pane has made its first load, as where new panes stand."""
        return max(
            playhead_moment(phase_steps.first_load(session), pane, self.ends, self.link)
            for pane, session in enumerate(self.sessions)
        )

    def followed(self, selections: tuple[Selection, ...], moment: float) -> tuple[Selection, ...]:
        """Return the selections, each of a block that runs at a moment."""
        moments = pane_moments(moment, self.ends, self.link)
        return tuple(
            phase_steps.follow(session, selection, at)
            for session, selection, at in zip(self.sessions, selections, moments, strict=True)
        )

    def selected(self, change: StepChange, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
        """Return the selections with what a step says of block, thread and element; raises PlaceError."""
        if change.element is not None:
            selections = self._with(writer_of(self.sessions[self.focus], change.element), selections)
        here = selections[self.focus]
        block = here.block if change.block is None else change.block
        thread = here.thread if change.thread is None else change.thread
        wanted = Selection(block, thread)
        if wanted == here:
            return selections
        if phase_steps.within(self.sessions[self.focus], wanted) != wanted:
            trace = self.sessions[self.focus].trace
            raise PlaceError(
                f"There is no thread {thread} of block {block}: there are {trace.threads:,} threads in each of "
                f"{int(np.prod(trace.grid)):,} blocks, counted from 0."
            )
        return self._with(wanted, selections)

    def _with(self, wanted: Selection, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
        """Return the selections with another one in the pane in focus, and in the other where it has the same shape."""
        mine = self.sessions[self.focus].trace
        return tuple(
            wanted
            if pane == self.focus or (mine.grid, mine.block_dim) == (s.trace.grid, s.trace.block_dim)
            else old
            for pane, (s, old) in enumerate(zip(self.sessions, selections, strict=True))
        )


def writer_of(session: Session, element: Element) -> Selection:
    """Return the block and thread that write an element last; raises PlaceError."""
    trace = session.trace
    numbers = [i for i, buffer in enumerate(trace.buffers) if buffer.name.lower() == element.buffer.lower()]
    if not numbers:
        hint = did_you_mean(element.buffer, [buffer.name for buffer in trace.buffers])
        raise PlaceError(f"There is no buffer {element.buffer}{hint}")
    shape = trace.buffers[numbers[0]].shape
    if len(element.index) != len(shape) or any(i >= n for i, n in zip(element.index, shape, strict=False)):
        raise PlaceError(f"{element.buffer} has the shape {shape}, and no element {list(element.index)}.")
    flat = int(np.ravel_multi_index(element.index, shape))
    row = session.memory.writer(numbers[0], flat, session.end)
    if row is None:
        raise PlaceError(f"No thread writes {element.buffer}{list(element.index)}.")
    return Selection(int(trace.block[row]), int(trace.thread[row]))


def bookmark_of(scene: Scene, setups: tuple[Setup, ...], look: Bookmark) -> Bookmark:
    """Return the bookmark of a scene, with theme, text size and motion of the one that is looked through."""
    kept = {"theme": look.theme, "text_scale": look.text_scale, "reduced_motion": look.reduced_motion}
    return msgspec.structs.replace(scene.look, panes=setups, **kept)

"""Steps added, moved, copied and taken out. What follows keeps showing what it showed.

A step says what it changes against the step before. Where that becomes another one, the lines that make up for it are
written into the step, and no others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ...model.session import Session
from ..changes import StepChange, look_said
from ..document import MOST_STEPS, Lecture, Step
from ..places import PlaceError
from ..scenes import Scene, moment_of, scenes_of, selection_start
from .change_block import changed_lines, with_change_lines, with_keys
from .said import Panes, same_look, same_panes, show_text, with_said
from .source import EditError, blocks_of, body_of, lecture_of, source_of
from .standing import Trial, begin_of, place_said
from .text import check_others

SessionsOf = Callable[
    [Panes], Sequence[Session] | None
]  # of a step's panes, None where they are not traced yet


class UntracedError(EditError):
    """Where a step stands is not known before its panes are traced: `panes`."""

    def __init__(self, step: Step, panes: Panes) -> None:
        super().__init__(
            f"Where {step.title!r} stands depends on the steps before it, and what it shows is not traced yet; "
            "show that step first."
        )
        self.panes = panes


class Rearranged(Struct, frozen=True):
    """A lecture's text after steps changed places."""

    text: str
    told: tuple[str, ...] = ()  # what a step can no longer show as it did, a sentence each


def without_step(text: str, number: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Return the text without a step; raises EditError."""
    return _Rearrangement(text, path, sessions_of).made([i for i in _all(text, path) if i != number])


def moved_step(text: str, number: int, to: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Return the text in which a step has another number; raises EditError."""
    order: list[int | str] = list(_all(text, path))
    order.insert(to, order.pop(number))
    return _Rearrangement(text, path, sessions_of).made(order)


def copied_step(text: str, number: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Return the text with a step once more after itself, where it shows the same; raises EditError."""
    order: list[int | str] = list(_all(text, path))
    order.insert(number + 1, number)
    return _Rearrangement(text, path, sessions_of).made(order)


def with_step(text: str, after: int, body: str, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Return the text with a new step after another one, or at the beginning after -1; raises EditError.

    body: its text, see `step_text`.
    """
    order: list[int | str] = list(_all(text, path))
    order.insert(after + 1, body)
    return _Rearrangement(text, path, sessions_of).made(order)


def _all(text: str, path: Path) -> range:
    return range(len(lecture_of(text, path).steps))


class _Rearrangement:
    """Makes a lecture's text anew with its steps in another order."""

    def __init__(self, text: str, path: Path, sessions_of: SessionsOf) -> None:
        self.text, self.path, self.sessions_of = text, path, sessions_of
        self.old = lecture_of(text, path)
        self.scenes = scenes_of(self.old)
        self.source = source_of(text, self.old)
        self.told: list[str] = []

    def made(self, order: Sequence[int | str]) -> Rearranged:
        """Return the text with these steps: the numbers of old ones, or the text of a new one."""
        if len(order) > MOST_STEPS:
            raise EditError(f"A lecture has at most {MOST_STEPS} steps.")
        if list(order) == list(range(len(self.old.steps))):
            return Rearranged(self.text)
        bodies = [self._body(entry) for entry in order]
        steps = [self._step(entry) for entry in order]
        doubtful = False
        for place, entry in enumerate(order):
            before = order[place - 1] if place else -1
            if isinstance(entry, int) and (doubtful or before != entry - 1):
                lecture = replace(self.old, steps=tuple(steps))
                steps[place], said, doubtful = self._kept(lecture, place, entry)
                bodies[place] = self._said(bodies[place], self.old.steps[entry], said)
        text = self._joined(order, bodies)
        self._check(text, order)
        return Rearranged(text, tuple(self.told))

    def _body(self, entry: int | str) -> str:
        return (
            self.source.bodies[entry] if isinstance(entry, int) else entry.replace("\n", self.source.newline)
        )

    def _step(self, entry: int | str) -> Step:
        if isinstance(entry, int):
            return self.old.steps[entry]
        steps = lecture_of(f"# New\n\n{entry}\n", self.path).steps
        if len(steps) != 1:
            raise EditError("A new step has one heading, with ## before it.")
        return steps[0]

    def _kept(self, lecture: Lecture, place: int, entry: int) -> tuple[Step, dict[str, str | None], bool]:
        """Return a step that shows what it showed, what it has to say for that, and whether it can't quite."""
        step, wanted = lecture.steps[place], self.scenes[entry]
        change, said = self._with_scene(lecture, place, wanted)
        made = replace(step, change=change)
        steps = (*lecture.steps[:place], made, *lecture.steps[place + 1 :])
        lecture = replace(lecture, steps=steps)
        scenes = scenes_of(lecture)
        missed = not same_look(scenes[place].look, wanted.look) or not same_panes(
            scenes[place].panes, wanted.panes
        )
        if missed and (wanted.panes or not wanted.look.chart):
            self.told.append(f"{step.title!r} can't show quite what it showed.")
        placed, far = self._with_place(lecture, scenes, place, entry)
        return replace(made, change=placed), {**said, **place_said(change, placed)}, far or missed

    def _with_scene(
        self, lecture: Lecture, place: int, wanted: Scene
    ) -> tuple[StepChange, dict[str, str | None]]:
        """Return a step's change with what makes its scene the wanted one, and the lines for that."""
        said: dict[str, str | None] = {}
        change, shown = lecture.steps[place].change, scenes_of(lecture)[place]
        if wanted.panes and not same_panes(shown.panes, wanted.panes):
            said["show"] = show_text(wanted.panes, self.path.parent)
            change = replace(change, show=wanted.panes)
            steps = list(lecture.steps)
            steps[place] = replace(steps[place], change=change)
            shown = scenes_of(replace(lecture, steps=tuple(steps)))[place]
        look = look_said(shown.look, wanted.look)
        return with_said(change, look, self.path.parent), {**said, **look}

    def _with_place(
        self, lecture: Lecture, scenes: Sequence[Scene], place: int, entry: int
    ) -> tuple[StepChange, bool]:
        """Return a step's change with what lets it begin where it did, and whether that can't be said exactly."""
        step, panes = lecture.steps[place], self.scenes[entry].panes
        if not panes or _way(self.old, self.scenes, entry) == _way(lecture, scenes, place):
            return step.change, False
        sessions = self.sessions_of(panes)
        if sessions is None:
            raise UntracedError(step, panes)
        try:
            wanted = begin_of(moment_of(self.old, self.scenes, entry, sessions))
        except PlaceError:
            return step.change, False  # a mistake, which stays one
        change, distance = Trial(lecture, scenes, place, sessions).nearest(
            step.change, wanted, relative=False
        )
        if distance[0] == math.inf:
            self.told.append(f"{step.title!r} stands nowhere until the mistake in a step above it is mended.")
        elif distance != (0.0, 0):
            self.told.append(
                f"{step.title!r} can't stand quite where it stood: no place of its pane in focus says it."
            )
        return change, distance != (0.0, 0)

    def _said(self, body: str, step: Step, said: dict[str, str | None]) -> str:
        """Return a step's text in which its change says this too."""
        if not said:
            return body
        blocks = blocks_of(body, step)
        lines = with_keys(changed_lines(blocks), said)
        return body_of(with_change_lines(blocks, lines, self.path.parent), self.source.newline)

    def _joined(self, order: Sequence[int | str], bodies: Sequence[str]) -> str:
        """Return the text: steps that stood together keep what parted them, others get what is usual."""
        newline, gaps = self.source.newline, self.source.gaps
        usual = Counter(gap for gap in gaps[:-1] if gap.count("\n") > 1).most_common(1)
        parting = usual[0][0] if usual else newline * 2
        between = [gaps[a] if isinstance(a, int) and b == a + 1 else parting for a, b in pairwise(order)]
        head = self.source.head
        if bodies and head.strip() and order[0] != 0 and not head.endswith((newline * 2, "\n\n")):
            head = head.rstrip("\r\n") + newline * 2
        last = gaps[-1] if gaps else newline
        return replace(
            self.source, head=head, bodies=tuple(bodies), gaps=(*between, last)[: len(bodies)]
        ).text

    def _check(self, text: str, order: Sequence[int | str]) -> None:
        """Raise EditError where a step is read as another one now."""
        kept = {new: old for new, old in enumerate(order) if isinstance(old, int)}
        check_others(self.old, lecture_of(text, self.path), len(order), kept)


def _way(lecture: Lecture, scenes: Sequence[Scene], number: int) -> list[object]:
    """Return what decides where a step begins, apart from the launches: two steps with the same begin alike."""
    way: list[object] = [scenes[number].panes]
    for i in range(selection_start(lecture, scenes, number), number + 1):
        change, look = lecture.steps[i].change, scenes[i].look
        to = change.play.to if change.play and i < number else None
        said = (change.at, change.block, change.thread, change.element, to)
        if change.show is not None or any(value is not None for value in said):
            way.append((said, change.show is None, look.focus, look.link))
    return way

"""Add, move, copy and remove steps. The following steps keep what they show.

A step contains changes against the step before. If that becomes another step, the lines that compensate for it are
added to the step, and no others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ....model.session import Session
from ..changes import StepChange, look_lines
from ..document import MOST_STEPS, Lecture, Step
from ..scenes import Scene, first_step_with_panes, moment_of, scenes_of
from ..time_anchors import TimeAnchorError
from .change_block import lines_of_change, with_change_lines, with_keys
from .position import Trial, begin_position, place_lines
from .serialise import Panes, same_look, same_panes, show_text, with_lines_merged
from .source import EditError, blocks_of, body_of, lecture_of, source_of
from .text import check_others

SessionsOf = Callable[[Panes], Sequence[Session] | None]  # of a step's panes, None if they are not traced yet


class UntracedError(EditError):
    """The position of a step is unknown until its panes are traced: `panes`."""

    def __init__(self, step: Step, panes: Panes) -> None:
        super().__init__(
            f"The position of {step.title!r} depends on the steps before it, and its launch is not traced yet; "
            "show that step first."
        )
        self.panes = panes


class Rearranged(Struct, frozen=True):
    """A lecture's text after steps were rearranged."""

    text: str
    warnings: tuple[str, ...] = ()  # a sentence for each step that can't show the same as before


def remove_step(text: str, number: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Remove a step from the text; raises EditError."""
    return _Rearrangement(text, path, sessions_of).rearrange([i for i in _all(text, path) if i != number])


def move_step(text: str, number: int, to: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Give a step another number in the text; raises EditError."""
    order: list[int | str] = list(_all(text, path))
    order.insert(to, order.pop(number))
    return _Rearrangement(text, path, sessions_of).rearrange(order)


def copy_step(text: str, number: int, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Duplicate a step, so that the copy shows the same; raises EditError."""
    order: list[int | str] = list(_all(text, path))
    order.insert(number + 1, number)
    return _Rearrangement(text, path, sessions_of).rearrange(order)


def insert_step(text: str, after: int, body: str, path: Path, sessions_of: SessionsOf) -> Rearranged:
    """Insert a new step after another one, or at the beginning after -1; raises EditError.

    body: its text, see `step_text`.
    """
    order: list[int | str] = list(_all(text, path))
    order.insert(after + 1, body)
    return _Rearrangement(text, path, sessions_of).rearrange(order)


def _all(text: str, path: Path) -> range:
    return range(len(lecture_of(text, path).steps))


class _Rearrangement:
    """Rewrites a lecture's text with its steps in another order."""

    def __init__(self, text: str, path: Path, sessions_of: SessionsOf) -> None:
        self.text, self.path, self.sessions_of = text, path, sessions_of
        self.old = lecture_of(text, path)
        self.scenes = scenes_of(self.old)
        self.source = source_of(text, self.old)
        self.told: list[str] = []

    def rearrange(self, order: Sequence[int | str]) -> Rearranged:
        """Build the text with these steps: the numbers of old ones, or the text of a new one."""
        if len(order) > MOST_STEPS:
            raise EditError(f"A lecture has at most {MOST_STEPS} steps.")
        if list(order) == list(range(len(self.old.steps))):
            return Rearranged(self.text)
        bodies = [self._body(entry) for entry in order]
        steps = [self._step(entry) for entry in order]
        is_changed = False
        for place, entry in enumerate(order):
            before = order[place - 1] if place else -1
            if isinstance(entry, int) and (is_changed or before != entry - 1):
                lecture = replace(self.old, steps=tuple(steps))
                steps[place], lines, is_changed = self._preserved(lecture, place, entry)
                bodies[place] = self._with_lines(bodies[place], self.old.steps[entry], lines)
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

    def _preserved(
        self, lecture: Lecture, place: int, entry: int
    ) -> tuple[Step, dict[str, str | None], bool]:
        """Return a step that shows the same as before, the lines for that, and whether something differs."""
        step, wanted = lecture.steps[place], self.scenes[entry]
        change, lines = self._with_scene(lecture, place, wanted)
        new_step = replace(step, change=change)
        steps = (*lecture.steps[:place], new_step, *lecture.steps[place + 1 :])
        lecture = replace(lecture, steps=steps)
        scenes = scenes_of(lecture)
        missed = not same_look(scenes[place].look, wanted.look) or not same_panes(
            scenes[place].panes, wanted.panes
        )
        if missed and (wanted.panes or not wanted.look.chart):
            self.told.append(f"{step.title!r} can't show exactly the same as before.")
        placed, far = self._with_place(lecture, scenes, place, entry)
        return replace(new_step, change=placed), {**lines, **place_lines(change, placed)}, far or missed

    def _with_scene(
        self, lecture: Lecture, place: int, wanted: Scene
    ) -> tuple[StepChange, dict[str, str | None]]:
        """Return a step's change with the lines that turn its scene into the wanted one, and these lines."""
        lines: dict[str, str | None] = {}
        change, shown = lecture.steps[place].change, scenes_of(lecture)[place]
        if wanted.panes and not same_panes(shown.panes, wanted.panes):
            lines["show"] = show_text(wanted.panes, self.path.parent)
            change = replace(change, show=wanted.panes)
            steps = list(lecture.steps)
            steps[place] = replace(steps[place], change=change)
            shown = scenes_of(replace(lecture, steps=tuple(steps)))[place]
        look = look_lines(shown.look, wanted.look)
        return with_lines_merged(change, look, self.path.parent), {**lines, **look}

    def _with_place(
        self, lecture: Lecture, scenes: Sequence[Scene], place: int, entry: int
    ) -> tuple[StepChange, bool]:
        """Return a step's change with its old start, and whether that start can't be expressed exactly."""
        step, panes = lecture.steps[place], self.scenes[entry].panes
        if not panes or _begin_key(self.old, self.scenes, entry) == _begin_key(lecture, scenes, place):
            return step.change, False
        sessions = self.sessions_of(panes)
        if sessions is None:
            raise UntracedError(step, panes)
        try:
            wanted = begin_position(moment_of(self.old, self.scenes, entry, sessions))
        except TimeAnchorError:
            return step.change, False  # a mistake before and after
        change, distance = Trial(lecture, scenes, place, sessions).nearest(
            step.change, wanted, relative=False
        )
        if distance[0] == math.inf:
            self.told.append(
                f"{step.title!r} has no valid place until the mistake in a step above it is fixed."
            )
        elif distance != (0.0, 0):
            self.told.append(
                f"{step.title!r} can't begin exactly where it did: its pane in focus has no place there."
            )
        return change, distance != (0.0, 0)

    def _with_lines(self, body: str, step: Step, values: dict[str, str | None]) -> str:
        """Add these lines to the change in a step's text."""
        if not values:
            return body
        blocks = blocks_of(body, step)
        lines = with_keys(lines_of_change(blocks), values)
        return body_of(with_change_lines(blocks, lines, self.path.parent), self.source.newline)

    def _joined(self, order: Sequence[int | str], bodies: Sequence[str]) -> str:
        """Join the text: neighbours keep their separators, other steps get the usual one."""
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
        """Raise EditError if a step is now parsed differently."""
        kept = {new: old for new, old in enumerate(order) if isinstance(old, int)}
        check_others(self.old, lecture_of(text, self.path), len(order), kept)


def _begin_key(lecture: Lecture, scenes: Sequence[Scene], number: int) -> list[object]:
    """Return the key of a step's start, except for launches: steps with the same key begin alike."""
    key: list[object] = [scenes[number].panes]
    for i in range(first_step_with_panes(lecture, scenes, number), number + 1):
        change, look = lecture.steps[i].change, scenes[i].look
        to = change.play.to if change.play and i < number else None
        fields = (change.anchor, change.block, change.thread, change.element, to)
        if change.show is not None or any(value is not None for value in fields):
            key.append((fields, change.show is None, look.focus, look.link))
    return key

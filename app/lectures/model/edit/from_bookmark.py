"""Turn the current screen into the change of a step: the fewest lines against the step before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ....model import phase_steps
from ....model.bookmark import Bookmark
from ....model.explanation import traced_lines
from ....model.pane_moments import pane_moments, playhead_moment
from ....model.session import Selection, Session
from ..captions import Caption
from ..changes import StepChange, look_lines, merge_changes
from ..document import Lecture, Step
from ..scenes import scenes_of
from .change_block import with_keys
from .position import StepPosition, Trial, place_lines
from .serialise import Panes, read_lines, same_panes, show_text


def change_lines(
    lecture: Lecture, after: int, now: Bookmark, sessions: Sequence[Session], panes: Panes = ()
) -> list[str]:
    """List the change lines of a new step, after another one or first (-1), that show the current screen.

    now: its side is shown or hidden. sessions: of its panes. panes: as a lecture names them if the bookmark can't, for
    example launches of programs. Raises EditError for panes that a lecture can't name.
    """
    panes = panes or now.panes
    folder = lecture.folder
    lecture = replace(lecture, steps=(*lecture.steps[: after + 1], _EMPTY))
    number, lines, change = after + 1, dict[str, str | None](), StepChange()
    if not same_panes(scenes_of(lecture)[number].panes, panes):
        lines["show"] = show_text(panes, folder)
        change = _parse(lines, folder)
        lecture = _with_change(lecture, number, change)
    if sessions and now.spotlight:
        lines["spotlight"] = ", ".join(now.spotlight)
    if sessions:
        lines |= traced_lines(now.traced)
    before = scenes_of(lecture)[number].look
    focus = min(now.focus, max(len(panes) - 1, 0))
    look = replace(now, focus=focus, nearest=before.nearest, compiled=before.compiled)
    lines |= look_lines(before, look)
    change = merge_changes(change, _parse(lines, folder))
    if sessions:
        lecture = _with_change(lecture, number, change)
        trial = Trial(lecture, scenes_of(lecture), number, sessions)
        placed, _ = trial.nearest(change, current_position(now, sessions), relative=change.show is None)
        lines |= place_lines(change, placed)
    return with_keys([], lines)


_EMPTY = Step("", 1, 2, Caption(), "", Caption(), StepChange(), 1, ())


def _with_change(lecture: Lecture, number: int, change: StepChange) -> Lecture:
    return replace(lecture, steps=(*lecture.steps[:number], replace(_EMPTY, change=change)))


def _parse(lines: dict[str, str | None], folder: Path) -> StepChange:
    return read_lines([f"{key}: {value}" for key, value in lines.items()], folder)


def current_position(now: Bookmark, sessions: Sequence[Session]) -> StepPosition:
    """Return the position of the screen, at an integral moment of the pane in focus, which its memory shows."""
    ends, focus = [session.end for session in sessions], min(now.focus, len(sessions) - 1)
    selections = (*now.selections, *(Selection(),) * len(sessions))[: len(sessions)]
    if now.moment is None:
        first = phase_steps.first_load
        moment = max(playhead_moment(first(s), i, ends, now.link) for i, s in enumerate(sessions))
        return StepPosition(moment, selections)
    here = pane_moments(now.moment, ends, now.link)[focus]
    is_on_moment = here == math.floor(here) or now.moment >= max(ends, default=0)
    return StepPosition(
        now.moment if is_on_moment else playhead_moment(math.floor(here), focus, ends, now.link),
        selections,
    )

"""The options that say how a picture of the window looks: everything that a bookmark holds, and how its room is shared.

Those of a lecture's steps have the steps' words (`app/lecture/changes.py`); `app/window/copy_command.py` writes all.
"""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....tracer.model.launch import decode
from ....tracer.model.plan import kernel_source
from ....tracer.model.whole_numbers import whole_number_of
from ....tracer.storage.trace_file import load
from ...lecture.changes import COLOURS, PANELS, READERS, StepChange, changed_look
from ...lecture.document import Lecture, read_lecture
from ...lecture.library import lecture_file
from ...lecture.problems import LectureError
from ...model.bookmark import Bookmark, Room, Setup
from ...model.first_bookmark import first_bookmark
from ...model.kernel_source import TextEdit, with_edits
from ...model.session import Selection
from ..common.arguments import Parser, UsageError, positive_number

STEP_OPTIONS = {
    "focus": "left or right: the pane that the right column follows",
    "panel": f"of the right column: {', '.join(PANELS)}",
    "colour": f"what colours the cells: {', '.join(COLOURS)}",
    "picture": "auto, memory or histogram",
    "zoom": "buffers that the memory pictures show alone, as 'A, tile_a'",
    "spotlight": "what stands out, as 'C[2, 3], warp 1'",
    "chart": "a chart in place of the panes: of measured times in the words of tilescope export timings, or gpu",
    "link": "moment or progress: what two panes have in common",
    "time": "moments or measured: what timelines show, by a GPU's clock where it was recorded",
    "nearest": "shown or hidden: whether a pane that was not measured names the nearest measured launch",
    "compiled": "shown or hidden: counters as compiled, which are waited for",
    "speed": "moments a second, or auto",
    "words": "own, cuda or work-item: for threads and blocks",
}
LARGEST = 2**31  # of a moment or a number of a block or thread, which is beyond all there are


def add_picture_options(parser: Parser) -> None:
    """Add the options; `bookmark_of` and `room_of` read what was given."""
    more = parser.add_argument_group("everything else that the window shows", "as Copy as command writes it")
    for key, text in STEP_OPTIONS.items():
        more.add_argument(f"--{key}", type=_step_word(key), metavar="WORD", help=text)
    more.add_argument(
        "--playhead", type=_time, metavar="N.N", help="where time stands: moments of the longer launch"
    )
    more.add_argument(
        "--select",
        type=_selections,
        metavar="BLOCK:THREAD,…",
        help="what each pane looks at, by linear numbers",
    )
    more.add_argument(
        "--edit", action="append", default=[], metavar="PANE:LINES=TEXT",
        help="text in place of lines of a pane's kernel, as right:47-48=TEXT; 46+ is behind line 46",
    )  # fmt: skip
    more.add_argument("--step", metavar="LECTURE:N", help="what a lecture's step says, above the pictures")
    more.add_argument("--question", choices=("open", "answered"), default="answered", help="of that step")
    more.add_argument("--choice", type=positive_number, metavar="N", help="which of its choices was chosen")
    more.add_argument("--layout", choices=("ordinary", "lecture"), default="ordinary")
    more.add_argument(
        "--fields", choices=("shared", "own"), help="whether panes share their parameters' fields"
    )
    more.add_argument("--motion", choices=("full", "reduced"), default="full")
    more.add_argument("--loop", action="store_true", help="the end is followed by the start")
    more.add_argument(
        "--columns", type=_lengths, default=(), metavar="W:W:W", help="widths of what is side by side"
    )
    more.add_argument(
        "--rows", type=_lengths, default=(), metavar="H:H", help="heights of pictures and timelines"
    )
    more.add_argument(
        "--ranges", type=_ranges, default=(), metavar="FIRST:LAST,…", help="moments of each timeline, or all"
    )
    more.add_argument("--bar", choices=("shown", "hidden"), help="the bar at the top")


def bookmark_of(chosen: Namespace) -> Bookmark:
    """Return what was chosen, by default as the window opens; raises UsageError and CatalogueError."""
    mark = first_bookmark(chosen.scenario, None)
    panes = _edited(mark.panes, chosen.edit)
    mark = msgspec.structs.replace(
        mark, panes=panes, theme=chosen.theme, text_scale=chosen.text_size, layout=chosen.layout,
        reduced_motion=chosen.motion == "reduced", loop=chosen.loop, moment=chosen.playhead,
        selections=chosen.select or (), spotlight=chosen.spotlight or (),
        shared=mark.shared if chosen.fields is None else chosen.fields == "shared",
    )  # fmt: skip
    said = {key: getattr(chosen, key) for key in STEP_OPTIONS}
    return _fitting(changed_look(mark, StepChange(**said)))


def _fitting(mark: Bookmark) -> Bookmark:
    """Return a bookmark that speaks of no pane that it has not."""
    if mark.focus >= len(mark.panes):
        raise UsageError("--focus right needs two panes; name another scenario, or leave it out.")
    if len(mark.selections) > len(mark.panes):
        raise UsageError(f"--select looks at {len(mark.selections)} panes, where there is only one.")
    return mark


def room_of(chosen: Namespace) -> Room:
    """Return how the room is shared."""
    bar = None if chosen.bar is None else chosen.bar == "shown"
    return Room(chosen.columns, chosen.rows, chosen.ranges, bar)


class ShownStep(NamedTuple):
    """A step of a lecture, as it is on screen."""

    lecture: Lecture
    number: int  # from 0
    is_open: bool  # its question is not answered yet
    chosen: int | None  # of the question's choices, from 0


def step_of(chosen: Namespace) -> ShownStep | None:
    """Return the step that was named; raises UsageError."""
    if chosen.step is None:
        return None
    name, _, text = chosen.step.rpartition(":")
    try:
        lecture = read_lecture(lecture_file(name))
    except LectureError as error:
        raise UsageError(str(error)) from None
    number = whole_number_of(text) or 0
    if not 1 <= number <= len(lecture.steps):
        raise UsageError(f"--step must be LECTURE:N, N from 1 to {len(lecture.steps)}, not {chosen.step!r}.")
    choice = None if chosen.choice is None else chosen.choice - 1
    return ShownStep(lecture, number - 1, chosen.question == "open", choice)


def _edited(panes: Sequence[Setup], edits: Sequence[str]) -> tuple[Setup, ...]:
    """Return setups whose kernels have lines in place of others."""
    by_pane: dict[int, list[TextEdit]] = {}
    for edit in edits:
        place, _, text = edit.partition("=")
        pane, _, where = place.rpartition(":")
        number = {"left": 0, "right": 1}.get(pane, len(panes))
        if number >= len(panes):
            raise UsageError(f"--edit {place!r} is of no pane here; write left:47=TEXT, or right.")
        by_pane.setdefault(number, []).append(TextEdit(where, text))
    try:
        return tuple(
            msgspec.structs.replace(setup, source=with_edits(_own_text(setup), by_pane[i]))
            if i in by_pane
            else setup
            for i, setup in enumerate(panes)
        )
    except ValueError as error:
        raise UsageError(f"--edit can't be made: {error}") from None


def _own_text(setup: Setup) -> str:
    """Return the text of a kernel's file before it is edited."""
    if setup.source or not setup.file:
        return setup.source or kernel_source(find(setup.scenario).kernel)[1]
    return decode(load(setup.file).launch).source


def _step_word(key: str) -> Callable[[str], Any]:
    """Return the type of a word that steps of lectures have too."""

    def read(text: str) -> Any:
        try:
            return READERS[key](text, Path())
        except (CatalogueError, ValueError) as error:
            raise ArgumentTypeError(str(error)) from None

    return read


def _time(text: str) -> float:
    try:
        moment = float(text)
    except ValueError:
        moment = -1.0
    if not 0 <= moment < LARGEST:
        raise ArgumentTypeError(f"must be a moment from 0 on, not {text!r}")
    return moment


def _selections(text: str) -> tuple[Selection, ...]:
    found = []
    for part in text.split(","):
        numbers = [whole_number_of(number) for number in part.split(":")]
        known = [number for number in numbers if number is not None and number < LARGEST]
        if len(known) != 2 or len(numbers) != 2:
            raise ArgumentTypeError(f"must be BLOCK:THREAD of each pane, as 0:5,3:0, not {text!r}")
        found.append(Selection(*known))
    return tuple(found)


def _lengths(text: str) -> tuple[int, ...]:
    numbers = [whole_number_of(part) for part in text.split(":")]
    known = tuple(number for number in numbers if number is not None and number < 2**15)
    if len(known) != len(numbers):
        raise ArgumentTypeError(f"must be lengths in points, as 500:500:300, not {text!r}")
    return known


def _ranges(text: str) -> tuple[tuple[float, float] | None, ...]:
    return tuple(None if part == "all" else _range(part) for part in text.split(","))


def _range(text: str) -> tuple[float, float]:
    first, _, last = text.partition(":")
    found = _time(first), _time(last)
    if not found[0] < found[1]:
        raise ArgumentTypeError(f"must be FIRST:LAST, the first before the last, not {text!r}")
    return found

"""The options for the look of a picture: all fields of a bookmark, and the sizes of the window's areas.

Options that steps of lectures share use the same keys (`app/lectures/model/changes.py`).
`app/window/copy_command.py` writes all of them.
"""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....tracer.model.integers import parse_integer
from ....tracer.model.launch import decode
from ....tracer.model.plan import kernel_source
from ....tracer.storage.trace_file import load
from ...lectures.model.changes import COLOURS, PANELS, READERS, StepChange, apply_to_look
from ...lectures.model.document import Lecture, read_lecture
from ...lectures.model.library import lecture_file
from ...lectures.model.problems import LectureError
from ...model.bookmark import Bookmark, Room, Setup
from ...model.first_bookmark import first_bookmark
from ...model.kernel_source import TextEdit, apply_edits
from ...model.session import Selection
from ..common.arguments import Parser, UsageError, positive_integer

STEP_OPTIONS = {
    "focus": "left or right: the pane that the right column follows",
    "panel": f"the tab of the right column: {', '.join(PANELS)}",
    "colour": f"what colours the cells: {', '.join(COLOURS)}",
    "picture": "auto, memory or histogram",
    "zoom": "the only buffers that the memory pictures show, as in 'A, tile_a'",
    "spotlight": "what is highlighted, as in 'C[2, 3], warp 1'",
    "chart": "a chart instead of the panes: measured times as in tilescope export timings, or gpu",
    "link": "moment or progress: how two panes are linked",
    "time": "moments or measured: what timelines show; measured is GPU time, where it was recorded",
    "nearest": "shown or hidden: whether a pane without measurements names the nearest measured launch",
    "compiled": "shown or hidden: the compiled counters, which the picture waits for",
    "speed": "moments a second, or auto",
    "words": "own, cuda or work-item: the terms for threads and blocks",
}
PATH_OPTIONS = {
    "trace back": "the path of a value back to its causes, as in 'C[2, 3]'",
    "trace forward": "what a value reaches, as in 'A[0, 3]'",
}
MAX_NUMBER = 2**31  # of a moment or a number of a block or thread


def add_picture_options(parser: Parser) -> None:
    """Add the options; `bookmark_of` and `room_of` read them."""
    more = parser.add_argument_group("everything else that the window shows", "as Copy as command writes it")
    for key, text in STEP_OPTIONS.items():
        more.add_argument(f"--{key}", type=_step_word(key), metavar="WORD", help=text)
    path = more.add_mutually_exclusive_group()
    for key, text in PATH_OPTIONS.items():
        path.add_argument(f"--{key.replace(' ', '-')}", type=_step_word(key), metavar="ELEMENT", help=text)
    more.add_argument(
        "--playhead", type=_time, metavar="N.N", help="the playhead's moment in the longer launch"
    )
    more.add_argument(
        "--select",
        type=_selections,
        metavar="BLOCK:THREAD,…",
        help="the selection of each pane, as linear numbers",
    )
    more.add_argument(
        "--edit", action="append", default=[], metavar="PANE:LINES=TEXT",
        help="replace lines of a pane's kernel, as in right:47-48=TEXT; 46+ inserts after line 46",
    )  # fmt: skip
    more.add_argument(
        "--step", metavar="LECTURE:N", help="show the caption of a lecture's step above the pictures"
    )
    more.add_argument(
        "--question",
        choices=("open", "answered"),
        default="answered",
        help="the state of its question",
    )
    more.add_argument("--choice", type=positive_integer, metavar="N", help="the selected choice")
    more.add_argument("--layout", choices=("ordinary", "lecture"), default="ordinary")
    more.add_argument(
        "--fields", choices=("shared", "own"), help="whether panes share their parameters' fields"
    )
    more.add_argument("--motion", choices=("full", "reduced"), default="full")
    more.add_argument("--loop", action="store_true", help="restart at the end")
    more.add_argument(
        "--columns",
        type=_lengths,
        default=(),
        metavar="W:W:W",
        help="widths of the panes and the right column",
    )
    more.add_argument(
        "--rows", type=_lengths, default=(), metavar="H:H", help="heights of pictures and timelines"
    )
    more.add_argument(
        "--ranges", type=_ranges, default=(), metavar="FIRST:LAST,…", help="moments of each timeline, or all"
    )
    more.add_argument("--bar", choices=("shown", "hidden"), help="the toolbar")


def bookmark_of(chosen: Namespace) -> Bookmark:
    """Build the bookmark of the options, with the window's defaults; raises UsageError and CatalogueError."""
    mark = first_bookmark(chosen.scenario, None)
    panes = _edited(mark.panes, chosen.edit)
    mark = msgspec.structs.replace(
        mark, panes=panes, theme=chosen.theme, text_scale=chosen.text_size, layout=chosen.layout,
        reduced_motion=chosen.motion == "reduced", loop=chosen.loop, moment=chosen.playhead,
        selections=chosen.select or (), spotlight=chosen.spotlight or (),
        traced=chosen.trace_back or chosen.trace_forward,
        shared=mark.shared if chosen.fields is None else chosen.fields == "shared",
    )  # fmt: skip
    fields = {key: getattr(chosen, key) for key in STEP_OPTIONS}
    return _fitting(apply_to_look(mark, StepChange(**fields)))


def _fitting(mark: Bookmark) -> Bookmark:
    """Check that a bookmark refers only to existing panes, and return it."""
    if mark.focus >= len(mark.panes):
        raise UsageError("--focus right needs two panes; name another scenario, or remove the option.")
    if len(mark.selections) > len(mark.panes):
        raise UsageError(f"--select names {len(mark.selections)} panes, but there is only one.")
    return mark


def room_of(chosen: Namespace) -> Room:
    """Build the sizes of the window's areas."""
    bar = None if chosen.bar is None else chosen.bar == "shown"
    return Room(chosen.columns, chosen.rows, chosen.ranges, bar)


class DisplayedStep(NamedTuple):
    """A step of a lecture, as displayed."""

    lecture: Lecture
    number: int  # from 0
    is_open: bool  # its question is not answered yet
    chosen: int | None  # index of the selected choice


def step_of(chosen: Namespace) -> DisplayedStep | None:
    """Find the step that --step names; raises UsageError."""
    if chosen.step is None:
        return None
    name, _, text = chosen.step.rpartition(":")
    try:
        lecture = read_lecture(lecture_file(name))
    except LectureError as error:
        raise UsageError(str(error)) from None
    number = parse_integer(text) or 0
    if not 1 <= number <= len(lecture.steps):
        raise UsageError(f"--step must be LECTURE:N, N from 1 to {len(lecture.steps)}, not {chosen.step!r}.")
    choice = None if chosen.choice is None else chosen.choice - 1
    return DisplayedStep(lecture, number - 1, chosen.question == "open", choice)


def _edited(panes: Sequence[Setup], edits: Sequence[str]) -> tuple[Setup, ...]:
    """Apply the edits to the kernels of the setups."""
    by_pane: dict[int, list[TextEdit]] = {}
    for edit in edits:
        place, _, text = edit.partition("=")
        pane, _, where = place.rpartition(":")
        number = {"left": 0, "right": 1}.get(pane, len(panes))
        if number >= len(panes):
            raise UsageError(f"--edit {place!r} names no pane; write left:47=TEXT or right:47=TEXT.")
        by_pane.setdefault(number, []).append(TextEdit(where, text))
    try:
        return tuple(
            msgspec.structs.replace(setup, source=apply_edits(_own_text(setup), by_pane[i]))
            if i in by_pane
            else setup
            for i, setup in enumerate(panes)
        )
    except ValueError as error:
        raise UsageError(f"--edit can't be applied: {error}") from None


def _own_text(setup: Setup) -> str:
    """Return the text of a kernel's file before its edits."""
    if setup.source or not setup.file:
        return setup.source or kernel_source(find(setup.scenario).kernel)[1]
    return decode(load(setup.file).launch).source


def _step_word(key: str) -> Callable[[str], Any]:
    """Return the argument type of a key that steps of lectures share."""

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
    if not 0 <= moment < MAX_NUMBER:
        raise ArgumentTypeError(f"must be a moment from 0 on, not {text!r}")
    return moment


def _selections(text: str) -> tuple[Selection, ...]:
    selections = []
    for part in text.split(","):
        numbers = [parse_integer(number) for number in part.split(":")]
        valid = [number for number in numbers if number is not None and number < MAX_NUMBER]
        if len(valid) != 2 or len(numbers) != 2:
            raise ArgumentTypeError(f"must be BLOCK:THREAD for each pane, as in 0:5,3:0, not {text!r}")
        selections.append(Selection(*valid))
    return tuple(selections)


def _lengths(text: str) -> tuple[int, ...]:
    numbers = [parse_integer(part) for part in text.split(":")]
    valid = tuple(number for number in numbers if number is not None and number < 2**15)
    if len(valid) != len(numbers):
        raise ArgumentTypeError(f"must be lengths in points, as in 500:500:300, not {text!r}")
    return valid


def _ranges(text: str) -> tuple[tuple[float, float] | None, ...]:
    return tuple(None if part == "all" else _range(part) for part in text.split(","))


def _range(text: str) -> tuple[float, float]:
    first, _, last = text.partition(":")
    bounds = _time(first), _time(last)
    if not bounds[0] < bounds[1]:
        raise ArgumentTypeError(f"must be FIRST:LAST, the first before the last, not {text!r}")
    return bounds

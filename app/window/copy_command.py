"""Copy as command: a `tilescope snapshot` command that draws the current window on another machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...kernels.scenarios.catalogue import CatalogueError, find
from ...tracer.model.plan import kernel_source
from ..lectures.model.changes import look_lines
from ..lectures.model.library import lecture_name, shipped_lectures
from ..model.bookmark import Bookmark, Room, Setup
from ..model.explanation import traced_lines
from ..model.first_bookmark import setups_of
from ..model.kernel_source import edits_between
from ..model.setup_text import spec_of

LONGEST = 20_000  # characters of a line that every terminal accepts
PANES = ("left", "right")
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
OwnText = Callable[[str], str]  # maps the path of a trace file to the text of its kernel's file


class Screen(NamedTuple):
    """Size and theme of the window."""

    width: int  # points
    height: int
    scale: float  # pixels a point
    theme: str  # light or dark


class LectureStep(NamedTuple):
    """The current step of a lecture."""

    file: Path
    number: int  # from 0
    is_open: bool  # its question is not answered yet
    chosen: int | None  # of the question's choices, from 0


class CopyError(Exception):
    """No command can draw the window; the text is one sentence."""


def command_of(
    mark: Bookmark, room: Room, screen: Screen, own_text: OwnText, step: LectureStep | None = None
) -> str:
    """Build the command for a window that shows a bookmark; raises CopyError if it would be too long.

    mark: its side is shown or hidden. step: the current step of a lecture.
    """
    words = [_pane_word(setup) for setup in mark.panes]
    for pane, setup in zip(PANES, mark.panes, strict=False):
        words += _edit_words(pane, setup, own_text)
    words += _step_words(step) if step else []
    words += [*_look_words(mark, screen.theme), *_room_words(room)]
    words += ["--size", f"{screen.width}x{screen.height}"]
    words += ["--scale", f"{screen.scale:g}"] if screen.scale != 1 else []
    line = " ".join(["tilescope", "snapshot", *map(_quoted, words), "-o", "tilescope.png"])
    if len(line) > LONGEST:
        raise CopyError(
            "The kernel's text has too many changes for one command; save it and open the saved file."
        )
    return line


def _pane_word(setup: Setup) -> str:
    """Name a setup; a trace file by its file name only, since the command is run in its folder."""
    try:
        word = spec_of(msgspec.structs.replace(setup, file=Path(setup.file).name) if setup.file else setup)
        setups_of([word])
    except CatalogueError as error:
        raise CopyError(f"No command can name this setup: {error}") from None
    return word


def _step_words(step: LectureStep) -> list[str]:
    name = lecture_name(step.file) if step.file in shipped_lectures() else step.file.name
    words = ["--step", f"{name}:{step.number + 1}"]
    words += ["--question", "open"] if step.is_open else []
    return words + (["--choice", str(step.chosen + 1)] if step.chosen is not None else [])


def files_of(mark: Bookmark, step: LectureStep | None) -> list[str]:
    """List the names of the files that must be in the folder where the command is run."""
    lecture = [step.file.name] if step and step.file not in shipped_lectures() else []
    return [*(Path(setup.file).name for setup in mark.panes if setup.file), *lecture]


def _quoted(word: str) -> str:
    """Quote a word for shells; PowerShell too, unless it contains a quotation mark."""
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


def _edit_words(pane: str, setup: Setup, own_text: OwnText) -> list[str]:
    if not setup.source:
        return []
    before = own_text(setup.file) if setup.file else kernel_source(find(setup.scenario).kernel)[1]
    words: list[str] = []
    for edit in edits_between(before, setup.source):
        words += ["--edit", f"{pane}:{edit.where}={edit.text}"]
    return words


def _look_words(mark: Bookmark, theme: str) -> list[str]:
    """List the options for everything that differs from the defaults of `tilescope snapshot`."""
    last = len(mark.panes) - 1
    plain = msgspec.structs.replace(
        Bookmark(mark.panes),
        focus=last,
        tab="" if mark.side == "shown" else "source",
    )
    look = look_lines(plain, mark) | ({"spotlight": ", ".join(mark.spotlight)} if mark.spotlight else {})
    look |= traced_lines(mark.traced)
    words = [word for key, value in look.items() for word in (f"--{key.replace(' ', '-')}", value)]
    if mark.moment is not None:
        words += ["--playhead", _number(mark.moment)]
    if any((s.block, s.thread) != (0, 0) for s in mark.selections):
        words += ["--select", ",".join(f"{s.block}:{s.thread}" for s in mark.selections)]
    words += ["--layout", mark.layout] if mark.layout != "ordinary" else []
    words += ["--fields", "shared" if mark.shared else "own"] if last else []
    words += ["--motion", "reduced"] if mark.reduced_motion else []
    words += ["--loop"] if mark.loop else []
    words += ["--text-size", f"{mark.text_scale:g}"] if mark.text_scale != 1 else []
    return [*words, "--theme", theme]


def _room_words(room: Room) -> list[str]:
    words: list[str] = []
    words += ["--columns", _lengths(room.columns)] if room.columns else []
    words += ["--rows", _lengths(room.rows)] if room.rows else []
    if any(room.ranges):
        words += [
            "--ranges",
            ",".join("all" if r is None else ":".join(map(_number, r)) for r in room.ranges),
        ]
    words += ["--bar", "shown" if room.bar else "hidden"] if room.bar is not None else []
    return words


def _lengths(lengths: Sequence[int]) -> str:
    return ":".join(map(str, lengths))


def _number(number: float) -> str:
    """Format a number with all digits, an integer without a point."""
    return str(int(number)) if number == int(number) else repr(float(number))

"""Bookmarks: one plain value that says everything the window shows, and the history of them."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..tracer.launch import EngineName, Schedule
from ..tracer.plan import Keep
from .session import Selection

Value = int | str
Link = Literal["moment", "progress"]
SideChoice = Literal["auto", "shown", "hidden"]
PictureChoice = Literal["auto", "memory", "histogram"]
Words = Literal["own", "cuda", "work-item"]
ThemeChoice = Literal["light", "dark", "system"]


class Setup(msgspec.Struct, frozen=True):
    """What a pane runs: a scenario with its parameters and schedule, or a trace file.

    resident: blocks that run at once; None is the scenario's own number, "all" as many as fit. blocks: linear
    numbers of those to run, None is all of them; cut: they are the first one alone, since all take long. file: the
    path of a trace, which then says all the rest; rerun: but its kernel is run anew with this schedule, resident
    and blocks. keep: whether all accesses are kept, also where they are many.
    """

    scenario: str = ""
    values: dict[str, Value] = {}
    schedule: Schedule = Schedule()
    resident: int | Literal["all"] | None = None
    blocks: tuple[int, ...] | None = None
    file: str = ""
    rerun: bool = False
    engine: EngineName = "compiled"
    keep: Keep = "some"
    cut: bool = False


class Bookmark(msgspec.Struct, frozen=True):
    """Everything that makes the window look as it does.

    moment: the clock's (see playhead.link); None is the first load. focus: the pane that the right column
    follows. tab, side: what that column shows, and whether it is there. shared: whether a parameter is changed in
    both panes at once. picture: what the panes show of a launch that counts; auto is its histogram.
    words: what labels call threads and blocks; own is as the scenario does.
    """

    panes: tuple[Setup, ...]
    selections: tuple[Selection, ...] = msgspec.field(default=(), name="places")
    moment: float | None = None
    focus: int = 0
    link: Link = "progress"
    speed: float = 8.0
    loop: bool = False
    shared: bool = True
    tab: str = "source"
    side: SideChoice = "auto"
    colour_by: str = "auto"
    picture: PictureChoice = "auto"
    theme: ThemeChoice = "system"
    text_scale: float = 1.0
    reduced_motion: bool = False
    words: Words = "own"


def encode(bookmark: Bookmark) -> str:
    """Return the bookmark as JSON."""
    return msgspec.json.encode(bookmark).decode()


def decode(text: str | bytes) -> Bookmark:
    """Return the bookmark that `encode` wrote; raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(text, type=Bookmark)


class History:
    """Bookmarks in the order in which they were left, with a place among them, as in a web browser."""

    def __init__(self) -> None:
        self._back: list[Bookmark] = []
        self._forward: list[Bookmark] = []

    def leave(self, here: Bookmark) -> None:
        """Remember the bookmark that is left for something new; what lay ahead is forgotten."""
        if not self._back or self._back[-1] != here:
            self._back.append(here)
        self._forward.clear()

    def back(self, here: Bookmark) -> Bookmark | None:
        """Return the bookmark before `here`, None when there is none; `here` is then ahead."""
        return self._move(self._back, self._forward, here)

    def forward(self, here: Bookmark) -> Bookmark | None:
        """Return the bookmark after `here`, None when there is none; `here` is then behind."""
        return self._move(self._forward, self._back, here)

    @staticmethod
    def _move(source: list[Bookmark], target: list[Bookmark], here: Bookmark) -> Bookmark | None:
        if not source:
            return None
        target.append(here)
        return source.pop()

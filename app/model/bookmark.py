"""Bookmarks: one plain value that says everything the window shows, and the history of them."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ...tracer.model.launch import EngineName, Schedule
from ...tracer.model.plan import Keep
from .session import Selection

Value = int | str
Link = Literal["moment", "progress"]
TimeChoice = Literal["moments", "measured"]
NearestChoice = Literal["shown", "hidden"]
CompiledChoice = Literal["auto", "shown", "hidden"]
SideChoice = Literal["auto", "shown", "hidden"]
PictureChoice = Literal["auto", "memory", "histogram"]
WordChoice = Literal["own", "cuda", "work-item"]
LayoutChoice = Literal["ordinary", "lecture"]
ThemeChoice = Literal["light", "dark", "system"]


class Setup(msgspec.Struct, frozen=True):
    """What a pane runs: a scenario with its parameters and schedule, or a trace file, which then says all the rest."""

    scenario: str = ""  # its name in the catalogue
    values: dict[str, Value] = {}  # of parameters, by their names
    schedule: Schedule = Schedule()  # of its threads: lockstep, one after the other, or random with a seed
    resident: int | Literal["all"] | None = None  # blocks at once; None is the scenario's own number
    blocks: tuple[int, ...] | None = None  # linear numbers of those to run; None is all of them
    file: str = ""  # the path of a trace
    rerun: bool = False  # the file's kernel is run anew with this schedule, resident and blocks
    engine: EngineName = "compiled"  # what runs the kernel
    keep: Keep = "some"  # whether all accesses are kept, also where they are many
    cut: bool = False  # `blocks` are the first one alone, since all take long
    source: str = ""  # the text of the kernel's file as somebody wrote it anew; "" is its own
    without: tuple[int, ...] = ()  # lines of that text, from 1, that are taken out

    @property
    def is_edited(self) -> bool:
        """Whether another kernel runs than the scenario's or the file's own."""
        return bool(self.source or self.without)


class Bookmark(msgspec.Struct, frozen=True):
    """Everything that makes the window look as it does."""

    panes: tuple[Setup, ...]  # from left to right
    selections: tuple[Selection, ...] = msgspec.field(default=(), name="places")  # one a pane
    moment: float | None = None  # of the playhead (see `pane_moments`); None is the first load
    focus: int = 0  # index of the pane that the right column follows
    link: Link = "progress"  # what panes have in common: the moment, or the share of their ticks
    time: TimeChoice = "moments"  # what timelines show: measured is by a GPU's clock, where it was recorded
    nearest: NearestChoice = "shown"  # whether a pane that was not measured names the nearest measured launch
    compiled: CompiledChoice = (
        "auto"  # whether counters as compiled are shown; auto is where nothing waits for them
    )
    speed: float | None = None  # moments a second, None for what suits the length of the launch
    loop: bool = False  # the end is followed by the start
    shared: bool = True  # a parameter is changed in both panes at once
    tab: str = "source"  # of the right column
    side: SideChoice = "auto"  # whether the right column is there
    colour_by: str = "auto"  # what colours the cells
    picture: PictureChoice = (
        "auto"  # of a launch that counts; auto is its histogram where it does nothing else
    )
    theme: ThemeChoice = "system"  # light or dark colours, or what the system has
    text_scale: float = 1.0  # times the normal size
    reduced_motion: bool = False  # nothing glides or fades
    words: WordChoice = "own"  # what labels call threads and blocks; own is as the scenario does
    layout: LayoutChoice = "ordinary"  # lecture: the pictures take what there is, with a caption above
    zoom: tuple[str, ...] = ()  # names of the buffers that the memory pictures show alone; () is all of them
    spotlight: tuple[str, ...] = ()  # names of what stands out while the rest dims; () dims nothing
    chart: str = (
        ""  # what is drawn in place of the panes, in the words of `tilescope export timings`; "" is none
    )


class Room(Struct, frozen=True):
    """How a window shares its room, by hand; what is empty or None follows from its size."""

    columns: tuple[int, ...] = ()  # widths of the panes and the right column, in points
    rows: tuple[int, ...] = ()  # heights of the pictures and of what is below them, in points
    ranges: tuple[tuple[float, float] | None, ...] = ()  # moments at the edges of each pane's timeline
    bar: bool | None = None  # whether the bar at the top is there; None is as the layout has it


def encode(bookmark: Bookmark) -> str:
    """Return the bookmark as JSON."""
    return msgspec.json.encode(bookmark).decode()


def decode(text: str | bytes) -> Bookmark:
    """Return the bookmark that `encode` wrote; raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(text, type=Bookmark)


def without_texts(mark: Bookmark) -> Bookmark:
    """Return a bookmark whose kernels have their own text: what was typed and not saved goes with the window."""
    panes = (msgspec.structs.replace(s, source="", without=()) if s.source else s for s in mark.panes)
    return msgspec.structs.replace(mark, panes=tuple(panes))


KEPT = 200  # bookmarks to go back to


class History:
    """Bookmarks in the order in which they were left, with a position among them, as in a web browser."""

    def __init__(self) -> None:
        self._back: list[Bookmark] = []
        self._forward: list[Bookmark] = []

    def leave(self, here: Bookmark) -> None:
        """Remember the bookmark that is left for something new; what lay ahead is forgotten."""
        if not self._back or self._back[-1] != here:
            self._back.append(here)
            del self._back[:-KEPT]
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

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
TABS = (
    "source",
    "thread",
    "warp",
    "findings",
    "explain",
    "code",
    "output",
    "why",
    "order",
)  # of the inspector
COLOUR_BY = ("auto", "value", "reads", "wasted", "conflicts", "races")  # what may colour the cells
MIN_SCALE, MAX_SCALE = 0.8, 2.0  # of the text


class Setup(msgspec.Struct, frozen=True):
    """What a pane runs: a scenario with parameters and a schedule, or a trace file, which defines everything else."""

    scenario: str = ""  # its name in the catalogue
    values: dict[str, Value] = {}  # of parameters, by their names
    schedule: Schedule = Schedule()  # of its threads: lockstep, one after the other, or random with a seed
    resident: int | Literal["all"] | None = None  # blocks at once; None is the scenario's own number
    blocks: tuple[int, ...] | None = None  # linear numbers of those to run; None is all of them
    file: str = ""  # the path of a trace
    rerun: bool = False  # run the file's kernel again with this schedule, resident and blocks
    engine: EngineName = "compiled"  # what runs the kernel
    keep: Keep = "some"  # "all" keeps every access, even of large launches
    cut: bool = False  # `blocks` is only the first block, because every block takes long
    source: str = ""  # edited text of the kernel's file; "" is the original
    without: tuple[int, ...] = ()  # lines of that text, from 1, that are left out

    @property
    def is_edited(self) -> bool:
        """Whether a kernel other than the scenario's or the file's original runs."""
        return bool(self.source or self.without)


class TracedValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value whose path is shown: where it comes from, or what it reaches."""

    element: str  # as the panes name it: C[3, 5]
    block: int | None = None  # whose shared or local array is meant; None: the selected one's
    thread: int | None = None  # whose local array is meant; None: the selected one's
    moment: int | None = None  # at which it has the value; None: at the end or, forward, before the launch
    forward: bool = False  # whether to show what it reaches


class Bookmark(msgspec.Struct, frozen=True):
    """Everything that determines how the window looks."""

    panes: tuple[Setup, ...]  # from left to right
    selections: tuple[Selection, ...] = msgspec.field(default=(), name="places")  # one a pane
    moment: float | None = None  # of the playhead (see `pane_moments`); None is the first load
    focus: int = 0  # index of the pane that the right column follows
    link: Link = "progress"  # what the panes share: the moment, or the fraction of their ticks
    time: TimeChoice = "moments"  # what timelines show; "measured" is GPU time, where it was recorded
    nearest: NearestChoice = "shown"  # whether a pane without measurements names the nearest measured launch
    compiled: CompiledChoice = "auto"  # whether compiled counters are shown; auto: if they are ready
    speed: float | None = None  # moments a second; None picks a speed that suits the launch
    loop: bool = False  # restart at the end
    shared: bool = True  # change a parameter in both panes at once
    tab: str = "source"  # of the right column
    side: SideChoice = "auto"  # whether the right column is visible
    colour_by: str = "auto"  # what colours the cells
    picture: PictureChoice = "auto"  # of a launch that counts; auto: its histogram if it does nothing else
    theme: ThemeChoice = "system"  # colours: light, dark, or those of the system
    text_scale: float = 1.0  # times the normal size
    reduced_motion: bool = False  # nothing glides or fades
    words: WordChoice = "own"  # terms for threads and blocks; own: those of the scenario
    layout: LayoutChoice = "ordinary"  # lecture: the pictures fill the window, with a caption above
    zoom: tuple[str, ...] = ()  # names of the only buffers that the memory pictures show; () is all
    spotlight: tuple[str, ...] = ()  # names of highlighted items, while the rest dims; () dims nothing
    traced: TracedValue | None = None  # the value whose path is shown
    chart: str = ""  # a chart that replaces the panes, as in `tilescope export timings`; "" is none


class Room(Struct, frozen=True):
    """The sizes of the window's areas that the user set; an empty or None field follows from the window's size."""

    columns: tuple[int, ...] = ()  # widths of the panes and the right column, in points
    rows: tuple[int, ...] = ()  # heights of the pictures and of what is below them, in points
    ranges: tuple[tuple[float, float] | None, ...] = ()  # moments at the edges of each pane's timeline
    bar: bool | None = None  # whether the toolbar is visible; None: as the layout has it


def encode(bookmark: Bookmark) -> str:
    """Encode the bookmark as JSON."""
    return msgspec.json.encode(bookmark).decode()


def decode(text: str | bytes) -> Bookmark:
    """Decode a bookmark that `encode` wrote; raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(text, type=Bookmark)


LOOK = ("theme", "text_scale", "reduced_motion", "words")  # fields that the user sets for all launches


def with_look(mark: Bookmark, look: Bookmark, *more: str) -> Bookmark:
    """Copy the look of another bookmark into a bookmark, with more fields of these names."""
    return msgspec.structs.replace(mark, **{name: getattr(look, name) for name in (*LOOK, *more)})


def without_edited_sources(mark: Bookmark) -> Bookmark:
    """Return a bookmark with the original kernel texts: unsaved edits are lost when the window closes."""
    panes = (msgspec.structs.replace(s, source="", without=()) if s.source else s for s in mark.panes)
    return msgspec.structs.replace(mark, panes=tuple(panes))


def without_panes(mark: Bookmark) -> Bookmark:
    """Return a bookmark that only has a look."""
    return msgspec.structs.replace(mark, panes=(), selections=(), moment=None, focus=0)


MAX_HISTORY = 200  # bookmarks to go back to


class History:
    """Bookmarks in the order in which they were left, with a position among them, as in a web browser."""

    def __init__(self) -> None:
        self._back: list[Bookmark] = []
        self._forward: list[Bookmark] = []

    def leave(self, here: Bookmark) -> None:
        """Remember the bookmark that is left for something new; the forward history is cleared."""
        if not self._back or self._back[-1] != here:
            self._back.append(here)
            del self._back[:-MAX_HISTORY]
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

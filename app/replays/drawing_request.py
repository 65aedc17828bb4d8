"""What a notebook asks of the process that draws replays, and what it answers. No Qt."""

from __future__ import annotations

from msgspec import Struct

MODULE = "tilescope.app.window.drawing_process"


class DrawingRequest(Struct, frozen=True):
    """A page of one or two launches to draw."""

    files: tuple[str, ...]  # their trace files, from left to right
    output: str  # the path of the page
    moment: int | None = None  # the moment that is shown first; None is the first load
    begin: str | None = None  # the first moment, as in "phase 2"; None is the start
    end: str | None = None  # the last moment; None is the end
    is_large: bool = False  # whether the user agreed to a large page


class DrawingAnswer(Struct, frozen=True):
    """The result of a request; the page exists if both texts are empty."""

    size: str = ""  # why the page is not drawn before the user agrees: its moments, seconds and MB
    error: str = ""  # one sentence: why it can't be drawn

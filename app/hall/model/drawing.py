"""Messages between the window and the process that draws a hall's steps."""

from __future__ import annotations

from msgspec import Struct

from ...model.bookmark import Setup

MODULE = "tilescope.app.hall.drawing"


class DrawStep(Struct, frozen=True):
    """A request to draw a step of a lecture for phones."""

    path: str  # of the lecture
    number: int  # of the step, from 0
    folder: str  # for the pages
    name: str  # of the pages, without their endings
    setups: tuple[Setup, ...] = ()  # of the step's panes; none without consent to its program


class DrawnStep(Struct, frozen=True):
    """The files of a step in the folder; both "" if it could not be drawn."""

    shown: str = ""
    asking: str = ""  # without what answers its question; "" without a question
    error: str = ""

"""What of a window is to be recorded, as one plain value that a process can be sent. No Qt."""

from __future__ import annotations

from typing import Literal

import msgspec

Part = Literal["window", "memory"]
Theme = Literal["light", "dark"]
HOLD = 1.0  # seconds that the end is to be seen


class Wanted(msgspec.Struct, frozen=True):
    """What is recorded of a window, and how."""

    begin: str | float = "start"  # a place in time, as `moment_at` reads it
    end: str | float = "end"
    speed: float | None = None  # moments a second, None for that of the window
    hold: float = HOLD  # seconds that the end stays
    rate: int | None = None  # frames a second, None for the usual ones of the kind of file
    size: tuple[int, int] = (1600, 900)  # of the window, in points
    scale: float = 1.0  # pixels a point
    theme: Theme = "light"
    text_size: float = 1.0  # times the normal
    captions: bool = False  # with the caption that is on screen
    part: Part = "window"  # all of it, or the memory pictures alone

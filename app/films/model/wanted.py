"""The options of a film of the window, as a plain value that can be sent to a process. No Qt."""

from __future__ import annotations

from typing import Literal

import msgspec

Part = Literal["window", "memory"]
Theme = Literal["light", "dark"]
HOLD = 1.0  # seconds at the end


class FilmOptions(msgspec.Struct, frozen=True):
    """The options of a film."""

    begin: str | float = "start"  # an anchor, see `moment_at`
    end: str | float = "end"
    speed: float | None = None  # moments per second, None for the window's
    hold: float = HOLD  # seconds at the end
    rate: int | None = None  # frames per second, None for the default of the kind of file
    size: tuple[int, int] = (1600, 900)  # of the window, in points
    scale: float = 1.0  # pixels per point
    theme: Theme = "light"
    text_size: float = 1.0  # relative to the normal size
    captions: bool = False  # whether to show the current caption
    part: Part = "window"  # the window, or only the memory pictures

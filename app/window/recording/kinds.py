"""The kinds of files that a recording can be, by the ending of their names, and what each asks of frames. No Qt."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from ...widgets.widget_picture import PictureError

FASTEST = 120  # frames a second
MOST = 8192 * 8192  # pixels of a frame, of which several are in memory


class Kind(Struct, frozen=True):
    """A kind of file."""

    suffix: str  # "" for a folder of PNG files
    name: str  # of the format
    usual_rate: int  # frames a second
    largest: int  # pixels of a side


KINDS = (
    Kind(".mp4", "H.264 video", 30, 8192),
    Kind(".webm", "VP9 video", 30, 16384),
    Kind(".gif", "GIF", 20, 65535),
    Kind(".webp", "WebP", 20, 16383),
    Kind("", "PNG", 30, 32767),
)
PAGE = Kind(".html", "web page", 30, 8192)  # no film: every moment is drawn again in the browser
VIDEOS = (".mp4", ".webm")
SUFFIXES = ", ".join(kind.suffix for kind in KINDS if kind.suffix)


def kind_of(output: str) -> Kind:
    """Return the kind of file that a name stands for; raises PictureError for another ending."""
    path = Path(output)
    folder = path.is_dir() or output.endswith(("/", os.sep)) or not path.suffix
    suffix = "" if folder else path.suffix.lower()
    for kind in KINDS:
        if kind.suffix == suffix:
            return kind
    raise PictureError(f"{output} must end with {SUFFIXES} or {PAGE.suffix}, or name a folder for PNG files.")


def why_not(kind: Kind) -> str:
    """Return why a kind of file can't be written here, "" where it can."""
    if kind.suffix in VIDEOS and find_spec("av") is None:
        return "PyAV is not installed: pip install av"
    return ""


def rate_for(kind: Kind, wanted: int | None) -> Fraction:
    """Return the frames a second nearest to those that are wanted that a kind of file can show.

    A GIF says how long each frame stays in hundredths of a second, and browsers take less than two for ten.
    """
    rate = Fraction(wanted or kind.usual_rate)
    if kind.suffix != ".gif":
        return rate
    return Fraction(100, max(2, round(100 / rate)))


def check_size(kind: Kind, size: tuple[int, int], scale: float) -> None:
    """Raise PictureError for frames that are larger than a kind of file can hold: points, and pixels for each."""
    pixels = size[0] * size[1] * scale * scale
    if pixels > MOST:
        raise PictureError(
            f"A frame has at most {MOST:,} pixels, not {pixels:,.0f}; take a smaller size or scale."
        )
    longest = round(max(size) * scale)
    if longest > kind.largest:
        raise PictureError(
            f"{kind.name} has at most {kind.largest:,} pixels a side, not {longest:,}; take a smaller size or scale."
        )


def even(side: int) -> int:
    """Return a side of a video: its colours are kept for squares of 2 x 2 pixels."""
    return side + side % 2

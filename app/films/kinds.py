"""The kinds of film files, by suffix, and their limits. No Qt."""

from __future__ import annotations

import os
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from ..widgets.widget_picture import PictureError

FASTEST = 120  # frames per second
MOST = 8192 * 8192  # pixels of a frame, since several are in memory


class Kind(Struct, frozen=True):
    """A kind of file."""

    suffix: str  # "" for a folder of PNG files
    name: str  # of the format
    usual_rate: int  # frames per second
    largest: int  # pixels per side


KINDS = (
    Kind(".mp4", "H.264 video", 30, 8192),
    Kind(".webm", "VP9 video", 30, 16384),
    Kind(".gif", "GIF", 20, 65535),
    Kind(".webp", "WebP", 20, 16383),
    Kind("", "PNG", 30, 32767),
)
PAGE = Kind(".html", "web page", 30, 8192)  # not a film: the browser draws every moment
VIDEOS = (".mp4", ".webm")
SUFFIXES = ", ".join(kind.suffix for kind in KINDS if kind.suffix)


def kind_of(output: str) -> Kind:
    """Find the kind of a file by its name; raises PictureError for an unknown suffix."""
    path = Path(output)
    folder = path.is_dir() or output.endswith(("/", os.sep)) or not path.suffix
    suffix = "" if folder else path.suffix.lower()
    for kind in KINDS:
        if kind.suffix == suffix:
            return kind
    raise PictureError(f"{output} must end with {SUFFIXES} or {PAGE.suffix}, or name a folder for PNG files.")


def unavailable_reason(kind: Kind) -> str:
    """Return the reason why a kind of file can't be written here, "" if it can."""
    if kind.suffix in VIDEOS and find_spec("av") is None:
        return "PyAV is not installed: pip install av"
    return ""


def rate_for(kind: Kind, wanted: int | None) -> Fraction:
    """Return the possible frame rate of a kind of file nearest to the wanted one.

    A GIF has delays in hundredths of a second, and browsers replace a delay below two by ten.
    """
    rate = Fraction(wanted or kind.usual_rate)
    if kind.suffix != ".gif":
        return rate
    return Fraction(100, max(2, round(100 / rate)))


def check_size(kind: Kind, size: tuple[int, int], scale: float) -> None:
    """Raise PictureError if frames of `size` points with `scale` pixels each are too large for a kind of file."""
    pixels = size[0] * size[1] * scale * scale
    if pixels > MOST:
        raise PictureError(
            f"A frame has at most {MOST:,} pixels, not {pixels:,.0f}. Choose a smaller size or scale."
        )
    longest = round(max(size) * scale)
    if longest > kind.largest:
        raise PictureError(
            f"{kind.name} has at most {kind.largest:,} pixels a side, not {longest:,}. Choose a smaller size or scale."
        )


def even(side: int) -> int:
    """Round a side of a video up to an even number, since its colours are stored for squares of 2 x 2 pixels."""
    return side + side % 2

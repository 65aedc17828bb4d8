"""A recording from its first frame to the file: what it takes, and the frames drawn one by one and written."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import astuple
from PySide6.QtGui import QColor

from ....tracer.model.finding import counted
from ...widgets.patterns import mixed
from ...widgets.theme import DARK, KIND_COLOURS, LIGHT
from .files import Encoding, WriterThread
from .film import Film, Still
from .kinds import VIDEOS, Kind, even
from .palette import Frame, Lookup, palette_of
from .video_file import KEY_SECONDS

SEEN = 16  # frames for which the palette of a GIF is made, or as many as there are shots
LINE = 0.2  # of the colour of what a line of the source does, its share of the line's ground
PLACES, RUN = 4, 10  # parts of a film that are looked at beforehand, and how many frames of each

LONGEST, LARGEST = 600.0, 500_000_000  # seconds and bytes up to which nobody is asked


class Source(Protocol):
    """What draws the frames of a film."""

    @property
    def film(self) -> Film: ...
    def draw(self, still: Still) -> Frame:
        """Return what is to be seen, whatever was drawn before."""
        ...


class Outlook(Struct, frozen=True):
    """What a recording will be."""

    frames: int
    seconds: float
    size: tuple[int, int]  # pixels
    drawn: tuple[int, int]  # pixels of what is drawn, which a video has one more of where a side is odd
    bytes: int  # of the file, about

    @property
    def is_long(self) -> bool:
        """Whether it is so long or large that somebody is to say that it is meant."""
        return self.seconds > LONGEST or self.bytes > LARGEST

    def text(self) -> str:
        """Return it in words: "12.4 s, 310 frames of 1600 x 900 pixels, about 4.1 MB"."""
        width, height = self.size
        length, size = length_text(self.seconds), size_text(self.bytes)
        return f"{length}, {counted(self.frames, 'frame')} of {width} x {height} pixels, about {size}"


def length_text(seconds: float) -> str:
    """Return a length in time, as "8.5 s" or "3 min 20 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size_text(count: int) -> str:
    """Return a size of a file, as "740 kB", "4.1 MB" or "2.3 GB"."""
    for least, unit in ((10**9, "GB"), (10**6, "MB")):
        if count >= least:
            return f"{count / least:.1f} {unit}" if count < 100 * least else f"{count / least:.0f} {unit}"
    return f"{max(1, round(count / 1000))} kB"


class Recording:
    """A film that is to be written."""

    def __init__(self, source: Source, kind: Kind, rate: Fraction, theme: str) -> None:
        """Draw some of its frames, from which its palette and size follow."""
        self.source, self.kind, self.rate = source, kind, rate
        self.stills = list(source.film.stills())
        runs = [[source.draw(still) for still in run] for run in _runs(self.stills)]
        self.encoding = Encoding(kind, rate, self._lookup(theme) if kind.suffix == ".gif" else None)
        height, width = runs[0][0].shape
        size = (even(width), even(height)) if kind.suffix in VIDEOS else (width, height)
        film = source.film
        self.outlook = Outlook(film.frames, film.seconds, size, (width, height), self._bytes(runs))

    def _lookup(self, theme: str) -> Lookup:
        """Return the palette of a GIF, made for frames of every shot."""
        seen = [self.source.draw(still)[::2, ::2] for still in _spread(self.stills)]  # what is flat is wider
        return Lookup(palette_of(seen, _wanted(theme)))

    def _bytes(self, runs: Sequence[Sequence[Frame]]) -> int:
        """Return about how large the file will be: frames that stand alone, and what others add to those before."""
        if not self.kind.suffix:
            alone = [self.encoding.size(run[:1]) for run in runs]
            return round(sum(alone) / len(alone) * self.source.film.frames)
        keys = len(self.source.film.shots)
        if self.kind.suffix in VIDEOS:
            keys += int(self.source.film.seconds / KEY_SECONDS)
        sizes = [self._sizes(run) for run in runs]
        key, added = (sum(size[i] for size in sizes) / len(sizes) for i in range(2))
        return round(key * keys + added * max(0, len(self.stills) - keys))

    def _sizes(self, run: Sequence[Frame]) -> tuple[float, float]:
        """Return the bytes of a frame that stands alone, and of a later one; videos spend more on the first few."""
        half = len(run) // 2
        if not half:
            return float(self.encoding.size(run)), 0.0
        begun = self.encoding.size(run[:half])
        added = (self.encoding.size(run) - begun) / (len(run) - half)
        return max(0.0, begun - added * (half - 1)), added

    def write(self, path: Path) -> Generator[int]:
        """Draw and write all; yields the number of frames done after each picture. Closed early, it leaves no file.

        Raises PictureError, and leaves what was there before.
        """
        times, done = [still.frames for still in self.stills], 0
        with _writing(lambda frames: self.encoding.write(path, frames, times)) as thread:
            for still in self.stills:
                thread.add(self.source.draw(still), still.frames)
                done += still.frames
                yield done


@contextmanager
def _writing(write: Callable[[Iterator[tuple[Frame, int]]], None]) -> Iterator[WriterThread]:
    thread = WriterThread(write)
    try:
        yield thread
        thread.close()
    except BaseException:
        thread.abandon()
        raise


def _runs(stills: Sequence[Still]) -> list[list[Still]]:
    """Return a few parts of a film, spread over it, each of one shot."""
    starts = {round(i * max(0, len(stills) - RUN) / (PLACES - 1)) for i in range(PLACES)}
    return [
        [still for still in stills[start : start + RUN] if still.shot is stills[start].shot]
        for start in sorted(starts)
    ]


def _spread(stills: Sequence[Still]) -> list[Still]:
    """Return a still or more of every shot, spread evenly over it."""
    shots = [list(shot) for _, shot in groupby(stills, lambda still: id(still.shot))]
    each = max(1, SEEN // len(shots))
    return [shot[(2 * i + 1) * len(shot) // (2 * each)] for shot in shots for i in range(each)]


def _wanted(theme: str) -> list[int]:
    """Return the colours that a theme means something by, and the grounds of lines that run."""
    palette = DARK if theme == "dark" else LIGHT
    panel, kinds = QColor(palette.panel), KIND_COLOURS.values()
    plain = [QColor(code) for code in (*kinds, *astuple(palette))]
    return [colour.rgb() & 0xFFFFFF for colour in (*plain, *(mixed(panel, code, LINE) for code in kinds))]

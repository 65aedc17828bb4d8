"""The rendering of a film: its estimate, and the drawing and writing of its frames."""

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

from ...tracer.model.finding import count_noun
from ..widgets.patterns import mixed
from ..widgets.theme import DARK, KIND_COLOURS, LIGHT
from .files import Encoding, WriterThread
from .kinds import VIDEOS, Kind, even
from .model.film import Film, Still
from .model.gif_palette import Frame, Lookup, palette_of
from .video_file import KEY_SECONDS

SEEN = 16  # frames that the palette of a GIF is made from, or one per shot if there are more
LINE = 0.2  # the share of a request's colour in the background of its source line
PLACES, RUN = 4, 10  # sampled parts of a film, and frames of each

LONGEST, LARGEST = 600.0, 500_000_000  # seconds and bytes above which the user must confirm


class Source(Protocol):
    """Draws the frames of a film."""

    @property
    def film(self) -> Film: ...
    def draw(self, still: Still) -> Frame:
        """Draw a still, independent of earlier ones."""
        ...


class FilmEstimate(Struct, frozen=True):
    """The estimate of a film."""

    frames: int
    seconds: float
    size: tuple[int, int]  # pixels
    drawn: tuple[int, int]  # pixels drawn; a video adds one to an odd side
    bytes: int  # estimate of the file's size

    @property
    def is_long(self) -> bool:
        """True if it is so long or large that the user must confirm."""
        return self.seconds > LONGEST or self.bytes > LARGEST

    def text(self) -> str:
        """Format the estimate: "12.4 s, 310 frames of 1600 x 900 pixels, about 4.1 MB"."""
        width, height = self.size
        length, size = length_text(self.seconds), size_text(self.bytes)
        return f"{length}, {count_noun(self.frames, 'frame')} of {width} x {height} pixels, about {size}"


def length_text(seconds: float) -> str:
    """Format a duration, such as "8.5 s" or "3 min 20 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size_text(count: int) -> str:
    """Format the size of a file, such as "740 kB", "4.1 MB" or "2.3 GB"."""
    for least, unit in ((10**9, "GB"), (10**6, "MB")):
        if count >= least:
            return f"{count / least:.1f} {unit}" if count < 100 * least else f"{count / least:.0f} {unit}"
    return f"{max(1, round(count / 1000))} kB"


class FilmRendering:
    """A film to be written."""

    def __init__(self, source: Source, kind: Kind, rate: Fraction, theme: str) -> None:
        """Draw sample frames for the palette and the estimate."""
        self.source, self.kind, self.rate = source, kind, rate
        self.stills = list(source.film.stills())
        runs = [[source.draw(still) for still in run] for run in _runs(self.stills)]
        self.encoding = Encoding(kind, rate, self._lookup(theme) if kind.suffix == ".gif" else None)
        height, width = runs[0][0].shape
        size = (even(width), even(height)) if kind.suffix in VIDEOS else (width, height)
        film = source.film
        self.estimate = FilmEstimate(film.frames, film.seconds, size, (width, height), self._bytes(runs))

    def _lookup(self, theme: str) -> Lookup:
        """Make the palette of a GIF from frames of every shot."""
        samples = [
            self.source.draw(still)[::2, ::2] for still in _spread(self.stills)
        ]  # flat areas are larger
        return Lookup(palette_of(samples, _wanted(theme)))

    def _bytes(self, runs: Sequence[Sequence[Frame]]) -> int:
        """Estimate the size of the file from the sizes of key frames and of differences."""
        if not self.kind.suffix:
            key_sizes = [self.encoding.size(run[:1]) for run in runs]
            return round(sum(key_sizes) / len(key_sizes) * self.source.film.frames)
        keys = len(self.source.film.shots)
        if self.kind.suffix in VIDEOS:
            keys += int(self.source.film.seconds / KEY_SECONDS)
        sizes = [self._sizes(run) for run in runs]
        key, added = (sum(size[i] for size in sizes) / len(sizes) for i in range(2))
        return round(key * keys + added * max(0, len(self.stills) - keys))

    def _sizes(self, run: Sequence[Frame]) -> tuple[float, float]:
        """Estimate the bytes of a key frame and of a later frame; videos spend more on the first few."""
        half = len(run) // 2
        if not half:
            return float(self.encoding.size(run)), 0.0
        begun = self.encoding.size(run[:half])
        added = (self.encoding.size(run) - begun) / (len(run) - half)
        return max(0.0, begun - added * (half - 1)), added

    def write(self, path: Path) -> Generator[int]:
        """Draw and write all frames; yields the number done after each still. Closing it early leaves no file.

        Writes atomically. Raises PictureError.
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
    """Choose a few parts of a film, spread over it, each within one shot."""
    starts = {round(i * max(0, len(stills) - RUN) / (PLACES - 1)) for i in range(PLACES)}
    return [
        [still for still in stills[start : start + RUN] if still.shot is stills[start].shot]
        for start in sorted(starts)
    ]


def _spread(stills: Sequence[Still]) -> list[Still]:
    """Choose at least one still of every shot, spread evenly."""
    shots = [list(shot) for _, shot in groupby(stills, lambda still: id(still.shot))]
    each = max(1, SEEN // len(shots))
    return [shot[(2 * i + 1) * len(shot) // (2 * each)] for shot in shots for i in range(each)]


def _wanted(theme: str) -> list[int]:
    """List the meaningful colours of a theme, and the backgrounds of highlighted source lines."""
    palette = DARK if theme == "dark" else LIGHT
    panel, kinds = QColor(palette.panel), KIND_COLOURS.values()
    plain = [QColor(code) for code in (*kinds, *astuple(palette))]
    return [colour.rgb() & 0xFFFFFF for colour in (*plain, *(mixed(panel, code, LINE) for code in kinds))]

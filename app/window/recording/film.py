"""A film: which moment each of its frames shows. It follows from exact arithmetic alone, never from a clock. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct


class Shot(Struct, frozen=True):
    """A part of a film in which the playhead goes evenly from one moment to another, and then stays."""

    begin: float  # of the playhead
    end: float  # of the playhead, also before `begin`: then it is played backwards
    seconds: Fraction  # from one to the other, 0 where they are the same
    hold: Fraction  # seconds that it stays at the end, where at least one frame shows it
    step: int = 0  # of a lecture
    asks: bool = False  # whether the step's question is shown without its answer

    def moment(self, since: Fraction) -> float:
        """Return the moment so many seconds after the shot's beginning."""
        if since >= self.seconds:
            return self.end
        begin = Fraction(self.begin)
        return float(begin + (Fraction(self.end) - begin) * since / self.seconds)


class Still(Struct, frozen=True):
    """Frames after one another that show the same."""

    shot: Shot
    moment: float  # of the playhead
    frames: int  # how many


class Film:
    """Shots one after the other, at `rate` frames a second: frame i shows what is to be seen i / rate seconds in."""

    def __init__(self, shots: Sequence[Shot], rate: Fraction) -> None:
        self.rate = rate
        self.shots = [(shot, max(1, _whole_above((shot.seconds + shot.hold) * rate))) for shot in shots]

    @property
    def frames(self) -> int:
        """How many frames it has."""
        return sum(count for _, count in self.shots)

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return float(self.frames / self.rate)

    def stills(self) -> Iterator[Still]:
        """Yield what is to be seen, in its order."""
        for shot, count in self.shots:
            moving = min(count - 1, _whole_above(shot.seconds * self.rate))
            for i in range(moving):
                yield Still(shot, shot.moment(i / self.rate), 1)
            yield Still(shot, shot.end, count - moving)


def played(begin: float, end: float, speed: float, hold: Fraction, rate: Fraction) -> Shot:
    """Return a shot at so many moments a second, at whose end at least one frame stays."""
    seconds = abs(Fraction(end) - Fraction(begin)) / Fraction(speed)
    return Shot(begin, end, seconds, max(hold, 1 / rate))


def _whole_above(number: Fraction) -> int:
    return -int(-number // 1)

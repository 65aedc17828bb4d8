"""A film: the moment of each frame, computed by exact arithmetic, independent of any clock. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct


class Shot(Struct, frozen=True):
    """A part of a film in which the playhead moves evenly from one moment to another, and then holds."""

    begin: float  # of the playhead
    end: float  # of the playhead; before `begin`, it plays backwards
    seconds: Fraction  # of the motion, 0 without any
    hold: Fraction  # seconds at the end, at least one frame
    step: int = 0  # of a lecture
    asks: bool = False  # whether the question is shown without its answer

    def moment(self, since: Fraction) -> float:
        """Compute the moment at this many seconds after the shot's start."""
        if since >= self.seconds:
            return self.end
        begin = Fraction(self.begin)
        return float(begin + (Fraction(self.end) - begin) * since / self.seconds)


class Still(Struct, frozen=True):
    """Consecutive frames with the same content."""

    shot: Shot
    moment: float  # of the playhead
    frames: int  # count


class Film:
    """A sequence of shots at `rate` frames per second: frame i shows the state after i / rate seconds."""

    def __init__(self, shots: Sequence[Shot], rate: Fraction) -> None:
        self.rate = rate
        self.shots = [(shot, max(1, _ceil((shot.seconds + shot.hold) * rate))) for shot in shots]

    @property
    def frames(self) -> int:
        """The number of frames."""
        return sum(count for _, count in self.shots)

    @property
    def seconds(self) -> float:
        """The duration."""
        return float(self.frames / self.rate)

    def stills(self) -> Iterator[Still]:
        """Yield the stills in order."""
        for shot, count in self.shots:
            moving = min(count - 1, _ceil(shot.seconds * self.rate))
            for i in range(moving):
                yield Still(shot, shot.moment(i / self.rate), 1)
            yield Still(shot, shot.end, count - moving)


def played(begin: float, end: float, speed: float, hold: Fraction, rate: Fraction) -> Shot:
    """Create a shot at a speed in moments per second, with at least one frame at its end."""
    seconds = abs(Fraction(end) - Fraction(begin)) / Fraction(speed)
    return Shot(begin, end, seconds, max(hold, 1 / rate))


def _ceil(number: Fraction) -> int:
    return -int(-number // 1)

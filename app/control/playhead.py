"""The playhead, the only owner of time. The position follows the elapsed time, so slow frames are dropped."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Signal

from ..state.actions import Seek, SetLoop, SetSpeed
from ..state.store import Store

SPEEDS = (1, 2, 4, 8, 16, 30, 60, 120, 250, 500, 1000)
DEFAULT_SPEED = 8.0  # moments a second
MAX_PLAY_SECONDS = 60.0  # seconds that a launch plays at most at the default speed


def default_speed(end: float) -> float:
    """Choose the speed for a launch of so many moments: the usual one, or the slowest that ends within a minute."""
    least = end / MAX_PLAY_SECONDS
    if least <= DEFAULT_SPEED:
        return DEFAULT_SPEED
    if least <= SPEEDS[-1]:
        return float(min(speed for speed in SPEEDS if speed >= least))
    power = 10.0 ** math.floor(math.log10(least))
    return min(times * power for times in (1, 2, 5, 10) if times * power >= least)


class Playhead(QObject):
    """A moment from 0 to `end`, which advances by `speed` a second while playing. `changed`: any of these changed.

    The store has the moment, the chosen speed and the loop.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None, store: Store | None = None) -> None:
        super().__init__(parent)
        self.store = store or Store()
        self.end = 0.0
        self.playing = False
        self.in_film = False  # whether positions between moments are film frames
        self._anchor: tuple[float, float] | None = (
            None  # (seconds, moment) from which the position is computed
        )
        self.stop: float | None = None  # the moment at which playing stops before the end
        self._pace: float | None = None  # moments a second until the stop; None for `speed`

    @property
    def moment(self) -> float:
        """The current moment, 0 before the first session."""
        return self.store.state.moment or 0.0

    @property
    def speed(self) -> float:
        """Moments a second: those chosen, or those that suit the launch."""
        return self.store.state.speed or default_speed(self.end)

    @property
    def is_speed_chosen(self) -> bool:
        """Whether the user set the speed; otherwise it follows the length of the launch."""
        return self.store.state.speed is not None

    @property
    def loop(self) -> bool:
        """Whether playing restarts at the end."""
        return self.store.state.loop

    def seek(self, moment: float) -> None:
        """Go to a moment, clamped to the launch; playing continues from there, to its stop unless that has passed."""
        moment = min(max(float(moment), 0.0), self.end)
        if self.stop is not None and moment >= self.stop:
            self.stop = self._pace = None
        self._anchor = None
        self._go(moment)

    def _go(self, moment: float) -> None:
        self.store.dispatch(Seek(moment if self.end else None))
        self.store.invalidate()  # whether it plays may have changed too
        self.changed.emit()

    def set_end(self, end: float) -> None:
        """Set the last moment; a position beyond it becomes the end."""
        self.end = max(float(end), 0.0)
        self.playing = self.playing and self.end > 0
        self.seek(self.moment)

    def set_speed(self, speed: float | None) -> None:
        """Set the speed in moments a second, more than 0, or None for the default speed; the position stays."""
        self.store.dispatch(SetSpeed(speed))
        self.seek(self.moment)

    def change_speed(self, direction: int) -> None:
        """Take the next faster (1) or slower (-1) speed of SPEEDS."""
        speeds = [speed for speed in SPEEDS if (speed - self.speed) * direction > 0]
        if speeds:
            self.set_speed(min(speeds) if direction > 0 else max(speeds))

    def set_loop(self, loop: bool) -> None:
        """Choose whether playing restarts at the end."""
        self.store.dispatch(SetLoop(loop))
        self.seek(self.moment)

    def play(self) -> None:
        """Play from here, or from the start when at the end."""
        if self.end <= 0:
            return
        self.playing = True
        self.seek(0.0 if self.moment >= self.end else self.moment)

    def play_to(self, stop: float, pace: float | None = None) -> None:
        """Play from here to a moment and stop there, even after a pause; `pace` is in moments a second until then."""
        self.stop, self._pace = min(stop, self.end), pace
        self.playing = self.moment < self.stop
        self.seek(self.moment)

    def halt(self) -> None:
        """Pause and forget the stop."""
        self.stop = self._pace = None
        self.pause()

    def pause(self) -> None:
        """Stop playing and keep the position."""
        self.playing = False
        self.seek(self.moment)

    def toggle(self) -> None:
        """Play, or pause."""
        self.pause() if self.playing else self.play()

    def advance(self, now: float) -> None:
        """Move to the position at time `now` (seconds, monotonic); the first call after a start sets the origin."""
        if not self.playing:
            return
        if self._anchor is None:
            self._anchor = (now, self.moment)
        since, origin = self._anchor
        self._move_to(origin + (now - since) * (self._pace or self.speed))

    def _move_to(self, moment: float) -> None:
        if self.stop is not None and moment >= self.stop:
            moment, self.stop, self._pace, self.playing = self.stop, None, None, False
        elif moment >= self.end:
            self.playing = self.loop
            moment = moment % self.end if self.loop else self.end
        self._go(moment)

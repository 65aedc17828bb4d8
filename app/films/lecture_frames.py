"""Frames of a lecture: each step plays, and holds for the reading time of its caption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from PySide6.QtCore import QSize
from PySide6.QtGui import QTextDocumentFragment

from ..control.playhead import default_speed
from ..lectures.model.changes import Play
from ..lectures.player.step_picture import ResolvedStep, StepPictures
from ..model.bookmark import Bookmark
from .frames import frame_of
from .model.film import Film, Shot, Still, played
from .model.gif_palette import Frame

WORDS = Fraction(5, 2)  # read per second
LOOK = Fraction(2)  # seconds to look at the picture
THINK = Fraction(3)  # seconds to think before an answer is shown
LEAST = Fraction(3)  # the shortest time of a step in seconds


class LectureFrames:
    """Draws the frames of a film of a lecture's steps.

    stand: resolves a step. pictures: draws it, in the look of a bookmark, with or without captions.
    """

    def __init__(
        self,
        stand: Callable[[int], ResolvedStep],
        pictures: StepPictures,
        film: Film,
        look: Bookmark,
        size: tuple[int, int],
        scale: float,
        captions: bool,
    ) -> None:
        self.film, self._stand, self._pictures = film, stand, pictures
        self._look, self._size, self._scale, self._captions = look, QSize(*size), scale, captions
        self._shown: Shot | None = None

    def draw(self, still: Still) -> Frame:
        """Draw a step at a moment."""
        shot, pictures = still.shot, self._pictures
        if shot is not self._shown:
            self._standing = self._stand(shot.step)
            pictures.show(
                self._standing, self._look, self._size, with_text=self._captions, answered=not shot.asks
            )
            pictures.wait()
            self._shown = shot
        if self._standing.moment is not None:
            stands = still.moment == self._standing.moment.stand
            pictures.seek(still.moment, self._standing.moment, stands=stands)
        return frame_of(pictures.image(self._scale))


def shots_of(
    stand: Callable[[int], ResolvedStep],
    numbers: Sequence[int],
    rate: Fraction,
    speed: float | None,
    hold: float | None,
    captions: bool,
) -> Iterator[Shot]:
    """Yield the shots of a lecture's steps; a question gets a separate shot before the step.

    speed: moments per second for steps without a duration, None for a suitable one. hold: seconds at the end of each
    step, None for the reading time.
    """
    for number in numbers:
        standing = stand(number)
        shot = _shot(standing, _seconds(caption_texts(standing), hold), rate, speed)
        if captions and standing.answer() is not None:
            stays = max(_seconds(asked_texts(standing), hold), 1 / rate)
            yield Shot(shot.begin, shot.begin, Fraction(0), stays + THINK, number, asks=True)
        yield Shot(shot.begin, shot.end, shot.seconds, shot.hold, number)


def _seconds(texts: Sequence[str], hold: float | None) -> Fraction:
    return reading_seconds(texts) if hold is None else Fraction(hold)


def asked_texts(standing: ResolvedStep) -> list[str]:
    """List the texts of a step with an open question."""
    answer = standing.answer()
    return [standing.step.title, *((answer.wording.ask, *answer.wording.choices) if answer else ())]


def caption_texts(standing: ResolvedStep) -> list[str]:
    """List the texts of a step."""
    return [standing.step.title, QTextDocumentFragment.fromHtml(standing.caption().html).toPlainText()]


def reading_seconds(texts: Sequence[str]) -> Fraction:
    """Estimate the time to read texts and to look at a picture, in seconds."""
    words = len(" ".join(texts).split())
    return max(LEAST, LOOK + words / WORDS)


def _shot(standing: ResolvedStep, stays: Fraction, rate: Fraction, speed: float | None) -> Shot:
    """Plan the shot of a step: it plays, and holds at its end until the total time is `stays`."""
    moment, play = standing.moment, standing.scene.play
    if moment is None or play is None or moment.begin == moment.stand:
        stand = moment.stand if moment else 0.0
        return Shot(stand, stand, Fraction(0), max(stays, 1 / rate))
    pace = _pace(standing, play, speed, moment.stand - moment.begin)
    shot = played(moment.begin, moment.stand, pace, Fraction(0), rate)
    hold = max(stays - shot.seconds, min(stays, LOOK), 1 / rate)
    return Shot(shot.begin, shot.end, shot.seconds, hold)


def _pace(standing: ResolvedStep, play: Play, speed: float | None, way: float) -> float:
    """Compute the speed of a step in moments per second."""
    if play.seconds:
        return abs(way) / play.seconds
    usual = default_speed(max(session.end for session in standing.sessions))
    return speed or play.speed or standing.scene.look.speed or usual

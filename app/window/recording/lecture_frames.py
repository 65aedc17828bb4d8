"""Frames of a lecture: each step plays where it plays, and stays as long as one reads its caption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from PySide6.QtCore import QSize
from PySide6.QtGui import QTextDocumentFragment

from ...lecture.changes import Play
from ...model.bookmark import Bookmark
from ...model.playhead import usual_speed
from ..lecture.step_picture import StandingStep, StepPictures
from .film import Film, Shot, Still, played
from .frames import frame_of
from .palette import Frame

WORDS = Fraction(5, 2)  # that one reads in a second
LOOK = Fraction(2)  # seconds to look at the picture
THINK = Fraction(3)  # seconds to think before an answer is shown
LEAST = Fraction(3)  # seconds that a step is to be seen


class LectureFrames:
    """Draws the frames of a film of a lecture's steps.

    stand: makes a step stand. pictures: draws it, in the look of a bookmark, with or without captions.
    """

    def __init__(
        self,
        stand: Callable[[int], StandingStep],
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
        """Return a step at a moment."""
        shot, pictures = still.shot, self._pictures
        if shot is not self._shown:
            self._standing = self._stand(shot.step)
            pictures.show(
                self._standing, self._look, self._size, with_text=self._captions, answered=not shot.asks
            )
            pictures.wait()
            self._shown = shot
        if self._standing.moment is not None:
            stands = still.moment == shot.end
            pictures.seek(still.moment, self._standing.moment, stands=stands)
        return frame_of(pictures.image(self._scale))


def shots_of(
    stand: Callable[[int], StandingStep],
    numbers: Sequence[int],
    rate: Fraction,
    speed: float | None,
    hold: float | None,
    captions: bool,
) -> Iterator[Shot]:
    """Yield the shots of some steps of a lecture; one that asks is shown with its answer once it has asked.

    speed: moments a second where a step does not say how long it plays, None for what suits it. hold: seconds that
    each step stays, None for what its words take.
    """
    for number in numbers:
        standing = stand(number)
        asks = captions and standing.answer() is not None
        texts = asked_texts(standing) if asks else told_texts(standing)
        shot = _shot(standing, reading_seconds(texts) if hold is None else Fraction(hold), rate, speed)
        if asks:
            yield Shot(shot.begin, shot.end, shot.seconds, shot.hold + THINK, number, asks=True)
            stays = reading_seconds(told_texts(standing)) if hold is None else Fraction(hold)
            shot = Shot(shot.end, shot.end, Fraction(0), max(stays, 1 / rate))
        yield Shot(shot.begin, shot.end, shot.seconds, shot.hold, number)


def asked_texts(standing: StandingStep) -> list[str]:
    """Return what one reads of a step that asks."""
    question = standing.step.change.question
    choices = [choice.text for choice in question.choices] if question else []
    return [standing.step.title, question.ask if question else "", *choices]


def told_texts(standing: StandingStep) -> list[str]:
    """Return what one reads of a step."""
    return [standing.step.title, QTextDocumentFragment.fromHtml(standing.caption().html).toPlainText()]


def reading_seconds(texts: Sequence[str]) -> Fraction:
    """Return how long one takes to read texts, and to look at a picture."""
    words = len(" ".join(texts).split())
    return max(LEAST, LOOK + words / WORDS)


def _shot(standing: StandingStep, stays: Fraction, rate: Fraction, speed: float | None) -> Shot:
    """Return how a step plays, and stays until it was to be seen for so long, and a while at its end."""
    moment, play = standing.moment, standing.scene.play
    if moment is None or play is None or moment.begin == moment.stand:
        stand = moment.stand if moment else 0.0
        return Shot(stand, stand, Fraction(0), max(stays, 1 / rate))
    pace = _pace(standing, play, speed, moment.stand - moment.begin)
    shot = played(moment.begin, moment.stand, pace, Fraction(0), rate)
    hold = max(stays - shot.seconds, min(stays, LOOK), 1 / rate)
    return Shot(shot.begin, shot.end, shot.seconds, hold)


def _pace(standing: StandingStep, play: Play, speed: float | None, way: float) -> float:
    """Return the moments a second at which a step plays."""
    if play.seconds:
        return abs(way) / play.seconds
    usual = usual_speed(max(session.end for session in standing.sessions))
    return speed or play.speed or standing.scene.look.speed or usual

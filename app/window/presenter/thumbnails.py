"""Pictures of steps for the speaker, drawn while nothing else is to be done, a little at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage

from ...control.session_jobs import SessionJobs
from ...lecture.places import PlaceError
from ...model.bookmark import Bookmark
from ..lecture.player import LecturePlayer
from ..lecture.step_picture import StandingStep, StepPictures

PEACE = 250  # milliseconds for which nothing has moved before drawing begins
TURN = 15  # milliseconds between two parts of the work, in which the window answers its user
PARTS = 3  # of a picture, each drawn by itself
KEPT = 12  # pictures, of four megabytes
WIDTH = 1280  # pixels of the window that is drawn


class Thumbnails(QObject):
    """Pictures of steps as they stand, each made once and kept.

    made: there is another one. pictures: makes the window that draws them, when the first is drawn. look: of the
    window whose steps they are. size: of that window, in whose shape they are.
    """

    made = Signal()

    def __init__(
        self,
        player: LecturePlayer,
        pictures: Callable[[], StepPictures],
        look: Callable[[], Bookmark],
        size: Callable[[], QSize],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.player, self._make_pictures, self._look, self._size = player, pictures, look, size
        self._pictures: StepPictures | None = None
        self._kept: dict[object, QImage] = {}
        self._of: object = None  # the lecture that they are of
        self._wanted: tuple[int, ...] = ()
        self._work: Iterator[None] | None = None  # the step that is being drawn
        self._half_drawn = QImage()
        self._timer = QTimer(self, singleShot=True, interval=PEACE)
        self._timer.timeout.connect(self._go_on)
        self._jobs: SessionJobs = player.stage.jobs
        self._jobs.prepared.connect(lambda key, why: self._begin_soon())
        player.stage.playhead.changed.connect(self._wait)

    def want(self, *numbers: int) -> None:
        """Draw these steps soon, in this order, as far as they are not there."""
        if self._of is not self.player.lecture:
            self._of, self._work = self.player.lecture, None
            self._kept.clear()
        self._wanted = numbers
        self._begin_soon()

    def draw_now(self, number: int) -> None:
        """Draw a step at once, if it can be: where a window opens anyway, and the first picture takes longest."""
        if self._of is self.player.lecture and self.of(number) is None and self.player.prepared(number):
            for _ in self._drawn(number):
                pass

    def of(self, number: int) -> QImage | None:
        """Return the picture of a step, None where there is none yet."""
        return self._kept.get(self._key(number))

    def close(self) -> None:
        """Draw no more, and give back the window that draws."""
        self._wanted, self._work = (), None
        self._timer.stop()
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None

    def _window_size(self) -> QSize:
        size = self._size()
        return size.scaled(WIDTH, 10 * WIDTH, Qt.AspectRatioMode.KeepAspectRatio)

    def _key(self, number: int) -> object:
        look, size = self._look(), self._window_size()
        return number, look.theme, look.text_scale, look.words, size.width(), size.height()

    def _missing(self) -> int | None:
        """Return the next step to be drawn, None where all are there that can be."""
        missing = (n for n in self._wanted if n < len(self.player.scenes) and self.of(n) is None)
        return next((n for n in missing if self.player.prepared(n) is not None), None)

    def _begin_soon(self) -> None:
        if self._work is None and self._missing() is not None:
            self._timer.start(PEACE)

    def _wait(self) -> None:
        """Let go first what the audience sees."""
        if self._timer.isActive():
            self._timer.start(PEACE)

    def _go_on(self) -> None:
        """Do the next part of the work, unless the audience's window has something to do."""
        if self.player.lecture is None:
            return
        if self.player.stage.playhead.playing or self.player.awaited is not None:
            self._timer.start(PEACE)
            return
        number = self._missing()
        if self._work is None and number is not None:
            self._work = self._drawn(number)
        if self._work is not None:
            try:
                next(self._work)
                self._timer.start(TURN)
            except StopIteration:
                self._work = None
                self.made.emit()
                self._begin_soon()

    def _drawn(self, number: int) -> Iterator[None]:
        """Draw a step; each `yield` is where the window may do something else."""
        lecture, prepared, key = self.player.lecture, self.player.prepared(number), self._key(number)
        if self._pictures is None:
            self._pictures = self._make_pictures()
            yield
        if lecture is None or prepared is None:
            return
        try:
            standing = StandingStep(
                lecture, self.player.scenes, number, *prepared, ask=self.player.compiled_asked.emit
            )
        except PlaceError:
            self._keep(key, QImage())
            return
        yield from self._pictures.show_in_parts(standing, self._look(), self._window_size())
        yield
        for image in self._pictures.image_in_parts(PARTS):
            self._half_drawn = image
            yield
        self._keep(key, self._half_drawn)

    def _keep(self, key: object, image: QImage) -> None:
        self._kept[key] = image
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

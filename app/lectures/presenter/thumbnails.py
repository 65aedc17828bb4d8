"""Pictures of steps for the speaker, drawn in small parts while the window is idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QImage

from ...control.delay import Delay
from ...control.session_jobs import SessionJobs
from ...model.bookmark import Bookmark
from ...model.nothing import nothing
from ..model.time_anchors import TimeAnchorError
from ..player.player import LecturePlayer
from ..player.step_picture import ResolvedStep, StepPictures

IDLE_DELAY = 250  # idle milliseconds before drawing begins
PART_INTERVAL = 15  # milliseconds between two parts, so that the window stays responsive
PARTS = 3  # of a picture, drawn separately
KEPT_IMAGES = 12  # of 4 MB each
WIDTH = 1280  # pixels of the drawn window


class Thumbnails(QObject):
    """Cached pictures of steps at their final moments.

    made: a new picture is available. pictures: creates the drawing window on first use. look: returns the look of the
    audience's window. size: returns its size, which gives the aspect ratio.
    """

    def __init__(
        self,
        player: LecturePlayer,
        pictures: Callable[[], StepPictures],
        look: Callable[[], Bookmark],
        size: Callable[[], QSize],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.drawn: Callable[[], object] = nothing
        self.player, self._make_pictures, self._look, self._size = player, pictures, look, size
        self._pictures: StepPictures | None = None
        self._images: dict[object, QImage] = {}
        self._lecture: object = None  # of the images
        self._wanted: tuple[int, ...] = ()
        self._work: Iterator[None] | None = None  # the step that is being drawn
        self._half_drawn = QImage()
        self._timer = Delay(self, IDLE_DELAY, self._continue)
        self._jobs: SessionJobs = player.stage.jobs
        self._jobs.prepared.connect(lambda key, why: self._start_soon())
        player.stage.playhead.changed.connect(self._wait)

    def want(self, *numbers: int) -> None:
        """Draw the missing pictures of these steps soon, in this order."""
        if self._lecture is not self.player.lecture:
            self._lecture, self._work = self.player.lecture, None
            self._images.clear()
        self._wanted = numbers
        self._start_soon()

    def draw_now(self, number: int) -> None:
        """Draw a step at once if possible; used while the window opens, since the first picture is slow."""
        if (
            self._lecture is self.player.lecture
            and self.picture_of(number) is None
            and self.player.prepared_step(number)
        ):
            for _ in self._draw_step(number):
                pass

    def picture_of(self, number: int) -> QImage | None:
        """Return the picture of a step, None if it is not drawn yet."""
        return self._images.get(self._key(number))

    def close(self) -> None:
        """Stop drawing, and close the drawing window."""
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
        """Return the next step to draw, None if there is none."""
        missing = (n for n in self._wanted if n < len(self.player.scenes) and self.picture_of(n) is None)
        return next((n for n in missing if self.player.prepared_step(n) is not None), None)

    def _start_soon(self) -> None:
        if self._work is None and self._missing() is not None:
            self._timer.start(IDLE_DELAY)

    def _wait(self) -> None:
        """Delay the drawing, so that the audience's window comes first."""
        if self._timer.isActive():
            self._timer.start(IDLE_DELAY)

    def _continue(self) -> None:
        """Draw the next part, unless the audience's window is busy."""
        if self.player.lecture is None:
            return
        if self.player.stage.playhead.playing or self.player.awaited is not None:
            self._timer.start(IDLE_DELAY)
            return
        number = self._missing()
        if self._work is None and number is not None:
            self._work = self._draw_step(number)
        if self._work is not None:
            try:
                next(self._work)
                self._timer.start(PART_INTERVAL)
            except StopIteration:
                self._work = None
                self.drawn()
                self._start_soon()

    def _draw_step(self, number: int) -> Iterator[None]:
        """Draw a step, with a `yield` wherever other work may run."""
        lecture, prepared, key = self.player.lecture, self.player.prepared_step(number), self._key(number)
        if self._pictures is None:
            self._pictures = self._make_pictures()
            yield
        if lecture is None or prepared is None:
            return
        try:
            standing = ResolvedStep(
                lecture, self.player.scenes, number, *prepared, ask=self.player.compiled_asked
            )
        except TimeAnchorError:
            self._store(key, QImage())
            return
        yield from self._pictures.show_in_parts(standing, self._look(), self._window_size())
        yield
        for image in self._pictures.image_in_parts(PARTS):
            self._half_drawn = image
            yield
        self._store(key, self._half_drawn)

    def _store(self, key: object, image: QImage) -> None:
        self._images[key] = image
        while len(self._images) > KEPT_IMAGES:
            del self._images[next(iter(self._images))]

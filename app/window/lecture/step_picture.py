"""Pictures of a lecture's steps, each as it stands: what the window shows, drawn without a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtWidgets import QAbstractButton, QMainWindow, QWidget

from ....kernels.scenarios.catalogue import Scenario
from ....tracer.model.launch import Launch
from ....tracer.model.trace import Trace
from ...control.measured_job import MeasuredTimes
from ...control.seed_jobs import SeedJobs
from ...control.session_jobs import SessionJobs
from ...control.stage import Stage
from ...control.start_moment import StartMoment
from ...control.type_inference_job import TypeInferenceJob
from ...lecture.captions import FilledCaption, fill, masked
from ...lecture.changes import Pane
from ...lecture.check import environment_of
from ...lecture.document import Lecture
from ...lecture.expressions import ExpressionError
from ...lecture.questions import Answer, answer_of
from ...lecture.scenes import Moment, Scene, bookmark_of, moment_of
from ...lecture.values import Ask
from ...model.bookmark import Bookmark, Setup
from ...model.session import Session
from ...widgets.notice import Notice
from ...widgets.widget_picture import picture_of
from ..panels.caption import CaptionBar
from ..panels.transport import Transport
from .question_card import QuestionCard, asked_of

NO_PICTURE = (
    "This step runs a program that comes with the lecture, once you agree: it is shown in the window alone."
)


class StandingStep:
    """A step where it stands, with what it says there.

    setups, sessions: of its panes, or of those below its chart; none where it shows a program that nobody agreed to
    run. ask: asks for counters as compiled that a caption needs; None: they are waited for. Raises PlaceError.
    """

    def __init__(
        self,
        lecture: Lecture,
        scenes: Sequence[Scene],
        number: int,
        setups: tuple[Setup, ...],
        sessions: Sequence[Session],
        ask: Ask | None = None,
    ) -> None:
        self.number, self.step, self.scene = number, lecture.steps[number], scenes[number]
        self.place = f"step {number + 1} of {len(lecture.steps)}"
        self.setups, self.sessions = setups, sessions
        self.moment = moment_of(lecture, scenes, number, sessions) if sessions else None
        own = sessions if self.scene.panes else ()
        self._names = environment_of(self.scene, own, self.moment, ask) if self.moment else {}

    def caption(self) -> FilledCaption:
        """Return what the audience reads, with its numbers."""
        return fill(self.step.caption, self._names)

    def notes(self) -> FilledCaption:
        """Return what the speaker reads, with its numbers."""
        return fill(self.step.spoken, self._names)

    def answer(self) -> Answer | None:
        """Return the answer to the step's question; None where it asks none, or it can't be computed."""
        question = self.step.change.question
        try:
            return answer_of(question, self._names) if question else None
        except ExpressionError:
            return None

    def bookmark(self, look: Bookmark) -> Bookmark:
        """Return what a window of this look shows."""
        mark = bookmark_of(self.scene, self.setups, look)
        if self.moment is None:
            return mark
        return msgspec.structs.replace(mark, selections=self.moment.selections, moment=self.moment.stand)


def panes_below(scenes: Sequence[Scene], number: int) -> tuple[Pane, ...]:
    """Return the panes of a step, or of the next one that has some where it has a chart alone."""
    return next((scene.panes for scene in scenes[number:] if scene.panes), ())


class HandedSessions(SessionJobs):
    """Jobs of a window that makes nothing itself: its panes get the sessions that were handed over last."""

    def __init__(self, source: SessionJobs) -> None:
        super().__init__(source.worker, source.cache)
        self.source = source
        self.sessions: Sequence[Session] = ()

    def trace(
        self,
        pane: int,
        launch: Launch,
        scenario: Scenario | None,
        *,
        patient: bool = False,
        early: bool = False,
    ) -> None:
        """Give a pane its session."""
        self.ready.emit(pane, self.sessions[pane])

    def open(self, pane: int, path: str) -> None:
        """Give a pane its session."""
        self.ready.emit(pane, self.sessions[pane])

    def trace_unshown(self, launch: Launch, patience: float | None = None) -> Trace:
        """In a thread: return the trace of a launch that no pane shows, as the source makes it."""
        return self.source.trace_unshown(launch, patience)

    def close(self) -> bool:
        """End nothing: the worker is the source's."""
        return True


class PictureParts(Protocol):
    """What the window of the pictures holds."""

    @property
    def caption(self) -> CaptionBar: ...
    @property
    def transport(self) -> Transport: ...
    @property
    def notice(self) -> Notice: ...
    @property
    def spreads(self) -> SeedJobs: ...
    @property
    def types(self) -> TypeInferenceJob: ...
    @property
    def measured(self) -> MeasuredTimes: ...
    def wait_for_compiler(self) -> None: ...
    def keep_verdicts(self, keep: bool) -> None: ...
    def show_pictures_alone(self, alone: bool) -> None: ...


class PictureWindow(Protocol):
    """The main window, as far as pictures need it."""

    @property
    def central(self) -> PictureParts: ...
    @property
    def stage(self) -> Stage: ...
    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool: ...
    def draw(self) -> None: ...


def show_step_text(
    bar: CaptionBar, standing: StandingStep, *, is_open: bool = False, chosen: int | None = None
) -> None:
    """Show what a step says: caption, question, and the answer unless it is open. chosen: of the question's choices."""
    caption, question, answer = standing.caption(), standing.step.change.question, standing.answer()
    is_open = is_open and question is not None
    html, foot = (masked(caption.html), "") if is_open else (caption.html, caption.foot)
    bar.show_caption(standing.step.title, html, f"{foot}   {standing.place}".strip(), held=is_open)
    if question is None or answer is None:
        bar.set_card(None)
    else:
        found = None if is_open else (answer.quantity, answer.text, answer.right)
        bar.set_card(QuestionCard(bar.theme, asked_of(question.ask, answer.choices, chosen, found)))


class StepPictures:
    """Draws steps of a lecture in a window of its own that nobody sees.

    make_window: makes a main window with these jobs.
    """

    def __init__(self, source: SessionJobs, make_window: Callable[[SessionJobs], QMainWindow]) -> None:
        self._jobs = HandedSessions(source)
        self._shows = False  # whether the window shows the step, and not still another one
        self._made = make_window(self._jobs)
        self._made.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self._made.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self._window.central.types.soon.blockSignals(True)  # the window that people see asks the compiler

    @property
    def _window(self) -> PictureWindow:
        return cast(PictureWindow, self._made)

    def show(
        self,
        standing: StandingStep,
        look: Bookmark,
        size: QSize,
        *,
        with_text: bool = True,
        answered: bool = True,
    ) -> None:
        """Show a step in the window, with its caption or without, in the look's theme and text size.

        answered: with the answer to its question, and the caption that gives it away.
        """
        for _ in self.show_in_parts(standing, look, size, with_text=with_text, answered=answered):
            pass

    def show_in_parts(
        self,
        standing: StandingStep,
        look: Bookmark,
        size: QSize,
        *,
        with_text: bool = True,
        answered: bool = True,
    ) -> Iterator[None]:
        """Do what `show` does, with a `yield` wherever something else may be done."""
        window, central = self._window, self._window.central
        if self._made.size() != size:
            self._made.hide()
            self._made.destroy()  # a platform without a screen says that it can't be resized, but need not be
            self._made.setFixedSize(size)
            self._made.show()
            yield
        self._jobs.sessions = standing.sessions
        self._shows = window.show_bookmark(standing.bookmark(look))
        yield
        central.notice.clear()
        central.keep_verdicts(not answered)
        if with_text:
            show_step_text(central.caption, standing, is_open=not answered)
        else:
            central.caption.show_caption("", "", "")
        self._settle()

    def seek(self, position: float, moment: Moment, *, stands: bool) -> None:
        """Go to a moment of the playhead on the way of the step that is shown, or where it stands at the end."""
        stage = self._window.stage
        selections = moment.selections if stands else moment.first_selections
        stage.selections[: len(selections)] = selections
        stage.playhead.in_film = not stands
        stage.playhead.seek(position)
        self._window.draw()

    def show_pictures_alone(self) -> None:
        """Leave out all but the pictures and the caption, from now on."""
        self._window.central.show_pictures_alone(True)

    def _settle(self) -> None:
        """Have everything where it belongs, as Qt would before it paints."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self._window.draw()

    def wait(self) -> None:
        """Wait for what is drawn as it becomes known: measured times, what the compiler did, spreads."""
        if self._window.central.measured.sources is None:
            self._window.central.measured.read_now()
        self._window.central.wait_for_compiler()
        spreads, loop = self._window.central.spreads, QEventLoop()
        spreads.ended.connect(loop.quit)
        while not spreads.is_idle():
            loop.exec()
        self._settle()

    def image(self, scale: float = 1.0) -> QImage:
        """Return what the window shows as a picture with so many pixels a point."""
        image = picture_of(self._made, scale)
        if not self._shows:
            self._draw_absence(image)
        return image

    @property
    def shows(self) -> bool:
        """Whether the step that was shown last has a picture."""
        return self._shows

    def image_in_parts(self, parts: int) -> Iterator[QImage]:
        """Yield one picture of what the window shows again and again, with a part more each time."""
        image, whole = QImage(self._made.size(), QImage.Format.Format_RGB32), self._made.rect()
        for i in range(parts):
            left, right = (whole.width() * n // parts for n in (i, i + 1))
            part = QRect(left, 0, right - left, whole.height())
            self._made.render(image, part.topLeft(), QRegion(part))
            if i == parts - 1 and not self._shows:
                self._draw_absence(image)
            yield image

    def _draw_absence(self, image: QImage) -> None:
        """Say below the caption that there is no picture, in place of that of another step."""
        caption, painter = self._window.central.caption, QPainter(image)
        ground = self._made.palette()
        top = caption.mapTo(self._made, QPoint(0, caption.height())).y() if caption.isVisible() else 0
        box = self._made.rect().adjusted(0, top, 0, 0)
        painter.fillRect(box, ground.window())
        painter.setPen(ground.placeholderText().color())
        painter.setFont(caption.text.font())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), NO_PICTURE)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Draw what the window shows from the painter's origin on, without the buttons: lines and letters in a PDF."""
        transport = self._window.central.transport
        for button in (*transport.steps, transport.loop, transport.speed_chip, transport.link_chip):
            button.hide()
        for found in self._made.findChildren(QAbstractButton):
            if found.property("picture") == "close":
                found.hide()
        self._settle()
        body = cast(QWidget, self._made.centralWidget())
        body.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

    def close(self) -> None:
        """Give back what the window holds."""
        self._made.close()
        self._made.deleteLater()

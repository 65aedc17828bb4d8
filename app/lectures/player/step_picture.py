"""Pictures of a lecture's steps at their final moments, drawn by an offscreen window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QRegion
from PySide6.QtWidgets import QAbstractButton, QMainWindow, QWidget

from ....tracer.model.launch import Launch
from ....tracer.model.trace import Trace
from ...control.loading import Loading
from ...control.seed_jobs import SeedJobs
from ...control.session_jobs import SessionJobs, Source
from ...control.stage import Stage
from ...control.start_moment import StartMoment
from ...control.type_inference_job import TypeInferenceJob
from ...model.bookmark import Bookmark, Setup
from ...model.first_bookmark import first_bookmark
from ...model.session import Session
from ...panels.transport import Transport
from ...state.actions import HideVerdicts, ShowPictureOnly
from ...timings.measured_job import MeasuredTimes
from ...widgets.notice import Notice
from ...widgets.widget_picture import picture_of
from ..model.captions import FilledCaption, fill_caption, mask_html
from ..model.changes import Pane
from ..model.check import environment_of
from ..model.document import Lecture
from ..model.expressions import ExpressionError
from ..model.questions import Answer, answer_of
from ..model.scenes import Moment, Scene, moment_of, scene_bookmark
from ..model.values import Ask
from .caption import CaptionBar, unbroken
from .question_card import QuestionCard, question_state

NO_PICTURE = (
    "This step runs a program that comes with the lecture. It is shown only in the window, once you agree."
)


class ResolvedStep:
    """A step at its final moment, with its texts.

    setups, sessions: of its panes, or of those below its chart; none if its program may not run. ask: requests the
    compiled counters that a caption needs; None waits for them. Raises TimeAnchorError.
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
        self.place = unbroken(f"step {number + 1} of {len(lecture.steps)}")
        self.setups, self.sessions = setups, sessions
        self.moment = moment_of(lecture, scenes, number, sessions) if sessions else None
        own = sessions if self.scene.panes else ()
        self._names = environment_of(self.scene, own, self.moment, ask) if self.moment else None

    def caption(self) -> FilledCaption:
        """Fill the caption with its numbers."""
        return fill_caption(self.step.caption, self._names)

    def notes(self) -> FilledCaption:
        """Fill the speaker's notes with their numbers."""
        return fill_caption(self.step.spoken, self._names)

    def answer(self) -> Answer | None:
        """Compute the answer to the step's question; None without one, or if it can't be computed."""
        question = self.step.change.question
        try:
            return answer_of(question, self._names or {}) if question else None
        except ExpressionError:
            return None

    def bookmark(self, look: Bookmark, answered: bool = True) -> Bookmark:
        """Build the bookmark of the step in this look; a step that plays begins when its question is answered."""
        mark, moment = scene_bookmark(self.scene, self.setups, look), self.moment
        if moment is None:
            return mark
        if self.scene.play is not None and self.step.change.question and not answered:
            return msgspec.structs.replace(mark, selections=moment.first_selections, moment=moment.begin)
        return msgspec.structs.replace(mark, selections=moment.selections, moment=moment.stand)


def panes_below(scenes: Sequence[Scene], number: int) -> tuple[Pane, ...]:
    """Return the panes of a step, or of the next one that has some if the step has only a chart."""
    return next((scene.panes for scene in scenes[number:] if scene.panes), ())


def setups_below(panes: tuple[Pane, ...]) -> tuple[Setup, ...]:
    """Return the setups of panes: none if one needs consent; the default pair if there are no panes."""
    setups = tuple(pane for pane in panes if isinstance(pane, Setup))
    return () if len(setups) < len(panes) else setups or first_bookmark((), None).panes


class AssignedSessions(SessionJobs):
    """The jobs of a window that loads nothing itself: its panes get the assigned sessions."""

    def __init__(self, source: SessionJobs) -> None:
        super().__init__(source.worker, source.cache)
        self.source = source
        self._assigned: list[Session] = []  # those that no pane has loaded yet

    def assign(self, sessions: Sequence[Session]) -> None:
        """Hand out these sessions, in the order of the panes."""
        self._assigned = list(sessions)

    def load(
        self, source: Source, *, replaces: Loading | None = None, patient: bool = False, early: bool = False
    ) -> Loading:
        """Deliver the next session; a pane that loads again gets its own."""
        session = self._assigned.pop(0) if self._assigned else replaces.session if replaces else None
        assert session is not None
        loading = Loading("", session, lambda _: False)
        loading.finish(session)
        return loading

    def trace_in_background(self, launch: Launch, patience: float | None = None) -> Trace:
        """Trace a launch that no pane shows, in a thread, with the source's worker."""
        return self.source.trace_in_background(launch, patience)

    def close(self) -> bool:
        """Do nothing, since the worker belongs to the source."""
        return True


class PictureResults(Protocol):
    """The results that pictures wait for."""

    @property
    def spreads(self) -> SeedJobs: ...
    @property
    def types(self) -> TypeInferenceJob: ...
    @property
    def measured(self) -> MeasuredTimes: ...
    def wait_for_compiler(self) -> None: ...


class PictureParts(Protocol):
    """The parts of the window that pictures need."""

    @property
    def caption(self) -> CaptionBar: ...
    @property
    def transport(self) -> Transport: ...
    @property
    def notice(self) -> Notice: ...
    @property
    def results(self) -> PictureResults: ...


class PictureWindow(Protocol):
    """The interface of the main window that pictures need."""

    @property
    def central(self) -> PictureParts: ...
    @property
    def stage(self) -> Stage: ...
    def show_bookmark(self, mark: Bookmark, start: StartMoment | None = None) -> bool: ...
    def draw(self) -> None: ...


def show_step_text(
    bar: CaptionBar, standing: ResolvedStep, *, is_open: bool = False, chosen: int | None = None
) -> None:
    """Show a step's caption, question, and the answer unless it is open. chosen: the index of a choice."""
    caption, question, answer = standing.caption(), standing.step.change.question, standing.answer()
    is_open = is_open and question is not None
    html, foot = (mask_html(caption.html), "") if is_open else (caption.html, caption.foot)
    bar.show_caption(standing.step.title, html, f"{foot}   {standing.place}".strip(), held=is_open)
    if question is None or answer is None:
        bar.set_card(None)
    else:
        state = question_state(question, answer, chosen, is_revealed=not is_open)
        bar.set_card(QuestionCard(bar.theme, state))


class StepPictures:
    """Draws steps of a lecture in an offscreen window.

    make_window: creates a main window with these jobs.
    """

    def __init__(self, source: SessionJobs, make_window: Callable[[SessionJobs], QMainWindow]) -> None:
        self._jobs = AssignedSessions(source)
        self._has_picture = False  # whether the window shows the step, not a previous one
        self._main_window = make_window(self._jobs)
        self._main_window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self._main_window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self._window.central.results.types.soon.blockSignals(
            True
        )  # only the visible window asks the compiler

    @property
    def _window(self) -> PictureWindow:
        return cast(PictureWindow, self._main_window)

    def show(
        self,
        standing: ResolvedStep,
        look: Bookmark,
        size: QSize,
        *,
        with_text: bool = True,
        answered: bool = True,
    ) -> None:
        """Show a step in the offscreen window, with or without its caption, in the look's theme and text size.

        answered: show the answer to its question, and the caption, which may contain it.
        """
        for _ in self.show_in_parts(standing, look, size, with_text=with_text, answered=answered):
            pass

    def show_in_parts(
        self,
        standing: ResolvedStep,
        look: Bookmark,
        size: QSize,
        *,
        with_text: bool = True,
        answered: bool = True,
    ) -> Iterator[None]:
        """Do the same as `show`, with a `yield` wherever other work may run."""
        window, central = self._window, self._window.central
        if self._main_window.size() != size:
            self._main_window.hide()
            self._main_window.destroy()  # avoids a warning of the offscreen platform about resizing
            self._main_window.setFixedSize(size)
            self._main_window.show()
            yield
        self._jobs.assign(standing.sessions)
        self._has_picture = window.show_bookmark(standing.bookmark(look, answered))
        yield
        central.notice.clear()
        window.stage.store.dispatch(HideVerdicts(not answered))
        if with_text:
            show_step_text(central.caption, standing, is_open=not answered)
        else:
            central.caption.show_caption("", "", "")
        self._settle()

    def seek(self, position: float, moment: Moment, *, stands: bool) -> None:
        """Seek to a moment of the step's animation, or to its final moment."""
        stage = self._window.stage
        selections = moment.selections if stands else moment.first_selections
        stage.choose(selections)
        stage.playhead.in_film = not stands
        stage.playhead.seek(position)
        self._window.draw()

    def show_pictures_only(self) -> None:
        """Show only the pictures and the caption from now on."""
        self._window.stage.store.dispatch(ShowPictureOnly(True))

    def _settle(self) -> None:
        """Update the layout, as Qt would do before it paints."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self._window.draw()

    def wait(self) -> None:
        """Wait for measured times, compiler results and spreads."""
        if self._window.central.results.measured.sources is None:
            self._window.central.results.measured.read_now()
        self._window.central.results.wait_for_compiler()
        self._window.central.results.spreads.wait()
        self._settle()

    def image(self, scale: float = 1.0) -> QImage:
        """Draw the window as an image with `scale` pixels per point."""
        image = picture_of(self._main_window, scale)
        if not self._has_picture:
            self._draw_absence(image)
        return image

    @property
    def shows(self) -> bool:
        """True if the step shown last has a picture."""
        return self._has_picture

    def image_in_parts(self, parts: int) -> Iterator[QImage]:
        """Yield the same picture of the window repeatedly, with one more part drawn each time."""
        image, area = QImage(self._main_window.size(), QImage.Format.Format_RGB32), self._main_window.rect()
        for i in range(parts):
            left, right = (area.width() * n // parts for n in (i, i + 1))
            part = QRect(left, 0, right - left, area.height())
            self._main_window.render(image, part.topLeft(), QRegion(part))
            if i == parts - 1 and not self._has_picture:
                self._draw_absence(image)
            yield image

    def _draw_absence(self, image: QImage) -> None:
        """Write below the caption that the step has no picture."""
        caption, painter = self._window.central.caption, QPainter(image)
        ground = self._main_window.palette()
        top = caption.mapTo(self._main_window, QPoint(0, caption.height())).y() if caption.isVisible() else 0
        box = self._main_window.rect().adjusted(0, top, 0, 0)
        painter.fillRect(box, ground.window())
        painter.setPen(ground.placeholderText().color())
        painter.setFont(caption.text.font())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), NO_PICTURE)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Draw the window at the painter's origin, without buttons, as vectors in a PDF."""
        transport = self._window.central.transport
        for button in (
            *transport.steps,
            transport.loop,
            transport.speed_chip,
            transport.link_chip,
            transport.colour_chip,
        ):
            button.hide()
        for child in self._main_window.findChildren(QAbstractButton):
            if child.property("picture") == "close":
                child.hide()
        self._settle()
        body = cast(QWidget, self._main_window.centralWidget())
        body.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

    def close(self) -> None:
        """Close and delete the window."""
        self._main_window.close()
        self._main_window.deleteLater()

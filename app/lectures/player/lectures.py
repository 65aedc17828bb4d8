"""Lectures in the window: the player, and the widgets for caption, question, step list, timer and blank screen."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog, QWidget

from ....tracer.model.finding import count_noun
from ....tracer.model.plan import PlanError
from ...control.stage import Stage
from ...model.bookmark import Bookmark
from ...model.nothing import nothing
from ...model.settings import StoredSettings
from ...state.actions import ChooseLayout, HideVerdicts
from ...views.common.heat import HEATS
from ...widgets.appearance import Look
from ...widgets.notice import Notice
from ...widgets.theme import Theme
from ..model.captions import mask_html
from ..model.changes import Pane
from ..model.document import Lecture, read_lecture
from ..model.problems import LectureError, Problem
from ..model.program_panes import ProgramPane, runs_program, with_setups
from ..model.scenes import scenes_of
from .blank import BlankScreen
from .caption import CaptionBar, unbroken
from .checking import CheckJob, show_problems
from .file_watch import FileWatch
from .player import LecturePlayer, ShowBookmark
from .programs import LaunchUnavailableError
from .step_cover import StepCover, StepNote

if TYPE_CHECKING:  # loaded with the first lecture
    from .question_card import QuestionCard

COLOURS = {"auto": "automatic", "value": "values", "reads": "reads so far"}
TICK = 1000  # milliseconds between updates of the timer


class WindowParts(NamedTuple):
    """The parts of the window that show a lecture."""

    window: QWidget  # the parent of dialogs
    body: QWidget  # covered if a step has no picture
    foot: QWidget  # below the notes
    caption: CaptionBar  # for caption and question
    notice: Notice  # for errors


class Lectures(QObject):
    """Opens and leaves lectures, and shows the state of the player.

    output_asked: the user wants the lecture as another file, with the command's text.
    """

    def __init__(
        self,
        places: WindowParts,
        stage: Stage,
        look: Look,
        settings: StoredSettings,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
    ) -> None:
        super().__init__(places.window)
        self.output_asked: Callable[[str], object] = nothing
        self.places, self.look, self.settings = places, look, settings
        self.store = stage.store
        self.player = player = LecturePlayer(stage, bookmark, show, self)
        self.has_clock = True
        self.blank = BlankScreen(places.window)
        self.note = StepNote(look.theme, places.body, places.foot)
        self.cover = StepCover(look.theme, places.body, places.caption)
        self.card: QuestionCard | None = None
        self._card_key: tuple[int, str, tuple[str, ...]] = (
            -1,
            "",
            (),
        )  # step, question and choices of the card
        self.checks = CheckJob(stage.jobs, self)
        self.checks.checked = self._show_checked
        self.checks.failed = partial(places.notice.error, cause="lecture file")
        self._watch = FileWatch(self)
        self._watch.saved = player.reload
        self._clock = QTimer(self, interval=TICK)
        self._clock.timeout.connect(self._show_text)
        player.changed.connect(self._show)
        player.awaited_changed.connect(self._show_awaited)
        player.problem = self._show_problem
        self._problem_position: tuple[str, int] = ("", 0)  # text and step of the lecture at the last problem
        stage.jobs.preparing.connect(self._show_progress)
        look.changed.connect(self._set_theme)

    # Opening and leaving.

    def ask_for_file(self) -> None:
        """Ask for a lecture's file and present it."""
        recent = self.recent()
        folder = str(recent[0].parent) if recent else str(Path.home())
        path, _ = QFileDialog.getOpenFileName(self.places.window, "Open lecture", folder, "Lectures (*.md)")
        if path:
            self.open(Path(path))

    def open(self, path: Path, number: int = 0, before: Bookmark | None = None) -> bool:
        """Present a lecture from a step on; show an error and return False if it can't be read.

        before: restored once the lecture is left, None for the current state.
        """
        self.places.notice.clear()
        opened = self.player.open(path.absolute(), number, before)
        if opened:
            self.settings.note_lecture(str(path.absolute()))
        return opened

    def recent(self) -> Sequence[Path]:
        """List the files of recent lectures, the latest first."""
        return [Path(path) for path in self.settings.current.recent_lectures]

    def leave(self) -> None:
        """Leave the lecture, and offer to go back."""
        lecture, number = self.player.lecture, self.player.number
        if lecture is None:
            return
        self.places.notice.clear()
        self._close_list()
        self.player.close()
        self.places.notice.ask(
            f"The lecture was left at step {number + 1}.",
            [("Go back", lambda: self._return(lecture.path, number))],
            "left lecture",
        )

    def _return(self, path: Path, number: int) -> None:
        self.open(path, number)

    def close(self) -> None:
        """End all jobs of lectures, since the window closes."""
        self._clock.stop()
        self._watch.watch(None)
        self.player.programs.close()
        self.checks.close()

    def escape_first(self) -> bool:
        """End the blank screen, or the wait for a step; return False if there was neither."""
        if self.player.is_blank:
            self.player.toggle_blank()
            return True
        return self.player.cancel()

    def escape_last(self) -> bool:
        """Leave full screen, then the lecture; return False without a lecture."""
        if self.player.lecture is None:
            return False
        if self.places.window.isFullScreen():
            self.places.window.showNormal()
        else:
            self.leave()
        return True

    def ask_for_output(self, text: str) -> None:
        """Ask for an output of the lecture: one of `OUTPUTS`."""
        self.output_asked(text)

    def check(self) -> None:
        """Check the current content of the lecture's file."""
        if self.player.lecture is None:
            return
        try:
            lecture = read_lecture(self.player.lecture.path)
        except LectureError as error:
            self.places.notice.error(str(error), "lecture file")
            return
        self.places.notice.inform(f"Checking {len(lecture.steps)} steps…")
        programs, folder = self.player.programs, lecture.folder

        def traced(pane: ProgramPane) -> Pane:
            try:
                return programs.setup_of(pane, folder)
            except (LaunchUnavailableError, PlanError):
                return pane

        self.checks.start(with_setups(lecture, traced))

    def _show_checked(self, lecture: Lecture, problems: Sequence[Problem]) -> None:
        if problems:
            show_problems(self.places.window, self.look.theme, lecture, problems)
        else:
            scenes = scenes_of(lecture)
            checked = len(scenes) - sum(map(runs_program, scenes))
            rest = "" if checked == len(scenes) else " Run the programs of the others, and check again."
            part = f"{checked} of " if rest else ""
            self.places.notice.inform(f"{part}{count_noun(len(scenes), 'step')}, no mistakes.{rest}")

    def show_full(self) -> bool:
        """Enter or leave full screen; return False without a lecture."""
        if self.player.lecture is None:
            return False
        window = self.places.window
        window.showNormal() if window.isFullScreen() else window.showFullScreen()
        return True

    def _show_problem(self, sentence: str) -> None:
        player = self.player
        if not sentence:
            self.places.notice.clear(cause="lecture")
            return
        self._problem_position = (player.lecture.text if player.lecture else "", player.number)
        self.places.notice.error(sentence, "lecture")

    def _clear_old_problem(self) -> None:
        """Clear the message about a corrected text, or about a step that was left."""
        lecture, (text, number) = self.player.lecture, self._problem_position
        if lecture is None or lecture.text != text or (not lecture.problems and self.player.number != number):
            self.places.notice.clear(cause="lecture")

    # Display.

    def toggle_clock(self) -> None:
        """Show or hide the timer."""
        self.has_clock = not self.has_clock
        self._show_text()

    def restart_clock(self) -> None:
        """Restart the timer."""
        self.player.restart_clock()
        self._show_text()

    def list_steps(self) -> None:
        """Show the list of the steps."""
        from .step_list import StepList

        player, window = self.player, self.places.window
        self._close_list()
        if player.lecture is not None:
            lecture = player.lecture
            StepList(window, self.look.theme, lecture.title, lecture.steps, player.number, player.go).show()

    def _close_list(self) -> None:
        from .step_list import StepList

        for shown in self.places.window.findChildren(StepList):
            shown.close()

    def _show(self) -> None:
        """Update all parts."""
        player = self.player
        self._clear_old_problem()
        if player.lecture is not None:
            self.places.notice.clear(cause="left lecture")
        self._watch.watch(player.lecture.path if player.lecture else None)
        self.blank.show_blank(player.is_blank)
        self._show_text()
        self._show_card()
        self.store.dispatch(HideVerdicts(self.is_asking()))
        run = player.agree if player.runnable else None
        self.cover.show_reason(player.obstacle if player.lecture else "", run)
        if player.lecture and player.obstacle:
            self.store.dispatch(ChooseLayout("lecture"))  # needed if the first step has no picture
        if player.lecture is None:
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()

    def _show_text(self) -> None:
        """Show title and caption of the step, its number and the timer."""
        player, caption = self.player, self.places.caption
        held = False
        if player.lecture is None:
            text = ("", "", "")
        elif (filled := player.caption()) is None or player.step is None:
            text = (player.lecture.title, "", "")
        elif self.is_asking():
            held, text = True, (player.step.title, mask_html(filled.html), self._foot(""))
        else:
            text = (player.step.title, filled.html, self._foot(filled.foot))
        if text != (caption.title.text(), caption.text.text(), caption.foot.text()):
            caption.show_caption(*text, held=held)

    def is_asking(self) -> bool:
        """Return True if the step has a question whose answer is not shown yet."""
        player = self.player
        return bool(player.step and player.step.change.question and not player.is_revealed)

    def _foot(self, origins: str) -> str:
        """Join the origins of the numbers, the step's number and the timer."""
        minutes = f"{math.floor(self.player.seconds_gone() / 60)} min · {time.strftime('%H:%M')}"
        clock = unbroken(minutes) if self.has_clock else ""
        parts = (self._colour_text(), origins, self._position_text(), clock)
        return "   ".join(filter(None, parts))

    def _colour_text(self) -> str:
        """Announce what the colours mean if the step changes it."""
        number, scenes = self.player.number, self.player.scenes
        colour = scenes[number].look.colour_by
        if number == 0 or colour == scenes[number - 1].look.colour_by:
            return ""
        return f"Colour: {HEATS.get(colour) or COLOURS[colour]}."

    def _position_text(self) -> str:
        assert self.player.lecture
        return unbroken(f"step {self.player.number + 1} of {len(self.player.lecture.steps)}")

    def caption(self) -> tuple[str, str, str]:
        """Return title, HTML and foot of the step's caption, without the timer; empty while it asks."""
        player = self.player
        filled = player.caption() if player.lecture and not self.is_asking() else None
        if filled is None or player.step is None:
            return "", "", ""
        return player.step.title, filled.html, "   ".join(filter(None, (filled.foot, self._position_text())))

    def _show_card(self) -> None:
        player, old = self.player, self.card
        question = player.step.change.question if player.step and player.moment() else None
        if question is None:
            self.card = None
        else:
            from .question_card import QuestionCard, question_state

            asked = question_state(question, player.answer(), player.chosen, is_revealed=player.is_revealed)
            key = player.number, asked.ask, asked.choices
            if old is None or key != self._card_key:
                self._card_key = key
                self.card = QuestionCard(self.look.theme, asked)
                self.card.chosen = player.choose
                self.card.revealed = player.reveal
            else:
                old.show_asked(asked)
        self.places.caption.set_card(self.card)
        if old is not None and old is not self.card:
            old.deleteLater()

    def _show_awaited(self) -> None:
        awaited = self.player.awaited
        self.note.show_sentence("" if awaited is None else f"Preparing step {awaited + 1}…   Esc")

    def _show_progress(self, key: str, done: int, total: int) -> None:
        awaited = self.player.awaited
        if awaited is not None and total and not self.note.isHidden():
            blocks = self.look.theme.translate(f"{done:,} of {total:,} blocks")
            self.note.show_sentence(f"Preparing step {awaited + 1}: {blocks}   Esc")

    def _set_theme(self, theme: Theme) -> None:
        for part in (self.note, self.cover, self.card):
            if part is not None:
                part.set_theme(theme)

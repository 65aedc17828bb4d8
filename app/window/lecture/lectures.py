"""Lectures in the window: the player, and the widgets that show its caption, question, list, clock and blank screen."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ...control.stage import Stage
from ...lecture.captions import masked
from ...lecture.document import Lecture, read_lecture
from ...lecture.problems import LectureError, Problem
from ...lecture.questions import Question
from ...model.bookmark import Bookmark, LayoutChoice
from ...model.settings import StoredSettings
from ...widgets.appearance import Look
from ...widgets.notice import Notice
from ...widgets.theme import Theme
from ..panels.caption import CaptionBar
from .blank import BlankScreen
from .checking import CheckJob, show_problems
from .file_watch import FileWatch
from .player import LecturePlayer, ShowBookmark
from .step_cover import StepCover, StepNote

if TYPE_CHECKING:  # the window starts without what only a lecture has
    from .question_card import Asked, QuestionCard

TICK = 1000  # milliseconds after which the clock is looked at


class Places(NamedTuple):
    """The parts of the window in which a lecture is shown."""

    window: QWidget  # all of it, the parent of dialogs
    body: QWidget  # what is covered where a step has no picture
    foot: QWidget  # above whose upper edge a note stands
    caption: CaptionBar  # for caption and question
    notice: Notice  # for what goes wrong
    show_layout: Callable[[LayoutChoice], None]  # shares the room


class Lectures(QObject):
    """Opens and leaves lectures, and shows what the player says.

    show_full: shows the window in the lecture layout on the whole screen, or no longer so.
    """

    asking = Signal(bool)  # whether a question is open, whose answer nothing may tell

    def __init__(
        self,
        places: Places,
        stage: Stage,
        look: Look,
        settings: StoredSettings,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
    ) -> None:
        super().__init__(places.window)
        self.places, self.look, self.settings = places, look, settings
        self.player = player = LecturePlayer(stage, bookmark, show, self)
        self.has_clock = True
        self.blank = BlankScreen(places.window)
        self.note = StepNote(look.theme, places.body, places.foot)
        self.cover = StepCover(look.theme, places.body, places.caption)
        self.card: QuestionCard | None = None
        self._asks: tuple[int, Question | None] = (-1, None)  # the step and question of the card
        self.checks = CheckJob(stage.jobs, self)
        self.checks.found.connect(self._show_checked)
        self.checks.failed.connect(partial(places.notice.error, cause="lecture file"))
        self._watch = FileWatch(self)
        self._watch.saved.connect(player.reload)
        self._clock = QTimer(self, interval=TICK)
        self._clock.timeout.connect(self._show_text)
        player.changed.connect(self._show)
        player.awaited_changed.connect(self._show_awaited)
        player.problem.connect(self._tell_problem)
        self._told: tuple[str, int] = ("", 0)  # text and step of the lecture when a problem was told
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
        """Present a lecture from a step on; return False, with the reason shown, where it can't be read.

        before: what is shown once it is left, None for what the window shows now.
        """
        self.places.notice.clear()
        opened = self.player.open(path.absolute(), number, before)
        if opened:
            self.settings.note_lecture(str(path.absolute()))
        return opened

    def recent(self) -> Sequence[Path]:
        """Return the files of the lectures opened lately, the last one first."""
        return [Path(path) for path in self.settings.current.recent_lectures]

    def leave(self) -> None:
        """Leave the lecture, and offer the way back."""
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
        """End what runs for a lecture: the window closes."""
        self._clock.stop()
        self._watch.watch(None)
        self.player.programs.close()
        self.checks.close()

    def escape_first(self) -> bool:
        """End the blank screen, or the wait for a step; return whether there was either."""
        if self.player.is_blank:
            self.player.toggle_blank()
            return True
        return self.player.cancel()

    def escape_last(self) -> bool:
        """Leave the whole screen, then the lecture; return whether one was presented."""
        if self.player.lecture is None:
            return False
        if self.places.window.isFullScreen():
            self.places.window.showNormal()
        else:
            self.leave()
        return True

    def check(self) -> None:
        """Look for everything that is wrong with the lecture, its file as it is now."""
        if self.player.lecture is None:
            return
        try:
            lecture = read_lecture(self.player.lecture.path)
        except LectureError as error:
            self.places.notice.error(str(error), "lecture file")
            return
        self.places.notice.inform(f"Checking {len(lecture.steps)} steps…")
        self.checks.start(lecture)

    def _show_checked(self, lecture: Lecture, problems: Sequence[Problem]) -> None:
        if problems:
            show_problems(self.places.window, self.look.theme, lecture, problems)
        else:
            self.places.notice.inform(f"{len(lecture.steps)} steps, no mistakes.")

    def show_full(self) -> bool:
        """Show the lecture on the whole screen, or no longer so; return False where none is presented."""
        if self.player.lecture is None:
            return False
        window = self.places.window
        window.showNormal() if window.isFullScreen() else window.showFullScreen()
        return True

    def _tell_problem(self, sentence: str) -> None:
        player = self.player
        if not sentence:
            self.places.notice.clear(cause="lecture")
            return
        self._told = (player.lecture.text if player.lecture else "", player.number)
        self.places.notice.error(sentence, "lecture")

    def _forget_problem(self) -> None:
        """Take back what was told of a text that is mended, or of a step that is left."""
        lecture, (text, number) = self.player.lecture, self._told
        if lecture is None or lecture.text != text or (not lecture.problems and self.player.number != number):
            self.places.notice.clear(cause="lecture")

    # What is shown.

    def toggle_clock(self) -> None:
        """Show the time, or not."""
        self.has_clock = not self.has_clock
        self._show_text()

    def restart_clock(self) -> None:
        """Count the time from now on."""
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
        """Show what has changed."""
        player = self.player
        self._forget_problem()
        self._watch.watch(player.lecture.path if player.lecture else None)
        self.blank.show_blank(player.is_blank)
        self._show_text()
        self._show_card()
        self.asking.emit(self.is_asking())
        run = player.agree if player.runnable else None
        self.cover.say(player.obstacle if player.lecture else "", run)
        if player.lecture and player.obstacle:
            self.places.show_layout("lecture")  # which nothing else does where the first step has no picture
        if player.lecture is None:
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()

    def _show_text(self) -> None:
        """Show title and caption of the step, and where and when we are."""
        player, caption = self.player, self.places.caption
        held = False
        if player.lecture is None:
            text = ("", "", "")
        elif (filled := player.caption()) is None or player.step is None:
            text = (player.lecture.title, "", "")
        elif self.is_asking():
            held, text = True, (player.step.title, masked(filled.html), self._foot(""))
        else:
            text = (player.step.title, filled.html, self._foot(filled.foot))
        if text != (caption.title.text(), caption.text.text(), caption.foot.text()):
            caption.show_caption(*text, held=held)

    def is_asking(self) -> bool:
        """Return whether the step asks, and its answer is not shown yet."""
        player = self.player
        return bool(player.step and player.step.change.question and not player.is_revealed)

    def _foot(self, origins: str) -> str:
        """Return where the numbers come from, and where and when we are."""
        minutes = f"{math.floor(self.player.seconds_gone() / 60)} min · {time.strftime('%H:%M')}"
        return "   ".join(filter(None, (origins, self._place(), minutes if self.has_clock else "")))

    def _place(self) -> str:
        assert self.player.lecture
        return f"step {self.player.number + 1} of {len(self.player.lecture.steps)}"

    def caption(self) -> tuple[str, str, str]:
        """Return title, HTML and foot of what the step says, without the clock; nothing while it asks."""
        player = self.player
        filled = player.caption() if player.lecture and not self.is_asking() else None
        if filled is None or player.step is None:
            return "", "", ""
        return player.step.title, filled.html, "   ".join(filter(None, (filled.foot, self._place())))

    def _show_card(self) -> None:
        player, old = self.player, self.card
        question = player.step.change.question if player.step and player.moment() else None
        asked = self._asked(question) if question else None
        if question is None or asked is None:
            self.card, self._asks = None, (-1, None)
        elif self.card is None or self._asks != (player.number, question):
            from .question_card import QuestionCard

            self._asks = player.number, question
            self.card = QuestionCard(self.look.theme, asked)
            self.card.chosen.connect(player.choose)
            self.card.revealed.connect(player.reveal)
        else:
            self.card.show_asked(asked)
        self.places.caption.set_card(self.card)
        if old is not None and old is not self.card:
            old.deleteLater()

    def _asked(self, question: Question) -> Asked | None:
        """Return the question as it is to be seen now."""
        from .question_card import asked_of

        player, answer = self.player, self.player.answer()
        choices = answer.choices if answer else [choice.text for choice in question.choices]
        shown = (answer.quantity, answer.text, answer.right) if answer and player.is_revealed else None
        return asked_of(question.ask, choices, player.chosen, shown)

    def _show_awaited(self) -> None:
        awaited = self.player.awaited
        self.note.tell("" if awaited is None else f"Preparing step {awaited + 1}…   Esc")

    def _show_progress(self, key: str, done: int, total: int) -> None:
        awaited = self.player.awaited
        if awaited is not None and total and not self.note.isHidden():
            blocks = self.look.theme.say(f"{done:,} of {total:,} blocks")
            self.note.tell(f"Preparing step {awaited + 1}: {blocks}   Esc")

    def _set_theme(self, theme: Theme) -> None:
        for part in (self.note, self.cover, self.card):
            if part is not None:
                part.set_theme(theme)

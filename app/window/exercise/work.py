"""A student's text while she writes it: kept at every pause, judged where it parses, its first case in the pane."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from ....tracer.model.syntax_tree import syntax_problem
from ...control.stage import Stage
from ...control.start_moment import as_before
from ...exercise.document import Exercise, file_of
from ...exercise.hiding import hide_judged, hide_places, shown_of
from ...model.bookmark import Bookmark, Setup
from ...model.session import Session
from ...views.source.problems import Problem
from ...views.source.view import SourceView
from .judging import Judged, JudgeJob

if TYPE_CHECKING:
    from ...exercise.verdict import Verdict

PAUSE = 300  # milliseconds after the last key, when what was typed is kept and judged
STATE, SLOW_STATE = "judged as you type", "judging … for 10 s at most"
SLOW = 1200  # milliseconds of a judging, after which it is said that it goes on
NO_STRIKING = "in an exercise, Ctrl+/ comments a line out"
ShowBookmark = Callable[[Bookmark], bool]


class ExerciseWork(QObject):
    """One text of one exercise, in the source panel and in the pane.

    judged: (Verdict, whether there is a newer text). stale: whether the verdict is of the text before. typed: the
    text is to be kept. failed: one sentence, why the exercise can't judge; first: nothing of it was shown before.
    """

    judged = Signal(object, bool)
    stale = Signal(bool)
    typed = Signal()
    failed = Signal(str, bool)

    def __init__(
        self,
        stage: Stage,
        source: SourceView,
        job: JudgeJob,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
    ) -> None:
        super().__init__(source)
        self.stage, self.source, self.job, self.bookmark, self.show = stage, source, job, bookmark, show
        self.exercise: Exercise | None = None
        self.text = ""  # as it is written now, its lines ended by \n
        self.hints: Callable[[], int] = lambda: 0  # that the student has asked for
        self._last: Judged | None = None  # what was judged last
        self._pictured: Judged | None = None  # whose first case the pane shows
        self._for_picture = False  # whether the stub is judged for its picture alone
        self._waits = False  # whether the text is still to be put into the editor
        self._showing = False  # whether what is asked of the stage is ours
        self._may_strike = source.editor.may_strike
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self.look)
        self._slow = QTimer(self, singleShot=True, interval=SLOW)
        self._slow.timeout.connect(self._show_state)
        source.editor.edited.connect(self._note_edit)
        source.editor.run_asked.connect(self.look)
        stage.asked.connect(self._put_aside)
        stage.loaded.connect(lambda _: self._fill())
        job.judged.connect(self._take)
        job.failed.connect(self._miss)
        job.begun.connect(self._slow.start)
        job.rested.connect(self._show_state)

    # Begin and end.

    def begin(self, exercise: Exercise, text: str) -> None:
        """Work at an exercise with this text, once something of it can be shown."""
        self.end()
        self.exercise, self.text = exercise, text
        self._may_strike, self.source.editor.may_strike = self.source.editor.may_strike, self._why_it_stays
        self._waits = True
        self.job.ask(exercise, exercise.stub if syntax_problem(text) else text)

    def end(self) -> None:
        """Work at no exercise any more; what was typed has been kept."""
        if self.exercise is None:
            return
        self._pause.stop()
        self.exercise = self._last = self._pictured = None
        self._for_picture = self._waits = False
        self.job.drop()
        self.source.editor.may_strike = self._may_strike
        self.source.set_state_text("")
        self.source.set_problems([])
        if self.source.is_edited():
            self.source.revert()  # else it would count as the draft of a kernel that nobody saved

    def is_here(self) -> bool:
        """Return whether the pane in focus shows the exercise: then the source panel has the student's text."""
        setups, focus = self.stage.setups, self.stage.focus
        return self.exercise is not None and focus < len(setups) and self.job.owns(setups[focus].file)

    def come_back(self) -> None:
        """Show the exercise again after something else."""
        if self._pictured is not None:
            self._waits = True
            self._show(self._pictured, anew=True)

    def flush(self) -> None:
        """Have what was typed just now kept."""
        self._pause.stop()
        if self._shows_text() and not self._waits:
            self.text = _plain(self.source.text())
            self.typed.emit()

    # What is typed.

    def put(self, text: str) -> None:
        """Put a text in place of the student's, who can take that back."""
        if self._shows_text():
            self.source.editor.replace(text)

    def go_to(self, line: int) -> None:
        """Put the cursor at a line of the text."""
        if self._shows_text():
            self.source.editor.go_to(line)

    def _shows_text(self) -> bool:
        """Return whether the editor has the student's text."""
        if self.exercise is None or not self.is_here():
            return False
        return self.source.editor.file == str(file_of(self.exercise).absolute())

    def _why_it_stays(self, line: int) -> str:
        """Return why a line can't be taken out of what runs, "" where it can."""
        return NO_STRIKING if self._shows_text() else self._may_strike(line)

    def _note_edit(self, text: str) -> None:
        if not self._shows_text() or self._waits:
            return
        self.text = _plain(text)
        self.stale.emit(self._last is None or self.text != self._last.text)
        self._pause.start()

    def look(self) -> None:
        """Keep what was typed and judge it, unless it is no Python yet, which is told at its line."""
        self._pause.stop()
        if self.exercise is None or not self._shows_text():
            return
        self.typed.emit()
        problem = syntax_problem(self.text)
        self.source.set_problems([problem] if problem else [])
        if problem is not None:
            return
        if self._last is not None and self._last.text == self.text:
            self._show_last(self._last)
        else:
            self.job.ask(self.exercise, self.text)

    def _show_last(self, last: Judged) -> None:
        """Show again what a text came to, to which the student went back."""
        self._mark(last.verdict)
        if last.trace and last is not self._pictured:
            self._show(last)

    # What comes of it.

    def _take(self, judged: Judged) -> None:
        if judged.exercise is not self.exercise:
            return
        mine = judged.text == self.text
        if not self._for_picture:
            self._last = judged
            self.judged.emit(judged.verdict, not mine)
            if mine and self._shows_text():
                self._mark(judged.verdict)
        self._for_picture = False
        if judged.trace and (self._pictured is None or (mine and self.is_here())):
            self._show(judged, anew=self._pictured is None)
        elif self._pictured is None:
            self._ask_for_picture(judged)

    def _ask_for_picture(self, judged: Judged) -> None:
        """Have the stub judged where a text can't be launched, so that there is something to see."""
        assert self.exercise
        if judged.text == self.exercise.stub:
            self.failed.emit(
                f"The exercise {self.exercise.name} can't be shown: {judged.verdict.error}", True
            )
        else:
            self._for_picture = True
            self.job.ask(self.exercise, self.exercise.stub)

    def _miss(self, exercise: Exercise, sentence: str) -> None:
        if exercise is self.exercise:
            self.failed.emit(sentence, self._pictured is None)

    def _show(self, judged: Judged, *, anew: bool = False) -> None:
        """Show the first case of a text in the pane; anew: and the source beside it, in place of what was there."""
        self._pictured, self._showing = judged, True
        setup, exercise = Setup(file=judged.trace), judged.exercise
        self.stage.trust_text(f"{file_of(exercise).absolute()}:{exercise.kernel}", judged.text)
        if anew:
            self.show(
                msgspec.structs.replace(
                    self.bookmark(), panes=(setup,), selections=(), moment=None, focus=0, tab="source", side="shown",
                    chart="", zoom=(), spotlight=(), picture="auto",
                )
            )  # fmt: skip
        else:
            setups, focus = self.stage.setups, self.stage.focus
            setups = (*setups[:focus], setup, *setups[focus + 1 :])
            self.stage.show(setups, tuple(self.stage.selections), as_before(self.stage))
        self._showing = False

    def _put_aside(self) -> None:
        """Keep the text where something else comes into the pane, and leave no draft that somebody would ask about."""
        if not self._showing and self._shows_text() and self.source.is_edited():
            self.flush()
            self._waits = True
            self.source.revert()

    def _fill(self) -> None:
        """Let the text be written once its session is there."""
        session = self.stage.focused()
        if self.exercise is None or session is None:
            return
        self._hide_findings(session)
        self._show_state()
        if not self.is_here():
            return
        if self._pictured is not None and self._pictured.trace != self.stage.setups[self.stage.focus].file:
            QTimer.singleShot(0, self, self.come_back)  # an older text, to which Back led
            return
        if self.source.session is not session:
            self.source.load(session)
        self.source.set_editable(True)
        self.source.editor.begin_at(1)  # a text has few lines, and its imports are to be written too
        if self._waits and self._shows_text():
            self._waits = False
            if _plain(self.source.text()) != self.text:
                self.source.editor.replace(self.text)
            if self._last is not None and self._last.text == self.text:
                self._mark(self._last.verdict)

    def _show_state(self) -> None:
        """Say below the text that it is judged, of the exercise's alone."""
        slow = self.job.is_busy() and not self._slow.isActive()
        if self.exercise is not None:
            self.source.set_state_text((SLOW_STATE if slow else STATE) if self.is_here() else "")

    def show_findings(self) -> None:
        """Show as much of the findings as belongs to the hints that the student has asked for."""
        session = self.stage.focused()
        if self.exercise is None or not self.exercise.hides or session is None or not self.is_here():
            return
        self._hide_findings(session)
        if session.is_examined:
            self.stage.jobs.examined.emit(session)
        if self._last is not None and self._last.text == self.text and self._shows_text():
            self._mark(self._last.verdict)

    def _hide_findings(self, session: Session) -> None:
        """Keep back of the session's findings what waits for a hint."""
        exercise = self.exercise
        if exercise is None or not self.is_here():
            return
        shown = shown_of(exercise, self.hints())
        session.hide_findings(partial(hide_places, kinds=exercise.hides, shown=shown))

    def _mark(self, verdict: Verdict) -> None:
        """Mark the lines of the text that errors and warnings are told of; what they are is said in the panel."""
        assert self.exercise
        file = str(file_of(self.exercise).absolute())
        findings = hide_judged(verdict.findings, self.exercise.hides, shown_of(self.exercise, self.hints()))
        found = [Problem(f.line, f.message, f.severity) for f in findings if f.file == file and f.line]
        found += [Problem(verdict.line, verdict.error)] if verdict.line else []
        found += [Problem(case.line, case.error) for case in verdict.cases if case.line]
        self.source.editor.set_problems([p for p in found if p.severity != "note"])


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

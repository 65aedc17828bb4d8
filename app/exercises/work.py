"""A student's text during typing: stored at every pause, judged if it parses, with a case of it in the pane."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer

from ...tracer.model.finding import Finding, source_location
from ...tracer.model.syntax_tree import syntax_problem
from ..control.delay import Delay
from ..control.stage import Stage
from ..control.start_moment import after_order, as_before
from ..editing.live_editing import APPLIED, CHANGED_TEXT
from ..model.bookmark import Bookmark, Setup
from ..model.nothing import nothing
from ..model.session import Session, known_findings
from ..views.inspect.race_card import shown_access
from ..views.source.problems import Problem
from ..views.source.view import SourceView
from ..widgets.notice import UNDO, Notice
from .judging import Judged, JudgeJob
from .model.document import Exercise, student_file
from .model.hiding import hide_judged, hide_places, visibility_of

if TYPE_CHECKING:
    from .model.verdict import Verdict

PAUSE = 300  # milliseconds after the last key before the text is stored and judged
STATE, SLOW_STATE = "judged as you type", "judging … for 10 s at most"
OLD_PICTURE = "the pictures show an earlier text, since this one does not run"
FIRST_STATE = "running your text … you can write as soon as its picture is shown"
SLOW = 1200  # milliseconds of judging before the state text changes
EDITED_SINCE = "The text was changed since, so the remedy stays. Undo your changes with Ctrl+Z."
NO_STRIKING = "in an exercise, comment the line out with Ctrl+/"
ShowBookmark = Callable[[Bookmark], bool]


class ExerciseWork(QObject):
    """The text of an exercise, in the source panel and in the pane.

    judged: (Verdict, whether there is a newer text). stale: whether the verdict is of the previous text. typed: store
    the text. failed: (one sentence with the judge's error, whether the exercise was never shown).
    """

    def __init__(
        self,
        stage: Stage,
        source: SourceView,
        job: JudgeJob,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
        notice: Notice,
    ) -> None:
        super().__init__(source)
        self.judged: Callable[[Verdict, bool], object] = nothing
        self.failed: Callable[[str, bool], object] = nothing
        self.stale: Callable[[bool], object] = nothing
        self.typed: Callable[[], object] = nothing
        self.notice = notice
        self.stage, self.source, self.job, self.bookmark, self.show = stage, source, job, bookmark, show
        self.exercise: Exercise | None = None
        self.text = ""  # the current text, with \n line ends
        self.hints: Callable[[], int] = lambda: 0  # the number that the student has seen
        self._last: Judged | None = None  # the last verdict
        self._pictured: Judged | None = None  # a case of it is in the pane
        self._judges_stub = False  # whether the stub is judged only for its picture
        self._text_pending = False  # whether the editor does not have the text yet
        self._showing = False  # whether this object is changing the stage
        self._text_of_order = (
            ""  # with an order chosen in the window: its picture shows the last access of the order
        )
        self._may_strike = source.editor.may_strike
        self._pause = Delay(self, PAUSE, self.look)
        self._slow = Delay(self, SLOW, self._show_state)
        source.editor.edited.connect(self._note_edit)
        source.editor.run_asked.connect(self.look)
        stage.asked.connect(self._store_draft)
        stage.loaded.connect(lambda _: self._fill())
        job.judged = self._take
        job.failed = self._fail
        job.begun = self._slow.start
        job.rested.connect(self._show_state)

    # Begin and end.

    def begin(self, exercise: Exercise, text: str) -> None:
        """Start an exercise with this text; it is read-only until the picture of the first verdict is shown."""
        self.end()
        self.exercise, self.text = exercise, text
        self._may_strike, self.source.editor.may_strike = self.source.editor.may_strike, self._why_it_stays
        self._text_pending, self._judges_stub = True, _syntax_problem(exercise, text) is not None
        self.source.preview(str(student_file(exercise).absolute()), text)
        self.source.set_state_text(FIRST_STATE)
        self.job.ask(exercise, exercise.stub if self._judges_stub else text)

    def end(self) -> None:
        """End the exercise; its text must have been stored."""
        if self.exercise is None:
            return
        self._pause.stop()
        self.exercise = self._last = self._pictured = None
        self._judges_stub = self._text_pending = False
        self.job.drop()
        self.source.editor.may_strike = self._may_strike
        self.source.set_state_text("")
        self.source.set_problems([])
        self.source.end_preview()
        if self.source.is_edited():
            self.source.revert()  # otherwise it would count as an unsaved kernel

    def is_here(self) -> bool:
        """Return True if the pane in focus shows the exercise, and so the source panel the student's text."""
        setups, focus = self.stage.setups, self.stage.focus
        return self.exercise is not None and focus < len(setups) and self.job.owns(setups[focus].file)

    def come_back(self) -> None:
        """Show the exercise again."""
        if self._pictured is not None:
            self._text_pending = True
            self._show(self._pictured, reset=True)

    def flush(self) -> None:
        """Store the typed text now."""
        self._pause.stop()
        if self._shows_text() and not self._text_pending:
            self.text = _plain(self.source.text())
            self.typed()

    # Typing.

    def put(self, text: str) -> None:
        """Replace the student's text; the editor can undo it."""
        if self._shows_text():
            self.source.editor.replace(text)

    def apply_fix(self, finding: Finding) -> None:
        """Apply a finding's proven remedy to the student's text, and offer to undo it."""
        session = self.stage.focused()
        if session is None or self.exercise is None:
            return
        before, fixed = self.text, _plain(finding.fixed_text)
        if _plain(session.launch.source) != before:
            self.notice.inform(CHANGED_TEXT)
            return
        self.source.write(fixed)
        self.notice.ask(
            APPLIED.format(finding.remedy), [(UNDO, partial(self._undo_fix, before, fixed))], "edit"
        )

    def _undo_fix(self, before: str, fixed: str) -> None:
        """Restore the text from before a remedy, unless the student has changed it since."""
        self.notice.clear(cause="edit")
        if self.text == fixed:
            self.source.write(before)
        else:
            self.notice.inform(EDITED_SINCE)

    def write_order(self, text: str) -> bool:
        """Write an order into the student's text; return False if no exercise about orders is shown."""
        if self.exercise is None or not self.exercise.order or not self.is_here():
            return False
        name = re.escape(self.exercise.order)
        changed, count = re.subn(rf"(?m)^({name}\s*=\s*)[^#\n]*?(\s*(?:#.*)?)$", rf'\1"{text}"\2', self.text)
        if count and self._shows_text():
            self._text_of_order = changed
            self.source.write(changed)
        else:
            self.notice.inform(f"There is no line {self.exercise.order} = ... to write the order to.")
        return True

    def go_to(self, line: int) -> None:
        """Point at a line of the judged text, and show the access of a finding there."""
        if not self._shows_text():
            return
        self.source.editor.go_to(line)
        self.source.point_at(self.source.editor.file, line)
        session = self.stage.focused()
        finding = next((f for f in known_findings(session) if session and _line_of(f, session) == line), None)
        access = shown_access(session, finding) if session and finding else None
        if access is not None:
            moment, selection = access
            self.stage.select(self.stage.focus, selection)
            self.stage.seek(self.stage.focus, float(moment))

    def _shows_text(self) -> bool:
        """Return True if the editor shows the student's text."""
        if self.exercise is None or not self.is_here():
            return False
        return self.source.editor.file == str(student_file(self.exercise).absolute())

    def _why_it_stays(self, line: int) -> str:
        """Return the reason why a line can't be skipped, "" if it can."""
        return NO_STRIKING if self._shows_text() else self._may_strike(line)

    def _note_edit(self, text: str) -> None:
        if not self._shows_text() or self._text_pending:
            return
        self.text = _plain(text)
        self.stale(self._last is None or self.text != self._last.text)
        self._pause.start()

    def look(self) -> None:
        """Store and judge the text, or mark its syntax error."""
        self._pause.stop()
        if self.exercise is None or not self._shows_text():
            return
        self.typed()
        problem = _syntax_problem(self.exercise, self.text)
        self.source.set_problems([problem] if problem else [])
        if problem is not None:
            return
        if self._last is not None and self._last.text == self.text:
            self._show_last(self._last)
        else:
            self.job.ask(self.exercise, self.text)

    def _show_last(self, last: Judged) -> None:
        """Show the last verdict again, since the text is the same."""
        self._mark(last.verdict)
        if last.trace and last is not self._pictured:
            self._show(last)

    # Verdicts.

    def _take(self, judged: Judged) -> None:
        if judged.exercise is not self.exercise:
            return
        is_current = judged.text == self.text
        if not self._judges_stub:
            self._last = judged
            self.judged(judged.verdict, not is_current)
            if is_current and self._shows_text():
                self._mark(judged.verdict)
        self._judges_stub = False
        if judged.trace and (self._pictured is None or (is_current and self.is_here())):
            self._show(judged, reset=self._pictured is None)
        elif self._pictured is None:
            self._ask_for_picture(judged)

    def take_proven(self, session: Session) -> None:
        """Add the remedies that were proven for the pane's session to the verdict on the same text."""
        last = self._last
        if (
            last is None
            or last is not self._pictured
            or session is not self.stage.focused()
            or not self.is_here()
        ):
            return
        from .model.remedies import with_remedies

        self._last = self._pictured = msgspec.structs.replace(
            last, verdict=with_remedies(last.verdict, session.all_findings, session.trace)
        )
        self.judged(self._last.verdict, last.text != self.text)
        if last.text == self.text and self._shows_text():
            self._mark(self._last.verdict)

    def _ask_for_picture(self, judged: Judged) -> None:
        """Judge the stub for its picture if the text can't be launched."""
        assert self.exercise
        if judged.text == self.exercise.stub:
            self.failed(f"The exercise {self.exercise.name} can't be shown: {judged.verdict.error}", True)
        else:
            self._judges_stub = True
            self.job.ask(self.exercise, self.exercise.stub)

    def _fail(self, exercise: Exercise, sentence: str) -> None:
        if exercise is self.exercise:
            self.failed(sentence, self._pictured is None)

    def _show(self, judged: Judged, *, reset: bool = False) -> None:
        """Show the pictured case of a text in the pane; reset: replace the window's state, and show the source."""
        self._pictured, self._showing = judged, True
        setup, exercise = Setup(file=judged.trace), judged.exercise
        self.stage.trust_text(f"{student_file(exercise).absolute()}:{exercise.kernel}", judged.text)
        if reset:
            self.show(
                msgspec.structs.replace(
                    self.bookmark(), panes=(setup,), selections=(), moment=None, focus=0, tab="source", side="shown",
                    chart="", zoom=(), spotlight=(), picture="auto",
                )
            )  # fmt: skip
        else:
            setups, focus = self.stage.setups, self.stage.focus
            setups = (*setups[:focus], setup, *setups[focus + 1 :])
            is_chosen = judged.text == self._text_of_order
            start = partial(after_order, focus=focus) if is_chosen else as_before(self.stage)
            self.stage.show(setups, tuple(self.stage.selections), start)
        self._showing = False

    def _store_draft(self) -> None:
        """Store the text before other setups are shown, and clear the draft."""
        if not self._showing and self._shows_text() and self.source.is_edited():
            self.flush()
            self._text_pending = True
            self.source.revert()

    def _fill(self) -> None:
        """Put the text into the editor once its session is loaded."""
        session = self.stage.focused()
        if self.exercise is None or session is None:
            return
        self._hide_findings(session)
        self._show_state()
        if not self.is_here():
            return
        if self._pictured is not None and self._pictured.trace != self.stage.setups[self.stage.focus].file:
            QTimer.singleShot(0, self, self.come_back)  # Back led to an older text
            return
        if self.source.session is not session:
            self.source.load(session)
        self.source.set_editable(True)
        self.source.editor.begin_at(1)  # the text is short, and its imports are edited too
        if self._text_pending and self._shows_text():
            self._text_pending = False
            if _plain(self.source.text()) != self.text:
                self.source.editor.replace(self.text)
            if self._last is None:
                self.look()  # it has a syntax error, so the stub was judged for its picture
            elif self._last.text == self.text:
                self._mark(self._last.verdict)

    def _show_state(self) -> None:
        """Show the state of the judge below the exercise's text."""
        if self.exercise is not None and self._pictured is None:
            self.source.set_state_text(FIRST_STATE)
            return
        slow = self.job.is_busy() and not self._slow.isActive()
        if self.exercise is not None:
            state = SLOW_STATE if slow else OLD_PICTURE if self._has_old_picture() else STATE
            self.source.set_state_text(state if self.is_here() else "")

    def _has_old_picture(self) -> bool:
        """Return True if the pane shows a text before the current one, which was judged and has no picture."""
        return self._last is not None and self._last.text == self.text and not self._last.trace

    def show_findings(self) -> None:
        """Show the findings that the student's hints have unlocked."""
        session = self.stage.focused()
        if self.exercise is None or not self.exercise.hides or session is None or not self.is_here():
            return
        self._hide_findings(session)
        if session.is_examined:
            self.stage.jobs.examined.emit(session)
        if self._last is not None and self._last.text == self.text and self._shows_text():
            self._mark(self._last.verdict)

    def _hide_findings(self, session: Session) -> None:
        """Hide the session's findings that need a hint."""
        exercise = self.exercise
        if exercise is None or not self.is_here():
            return
        shown = visibility_of(exercise, self.hints())
        hide = partial(hide_places, kinds=exercise.hides, shown=shown, keeps_kernel=bool(exercise.order))
        session.hide_findings(hide)

    def _mark(self, verdict: Verdict) -> None:
        """Mark the lines of the text with errors and warnings; the panel shows the sentences."""
        assert self.exercise
        file = str(student_file(self.exercise).absolute())
        findings = hide_judged(
            verdict.findings, self.exercise.hides, visibility_of(self.exercise, self.hints())
        )
        problems = [Problem(f.line, f.message, f.severity) for f in findings if f.file == file and f.line]
        problems += [Problem(verdict.line, verdict.error)] if verdict.line else []
        problems += [Problem(case.line, case.error) for case in verdict.cases if case.line]
        self.source.editor.set_problems([p for p in problems if p.severity != "note"])


def _line_of(finding: Finding, session: Session) -> int:
    return source_location(finding, session.trace)[1]


def _syntax_problem(exercise: Exercise, text: str) -> tuple[int, str] | None:
    """Return the line and message of a syntax error; None for CUDA C++, which the judge's compiler reads."""
    return None if exercise.language == "cuda-cpp" else syntax_problem(text)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

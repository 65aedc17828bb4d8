"""What is written in the source panel, run; lines taken out and put back; the version before beside the new one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QObject, QTimer

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....tracer.model.launch import Launch
from ....tracer.model.plan import PlanError, kernel_source
from ....tracer.model.taken_out import barrier_lines, first_line
from ...control.stage import Stage
from ...model.bookmark import Setup
from ...model.session import Session, scenario_of
from ...model.setup_launch import launch_of_setup
from ...views.source.traced_text import FileText
from ...views.source.view import SourceView
from ...widgets.notice import Notice
from .kernel_text import line_of, syntax_problem

OFFSTAGE = 1000  # in place of a pane's number: what is made here is shown once it is there
TYPING_PAUSE = 300  # milliseconds after the last key, when what was typed is looked at
UNCHANGED = "This is the kernel that is shown; change a line first."


@dataclass(frozen=True)
class _Attempt:
    """A version that is being made."""

    launch: Launch  # what is traced
    setups: tuple[Setup, ...]  # what the panes shall show then
    asked: float  # when, as `time.perf_counter` says


class LiveEditing(QObject):
    """Runs the kernel of the pane in focus as it is written in the source panel.

    change_setups: shows other setups, as Back can undo. source: the panel. An attempt that fails changes nothing in
    the panes: the version is made first, then shown. seconds: from the last edit to its picture, None before one.
    """

    def __init__(
        self,
        stage: Stage,
        source: SourceView,
        notice: Notice,
        change_setups: Callable[[tuple[Setup, ...]], None],
    ) -> None:
        super().__init__(source)
        self.stage, self.source, self.notice, self.change_setups = stage, source, notice, change_setups
        self.seconds: float | None = None
        self._attempt: _Attempt | None = None
        self._before: tuple[Setup, ...] = ()  # what the panes showed before the first edit
        self._typed = QTimer(self, singleShot=True, interval=TYPING_PAUSE)
        self._typed.timeout.connect(self._look_at_typed)
        jobs = stage.jobs
        jobs.ready.connect(self._take)
        jobs.failed.connect(self._miss)
        jobs.takes_long.connect(lambda pane, *_: self._show_at_once(pane))

    # What is edited: the kernel of the pane in focus.

    def setup(self) -> Setup | None:
        """Return the setup of the pane in focus, None while there is none."""
        return self.stage.setups[self.stage.focus] if self.stage.focus < len(self.stage.setups) else None

    def original(self, setup: Setup) -> str:
        """Return the text of the file of a setup's kernel before any edit, "" where nobody knows it yet."""
        if not setup.file:
            return kernel_source(find(setup.scenario).kernel)[1]
        launch = self.stage.launch_in(setup.file)
        return launch.source if launch else ""

    def file_of(self, session: Session) -> FileText:
        """Return the text of a shown session's kernel, with the lines that are taken out of it."""
        shown = zip(self.stage.sessions, self.stage.setups, strict=False)
        setup = next((setup for held, setup in shown if held is session), None)
        if setup is None or not setup.is_edited:
            return FileText(session.launch.source)
        return FileText(setup.source or self.original(setup), frozenset(setup.without))

    # Edits.

    def run(self) -> None:
        """Run what the panel holds; the version that is shown goes to the left, the new one comes to the right."""
        setup = self.setup()
        new = self._as_written(setup, self.source.struck()) if setup and self._shows_focused() else None
        if setup is None or new is None:
            return
        if new == setup:
            self.notice.inform(UNCHANGED)
            return
        self._make(new, (setup, new))

    def toggle(self, line: int) -> None:
        """Take a line (from 1) of the panel's text out of what runs, or put it back."""
        setup, struck = self.setup(), self.source.struck()
        if setup is None or not self._shows_focused():
            return
        first = line if line in struck else first_line(self.source.text(), line)
        new = self._as_written(setup, struck ^ {first})
        if new is not None:
            self.source.set_struck(frozenset(new.without))
            self._make(*self._toggled(setup, new))

    def _shows_focused(self) -> bool:
        """Return whether the panel holds the kernel of the pane in focus: another tab may be on top of it."""
        return self.source.session is not None and self.source.session is self.stage.focused()

    def _as_written(self, setup: Setup, struck: frozenset[int]) -> Setup | None:
        """Return a setup with the panel's text but for these lines; None, with the reason told, for no Python."""
        text = self.source.text()
        if problem := syntax_problem(text):
            self._tell(*problem)
            return None
        source = "" if text == self.original(setup) else text
        return msgspec.structs.replace(setup, source=source, without=tuple(sorted(struck)))

    def _toggled(self, setup: Setup, new: Setup) -> tuple[Setup, tuple[Setup, ...]]:
        """Return a version and the setups that show it: beside what it was without such edits, or alone."""
        left = self.stage.setups[0]
        if not self._is_pair():
            return new, (setup, new)
        if new == left:  # all is put back
            return new, self._before or (left,)
        return new, (left, new)

    def _is_pair(self) -> bool:
        """Return whether the panes show two versions of one kernel, of which the right one is in focus."""
        setups = self.stage.setups
        plain = [msgspec.structs.replace(setup, source="", without=(), rerun=False) for setup in setups]
        return len(setups) == 2 and self.stage.focus == 1 and plain[0] == plain[1] and setups[1].is_edited

    def undo_all(self) -> None:
        """Show the kernels as they were before the first edit."""
        self.source.revert()
        edited = any(setup.is_edited for setup in self.stage.setups)
        if edited:
            plain = (msgspec.structs.replace(s, source="", without=()) for s in self.stage.setups)
            self.change_setups(self._before or tuple(dict.fromkeys(plain)))
        self._before = ()

    # From an edit to its picture.

    def _make(self, new: Setup, setups: tuple[Setup, ...]) -> None:
        """Trace a version and show it once it is there; what can't be launched is told at its line."""
        self.source.set_problems([])
        try:
            launch = self._launch(new)
        except CatalogueError as error:
            self.notice.error(str(error))
            return
        if not any(setup.is_edited for setup in self.stage.setups):
            self._before = self.stage.setups
        if new.source:
            self.stage.trust_text(launch.kernel, new.source)
        self._attempt = _Attempt(launch, setups, time.perf_counter())
        if new.file and not self.stage.may_run(self.stage.launch_in(new.file) or launch):
            self._show()  # the stage asks first
            return
        self.source.set_state_text("running …")
        self.stage.jobs.trace(OFFSTAGE, launch, scenario_of(launch))

    def _launch(self, setup: Setup) -> Launch:
        """Return the launch of a setup; raises CatalogueError."""
        if not setup.file:
            return launch_of_setup(setup)
        own = self.stage.launch_in(setup.file)
        if own is None:
            raise PlanError("The trace is not shown any more; open it again.")
        return self.stage.changed_launch(setup) or own

    def _take(self, pane: int, session: Session) -> None:
        if pane == OFFSTAGE:
            self._show()

    def _show_at_once(self, pane: int) -> None:
        """Show a version that takes long: the panes ask what to do about it."""
        if pane == OFFSTAGE:
            self._show()

    def _show(self) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is None:
            return
        self.source.set_state_text("")
        self.notice.clear("error")
        self.change_setups(attempt.setups)
        self.stage.set_focus(len(attempt.setups) - 1)
        self.seconds = time.perf_counter() - attempt.asked

    def _miss(self, pane: int, sentence: str) -> None:
        """Tell why a version can't be shown, at its line where it is known; the panes stay as they are."""
        if pane != OFFSTAGE or self._attempt is None:
            return
        line = line_of(sentence, self.source.editor.file)
        self._attempt = None
        self.source.set_state_text("")
        self._tell(line, sentence)

    def _tell(self, line: int, sentence: str) -> None:
        """Say what is wrong, at its line (from 1) where it is known (not 0)."""
        where = f"line {line}: " if line and not line_of(sentence, self.source.editor.file) else ""
        self.notice.error(f"The edited kernel can't be run: {where}{sentence}")
        if line:
            self.source.set_problems([(line, sentence)])

    def is_busy(self) -> bool:
        """Return whether a version is being made."""
        return self._attempt is not None

    def cancel(self) -> bool:
        """Stop making a version; return whether one was being made."""
        was, self._attempt = self._attempt is not None, None
        self.stage.jobs.cancel(OFFSTAGE)
        if was:
            self.source.set_state_text("")
        return was

    # What the panel shows.

    def show_barriers(self) -> None:
        """Tell the panel which lines of its text wait for other threads."""
        session = self.stage.focused()
        if session is not None:
            self.source.set_barriers(frozenset(barrier_lines(self.source.text(), session.trace.kernel)))

    # While one types.

    def note_typed(self) -> None:
        """Look soon at what was typed."""
        self._typed.start()

    def _look_at_typed(self) -> None:
        """Mark the line that is no Python yet, else the barriers."""
        problem = syntax_problem(self.source.text()) if self.source.is_edited() else None
        self.source.set_problems([problem] if problem else [])
        if problem is None:
            self.show_barriers()

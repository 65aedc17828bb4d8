"""Runs the text of the source panel; skips and restores lines; shows the previous version next to the new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject

from ...kernels.scenarios.catalogue import CatalogueError, find
from ...tracer.model.cpp_text import is_cpp
from ...tracer.model.embedded_cpp import program_file
from ...tracer.model.finding import Finding
from ...tracer.model.launch import Launch
from ...tracer.model.plan import PlanError, kernel_source, source_without_lines
from ...tracer.model.skipped_lines import barrier_lines, first_line
from ...tracer.model.syntax_tree import syntax_problem
from ...tracer.remedies.kernel_statements import edits_between
from ...tracer.run.worker_client import LaunchTooSlowError, WorkerError
from ..control.delay import Delay
from ..control.loading import Loading
from ..control.stage import Stage
from ..model.bookmark import Setup
from ..model.nothing import nothing
from ..model.session import Session, are_versions
from ..model.setup_edits import without_order_of_version
from ..model.setup_launch import launch_of_setup
from ..views.common.wording import join_with_and
from ..views.source.lines import normalised
from ..views.source.traced_text import FileText
from ..views.source.view import SourceView
from ..widgets.notice import UNDO, Notice
from .model.kernel_text import (
    changed_constants,
    differ_only_in_functions,
    line_of,
    runs_the_same,
    without_location,
)

MOST_BARRIERS = 6  # barriers whose removal is compiled in advance
TYPING_PAUSE = 300  # milliseconds after the last key before the text is checked
IN_BAR = "The toolbar sets {}, so the value in the text is not used."
NOT_LAUNCHED = "The program no longer launches it."
APPLIED = "The remedy was applied: {}."
CHANGED_TEXT = "The remedy is for the text that ran last. Run your changes first, or undo them."
UNCHANGED = "This kernel is already shown. Change a line first."


class _Attempt(Struct, frozen=True):
    """A version that is being traced."""

    new: Setup  # the version; for a user's program the previous one, until the trace is known
    others: tuple[Setup, ...]  # the setups on its left
    note: str = ""  # a sentence to show with it
    remedy: str = ""  # what a remedy changes, offered to be undone


class Programs(Protocol):
    """The user's program, which runs again with another text."""

    def program_of(self, path: str) -> Path | None:
        """Return the file of the program that made a trace, None for another trace."""

    def faults_of(self, path: str) -> list[tuple[int, str, str]]:
        """List line, sentence and severity of the faults of the host code in the run that made a trace."""

    def try_text(
        self, text: str, recorded: Callable[[Sequence[Path]], None], failed: Callable[[str], None]
    ) -> None:
        """Run the program with a text; call `recorded` with its traces, or `failed` with the reason."""

    def end_trial(self) -> None:
        """End such a run without a callback."""


class LiveEditing(QObject):
    """Runs the kernel of the pane in focus as it is written in the source panel.

    A version is traced first and then shown, so a failed attempt changes nothing in the panes. change_setups: shows
    other setups, with an entry for Back. source: the panel. programs: runs the user's complete program again for a
    kernel of it. is_aside: returns True if the panel shows an exercise's text. put_back: the panel's text is again the
    shown version.
    """

    def __init__(
        self,
        stage: Stage,
        source: SourceView,
        notice: Notice,
        programs: Programs,
        change_setups: Callable[[tuple[Setup, ...]], None],
    ) -> None:
        super().__init__(source)
        self.restored: Callable[[], object] = nothing
        self.stage, self.source, self.notice, self.change_setups = stage, source, notice, change_setups
        self.programs = programs
        self._written: set[str] = set()  # texts that were run from the panel, not from lectures or files
        self._trial_texts: dict[str, FileText] = {}  # by path of its trace, the text of the user's program
        self._trial_setups: dict[str, Setup] = {}  # by that path, the setup of the program's original launch
        self.is_suspended: Callable[[], bool] = lambda: False
        self._attempt: _Attempt | None = None
        self._loading: Loading | None = None  # of the version's session
        self._reported = ""  # the text with the reported error
        self._remedy = ""  # the sentence of a remedy that is being applied
        self._before: tuple[Setup, ...] = ()  # the setups before the first edit
        self._typing_timer = Delay(self, TYPING_PAUSE, self._check_typed)
        self._compile_timer = Delay(self, TYPING_PAUSE, self._compile_ahead)
        stage.asked.connect(self._cancel_attempt)
        stage.settled.connect(self._delay_compiling)

    # The edited kernel is that of the pane in focus.

    def setup(self) -> Setup | None:
        """Return the setup of the pane in focus, None without one."""
        return self.stage.setups[self.stage.focus] if self.stage.focus < len(self.stage.setups) else None

    def original(self, setup: Setup) -> str:
        """Return the text of the kernel's file before any edit, "" while it is unknown."""
        if not setup.file:
            return kernel_source(find(setup.scenario).kernel)[1]
        launch = self.stage.launch_in(setup.file)
        if setup.file in self._trial_texts and (path := self._program(setup)):
            with suppress(OSError, UnicodeDecodeError):  # it was removed, or is no longer text
                return path.read_text(encoding="utf-8")
        return launch.source if launch else ""

    def file_of(self, session: Session) -> FileText:
        """Return the text of a shown session's kernel and its skipped lines."""
        shown = list(zip(self.stage.sessions, self.stage.setups, strict=False))
        shown = [*shown[self.stage.focus :], *shown]  # two texts may share one session
        setup = next((setup for shown_session, setup in shown if shown_session is session), None)
        if setup is None or not self.is_edited(setup):
            return FileText(session.launch.source)
        return self._ran(setup)

    # Edits.

    def run(self) -> None:
        """Run the panel's text; show the current version on the left and the new one on the right."""
        setup = self.setup()
        if setup is None or not self._shows_focused():
            return
        new = self._as_written(setup, self.source.struck())
        if new is not None and self._ran(setup) == (self.source.text(), self.source.struck()):
            self.notice.inform(UNCHANGED)
        elif new is not None:
            self._make(new, (setup,))

    def apply_fix(self, finding: Finding) -> None:
        """Apply a finding's proven remedy to the panel's text, as an edit that undo reverts, and run it."""
        session = self.stage.focused()
        if session is None or not self._shows_focused():
            return
        written = source_without_lines(self.source.text(), self.source.struck())
        if normalised(written) != normalised(session.launch.source):
            self.notice.inform(CHANGED_TEXT)
            return
        before, self._remedy = self.stage.setups, finding.remedy
        skipped = self._skipped_line_of(finding.fixed_text)
        if skipped:
            self.toggle(skipped)
            if self._attempt is None:  # the version without skipped lines is shown already
                self._offer_undo(finding.remedy, before)
        else:
            self._write_fix(session.launch.source, finding.fixed_text)
            self.run()
        self._remedy = ""

    def _skipped_line_of(self, fixed: str) -> int:
        """Find the skipped line that a remedy brings back; 0 for none."""
        text, struck = self.source.text(), self.source.struck()
        restored = (
            line for line in struck if runs_the_same(source_without_lines(text, struck - {line}), fixed)
        )
        return next(restored, 0)

    def _write_fix(self, ran: str, fixed: str) -> None:
        """Make the edits of a remedy in the panel's text, which also has the skipped lines."""
        lines = self.source.text().splitlines()
        for edit in reversed(edits_between(ran, fixed)):
            lines[edit.line - 1 : edit.line - 1 + len(edit.old)] = edit.new
        self.source.write("\n".join(lines) + "\n")

    def toggle(self, line: int) -> None:
        """Skip a line (from 1) of the panel's text, or restore it."""
        setup, struck = self.setup(), self.source.struck()
        if setup is None or not self._shows_focused():
            return
        first = line if line in struck else first_line(self.source.text(), line)
        new = self._as_written(setup, struck ^ {first})
        if new is None:
            return
        self.source.set_struck(struck ^ {first})
        left = self.stage.setups[0] if self._is_pair() else setup
        written = self.source.text(), self.source.struck()
        if self._ran(setup) == written:  # it is shown already
            self.cancel()
            self.notice.clear(cause="edit")  # of the attempt with that line
            self.restored()
        elif self._ran(left) == written:  # all lines are restored
            self.cancel()
            self._show(self._before if left in self._before else (left,))
        else:
            self._make(new, (left,))

    def _ran(self, setup: Setup) -> FileText:
        """Return the text that a setup runs and its skipped lines."""
        return self._trial_texts.get(setup.file) or FileText(
            setup.source or self.original(setup), frozenset(setup.without)
        )

    def _shows_focused(self) -> bool:
        """Return True if the panel shows the kernel of the pane in focus, even if another tab covers it."""
        shown = self.source.session
        return shown is not None and shown is self.stage.focused() and not self.is_suspended()

    def _as_written(self, setup: Setup, struck: frozenset[int]) -> Setup | None:
        """Return a setup with the panel's text without these lines; report a syntax error and return None."""
        text = self.source.text()
        if problem := _python_problem(text):
            self._report(*problem)
            return None
        if self._program(setup):
            return setup
        source = "" if text == self.original(setup) else text
        return msgspec.structs.replace(
            without_order_of_version(setup), source=source, without=tuple(sorted(struck))
        )

    def _is_pair(self) -> bool:
        """Return True if the panes show two versions of one kernel and the right one has the focus."""
        sessions = self.stage.sessions
        loaded = [session for session in sessions if session is not None]
        return self.stage.focus == 1 and len(loaded) == 2 and are_versions(*loaded)

    def undo_all(self) -> None:
        """Restore the kernels from before the first edit."""
        if self.is_suspended():
            return
        self.cancel()
        self.notice.clear(cause="edit")
        self.source.revert()
        if any(self.is_edited(setup) for setup in self.stage.setups):
            plain = self._plain(self.stage.setups[0])
            self.change_setups(self._before if plain in self._before else (plain,))
        self._before = ()

    def _plain(self, setup: Setup) -> Setup:
        """Return the original setup of a version, without any edit."""
        return msgspec.structs.replace(self._trial_setups.get(setup.file, setup), source="", without=())

    def is_edited(self, setup: Setup) -> bool:
        """Return True if a setup runs an edited text or skips lines."""
        return setup.is_edited or setup.file in self._trial_texts

    def unsaved_texts(self) -> list[tuple[Setup, str]]:
        """List the shown versions that were written here, with their texts."""
        shown = [(setup, self._ran(setup).text) for setup in self.stage.setups if self.is_edited(setup)]
        return [
            (setup, text) for setup, text in shown if text in self._written and text != self.original(setup)
        ]

    # From an edit to its picture.

    def _make(self, new: Setup, others: tuple[Setup, ...]) -> None:
        """Trace a version and show it once it is loaded; report an error at its line."""
        self.source.set_problems([])
        self.notice.clear(cause="edit")
        try:
            launch = None if self._program(new) else self._launch(new)
            left = source_without_lines(self.source.text(), self.source.struck())
        except CatalogueError as error:
            self.notice.error(str(error), "edit")
            return
        if not any(self.is_edited(setup) for setup in self.stage.setups):
            self._before = self.stage.setups
        self._written.add(self.source.text())
        if launch is not None and not new.file:
            self.stage.trust_text(launch.kernel, launch.source)  # without the skipped lines
        note = self._constants_note(new, others[-1], launch)
        attempt = self._attempt = _Attempt(new, others, note, self._remedy)
        self.source.set_state_text("running …")
        if launch is None:
            ran = FileText(self.source.text(), self.source.struck())
            self.programs.try_text(left, partial(self._take_program, attempt, ran), self._fail_attempt)
            return
        if new.source:
            self.stage.trust_text(launch.kernel, new.source)
        if new.file and not self.stage.may_run(self.stage.launch_in(new.file) or launch):
            self._show((*others, new))  # the stage asks first
        else:
            self._loading = self.stage.jobs.load(launch, replaces=self._loading, early=True)
            self._loading.watch(self._show_attempt, self._fail_loading, early=self._show_attempt)

    def _constants_note(self, new: Setup, before: Setup, launch: Launch | None) -> str:
        """Return a note on changed constants whose values the toolbar overrides, "" for none."""
        if launch is None or new.file:
            return ""
        changed = changed_constants(self._ran(before).text, self._ran(new).text)
        names = [name for name in launch.constants if name in changed]
        return IN_BAR.format(join_with_and(names)) if names else ""

    def _program(self, setup: Setup) -> Path | None:
        """Return the user's program that made a setup's launch if the kernel is in that file."""
        path = self.programs.program_of(setup.file) if setup.file else None
        launch = self.stage.launch_in(setup.file) if path else None
        return path if launch and program_file(launch.kernel.rpartition(":")[0]) == str(path) else None

    def _launch(self, setup: Setup) -> Launch:
        """Return the launch of a setup; raises CatalogueError."""
        if not setup.file:
            return launch_of_setup(setup)
        own = self.stage.launch_in(setup.file)
        if own is None:
            raise PlanError("The trace is no longer shown; open it again.")
        return self.stage.changed_launch(setup) or own

    def _show_attempt(self, _: object = None) -> None:
        """Show the version, or a slow one, about which the panes then ask."""
        if self._attempt is not None:
            self._show((*self._attempt.others, self._attempt.new))

    def _take_program(self, attempt: _Attempt, ran: FileText, traces: Sequence[Path]) -> None:
        """Show the program's launch at the index of the previous version's, or else its last launch of the kernel."""
        if attempt is not self._attempt:
            return
        name = Path(attempt.new.file).name
        same = [path for path in traces if path.name.partition("-")[2] == name.partition("-")[2]]
        if not same:
            self._fail_attempt(NOT_LAUNCHED)
            return
        trace = next((path for path in same if path.name == name), same[-1])
        self._trial_texts[str(trace)] = ran
        self._trial_setups[str(trace)] = self._plain(attempt.new)
        self._show((*attempt.others, Setup(file=str(trace))))

    def _show(self, setups: tuple[Setup, ...]) -> None:
        attempt, self._attempt = self._attempt, None
        self.source.set_state_text("")
        self.notice.clear(cause="edit")
        loading, self._loading = self._loading, None
        before = self.stage.setups
        self.change_setups(setups)
        self.stage.jobs.drop(loading)  # the panes have requested it now
        self.stage.set_focus(len(setups) - 1)
        if attempt and attempt.note:
            self.notice.inform(attempt.note)
        if attempt and attempt.remedy:
            self._offer_undo(attempt.remedy, before)

    def _offer_undo(self, remedy: str, before: tuple[Setup, ...]) -> None:
        """Report an applied remedy, with a button that shows the versions from before it."""
        undo = partial(self._undo_remedy, before)
        self.notice.ask(APPLIED.format(remedy), [(UNDO, undo)], "edit")

    def _undo_remedy(self, before: tuple[Setup, ...]) -> None:
        """Show the versions from before a remedy again."""
        self.cancel()
        self.notice.clear(cause="edit")
        self.source.revert()
        self.source.set_struck(frozenset(before[-1].without))
        self.change_setups(before)

    def _fail_loading(self, error: Exception) -> None:
        """Report the error of a version; show a slow one."""
        self._drop_loading()
        if isinstance(error, LaunchTooSlowError):
            self._show_attempt()
        elif isinstance(error, WorkerError) and error.file == self.source.editor.file:
            self._fail_attempt(str(error), error.line)
        else:
            self._fail_attempt(str(error))

    def _fail_attempt(self, sentence: str, line: int = 0) -> None:
        """Report the error of a version, at its line if known; keep the panes."""
        if self._attempt is None:
            return
        self._attempt = None
        self.source.set_state_text("")
        self._report(line or line_of(sentence, self.source.editor.file), sentence)

    def _drop_loading(self) -> None:
        loading, self._loading = self._loading, None
        self.stage.jobs.drop(loading)

    def _report(self, line: int, sentence: str) -> None:
        """Report an error, at its line (from 1; 0 is unknown)."""
        self._typing_timer.stop()  # it would check the text and remove the mark
        self._reported = self.source.text()
        sentence = without_location(sentence, self.source.editor.file)
        where = f"line {line}: " if line and not line_of(sentence, self.source.editor.file) else ""
        self.notice.error(f"The edited kernel can't be run: {where}{sentence}", "edit")
        if line:
            self.source.set_problems([(line, sentence)])

    def is_busy(self) -> bool:
        """Return True if a version is being traced."""
        return self._attempt is not None

    def cancel(self) -> bool:
        """Cancel the current attempt; return True if there was one."""
        was_busy, self._attempt = self._attempt is not None, None
        if was_busy:
            self._drop_loading()
            self.programs.end_trial()
            self.source.set_state_text("")
        return was_busy

    def _cancel_attempt(self) -> None:
        """Cancel the attempt if the user shows other setups."""
        self.cancel()
        self._delay_compiling()

    def _delay_compiling(self) -> None:
        """Restart the delay before compiling in advance."""
        if self._compile_timer.isActive():
            self._compile_timer.start()

    # The panel.

    def show_barriers(self) -> None:
        """Mark the barriers in the panel's text, and schedule the compilation of likely next versions."""
        session = self.stage.focused()
        if session is not None and not self.is_suspended():
            barriers = barrier_lines(self.source.text(), session.trace.kernel)
            self.source.set_barriers(frozenset(barriers))
            self._compile_timer.start()  # after the picture is drawn

    def _compile_ahead(self) -> None:
        """Compile the typed text in advance, and its variants with one barrier less or more.

        Loading a text runs its top level. So only a text whose top level has been loaded before is compiled: no code
        runs without the user's consent.
        """
        if not self.stage.is_settled():
            self._compile_timer.start()  # the worker is busy
            return
        setup, text, struck = self.setup(), self.source.text(), self.source.struck()
        session = self.stage.focused()
        if setup is None or setup.file or session is None or not self._shows_focused():
            return
        ran = self._ran(setup).text
        if session.launch.engine != "compiled" or not (text == ran or differ_only_in_functions(text, ran)):
            return
        barriers = barrier_lines(text, session.trace.kernel)[:MOST_BARRIERS]
        source = "" if text == self.original(setup) else text
        chosen = ([] if source == setup.source else [struck]) + [struck ^ {line} for line in barriers]
        launches = []
        for lines in chosen:
            version = msgspec.structs.replace(setup, source=source, without=tuple(sorted(lines)))
            with suppress(CatalogueError):
                launches.append(launch_of_setup(version))
        if launches:
            self.stage.jobs.compile_ahead(launches)

    # Typing.

    def note_typed(self) -> None:
        """Check the typed text soon; an error of the text before is no longer true."""
        if not self.is_suspended():
            if self.source.text() != self._reported:
                self.notice.clear("error", "edit")
            self._typing_timer.start()

    def _check_typed(self) -> None:
        """Mark a syntax error, or else the barriers; restore the marks of a text that has run already."""
        if not self.source.is_edited():
            self.show_barriers()  # a deleted one may be restored
            self.restored()
            return
        problem = _python_problem(self.source.text())
        self.source.set_problems([problem] if problem else [])
        if problem is None:
            self.show_barriers()


def _python_problem(text: str) -> tuple[int, str] | None:
    """Return the line and message of a syntax error; None for C++, which only a compiler can judge."""
    return None if is_cpp(text) else syntax_problem(text)

"""What is written in the source panel, run; lines taken out and put back; the version before beside the new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal

from ....kernels.scenarios.catalogue import CatalogueError, find
from ....tracer.model.launch import Launch
from ....tracer.model.plan import PlanError, kernel_source, left_of
from ....tracer.model.syntax_tree import syntax_problem
from ....tracer.model.taken_out import barrier_lines, first_line
from ....tracer.run.worker_client import WorkerError
from ...control.stage import Stage
from ...model.bookmark import Setup
from ...model.session import Session, scenario_of
from ...model.setup_launch import launch_of_setup
from ...views.common.wording import listed
from ...views.source.traced_text import FileText
from ...views.source.view import SourceView
from ...widgets.notice import Notice
from .kernel_text import changed_constants, differ_in_functions_alone, line_of, without_place
from .version_differences import are_versions

OFFSTAGE = 1000  # in place of a pane's number: what is made here is shown once it is there
MOST_BARRIERS = 6  # that are compiled ahead without them
TYPING_PAUSE = 300  # milliseconds after the last key, when what was typed is looked at
IN_BAR = "The launch takes {} from the bar; what the text says of it does not count."
NOT_LAUNCHED = "Its program launches it no more."
UNCHANGED = "This is the kernel that is shown; change a line first."


class _Attempt(Struct, frozen=True):
    """A version that is being made."""

    new: Setup  # the version; of a program of the user's the one before, as long as nobody knows the trace
    beside: tuple[Setup, ...]  # what the panes show at its left then
    note: str = ""  # what is to be told of it, a sentence


class Programs(Protocol):
    """The user's program, which runs again with another text."""

    def program_of(self, path: str) -> Path | None:
        """Return the file of the program that a trace is of, None for another trace."""

    def try_text(
        self, text: str, recorded: Callable[[Sequence[Path]], None], failed: Callable[[str], None]
    ) -> None:
        """Run the program with a text; `recorded` gets its traces, or `failed` the sentence why there are none."""

    def end_trial(self) -> None:
        """End such a run, of which nothing more is heard."""


class LiveEditing(QObject):
    """Runs the kernel of the pane in focus as it is written in the source panel.

    change_setups: shows other setups, as Back can undo. source: the panel. programs: for kernels of the user's own
    program, of which all is run again. An attempt that fails changes nothing in
    the panes: the version is made first, then shown.
    is_aside: says whether the panel has a text that is not its business, that of an exercise. put_back: the panel has
    again what is shown.
    """

    put_back = Signal()

    def __init__(
        self,
        stage: Stage,
        source: SourceView,
        notice: Notice,
        programs: Programs,
        change_setups: Callable[[tuple[Setup, ...]], None],
    ) -> None:
        super().__init__(source)
        self.stage, self.source, self.notice, self.change_setups = stage, source, notice, change_setups
        self.programs = programs
        self._written: set[str] = (
            set()
        )  # texts that were run from the panel: of lectures and files are others
        self._tried: dict[str, FileText] = {}  # by the path of its trace, what ran of the user's program
        self._tried_of: dict[str, Setup] = {}  # by that path, the setup of the program's own launch
        self.is_aside: Callable[[], bool] = lambda: False
        self._attempt: _Attempt | None = None
        self._line = 0  # of the file, at which the last version failed
        self._before: tuple[Setup, ...] = ()  # what the panes showed before the first edit
        self._typed = QTimer(self, singleShot=True, interval=TYPING_PAUSE)
        self._typed.timeout.connect(self._look_at_typed)
        self._calm = QTimer(self, singleShot=True, interval=TYPING_PAUSE)
        self._calm.timeout.connect(self._compile_ahead)
        jobs = stage.jobs
        jobs.ready.connect(self._take)
        jobs.early.connect(self._take)
        jobs.failed_at.connect(self._note_line)
        jobs.failed.connect(self._miss)
        jobs.takes_long.connect(lambda pane, *_: self._show_at_once(pane))
        stage.asked.connect(self._give_way)
        stage.settled.connect(self._wait_longer)

    # What is edited: the kernel of the pane in focus.

    def setup(self) -> Setup | None:
        """Return the setup of the pane in focus, None while there is none."""
        return self.stage.setups[self.stage.focus] if self.stage.focus < len(self.stage.setups) else None

    def original(self, setup: Setup) -> str:
        """Return the text of the file of a setup's kernel before any edit, "" where nobody knows it yet."""
        if not setup.file:
            return kernel_source(find(setup.scenario).kernel)[1]
        launch = self.stage.launch_in(setup.file)
        if setup.file in self._tried and (path := self._program(setup)):
            with suppress(OSError, UnicodeDecodeError):  # it is gone, or no text any more
                return path.read_text(encoding="utf-8")
        return launch.source if launch else ""

    def file_of(self, session: Session) -> FileText:
        """Return the text of a shown session's kernel, with the lines that are taken out of it."""
        shown = list(zip(self.stage.sessions, self.stage.setups, strict=False))
        shown = [*shown[self.stage.focus :], *shown]  # two texts may come to the same, and so to one session
        setup = next((setup for held, setup in shown if held is session), None)
        if setup is None or not self.is_edited(setup):
            return FileText(session.launch.source)
        return self._ran(setup)

    # Edits.

    def run(self) -> None:
        """Run what the panel holds; the version that is shown goes to the left, the new one comes to the right."""
        setup = self.setup()
        if setup is None or not self._shows_focused():
            return
        new = self._as_written(setup, self.source.struck())
        if new is not None and self._ran(setup) == (self.source.text(), self.source.struck()):
            self.notice.inform(UNCHANGED)
        elif new is not None:
            self._make(new, (setup,))

    def toggle(self, line: int) -> None:
        """Take a line (from 1) of the panel's text out of what runs, or put it back."""
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
            self.notice.clear(cause="edit")  # of what was tried with that line
            self.put_back.emit()
        elif self._ran(left) == written:  # all is put back
            self.cancel()
            self._show(self._before if left in self._before else (left,))
        else:
            self._make(new, (left,))

    def _ran(self, setup: Setup) -> FileText:
        """Return the text that a setup runs, with the lines that are taken out of it."""
        return self._tried.get(setup.file) or FileText(
            setup.source or self.original(setup), frozenset(setup.without)
        )

    def _shows_focused(self) -> bool:
        """Return whether the panel holds the kernel of the pane in focus: another tab may be on top of it."""
        shown = self.source.session
        return shown is not None and shown is self.stage.focused() and not self.is_aside()

    def _as_written(self, setup: Setup, struck: frozenset[int]) -> Setup | None:
        """Return a setup with the panel's text but for these lines; None, with the reason told, for no Python."""
        text = self.source.text()
        if problem := syntax_problem(text):
            self._tell(*problem)
            return None
        if self._program(setup):
            return setup
        source = "" if text == self.original(setup) else text
        return msgspec.structs.replace(setup, source=source, without=tuple(sorted(struck)))

    def _is_pair(self) -> bool:
        """Return whether the panes show two versions of one kernel, of which the right one is in focus."""
        sessions = self.stage.sessions
        known = [session for session in sessions if session is not None]
        return self.stage.focus == 1 and len(known) == 2 and are_versions(*known)

    def undo_all(self) -> None:
        """Show the kernels as they were before the first edit."""
        if self.is_aside():
            return
        self.cancel()
        self.notice.clear(cause="edit")
        self.source.revert()
        if any(self.is_edited(setup) for setup in self.stage.setups):
            plain = self._plain(self.stage.setups[0])
            self.change_setups(self._before if plain in self._before else (plain,))
        self._before = ()

    def _plain(self, setup: Setup) -> Setup:
        """Return the setup that a version is of, without any edit."""
        return msgspec.structs.replace(self._tried_of.get(setup.file, setup), source="", without=())

    def is_edited(self, setup: Setup) -> bool:
        """Return whether a setup runs what was written here, or less than its file holds."""
        return setup.is_edited or setup.file in self._tried

    def unsaved_texts(self) -> list[tuple[Setup, str]]:
        """Return each shown version that was written here, with its text."""
        shown = [(setup, self._ran(setup).text) for setup in self.stage.setups if self.is_edited(setup)]
        return [
            (setup, text) for setup, text in shown if text in self._written and text != self.original(setup)
        ]

    # From an edit to its picture.

    def _make(self, new: Setup, beside: tuple[Setup, ...]) -> None:
        """Trace a version and show it once it is there; what can't be launched is told at its line."""
        self.source.set_problems([])
        self.notice.clear(cause="edit")
        try:
            launch = None if self._program(new) else self._launch(new)
            left = left_of(self.source.text(), self.source.struck())
        except CatalogueError as error:
            self.notice.error(str(error), "edit")
            return
        if not any(self.is_edited(setup) for setup in self.stage.setups):
            self._before = self.stage.setups
        self._written.add(self.source.text())
        note = self._told_of_constants(new, beside[-1], launch)
        attempt = self._attempt = _Attempt(new, beside, note)
        self.source.set_state_text("running …")
        if launch is None:
            ran = FileText(self.source.text(), self.source.struck())
            self.programs.try_text(left, partial(self._take_program, attempt, ran), self._miss_program)
            return
        if new.source:
            self.stage.trust_text(launch.kernel, new.source)
        if new.file and not self.stage.may_run(self.stage.launch_in(new.file) or launch):
            self._show((*beside, new))  # the stage asks first
        else:
            self.stage.jobs.trace(OFFSTAGE, launch, scenario_of(launch), early=True)

    def _told_of_constants(self, new: Setup, before: Setup, launch: Launch | None) -> str:
        """Return which of the constants that a version has changed come from the bar all the same, "" for none."""
        if launch is None or new.file:
            return ""
        changed = changed_constants(self._ran(before).text, self._ran(new).text)
        names = [name for name in launch.constants if name in changed]
        return IN_BAR.format(listed(names)) if names else ""

    def _program(self, setup: Setup) -> Path | None:
        """Return the user's program that made a setup's launch, where its kernel stands in that very file."""
        path = self.programs.program_of(setup.file) if setup.file else None
        launch = self.stage.launch_in(setup.file) if path else None
        return path if launch and launch.kernel.rpartition(":")[0] == str(path) else None

    def _launch(self, setup: Setup) -> Launch:
        """Return the launch of a setup; raises CatalogueError."""
        if not setup.file:
            return launch_of_setup(setup)
        own = self.stage.launch_in(setup.file)
        if own is None:
            raise PlanError("The trace is not shown any more; open it again.")
        return self.stage.changed_launch(setup) or own

    def _take(self, pane: int, session: Session) -> None:
        self._show_at_once(pane)

    def _show_at_once(self, pane: int) -> None:
        """Show the version that was made, or that takes long: then the panes ask what to do about it."""
        if pane == OFFSTAGE and self._attempt is not None:
            self._show((*self._attempt.beside, self._attempt.new))

    def _take_program(self, attempt: _Attempt, ran: FileText, traces: Sequence[Path]) -> None:
        """Show of a program's launches of the kernel the one that stands where the one before stood, else the last."""
        if attempt is not self._attempt:
            return
        name = Path(attempt.new.file).name
        same = [path for path in traces if path.name.partition("-")[2] == name.partition("-")[2]]
        if not same:
            self._miss_program(NOT_LAUNCHED)
            return
        trace = next((path for path in same if path.name == name), same[-1])
        self._tried[str(trace)] = ran
        self._tried_of[str(trace)] = self._plain(attempt.new)
        self._show((*attempt.beside, Setup(file=str(trace))))

    def _show(self, setups: tuple[Setup, ...]) -> None:
        attempt, self._attempt = self._attempt, None
        self.source.set_state_text("")
        self.notice.clear(cause="edit")
        self.change_setups(setups)
        self.stage.jobs.drop(OFFSTAGE)  # the panes wait for it now, as long as they show it
        self.stage.set_focus(len(setups) - 1)
        if attempt and attempt.note:
            self.notice.inform(attempt.note)

    def _note_line(self, pane: int, error: WorkerError) -> None:
        """Keep the line at which a version failed: the sentence comes next."""
        if pane == OFFSTAGE and error.file == self.source.editor.file:
            self._line = error.line

    def _miss(self, pane: int, sentence: str) -> None:
        if pane == OFFSTAGE:
            self._miss_program(sentence)

    def _miss_program(self, sentence: str) -> None:
        """Tell why a version can't be shown, at its line where it is known; the panes stay as they are."""
        if self._attempt is None:
            return
        self._attempt = None
        self.source.set_state_text("")
        line, self._line = self._line or line_of(sentence, self.source.editor.file), 0
        self._tell(line, sentence)

    def _tell(self, line: int, sentence: str) -> None:
        """Say what is wrong, at its line (from 1) where it is known (not 0)."""
        self._typed.stop()  # it would look at the text, and take the mark away
        sentence = without_place(sentence, self.source.editor.file)
        where = f"line {line}: " if line and not line_of(sentence, self.source.editor.file) else ""
        self.notice.error(f"The edited kernel can't be run: {where}{sentence}", "edit")
        if line:
            self.source.set_problems([(line, sentence)])

    def is_busy(self) -> bool:
        """Return whether a version is being made."""
        return self._attempt is not None

    def cancel(self) -> bool:
        """Stop making a version; return whether one was being made."""
        was, self._attempt = self._attempt is not None, None
        if was:
            self.stage.jobs.drop(OFFSTAGE)
            self.programs.end_trial()
            self.source.set_state_text("")
        return was

    def _give_way(self) -> None:
        """Stop making a version where somebody goes elsewhere: it is not to follow there."""
        self.cancel()
        self._wait_longer()

    def _wait_longer(self) -> None:
        """Have nothing compiled ahead yet where something else is asked for, or has just come."""
        if self._calm.isActive():
            self._calm.start()

    # What the panel shows.

    def show_barriers(self) -> None:
        """Tell the panel which lines of its text wait for other threads, and have what may come next compiled."""
        session = self.stage.focused()
        if session is not None and not self.is_aside():
            barriers = barrier_lines(self.source.text(), session.trace.kernel)
            self.source.set_barriers(frozenset(barriers))
            self._calm.start()  # what is to be compiled is worked out once the picture is there

    def _compile_ahead(self) -> None:
        """Have the text that was typed compiled, and what it is with one barrier less or more.

        Nothing is run for that which the user has not agreed to: of a text that is to be loaded, but for the bodies of
        functions, only what was loaded before.
        """
        if not self.stage.is_settled():
            self._calm.start()  # the worker has something else to do
            return
        setup, text, struck = self.setup(), self.source.text(), self.source.struck()
        session = self.stage.focused()
        if setup is None or setup.file or session is None or not self._shows_focused():
            return
        ran = self._ran(setup).text
        if session.launch.engine != "compiled" or not (text == ran or differ_in_functions_alone(text, ran)):
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

    # While one types.

    def note_typed(self) -> None:
        """Look soon at what was typed."""
        if not self.is_aside():
            self._typed.start()

    def _look_at_typed(self) -> None:
        """Mark the line that is no Python yet, else the barriers; of what has run already, what is told of that."""
        if not self.source.is_edited():
            self.show_barriers()  # one that was cut is there again
            self.put_back.emit()
            return
        problem = syntax_problem(self.source.text())
        self.source.set_problems([problem] if problem else [])
        if problem is None:
            self.show_barriers()

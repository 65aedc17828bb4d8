"""Kernel editing in the window: commands, the bar of differences, the dialogs for saving and leaving."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QMessageBox, QWidget

from ... import ROOT
from ...kernels.scenarios.catalogue import find
from ...tracer.model.embedded_cpp import program_file
from ...tracer.model.finding import Finding, source_location
from ...tracer.model.plan import source_without_lines
from ...tracer.model.skipped_lines import skip_refusal, statement_lines
from ...tracer.storage.atomic_write import write_atomically
from ...tracer.storage.folders import home_folder
from ..control.stage import Stage
from ..model.bookmark import Setup
from ..model.kernel_source import kernel_file
from ..model.session import Session, are_versions
from ..views.inspect.race_card import shown_access
from ..views.source.view import SourceView
from ..widgets.command import LINE, Command
from ..widgets.notice import Notice
from ..widgets.theme import Theme
from .difference_bar import BarRequests, DifferenceBar
from .live_editing import LiveEditing, Programs
from .model.version_differences import version_differences
from .remedy_job import RemedyJob

BAR_PLACE = 1  # index in the body of a window, below the caption
PROGRAMS = "Python files (*.py)"
RUN, SAVE, UNDO = "Run the edited kernel", "Save kernel…", "Undo all edits"


class WindowParts(NamedTuple):
    """The parts of a window that an editor needs."""

    source: SourceView  # the panel with the kernel
    notice: Notice  # shows errors
    body: QBoxLayout  # contains the bar, below the caption
    show_tab: Callable[[str], None]  # of the inspector
    focus_pictures: Callable[[], None]


class KernelEditing(QObject):
    """Connects the source panel of a window with the editor that runs its text.

    programs: the user's programs. window: the parent of dialogs. places: the parts of the window. change_setups: shows
    other setups.
    """

    def __init__(
        self,
        window: QWidget,
        stage: Stage,
        places: WindowParts,
        theme: Theme,
        programs: Programs,
        change_setups: Callable[[tuple[Setup, ...]], None],
    ) -> None:
        super().__init__(window)
        self.window, self.stage, self.notice, self.places = window, stage, places.notice, places
        self.source = source = places.source
        self.editing = LiveEditing(stage, source, places.notice, programs, change_setups)
        self._focus_pictures = places.focus_pictures
        self._saved: dict[str, str] = {}  # by kernel, the text saved last
        requests = BarRequests(self.undo_all, self.save, self._show_race, lambda: places.show_tab("findings"))
        self.bar = DifferenceBar(theme, requests)
        places.body.insertWidget(BAR_PLACE, self.bar)
        source.file_of = self.editing.file_of
        source.editor.may_strike = lambda line: skip_refusal(source.text(), line)
        source.editor.rows_of = lambda line: statement_lines(source.text(), line)
        source.set_editable(True)
        source.file_shown.connect(self.editing.show_barriers)
        source.file_shown.connect(self._mark_problems)
        source.editor.run_asked.connect(self.editing.run)
        source.editor.line_toggled = self.editing.toggle
        source.editor.edited.connect(lambda _: self.editing.note_typed())
        stage.store.subscribe(self._shown_versions, lambda _: self._show_panes())
        stage.store.subscribe(lambda: stage.store.state.is_asking, lambda _: self._mark_problems())
        self.editing.restored = self.show_differences
        self.stage.jobs.examined.connect(self._note_examined)
        self.remedies = RemedyJob(self)
        self.remedies.proved.connect(self._note_proved)
        self.stage.jobs.examined.connect(self.try_remedies)

    def try_remedies(self, session: Session) -> None:
        """Try the remedies of a session whose kernel may run: it ran in this window, or is of the user's program."""
        shown = zip(self.stage.sessions, self.stage.setups, strict=False)
        files = [setup.file for shown_session, setup in shown if shown_session is session and setup.file]
        own = any(self.editing.programs.program_of(file) is not None for file in files)
        if own or not files or self.stage.may_run(session.launch):
            self.remedies.ask(session)

    def commands(self) -> list[Command]:
        """List the commands that edit the kernel of the pane in focus."""
        return [
            Command(RUN, "Ctrl+Return, Ctrl+Enter", self.editing.run),
            Command(UNDO, "Ctrl+Shift+U", self.undo_all),
            LINE,
            Command(SAVE, "Ctrl+Alt+S", self.save),
        ]

    def set_theme(self, theme: Theme) -> None:
        """Apply colours, text size and vocabulary."""
        self.bar.set_theme(theme)

    def undo_all(self) -> None:
        """Restore the kernels from before the first edit; the pictures get the keyboard focus."""
        self.editing.undo_all()
        self._focus_pictures()

    # What differs.

    def _shown_versions(self) -> tuple[object, ...]:
        """Collect the setups, the focus and the sessions that the differences come from."""
        stage = self.stage
        return (stage.setups, stage.focus, stage.is_replaced(stage.focus), *stage.sessions)

    def _show_panes(self) -> None:
        """Show the text of the pane in focus and the differences between the panes, once they are loaded."""
        if not self.stage.is_replaced(self.stage.focus):
            self._show_own_text()
            self.show_differences()

    def show_differences(self) -> None:
        """Show the differences if the panes show two versions of a kernel."""
        self.bar.set_theme(self.source.theme)  # larger in a lecture
        pair = None if self.editing.is_suspended() else self._versions()
        differences = version_differences(*pair) if pair else None
        self.bar.show_differences(differences)
        self._mark_problems()

    def _show_race(self, race: Finding) -> None:
        """Select a thread of a race in the version on the right, at its moment."""
        pane = len(self.stage.sessions) - 1
        session = self.stage.sessions[pane]
        access = shown_access(session, race) if session is not None else None
        if access is not None:
            moment, selection = access
            self.stage.set_focus(pane)
            self.stage.select(pane, selection)
            self.stage.seek(pane, float(moment))

    def _show_own_text(self) -> None:
        """Show the text of the pane in focus if both panes share one session."""
        session = self.stage.focused()
        if session is None or session is not self.source.session or self.editing.is_suspended():
            return
        if self.stage.sessions.count(session) > 1:
            self.source.show_file(*self.editing.file_of(session))

    def _versions(self) -> tuple[Session, Session] | None:
        shown = [session for session in self.stage.sessions if session is not None]
        return (shown[0], shown[1]) if len(shown) == 2 and are_versions(*shown) else None

    def _note_examined(self, session: Session) -> None:
        if session in self.stage.sessions:
            self.show_differences()

    def _note_proved(self, session: Session) -> None:
        """Add the remedies that work to the marks in the text."""
        if session is self.stage.focused():
            self._mark_problems()

    def _mark_problems(self) -> None:
        """Mark the lines that have errors, of an edited kernel or one from a file."""
        setup, session = self.editing.setup(), self.stage.focused()
        if (
            self.editing.is_suspended()
            or setup is None
            or session is None
            or session is not self.source.session
        ):
            return
        is_lecture = self.stage.store.state.is_lecture
        is_own = self.editing.is_edited(setup) or (bool(setup.file) and not is_lecture)
        is_asking = self.stage.store.state.is_asking
        if is_asking or (not is_own and not self.source.is_edited()):
            self.source.set_problems([])  # of a version that is no longer shown
        if is_asking or not is_own or not session.is_examined:
            return
        file = kernel_file(session)
        faults = self.editing.programs.faults_of(setup.file) if setup.file else []
        problems = dict.fromkeys([*problems_of(session, file), *faults])  # `run` reports kernels' faults too
        self.source.set_problems(problems, traced=True)

    # An edit that would be lost.

    def set_aside(self) -> None:
        """Offer to bring the edited text back, before the user's program shows launches of another text."""
        setup = self.editing.setup()
        path = self.editing.programs.program_of(setup.file) if setup and setup.file else None
        text = self._edited_text(setup) if setup and path and not self.editing.is_suspended() else ""
        if path is not None and text and text != read_text(path):
            self._offer_back(path, text)

    def _edited_text(self, setup: Setup) -> str:
        """Return the panel's text if it has not run, else that of a shown version written here, "" for none."""
        if self.source.is_edited() and self.source.session is self.stage.focused():
            return self.source.text()
        return next((text for _, text in self.editing.unsaved_texts()), "")

    def _offer_back(self, path: Path, text: str) -> None:
        sentence = f"{path.name} was changed elsewhere. Your edited text was set aside."
        self.notice.ask(
            sentence, [("Bring it back", partial(self._bring_back, path, text))], "edit set aside"
        )

    def _bring_back(self, path: Path, text: str) -> None:
        """Write the text into the panel as an edit, if the panel shows its file."""
        session = self.stage.focused()
        if session is None or session is not self.source.session or kernel_file(session) != str(path):
            self.notice.inform(f"Show a kernel of {path.name} first.")
            self._offer_back(path, text)
            return
        self.places.show_tab("source")
        self.source.write(text)

    # Saving and leaving.

    def unsaved(self) -> str:
        """Return the name of an edited kernel whose text is unsaved, "" for none."""
        if self.editing.is_suspended():
            return ""
        setup = self.editing.setup()
        if self.editing.is_suspended():
            return ""  # an exercise keeps its text by itself
        if self.source.is_edited() and self.source.text() not in self._saved.values():
            return self._name(setup) if setup else "the kernel"
        if self.source.drafts():
            return "a kernel"
        typed = (s for s, text in self.editing.unsaved_texts() if text not in self._saved.values())
        return next(map(self._name, typed), "")

    def _name(self, setup: Setup) -> str:
        return setup.scenario or Path(setup.file).name

    def save(self) -> bool:
        """Ask for a file name and write the edited file; return True if it was written."""
        setup = self.editing.setup()
        if setup is None or self.editing.is_suspended():
            return False
        path, _ = QFileDialog.getSaveFileName(
            self.window, "Save kernel", str(self._suggestion(setup)), PROGRAMS
        )
        return bool(path) and self.store(Path(path).with_suffix(".py"))

    def _suggestion(self, setup: Setup) -> Path:
        """Suggest a file name: the user's own file, or a copy for one of Tilescope's kernels."""
        if setup.file:
            launch = self.stage.launch_in(setup.file)
            own = Path(program_file(launch.kernel.rpartition(":")[0])) if launch else Path("kernel.py")
            return own if own.suffix == ".py" else home_folder() / "kernel.py"
        stem = find(setup.scenario).kernel.rpartition(":")[0].rpartition(".")[2]
        return home_folder() / f"{stem}_edited.py"

    def store(self, path: Path) -> bool:
        """Write the panel's text without the skipped lines; return True if it was written."""
        setup = self.editing.setup()
        assert setup
        text = self.source.text()
        if path.resolve().is_relative_to(ROOT):
            self.notice.error(f"{path.name} belongs to Tilescope; save a copy in another folder.", "file")
            return False
        try:
            write_atomically(path, source_without_lines(text, self.source.struck()).encode())
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            self.notice.error(f"{path} can't be written: {reason}; choose another folder.", "file")
            return False
        self._saved[self._name(setup)] = text
        self.notice.inform(f"The kernel was saved as {path}.")
        return True

    def may_close(self) -> bool:
        """Ask about unsaved edits; return True if the window may close."""
        name = self.unsaved()
        if not name:
            return True
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.question(
            self.window, "Edited kernel", f"The text of {name} was edited. Do you want to save it?",
            buttons.Save | buttons.Discard | buttons.Cancel, buttons.Save,
        )  # fmt: skip
        return answer == buttons.Discard or (answer == buttons.Save and self.save())


def read_text(path: Path) -> str:
    """Read a program's text, "" if it is gone or no longer text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def problems_of(session: Session, file: str) -> list[tuple[int, str, str]]:
    """List line (from 1), sentence and severity of the errors in a kernel's file."""
    error = session.trace.error
    problems = (
        [(error.line, f"{error.type}: {error.message}", "error")] if error and error.file == file else []
    )
    for finding in session.findings:
        where, line = source_location(finding, session.trace)
        if finding.severity == "error" and where == file:
            problems.append((line, finding.message, "error"))
    return problems

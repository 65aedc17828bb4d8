"""The writer of a lecture: each edit makes a new text, is saved at once, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ....kernels.scenarios.catalogue import CatalogueError
from ....tracer.storage.folders import data_folder, home_folder
from ...control.session_jobs import Source, session_key
from ...control.stage import Stage
from ...model.bookmark import Bookmark, Setup
from ...model.nothing import nothing
from ...model.phase_steps import phase_at
from ...model.session import Session
from ...model.setup_launch import launch_of_setup
from ...model.setup_text import spec_of
from ...views.common.wording import phase_text
from ..model.changes import EditedKernel, Pane, ProgramLaunch
from ..model.document import Lecture
from ..model.edit import steps, text
from ..model.edit.file import LectureFile, StaleError
from ..model.edit.from_bookmark import change_lines
from ..model.edit.history import TextHistory
from ..model.edit.serialise import Panes
from ..model.edit.source import EditError, lecture_of, source_of
from ..model.edit.steps import Rearranged, UntracedError
from ..model.problems import LectureError
from ..player.player import LecturePlayer
from ..player.programs import LaunchUnavailableError

MOST_FILES, MOST_BYTES = 200, 1_000_000  # limits of the search for Python files in a lecture's folder
NAME = "Lecture"  # of an unnamed one
LaunchOf = Callable[[str], ProgramLaunch | None]
Make = Callable[[str, Path], Rearranged]  # makes a new text from a text and the path of its file


def _show_same_launch(setup: Setup, other: Setup) -> bool:
    """Return True if two setups show the same launch of a program, or the same edited kernel."""
    return setup == other if setup.source else bool(setup.file) and setup.file == other.file


class LectureWriter(QObject):
    """Edits the lecture that the player presents, or begins one.

    changed: the text, or its saved state. problem: one sentence, "" after a successful edit.
    informed: one sentence of information.
    left_unsaved: an unsaved lecture was left; it is kept in `left`.
    saved: the path of the saved lecture.

    screen: returns the window's state, with the inspector shown or hidden. choose_path: asks for a file with a
    suggested path; None if the user cancels. launch_of: returns the launch in the user's program that made a temporary
    trace, with an absolute path; None for any other trace.
    """

    changed = Signal()

    def __init__(
        self,
        player: LecturePlayer,
        stage: Stage,
        screen: Callable[[], Bookmark],
        choose_path: Callable[[Path], Path | None],
        launch_of: LaunchOf,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.problem: Callable[[str], object] = nothing
        self.saved: Callable[[Path], object] = nothing
        self.informed: Callable[[str], object] = nothing
        self.left_unsaved: Callable[[], object] = nothing
        self.player, self.stage, self._screen = player, stage, screen
        self._choose_path, self._launch_of = choose_path, launch_of
        self.file: LectureFile | None = None  # None without a lecture
        self.history = TextHistory("")
        self.is_unsaved = False  # whether the text was never saved
        self.left: tuple[LectureFile, TextHistory] | None = None  # an unsaved lecture that was left
        self._shown: Lecture | None = None  # the presented lecture that was adopted
        # The key of a session, and the edit that waits for it.
        self._waiting: tuple[str, Callable[[], object]] | None = None
        player.changed.connect(self._follow)
        stage.jobs.prepared.connect(self._continue_edit)

    # State.

    @property
    def text(self) -> str:
        """The text of the presented lecture, "" without one."""
        return self.history.text if self.file is not None else ""

    @property
    def path(self) -> Path:
        """The path of its file; an unused path for an unsaved lecture."""
        return self.file.path if self.file is not None else Path(f"{NAME}.md")

    @property
    def number(self) -> int:
        """The number of the edited step, which is the presented one."""
        return self.player.number if self.player.awaited is None else self.player.awaited

    def lecture(self) -> Lecture | None:
        """Return the edited lecture, None without one."""
        return self.player.lecture

    def _follow(self) -> None:
        """Adopt the presented lecture as the edited one."""
        lecture = self.player.lecture
        if lecture is self._shown:
            return
        self._shown, self._waiting = lecture, None
        if self.file is not None and lecture is not None and lecture.path == self.file.path:
            self.history.push(_text_of(self.file, lecture))
            self.is_unsaved = False
        else:
            self._leave()
            self.file = LectureFile(lecture.path) if lecture is not None else None
            self.history = TextHistory(_text_of(self.file, lecture) if self.file and lecture else "")
        self.changed.emit()

    def _leave(self) -> None:
        """Keep an unsaved lecture in `left`, and report it."""
        if self.is_unsaved and self.file is not None:
            self.left, self.is_unsaved = (self.file, self.history), False
            self.left_unsaved()

    def resume(self) -> None:
        """Present the unsaved lecture that was left again."""
        if self.left is not None:
            (self.file, self.history), self.left, self.is_unsaved = self.left, None, True
            self._show(0)

    # Edits of a step or of the lecture.

    def set_title(self, title: str) -> bool:
        """Set the title of the lecture; return False on an error, as all edits do."""
        return self._edit(lambda old, path: Rearranged(text.with_title(old, title, path)), self.number)

    def set_step_title(self, number: int, title: str) -> bool:
        """Set the heading of a step."""
        return self._edit_step(number, partial(text.with_step_title, title=title))

    def set_caption(self, number: int, markdown: str) -> bool:
        """Set the caption of a step."""
        return self._edit_step(number, partial(text.with_caption, markdown=markdown))

    def set_notes(self, number: int, notes: str) -> bool:
        """Set the notes of a step."""
        return self._edit_step(number, partial(text.with_notes, notes=notes))

    def set_change(self, number: int, lines: str) -> bool:
        """Set the changes of a step."""
        return self._edit_step(number, partial(text.with_change, lines=lines.split("\n")))

    def set_question(self, number: int, ask: str, choices: str, answer: str) -> bool:
        """Set the question of a step; "" removes it."""
        values = {"ask": ask or None, "choices": choices or None, "answer": answer or None}
        return self._edit_step(number, partial(text.with_values, values=values))

    def _edit_step(self, number: int, make: Callable[..., str]) -> bool:
        def apply(old: str, path: Path) -> Rearranged:
            new = make(old, number, path=path)
            check_problems(lecture_of(old, path), lecture_of(new, path))
            return Rearranged(new)

        return self._edit(apply, self.number)

    # Steps.

    def add_screen(self) -> bool:
        """Add the screen as a step after the current one, or as the first step of a new lecture."""
        if self.player.lecture is None:
            return self._begin()
        number = self.number

        def apply(old: str, path: Path) -> Rearranged:
            return steps.insert_step(
                old, number, self._step_of_screen(lecture_of(old, path), number), path, self._sessions
            )

        return self._edit(apply, number + 1)

    def _begin(self) -> bool:
        if self.left is not None:
            self.problem("The previous lecture has not been saved yet. Press Ctrl+Shift+S to save it.")
            return False
        path = self._new_path()
        old = text.new_lecture(NAME)
        try:
            body = self._step_of_screen(lecture_of(old, path), -1)
            new_text = steps.insert_step(old, -1, body, path, self._sessions).text
        except EditError as error:
            self.problem(str(error))
            return False
        self.file, self.history, self.is_unsaved = LectureFile(path), TextHistory(new_text), True
        self._show(0)
        self.informed("A new lecture has begun with this step. Press Ctrl+Shift+S to save it.")
        return True

    def _new_path(self) -> Path:
        """Return an unused path in the folder of a shown trace or program, which steps name relative to it."""
        traces = [setup.file for setup in self.stage.setups if setup.file]
        launches = map(self._launch_of, traces)
        files = [
            Path(launch.file if launch else trace) for trace, launch in zip(traces, launches, strict=True)
        ]
        folder = files[0].absolute().parent if files else drafts_folder()
        names = (f"{NAME}-{number}.md" if number > 1 else f"{NAME}.md" for number in count(1))
        return next(folder / name for name in names if not (folder / name).exists())

    def _step_of_screen(self, lecture: Lecture, after: int) -> str:
        """Write the text of a step that shows the screen; raises EditError."""
        mark, sessions = self._screen(), self.stage.sessions
        loaded = [session for session in sessions if session is not None]
        if not sessions:
            raise EditError("The screen is empty. Show a scenario first.")
        if len(loaded) < len(sessions) or not self.stage.is_settled():
            raise EditError("The launches on screen are still being traced. Add the step when they are done.")
        panes = self._panes(lecture.folder, after, mark)
        return text.step_text(
            self._title(loaded), change_lines(lecture, after, mark, loaded, panes), lecture.folder
        )

    def _panes(self, folder: Path, after: int, mark: Bookmark) -> Panes:
        """Return the panes on screen as a step names them; raises EditError.

        A program's launch is named as in the previous step, or as one of the user's program.
        """
        player = self.player
        panes = player.scenes[after].panes if after >= 0 and player.moment() is not None else ()
        brought = [pane for pane in panes if not isinstance(pane, Setup)]
        try:
            named_panes = [(self._setup(pane), pane) for pane in brought]
        except LaunchUnavailableError as error:
            raise EditError(str(error)) from None
        return tuple(self._named(setup, named_panes, folder) for setup in mark.panes)

    def _named(self, setup: Setup, named_panes: Sequence[tuple[Setup, Pane]], folder: Path) -> Pane:
        """Return a pane as a step names it; files of the lecture are named as in the previous step."""
        match = next((pane for other, pane in named_panes if _show_same_launch(other, setup)), None)
        return match or self._launch(setup, folder) or self._edited(setup, folder) or setup

    def _launch(self, setup: Setup, folder: Path) -> ProgramLaunch | None:
        """Return the launch in the user's program that a pane shows, and trust that program in the lecture."""
        launch = self._launch_of(setup.file)
        if launch is None:
            return None
        program = Path(launch.file)
        if not program.is_relative_to(folder.absolute()):
            raise EditError(
                f"{program.name} is not in the folder of the lecture. Save the lecture in the program's folder first."
            )
        self.player.programs.agree(program)
        return ProgramLaunch(program.relative_to(folder.absolute()).as_posix(), launch.launch)

    def _edited(self, setup: Setup, folder: Path) -> EditedKernel | None:
        """Return an edited kernel as a step names it, by the file in the lecture's folder with the same text."""
        files = sorted(folder.glob("*.py"))[:MOST_FILES] if setup.source and not setup.file else []
        for path in files:
            if path.stat().st_size <= MOST_BYTES and path.read_text("utf-8", "replace") == setup.source:
                self.player.programs.agree(path)
                plain = spec_of(setup)
                return EditedKernel(path.name, f"{plain}{',' if ':' in plain else ':'}source={path.name}")
        return None

    def _setup(self, pane: Pane) -> Setup:
        """Return the setup of a pane; raises LaunchUnavailableError if its program has not run."""
        if isinstance(pane, Setup):
            return pane
        return self.player.programs.setup_of(pane, self.path.parent)

    def _title(self, sessions: list[Session]) -> str:
        """Return a title for the screen: the current phase of the pane in focus, or the kernels."""
        titles = " and ".join(dict.fromkeys(session.title for session in sessions))
        session, focus = sessions[self.stage.focus], self.stage.focus
        selection, moment = self.stage.selections[focus], self.stage.moments()[focus]
        if moment < 1:
            return titles
        phases = session.requests.span_start.shape[1] if len(session.trace) else 1
        label = phase_text(session.scenario, phase_at(session, selection.block, moment), phases).label
        return f"{label[:1].upper()}{label[1:]}" if phases > 1 else titles

    def copy(self, number: int) -> bool:
        """Duplicate a step."""
        return self._edit(lambda old, path: steps.copy_step(old, number, path, self._sessions), number + 1)

    def take_out(self, number: int) -> bool:
        """Delete a step."""
        lecture = self.player.lecture
        if lecture is not None and len(lecture.steps) == 1:
            self.problem("A lecture needs at least one step. Add another one before you delete this one.")
            return False
        return self._edit(lambda old, path: steps.remove_step(old, number, path, self._sessions), number)

    def move(self, number: int, to: int) -> bool:
        """Move a step to another number."""
        return self._edit(lambda old, path: steps.move_step(old, number, to, path, self._sessions), to)

    def _sessions(self, panes: Panes) -> list[Session] | None:
        """Return the sessions of panes, None if some are not in memory."""
        try:
            sessions = [self.stage.jobs.session_in_memory(source) for source in self._sources(panes)]
        except (CatalogueError, LaunchUnavailableError):
            return None
        loaded = [session for session in sessions if session is not None]
        return loaded if panes and len(loaded) == len(panes) else None

    def _sources(self, panes: Panes) -> list[Source]:
        """List the sources of the sessions of panes; raises CatalogueError and LaunchUnavailableError."""
        return [setup.file or launch_of_setup(setup) for setup in map(self._setup, panes)]

    # Applying edits.

    def _edit(self, make: Make, number: int) -> bool:
        """Apply an edit and show a step of the result; on an error, report it and change nothing."""
        if self.player.lecture is None or self.file is None:
            self.problem("No lecture is presented. Press Ctrl+D to begin one.")
            return False
        if self.file.is_shipped and not self._copy_shipped():
            return False
        if self._is_stale():
            return False
        try:
            result = make(self.history.text, self.file.path)
        except UntracedError as error:
            return self._trace_first(error, partial(self._edit, make, number))
        except (EditError, LectureError) as error:
            self.problem(str(error))
            return False
        self.problem("")
        for sentence in result.warnings:
            self.informed(sentence)
        if self.history.push(result.text):
            self._store(number)
        return True

    def _is_stale(self) -> bool:
        """Return True if another program has changed the file; show its content instead of an edit."""
        assert self.file is not None
        try:
            stale = not self.is_unsaved and self.file.is_stale()
        except EditError:
            return False  # reported when the file is written
        if stale:
            self._adopt_file(
                f"{self.file.path.name} was changed by another program; the new content is shown."
            )
        return stale

    def _store(self, number: int) -> None:
        """Save the text, and show a step."""
        if not self.is_unsaved and self.file is not None:
            try:
                self.file.write(self.history.text)
            except StaleError as error:
                self._adopt_file(str(error))
                return
            except EditError as error:
                self.is_unsaved = True
                self.problem(f"{error} Nothing is lost: save the lecture to another file with Ctrl+Shift+S.")
        self._show(number)

    def _show(self, number: int) -> None:
        lecture = self._shown = lecture_of(self.history.text, self.path)
        self.player.adopt(lecture, max(0, min(number, len(lecture.steps) - 1)))
        self.changed.emit()

    def _adopt_file(self, sentence: str) -> None:
        """Adopt the content of a file that another program has changed, and report it; undo restores the old text."""
        assert self.file is not None
        try:
            self.history.push(self.file.read())
            self._show(self.number)
        except (EditError, LectureError) as error:
            sentence = str(error)
        self.problem(f"{sentence} This edit was not applied.")

    def _trace_first(self, error: UntracedError, again: Callable[[], object]) -> bool:
        """Load the sessions that an edit needs, and apply it afterwards."""
        try:
            sources = self._sources(error.panes)
        except (CatalogueError, LaunchUnavailableError) as source_error:
            self.problem(str(source_error))
            return False
        missing = [source for source in sources if self.stage.jobs.session_in_memory(source) is None]
        if not missing:
            self.problem(str(error))
            return False
        self._waiting = session_key(missing[0]), again
        self.informed("A later step must be traced first; the edit follows then.")
        self.stage.jobs.prepare(sources, urgent=len(sources))
        return True

    def _continue_edit(self, key: str, reason: str) -> None:
        """Apply the edit that waits for a session."""
        if self._waiting is None or self._waiting[0] != key:
            return
        again, self._waiting = self._waiting[1], None
        if reason:
            self.problem(reason)
        else:
            again()

    # Undo.

    def undo(self) -> None:
        """Undo the last edit."""
        self._travel(self.history.undo, "There is nothing to undo.")

    def redo(self) -> None:
        """Redo the last undone edit."""
        self._travel(self.history.redo, "There is nothing to redo.")

    def _travel(self, go: Callable[[], bool], nothing: str) -> None:
        if self.file is None or self.player.lecture is None:
            return
        before = self.history.text
        if self._is_stale():
            return
        self.problem("")
        if not go():
            self.informed(nothing)
            return
        self._store(_first_difference(before, self.history.text, self.path, self.number))

    # Files.

    def save_as(self) -> bool:
        """Ask for a file and save the lecture there; later edits are saved at once."""
        if self.player.lecture is None and self.left is None:
            self.problem("There is no lecture to save. Press Ctrl+D to begin one.")
            return False
        if self.player.lecture is None:
            self.resume()
        return self._save(self._suggested())

    def _suggested(self) -> Path:
        path, is_shipped = self.path, self.file is not None and self.file.is_shipped
        is_users = path.parent.is_dir() and not is_shipped and path.parent != drafts_folder()
        return path if is_users else home_folder() / path.name

    def _save(self, suggested: Path) -> bool:
        path = self._choose_path(suggested)
        if path is None:
            return False
        file = LectureFile(path)
        if file.is_shipped:
            self.problem("Tilescope's own lectures cannot be overwritten. Choose another folder.")
            return False
        try:
            file.overwrite(self.history.text.encode("utf-8"))
        except EditError as error:
            self.problem(str(error))
            return False
        self.file, self.is_unsaved = file, False
        self._show(self.number)
        self.saved(path)
        self.informed(f"The lecture was saved as {path}. Later edits are saved automatically.")
        return True

    def _copy_shipped(self) -> bool:
        """Ask for the file of a copy of a shipped lecture, which is edited instead."""
        self.informed(
            "This lecture is included with Tilescope and cannot be changed. Choose a file for your copy."
        )
        return self._save(self._suggested())

    @property
    def has_unsaved(self) -> bool:
        """True if closing the window would lose a lecture."""
        return self.is_unsaved or self.left is not None

    def discard(self) -> None:
        """Discard the unsaved lecture that was left."""
        self.left = None
        self.changed.emit()

    def unsaved(self) -> tuple[Path, str] | None:
        """Return the path and the text of the unsaved lecture, presented or left; None without one."""
        if self.is_unsaved:
            return self.path, self.text
        return None if self.left is None else (self.left[0].path, self.left[1].text)

    def restore(self, path: Path, text: str) -> None:
        """Keep an unsaved lecture of an earlier session, as if it were left now."""
        self.left = LectureFile(path), TextHistory(text)
        self.changed.emit()


def drafts_folder() -> Path:
    """Return the folder of lectures that were never saved; users don't look there."""
    return data_folder() / "unsaved"


def _text_of(file: LectureFile, lecture: Lecture) -> str:
    """Return the text of a lecture's file, or the text read before if the file is gone."""
    try:
        return file.read()
    except EditError:
        return lecture.text


def check_problems(before: Lecture, after: Lecture) -> None:
    """Raise EditError with the first problem that an edit would add."""
    old_sentences = [problem.sentence for problem in before.problems]
    for problem in after.problems:
        if problem.sentence not in old_sentences:
            raise EditError(problem.sentence)


def _first_difference(before: str, after: str, path: Path, number: int) -> int:
    """Find the first step that differs between two texts of a lecture; `number` if none does."""
    old, new = (source_of(text, lecture_of(text, path)).bodies for text in (before, after))
    differing = (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return next(differing, number if len(old) == len(new) else min(len(old), len(new)))

"""The writer of a lecture: each edit makes its text anew, is written to its file at once, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ....kernels.scenarios.catalogue import CatalogueError
from ....tracer.storage.folders import data_folder
from ...control.session_jobs import Source, key_of
from ...control.stage import Stage
from ...lecture.changes import EditedKernel, Pane, ProgramLaunch
from ...lecture.document import Lecture
from ...lecture.edit import steps, text
from ...lecture.edit.file import LectureFile, StaleError
from ...lecture.edit.from_bookmark import change_lines
from ...lecture.edit.history import TextHistory
from ...lecture.edit.said import Panes
from ...lecture.edit.source import EditError, lecture_of, source_of
from ...lecture.edit.steps import Rearranged, UntracedError
from ...lecture.problems import LectureError
from ...model.bookmark import Bookmark, Setup
from ...model.phase_steps import phase_at
from ...model.session import Session
from ...model.setup_launch import launch_of_setup
from ...model.setup_text import spec_of
from ...views.common.wording import phase_text
from ..lecture.player import LecturePlayer
from ..lecture.programs import NoLaunch

MOST_FILES, MOST_BYTES = 200, 1_000_000  # Python files beside a lecture that are looked through, and of each
NAME = "Lecture"  # of one that nobody named yet
LaunchOf = Callable[[str], ProgramLaunch | None]
Make = Callable[[str, Path], Rearranged]  # another text from a text and the path of its file


def _shows_the_same(one: Setup, other: Setup) -> bool:
    """Return whether two setups show one launch of a program, or one edited kernel."""
    return one == other if one.source else bool(one.file) and one.file == other.file


class LectureWriter(QObject):
    """Edits the lecture that the player presents, or begins one.

    changed: the text, or whether it is in a file. problem: one sentence, "" once an edit
    could be made. told: one sentence that is no problem.
    left_unsaved: a lecture that is in no file is not presented any more; it is kept in `left`.
    saved: the lecture is in a file now, its path.

    screen: says what the window shows, its side shown or hidden. choose_path: asks where to save, from a path that is
    suggested; None where nobody wants to. launch_of: the launch that a trace is of which goes
    when the window closes, its program's file absolute; None for any other trace.
    """

    changed = Signal()
    problem = Signal(str)
    told = Signal(str)
    left_unsaved = Signal()
    saved = Signal(object)

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
        self.player, self.stage, self._screen = player, stage, screen
        self._choose_path, self._launch_of = choose_path, launch_of
        self.file: LectureFile | None = None  # None while nothing is written or presented
        self.history = TextHistory("")
        self.is_unsaved = False  # whether the text is in no file
        self.left: tuple[LectureFile, TextHistory] | None = None  # a lecture in no file that was left
        self._shown: Lecture | None = None  # the lecture that the player presents and that was taken
        self._waiting: tuple[str, Callable[[], object]] | None = (
            None  # the key of a session, and what waits for it
        )
        player.changed.connect(self._follow)
        stage.jobs.prepared.connect(self._go_on)

    # What is written.

    @property
    def text(self) -> str:
        """The text of the lecture that is presented, "" where none is."""
        return self.history.text if self.file is not None else ""

    @property
    def path(self) -> Path:
        """The path of its file; of a lecture that nobody saved yet, one where nothing is."""
        return self.file.path if self.file is not None else Path(f"{NAME}.md")

    @property
    def number(self) -> int:
        """The step that is edited: the one that is presented."""
        return self.player.number if self.player.awaited is None else self.player.awaited

    def lecture(self) -> Lecture | None:
        """Return the lecture that is written, None where none is presented."""
        return self.player.lecture

    def _follow(self) -> None:
        """Take the lecture that is presented now as the one that is edited."""
        lecture = self.player.lecture
        if lecture is self._shown:
            return
        self._shown, self._waiting = lecture, None
        if self.file is not None and lecture is not None and lecture.path == self.file.path:
            self.history.take(_text_of(self.file, lecture))
            self.is_unsaved = False
        else:
            self._leave()
            self.file = LectureFile(lecture.path) if lecture is not None else None
            self.history = TextHistory(_text_of(self.file, lecture) if self.file and lecture else "")
        self.changed.emit()

    def _leave(self) -> None:
        """Keep a lecture that is in no file, and say so."""
        if self.is_unsaved and self.file is not None:
            self.left, self.is_unsaved = (self.file, self.history), False
            self.left_unsaved.emit()

    def resume(self) -> None:
        """Present the lecture again that was left and is in no file."""
        if self.left is not None:
            (self.file, self.history), self.left, self.is_unsaved = self.left, None, True
            self._show(0)

    # Edits of one step, or of the whole.

    def set_title(self, title: str) -> bool:
        """Give the lecture another title; return whether that could be done, as all edits do."""
        return self._edit(lambda old, path: Rearranged(text.with_title(old, title, path)), self.number)

    def set_step_title(self, number: int, title: str) -> bool:
        """Give a step another heading."""
        return self._edit_step(number, partial(text.with_step_title, title=title))

    def set_caption(self, number: int, markdown: str) -> bool:
        """Give a step another caption."""
        return self._edit_step(number, partial(text.with_caption, markdown=markdown))

    def set_notes(self, number: int, notes: str) -> bool:
        """Give a step other notes."""
        return self._edit_step(number, partial(text.with_notes, notes=notes))

    def set_change(self, number: int, lines: str) -> bool:
        """Let a step change something else."""
        return self._edit_step(number, partial(text.with_change, lines=lines.split("\n")))

    def set_question(self, number: int, ask: str, choices: str, answer: str) -> bool:
        """Let a step ask something else, or nothing."""
        said = {"ask": ask or None, "choices": choices or None, "answer": answer or None}
        return self._edit_step(number, partial(text.with_values, values=said))

    def _edit_step(self, number: int, make: Callable[..., str]) -> bool:
        def made(old: str, path: Path) -> Rearranged:
            new = make(old, number, path=path)
            check_problems(lecture_of(old, path), lecture_of(new, path))
            return Rearranged(new)

        return self._edit(made, self.number)

    # Steps.

    def add_screen(self) -> bool:
        """Add what is on screen as a step after the one that is presented; begin a lecture where none is."""
        if self.player.lecture is None:
            return self._begin()
        number = self.number

        def made(old: str, path: Path) -> Rearranged:
            return steps.with_step(
                old, number, self._step_of_screen(lecture_of(old, path), number), path, self._sessions
            )

        return self._edit(made, number + 1)

    def _begin(self) -> bool:
        if self.left is not None:
            self.problem.emit("The lecture written before is in no file yet: Ctrl+Shift+S saves it.")
            return False
        path = self._new_path()
        old = text.new_lecture(NAME)
        try:
            body = self._step_of_screen(lecture_of(old, path), -1)
            made = steps.with_step(old, -1, body, path, self._sessions).text
        except EditError as error:
            self.problem.emit(str(error))
            return False
        self.file, self.history, self.is_unsaved = LectureFile(path), TextHistory(made), True
        self._show(0)
        self.told.emit("A lecture has begun, with this as its first step; Ctrl+Shift+S saves it.")
        return True

    def _new_path(self) -> Path:
        """Return where nothing is: in the folder of a trace or program that is shown, which a step names from there."""
        traces = [setup.file for setup in self.stage.setups if setup.file]
        launches = map(self._launch_of, traces)
        files = [
            Path(launch.file if launch else trace) for trace, launch in zip(traces, launches, strict=True)
        ]
        folder = files[0].absolute().parent if files else data_folder() / "unsaved"
        names = (f"{NAME}-{number}.md" if number > 1 else f"{NAME}.md" for number in count(1))
        return next(folder / name for name in names if not (folder / name).exists())

    def _step_of_screen(self, lecture: Lecture, after: int) -> str:
        """Return the text of a step that shows what is on screen; raises EditError."""
        mark, sessions = self._screen(), self.stage.sessions
        known = [session for session in sessions if session is not None]
        if not sessions:
            raise EditError("Nothing is on screen yet; show a scenario, and add it then.")
        if len(known) < len(sessions) or not self.stage.is_settled():
            raise EditError("What is on screen is still being traced; add it once it is there.")
        panes = self._panes(lecture.folder, after, mark)
        return text.step_text(
            self._title(known), change_lines(lecture, after, mark, known, panes), lecture.folder
        )

    def _panes(self, folder: Path, after: int, mark: Bookmark) -> Panes:
        """Return the panes on screen as a step names them; raises EditError.

        Launches of a program are named as the step before does, or as those of the program that the user runs.
        """
        player = self.player
        panes = player.scenes[after].panes if after >= 0 and player.moment() is not None else ()
        brought = [pane for pane in panes if not isinstance(pane, Setup)]
        try:
            known = [(self._setup(pane), pane) for pane in brought]
        except NoLaunch as error:
            raise EditError(str(error)) from None
        return tuple(self._named(setup, known, folder) for setup in mark.panes)

    def _named(self, setup: Setup, known: Sequence[tuple[Setup, Pane]], folder: Path) -> Pane:
        """Return a pane as a step names it: what came with the lecture as the step before does."""
        like = next((pane for other, pane in known if _shows_the_same(other, setup)), None)
        return like or self._launch(setup, folder) or self._edited(setup, folder) or setup

    def _launch(self, setup: Setup, folder: Path) -> ProgramLaunch | None:
        """Return the launch that a pane shows of the program that the user runs; the lecture may run it too, then."""
        launch = self._launch_of(setup.file)
        if launch is None:
            return None
        program = Path(launch.file)
        if not program.is_relative_to(folder.absolute()):
            raise EditError(
                f"{program.name} does not lie beside the lecture; save the lecture in its folder first."
            )
        self.player.programs.agree(program)
        return ProgramLaunch(program.relative_to(folder.absolute()).as_posix(), launch.launch)

    def _edited(self, setup: Setup, folder: Path) -> EditedKernel | None:
        """Return a pane with an edited kernel as a step names it, by the file beside the lecture that has its text."""
        files = sorted(folder.glob("*.py"))[:MOST_FILES] if setup.source and not setup.file else []
        for path in files:
            if path.stat().st_size <= MOST_BYTES and path.read_text("utf-8", "replace") == setup.source:
                self.player.programs.agree(path)
                plain = spec_of(setup)
                return EditedKernel(path.name, f"{plain}{',' if ':' in plain else ':'}source={path.name}")
        return None

    def _setup(self, pane: Pane) -> Setup:
        """Return what a pane runs; raises NoLaunch where its program has not run."""
        if isinstance(pane, Setup):
            return pane
        return self.player.programs.setup_of(pane, self.path.parent)

    def _title(self, sessions: list[Session]) -> str:
        """Return a title for what is on screen: the phase that the pane in focus is in."""
        session, focus = sessions[self.stage.focus], self.stage.focus
        selection, moment = self.stage.selections[focus], self.stage.moments()[focus]
        if moment < 1:
            return session.title
        phases = session.requests.span_start.shape[1] if len(session.trace) else 1
        label = phase_text(session.scenario, phase_at(session, selection.block, moment), phases).label
        return f"{label[:1].upper()}{label[1:]}" if phases > 1 else session.title

    def copy(self, number: int) -> bool:
        """Put a step once more after itself."""
        return self._edit(lambda old, path: steps.copied_step(old, number, path, self._sessions), number + 1)

    def take_out(self, number: int) -> bool:
        """Take a step out."""
        lecture = self.player.lecture
        if lecture is not None and len(lecture.steps) == 1:
            self.problem.emit("A lecture has at least one step; add another one before you take this out.")
            return False
        return self._edit(lambda old, path: steps.without_step(old, number, path, self._sessions), number)

    def move(self, number: int, to: int) -> bool:
        """Give a step another number."""
        return self._edit(lambda old, path: steps.moved_step(old, number, to, path, self._sessions), to)

    def _sessions(self, panes: Panes) -> list[Session] | None:
        """Return the sessions of panes where they are in memory."""
        try:
            found = [self.stage.jobs.held(source) for source in self._sources(panes)]
        except (CatalogueError, NoLaunch):
            return None
        known = [session for session in found if session is not None]
        return known if panes and len(known) == len(panes) else None

    def _sources(self, panes: Panes) -> list[Source]:
        """Return what the sessions of panes are made from; raises CatalogueError and NoLaunch."""
        return [setup.file or launch_of_setup(setup) for setup in map(self._setup, panes)]

    # How an edit is made.

    def _edit(self, make: Make, number: int) -> bool:
        """Make an edit and show a step of what comes of it; where it can't be made, say why and change nothing."""
        if self.player.lecture is None or self.file is None:
            self.problem.emit("No lecture is presented; Ctrl+D begins one.")
            return False
        if self.file.is_shipped and not self._copy_shipped():
            return False
        if self._is_stale():
            return False
        try:
            made = make(self.history.text, self.file.path)
        except UntracedError as error:
            return self._trace_first(error, partial(self._edit, make, number))
        except (EditError, LectureError) as error:
            self.problem.emit(str(error))
            return False
        self.problem.emit("")
        for sentence in made.told:
            self.told.emit(sentence)
        if self.history.take(made.text):
            self._keep(number)
        return True

    def _is_stale(self) -> bool:
        """Return whether somebody else wrote into the file; then what is there is shown in place of an edit."""
        assert self.file is not None
        try:
            stale = not self.is_unsaved and self.file.is_stale()
        except EditError:
            return False  # told where it is written
        if stale:
            self._take_file(f"{self.file.path.name} was changed elsewhere, and is shown as it is there now.")
        return stale

    def _keep(self, number: int) -> None:
        """Write the text, and show a step of it."""
        if not self.is_unsaved and self.file is not None:
            try:
                self.file.write(self.history.text)
            except StaleError as error:
                self._take_file(str(error))
                return
            except EditError as error:
                self.is_unsaved = True
                self.problem.emit(f"{error} Nothing is lost: save the lecture elsewhere with Ctrl+Shift+S.")
        self._show(number)

    def _show(self, number: int) -> None:
        lecture = self._shown = lecture_of(self.history.text, self.path)
        self.player.adopt(lecture, max(0, min(number, len(lecture.steps) - 1)))
        self.changed.emit()

    def _take_file(self, sentence: str) -> None:
        """Go on with what somebody else wrote into the file, and say so; an undo goes back."""
        assert self.file is not None
        try:
            self.history.take(self.file.read())
            self._show(self.number)
        except (EditError, LectureError) as error:
            sentence = str(error)
        self.problem.emit(f"{sentence} This edit was not made.")

    def _trace_first(self, error: UntracedError, again: Callable[[], object]) -> bool:
        """Have the sessions made that an edit needs, and make it then."""
        try:
            sources = self._sources(error.panes)
        except (CatalogueError, NoLaunch) as wrong:
            self.problem.emit(str(wrong))
            return False
        missing = [source for source in sources if self.stage.jobs.held(source) is None]
        if not missing:
            self.problem.emit(str(error))
            return False
        self._waiting = key_of(missing[0]), again
        self.told.emit("What a step after this one shows is traced first; it is done then.")
        self.stage.jobs.prepare(sources, urgent=len(sources))
        return True

    def _go_on(self, key: str, why: str) -> None:
        """Make the edit that waits for a session."""
        if self._waiting is None or self._waiting[0] != key:
            return
        again, self._waiting = self._waiting[1], None
        if why:
            self.problem.emit(why)
        else:
            again()

    # Undo.

    def undo(self) -> None:
        """Take the last edit back."""
        self._travel(self.history.undo, "There is nothing to undo.")

    def redo(self) -> None:
        """Make the edit again that was undone last."""
        self._travel(self.history.redo, "There is nothing to do again.")

    def _travel(self, go: Callable[[], bool], nothing: str) -> None:
        if self.file is None or self.player.lecture is None:
            return
        before = self.history.text
        if self._is_stale():
            return
        if not go():
            self.told.emit(nothing)
            return
        self._keep(_first_difference(before, self.history.text, self.path, self.number))

    # Files.

    def save_as(self) -> bool:
        """Ask for a file and write the lecture there; from then on each edit is written to it at once."""
        if self.player.lecture is None and self.left is None:
            self.problem.emit("There is no lecture to save; Ctrl+D begins one.")
            return False
        if self.player.lecture is None:
            self.resume()
        return self._save(self._suggested())

    def _suggested(self) -> Path:
        path = self.path
        if path.parent.is_dir() and not (self.file and self.file.is_shipped):
            return path
        return Path.home() / path.name

    def _save(self, suggested: Path) -> bool:
        path = self._choose_path(suggested)
        if path is None:
            return False
        file = LectureFile(path)
        if file.is_shipped:
            self.problem.emit(
                "The lectures that come with Tilescope stay as they are; choose another folder."
            )
            return False
        try:
            file.put(self.history.text.encode("utf-8"))
        except EditError as error:
            self.problem.emit(str(error))
            return False
        self.file, self.is_unsaved = file, False
        self._show(self.number)
        self.saved.emit(path)
        self.told.emit(f"The lecture is saved as {path}, and each edit from now on.")
        return True

    def _copy_shipped(self) -> bool:
        """Ask where a copy of a shipped lecture shall be, which is edited in its place."""
        self.told.emit(
            "This lecture comes with Tilescope and stays as it is: choose where your own copy shall be."
        )
        return self._save(self._suggested())

    @property
    def has_unsaved(self) -> bool:
        """Whether a lecture would be lost where the window closes now."""
        return self.is_unsaved or self.left is not None

    def discard(self) -> None:
        """Forget the lecture that was left and is in no file."""
        self.left = None


def _text_of(file: LectureFile, lecture: Lecture) -> str:
    """Return the text of a lecture's file as it is there, or as it was read where it is there no more."""
    try:
        return file.read()
    except EditError:
        return lecture.text


def check_problems(before: Lecture, after: Lecture) -> None:
    """Raise EditError with the first mistake that an edit would bring."""
    known = [problem.sentence for problem in before.problems]
    for problem in after.problems:
        if problem.sentence not in known:
            raise EditError(problem.sentence)


def _first_difference(before: str, after: str, path: Path, number: int) -> int:
    """Return the first step that differs in two texts of a lecture, or this one where none does."""
    old, new = (source_of(text, lecture_of(text, path)).bodies for text in (before, after))
    differing = (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return next(differing, number if len(old) == len(new) else min(len(old), len(new)))

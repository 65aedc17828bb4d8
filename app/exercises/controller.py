"""Exercises in the window: the open one, its panel, its progress and its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QFileDialog, QMainWindow

from ...tracer.model.finding import count_noun
from ...tracer.storage.atomic_write import write_atomically
from ...tracer.storage.folders import home_folder
from ..control.stage import Stage
from ..lectures.player.lectures import Lectures
from ..model.bookmark import Bookmark
from ..model.visible_text import escape_controls
from ..state.actions import ShareSide
from ..views.source.view import SourceView
from ..widgets.appearance import Look
from ..widgets.notice import Notice
from ..widgets.theme import Theme
from .judging import JudgeJob
from .model.document import SUFFIXES, Exercise, Language, student_file
from .model.library import SHIPPED, exercises_in
from .model.mistakes import ExerciseError, Mistake
from .model.progress import FILE, Progress
from .work import ExerciseWork, ShowBookmark

if TYPE_CHECKING:
    from .model.judge import Judge
    from .model.verdict import Verdict
    from .panel import ExercisePanel, PanelHeading

WIDTH = 380  # pixels of the panel at the normal text size
WIDEST = 0.36  # the largest share of the window's width
SOURCE = 4  # parts of the width for the source, where a pane has three
PROGRAMS: dict[Language, str] = {"numba": "Python files (*.py)", "cuda-cpp": "CUDA C++ files (*.cu)"}
MAX_ANSWERS = 3  # exercises offered in a question


def _new_judge() -> Judge:
    from .model.judge import Judge  # the window starts without it

    return Judge()


class ExerciseParts(NamedTuple):
    """The parts of the window that an exercise uses."""

    window: QMainWindow  # the parent of dialogs, contains the panel
    stage: Stage
    source: SourceView  # where the student writes
    notice: Notice  # for questions and errors
    show_tab: Callable[[str], None]  # of the inspector
    cover: Callable[[str], None]  # the panes with a sentence, "" for no cover


class ExerciseController(QObject):
    """Opens and leaves exercises, and records the progress.

    changed: another exercise is open, or none. listed: the exercises of the menu. before: the window's state before an
    exercise was opened, None without one.
    """

    changed = Signal()

    def __init__(
        self,
        places: ExerciseParts,
        look: Look,
        lectures: Lectures,
        bookmark: Callable[[], Bookmark],
        show: ShowBookmark,
    ) -> None:
        super().__init__(places.window)
        self.places, self.look, self.lectures = places, look, lectures
        self.window, self.notice = places.window, places.notice
        self.bookmark, self.show = bookmark, show
        self.exercise: Exercise | None = None
        self.before: Bookmark | None = None
        self.listed: Sequence[Exercise] = ()
        self.panel: ExercisePanel | None = None  # created when an exercise is first opened
        self.dock: QDockWidget | None = None
        self.heading: PanelHeading | None = None
        self.make_judge: Callable[[], Judge] = _new_judge
        self.job = JudgeJob(self, lambda: self.make_judge())
        self.work = ExerciseWork(places.stage, places.source, self.job, bookmark, show, places.notice)
        self.work.hints = lambda: self.panel.hints if self.panel is not None else 0
        self._progress: Progress | None = None
        self._agreed = {SHIPPED.absolute()}  # folders whose judges may run
        self.work.judged = self._show_verdict
        self.work.stale = self._mark_stale
        self.work.typed = self._keep_text
        self.work.failed = self._fail
        places.stage.loaded.connect(lambda _: self._note_panes())
        self.changed.connect(self._uncover)
        lectures.player.changed.connect(self._leave_for_lecture)

    # State.

    def is_open(self) -> bool:
        """Return True if an exercise is open."""
        return self.exercise is not None

    def owns(self, path: str) -> bool:
        """Return True if a trace is a temporary one of an exercise."""
        return self.job.owns(path)

    def progress(self) -> Progress:
        """Return the progress, stored next to the settings of the window, or in memory only."""
        if self._progress is None:
            path = self.lectures.settings.path
            self._progress = Progress(path.with_name(FILE) if path else None)
            if self._progress.problem:
                self.notice.error(self._progress.problem)
        return self._progress

    def is_done(self, exercise: Exercise) -> bool:
        """Return True if an exercise was passed once."""
        return self.progress().remembered(exercise).done

    def exercises(self) -> Sequence[Exercise]:
        """List the exercises of the folder opened last, by default the shipped ones."""
        if not self.listed:
            self.listed = self._read(SHIPPED)[0]
        return self.listed

    def _read(self, folder: Path) -> tuple[Sequence[Exercise], Sequence[Mistake]]:
        """Read the exercises of a folder and their mistakes; show an error and return none if it cannot be read."""
        try:
            return exercises_in(folder)
        except ExerciseError as error:
            self.notice.error(str(error))
            return (), ()

    # Opening.

    def ask_for_folder(self) -> None:
        """Ask for a folder of exercises."""
        folder = QFileDialog.getExistingDirectory(self.window, "Open folder of exercises", str(home_folder()))
        if folder:
            self.open_folder(Path(folder))

    def open_folder(self, folder: Path) -> bool:
        """List the exercises of a folder in the menu and offer them; show an error and return False for none."""
        exercises, mistakes = self._read(folder)
        wrong = f" {count_noun(len(mistakes), 'mistake')}, first {mistakes[0]}" if mistakes else ""
        if not exercises:
            if folder.is_dir():
                pair = "01-name.md and 01-name.py"
                self.notice.error(
                    f"There are no exercises in {escape_controls(folder)}. "
                    f"Expected pairs of files such as {pair}.{wrong}"
                )
            return False
        self.listed = exercises
        if folder.absolute() in self._agreed:
            self.notice.inform(
                f"The menu lists the {count_noun(len(exercises), 'exercise')} of {escape_controls(folder)}."
            )
            return True
        answers = [
            (f"{e.number}. {escape_controls(e.title)}", partial(self._trust_and_open, e))
            for e in exercises
            if not e.mistakes
        ]
        self.notice.ask(
            f"The folder {escape_controls(folder.name)} has {count_noun(len(exercises), 'exercise')}. Their judges are "
            f"programs that run with your rights, so open only exercises that you trust.{wrong}",
            answers[:MAX_ANSWERS],
        )
        return True

    def show_shipped(self) -> None:
        """List the shipped exercises in the menu again."""
        self.listed = self._read(SHIPPED)[0]

    def _trust_and_open(self, exercise: Exercise) -> None:
        self._agreed.add(exercise.folder.absolute())
        self.open(exercise)

    def open_path(self, path: Path) -> bool:
        """Open the exercise of a Markdown file that the user has named; show an error and return False on failure."""
        from .model.reading import read_exercise  # the window starts without it

        try:
            exercise = read_exercise(path)
        except ExerciseError as error:
            self.notice.error(str(error))
            return False
        self.listed = self._read(exercise.folder)[0]
        self._agreed.add(exercise.folder.absolute())
        return self.open(exercise)

    def open(self, exercise: Exercise) -> bool:
        """Open an exercise; return False, with an error or a question shown, if it is not opened yet."""
        if exercise.mistakes:
            self.notice.error(f"The exercise {exercise.name} can't be opened: {exercise.mistakes[0]}")
            return False
        if exercise.folder.absolute() not in self._agreed:
            question = (
                f"The judge of {exercise.name} is a program in {escape_controls(exercise.folder)}. Run it?"
            )
            self.notice.ask(question, [("Run it", partial(self._trust_and_open, exercise))])
            return False
        self.notice.clear()
        self.work.flush()
        if self.lectures.player.lecture is not None:
            self.lectures.leave()
        self.before = self.before or self.bookmark()
        record = self.progress().remembered(exercise)
        if record.language in exercise.languages:
            exercise = exercise.in_language(record.language)
        self.exercise = exercise
        self._show_panel(exercise)
        if not self.work.is_here():
            self.places.cover(f"Running {exercise.title} …")
        self.work.begin(exercise, record.text_of(exercise) or exercise.stub)
        self.changed.emit()
        return True

    def choose_language(self, language: str) -> None:
        """Continue the exercise in another language; the text in the previous one is kept."""
        exercise = self.exercise
        if exercise is None or language == exercise.language or language not in exercise.languages:
            return
        self.work.flush()
        self._note(language=language)
        self.open(exercise)

    def next(self) -> None:
        """Open the next exercise; without a current one, open the first unfinished one."""
        exercises = self.exercises()
        if self.exercise is None:
            waiting = [e for e in exercises if not (e.mistakes or self.is_done(e))]
            following = next(iter(waiting or exercises), None)
        else:
            names = [e.path for e in exercises]
            index = names.index(self.exercise.path) + 1 if self.exercise.path in names else 0
            following = exercises[index] if index < len(exercises) else None
        if following is not None:
            self.open(following)
        else:
            done = sum(map(self.is_done, exercises))
            self.notice.inform(f"This is the last exercise; {done} of {len(exercises)} are done.")

    def leave(self) -> None:
        """Leave the exercise, keep its text, and restore the previous state."""
        before = self.before
        if self._end() and before is not None and before.panes:
            self.show(before)

    def _end(self) -> bool:
        """Close the exercise; return True if one was open."""
        if self.exercise is None:
            return False
        self.work.flush()
        self.exercise = self.before = None
        self.work.end()
        self.places.stage.store.dispatch(ShareSide(None))
        if self.dock is not None:
            self.dock.hide()
        self.changed.emit()
        return True

    def _leave_for_lecture(self) -> None:
        """Leave the exercise if a lecture is presented."""
        if self.lectures.player.lecture is not None:
            self._end()

    def close(self) -> None:
        """Store the text and end the judge, since the window closes."""
        self.work.flush()
        self.job.close()

    # The panel.

    def _show_panel(self, exercise: Exercise) -> None:
        panel, dock = self._ensure_panel()
        record = self.progress().remembered(exercise)
        panel.show_exercise(exercise, str(student_file(exercise).absolute()), record.hints, done=record.done)
        panel.offer_return(False)
        if self.heading is not None:
            self.heading.name.setText(f"Exercise {exercise.number} of {len(self.exercises())}")
        self.places.stage.store.dispatch(ShareSide(SOURCE))
        if dock.isHidden():
            dock.show()
            self._share_width()

    def _share_width(self) -> None:
        """Set the panel's default width."""
        if self.dock is not None:
            width = min(self.look.theme.px(WIDTH), round(WIDEST * self.window.width()))
            self.window.resizeDocks([self.dock], [width], Qt.Orientation.Horizontal)

    def _ensure_panel(self) -> tuple[ExercisePanel, QDockWidget]:
        if self.panel is None or self.dock is None:
            from .panel import ExercisePanel, PanelHeading  # loaded on first use

            self.panel, self.dock = ExercisePanel(self.look.theme), QDockWidget("Exercise", self.window)
            self.dock.setObjectName("exercise")
            self.dock.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
            self.dock.setWidget(self.panel)
            self.heading = PanelHeading(self.leave)
            self.dock.setTitleBarWidget(self.heading)
            self.panel.line_asked = self._go_to
            self.panel.hint_asked = self.hint
            self.panel.next_asked = self.next
            self.panel.language_chosen = self.choose_language
            self.panel.return_asked = self.work.come_back
            self.set_theme(self.look.theme)
            self.window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.dock)
            self.dock.hide()
        return self.panel, self.dock

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        other_size = self.panel is not None and self.panel.theme.scale != theme.scale
        for part in (self.panel, self.heading):
            if part is not None:
                part.set_theme(theme)
        if other_size:
            self._share_width()

    def _note_panes(self) -> None:
        """Uncover the panes; offer to return if they do not show the exercise."""
        self.places.cover("")
        if self.panel is not None and self.exercise is not None:
            self.panel.offer_return(not self.work.is_here())

    def _go_to(self, line: int) -> None:
        self.places.show_tab("source")
        self.work.go_to(line)

    def hint(self) -> None:
        """Show the next hint; it is shown again when the exercise is reopened."""
        if self.exercise is None or self.panel is None:
            return
        if self.panel.hints == len(self.exercise.hints):
            self.notice.inform("There are no more hints.")
            return
        self.panel.show_hints(self.panel.hints + 1)
        self._note(hints=self.panel.hints)
        self.work.show_findings()

    # Verdicts and progress.

    def _show_verdict(self, verdict: Verdict, stale: bool) -> None:
        if self.exercise is None or self.panel is None:
            return
        self.panel.show_error("")
        if verdict.passed and not self.is_done(self.exercise):
            self._note(done=True)
        done = sum(map(self.is_done, self.exercises()))
        note = f"{done} of {count_noun(len(self.exercises()), 'exercise')} done" if verdict.passed else ""
        self.panel.show_verdict(verdict, note, stale=stale)

    def _mark_stale(self, is_stale: bool) -> None:
        if self.panel is not None:
            self.panel.mark_stale(is_stale)

    def _fail(self, sentence: str, first: bool) -> None:
        """Show the error of a judge; leave the exercise if it has never judged."""
        if first:
            self.leave()
            self.notice.error(sentence)
        elif self.panel is not None:
            self.panel.show_error(sentence)

    def _uncover(self) -> None:
        """Show the panes once no exercise is open."""
        if self.exercise is None:
            self.places.cover("")

    def _keep_text(self) -> None:
        if self.exercise is not None:
            text = "" if self.work.text == self.exercise.stub else self.work.text
            if text != self.progress().remembered(self.exercise).text_of(self.exercise):
                field = "cuda_cpp" if self.exercise.language == "cuda-cpp" else "text"
                self._note(**{field: text})

    def _note(self, **changes: object) -> None:
        assert self.exercise
        problem = self.progress().note(self.exercise, **changes)
        if problem and self.panel is not None:
            self.panel.show_error(problem)

    # Files.

    def ask_for_stub(self) -> None:
        """Ask whether to replace the student's text by the stub."""
        if self.exercise is not None:
            self.notice.ask(
                "Do you want to replace your text by the stub? Undo (Ctrl+Z) in the text restores it.",
                [("Show the stub", self.show_stub)],
            )

    def show_stub(self) -> None:
        """Replace the student's text by the stub."""
        if self.exercise is not None:
            self.work.put(self.exercise.stub)

    def save_as(self) -> None:
        """Ask for a file and write the student's text to it."""
        if self.exercise is None:
            return
        language = self.exercise.language
        suffix = SUFFIXES[language]
        suggested = str(home_folder() / f"{self.exercise.name}{suffix}")
        path, _ = QFileDialog.getSaveFileName(self.window, "Save my text", suggested, PROGRAMS[language])
        if path:
            self.store(Path(path) if Path(path).suffix else Path(path).with_suffix(suffix))

    def store(self, path: Path) -> bool:
        """Write the student's text to a file; return True if it was written."""
        try:
            write_atomically(path, self.work.text.encode())
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            self.notice.error(f"{escape_controls(path)} can't be written: {reason}; choose another folder.")
            return False
        self.notice.inform(f"Your text was saved as {escape_controls(path)}.")
        return True

"""Opens and saves traces, programs and pictures: dialogs, drops, the clipboard. The notice shows errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from ...tracer.model.notebook_cells import NOTEBOOK_SUFFIX
from ...tracer.storage.folders import home_folder
from ...tracer.storage.recorded_traces import recordings
from ...tracer.storage.trace_file import TraceFileError, save
from ..control.stage import Stage
from ..model.bookmark import Bookmark, Room, Setup
from ..model.settings import StoredSettings
from ..widgets.notice import Notice
from ..widgets.widget_picture import PictureError, picture_of, write_png
from .toolbar.toolbar import Toolbar

if TYPE_CHECKING:
    from ..lectures.model.changes import ProgramLaunch
    from ..programs.launches import ProgramLaunches
    from ..programs.page import ProgramPage
    from ..programs.program_job import UserProgram
    from ..widgets.vector_files import PictureParts
    from .copy_command import LectureStep

TRACES = "Traces (*.npz)"
NO_RECORDINGS = (
    "No GPU recordings were found. Make one with tilescope measure --accesses on a machine with a GPU."
)
LECTURE_SUFFIX = ".md"
PROGRAM_SUFFIXES = (".py", NOTEBOOK_SUFFIX, ".cu")
PROGRAMS = f"Programs and notebooks ({' '.join(f'*{suffix}' for suffix in PROGRAM_SUFFIXES)})"
DROP_SUFFIXES = (".npz", ".npy", *PROGRAM_SUFFIXES, LECTURE_SUFFIX)


class FileOperations:
    """Opens files in the pane in focus, and saves what is shown.

    window: the parent of the dialogs and the content of pictures. change_setups: runs other setups. write_vectors:
    writes parts of the window as SVG or PDF. program: the user's, once one was opened.
    """

    def __init__(
        self,
        window: QWidget,
        stage: Stage,
        toolbar: Toolbar,
        notice: Notice,
        settings: StoredSettings,
        change_setups: Callable[[tuple[Setup, ...]], None],
        write_vectors: Callable[[PictureParts, Path], None],
    ) -> None:
        self.window, self.stage, self.toolbar, self.notice = window, stage, toolbar, notice
        self.settings, self.change_setups, self.write_vectors = settings, change_setups, write_vectors
        self.program: UserProgram | None = None
        self.page: ProgramPage | None = None  # of a program with which the window was opened
        self._is_shown = False  # whether the program's launches are shown
        self.show_output: Callable[[str], None] = lambda text: None  # of the program, in the inspector
        self.note_errors: Callable[[str], None] = lambda sentence: None  # in the program's launches
        self.before_launches: Callable[[], None] = lambda: (
            None
        )  # called before launches of the program are shown
        self._launches: ProgramLaunches | None = None  # of the program
        self.trial: UserProgram | None = None  # the same program with an edited text

    # Traces.

    def recent(self) -> Sequence[str]:
        """List the paths of recent traces, the latest first."""
        return self.settings.current.recent

    def open_trace(self) -> None:
        """Ask for a trace file and open it."""
        path, _ = QFileDialog.getOpenFileName(self.window, "Open trace", self.folder(), TRACES)
        if path:
            self.open_path(path)

    def open_recording(self) -> None:
        """Ask for a trace recorded on a GPU and open it; if there are none, explain how to make one."""
        folders = [path.parent for path in recordings()]
        if not folders:
            self.notice.inform(NO_RECORDINGS)
            return
        path, _ = QFileDialog.getOpenFileName(self.window, "Open GPU recording", str(folders[0]), TRACES)
        if path:
            self.open_path(path)

    def open_path(self, path: str) -> None:
        """Open a trace file in the pane in focus; the others stay."""
        setups = list(self.stage.setups)
        setups[self.stage.focus : self.stage.focus + 1] = [Setup(file=str(Path(path).absolute()))]
        self.change_setups(tuple(setups))

    def note_opened(self, path: str) -> None:
        """Add an opened trace file to the recent ones, unless it is temporary."""
        if path and not self.is_temporary(path):
            self.settings.note_recent(path)

    def is_temporary(self, path: str) -> bool:
        """Return True if a trace is removed when the window closes."""
        return any(program is not None and program.owns(path) for program in (self.program, self.trial))

    def program_of(self, path: str) -> Path | None:
        """Return the user's program that made a trace, None for another trace."""
        return self.program.path if self.program is not None and self.is_temporary(path) else None

    def faults_of(self, path: str) -> list[tuple[int, str, str]]:
        """List line, sentence and severity of the faults of the host code in the run that made a trace."""
        programs = (self.program, self.trial)
        return next((p.faults for p in programs if p is not None and p.owns(path)), [])

    def try_text(
        self, text: str, recorded: Callable[[Sequence[Path]], None], failed: Callable[[str], None]
    ) -> None:
        """Run the user's program with another text; call `recorded` with its traces, or `failed` with the reason."""
        if self.program is None:
            return
        from ..programs.program_job import RunReports, UserProgram  # the window starts without it

        reports = RunReports(recorded, failed, partial(self.notice.error, cause="edit"))
        if self.trial is None:
            self.trial = UserProgram(self.window, reports, watched=False)
        self.trial.report = reports
        self.trial.open(self.program.path, text)

    def end_trial(self) -> None:
        """End the run with another text."""
        if self.trial is not None:
            self.trial.stop()

    def launch_of(self, path: str) -> ProgramLaunch | None:
        """Return the launch in the user's program that made a trace, with an absolute path; None for another trace."""
        number = Path(path).name.partition("-")[0]
        if self.program is None or not path or not self.program.owns(path) or not number.isdigit():
            return None
        from ..lectures.model.changes import ProgramLaunch  # the window starts without it

        return ProgramLaunch(str(self.program.path), int(number) + 1)

    def save_trace(self) -> None:
        """Ask for a name and save the trace of the pane in focus."""
        session = self.stage.focused()
        if session is None:
            self.notice.error("There is no trace to save yet.")
            return
        suggestion = str(Path(self.folder()) / f"{session.launch.scenario or session.trace.kernel}.npz")
        path, _ = QFileDialog.getSaveFileName(self.window, "Save trace", suggestion, TRACES)
        if path:
            self.store_trace(Path(path).with_suffix(".npz"))

    def store_trace(self, path: Path) -> None:
        """Save the trace of the pane in focus."""
        session = self.stage.focused()
        if session is None:
            return
        try:
            save(session.trace, path)
        except TraceFileError as error:
            self.notice.error(str(error), "file")
            return
        self.settings.note_recent(str(path.absolute()))
        self._inform(f"The trace was saved as {path}.")

    # Programs.

    def open_program(self) -> None:
        """Ask for a program (Python, a notebook, CUDA C++), run it under the tracer and show its launches."""
        path, _ = QFileDialog.getOpenFileName(self.window, "Open program", self.folder(), PROGRAMS)
        if path:
            self.run_program(path)

    def run_program(self, path: str) -> None:
        """Run a program under the tracer, now and whenever its file is saved, and show its launches."""
        program = self.program
        if program is None:
            program = self.program = self._new_program()
        self.notice.clear(cause="program")
        self._is_shown = False
        self._inform(f"Running {Path(path).name} under the tracer; Esc ends it.")
        program.open(Path(path))

    def _new_program(self) -> UserProgram:
        from ..programs.program_job import RunReports, UserProgram  # the window starts without it

        reports = RunReports(
            recorded=self._show_launches,
            failed=self._fail,
            noted=partial(self.notice.error, cause="program"),
            began=self._begin,
            moved=lambda line: self.page.show_line(line) if self.page else None,
            printed=self._take_output,
            delayed=lambda text: self.page.show_progress(text) if self.page else None,
        )
        return UserProgram(self.window, reports)

    def run_first(self, path: str, page: ProgramPage) -> None:
        """Run a program in an empty window: the page shows it until its launches are traced."""
        self.page = page
        self.run_program(path)
        self.notice.clear("information")

    def _begin(self) -> None:
        """Show the page if no launches of the program are shown yet."""
        program, page = self.program, self.page
        if page is None or program is None or self._is_shown:
            return
        if program.runs == 1 or page.isVisible():  # otherwise the user has left the page
            page.begin(program.path)

    def _take_output(self, text: str) -> None:
        """Show the program's output."""
        self.show_output(text)
        if self.page is not None:
            self.page.show_output(text)

    def _fail(self, sentence: str) -> None:
        """Show the reason for a program without launches on its page, or else in the notice."""
        if self.page is not None and not self._is_shown and self.program is not None:
            self.page.fail(sentence, self.program.failed_line)
        else:
            self.notice.error(sentence, cause="program")

    def end_program(self) -> bool:
        """End the program's current run; return True if there was one."""
        running = [program for program in (self.program, self.trial) if program is not None]
        stopped = [program.stop() for program in running]
        page = self.page
        if any(stopped) and page is not None and page.isVisible():
            where = f" at line {page.marked}" if page.marked else ""
            page.fail(f"{page.name} was ended{where}.", page.marked)
        return any(stopped)

    def close(self) -> None:
        """End the programs and remove their unsaved traces."""
        for part in (self._launches, self.program, self.trial):
            if part is not None:
                part.close()

    def _show_launches(self, traces: Sequence[Path]) -> None:
        """Show launches of the program in the panes, and offer all of them."""
        from ..programs.launches import ProgramLaunches  # the window starts without it

        self.notice.clear(cause="program")
        self.before_launches()
        if self._launches is None:
            self._launches = ProgramLaunches(
                self.toolbar, self._show_setups, self.notice.inform, self.note_errors, self.window
            )
        if self.program is not None:
            self._launches.take(self.program.path.name, traces)

    def _show_setups(self, setups: tuple[Setup, ...]) -> None:
        """Show launches of the program instead of its page."""
        self._is_shown = True
        if self.page is not None:
            self.page.leave()
        self.change_setups(setups)

    # Pictures.

    def save_picture(self, suffix: str = "") -> None:
        """Ask for a name and save the window as a picture of twice its size, or its views as vectors.

        suffix: .png, .svg or .pdf to offer only this kind; "" offers all.
        """
        from .vector_picture import FILTERS, picture_asked  # the window starts without it

        kinds = [text for text in FILTERS if suffix in text]
        if suffix in (".svg", ".pdf"):
            kinds = [text.replace("*.svg *.pdf", f"*{suffix}") for text in kinds]
        suggestion, filters = str(Path(self.folder()) / f"tilescope{suffix or '.png'}"), ";;".join(kinds)
        path, chosen = QFileDialog.getSaveFileName(self.window, "Save picture", suggestion, filters)
        if path and suffix in (".svg", ".pdf"):
            path = str(Path(path).with_suffix(suffix))
            chosen = chosen.replace(f"*{suffix}", "*.svg *.pdf")
        if path:
            self.store_picture(*picture_asked(path, chosen))

    def store_picture(self, path: Path, parts: PictureParts | None = None) -> None:
        """Save the window as a picture of twice its size, or parts of it as vectors."""
        self.notice.clear("information")
        try:
            if parts is None:
                write_png(picture_of(self.window, 2), path)
            else:
                self.write_vectors(parts, path)
        except PictureError as error:
            self.notice.error(str(error), "file")
            return
        self._inform(f"The picture was saved as {path}.")

    def copy_command(self, mark: Bookmark, room: Room, theme: str, step: LectureStep | None) -> None:
        """Copy a command to the clipboard that draws the current window, also on another machine.

        mark: its side is shown or hidden. step: the current step of a lecture.
        """
        from .copy_command import CopyError, Screen, command_of, files_of  # the window starts without it

        self.notice.clear("information")
        window = self.window
        screen = Screen(window.width(), window.height(), window.devicePixelRatioF(), theme)
        try:
            if any(self.is_temporary(setup.file) for setup in mark.panes if setup.file):
                raise CopyError(
                    "The launches of a program are not in a file yet; save the trace and open it first."
                )
            line = command_of(mark, room, screen, self._text_in, step)
        except CopyError as error:
            self.notice.error(str(error), "file")
            return
        QGuiApplication.clipboard().setText(line)
        files = " and ".join(files_of(mark, step))
        where = f" Run it in the folder of {files}." if files else ""
        self._inform(f"The command is on the clipboard.{where}")

    def _text_in(self, path: str) -> str:
        """Return the text of the kernel's file from a trace file that is shown."""
        launch = self.stage.launch_in(path)
        return launch.source if launch else ""

    def copy_picture(self) -> None:
        """Copy a picture of the window to the clipboard."""
        self.notice.clear("information")
        QGuiApplication.clipboard().setImage(picture_of(self.window, 2))
        self._inform("The picture is on the clipboard.")

    # Drops.

    def take_dropped(self, path: str) -> None:
        """Open a trace; for a NumPy array, ask for its argument; for a program, ask whether to run it."""
        if path.lower().endswith(".npz"):
            self.open_path(path)
            return
        if path.lower().endswith(PROGRAM_SUFFIXES):
            question = f"Run {Path(path).name} under the tracer, now and whenever it is saved?"
            self.notice.ask(question, [("Run it", partial(self.run_program, path))])
            return
        parameters = [p for p in self.toolbar.parameters() if p.file]
        if not parameters:
            self.notice.error(
                f"{Path(path).name} was not used: no shown scenario takes an input file.", "file"
            )
            return
        answers = [(p.label, partial(self.toolbar.put, p.name, path)) for p in parameters]
        self.notice.ask(f"Which argument should {Path(path).name} be?", answers)

    def _inform(self, sentence: str) -> None:
        """Report a success, and clear the last file error."""
        self.notice.clear(cause="file")
        self.notice.inform(sentence)

    def folder(self) -> str:
        """Return the folder in which dialogs start."""
        recent = self.recent()
        return str(Path(recent[0]).parent) if recent else str(home_folder())


def usable_paths(data: QMimeData) -> list[str]:
    """List the paths of dropped files that can be used: traces, NumPy arrays, programs, lectures."""
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.lower().endswith(DROP_SUFFIXES)]

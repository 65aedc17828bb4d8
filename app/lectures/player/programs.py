"""Programs that come with a lecture: they run after the user's consent, and their launches become trace files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from PySide6.QtCore import QObject

from ...model.bookmark import Setup
from ...model.named_file import UnreadableFileError, read_small_file
from ...model.visible_text import escape_controls
from ..model.changes import EditedKernel, ProgramLaunch
from ..model.document import Lecture
from ..model.program_panes import program_panes

if TYPE_CHECKING:
    from ...programs.program_job import UserProgram

LARGEST = 10_000_000  # bytes of a program


class LaunchUnavailableError(Exception):
    """A program's launch is not available; the text is one sentence. path: the program, if it needs consent."""

    def __init__(self, sentence: str, path: Path | None = None) -> None:
        self.path = path
        super().__init__(sentence)


class _Run(Struct):
    """A run of a program with a given content."""

    job: UserProgram  # runs it
    digest: str  # of the content that the user agreed to run
    is_over: bool = False  # whether it has ended
    traces: Sequence[Path] = field(default=())  # of its launches, in order
    problem: str = ""  # the reason for no traces


class LecturePrograms(QObject):
    """Runs the programs of lectures.

    changed: called when a run began or ended. note: gets one sentence about a finished run.
    """

    def __init__(self, parent: QObject, changed: Callable[[], object], note: Callable[[str], object]) -> None:
        super().__init__(parent)
        self._changed, self._note = changed, note
        self._trusted: set[tuple[Path, str]] = (
            set()
        )  # files that may run, each with the digest of its content
        self._runs: dict[Path, _Run] = {}

    def setup_of(self, pane: ProgramLaunch | EditedKernel, folder: Path) -> Setup:
        """Build the setup of a lecture's pane; raises LaunchUnavailableError or PlanError."""
        path = folder / pane.file
        name, digest = escape_controls(pane.file), _digest(path)
        if (
            path.resolve(),
            digest,
        ) not in self._trusted:  # the folder matters: the program imports modules from it
            kind = "a program" if isinstance(pane, ProgramLaunch) else "an edited kernel"
            raise LaunchUnavailableError(
                f"This step shows {name}, {kind} that came with the lecture. It runs only if you agree.", path
            )
        if isinstance(pane, EditedKernel):
            return pane.setup(folder)
        return self._setup_of_launch(pane, path, digest)

    def _setup_of_launch(self, launch: ProgramLaunch, path: Path, digest: str) -> Setup:
        """Build the setup that shows a launch of a trusted program; raises LaunchUnavailableError."""
        name, run = escape_controls(launch.file), self._runs.get(path)
        if run is None or run.digest != digest:
            run = self._start(path, digest)
        if not run.is_over:
            raise LaunchUnavailableError(f"Running {name} under the tracer; Esc ends it.")
        if run.problem:
            raise LaunchUnavailableError(run.problem)
        if launch.launch > len(run.traces):
            raise LaunchUnavailableError(
                f"This step shows launch {launch.launch}, but {name} makes only {len(run.traces)} launches."
            )
        return Setup(file=str(run.traces[launch.launch - 1]))

    def is_trusted(self, lecture: Lecture) -> bool:
        """Return True if the user agreed to all programs of a lecture as they are now."""
        return all(self._trusts(lecture.folder / pane.file) for pane in program_panes(lecture))

    def _trusts(self, path: Path) -> bool:
        try:
            return (path.resolve(), _digest(path)) in self._trusted
        except LaunchUnavailableError:
            return False

    def agree(self, *paths: Path) -> None:
        """Trust programs with their current contents."""
        for path in paths:
            with suppress(LaunchUnavailableError):
                self._trusted.add((path.resolve(), _digest(path)))
        self._changed()

    def agree_to_all(self, lecture: Lecture) -> None:
        """Trust all programs of a lecture."""
        self.agree(*(lecture.folder / pane.file for pane in program_panes(lecture)))

    def stop(self) -> bool:
        """End all running programs; return False if none was running."""
        running = [run for run in self._runs.values() if not run.is_over]
        for run in running:
            run.job.stop()
            run.is_over, run.problem = (
                True,
                "The program was ended. Save it, or open the lecture again, to restart it.",
            )
        if running:
            self._changed()
        return bool(running)

    def close(self) -> None:
        """End all programs and remove their traces."""
        for run in self._runs.values():
            run.job.close()
        self._runs.clear()

    def _start(self, path: Path, digest: str) -> _Run:
        from ...programs.program_job import RunReports, UserProgram  # the window starts without it

        old = self._runs.get(path)
        if old is not None:
            old.job.close()
        reports = RunReports(
            recorded=lambda traces: self._end(run, "", traces),
            failed=lambda why: self._end(run, why, ()),
            noted=self._note,
        )
        run = self._runs[path] = _Run(UserProgram(self, reports, watched=False), digest)
        run.job.open(path)
        return run

    def _end(self, run: _Run, problem: str, traces: Sequence[Path]) -> None:
        run.is_over, run.problem, run.traces = True, problem, traces
        self._changed()


def _digest(path: Path) -> str:
    """Compute the digest of a file; raises LaunchUnavailableError if it can't be read."""
    try:
        return hashlib.sha256(read_small_file(path, LARGEST, "program")).hexdigest()
    except UnreadableFileError as error:
        raise LaunchUnavailableError(f"{escape_controls(path.name)} {error}.") from None

"""Programs that come with a lecture: they run once the user agrees, and their launches become trace files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from PySide6.QtCore import QObject, Signal

from ...lecture.changes import EditedKernel, ProgramLaunch
from ...model.bookmark import Setup
from ...model.named_file import UnreadableFileError, small_content
from ...model.visible_text import visible

if TYPE_CHECKING:
    from ...control.program_job import UserProgram

LARGEST = 10_000_000  # bytes of a program


class NoLaunch(Exception):
    """A launch of a program that is not there; the text is one sentence. path: to be run where the user agrees."""

    def __init__(self, sentence: str, path: Path | None = None) -> None:
        self.path = path
        super().__init__(sentence)


class _Run(Struct):
    """A run of a program with this content."""

    job: UserProgram  # what runs it
    digest: str  # of what it was when the user agreed
    is_over: bool = False  # whether it has ended
    traces: Sequence[Path] = field(default=())  # of its launches, in order
    problem: str = ""  # why there are none


class LecturePrograms(QObject):
    """Runs the programs that lectures name. changed: a run began or ended. noted: one sentence on one that ended."""

    changed = Signal()
    noted = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._agreed: set[tuple[Path, str]] = (
            set()
        )  # files that may run, each with the digest of what it held
        self._runs: dict[Path, _Run] = {}

    def setup_of(self, pane: ProgramLaunch | EditedKernel, folder: Path) -> Setup:
        """Return the setup of what came with a lecture; raises NoLaunch while it is not there, and PlanError."""
        path = folder / pane.file
        name, digest = visible(pane.file), _digest(path)
        if (path.resolve(), digest) not in self._agreed:  # another folder has other modules for it to import
            what = "a program" if isinstance(pane, ProgramLaunch) else "an edited kernel"
            raise NoLaunch(
                f"This step shows {name}, {what} that came with the lecture. It runs only if you agree.", path
            )
        if isinstance(pane, EditedKernel):
            return pane.setup(folder)
        return self._setup_of_launch(pane, path, digest)

    def _setup_of_launch(self, launch: ProgramLaunch, path: Path, digest: str) -> Setup:
        """Return the setup that shows a launch of a program that may run; raises NoLaunch while it is not there."""
        name, run = visible(launch.file), self._runs.get(path)
        if run is None or run.digest != digest:
            run = self._start(path, digest)
        if not run.is_over:
            raise NoLaunch(f"Running {name} under the tracer; Esc ends it.")
        if run.problem:
            raise NoLaunch(run.problem)
        if launch.launch > len(run.traces):
            raise NoLaunch(
                f"{name} makes {len(run.traces)} launches, and this step shows number {launch.launch}."
            )
        return Setup(file=str(run.traces[launch.launch - 1]))

    def agree(self, path: Path) -> None:
        """Let a program run as its file is now, from now on."""
        with suppress(NoLaunch):
            self._agreed.add((path.resolve(), _digest(path)))
        self.changed.emit()

    def stop(self) -> bool:
        """End what runs; return whether anything did."""
        running = [run for run in self._runs.values() if not run.is_over]
        for run in running:
            run.job.stop()
            run.is_over, run.problem = (
                True,
                "The program was ended; save it, or open the lecture, to run it again.",
            )
        if running:
            self.changed.emit()
        return bool(running)

    def close(self) -> None:
        """End what runs, and remove the traces."""
        for run in self._runs.values():
            run.job.close()
        self._runs.clear()

    def _start(self, path: Path, digest: str) -> _Run:
        from ...control.program_job import UserProgram  # the window starts without it

        old = self._runs.get(path)
        if old is not None:
            old.job.close()
        run = self._runs[path] = _Run(UserProgram(self, watched=False), digest)
        run.job.recorded.connect(partial(self._end, run, ""))
        run.job.failed.connect(lambda why: self._end(run, why, ()))
        run.job.noted.connect(self.noted)
        run.job.open(path)
        return run

    def _end(self, run: _Run, problem: str, traces: Sequence[Path]) -> None:
        run.is_over, run.problem, run.traces = True, problem, traces
        self.changed.emit()


def _digest(path: Path) -> str:
    """Return a name for what a file holds; raises NoLaunch where it can't be read."""
    try:
        return hashlib.sha256(small_content(path, LARGEST, "program")).hexdigest()
    except UnreadableFileError as error:
        raise NoLaunch(f"{visible(path.name)} {error}.") from None

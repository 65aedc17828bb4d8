"""The pages of a lecture's steps for phones: a process draws them, the current step first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject, QTimer

from ...tracer.processes.json_process import StartError, module_command
from ...tracer.processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..control.task import Task, TaskQueue
from ..lectures.model.document import Lecture
from ..lectures.model.program_panes import runs_program
from ..lectures.player.player import UNSHOWABLE, LecturePlayer
from ..model.bookmark import Setup
from ..model.nothing import nothing
from .model import drawing
from .model.drawing import DrawnStep, DrawStep

EXPECTED = (RunCancelledError, ProcessEndedError, StartError)


class _Page(Struct, frozen=True):
    """A drawn step."""

    setups: tuple[Setup, ...]  # that it shows; none if the user has not agreed to its program
    drawn: DrawnStep  # its files


class StepPages(QObject):
    """Draws the steps of the presented lecture into a folder.

    drawn: called after each step. problem: gets one sentence about a step without a page.
    """

    def __init__(self, player: LecturePlayer, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.drawn: Callable[[], object] = nothing
        self.problem: Callable[[str], object] = nothing
        self._player, self._folder = player, folder
        self._client = ProcessClient(
            "process that draws for phones", module_command(drawing.MODULE), msgspec.json.Decoder(DrawnStep)
        )
        self._drawing = TaskQueue(self)
        self._lecture: Lecture | None = None  # of the pages
        self._pages: dict[int, _Page] = {}  # by step
        self._due: set[int] = set()  # steps whose program has perhaps run since they were drawn
        self._requests = 0  # so far; they name the files
        self._is_open = False  # whether the process runs
        player.shown.connect(self._redraw_programs)

    def start(self) -> None:
        """Start the process; raises StartError."""
        self._client.start()
        self._is_open = True

    def close(self) -> None:
        """End the process; a second call does nothing."""
        self._is_open = False
        self._client.close()
        self._drawing.close()

    def page_of(self, number: int) -> DrawnStep:
        """Return the files of a step of the presented lecture, without names while it is not drawn."""
        page = self._pages.get(number) if self._player.lecture is self._lecture else None
        return page.drawn if page else DrawnStep()

    def draw_next(self) -> None:
        """Draw the current step if its page is missing, else the next missing one."""
        lecture = self._player.lecture
        if lecture is None or not self._is_open or not self._drawing.is_idle():
            return
        if lecture is not self._lecture:
            self._lecture, self._pages, self._due = lecture, {}, set()
        number, count = self._player.number, len(lecture.steps)
        for i in (*range(number, count), *range(number)):
            page = self._pages.get(i)
            if page is None or i in self._due:
                self._due.discard(i)
                setups = self._setups_of(i)
                if page is None or setups != page.setups:
                    self._draw(lecture, i, setups)
                    return

    def _redraw_programs(self) -> None:
        """Draw the steps of programs again that have run since: a step is shown, perhaps after the user agreed."""
        scenes = enumerate(self._player.scenes)
        self._due = {i for i, scene in scenes if i in self._pages and runs_program(scene)}
        self.draw_next()

    def _setups_of(self, number: int) -> tuple[Setup, ...]:
        """Return the setups of a step's panes; none without the user's consent to its program."""
        try:
            return self._player.setups_of(number)
        except UNSHOWABLE:
            return ()

    def _draw(self, lecture: Lecture, number: int, setups: tuple[Setup, ...]) -> None:
        self._requests += 1
        request = DrawStep(str(lecture.path), number, str(self._folder), str(self._requests), setups)
        done = partial(self._take, lecture, number, setups)
        task = Task(
            partial(self._request, request), done, lambda error: done(DrawnStep(error=str(error))),
            expected=EXPECTED,
        )  # fmt: skip
        self._drawing.start(task)

    def _request(self, request: DrawStep) -> DrawnStep:
        """Draw a step, in the thread."""
        with self._client.conversation(request) as answers:
            return next(answers)

    def _take(self, lecture: Lecture, number: int, setups: tuple[Setup, ...], drawn: DrawnStep) -> None:
        if lecture is not self._lecture or not self._is_open:
            return
        self._pages[number] = _Page(setups, drawn)
        if drawn.error:
            self.problem(f"Phones show no picture of step {number + 1}: {drawn.error}")
        QTimer.singleShot(0, self.drawn)

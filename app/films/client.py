"""The window's client of the rendering process."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject

from ...tracer.processes.json_process import StartError, module_command
from ...tracer.processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..control.task import Task, TaskQueue
from ..model.nothing import nothing
from .model.messages import Answer, Ask, Failed, Show, Stop, Write, Written

COMMAND = module_command("tilescope.app.window.film_renderer")
ANSWER: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
GRACE = 3000  # milliseconds that it has to remove an unfinished file


class RenderingProcess(QObject):
    """A process that renders one state of the window. answered: with an Answer."""

    def __init__(self, show: Show, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.answered: Callable[[object], object] = nothing
        self.refusal = ""  # the reason why it could not be started
        self._is_closed = self._writes = False
        self._client = ProcessClient("rendering process", COMMAND, ANSWER)
        self._tasks = TaskQueue(self)
        self._send = self._client.send
        try:
            self._client.start()
        except StartError as error:
            self.refusal = str(error)
            self._client.close()
            return
        self._send(show)
        listen = Task(self._listen, failed=self._fail, expected=(ProcessEndedError, RunCancelledError))
        self._tasks.start(listen)

    def ask(self, question: Ask) -> None:
        """Ask for a preview and an estimate; a later question replaces an earlier one."""
        self._send(question)

    def write(self, message: Write) -> None:
        """Render the film."""
        self._writes = True
        self._send(message)

    def stop(self) -> None:
        """Stop rendering without a file; the answer is Failed."""
        self._send(Stop())

    def close(self) -> None:
        """End the process, after it has removed an unfinished file."""
        self._is_closed = True
        if self._writes:
            self._client.end_input()
            self._tasks.close(GRACE)
        self._client.close()
        self._tasks.close()

    def _listen(self) -> None:
        """Post the answers, in the thread."""
        with self._client.conversation() as answers:
            try:
                for answer in answers:
                    self._tasks.post(self._take, answer)
            finally:
                self._client.close()  # no other process has the state to show

    def _take(self, answer: Answer) -> None:
        self._writes &= not isinstance(answer, Written | Failed)
        if not self._is_closed:
            self.answered(answer)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, ProcessEndedError):
            self._take(Failed(f"Rendering failed: {error.death}."))
